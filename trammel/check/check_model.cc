// An inertia is possible if it is symmetric and its principal values A <= B <= C fulfil A >= 0 and A + B >= C:
// A + B - C is twice the integral of the squared distance from the plane of the axes of A and B.
#include "trammel/check/check_model.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <unordered_set>

#include "trammel/base/numbers.h"
#include "trammel/elements/registry.h"
#include "trammel/linalg/eigenvalues.h"
#include "trammel/model/modal_data.h"

namespace trammel {
namespace {

// C may exceed A + B by the rounding of three digits: thin plates are often given so, and move no differently.
constexpr double triangle_slack = 0.005;
// Up to here it is a warning: published figures of real parts, estimated axis by axis, miss the rule by 5 to 12 % (the
// arms of models/hmmwv_bump.yaml), and the equations of motion hold for them as for any other positive inertia.
constexpr double triangle_doubt = 0.15;
// Squares and products of lengths, speeds and masses must stay finite.
constexpr double greatest_number = 1e75;
constexpr double most_outputs = 1e10;  // rows; the smallest of models fills 1 TB with them
constexpr const char* impossible_hint =
    "no mass distribution has this; check the units, and that it is about the centre of mass";
constexpr double symmetry_slack = 1e-9, unit_slack = 1e-6;

bool finite(const Pose& pose) { return pose.position.allFinite() && pose.rotation.coeffs().allFinite(); }

class ModelChecker {
 public:
  explicit ModelChecker(const Model& model) : model_(model) {}

  std::vector<Problem> run() {
    collect_expressions();
    check_names();
    check_frames();
    for (const Item& item : model_.joints) check_item(item, Category::joint);
    for (const Item& item : model_.motions) check_item(item, Category::motion);
    for (const Item& item : model_.forces) check_item(item, Category::force);
    note_joined_contacts();
    check_bodies();
    check_start();
    check_parameters();
    check_simulation();
    std::stable_sort(problems_.begin(), problems_.end(),
                     [](const Problem& a, const Problem& b) { return a.severity > b.severity; });
    return std::move(problems_);
  }

 private:
  void add(Severity severity, const char* id, std::string message, std::string hint, const Location& where) {
    problems_.push_back({severity, id, std::move(message), std::move(hint), where});
  }
  void error(const char* id, std::string message, std::string hint, const Location& where) {
    add(Severity::error, id, std::move(message), std::move(hint), where);
  }

  bool is_body(int index) const { return index == ground || (index >= 0 && index < std::ssize(model_.bodies)); }
  bool is_frame(int index) const { return index >= 0 && index < std::ssize(model_.frames); }
  const Frame& frame(int index) const { return model_.frames[index]; }
  std::string body_name(int index) const { return index == ground ? "ground" : model_.bodies[index].name; }

  // ---- Names -------------------------------------------------------------------------------------------------------

  void collect_expressions() {
    const auto take = [&](const ExpressionText& expression) {
      for (const std::string_view name : names_in(expression)) mentioned_.insert(name);
    };
    for (const auto* items : {&model_.joints, &model_.motions, &model_.forces}) {
      for (const Item& item : *items) {
        for (const auto& entry : item.fields.all()) {
          if (const auto* expression = std::get_if<ExpressionText>(&entry.second)) take(*expression);
        }
      }
    }
    for (const StateVariable& x : model_.states) take(x.rate);
    for (const Variable& variable : model_.variables) take(variable.expression);
    for (const Output& output : model_.outputs) take(output.expression);
  }

  using Names = std::unordered_set<std::string_view>;

  void check_name(Names& seen, const std::string& name, const std::string& kind, const Location& where) {
    if (name.empty()) {
      error("empty-name", "a " + kind + " has no name", "results are named after it", where);
    } else if (!seen.insert(name).second) {
      error("duplicate-name", kind + " '" + name + "': the name is taken", "rename one of them", where);
    }
  }

