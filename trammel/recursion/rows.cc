#include "trammel/recursion/rows.h"

#include <algorithm>
#include <functional>
#include <limits>

namespace trammel::recursion {

DelassusRows::DelassusRows(const Tree& tree, const std::vector<RowGroup>& groups, const Vec& arms,
                           double regularisation)
    : E_(regularisation * arms.cwiseAbs2().cwiseInverse()), arms_(arms), z_(arms), next_(arms), satisfiable_(arms) {
  find_paths(tree, groups);
  find_pairs(tree);
}

void DelassusRows::find_paths(const Tree& tree, const std::vector<RowGroup>& groups) {
  int first = 0, places = 0, wrenches = 0;
  std::vector<int> path;  // from the leaves on
  for (const RowGroup& given : groups) {
    Group group;
    group.first = first;
    group.rows = given.rows;
    group.carried = wrenches;
    first += given.rows;
    path.clear();
    for (int link : given.links)
      for (; link > 0; link = tree.links[static_cast<std::size_t>(link)].parent) path.push_back(link);
    std::sort(path.begin(), path.end(), std::greater<>());
    path.erase(std::unique(path.begin(), path.end()), path.end());
    const auto slot_of = [&path](int link) {
      const auto at = std::lower_bound(path.begin(), path.end(), link, std::greater<>());
      return link == 0 ? -1 : static_cast<int>(at - path.begin());
    };
    for (const int i : path) {
      const Link& link = tree.links[static_cast<std::size_t>(i)];
      group.path.push_back({i, slot_of(link.parent), freedoms(link.kind), places});
      places += given.rows * freedoms(link.kind);
    }
    for (const int link : given.links) group.slots.push_back(slot_of(link));
    wrenches += given.rows * static_cast<int>(group.path.size());
    groups_.push_back(std::move(group));
  }
  e_.resize(static_cast<std::size_t>(places));
  y_ = e_;
  carried_.resize(static_cast<std::size_t>(wrenches));
}

double DelassusRows::pairs(const Tree& tree, const std::vector<RowGroup>& groups, double most) {
  std::vector<double> through(tree.links.size(), 0.0);
  std::vector<std::size_t> last(tree.links.size(), 0);
  double pairs = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (int link : groups[g].links) {
      for (; link > 0; link = tree.links[static_cast<std::size_t>(link)].parent) {
        const auto at = static_cast<std::size_t>(link);
        if (last[at] == g + 1) break;  // and all before it
        last[at] = g + 1;
        if (freedoms(tree.links[at].kind) > 0) through[at] += 1;
        pairs += std::max(through[at], 1.0);
        if (pairs > most) return std::numeric_limits<double>::infinity();
      }
    }
  }
  return pairs;
}

void DelassusRows::find_pairs(const Tree& tree) {
  struct Through {
    int group;
    const Step* step;
  };
  std::vector<std::vector<Through>> through(tree.links.size());
  std::vector<int> sizes;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    sizes.push_back(groups_[g].rows);
    for (const Step& step : groups_[g].path)
      if (step.freedoms > 0) through[static_cast<std::size_t>(step.link)].push_back({static_cast<int>(g), &step});
  }
  std::vector<std::pair<int, int>> coupled;
  for (const auto& list : through)
    for (const Through& a : list)
      for (const Through& b : list)
        if (a.group > b.group) coupled.emplace_back(a.group, b.group);
  std::sort(coupled.begin(), coupled.end());
  coupled.erase(std::unique(coupled.begin(), coupled.end()), coupled.end());
  W_ = BlockCholesky(sizes, coupled);
  for (const auto& list : through) {
    for (const Through& a : list) {
      for (const Through& b : list) {
        if (a.group != b.group && !W_.is_later(a.group, b.group)) continue;
        pairs_.push_back({W_.number_of_block(a.group, b.group), sizes[static_cast<std::size_t>(a.group)],
                          sizes[static_cast<std::size_t>(b.group)], a.step->freedoms, a.step->at, b.step->at});
      }
    }
  }
}

