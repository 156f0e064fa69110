// A constraint between two frames written as one formula per row; all derivatives follow by jets (trammel/math/jet.h).
// For elements whose derivatives would fill pages; the frequent joints have theirs by hand (pair_constraint.h).
//
// A formula is a struct with
//   static constexpr int count                        rows
//   Level level(int row) const
//   template <class T> void rows(const JetFrame<T>& a, const JetFrame<T>& b, T* value) const
// where value[row] is g of a row at position level and k of a row at velocity level, without its time function f(t);
// k is linear in the twists.
//
// Along a motion with constant twists, p(s) = p + s v, R(s) = exp(s w~) R:
//   position   C tau = dg/ds,   c = d2g/ds2          velocity   k,   c = dk/ds
// so jets in s give rates and curvatures, jets in the poses and twists on top of them the partial derivatives.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "trammel/elements/constraint.h"
#include "trammel/math/expression.h"
#include "trammel/math/jet.h"

namespace trammel {

template <class T>
struct JetFrame {
  Triple<T> p;
  std::array<Triple<T>, 3> axis;  // of the frame, in the world
  Triple<T> v, w;
};

template <class Formula>
class JetConstraint : public Constraint {
 public:
  // `functions`: one time function per row, or none at all.
  explicit JetConstraint(Formula formula, std::vector<Expression> functions = {})
      : formula_(std::move(formula)), functions_(std::move(functions)) {
    for (const Expression& f : functions_) corners_.push_back(f.corners());
  }

  int rows() const override { return Formula::count; }
  int frames() const override { return 2; }
  RowUnit row_unit(int row) const override { return formula_.unit(row); }
  Level level(int row) const override { return formula_.level(row); }
  bool does_work() const override { return !functions_.empty(); }
  std::string row_name(int row) const override { return formula_.name(row); }

  std::vector<SwitchInfo> switches() const override {
    std::vector<SwitchInfo> all;
    for (const std::vector<Expression::Corner>& corners : corners_)
      all.insert(all.end(), corners.size(), {"corner of its function", true});
    return all;
  }
  void switch_values(const ElementInput& in, double* values) const override {
    for (std::size_t i = 0; i < functions_.size(); ++i) {
      functions_[i].corner_values(in.t, {}, corners_[i], values);
      values += corners_[i].size();
    }
  }

  bool evaluate(const ElementInput& in, const double* lambda, double* g, double* wrench) const override {
    std::array<double, count> value;
    const auto plain = frames_of<double>(in.frames);
    formula_.rows(plain[0], plain[1], value.data());
    bool good = true;
    for (int k = 0; k < Formula::count; ++k) {
      g[k] = value[at(k)] - function(k, in.t)[0];
      good = good && std::isfinite(g[k]);
    }
    if (wrench == nullptr) return good;
    RowMatrix C;
    jacobian(in, C);
    Eigen::Map<Eigen::Matrix<double, 12, 1>> out(wrench);
    out.setZero();
    for (int k = 0; k < Formula::count; ++k) out += lambda[k] * C.row(k).transpose();
    return good && out.allFinite();
  }

  void rate(const ElementInput& in, double* g_dot) const override {
    const auto rates = rates_of(frames_of<double>(in.frames));
    for (int k = 0; k < Formula::count; ++k) {
      const auto f = function(k, in.t);
      g_dot[k] = rates[at(k)] - (level(k) == Level::position ? f[1] : f[0]);
    }
  }

  void curvature(const ElementInput& in, double* c) const override {
    const auto curvatures = along(frames_of<double>(in.frames)).second;
    for (int k = 0; k < Formula::count; ++k) {
      const auto f = function(k, in.t);
      c[k] = curvatures[at(k)] - (level(k) == Level::position ? f[2] : f[1]);
    }
  }

  void jacobian(const ElementInput& in, RowMatrix& C) const override {
    using T = Jet<double, 12>;
    C.resize(Formula::count, 12);
    std::array<T, count> by_pose, by_twist;
    const auto posed = frames_of<T>(in.frames, 0, -1), moving = frames_of<T>(in.frames, -1, 0);
    formula_.rows(posed[0], posed[1], by_pose.data());
    formula_.rows(moving[0], moving[1], by_twist.data());
    for (int k = 0; k < Formula::count; ++k) {
      const T& row = level(k) == Level::position ? by_pose[at(k)] : by_twist[at(k)];
      for (int j = 0; j < 12; ++j) C(k, j) = row.d[at(j)];
    }
  }

  void linearise(const ElementInput& in, const double* lambda, RowMatrix& C, FrameMatrix& wrench_pose) const override {
    jacobian(in, C);
    wrench_by_pose(in, lambda, wrench_pose);
  }