  void check_names() {
    Names places{"ground"};  // bodies and frames can both be attached to
    for (const Body& body : model_.bodies) check_name(places, body.name, "body", body.where);
    for (const Frame& each : model_.frames) {
      if (!each.name.empty()) check_name(places, each.name, "frame", each.where);
    }
    Names joints, motions, forces, outputs, parameters, shapes;
    for (const Item& item : model_.joints) check_name(joints, item.name, "joint", item.where);
    for (const Item& item : model_.motions) check_name(motions, item.name, "motion", item.where);
    for (const Item& item : model_.forces) check_name(forces, item.name, "force", item.where);
    for (const Output& output : model_.outputs) {
      check_name(outputs, output.name, "output", output.expression.where);
      if (output.name == "time")
        error("reserved-name", "output 'time': every result has a signal of this name", "rename it",
              output.expression.where);
    }
    for (const Parameter& each : model_.parameters) check_name(parameters, each.name, "parameter", each.where);
    for (const Shape& shape : model_.shapes) check_name(shapes, shape.name, "shape", shape.where);
    for (const Item& item : model_.joints) {
      if (places.count(item.name) == 0 || mentioned_.count(item.name) == 0) continue;
      add(Severity::warning, "ambiguous-name",
          "joint '" + item.name + "': a body or frame has the same name, and expressions mean that one",
          "rename the joint", item.where);
    }
  }

  // ---- Frames, joints, motions and forces --------------------------------------------------------------------------

  void check_frames() {
    used_frames_.assign(model_.frames.size(), false);
    held_.assign(model_.bodies.size(), false);
    for (const Frame& each : model_.frames) {
      const std::string who = each.name.empty() ? "a frame" : "frame '" + each.name + "'";
      if (!is_body(each.body)) {
        error("missing-body", who + " is on a body that does not exist", "add the body first", each.where);
      }
      if (!finite(each.local) || std::abs(each.local.rotation.norm() - 1) > unit_slack) {
        error("bad-orientation", who + ": its position or orientation is not usable",
              "the axis it was made with may be zero, or a number is not finite", each.where);
      }
    }
  }

  void check_item(const Item& item, Category category) {
    const std::string who = std::string(to_text(category)) + " '" + item.name + "'";
    const ElementDescription* description = find_element(category, item.type);
    if (description == nullptr) {
      error("unknown-type", who + ": there is no type '" + item.type + "'", "see `trammel elements`", item.where);
      return;
    }
    check_fields(item, *description, who);
    if (item.frames.size() < 2 ||
        !std::all_of(item.frames.begin(), item.frames.end(), [&](int f) { return is_frame(f); })) {
      error("missing-frame", who + " must act between two frames of the model", "add the frames first", item.where);
      return;
    }
    for (const int f : item.frames) used_frames_[f] = true;
    const int a = frame(item.frames[0]).body, b = frame(item.frames[1]).body;
    if (!is_body(a) || !is_body(b)) return;  // reported with the frame
    if (category == Category::joint) {
      for (const int f : item.frames) {
        const int body = frame(f).body;
        if (body != ground && is_body(body)) held_[body] = true;
      }
    }
    if (a != b) return;
    if (category == Category::force) {
      add(Severity::warning, "same-body", who + " acts between '" + body_name(a) + "' and itself, so it does nothing",
          "name two different bodies", item.where);
    } else {
      error("same-body", who + " connects '" + body_name(a) + "' with itself", "name two different bodies", item.where);
    }
  }

  void check_fields(const Item& item, const ElementDescription& description, const std::string& who) {
    for (const Field& field : description.fields) {
      const Value* value = item.fields.find(field.name);
      if (value == nullptr) {
        if (!field.may_be_left_out)
          error("missing-field", who + ": '" + field.name + "' is not given", field.text, item.where);
        continue;
      }
      const auto outside = [&](double x) { return !(x >= field.least && x <= field.most); };  // also true for NaN
      bool bad = false;
      if (const auto* x = std::get_if<double>(value)) bad = outside(*x);
      if (const auto* v = std::get_if<Vec3>(value)) bad = std::any_of(v->data(), v->data() + 3, outside);
      if (const auto* m = std::get_if<Mat6>(value)) bad = std::any_of(m->data(), m->data() + 36, outside);
      if (const auto* n = std::get_if<std::vector<double>>(value)) bad = std::any_of(n->begin(), n->end(), outside);
      if (bad) error("out-of-range", who + ": '" + field.name + "' is out of its range", field.text, item.where);
    }
  }