void DelassusRows::clear() { std::fill(carried_.begin(), carried_.end(), Spatial<double>{}); }

void DelassusRows::add(int group, int frame, int row, const Spatial<double>& wrench) {
  const Group& g = groups_[static_cast<std::size_t>(group)];
  const int slot = g.slots[static_cast<std::size_t>(frame)];
  if (slot >= 0) carried_[static_cast<std::size_t>(g.carried + slot * g.rows + row)] += wrench;
}

void DelassusRows::carry(const ForwardDynamics<double>& tree, const Group& group) {
  const auto m = static_cast<std::size_t>(group.rows);
  for (std::size_t k = 0; k < group.path.size(); ++k) {
    const Step& step = group.path[k];
    const Articulated<double>& a = tree.articulated(step.link);
    const LinkMotion<double>& motion = tree.motion(step.link);
    const Kind kind = tree.tree().links[static_cast<std::size_t>(step.link)].kind;
    const Spatial<double>* own = carried_.data() + group.carried + k * m;
    Spatial<double>* up = step.parent < 0 ? nullptr : carried_.data() + group.carried + step.parent * group.rows;
    for (std::size_t r = 0; r < m; ++r) {
      Spatial<double> F = own[r];
      double *e = e_.data() + step.at + static_cast<std::size_t>(step.freedoms) * r,
             *y = y_.data() + step.at + static_cast<std::size_t>(step.freedoms) * r;
      switch (kind) {
        case Kind::fixed: break;
        case Kind::revolute:
        case Kind::prismatic:
          e[0] = kind == Kind::revolute ? dot(column(motion.R, 2), F.w) : dot(column(motion.R, 2), F.v);
          y[0] = a.D.xx * e[0];
          F -= a.UD[0] * e[0];
          break;
        case Kind::cylindrical:
        case Kind::universal:
          e[0] = dot(tree.axis(step.link, 0), F);
          e[1] = dot(tree.axis(step.link, 1), F);
          y[0] = a.D.xx * e[0] + a.D.xy * e[1];
          y[1] = a.D.xy * e[0] + a.D.yy * e[1];
          F -= a.UD[0] * e[0] + a.UD[1] * e[1];
          break;
        case Kind::spherical: {
          const Triple<double> z = times(a.I.A, F.w);
          e[0] = F.w.x, e[1] = F.w.y, e[2] = F.w.z;
          y[0] = z.x, y[1] = z.y, y[2] = z.z;
          F = {{0, 0, 0}, F.v - transposed_times(a.I.B, F.w)};
          break;
        }
        case Kind::free: {
          const Spatial<double> z = times(a.I, F);
          e[0] = F.w.x, e[1] = F.w.y, e[2] = F.w.z, e[3] = F.v.x, e[4] = F.v.y, e[5] = F.v.z;
          y[0] = z.w.x, y[1] = z.w.y, y[2] = z.w.z, y[3] = z.v.x, y[4] = z.v.y, y[5] = z.v.z;
          break;
        }
      }
      if (up != nullptr) up[r] += wrench_moved(F, motion.d);
    }
  }
}

bool DelassusRows::factor(const ForwardDynamics<double>& tree) {
  for (const Group& group : groups_) carry(tree, group);
  W_.set_zero();
  for (const Pair& pair : pairs_) {
    double* block = W_.block(pair.block);
    const double *e = e_.data() + pair.e, *y = y_.data() + pair.y;
    for (int r = 0; r < pair.rows; ++r) {
      for (int c = 0; c < pair.columns; ++c) {
        double sum = 0;
        for (int k = 0; k < pair.freedoms; ++k) sum += e[r * pair.freedoms + k] * y[c * pair.freedoms + k];
        block[BlockCholesky::most_rows * r + c] += sum;
      }
    }
  }
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    double* block = W_.block(W_.number_of_block(static_cast<int>(g), static_cast<int>(g)));
    for (int r = 0; r < groups_[g].rows; ++r) block[(BlockCholesky::most_rows + 1) * r] += E_[groups_[g].first + r];
  }
  return W_.factor();
}

