#include "trammel/elements/joints/pair_constraint.h"

#include <array>
#include <cmath>

namespace trammel {

PairConstraint::PairConstraint(std::vector<PairRowSpec> rows, std::vector<TimeFunction> functions)
    : rows_(std::move(rows)), functions_(std::move(functions)) {
  for (const PairRowSpec& row : rows_) angles_ += remembers(row) ? 1 : 0;
  memory_ = angles_ * RememberedAngle::size;
  for (const TimeFunction& f : functions_) {
    corners_.push_back(f.expression().corners());
    function_memory_.push_back(memory_);
    memory_ += f.memory();
  }
}

std::string PairConstraint::row_name(int i) const {
  static const char* const axes[] = {"x", "y", "z"};
  const PairRowSpec& r = row(i);
  switch (r.kind) {
    case Primitive::point: return std::string("points coincide along world ") + axes[r.i];
    case Primitive::in_plane:
      return std::string(r.function < 0 ? "point in the plane normal to " : "displacement along ") + axes[r.i];
    case Primitive::distance: return "distance";
    case Primitive::dot: return std::string("axis ") + axes[r.i] + " perpendicular to axis " + axes[r.j];
    case Primitive::angle: return "angle about z";
    case Primitive::twist: return "equal turns about both z axes";
    case Primitive::radius: return "distance from z";
    case Primitive::polar: return "polar angle about z";
    case Primitive::cardan: return std::string("Cardan angle about ") + axes[r.i];
  }
  return "";
}

double PairConstraint::target(const PairRowSpec& row, double t, const double* memory) const {
  if (row.function < 0) return 0;
  const auto f = static_cast<std::size_t>(row.function);
  return functions_[f].value(t, memory + function_memory_[f]);
}

std::array<double, 4> PairConstraint::targets(const PairRowSpec& row, double t, const double* memory) const {
  if (row.function < 0) return {};
  const auto f = static_cast<std::size_t>(row.function);
  return functions_[f].derivatives(t, memory + function_memory_[f]);
}

// Wrenches are sums of gradients times multipliers.
bool PairConstraint::evaluate(const ElementInput& in, const double* lambda, double* g, double* wrench) const {
  const FrameState &a = in.frames[0], &b = in.frames[1];
  PairSlope total;
  const double* remembered = in.memory;
  bool good = true;
  for (std::size_t k = 0; k < rows_.size(); ++k) {
    const PairRowSpec& row = rows_[k];
    const double l = lambda == nullptr ? 0.0 : lambda[k];
    if (row.kind == Primitive::point) {
      g[k] = b.p[row.i] - a.p[row.i];
      total.line[row.i] += l;
      continue;
    }
    const PairScalar s = scalar(row, in, 1);
    g[k] = row.level == Level::velocity ? s.rate(PairTwist(a, b)) : s.value();
    if (remembers(row)) {
      g[k] = RememberedAngle(remembered).total(g[k], in.t);
      remembered += RememberedAngle::size;
    }
    if (row.function >= 0) g[k] -= target(row, in.t, in.memory);
    good = good && s.good();
    total.add(l, s.gradient());
  }
  if (wrench != nullptr) Eigen::Map<PairRow>{wrench} = total.row();
  return good;
}

// Rows of coinciding points are constant, and most rows of most mechanisms are such: they are written out.
PairRow PairConstraint::point_row(int i) {
  PairRow row = PairRow::Zero();
  row[i] = -1;
  row[6 + i] = 1;
  return row;
}

void PairConstraint::jacobian(const ElementInput& in, RowMatrix& C) const {
  C.resize(rows(), 12);
  for (int k = 0; k < rows(); ++k) {
    const PairRowSpec& spec = row(k);
    C.row(k) = spec.kind == Primitive::point ? point_row(spec.i) : scalar(spec, in, 1).gradient().row();
  }
}

void PairConstraint::rate(const ElementInput& in, double* g_dot) const {
  const PairTwist u(in.frames[0], in.frames[1]);
  for (std::size_t k = 0; k < rows_.size(); ++k) {
    const PairRowSpec& spec = rows_[k];
    g_dot[k] = spec.kind == Primitive::point ? u.v_line[spec.i] : scalar(spec, in, 1).rate(u);
    if (spec.function >= 0) g_dot[k] -= targets(spec, in.t, in.memory)[spec.level == Level::velocity ? 0 : 1];
  }
}

void PairConstraint::curvature(const ElementInput& in, double* c) const {
  const PairTwist u(in.frames[0], in.frames[1]);
  for (std::size_t k = 0; k < rows_.size(); ++k) {
    const PairRowSpec& spec = rows_[k];
    c[k] = spec.kind == Primitive::point ? 0.0 : scalar(spec, in, 2).curvature(u);
    if (spec.function >= 0) c[k] -= targets(spec, in.t, in.memory)[spec.level == Level::velocity ? 1 : 2];
  }
}

void PairConstraint::linearise(const ElementInput& in, const double* lambda, RowMatrix& C,
                               FrameMatrix& wrench_pose) const {
  C.resize(rows(), 12);
  wrench_pose.setZero(12, 12);
  for (int k = 0; k < rows(); ++k) {
    const PairRowSpec& spec = row(k);
    if (spec.kind == Primitive::point) {
      C.row(k) = point_row(spec.i);
      continue;
    }
    const PairScalar s = scalar(spec, in, 2);
    C.row(k) = s.gradient().row();
    s.add_hessian(lambda[k], wrench_pose);
  }
}

void PairConstraint::linearise_velocity(const ElementInput& in, RowMatrix& k_pose) const {
  k_pose.setZero(rows(), 12);
  const PairTwist u(in.frames[0], in.frames[1]);
  for (int k = 0; k < rows(); ++k) {
    if (row(k).level == Level::velocity) k_pose.row(k) = scalar(row(k), in, 2).contracted(u).row();
  }
}

void PairConstraint::linearise_all(const ElementInput& in, const double* lambda, const double* rate, const double* bias,
                                   ConstraintPartials& out) const {
  out.set_zero(rows(), 2);
  linearise(in, lambda, out.C, out.wrench_pose);
  const PairTwist u(in.frames[0], in.frames[1]), u_rate(rate), u_bias(bias);
  for (int k = 0; k < rows(); ++k) {
    const PairRowSpec& spec = row(k);
    if (spec.function >= 0) {
      const std::array<double, 4> f = targets(spec, in.t, in.memory);
      const std::size_t up = spec.level == Level::velocity ? 1 : 0;  // k is a rate already
      out.g_t[k] = -f[1 - up];
      out.curvature[k] = -f[2 - up];
      out.curvature_t[k] = -f[3 - up];
    }
    if (spec.kind == Primitive::point) continue;
    const PairScalar s = scalar(spec, in, 3);
    out.Ctwist_pose.row(k) = s.contracted(u).row();
    out.Crate_pose.row(k) = s.contracted(u_rate).row();
    out.Cbias_pose.row(k) = s.contracted(u_bias).row();
    out.curvature[k] += s.curvature(u);
    out.curvature_pose.row(k) = s.curvature_pose(u).row();
    out.curvature_twist.row(k) = s.curvature_twist(u).row();
  }
}

void PairConstraint::start(const ElementInput& in, double* memory) const {
  for (std::size_t f = 0; f < functions_.size(); ++f) functions_[f].start(in.t, memory + function_memory_[f]);
  double* remembered = memory;
  for (const PairRowSpec& spec : rows_) {
    if (!remembers(spec)) continue;
    RememberedAngle::keep(target(spec, in.t, memory), 0, in.t, remembered);
    remembered += RememberedAngle::size;
  }
  accept({in.t, in.frames, memory}, memory);
}

void PairConstraint::accept(const ElementInput& in, double* memory) const {
  double* remembered = memory;
  for (const PairRowSpec& spec : rows_) {
    if (!remembers(spec)) continue;
    const TotalAngle now = total_angle(spec.scalar(), in.frames[0], in.frames[1], remembered, in.t);
    RememberedAngle::keep(now.total, now.rate, in.t, remembered);
    remembered += RememberedAngle::size;
  }
  for (std::size_t f = 0; f < functions_.size(); ++f) functions_[f].accept(in.t, memory + function_memory_[f]);
}

std::vector<SwitchInfo> PairConstraint::switches() const {
  std::vector<SwitchInfo> all;
  for (const std::vector<Expression::Corner>& corners : corners_)
    all.insert(all.end(), corners.size(), {"corner of its motion", true, false});
  return all;
}

void PairConstraint::switch_values(const ElementInput& in, double* values) const {
  for (std::size_t i = 0; i < functions_.size(); ++i) {
    functions_[i].expression().corner_values(in.t, {}, corners_[i], values);
    values += corners_[i].size();
  }
}

double PairConstraint::turned(const ElementInput& in) const {
  double most = 0;
  const double* remembered = in.memory;
  for (const PairRowSpec& spec : rows_) {
    if (!remembers(spec)) continue;
    const TotalAngle now = total_angle(spec.scalar(), in.frames[0], in.frames[1], remembered, in.t);
    most = std::max(most, RememberedAngle(remembered).doubt(now.total, now.rate, in.t));
    remembered += RememberedAngle::size;
  }
  return most;
}

}  // namespace trammel