  void note_joined_contacts() {
    for (const ContactSet& set : model_.contact_sets) {
      if (set.joined == 0) continue;
      add(Severity::note, "joined-contacts",
          "contacts '" + set.name + "': " + std::to_string(set.joined) + " of its " +
              std::to_string(set.pairs + set.joined) + " pairs are left out, because a joint holds them together",
          "`joined: true` takes them too", set.where);
    }
  }

  // ---- Bodies ------------------------------------------------------------------------------------------------------

  void check_bodies() {
    for (std::size_t i = 0; i < model_.bodies.size(); ++i) check_body(model_.bodies[i], held_[i]);
    warn_of_doubtful_inertias();
    for (std::size_t i = 0; i < model_.frames.size(); ++i) {
      const Frame& each = model_.frames[i];
      if (each.name.empty() || used_frames_[i] || mentioned_.count(each.name) != 0) continue;
      add(Severity::note, "unused-frame", "frame '" + each.name + "' is not used",
          "remove it, or attach something to it", each.where);
    }
  }

  // One warning for all: in a model made of like parts they have the same cause.
  void warn_of_doubtful_inertias() {
    const auto worst = std::max_element(doubtful_.begin(), doubtful_.end(), [](const Doubtful& a, const Doubtful& b) {
      return a.excess < b.excess * (1 - 1e-9);
    });
    if (worst == doubtful_.end()) return;
    std::string others;
    std::size_t named = 0;
    for (const Doubtful& each : doubtful_) {
      if (each.body == worst->body) continue;
      if (++named <= 8) others += (named == 1 ? "; by no more also those of '" : "', '") + each.body->name;
    }
    if (named > 0) others += "'" + (named > 8 ? " and " + std::to_string(named - 8) + " more" : std::string());
    add(Severity::warning, "impossible-inertia", worst->message + " by " + digits(100 * worst->excess) + " %" + others,
        impossible_hint, worst->body->where);
  }

  void check_body(const Body& body, bool held) {
    const std::string who = "body '" + body.name + "'";
    if (!std::isfinite(body.mass)) {
      error("bad-mass", who + ": mass is not a finite number", "give the mass in kg", body.where);
    } else if (body.mass < 0) {
      error("negative-mass", who + ": mass is " + digits(body.mass) + " kg", "a mass is 0 or positive", body.where);
    }
    if (!finite(body.pose) || !body.velocity.allFinite() || !body.angular_velocity.allFinite() ||
        !body.center_of_mass.allFinite()) {
      error("not-finite", who + ": its position, velocity or centre of mass is not finite", "check the numbers",
            body.where);
      return;
    }
    if (body.modal != nullptr && body.modal->held_frequencies.size() > body.modal->normal_modes_asked) {
      add(Severity::note, "more-normal-modes",
          who + ": " + std::to_string(body.modal->held_frequencies.size()) + " normal modes are taken instead of " +
              std::to_string(body.modal->normal_modes_asked) +
              ", since the frequency of the last one is that of others as well",
          "`trammel info` lists them", body.where);
    }
    for (const Vec3* x : {&body.pose.position, &body.velocity, &body.angular_velocity, &body.center_of_mass}) {
      if (x->cwiseAbs().maxCoeff() <= greatest_number) continue;
      error("out-of-range", who + ": its position, velocity or centre of mass is beyond " + digits(greatest_number),
            "check units and exponents", body.where);
      return;
    }
    if (body.mass > greatest_number || body.inertia.cwiseAbs().maxCoeff() > greatest_number) {
      error("out-of-range", who + ": its mass or inertia is beyond " + digits(greatest_number),
            "check units and exponents", body.where);
      return;
    }
    if (std::abs(body.pose.rotation.norm() - 1) > unit_slack) {
      error("quaternion-norm", who + ": its quaternion has length " + digits(body.pose.rotation.norm()) + ", not 1",
            "normalise it; the order is (w, x, y, z)", body.where);
    }
    const bool light = check_inertia(body, who);
    if (light && !held && body.mass >= 0) {
      add(Severity::warning, "massless-body", who + " has neither mass nor inertia, and no joint holds it",
          "give it a mass, or join it to another body", body.where);
    }
    if (kind_of(body).is_planar) check_planar(body, who);
  }