// What is left of a row's own entry when those eliminated before it are taken out. Of independent rows it is of the
// size of 1 / mass, 1e8 times E or more, of redundant ones a few E.
bool DelassusRows::independent() const {
  constexpr double most = 1e5;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const double* block = W_.block(W_.number_of_block(static_cast<int>(g), static_cast<int>(g)));
    for (int r = 0; r < groups_[g].rows; ++r) {
      const double over = block[(BlockCholesky::most_rows + 1) * r];  // 1 / sqrt of it
      if (!(over * over * E_[groups_[g].first + r] * most < 1)) return false;
    }
  }
  return true;
}

void DelassusRows::add_free(const ForwardDynamics<double>& tree, Vec& b) const {
  for (const Group& group : groups_) {
    for (const Step& step : group.path) {
      const std::array<double, 6>& own = tree.articulated(step.link).e;
      const double* e = e_.data() + step.at;
      for (int r = 0; r < group.rows; ++r)
        for (int k = 0; k < step.freedoms; ++k)
          b[group.first + r] += e[r * step.freedoms + k] * own[static_cast<std::size_t>(k)];
    }
  }
}

// With z_1 = (W + E)^-1 b, z_k+1 = (W + E)^-1 E z_k the sum of the z_k tends to the solution. What no lambda can
// satisfy stays in all of them alike, and b - W lambda = E z says how much it is.
int DelassusRows::sweep(const Vec& b, Vec& lambda) {
  constexpr int most_sweeps = 20;
  const double size = b.cwiseProduct(arms_).lpNorm<Eigen::Infinity>();
  z_ = b;
  W_.solve(z_.data());
  lambda = z_;
  double before = 0;
  int sweeps = 1;
  while (sweeps < most_sweeps) {
    next_ = E_.cwiseProduct(z_);
    W_.solve(next_.data());
    ++sweeps;
    lambda += next_;
    z_ -= next_;
    const double change = z_.cwiseProduct(E_).cwiseProduct(arms_).lpNorm<Eigen::Infinity>();
    z_ = next_;
    if (!(change > 1e-13 * size) || (sweeps > 2 && !(change < 0.5 * before))) break;
    before = change;
  }
  return sweeps;
}

void DelassusRows::solve(const Vec& b, Vec& lambda) {
  int sweeps = sweep(b, lambda);
  next_ = E_.cwiseProduct(z_);
  const double left = next_.cwiseProduct(arms_).lpNorm<Eigen::Infinity>();
  if (left > 1e-10 * b.cwiseProduct(arms_).lpNorm<Eigen::Infinity>()) {
    satisfiable_ = b - next_;
    sweeps = sweep(satisfiable_, lambda);
  }
  lambda -= sweeps * z_;
}

void DelassusRows::apply(const Vec& lambda, ForwardDynamics<double>& tree) const {
  for (const Group& group : groups_) {
    for (const Step& step : group.path) {
      std::array<double, 6>& own = tree.articulated(step.link).e;
      const double* y = y_.data() + step.at;
      for (int r = 0; r < group.rows; ++r)
        for (int k = 0; k < step.freedoms; ++k)
          own[static_cast<std::size_t>(k)] -= y[r * step.freedoms + k] * lambda[group.first + r];
    }
  }
}

// A rule inferred from times of a prototype, on mechanisms from a four-bar to ladders of 400 and scissors of 60 cells.
double DelassusRows::cost() const {
  double sum = 0.00015 * static_cast<double>(W_.operations());
  for (const Group& group : groups_) sum += group.rows * (0.04 + 0.02 * static_cast<double>(group.path.size()));
  for (const Pair& pair : pairs_) sum += 0.0007 * pair.rows * pair.columns * pair.freedoms;
  return sum;
}

long DelassusRows::memory_bytes() const {
  return W_.memory_bytes() + static_cast<long>(pairs_.capacity() * sizeof(Pair) +
                                               carried_.capacity() * sizeof(Spatial<double>) + 16 * e_.capacity());
}

}  // namespace trammel::recursion
