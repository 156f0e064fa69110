#include "tests/conformance/element_checks.h"

#include <Eigen/QR>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <sstream>

#include "trammel/elements/measure.h"
#include "trammel/elements/remembered_angle.h"
#include "trammel/math/rotation.h"

namespace trammel::conformance {
namespace {

double uniform(double least, double most, std::mt19937& random) {
  return std::uniform_real_distribution<double>(least, most)(random);
}

Vec random_numbers(int count, std::mt19937& random) {
  Vec v(count);
  for (int i = 0; i < count; ++i) v[i] = uniform(-1, 1, random);
  return v;
}

Mat3 random_rotation(std::mt19937& random) {
  std::normal_distribution<double> normal;
  Quat q(normal(random), normal(random), normal(random), normal(random));
  return q.normalized().toRotationMatrix();
}

// ---- comparing -----------------------------------------------------------------------------------------------------

// Difference relative to the largest entry, or to 1 if all are smaller.
void compare(const std::string& what, const Mat& expected, const Mat& given, Complaints& complaints) {
  std::ostringstream text;
  if (expected.rows() != given.rows() || expected.cols() != given.cols()) {
    text << what << ": size " << given.rows() << " x " << given.cols() << " instead of " << expected.rows() << " x "
         << expected.cols();
    complaints.push_back(text.str());
    return;
  }
  if (expected.size() == 0) return;
  const double scale = std::max(1.0, expected.cwiseAbs().maxCoeff());
  Eigen::Index row = 0, column = 0;
  const double error = given.allFinite() ? (given - expected).cwiseAbs().maxCoeff(&row, &column)
                                         : std::numeric_limits<double>::infinity();
  if (error <= tolerance * scale) return;
  text << what << ": off by " << error << " of " << scale << ", at row " << row << ", column " << column << ": "
       << given(row, column) << " instead of " << expected(row, column);
  complaints.push_back(text.str());
}

// ---- moving --------------------------------------------------------------------------------------------------------

// The situation after a small motion of frame column/6 in its direction column%6; twists held.
Situation nudged(Situation s, int column, double amount) {
  FrameState& frame = s.frames[static_cast<std::size_t>(column / 6)];
  const int direction = column % 6;
  if (direction < 3) {
    frame.p[direction] += amount;
  } else {
    frame.R = rotation_exp(amount * Vec3::Unit(direction - 3)) * frame.R;
  }
  return s;
}

Situation sped_up(Situation s, int column, double amount) {
  FrameState& frame = s.frames[static_cast<std::size_t>(column / 6)];
  const int direction = column % 6;
  (direction < 3 ? frame.v[direction] : frame.w[direction - 3]) += amount;
  return s;
}

Situation later(Situation s, double amount) {
  s.t += amount;
  return s;
}

Situation displaced(Situation s, const Vec& pose) {
  for (std::size_t i = 0; i < s.frames.size(); ++i) {
    const auto at = static_cast<Eigen::Index>(6 * i);
    s.frames[i].p += pose.segment<3>(at);
    s.frames[i].R = rotation_exp(pose.segment<3>(at + 3)) * s.frames[i].R;
  }
  return s;
}

// The whole mechanism turned by `turn` about the origin and shifted.
Situation carried(Situation s, const Mat3& turn, const Vec3& shift) {
  for (FrameState& frame : s.frames) {
    frame.p = turn * frame.p + shift;
    frame.R = turn * frame.R;
    frame.v = turn * frame.v;
    frame.w = turn * frame.w;
  }
  return s;
}

Vec twists(const Situation& s) {
  Vec tau(static_cast<Eigen::Index>(6 * s.frames.size()));
  for (std::size_t i = 0; i < s.frames.size(); ++i)
    tau.segment<6>(static_cast<Eigen::Index>(6 * i)) << s.frames[i].v, s.frames[i].w;
  return tau;
}

Mat turn_of_wrenches(const Mat3& turn, std::size_t frames) {
  Mat out = Mat::Zero(static_cast<Eigen::Index>(6 * frames), static_cast<Eigen::Index>(6 * frames));
  for (Eigen::Index i = 0; i < out.rows(); i += 3) out.block<3, 3>(i, i) = turn;
  return out;
}

// Total force, total moment about the origin.
Vec6 resultant(const Situation& s, const Vec& wrench) {
  Vec6 out = Vec6::Zero();
  for (std::size_t i = 0; i < s.frames.size(); ++i) {
    const Vec6 one = wrench.segment<6>(static_cast<Eigen::Index>(6 * i));
    out += one;
    out.tail<3>() += s.frames[i].p.cross(one.head<3>());
  }
  return out;
}

// ---- evaluating: everything that must be written is checked to be written
// --------------------------------------------

constexpr double unwritten = std::numeric_limits<double>::quiet_NaN();

struct ConstraintValue {
  Vec g, wrench;
};

std::optional<ConstraintValue> evaluate(const Constraint& c, const Situation& s, const Vec& lambda) {
  ConstraintValue out{Vec::Constant(c.rows(), unwritten), Vec::Constant(6 * c.frames(), unwritten)};
  if (!c.evaluate(s.input(), lambda.data(), out.g.data(), out.wrench.data())) return std::nullopt;
  return out;
}

Vec rate(const Constraint& c, const Situation& s) {
  Vec out = Vec::Constant(c.rows(), unwritten);
  c.rate(s.input(), out.data());
  return out;
}

Mat jacobian(const Constraint& c, const Situation& s) {
  RowMatrix C;
  c.jacobian(s.input(), C);
  return C;
}

std::optional<Vec> evaluate(const Force& force, const Situation& s) {
  Vec wrench = Vec::Constant(6 * force.frames(), unwritten);
  if (!force.evaluate(s.input(), wrench.data())) return std::nullopt;
  return wrench;
}

bool mentions_world(const Constraint& c, int row) { return c.row_name(row).find("world") != std::string::npos; }

int angles_of(const Constraint& c) { return c.angles(); }
int angles_of(const Force& f) { return f.memory() / RememberedAngle::size; }
// The value of one of them.
double& angle_of(Situation& s, int i) { return s.memory[static_cast<std::size_t>(i * RememberedAngle::size)]; }

// What is remembered besides angles begins somewhat earlier.
void begin(const Constraint& c, Situation& s) {
  c.start({s.t - 0.7, s.frames.data(), s.memory.data()}, s.memory.data());
}
void begin(const Force&, Situation&) {}

template <class Element>
Situation situation_for(const Element& element, std::mt19937& random) {
  Situation s;
  s.t = uniform(0, 3, random);
  for (int i = 0; i < element.frames(); ++i) {
    const Vec numbers = random_numbers(9, random);
    s.frames.push_back(
        {numbers.segment<3>(0), random_rotation(random), 2 * numbers.segment<3>(3), 2 * numbers.segment<3>(6)});
  }
  s.memory.assign(static_cast<std::size_t>(element.memory()), 0);
  begin(element, s);
  for (int i = 0; i < angles_of(element); ++i) angle_of(s, i) = uniform(-20, 20, random);
  element.accept(s.input(), s.memory.data());
  for (int i = 0; i < angles_of(element); ++i) angle_of(s, i) += uniform(-1.4, 1.4, random);
  return s;
}

template <class Element>
Complaints memory_of(const Element& element, Situation s) {
  Complaints complaints;
  const int angles = angles_of(element);
  if (angles == 0) return complaints;
  const double age = element.turned(s.input());
  if (!(age < 1.4 + 1e-9)) complaints.push_back("turned() is " + std::to_string(age) + " where no angle moved so far");
  element.accept(s.input(), s.memory.data());
  if (!(element.turned(s.input()) < 1e-12)) complaints.push_back("turned() is not 0 just after accept()");
  // Pairs of frames with parallel z axes: then the angle is that of the turn.
  for (std::size_t i = 1; i < s.frames.size(); i += 2)
    s.frames[i].R = s.frames[i - 1].R * Eigen::AngleAxisd(0.4, Vec3::UnitZ()).toRotationMatrix();
  element.accept(s.input(), s.memory.data());
  Situation now = s;
  const auto turn_frames = [&](double angle) {
    for (std::size_t k = 1; k < s.frames.size(); k += 2) {
      FrameState &a = s.frames[k - 1], &b = s.frames[k];
      const Mat3 turn = a.R * Eigen::AngleAxisd(angle, Vec3::UnitZ()).toRotationMatrix() * a.R.transpose();
      b.R = turn * b.R;
      b.p = a.p + turn * (b.p - a.p);  // the polar angle of b goes with it
    }
  };
  const auto turn_by = [&](double angle, int times) {
    for (int i = 0; i < times; ++i) {
      turn_frames(angle);
      const double turned = element.turned(s.input());
      if (std::abs(turned - std::abs(angle)) > 1e-9) {
        complaints.push_back("turned() is " + std::to_string(turned) + " after a turn by " + std::to_string(angle));
      }
      element.accept(s.input(), s.memory.data());
    }
  };
  constexpr double three_turns = 6 * std::numbers::pi;
  turn_by(three_turns / 16, 16);
  int followed = 0;
  for (int i = 0; i < angles; ++i) {
    const double by = angle_of(s, i) - angle_of(now, i);
    if (std::abs(by - three_turns) < 1e-9) ++followed;
    if (std::abs(by - three_turns) > 1e-9 && std::abs(by) > 1e-9)  // an angle about another axis stays
      complaints.push_back("three turns forward are remembered as " + std::to_string(by) + " rad");
  }
  if (followed == 0) complaints.push_back("no remembered angle follows a turn about z");
  turn_by(-three_turns / 16, 16);
  for (int i = 0; i < angles; ++i) {
    if (std::abs(angle_of(s, i) - angle_of(now, i)) > 1e-9)
      complaints.push_back("three turns forward and back do not return");
  }
  // In one step, at the rate they had: no doubt, and all of them are counted.
  const double dt = 0.3;
  const auto at_rate = [&](double rate) {
    for (std::size_t k = 0; k < s.frames.size(); ++k) {
      FrameState& f = s.frames[k];
      const FrameState& a = s.frames[k - k % 2];
      f.w = k % 2 == 1 ? Vec3(rate * a.R.col(2)) : Vec3::Zero();
      f.v = f.w.cross(f.p - a.p);
    }
  };
  at_rate(three_turns / dt);
  element.accept(s.input(), s.memory.data());
  s.t += dt;
  turn_frames(three_turns);
  at_rate(three_turns / dt);
  if (!(element.turned(s.input()) < 1e-9)) complaints.push_back("turned() is not 0 after three turns as expected");
  element.accept(s.input(), s.memory.data());
  int counted = 0;
  for (int i = 0; i < angles; ++i) counted += std::abs(angle_of(s, i) - angle_of(now, i) - three_turns) < 1e-9 ? 1 : 0;
  if (counted != followed) complaints.push_back("three turns in one step are not counted");
  // A rate that changes by more than a turn in the step is doubted.
  s.t += dt;
  at_rate(three_turns / dt + 4 * std::numbers::pi / dt);
  if (!(element.turned(s.input()) > 1.57)) complaints.push_back("turned() does not see that the rate changed");
  return complaints;
}

}  // namespace

std::string join(const Complaints& complaints) {
  std::string text;
  for (const std::string& complaint : complaints) text += complaint + "\n";
  return text;
}

// ---- differencing --------------------------------------------------------------------------------------------------

constexpr double largest_difference = 0.02;

// Of the extrapolation table, the entry that agrees best with its neighbours counts.
std::optional<Vec> derivative(const std::function<std::optional<Vec>(double)>& f) {
  constexpr int levels = 7;
  std::array<std::array<Vec, levels>, levels> table;
  Vec best;
  double least_change = std::numeric_limits<double>::infinity();
  double h = largest_difference;
  for (std::size_t i = 0; i < levels; ++i, h /= 2) {
    const auto ahead = f(h), behind = f(-h);
    if (!ahead || !behind) return std::nullopt;
    table[i][0] = (*ahead - *behind) / (2 * h);
    double factor = 1;
    for (std::size_t j = 1; j <= i; ++j) {
      factor *= 4;
      table[i][j] = table[i][j - 1] + (table[i][j - 1] - table[i - 1][j - 1]) / (factor - 1);
      const double change = std::max((table[i][j] - table[i][j - 1]).cwiseAbs().maxCoeff(),
                                     (table[i][j] - table[i - 1][j - 1]).cwiseAbs().maxCoeff());
      if (change < least_change) {
        least_change = change;
        best = table[i][j];
      }
    }
  }
  return best;
}

Situation moved_on(Situation s, double dt) {
  s.t += dt;
  for (FrameState& frame : s.frames) {
    frame.p += dt * frame.v;
    frame.R = rotation_exp(dt * frame.w) * frame.R;
  }
  return s;
}

// ---- making --------------------------------------------------------------------------------------------------------

Instance make(const ElementDescription& description, const Item& item, const Model& model) {
  Instance out;
  const MakeContext context{model};
  if (description.category == Category::force) {
    out.force = description.make_force(item, context);
  } else {
    out.constraint = description.make_constraint(item, context);
  }
  return out;
}

Instance make_random(const ElementDescription& description, std::mt19937& random) {
  Model model;
  for (const char* name : {"first", "second"}) {
    Body body;
    body.name = name;
    body.pose = {random_numbers(3, random), Quat(random_rotation(random))};
    model.add_body(body);
  }
  Item item;
  item.type = description.key;
  item.name = "sample";
  for (int i = 0; i < description.random_frames; ++i)
    item.frames.push_back(model.add_frame(i % 2, {random_numbers(3, random), Quat(random_rotation(random))}));
  if (description.random_fields) item.fields = description.random_fields(random);
  complete_fields(description, item);
  if (description.category != Category::force) return make(description, item, model);
  model.forces.push_back(item);
  wire_measures(model);
  return make(description, model.forces[0], model);
}

Situation random_situation(const Constraint& constraint, std::mt19937& random) {
  return situation_for(constraint, random);
}
Situation random_situation(const Force& force, std::mt19937& random) { return situation_for(force, random); }

// ---- constraints ---------------------------------------------------------------------------------------------------

Complaints check_derivatives(const Constraint& c, const Situation& s, std::mt19937& random, bool& usable) {
  const int rows = c.rows(), n = 6 * c.frames();
  const Vec lambda = random_numbers(rows, random), u = random_numbers(n, random), bias = random_numbers(n, random),
            tau = twists(s);
  Complaints complaints;
  const auto value = evaluate(c, s, lambda);
  usable = value.has_value();
  if (!usable) return complaints;

  ConstraintPartials p;
  c.linearise_all(s.input(), lambda.data(), u.data(), bias.data(), p);

  // Differences of everything at once; the pieces are cut out of the columns afterwards.
  const auto everything = [&](const Situation& at) -> std::optional<Vec> {
    const auto there = evaluate(c, at, lambda);
    if (!there) return std::nullopt;
    ConstraintPartials q;
    c.linearise_all(at.input(), lambda.data(), u.data(), bias.data(), q);
    const Mat C = jacobian(c, at);
    Vec all(6 * rows + n);
    all << there->g, C * tau, C * u, C * bias, q.g_t, q.curvature, there->wrench;
    return all;
  };
  Mat by_pose(6 * rows + n, n), by_twist(2 * rows, n);
  for (int column = 0; column < n; ++column) {
    const auto pose = derivative([&](double e) { return everything(nudged(s, column, e)); });
    const auto twist = derivative([&](double e) -> std::optional<Vec> {
      const Situation at = sped_up(s, column, e);
      ConstraintPartials q;
      c.linearise_all(at.input(), lambda.data(), u.data(), bias.data(), q);
      Vec both(2 * rows);
      both << rate(c, at), q.curvature;
      return both;
    });
    usable = pose && twist;
    if (!usable) return complaints;
    by_pose.col(column) = *pose;
    by_twist.col(column) = *twist;
  }
  const auto by_time = derivative([&](double e) { return everything(later(s, e)); });
  const auto along = derivative([&](double e) -> std::optional<Vec> { return rate(c, moved_on(s, e)); });
  const auto moving = derivative([&](double e) -> std::optional<Vec> {
    const auto there = evaluate(c, moved_on(s, e), lambda);
    if (!there) return std::nullopt;
    return there->g;
  });
  usable = by_time && along && moving;
  if (!usable) return complaints;

  // At position level g, dg/dpose, d(C tau)/dpose and g_t; at velocity level k, dk/dtwist, dk/dpose and k - C tau.
  Mat expected_C = by_pose.topRows(rows), expected_Ctwist_pose = by_pose.middleRows(rows, rows);
  Vec expected_g_t = by_time->head(rows), expected_rate = *moving;
  RowMatrix k_pose;
  c.linearise_velocity(s.input(), k_pose);
  for (int row = 0; row < rows; ++row) {
    if (c.level(row) == Level::position) continue;
    expected_C.row(row) = by_twist.row(row);
    expected_Ctwist_pose.row(row) = by_pose.row(row);
    expected_rate[row] = value->g[row];
    expected_g_t[row] = value->g[row] - p.C.row(row).dot(tau);
    compare("linearise_velocity()", by_pose.row(row), k_pose.row(row), complaints);
  }
  compare("C", expected_C, p.C, complaints);
  compare("Ctwist_pose", expected_Ctwist_pose, p.Ctwist_pose, complaints);
  compare("Crate_pose", by_pose.middleRows(2 * rows, rows), p.Crate_pose, complaints);
  compare("Cbias_pose", by_pose.middleRows(3 * rows, rows), p.Cbias_pose, complaints);
  compare("curvature_pose", by_pose.middleRows(5 * rows, rows), p.curvature_pose, complaints);
  compare("wrench_pose", by_pose.bottomRows(n), p.wrench_pose, complaints);
  compare("curvature_twist", by_twist.bottomRows(rows), p.curvature_twist, complaints);
  compare("g_t", expected_g_t, p.g_t, complaints);
  compare("Crate_t", by_time->segment(2 * rows, rows), p.Crate_t, complaints);
  compare("curvature_t", by_time->segment(5 * rows, rows), p.curvature_t, complaints);
  compare("wrench_t", by_time->tail(n), p.wrench_t, complaints);
  compare("curvature", *along, p.curvature, complaints);
  RowVector alone(rows);
  c.curvature(s.input(), alone.data());
  compare("curvature alone", *along, alone, complaints);

  compare("rate() against the motion", expected_rate, rate(c, s), complaints);
  compare("rate() by the twist", by_twist.topRows(rows), p.C, complaints);
  compare("wrench", p.C.transpose() * lambda, value->wrench, complaints);
  compare("jacobian()", p.C, jacobian(c, s), complaints);
  RowMatrix C;
  FrameMatrix wrench_pose;
  c.linearise(s.input(), lambda.data(), C, wrench_pose);
  compare("linearise(): C", p.C, C, complaints);
  compare("linearise(): wrench_pose", p.wrench_pose, wrench_pose, complaints);
  Vec g_alone = Vec::Constant(rows, unwritten);
  c.evaluate(s.input(), nullptr, g_alone.data(), nullptr);
  compare("evaluate() without multipliers", value->g, g_alone, complaints);
  return complaints;
}

Complaints check_objectivity(const Constraint& c, const Situation& s, std::mt19937& random) {
  Complaints complaints;
  const int rows = c.rows();
  const Vec lambda = random_numbers(rows, random);
  const Mat3 turn = random_rotation(random);
  const Situation there = carried(s, turn, 3 * random_numbers(3, random));
  const auto before = evaluate(c, s, lambda), after = evaluate(c, there, lambda);
  if (!before || !after) return complaints;
  // C_after = Q C_before turned back, g_after = Q g_before with Q orthogonal; Q = I but for rows in world axes.
  const Mat expected = jacobian(c, s) * turn_of_wrenches(turn, s.frames.size()).transpose();
  const Mat found = jacobian(c, there);
  const Mat Q = expected.transpose().completeOrthogonalDecomposition().solve(found.transpose()).transpose();
  compare("rows after turning everything", Q * expected, found, complaints);
  compare("mixing of rows after turning everything", Mat::Identity(rows, rows), Q * Q.transpose(), complaints);
  compare("g after turning everything", Q * before->g, after->g, complaints);
  for (int row = 0; row < rows; ++row) {
    if (!mentions_world(c, row))
      compare("row " + c.row_name(row) + " after turning everything", expected.row(row), found.row(row), complaints);
  }
  return complaints;
}

Complaints check_reaction(const Constraint& c, const Situation& s, std::mt19937& random, bool& usable) {
  Complaints complaints;
  usable = false;
  for (int row = 0; row < c.rows(); ++row) {
    const auto value = evaluate(c, s, Vec::Unit(c.rows(), row));
    if (!value) return complaints;
    const Vec6 total = resultant(s, value->wrench);
    compare("resultant force of " + c.row_name(row), Vec::Zero(3), total.head<3>(), complaints);
    if (!mentions_world(c, row))
      compare("resultant moment of " + c.row_name(row), Vec::Zero(3), total.tail<3>(), complaints);
  }
  // Newton's method to a satisfied position.
  const Vec lambda = random_numbers(c.rows(), random);
  Situation at = s;
  for (int i = 0; i < 200; ++i) {
    auto value = evaluate(c, at, lambda);
    if (!value) return complaints;
    for (int row = 0; row < c.rows(); ++row) {
      if (c.level(row) == Level::velocity) value->g[row] = 0;  // reactions do not ask for velocities
    }
    if (value->g.cwiseAbs().maxCoeff() < 1e-13) {
      usable = true;
      compare("resultant of the reactions", Vec::Zero(6), resultant(at, value->wrench), complaints);
      return complaints;
    }
    Vec step = -jacobian(c, at).completeOrthogonalDecomposition().solve(value->g);
    if (step.norm() > 0.5) step *= 0.5 / step.norm();
    at = displaced(at, step);
    c.accept(at.input(), at.memory.data());  // the way to a satisfied angle may be several turns long
  }
  return complaints;
}

Complaints check_memory(const Constraint& constraint, Situation s) { return memory_of(constraint, std::move(s)); }

// ---- forces --------------------------------------------------------------------------------------------------------

// True if a contact begins or ends within reach of the differences: its force is not smooth there. Forces with modes
// change at their corners by other rules.
bool begins_nearby(const Force& force, const Situation& s) {
  Force::Approach unused;
  if (!force.approach(s.input(), nullptr, unused)) return false;
  const auto corners = [&](const Situation& at) {
    Vec values(static_cast<Eigen::Index>(force.switches().size()));
    force.switch_values(at.input(), values.data());
    return values;
  };
  const Vec here = corners(s);
  const auto differs = [&](const Situation& at) { return (corners(at).array() * here.array() <= 0).any(); };
  if (differs(moved_on(s, largest_difference)) || differs(moved_on(s, -largest_difference))) return true;
  for (int column = 0; column < 6 * force.frames(); ++column)
    for (const double e : {-largest_difference, largest_difference})
      if (differs(nudged(s, column, e))) return true;
  return false;
}

bool acts(const Force& force, const Situation& s) {
  Force::Approach unused;
  if (!force.approach(s.input(), nullptr, unused)) return true;
  const auto value = evaluate(force, s);
  return value && !value->isZero(0) && !begins_nearby(force, s);
}

Complaints check_derivatives(const Force& force, const Situation& s, bool& usable) {
  Complaints complaints;
  const int n = 6 * force.frames();
  const auto value = evaluate(force, s);
  usable = value.has_value() && !begins_nearby(force, s);
  if (!usable) return complaints;
  if (!value->allFinite()) complaints.push_back("evaluate() leaves numbers of the wrench unwritten or not finite");

  ForcePartials p;
  force.linearise(s.input(), p);
  Mat by_pose(n, n), by_twist(n, n);
  for (int column = 0; column < n; ++column) {
    const auto pose = derivative([&](double e) { return evaluate(force, nudged(s, column, e)); });
    const auto twist = derivative([&](double e) { return evaluate(force, sped_up(s, column, e)); });
    usable = pose && twist;
    if (!usable) return complaints;
    by_pose.col(column) = *pose;
    by_twist.col(column) = *twist;
  }
  const auto by_time = derivative([&](double e) { return evaluate(force, later(s, e)); });
  usable = by_time.has_value();
  if (!usable) return complaints;
  compare("pose", by_pose, p.pose, complaints);
  compare("twist", by_twist, p.twist, complaints);
  compare("time", *by_time, p.time, complaints);
  if (!force.uses_velocity() && !by_twist.isZero(1e-12))
    complaints.push_back("depends on velocities, though uses_velocity() is false");

  Vec observed = Vec::Constant(static_cast<Eigen::Index>(force.observables().size()), unwritten);
  force.observe(s.input(), observed.data());
  if (!observed.allFinite()) complaints.push_back("observe() leaves observables unwritten");
  return complaints;
}

Complaints check_objectivity(const Force& force, const Situation& s, std::mt19937& random) {
  Complaints complaints;
  if (!force.objective()) return complaints;
  const Mat3 turn = random_rotation(random);
  const Situation there = carried(s, turn, 3 * random_numbers(3, random));
  const auto before = evaluate(force, s), after = evaluate(force, there);
  if (!before || !after) return complaints;
  compare("wrench after turning everything", turn_of_wrenches(turn, s.frames.size()) * *before, *after, complaints);
  compare("stored energy after turning everything", Vec::Constant(1, force.potential_energy(s.input())),
          Vec::Constant(1, force.potential_energy(there.input())), complaints);

  // A common rigid motion on top.
  Situation carried_along = s;
  const Vec3 v = random_numbers(3, random), w = random_numbers(3, random);
  for (FrameState& frame : carried_along.frames) {
    frame.v += v + w.cross(frame.p);
    frame.w += w;
  }
  const auto moving = evaluate(force, carried_along);
  if (moving) compare("wrench on a moving ground", *before, *moving, complaints);
  compare("dissipation on a moving ground", Vec::Constant(1, force.dissipated_power(s.input())),
          Vec::Constant(1, force.dissipated_power(carried_along.input())), complaints);
  return complaints;
}

Complaints check_reaction(const Force& force, const Situation& s) {
  Complaints complaints;
  const auto value = evaluate(force, s);
  if (value) compare("resultant of the wrenches", Vec::Zero(6), resultant(s, *value), complaints);
  return complaints;
}

Complaints check_power(const Force& force, const Situation& s) {
  Complaints complaints;
  const auto value = evaluate(force, s);
  if (!value || begins_nearby(force, s)) return complaints;
  const double dissipated = force.dissipated_power(s.input());
  if (!(dissipated >= 0)) complaints.push_back("dissipates " + std::to_string(dissipated) + " W: makes energy");
  const double external = force.external_power(s.input());
  const auto stored = derivative([&](double e) -> std::optional<Vec> {
    const Situation at = moved_on(s, e);
    if (!evaluate(force, at)) return std::nullopt;
    return Vec::Constant(1, force.potential_energy(at.input()));
  });
  if (stored)
    compare("power", Vec::Constant(1, -(*stored)[0] - dissipated + external), Vec::Constant(1, value->dot(twists(s))),
            complaints);
  return complaints;
}

Complaints check_memory(const Force& force, Situation s) { return memory_of(force, std::move(s)); }

}  // namespace trammel::conformance
