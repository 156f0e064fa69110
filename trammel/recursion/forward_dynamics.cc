#include "trammel/recursion/forward_dynamics.h"

#include <cmath>

#include "trammel/recursion/sine_cosine.h"

namespace trammel::recursion {
namespace {

template <class T>
Triple<T> as(const Triple<double>& a) {
  return {T(a.x), T(a.y), T(a.z)};
}
template <class T>
Symmetric<T> as(const Symmetric<double>& s) {
  return {T(s.xx), T(s.xy), T(s.xz), T(s.yy), T(s.yz), T(s.zz)};
}
template <class T>
Square<T> as(const Square<double>& m) {
  Square<T> out;
  for (std::size_t i = 0; i < 9; ++i) out.a[i] = T(m.a[i]);
  return out;
}

// Of an inverse, which need not be positive where there was nothing to invert.
template <class T>
T size_of_inverse(const Symmetric<T>& s) {
  return std::abs(s.xx) + std::abs(s.yy) + std::abs(s.zz);
}

}  // namespace

template <class T>
ForwardDynamics<T>::ForwardDynamics(const Tree& tree)
    : tree_(tree),
      motion_(tree.links.size()),
      articulated_(tree.links.size()),
      applied_(tree.links.size()),
      angle_(tree.links.size(), T(0)),
      sine_(angle_),
      cosine_(angle_) {
  motion_[0].R = as<T>(Square<double>{{1, 0, 0, 0, 1, 0, 0, 0, 1}});
  motion_[0].av = as<T>(tree.gravity) * T(-1);
}

template <class T>
void ForwardDynamics<T>::place_angles(const T* q) {
  const std::size_t n = tree_.links.size();
  bool far = false;
  for (std::size_t i = 1; i < n; ++i) {
    const Link& link = tree_.links[i];
    angle_[i] = turns_by_angle(link.kind) ? q[link.q] : T(0);
    far = far || !(std::abs(angle_[i]) < T(most_angle_reduced));
  }
  if (far) {
    for (std::size_t i = 1; i < n; ++i) {
      sine_[i] = std::sin(angle_[i]);
      cosine_[i] = std::cos(angle_[i]);
    }
    return;
  }
  for (std::size_t i = 1; i < n; ++i) sine_cosine(angle_[i], sine_[i], cosine_[i]);
}

// R = P turned about z by the angle.
template <class T>
inline void ForwardDynamics<T>::turn(LinkMotion<T>& m, const Square<T>& P, std::size_t i) const {
  const T s = sine_[i], c = cosine_[i];
  for (std::size_t k = 0; k < 9; k += 3) {
    m.R.a[k] = P.a[k] * c + P.a[k + 1] * s;
    m.R.a[k + 1] = P.a[k + 1] * c - P.a[k] * s;
    m.R.a[k + 2] = P.a[k + 2];
  }
}

// With the relative velocities w_r (turning) and v_r (moving) of the joint:
//   w = w_p + w_r                 v = v_p + w_p x d + v_r
//   aw = aw_p + w_p x w_r         av = av_p + aw_p x d + w_p x (w_p x d + 2 v_r)
template <class T>
inline void ForwardDynamics<T>::take_over(const LinkMotion<T>& parent, LinkMotion<T>& m, const Triple<T>& turning,
                                          const Triple<T>& moving) const {
  const Triple<T> carried = cross(parent.w, m.d) + moving;
  m.o = parent.o + m.d;
  m.w = parent.w + turning;
  m.v = parent.v + carried;
  m.aw = parent.aw + cross(parent.w, turning);
  m.av = parent.av + cross(parent.aw, m.d) + cross(parent.w, carried + moving);
}

// R = P X(q0) Y(q1): the cross turns about x of P, the link about y of the cross.
template <class T>
void ForwardDynamics<T>::universal(const LinkMotion<T>& parent, LinkMotion<T>& m, const Square<T>& P, const T* q,
                                   const T* u) const {
  const T s0 = std::sin(q[0]), c0 = std::cos(q[0]), s1 = std::sin(q[1]), c1 = std::cos(q[1]);
  const T zero(0), one(1);
  const Square<T> crossed = times(P, Square<T>{{one, zero, zero, zero, c0, -s0, zero, s0, c0}});
  m.R = times(crossed, Square<T>{{c1, zero, s1, zero, one, zero, -s1, zero, c1}});
  const Triple<T> first = column(P, 0) * u[0], second = column(crossed, 1) * u[1];
  take_over(parent, m, first + second, {zero, zero, zero});
  m.aw += cross(first, second);
}

template <class T>
void ForwardDynamics<T>::outward(const T* q, const T* u) {
  place_angles(q);
  const Triple<T> none{T(0), T(0), T(0)};
  for (std::size_t i = 1; i < tree_.links.size(); ++i) {
    const Link& link = tree_.links[i];
    const LinkMotion<T>& parent = motion_[static_cast<std::size_t>(link.parent)];
    LinkMotion<T>& m = motion_[i];
    const Square<T> P = times(parent.R, as<T>(link.E));
    m.d = times(parent.R, as<T>(link.r));
    const T *qi = q + link.q, *ui = u + link.u;
    switch (link.kind) {
      case Kind::fixed:
        m.R = P;
        take_over(parent, m, none, none);
        break;
      case Kind::revolute:
        turn(m, P, i);
        take_over(parent, m, column(P, 2) * ui[0], none);
        break;
      case Kind::prismatic:
        m.R = P;
        m.d += column(P, 2) * qi[0];
        take_over(parent, m, none, column(P, 2) * ui[0]);
        break;
      case Kind::cylindrical:
        turn(m, P, i);
        m.d += column(P, 2) * qi[1];
        take_over(parent, m, column(P, 2) * ui[0], column(P, 2) * ui[1]);
        break;
      case Kind::universal: universal(parent, m, P, qi, ui); break;
      case Kind::spherical:
        m.R = times(P, rotation(qi));
        take_over(parent, m, times(m.R, Triple<T>{ui[0], ui[1], ui[2]}), none);
        break;
      case Kind::free:
        m.R = rotation(qi + 3);
        m.d += Triple<T>{qi[0], qi[1], qi[2]};
        take_over(parent, m, times(m.R, Triple<T>{ui[3], ui[4], ui[5]}), {ui[0], ui[1], ui[2]});
        break;
    }
  }
}

// Rigid inertias, and the forces of inertia at u' = 0 without what is applied:
//   p_w = A aw + w x A w + c x av - torque,   p_v = m av + aw x c + w x (w x c) - force
template <class T>
void ForwardDynamics<T>::load(bool impulses) {
  for (std::size_t i = 1; i < tree_.links.size(); ++i) {
    const Link& link = tree_.links[i];
    const LinkMotion<T>& m = motion_[i];
    Articulated<T>& a = articulated_[i];
    const T mass(link.mass), zero(0);
    const Triple<T> c = times(m.R, as<T>(link.moment));
    a.I.A = turned(m.R, as<T>(link.J));
    a.I.B = {{zero, -c.z, c.y, c.z, zero, -c.x, -c.y, c.x, zero}};
    a.I.M = {mass, zero, zero, mass, zero, mass};
    if (impulses) {
      a.p = {};
      continue;
    }
    a.p.w = times(a.I.A, m.aw) + cross(m.w, times(a.I.A, m.w)) + cross(c, m.av) - applied_[i].w;
    a.p.v = m.av * mass + cross(m.aw, c) + cross(m.w, cross(m.w, c)) - applied_[i].v;
  }
}

// The joint's own part of the articulated body is done: the rest goes to the parent.
template <class T>
inline void ForwardDynamics<T>::pass_on(std::size_t i, const Inertia<T>& I, const Spatial<T>& p) {
  const int parent = tree_.links[i].parent;
  if (parent == 0) return;
  Articulated<T>& up = articulated_[static_cast<std::size_t>(parent)];
  up.I += moved(I, motion_[i].d);
  up.p += wrench_moved(p, motion_[i].d);
}

// D = S^T I S, or a product of several, beside what it is a difference of. Also where it is not a number.
template <class T>
inline void ForwardDynamics<T>::check(std::size_t i, const T& D, const T& scale) {
  if (!(D > T(1e-14) * scale) && stuck_ == 0) stuck_ = static_cast<int>(i);
}

template <class T>
inline void ForwardDynamics<T>::eliminate_one(std::size_t i, const Spatial<T>& S, const Spatial<T>& U) {
  Articulated<T>& a = articulated_[i];
  const T D = dot(S, U);
  check(i, D, tree_.links[i].kind == Kind::prismatic ? trace(a.I.M) : trace(a.I.A));
  a.D.xx = T(1) / D;
  a.e[0] = -dot(S, a.p) * a.D.xx;
  a.UD[0] = U * a.D.xx;
  Inertia<T> I = a.I;
  subtract_outer(I, U, a.UD[0]);
  pass_on(i, I, a.p + U * a.e[0]);
}

template <class T>
void ForwardDynamics<T>::eliminate_two(std::size_t i) {
  Articulated<T>& a = articulated_[i];
  const Spatial<T> S0 = axis(static_cast<int>(i), 0), S1 = axis(static_cast<int>(i), 1);
  const Spatial<T> U0 = times(a.I, S0), U1 = times(a.I, S1);
  const T xx = dot(S0, U0), xy = dot(S1, U0), yy = dot(S1, U1), f0 = -dot(S0, a.p), f1 = -dot(S1, a.p);
  check(i, xx * yy - xy * xy, xx * yy);
  check(i, xx, trace(a.I.A));
  check(i, yy, tree_.links[i].kind == Kind::cylindrical ? trace(a.I.M) : trace(a.I.A));
  const T scale = T(1) / (xx * yy - xy * xy);
  a.D.xx = yy * scale, a.D.xy = -xy * scale, a.D.yy = xx * scale;
  a.e[0] = a.D.xx * f0 + a.D.xy * f1;
  a.e[1] = a.D.xy * f0 + a.D.yy * f1;
  a.UD = {U0 * a.D.xx + U1 * a.D.xy, U0 * a.D.xy + U1 * a.D.yy};
  Inertia<T> I = a.I;
  subtract_outer(I, U0, a.UD[0]);
  subtract_outer(I, U1, a.UD[1]);
  pass_on(i, I, a.p + U0 * a.e[0] + U1 * a.e[1]);
}

// S = the world's axes: U = [ A; B^T ], D = A. What is passed on has no angular part, M - B^T A^-1 B.
template <class T>
void ForwardDynamics<T>::eliminate_three(std::size_t i) {
  Articulated<T>& a = articulated_[i];
  const Symmetric<T> K = inverse(a.I.A);
  check(i, T(1), trace(a.I.A) * size_of_inverse(K));  // the greatest moment of inertia by the least
  Square<T> KB;
  for (std::size_t k = 0; k < 3; ++k) {
    const Triple<T> y = times(K, column(a.I.B, k));
    KB.a[k] = y.x, KB.a[3 + k] = y.y, KB.a[6 + k] = y.z;
  }
  const auto part = [&](std::size_t j, std::size_t k) { return dot(column(a.I.B, j), column(KB, k)); };
  Inertia<T> I{};
  I.M = {a.I.M.xx - part(0, 0), a.I.M.xy - part(0, 1), a.I.M.xz - part(0, 2),
         a.I.M.yy - part(1, 1), a.I.M.yz - part(1, 2), a.I.M.zz - part(2, 2)};
  const Triple<T> e = times(K, a.p.w) * T(-1);
  a.e = {e.x, e.y, e.z};
  pass_on(i, I, {{T(0), T(0), T(0)}, a.p.v + transposed_times(a.I.B, e)});
  a.I.A = K;
  a.I.B = KB;
}

template <class T>
void ForwardDynamics<T>::inward(bool impulses) {
  load(impulses);
  stuck_ = 0;
  const Triple<T> none{T(0), T(0), T(0)};
  for (std::size_t i = tree_.links.size() - 1; i >= 1; --i) {
    Articulated<T>& a = articulated_[i];
    switch (tree_.links[i].kind) {
      case Kind::fixed: pass_on(i, a.I, a.p); break;
      case Kind::revolute: {
        const Triple<T> z = column(motion_[i].R, 2);
        eliminate_one(i, {z, none}, {times(a.I.A, z), transposed_times(a.I.B, z)});
        break;
      }
      case Kind::prismatic: {
        const Triple<T> z = column(motion_[i].R, 2);
        eliminate_one(i, {none, z}, {times(a.I.B, z), times(a.I.M, z)});
        break;
      }
      case Kind::cylindrical:
      case Kind::universal: eliminate_two(i); break;
      case Kind::spherical: eliminate_three(i); break;
      case Kind::free: {  // nothing reaches the ground
        const T turning = trace(a.I.A), moving = trace(a.I.M);
        a.I = inverse(a.I);
        check(i, T(1), turning * size_of_inverse(a.I.A));
        check(i, T(1), moving * size_of_inverse(a.I.M));
        const Spatial<T> e = times(a.I, a.p) * T(-1);
        a.e = {e.w.x, e.w.y, e.w.z, e.v.x, e.v.y, e.v.z};
        break;
      }
    }
  }
}

template <class T>
void ForwardDynamics<T>::accelerate(T* u_dot) {
  articulated_[0].x = {};
  for (std::size_t i = 1; i < tree_.links.size(); ++i) {
    const Link& link = tree_.links[i];
    const LinkMotion<T>& m = motion_[i];
    Articulated<T>& a = articulated_[i];
    a.x = motion_moved(articulated_[static_cast<std::size_t>(link.parent)].x, m.d);
    T* out = u_dot + link.u;
    switch (link.kind) {
      case Kind::fixed: break;
      case Kind::revolute:
        out[0] = a.e[0] - dot(a.UD[0], a.x);
        a.x.w += column(m.R, 2) * out[0];
        break;
      case Kind::prismatic:
        out[0] = a.e[0] - dot(a.UD[0], a.x);
        a.x.v += column(m.R, 2) * out[0];
        break;
      case Kind::cylindrical:
      case Kind::universal:
        out[0] = a.e[0] - dot(a.UD[0], a.x);
        out[1] = a.e[1] - dot(a.UD[1], a.x);
        a.x += axis(static_cast<int>(i), 0) * out[0] + axis(static_cast<int>(i), 1) * out[1];
        break;
      case Kind::spherical: {
        const Triple<T> e = Triple<T>{a.e[0], a.e[1], a.e[2]} - a.x.w - times(a.I.B, a.x.v);
        a.x.w += e;
        const Triple<T> own = transposed_times(m.R, e);
        out[0] = own.x, out[1] = own.y, out[2] = own.z;
        break;
      }
      case Kind::free: {
        a.x = {{a.e[0], a.e[1], a.e[2]}, {a.e[3], a.e[4], a.e[5]}};
        const Triple<T> own = transposed_times(m.R, a.x.w);
        out[0] = a.e[3], out[1] = a.e[4], out[2] = a.e[5];
        out[3] = own.x, out[4] = own.y, out[5] = own.z;
        break;
      }
    }
  }
}

template <class T>
Spatial<T> ForwardDynamics<T>::acceleration(int link, const Triple<T>& arm) const {
  const LinkMotion<T>& m = motion(link);
  const Articulated<T>& a = articulated(link);
  const Triple<T> aw = m.aw + a.x.w;
  return {aw, m.av + as<T>(tree_.gravity) + a.x.v + cross(aw, arm) + cross(m.w, cross(m.w, arm))};
}

template <class T>
void ForwardDynamics<T>::transmitted(std::span<Spatial<T>> f) const {
  for (std::size_t i = tree_.links.size() - 1; i >= 1; --i) {
    const Link& link = tree_.links[i];
    const LinkMotion<T>& m = motion_[i];
    const Symmetric<T> A = turned(m.R, as<T>(link.J));
    const Triple<T> c = times(m.R, as<T>(link.moment)), aw = m.aw + articulated_[i].x.w,
                    av = m.av + articulated_[i].x.v;
    f[i].w += times(A, aw) + cross(m.w, times(A, m.w)) + cross(c, av) - applied_[i].w;
    f[i].v += av * T(link.mass) + cross(aw, c) + cross(m.w, cross(m.w, c)) - applied_[i].v;
    f[static_cast<std::size_t>(link.parent)] += wrench_moved(f[i], m.d);
  }
}

template <class T>
Triple<T> ForwardDynamics<T>::first_axis(int link) const {
  const Link& l = tree_.links[static_cast<std::size_t>(link)];
  return times(motion(l.parent).R, as<T>(column(l.E, 0)));
}

template <class T>
Spatial<T> ForwardDynamics<T>::axis(int link, int freedom) const {
  const Triple<T> none{T(0), T(0), T(0)};
  const Square<T>& R = motion(link).R;
  switch (tree_.links[static_cast<std::size_t>(link)].kind) {
    case Kind::prismatic: return {none, column(R, 2)};
    case Kind::cylindrical: return freedom == 0 ? Spatial<T>{column(R, 2), none} : Spatial<T>{none, column(R, 2)};
    case Kind::universal: return {freedom == 0 ? first_axis(link) : column(R, 1), none};
    default: return {column(R, 2), none};
  }
}

template class ForwardDynamics<double>;
template class ForwardDynamics<long double>;

}  // namespace trammel::recursion
