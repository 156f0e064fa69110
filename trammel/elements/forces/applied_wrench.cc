#include "trammel/elements/forces/applied_wrench.h"

#include <algorithm>

#include "trammel/elements/forces/force_fields.h"
#include "trammel/math/rotation.h"

namespace trammel {

AppliedWrench::AppliedWrench(std::array<MeasuredExpression, 6> components, bool with_force, bool with_torque, Axes axes,
                             int frames, bool from_ground)
    : components_(std::move(components)),
      with_force_(with_force),
      with_torque_(with_torque),
      axes_(axes),
      frames_(frames) {
  for (const MeasuredExpression& c : components_) {
    memory_ += c.memory();
    uses_velocity_ = uses_velocity_ || c.uses_velocity();
  }
  const auto keeps = [](const MeasuredExpression& c) { return c.expression().slots().empty(); };
  is_load_ = std::all_of(components_.begin(), components_.end(), keeps);
  is_dead_load_ =
      is_load_ && (axes_ == Axes::a || (axes_ == Axes::world && from_ground)) &&
      std::all_of(components_.begin() + 3, components_.end(), [](const MeasuredExpression& c) { return c.is_zero(); });
}

// With f constant in the axes of A the work of F on B and of the reaction on A is that of F on d as A sees it:
// F . (dp_B - dp_A) - (d x F) . phi_A = d(f . R_A^T d). A torque about a fixed axis has no potential in space.
std::optional<double> AppliedWrench::potential_at_rest(const ElementInput& in) const {
  Vec6 local;
  if (!is_dead_load_ || !components(in, local)) return std::nullopt;
  return -(axes(in) * local.head<3>()).dot(in.frames[1].p - in.frames[0].p);
}

std::vector<SwitchInfo> AppliedWrench::switches() const {
  std::vector<SwitchInfo> all;
  for (const MeasuredExpression& each : components_) each.list_switches(all);
  return all;
}

void AppliedWrench::switch_values(const ElementInput& in, double* values) const {
  for (const MeasuredExpression& each : components_) values = each.switch_values(in, values);
}

// The reaction on A is a couple too.
FrameNeed AppliedWrench::needs(int frame) const {
  if (frame == 0 || (frame == 1 && (with_torque_ || axes_ == Axes::b))) return FrameNeed::orientation;
  FrameNeed most = FrameNeed::point;
  for (const MeasuredExpression& each : components_) most = std::max(most, each.needs(frame));
  return most;
}

Mat3 AppliedWrench::axes(const ElementInput& in) const {
  if (axes_ == Axes::world) return Mat3::Identity();
  return in.frames[axes_ == Axes::a ? 0 : 1].R;
}

bool AppliedWrench::components(const ElementInput& in, Vec6& out) const {
  bool good = true;
  for (std::size_t i = 0; i < 6; ++i) {
    double value = 0;
    if (!components_[i].evaluate(in, value)) good = false;
    out[static_cast<int>(i)] = value;
  }
  return good;
}

bool AppliedWrench::evaluate(const ElementInput& in, double* wrench) const {
  Vec6 local;
  if (!components(in, local)) return false;
  const Mat3 E = axes(in);
  const Vec3 force = E * local.head<3>(), torque = E * local.tail<3>();
  const Vec3 d = in.frames[1].p - in.frames[0].p;
  Eigen::Map<FrameVector> out(wrench, 6 * frames_);
  out.setZero();
  out.head<12>() << -force, -torque - d.cross(force), force, torque;
  return true;
}

// dF = E df + phi_E x F,   d(-M - d x F) = -dM - d x dF + F x (dp_B - dp_A)
void AppliedWrench::linearise(const ElementInput& in, ForcePartials& out) const {
  out.set_zero(frames_);
  const Mat3 E = axes(in);
  const Vec3 d = in.frames[1].p - in.frames[0].p;
  Vec6 local;
  ExpressionPartials c;
  for (int i = 0; i < 6; ++i) {
    const MeasuredExpression& component = components_[i];
    if (component.expression().is_constant()) {
      local[i] = component.expression().value(in.t, {});
      continue;
    }
    component.linearise(in, frames_, c);
    local[i] = c.value;
    const int row = i < 3 ? 6 : 9;
    const Vec3 axis = E.col(i % 3);
    out.pose.middleRows<3>(row) += axis * c.pose;
    out.twist.middleRows<3>(row) += axis * c.twist;
    out.time.segment<3>(row) += c.time * axis;
  }
  const Vec3 force = E * local.head<3>(), torque = E * local.tail<3>();
  if (axes_ != Axes::world) {
    const int turning = axes_ == Axes::a ? 3 : 9;
    out.pose.block<3, 3>(6, turning) -= skew(force);
    out.pose.block<3, 3>(9, turning) -= skew(torque);
  }
  const auto react = [&d](auto& m) {
    m.template topRows<3>() = -m.template middleRows<3>(6);
    m.template middleRows<3>(3) = -m.template middleRows<3>(9) - skew(d).lazyProduct(m.template middleRows<3>(6));
  };
  react(out.pose);
  react(out.twist);
  react(out.time);
  out.pose.block<3, 3>(3, 6) += skew(force);
  out.pose.block<3, 3>(3, 0) -= skew(force);
}

std::vector<Observable> AppliedWrench::observables() const {
  std::vector<Observable> out;
  if (with_force_) out.insert(out.end(), {{"fx", "N"}, {"fy", "N"}, {"fz", "N"}});
  if (with_torque_) out.insert(out.end(), {{"tx", "N m"}, {"ty", "N m"}, {"tz", "N m"}});
  return out;
}

void AppliedWrench::observe(const ElementInput& in, double* values) const {
  Vec6 local;
  components(in, local);
  if (with_force_) values = std::copy_n(local.data(), 3, values);
  if (with_torque_) std::copy_n(local.data() + 3, 3, values);
}

void AppliedWrench::accept(const ElementInput& in, double* memory) const {
  for (const MeasuredExpression& c : components_) c.accept(in, memory);
}

double AppliedWrench::turned(const ElementInput& in) const {
  double most = 0;
  for (const MeasuredExpression& c : components_) most = std::max(most, c.turned(in));
  return most;
}

bool AppliedWrench::sets_in_unseen() const {
  return std::any_of(components_.begin(), components_.end(),
                     [](const MeasuredExpression& c) { return c.expression().sets_in(); });
}

namespace {

AppliedWrench::Axes applied_axes(const Item& item) {
  const auto& name = item.fields.get<std::string>("axes");
  if (name == "a") return AppliedWrench::Axes::a;
  if (name == "b") return AppliedWrench::Axes::b;
  if (name == "world") return AppliedWrench::Axes::world;
  throw Failure({Severity::error, "unknown-value", "force '" + item.name + "': axes is '" + name + "'",
                 "axes are a (of the first frame), b (of the second) or world", item.where});
}

constexpr std::array<const char*, 6> component_names{"fx", "fy", "fz", "tx", "ty", "tz"};

}  // namespace

ElementDescription describe_applied_wrench(std::string key, std::string summary, bool with_force, bool with_torque) {
  const auto has = [with_force, with_torque](std::size_t i) { return i < 3 ? with_force : with_torque; };
  ElementDescription d;
  d.category = Category::force;
  d.key = std::move(key);
  d.summary = std::move(summary);
  d.attachment = Attachment::two_points;
  for (std::size_t i = 0; i < component_names.size(); ++i) {
    if (!has(i)) continue;
    const std::string axis(1, "xyz"[i % 3]);
    d.fields.push_back(
        i < 3
            ? expression_field(component_names[i], Quantity::force, "Force on the second frame along " + axis + ".")
            : expression_field(component_names[i], Quantity::torque, "Torque on the second frame about " + axis + "."));
  }
  d.fields.push_back({"axes", FieldKind::text, Quantity::none, std::string("a"),
                      "Whose x, y, z: a (the first frame), b (the second: a follower force) or world."});
  d.make_force = [has, with_force, with_torque](const Item& item,
                                                const MakeContext& context) -> std::unique_ptr<Force> {
    std::array<MeasuredExpression, 6> components;
    int memory = 0;
    for (std::size_t i = 0; i < components.size(); ++i) {
      if (!has(i)) continue;
      components[i] = measured_field(item, component_names[i], context, memory);
      memory += components[i].memory();
    }
    return std::make_unique<AppliedWrench>(std::move(components), with_force, with_torque, applied_axes(item),
                                           static_cast<int>(item.frames.size()),
                                           context.model.frames[item.frames[0]].body == ground);
  };
  d.random_fields = [has](std::mt19937& random) {
    static const std::array<const char*, 6> texts{
        "1 + 0.5*sin(3*time) + 0.3*dx*vy", "0.7*angle - 0.2*rate*time", "distance + 0.1*speed*wz",
        "0.4*dz*angle + cos(time)",        "0.3*vx*vz - 0.2*dy",        "0.6*wx*wy - distance^2 + 0.1*angle"};
    Fields fields;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (has(i)) fields.set(component_names[i], ExpressionText{texts[i], {}});
    }
    const std::array<const char*, 3> axes{"a", "b", "world"};
    fields.set("axes", std::string(axes[std::uniform_int_distribution<std::size_t>(0, 2)(random)]));
    return fields;
  };
  return d;
}

}  // namespace trammel