  // True if the body has neither mass nor inertia.
  bool check_inertia(const Body& body, const std::string& who) {
    const InertiaForm form = kind_of(body).inertia;
    if (form == InertiaForm::follows) return body.mass == 0;
    if (form == InertiaForm::none) {
      if (!body.inertia.isZero(0)) {
        error("impossible-inertia", who + ": a point has no inertia", "leave the inertia out, or use a spatial body",
              body.where);
      }
      return body.mass == 0;
    }
    if (!body.inertia.allFinite()) {
      error("impossible-inertia", who + ": inertia is not finite", "check the numbers", body.where);
      return false;
    }
    if (form == InertiaForm::about_z) {
      const double value = body.inertia(2, 2);
      if (value < 0) {
        error("impossible-inertia", who + ": impossible inertia " + digits(value) + " kg m^2",
              "an inertia is 0 or positive", body.where);
      }
      return body.mass == 0 && value == 0;
    }
    const double largest = body.inertia.cwiseAbs().maxCoeff();
    if ((body.inertia - body.inertia.transpose()).cwiseAbs().maxCoeff() > symmetry_slack * largest) {
      error("impossible-inertia", who + ": impossible inertia, the matrix is not symmetric",
            "ixy = iyx, ixz = izx and iyz = izy are needed", body.where);
      return false;
    }
    if (largest == 0) return body.mass == 0;
    const Vec3 p = symmetric_eigenvalues(body.inertia);
    const std::string values = digits(p[0]) + ", " + digits(p[1]) + ", " + digits(p[2]) + " kg m^2";
    if (p[0] < -symmetry_slack * largest) {
      error("impossible-inertia",
            who + ": impossible inertia, its principal values are " + values + ": one is negative",
            "check the signs and the products of inertia, which are entries of the matrix", body.where);
    } else if (p[2] > (p[0] + p[1]) * (1 + triangle_slack) + symmetry_slack * largest) {
      const std::string message = who + ": impossible inertia, its principal values are " + values +
                                  ": the largest exceeds the sum of the others";
      const double excess = p[2] / (p[0] + p[1]) - 1;
      if (excess > triangle_doubt)
        error("impossible-inertia", message, impossible_hint, body.where);
      else
        doubtful_.push_back({&body, message, excess});
    }
    return false;
  }

  void check_planar(const Body& body, const std::string& who) {
    const Quat& q = body.pose.rotation;
    const bool turned = std::abs(q.x()) > unit_slack || std::abs(q.y()) > unit_slack;
    const bool moves = body.velocity.z() != 0 || body.angular_velocity.x() != 0 || body.angular_velocity.y() != 0;
    if (turned || moves) {
      error("not-planar",
            who + ": a planar body stays in the xy plane, but this one " + (turned ? "is turned" : "moves") +
                " out of it",
            "use a spatial body, or turn and move it in the plane only", body.where);
    }
  }

  // ---- The rest ----------------------------------------------------------------------------------------------------

