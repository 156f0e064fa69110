#include "trammel/equations/saddle.h"

#include <cassert>
#include <cmath>

namespace trammel {

SaddleSystem::SaddleSystem(const Equations& equations, double eps, Keep keep)
    : SaddleSystem(equations, nullptr, eps, keep) {}

SaddleSystem::SaddleSystem(const Equations& equations, const std::vector<bool>& slots, double eps, Keep keep)
    : SaddleSystem(equations, &slots, eps, keep) {}

SaddleSystem::SaddleSystem(const Equations& equations, const std::vector<bool>* slots, double eps, Keep keep)
    : equations_(equations),
      keep_(keep),
      nv_(equations.sizes().nv),
      ng_(equations.sizes().multipliers()),
      vv_(equations.shared_vv()) {
  make_pattern(slots);
  E_.resize(ng_);
  const double length = equations.length();
  for (int c = 0; c < equations.constraint_count(); ++c) {
    const Equations::ConstraintInfo info = equations.constraint_info(c);
    for (int k = 0; k < info.rows; ++k) {
      const int row = info.first_row + k;
      E_[row] =
          eps / equations.greatest_mass() * (equations.row_unit(row) == RowUnit::torque ? 1 / (length * length) : 1.0);
    }
  }
  if (!equations.velocity_rows().empty()) {
    is_velocity_row_.assign(ng_, false);
    for (const int row : equations.velocity_rows()) is_velocity_row_[row] = true;
  }
  find_scales();
  solver_.analyse(pattern_, pivot_tolerance(), scale_);
  work_.setZero(size());
  sum_.setZero(size());
  right_.setZero(size());
}

void SaddleSystem::make_pattern(const std::vector<bool>* slots) {
  const Pattern &vv = *vv_, &gv = equations_.gv();
  std::vector<Pattern::Entry> entries;
  entries.reserve(vv.size() + 2 * gv.size() + ng_);
  slots_.clear();
  slot_start_.clear();
  for (int j = 0; j < nv_; ++j) {
    const auto u = static_cast<std::size_t>(j);
    if (slots != nullptr) slot_start_.push_back(static_cast<int>(slots_.size()));
    for (int p = vv.start()[u]; p < vv.start()[u + 1]; ++p) {
      if (slots != nullptr) {
        if (!(*slots)[p]) continue;
        slots_.push_back(p);
      }
      entries.push_back({vv.row()[p], j});
    }
    for (int p = gv.start()[u]; p < gv.start()[u + 1]; ++p) {
      const int row = gv.row()[p];
      entries.push_back({nv_ + row, j});
      entries.push_back({j, nv_ + row});
    }
  }
  if (slots != nullptr) slot_start_.push_back(static_cast<int>(slots_.size()));
  for (int i = 0; i < ng_; ++i) entries.push_back({nv_ + i, nv_ + i});
  const Pattern& vl = equations_.vl();
  for (int j = 0; j < vl.columns(); ++j)
    for (int p = vl.start()[static_cast<std::size_t>(j)]; p < vl.start()[static_cast<std::size_t>(j) + 1]; ++p)
      entries.push_back({vl.row()[p], nv_ + j});
  pattern_ = Pattern(size(), size(), entries);
  values_.setZero(pattern_.size());
  transposed_.resize(gv.size());
  for (int j = 0; j < nv_; ++j) {
    const auto u = static_cast<std::size_t>(j);
    for (int p = gv.start()[u]; p < gv.start()[u + 1]; ++p) transposed_[p] = pattern_.slot(j, nv_ + gv.row()[p]);
  }
  seen_.clear();
  seen_alone_.clear();
  for (int j = 0; j < vl.columns(); ++j) {
    for (int p = vl.start()[static_cast<std::size_t>(j)]; p < vl.start()[static_cast<std::size_t>(j) + 1]; ++p) {
      seen_.push_back(pattern_.slot(vl.row()[p], nv_ + j));
      if (gv.slot(j, vl.row()[p]) < 0) seen_alone_.push_back(seen_.back());
    }
  }
  diagonal_.resize(ng_);
  for (int i = 0; i < ng_; ++i) diagonal_[i] = pattern_.slot(nv_ + i, nv_ + i);
}

// Derivatives come on another pattern, because other contacts are near: what was factored is forgotten. A part of the
// places that stands in every pattern is only found again.
void SaddleSystem::adopt(const std::shared_ptr<const Pattern>& vv) {
  if (vv == vv_) return;
  if (vv->start() == vv_->start() && vv->row() == vv_->row()) {
    vv_ = vv;
    return;
  }
  if (slot_start_.empty()) {
    vv_ = vv;
    make_pattern(nullptr);
    solver_.analyse(pattern_, pivot_tolerance(), scale_);
    refactored_ = false;
    return;
  }
  for (int j = 0; j < nv_; ++j)
    for (int i = slot_start_[j]; i < slot_start_[j + 1]; ++i) slots_[i] = vv->slot(vv_->row()[slots_[i]], j);
  vv_ = vv;
}

// The unknowns and equations are counted in the model's own units, so that pivots are chosen alike in millimetres and
// metres, grams and tons: a velocity by 1/sqrt of its own mass or inertia, a row by sqrt(m_max) or sqrt(m_max) L, which
// make 1 of the masses and eps of E. Powers of two near by serve: they cost no digit.
void SaddleSystem::find_scales() {
  const auto power_of_two = [](double x) { return std::ldexp(1.0, std::ilogb(x)); };  // at most x
  const double mass = equations_.greatest_mass(), length = equations_.length();
  const Pattern& vv = equations_.vv();
  const Vec units = equations_.scales();
  Partials p = equations_.make_partials(Detail::projection);
  equations_.mass(equations_.initial_state().q, p);
  scale_.resize(size());
  for (int j = 0; j < nv_; ++j) {
    const double arm = length / units[j], own = p.M[vv.slot(j, j)];
    scale_[j] = power_of_two(1 / std::sqrt(own > 0 ? own : mass * arm * arm));
  }
  for (int i = 0; i < ng_; ++i)
    scale_[nv_ + i] = power_of_two(std::sqrt(mass) * (equations_.row_unit(i) == RowUnit::torque ? length : 1));
}

// Far below eps, so that the -E diagonal is always accepted as pivot. Where forces see reactions, what elimination adds
// to -E has no sign and may vanish on the diagonal while the matrix is regular: then pivots off it are needed.
double SaddleSystem::pivot_tolerance() const {
  if (ng_ == 0 || equations_.sees_rates()) return 1e-3;
  return 1e-4 * E_.cwiseProduct(scale_.tail(ng_)).cwiseProduct(scale_.tail(ng_)).minCoeff();
}

int SaddleSystem::count_of(std::size_t column) const {
  const std::vector<int>& start = slot_start_.empty() ? vv_->start() : slot_start_;
  return start[column + 1] - start[column];
}

int SaddleSystem::slot_of(std::size_t column, int i) const {
  return slot_start_.empty() ? vv_->start()[column] + i : slots_[slot_start_[column] + i];
}

bool SaddleSystem::left_out(int slot, Level level) const {
  return level == Level::position && !is_velocity_row_.empty() && is_velocity_row_[equations_.gv().row()[slot]];
}

// A row that is not in force in the present mode is zero: lambda = 0 by a unit on its diagonal, in the units of S.
void SaddleSystem::set_diagonal() {
  for (int i = 0; i < ng_; ++i) values_[diagonal_[i]] = -E_[i];
  if (!equations_.has_modes()) return;
  const std::vector<int>& row = equations_.gv().row();
  in_force_.assign(ng_, false);
  for (std::size_t slot = 0; slot < row.size(); ++slot)
    if (values_[transposed_[slot]] != 0) in_force_[row[slot]] = true;
  for (int i = 0; i < ng_; ++i)
    if (!in_force_[i]) values_[diagonal_[i]] = -1 / (scale_[nv_ + i] * scale_[nv_ + i]);
}

void SaddleSystem::add_seen(const Vec* force_lambda) {
  for (const int slot : seen_alone_) values_[slot] = 0;
  if (force_lambda == nullptr || force_lambda->size() == 0) return;
  for (std::size_t i = 0; i < seen_.size(); ++i) values_[seen_[i]] += (*force_lambda)[static_cast<Eigen::Index>(i)];
}

void SaddleSystem::combine_mass(const Partials& p, Level level, bool seen) {
  adopt(p.vv);
  const Pattern& gv = equations_.gv();
  for (int j = 0; j < nv_; ++j) {
    const auto u = static_cast<std::size_t>(j);
    const int count = count_of(u), rows = gv.start()[u + 1] - gv.start()[u];
    double* out = values_.data() + pattern_.start()[u];
    for (int i = 0; i < count; ++i) out[i] = p.M[slot_of(u, i)];
    if (seen)
      for (int i = 0; i < count; ++i) out[i] += p.force_a[slot_of(u, i)];
    for (int i = 0; i < rows; ++i) {
      const int at = gv.start()[u] + i;
      out[count + i] = values_[transposed_[at]] = left_out(at, level) ? 0.0 : p.G[at];
    }
  }
  set_diagonal();
  add_seen(seen ? &p.force_lambda : nullptr);
}

void SaddleSystem::combine(const Partials& p, const Blend& w, const std::vector<Mat3>* T) {
  assert(slot_start_.empty());
  adopt(p.vv);
  const Pattern &vv = *vv_, &gv = equations_.gv();
  const std::vector<int>& rotations = equations_.rotation_columns();
  const bool all_velocity = w.rows == Blend::Rows::velocity;
  const bool by_velocity = all_velocity || !is_velocity_row_.empty();
  const Vec& K_q = all_velocity ? p.Gv_q : p.K_q;
  const bool seen = w.seen && p.force_a.size() > 0;
  const auto at_velocity_level = [&](int slot) { return all_velocity || is_velocity_row_[gv.row()[slot]]; };
  std::size_t next = 0;
  for (int j = 0; j < nv_; ++j) {
    const bool rotates = T != nullptr && next < rotations.size() && rotations[next] == j;
    const auto u = static_cast<std::size_t>(j);
    const int columns = rotates ? 3 : 1;
    const int count = vv.start()[u + 1] - vv.start()[u], rows = gv.start()[u + 1] - gv.start()[u];
    for (int k = 0; k < columns; ++k) {
      const auto uk = u + static_cast<std::size_t>(k);
      double* out = values_.data() + pattern_.start()[uk];
      const int from = vv.start()[uk];
      for (int i = 0; i < count; ++i) out[i] = w.M * p.M[from + i] + w.force_v * p.force_v[from + i];
      if (seen)
        for (int i = 0; i < count; ++i) out[i] += w.M * p.force_a[from + i];
      const int gfrom = gv.start()[uk];
      for (int i = 0; i < rows; ++i) values_[transposed_[gfrom + i]] = p.G[gfrom + i];
      if (!rotates) {
        for (int i = 0; i < count; ++i) out[i] += w.Ma_q * p.Ma_q[from + i] + w.force_q * p.force_q[from + i];
        for (int i = 0; i < rows; ++i) out[count + i] = p.G[gfrom + i];
        if (by_velocity) {
          for (int i = 0; i < rows; ++i) out[count + i] += w.K_q * K_q[gfrom + i];
        }
        continue;
      }
      // The three rotation columns of a body have the same rows: (F T)_k = sum_l F_l T_lk.
      for (int i = 0; i < count; ++i) {
        double sum = 0;
        for (int l = 0; l < 3; ++l) {
          const int at = vv.start()[u + static_cast<std::size_t>(l)] + i;
          sum += (w.Ma_q * p.Ma_q[at] + w.force_q * p.force_q[at]) * (*T)[next](l, k);
        }
        out[i] += sum;
      }
      for (int i = 0; i < rows; ++i) {
        double sum = 0;
        for (int l = 0; l < 3; ++l) sum += p.G[gv.start()[u + static_cast<std::size_t>(l)] + i] * (*T)[next](l, k);
        if (by_velocity && at_velocity_level(gfrom + i)) {
          sum = p.G[gfrom + i];  // k_v multiplies velocities, not increments
          for (int l = 0; l < 3; ++l)
            sum += w.K_q * K_q[gv.start()[u + static_cast<std::size_t>(l)] + i] * (*T)[next](l, k);
        }
        out[count + i] = sum;
      }
    }
    if (rotates) {
      ++next;
      j += 2;
    }
  }
  if (w.rows == Blend::Rows::position && !is_velocity_row_.empty()) {
    for (int j = 0; j < nv_; ++j) {
      const auto u = static_cast<std::size_t>(j);
      const int count = vv.start()[u + 1] - vv.start()[u];
      for (int at = gv.start()[u]; at < gv.start()[u + 1]; ++at) {
        if (left_out(at, Level::position))
          values_[pattern_.start()[u] + count + at - gv.start()[u]] = values_[transposed_[at]] = 0;
      }
    }
  }
  set_diagonal();
  add_seen(seen ? &p.force_lambda : nullptr);
}

void SaddleSystem::combine_stage(const Partials& p, const Vec& r_q, const Vec& s_q, double hg,
                                 const std::vector<Mat3>& C, const std::vector<Mat3>& D) {
  assert(slot_start_.empty());
  adopt(p.vv);
  const Pattern &vv = *vv_, &gv = equations_.gv();
  const std::vector<int>& rotations = equations_.rotation_columns();
  std::size_t next = 0;
  for (int j = 0; j < nv_; ++j) {
    const bool rotates = next < rotations.size() && rotations[next] == j;
    const auto u = static_cast<std::size_t>(j);
    const int count = vv.start()[u + 1] - vv.start()[u], rows = gv.start()[u + 1] - gv.start()[u];
    for (int k = 0; k < (rotates ? 3 : 1); ++k) {
      const auto uk = u + static_cast<std::size_t>(k);
      double* out = values_.data() + pattern_.start()[uk];
      const int from = vv.start()[uk], gfrom = gv.start()[uk];
      for (int i = 0; i < count; ++i) out[i] = p.M[from + i] + hg * p.force_v[from + i] + hg * hg * r_q[from + i];
      for (int i = 0; i < rows; ++i) {
        values_[transposed_[gfrom + i]] = p.G[gfrom + i];
        out[count + i] = p.G[gfrom + i] - hg * p.gamma_v[gfrom + i] + hg * hg * s_q[gfrom + i];
      }
      if (!rotates) continue;
      for (int l = 0; l < 3; ++l) {
        const double c = hg * hg * C[next](l, k), d = hg * hg * D[next](l, k);
        const int at = vv.start()[u + static_cast<std::size_t>(l)], gat = gv.start()[u + static_cast<std::size_t>(l)];
        for (int i = 0; i < count; ++i) out[i] += c * p.force_v[at + i] - d * p.M[at + i];
        for (int i = 0; i < rows; ++i) out[count + i] -= c * p.gamma_v[gat + i] + d * p.G[gat + i];
      }
    }
    if (rotates) {
      ++next;
      j += 2;
    }
  }
  set_diagonal();
  add_seen(nullptr);
}

void SaddleSystem::combine_step(const Partials& p, const StepBlend& w, const std::vector<Mat3>& T,
                                const Vec& diagonal) {
  adopt(p.vv);
  const Pattern& gv = equations_.gv();
  const std::vector<int>& rotations = equations_.rotation_columns();
  std::size_t next = 0;
  for (int j = 0; j < nv_; ++j) {
    const bool rotates = next < rotations.size() && rotations[next] == j;
    const auto u = static_cast<std::size_t>(j);
    const int count = count_of(u), rows = gv.start()[u + 1] - gv.start()[u];
    // The three rotation columns of a body have the same rows: (F T)_k = sum_l F_l T_lk.
    const int columns = rotates ? 3 : 1;
    for (int k = 0; k < columns; ++k) {
      const auto uk = u + static_cast<std::size_t>(k);
      double* out = values_.data() + pattern_.start()[uk];
      for (int i = 0; i < count; ++i) {
        const int at = slot_of(uk, i);
        double sum = p.M[at] + w.force_v * p.force_v[at];
        for (int l = 0; l < columns; ++l)
          sum += w.force_q * p.force_q[slot_of(u + static_cast<std::size_t>(l), i)] * (rotates ? T[next](l, k) : 1.0);
        out[i] = sum;
      }
      for (int i = 0; i < rows; ++i) {
        const int at = gv.start()[uk] + i;
        values_[transposed_[at]] = p.G[at];
        const bool velocity = !is_velocity_row_.empty() && is_velocity_row_[gv.row()[at]];
        double sum = w.G * p.G[at];
        for (int l = 0; l < columns; ++l) {
          const int from = gv.start()[u + static_cast<std::size_t>(l)] + i;
          sum += ((velocity ? 0.0 : w.G_T) * p.G[from] + w.Gv_q * p.Gv_q[from]) * (rotates ? T[next](l, k) : 1.0);
        }
        out[count + i] = sum;
      }
    }
    if (rotates) {
      ++next;
      j += 2;
    }
  }
  for (int i = 0; i < ng_; ++i) values_[diagonal_[i]] = -diagonal[i];
  add_seen(nullptr);
}

void SaddleSystem::combine_projection(const Vec& weights, const Vec& G, Level level) {
  const Pattern &vv = *vv_, &gv = equations_.gv();
  for (int j = 0; j < nv_; ++j) {
    const auto u = static_cast<std::size_t>(j);
    const bool held = std::isinf(weights[j]);
    double* out = values_.data() + pattern_.start()[u];
    const int count = count_of(u);
    for (int i = 0; i < count; ++i) {
      out[i] = vv.row()[slot_of(u, i)] == j ? (held ? equations_.greatest_mass() : weights[j]) : 0.0;
    }
    for (int p = gv.start()[u]; p < gv.start()[u + 1]; ++p) {
      const double value = held || left_out(p, level) ? 0.0 : G[p];
      out[count + p - gv.start()[u]] = value;
      values_[transposed_[p]] = value;
    }
  }
  set_diagonal();
  add_seen(nullptr);
}

bool SaddleSystem::factor() {
  if (size() == 0) return true;
  if (solver_.factored()) {
    if (solver_.refactor(values_) && accurate()) {
      refactored_ = true;
      return true;
    }
  }
  refactored_ = false;
  if (keep_ == Keep::resumable) pivot_values_ = values_;
  return solver_.factor(values_);
}

// Have the old pivots served? Backward error of one solve with a right side of ones, in the model's units: about 1e-9
// when they have (round-off grows like 1e-16 / eps), 5e-6 on a ladder in a singular position with the pivots of a
// regular one, far above 1 when they have not. Refinement and Newton's method shrink errors by this factor in each
// sweep.
bool SaddleSystem::accurate() {
  right_ = scale_.cwiseInverse();
  work_ = right_;
  solver_.solve(work_);
  const double size = work_.cwiseQuotient(scale_).lpNorm<Eigen::Infinity>();
  if (!std::isfinite(size)) return false;
  pattern_.multiply_add(values_, -1, work_.data(), right_.data());
  return right_.cwiseProduct(scale_).lpNorm<Eigen::Infinity>() < 1e-4 * (1 + size * solver_.greatest());
}

void SaddleSystem::solve(Vec& z) {
  if (size() > 0) solver_.solve(z);
}

void SaddleSystem::residual(const Vec& b, const Vec& z, Vec& r) const {
  r = b;
  pattern_.multiply_add(values_, -1, z.data(), r.data());
  r.tail(ng_) -= E_.cwiseProduct(z.tail(ng_));  // K_0 = K_eps + E
}

// Sizes are those of the motion alone, in the units of S, where a force on the right and the acceleration it makes are
// alike: multipliers of redundant rows move in every sweep. A sweep contracts errors by eps / (eps + s^2), direction by
// direction, so the rate seen is that of the greatest error left; slower ones may hide behind a rate of 1e-4 or better.
// Corrections that no longer halve belong to directions with s^2 < eps: near singular positions, where a refined
// solution would run away along them.
int SaddleSystem::solve_refined(const Vec& b, Vec& z, int most) {
  z = b;
  solve(z);
  if (ng_ == 0 || most <= 1) return 1;
  const auto motion = [this](const Vec& x) {
    return x.head(nv_).cwiseQuotient(scale_.head(nv_)).lpNorm<Eigen::Infinity>();
  };
  const double size = std::max(motion(z), b.cwiseProduct(scale_).lpNorm<Eigen::Infinity>());
  double before = size;
  for (int sweeps = 2;; ++sweeps) {
    residual(b, z, work_);
    solve(work_);
    const double correction = motion(work_);
    if (most == most_sweeps && sweeps > 2 && !(correction < 0.5 * before)) return sweeps;
    z += work_;
    if (std::max(correction / before, 1e-4) * correction <= 1e-12 * size || sweeps == most) {
      if (most == most_sweeps && sweeps == most) ++unrefined_;
      return sweeps;
    }
    before = correction;
  }
}

void SaddleSystem::refine(const Vec& b, Vec& z) {
  residual(b, z, work_);
  solve(work_);
  z += work_;
}

void SaddleSystem::project_right_side(Eigen::Ref<Vec> b2) {
  right_.head(nv_).setZero();
  right_.tail(ng_) = b2;
  sum_ = right_;
  solve(sum_);
  residual(right_, sum_, work_);
  solve(work_);
  sum_ += work_;
  sum_.tail(ng_).setZero();
  work_.setZero();
  pattern_.multiply_add(values_, 1, sum_.data(), work_.data());
  b2 = work_.tail(ng_);
}

void SaddleSystem::visit(Archive& archive) {
  std::shared_ptr<const Pattern> vv = vv_;
  equations_.visit_pattern(archive, vv);
  adopt(vv);
  bool with_pivots = refactored_ && keep_ == Keep::resumable;  // otherwise there are none to save
  bool factored = solver_.factored();
  const Eigen::Index size = values_.size();
  archive(with_pivots, factored, unrefined_, values_);
  if (with_pivots) archive(pivot_values_);
  archive.expect(values_.size() == size && (!with_pivots || pivot_values_.size() == size));
  if (!archive.reading()) return;
  refactored_ = with_pivots;
  if (with_pivots) {
    solver_.factor(pivot_values_);
    solver_.refactor(values_);
  } else if (factored) {
    pivot_values_ = values_;
    solver_.factor(values_);
  }
}

long SaddleSystem::memory_bytes() const {
  const auto vec = [](const Vec& v) { return static_cast<long>(v.size()) * 8; };
  return vec(values_) + vec(pivot_values_) + vec(E_) + vec(scale_) + vec(work_) + vec(sum_) + vec(right_) +
         4L * static_cast<long>(pattern_.row().size() + pattern_.start().size() + transposed_.size() +
                                diagonal_.size()) +
         solver_.memory();
}

}  // namespace trammel
