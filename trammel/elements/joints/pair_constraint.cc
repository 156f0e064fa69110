#include "trammel/elements/joints/pair_constraint.h"

#include <array>
#include <cmath>

#include "trammel/elements/remembered_angle.h"
#include "trammel/math/rotation.h"

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

RowUnit PairConstraint::row_unit(int i) const {
  switch (row(i).kind) {
    case Primitive::dot:
    case Primitive::angle:
    case Primitive::twist:
    case Primitive::polar:
    case Primitive::cardan: return RowUnit::torque;
    default: return RowUnit::force;
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

PairConstraint::Angle PairConstraint::angle(const PairRowSpec& row, const ElementInput& in,
                                            const double* memory) const {
  const FrameState &a = in.frames[0], &b = in.frames[1];
  const PairFunction f = pair_function(row.kind, row.i, row.j, a, b);
  return {RememberedAngle(memory).total(f.value, in.t), f.rate(pair_twist_of(a, b))};
}

bool PairConstraint::evaluate(const ElementInput& in, const double* lambda, double* g, double* wrench) const {
  const FrameState &a = in.frames[0], &b = in.frames[1];
  const Vec3 d = b.p - a.p;
  Vec3 force = Vec3::Zero();  // on B's origin, minus that on A's
  Vec3 torque_a = Vec3::Zero(), torque_b = Vec3::Zero();
  const double* remembered = in.memory;
  bool good = true;
  for (std::size_t k = 0; k < rows_.size(); ++k) {
    const PairRowSpec& row = rows_[k];
    const double l = lambda == nullptr ? 0.0 : lambda[k];
    if (row.level == Level::velocity) {
      const PairFunction f = pair_function(row.kind, row.i, row.j, a, b);
      const PairRow C = f.gradient();
      g[k] = f.rate(pair_twist_of(a, b)) - target(row, in.t, in.memory);
      if (!C.allFinite()) good = false;
      force += l * C.segment<3>(6).transpose();
      torque_a += l * C.segment<3>(3).transpose();
      torque_b += l * C.segment<3>(9).transpose();
      continue;
    }
    switch (row.kind) {
      case Primitive::point:
        g[k] = d[row.i];
        force[row.i] += l;
        break;
      case Primitive::in_plane: {
        const Vec3 axis = a.R.col(row.i);
        g[k] = axis.dot(d) - target(row, in.t, in.memory);
        force += l * axis;
        torque_a += l * axis.cross(d);
        break;
      }
      case Primitive::distance: {
        const double length = d.norm();
        if (!(length > 0)) good = false;
        g[k] = length - target(row, in.t, in.memory);
        force += (l / length) * d;
        break;
      }
      case Primitive::dot: {
        const Vec3 x = a.R.col(row.i), y = b.R.col(row.j);
        g[k] = x.dot(y);
        const Vec3 c = l * x.cross(y);
        torque_a += c;
        torque_b -= c;
        break;
      }
      default: {
        const PairFunction f = pair_function(row.kind, row.i, row.j, a, b);
        double value = f.value;
        if (is_turning(row.kind, row.i)) {
          value = RememberedAngle(remembered).total(value, in.t);
          remembered += RememberedAngle::size;
        }
        g[k] = value - target(row, in.t, in.memory);
        const PairRow C = l * f.gradient();
        if (!C.allFinite()) good = false;
        force += C.segment<3>(6).transpose();
        torque_a += C.segment<3>(3).transpose();
        torque_b += C.segment<3>(9).transpose();
        break;
      }
    }
  }
  if (wrench != nullptr) {
    for (int i = 0; i < 3; ++i) {
      wrench[i] = -force[i];
      wrench[3 + i] = torque_a[i];
      wrench[6 + i] = force[i];
      wrench[9 + i] = torque_b[i];
    }
  }
  return good;
}

namespace {
PairRow point_row(int i) {
  PairRow row = PairRow::Zero();
  row[i] = -1;
  row[6 + i] = 1;
  return row;
}
}  // namespace

void PairConstraint::jacobian(const ElementInput& in, RowMatrix& C) const {
  C.resize(rows(), 12);
  for (int k = 0; k < rows(); ++k) {
    const PairRowSpec& spec = row(k);
    C.row(k) = spec.kind == Primitive::point
                   ? point_row(spec.i)
                   : pair_function(spec.kind, spec.i, spec.j, in.frames[0], in.frames[1]).gradient();
  }
}

void PairConstraint::rate(const ElementInput& in, double* g_dot) const {
  const FrameState &a = in.frames[0], &b = in.frames[1];
  const PairTwist u = pair_twist_of(a, b);
  for (std::size_t k = 0; k < rows_.size(); ++k) {
    const PairRowSpec& spec = rows_[k];
    g_dot[k] =
        spec.kind == Primitive::point ? u.v_line[spec.i] : pair_function(spec.kind, spec.i, spec.j, a, b).rate(u);
    if (spec.function >= 0) g_dot[k] -= targets(spec, in.t, in.memory)[spec.level == Level::velocity ? 0 : 1];
  }
}

void PairConstraint::curvature(const ElementInput& in, double* c) const {
  const FrameState &a = in.frames[0], &b = in.frames[1];
  const PairTwist u = pair_twist_of(a, b);
  for (std::size_t k = 0; k < rows_.size(); ++k) {
    const PairRowSpec& spec = rows_[k];
    c[k] = spec.kind == Primitive::point ? 0.0 : pair_function(spec.kind, spec.i, spec.j, a, b).curvature(u);
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
    const PairFunction f = pair_function(spec.kind, spec.i, spec.j, in.frames[0], in.frames[1]);
    C.row(k) = f.gradient();
    f.add_hessian(lambda[k], wrench_pose);
  }
}

void PairConstraint::linearise_velocity(const ElementInput& in, RowMatrix& k_pose) const {
  k_pose.setZero(rows(), 12);
  const PairTwist u = pair_twist_of(in.frames[0], in.frames[1]);
  for (int k = 0; k < rows(); ++k) {
    const PairRowSpec& spec = row(k);
    if (spec.level == Level::velocity)
      k_pose.row(k) = pair_function(spec.kind, spec.i, spec.j, in.frames[0], in.frames[1]).contracted(u);
  }
}

void PairConstraint::linearise_all(const ElementInput& in, const double* lambda, const double* rate, const double* bias,
                                   ConstraintPartials& out) const {
  const FrameState &a = in.frames[0], &b = in.frames[1];
  out.set_zero(rows(), 2);
  linearise(in, lambda, out.C, out.wrench_pose);
  const PairTwist u = pair_twist_of(a, b), u_rate(rate), u_bias(bias);
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
    const PairFunction f = pair_function(spec.kind, spec.i, spec.j, a, b);
    out.Ctwist_pose.row(k) = f.contracted(u);
    out.Crate_pose.row(k) = f.contracted(u_rate);
    out.Cbias_pose.row(k) = f.contracted(u_bias);
    out.curvature[k] += f.curvature(u);
    out.curvature_pose.row(k) = f.curvature_pose(u);
    out.curvature_twist.row(k) = f.curvature_twist(u);
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
    const Angle now = angle(spec, in, remembered);
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
    const Angle now = angle(spec, in, remembered);
    most = std::max(most, RememberedAngle(remembered).doubt(now.total, now.rate, in.t));
    remembered += RememberedAngle::size;
  }
  return most;
}

}  // namespace trammel