  void check_start() {
    if (!model_.gravity.allFinite()) error("not-finite", "gravity is not finite", "give three numbers in m/s^2", {});
    for (const InitialJoint& initial : model_.initial_joints) {
      if (initial.joint < 0 || initial.joint >= std::ssize(model_.joints)) {
        error("missing-joint", "an initial value is given for a joint that does not exist", "add the joint first",
              initial.where);
        continue;
      }
      for (const auto& value : {initial.angle, initial.displacement, initial.angular_speed, initial.speed}) {
        if (value && !std::isfinite(*value)) {
          error("not-finite", "joint '" + model_.joints[initial.joint].name + "': an initial value is not finite",
                "check the number", initial.where);
        }
      }
    }
    for (const Shape& shape : model_.shapes) {
      if (!is_body(shape.body)) {
        error("missing-body", "shape '" + shape.name + "' is on a body that does not exist", "add the body first",
              shape.where);
      }
    }
  }

  void check_parameters() {
    for (const Parameter& parameter : model_.parameters) {
      if (!std::isfinite(parameter.value)) {
        error("not-finite", "parameter '" + parameter.name + "' is not finite", "check the number", parameter.where);
      }
      if (parameter.used || mentioned_.count(parameter.name) != 0) continue;
      add(Severity::warning, "unused-parameter", "parameter '" + parameter.name + "' is not used",
          "remove it, or use it", parameter.where);
    }
    Names splines, tables;
    for (const NamedSpline& each : model_.splines) check_curve(splines, each, "spline");
    for (const NamedTable& each : model_.tables) check_curve(tables, each, "table");
  }

  template <class Curve>
  void check_curve(Names& seen, const Curve& curve, const std::string& kind) {
    check_name(seen, curve.name, kind, curve.where);
    if (mentioned_.count(curve.name) != 0) return;
    add(Severity::note, "unused-spline", kind + " '" + curve.name + "' is not used", "remove it, or use it",
        curve.where);
  }

  void check_simulation() {
    const SimulationSettings& s = model_.simulation;
    const auto positive = [&](const char* name, const std::optional<double>& value, const char* unit) {
      if (!value || (std::isfinite(*value) && *value > 0)) return;
      error("not-positive",
            std::string("simulation: ") + name + " is " + digits(*value) + unit + ", but must be positive",
            "give a positive number, or leave it out", s.where);
    };
    positive("end", s.end, " s");
    positive("tolerance", s.tolerance, "");
    positive("step", s.step, " s");
    positive("first_step", s.first_step, " s");
    positive("least_step", s.least_step, " s");
    positive("greatest_step", s.greatest_step, " s");
    positive("output_step", s.output_step, " s");
    positive("length", s.length, " m");
    positive("time_scale", s.time_scale, " s");
    if (s.tolerance && *s.tolerance > 1) {
      error("out-of-range", "simulation: tolerance is " + digits(*s.tolerance) + ", as large as the model itself",
            "usual are 1e-3 to 1e-10", s.where);
    }
    if (s.output_step && *s.output_step > 0 && s.end / *s.output_step > most_outputs) {
      error("too-many-outputs",
            "simulation: an end of " + digits(s.end) + " s and an output_step of " + digits(*s.output_step) +
                " s make " + digits(s.end / *s.output_step) + " rows of results; at most " + digits(most_outputs) +
                " are written",
            "take a larger output_step", s.where);
    }
    if (s.least_step && s.greatest_step && *s.least_step > *s.greatest_step) {
      error("conflict", "simulation: least_step is larger than greatest_step", "exchange them", s.where);
    }
  }

  const Model& model_;
  std::vector<Problem> problems_;
  std::unordered_set<std::string_view> mentioned_;  // names in expressions of the run
  std::vector<bool> used_frames_, held_;            // by frame; by body
  struct Doubtful {
    const Body* body;
    std::string message;
    double excess;  // of the largest principal value over the sum of the others, as a part of it
  };
  std::vector<Doubtful> doubtful_;
};

}  // namespace

std::vector<Problem> check_model(const Model& model) { return ModelChecker(model).run(); }

std::vector<Problem> require_sound(const Model& model) {
  std::vector<Problem> problems = check_model(model);
  const auto first_mild =
      std::find_if(problems.begin(), problems.end(), [](const Problem& p) { return p.severity != Severity::error; });
  if (first_mild != problems.begin()) throw Failure(std::vector<Problem>(problems.begin(), first_mild));
  return problems;
}

}  // namespace trammel