  void linearise_velocity(const ElementInput& in, RowMatrix& k_pose) const override {
    using T = Jet<double, 12>;
    std::array<T, count> by_pose;
    const auto posed = frames_of<T>(in.frames, 0, -1);
    formula_.rows(posed[0], posed[1], by_pose.data());
    k_pose.setZero(Formula::count, 12);
    for (int k = 0; k < Formula::count; ++k) {
      if (level(k) != Level::velocity) continue;
      for (int j = 0; j < 12; ++j) k_pose(k, j) = by_pose[at(k)].d[at(j)];
    }
  }

  void linearise_all(const ElementInput& in, const double* lambda, const double* rate, const double* bias,
                     ConstraintPartials& out) const override {
    out.set_zero(Formula::count, 2);
    linearise(in, lambda, out.C, out.wrench_pose);
    using T = Jet<double, 24>;
    const auto [rates, curvatures] = along(frames_of<T>(in.frames, 0, 12));
    for (int k = 0; k < Formula::count; ++k) {
      const auto f = function(k, in.t);
      const bool holonomic = level(k) == Level::position;
      out.g_t[k] = holonomic ? -f[1] : rates[at(k)].a - f[0] - out.C.row(k).dot(stacked_twists(in.frames));
      out.curvature[k] = curvatures[at(k)].a - (holonomic ? f[2] : f[1]);
      out.curvature_t[k] = -(holonomic ? f[3] : f[2]);
      for (int j = 0; j < 12; ++j) {
        out.Ctwist_pose(k, j) = rates[at(k)].d[at(j)];
        out.curvature_pose(k, j) = curvatures[at(k)].d[at(j)];
        out.curvature_twist(k, j) = curvatures[at(k)].d[at(12 + j)];
      }
    }
    contract(in, rate, out.Crate_pose);
    contract(in, bias, out.Cbias_pose);
  }

 private:
  static constexpr std::size_t count = static_cast<std::size_t>(Formula::count);
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  std::array<double, 4> function(int row, double t) const {
    return functions_.empty() ? std::array<double, 4>{} : functions_[at(row)].time_derivatives(t, {});
  }
  static Eigen::Matrix<double, 1, 12> stacked_twists(const FrameState* frames) {
    Eigen::Matrix<double, 1, 12> tau;
    tau << frames[0].v.transpose(), frames[0].w.transpose(), frames[1].v.transpose(), frames[1].w.transpose();
    return tau;
  }

  // Both frames as numbers T: jets with directions pose_first + 0..11 for (p, phi) of A and B, twist_first + 0..11 for
  // their twists; -1: constants.
  template <class T>
  static std::array<JetFrame<T>, 2> frames_of(const FrameState* frames, int pose_first = -1, int twist_first = -1) {
    std::array<JetFrame<T>, 2> out;
    for (int i = 0; i < 2; ++i) {
      const FrameState& f = frames[i];
      JetFrame<T>& o = out[at(i)];
      for (int c = 0; c < 3; ++c) {
        o.p[c] = T(f.p[c]);
        o.v[c] = T(f.v[c]);
        o.w[c] = T(f.w[c]);
        for (int a = 0; a < 3; ++a) o.axis[at(a)][c] = T(f.R(c, a));
      }
      if constexpr (!std::is_same_v<T, double>) {
        for (int c = 0; c < 3; ++c) {
          if (pose_first >= 0) {
            o.p[c].d[at(pose_first + 6 * i + c)] = 1;
            for (int a = 0; a < 3; ++a) {
              const Vec3 turned = Vec3::Unit(c).cross(f.R.col(a));
              for (int r = 0; r < 3; ++r) o.axis[at(a)][r].d[at(pose_first + 6 * i + 3 + c)] = turned[r];
            }
          }
          if (twist_first >= 0) {
            o.v[c].d[at(twist_first + 6 * i + c)] = 1;
            o.w[c].d[at(twist_first + 6 * i + 3 + c)] = 1;
          }
        }
      }
    }
    return out;
  }

  // C tau (k for rows at velocity level) and c, for frames of any number type.
  template <class T>
  std::pair<std::array<T, count>, std::array<T, count>> along(const std::array<JetFrame<T>, 2>& frames) const {
    using S1 = Jet<T, 1>;
    using S2 = Jet<S1, 1>;
    // s = e1 + e2: its square is 2 e1 e2, which is all a second derivative needs.
    S2 s;
    s.a.d[0] = T(1);
    s.d[0].a = T(1);
    const S2 half_square = S2(0.5) * s * s;
    const auto lift = [](const Triple<T>& x) {
      Triple<S2> out;
      for (int c = 0; c < 3; ++c) out[c].a.a = x[c];
      return out;
    };
    std::array<JetFrame<S2>, 2> moving;
    for (std::size_t i = 0; i < 2; ++i) {
      const JetFrame<T>& f = frames[i];
      JetFrame<S2>& m = moving[i];
      m.v = lift(f.v);
      m.w = lift(f.w);
      m.p = lift(f.p) + s * m.v;
      for (std::size_t a = 0; a < 3; ++a) {
        const Triple<T> first = cross(f.w, f.axis[a]);
        m.axis[a] = lift(f.axis[a]) + s * lift(first) + half_square * lift(cross(f.w, first));
      }
    }
    std::array<S2, count> value;
    formula_.rows(moving[0], moving[1], value.data());
    std::pair<std::array<T, count>, std::array<T, count>> out;
    for (int k = 0; k < Formula::count; ++k) {
      const S2& v = value[at(k)];
      out.first[at(k)] = level(k) == Level::position ? v.a.d[0] : v.a.a;
      out.second[at(k)] = level(k) == Level::position ? v.d[0].d[0] : v.a.d[0];
    }
    return out;
  }

  // C tau, or k, alone.
  template <class T>
  std::array<T, count> rates_of(const std::array<JetFrame<T>, 2>& frames) const {
    using S = Jet<T, 1>;
    S s;
    s.d[0] = T(1);
    const auto lift = [](const Triple<T>& x) {
      Triple<S> out;
      for (int c = 0; c < 3; ++c) out[c].a = x[c];
      return out;
    };
    std::array<JetFrame<S>, 2> moving;
    for (std::size_t i = 0; i < 2; ++i) {
      const JetFrame<T>& f = frames[i];
      JetFrame<S>& m = moving[i];
      m.v = lift(f.v);
      m.w = lift(f.w);
      m.p = lift(f.p) + s * m.v;
      for (std::size_t a = 0; a < 3; ++a) m.axis[a] = lift(f.axis[a]) + s * lift(cross(f.w, f.axis[a]));
    }
    std::array<S, count> value;
    formula_.rows(moving[0], moving[1], value.data());
    std::array<T, count> out;
    for (int k = 0; k < Formula::count; ++k)
      out[at(k)] = level(k) == Level::position ? value[at(k)].d[0] : value[at(k)].a;
    return out;
  }

  // Rates against the poses, of a motion with the twists u; at rest without them.
  using PoseJet = Jet<double, 12>;
  std::array<PoseJet, count> rates_by_pose(const ElementInput& in, const double* u) const {
    std::array<FrameState, 2> moving{in.frames[0], in.frames[1]};
    for (int i = 0; i < 2; ++i) {
      moving[at(i)].v = u == nullptr ? Vec3::Zero().eval() : Vec3(u[6 * i], u[6 * i + 1], u[6 * i + 2]);
      moving[at(i)].w = u == nullptr ? Vec3::Zero().eval() : Vec3(u[6 * i + 3], u[6 * i + 4], u[6 * i + 5]);
    }
    return rates_of(frames_of<PoseJet>(moving.data(), 0, -1));
  }

  // d(C u)/dpose: the rates of a motion with the twists u, less what they are at rest.
  void contract(const ElementInput& in, const double* u, RowMatrix& out) const {
    const auto rates = rates_by_pose(in, u), still = rates_by_pose(in, nullptr);
    out.setZero(Formula::count, 12);
    for (int k = 0; k < Formula::count; ++k) {
      for (int j = 0; j < 12; ++j) out(k, j) = rates[at(k)].d[at(j)] - still[at(k)].d[at(j)];
    }
  }

  // d(C^T lambda)/dpose: row i is lambda . d(C e_i)/dpose.
  void wrench_by_pose(const ElementInput& in, const double* lambda, FrameMatrix& out) const {
    const auto still = rates_by_pose(in, nullptr);
    out.setZero(12, 12);
    for (int i = 0; i < 12; ++i) {
      const Eigen::Matrix<double, 12, 1> unit = Eigen::Matrix<double, 12, 1>::Unit(i);
      const auto rates = rates_by_pose(in, unit.data());
      for (int k = 0; k < Formula::count; ++k) {
        for (int j = 0; j < 12; ++j) out(i, j) += lambda[k] * (rates[at(k)].d[at(j)] - still[at(k)].d[at(j)]);
      }
    }
  }

  Formula formula_;
  std::vector<Expression> functions_;
  std::vector<std::vector<Expression::Corner>> corners_;  // of the functions
};

}  // namespace trammel
