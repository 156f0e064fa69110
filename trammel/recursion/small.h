// Vectors and matrices of the recursions, plain structs over any number type: for them compilers do better than for
// general matrices of the same sizes, and tests run them in long double.
#pragma once
#include <array>

namespace trammel::recursion {

template <class T>
struct Triple {
  T x, y, z;
};
template <class T>
struct Square {  // 3 x 3 by rows
  std::array<T, 9> a;
};
template <class T>
struct Symmetric {
  T xx, xy, xz, yy, yz, zz;
};

template <class T>
inline Triple<T> operator+(const Triple<T>& a, const Triple<T>& b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
template <class T>
inline Triple<T> operator-(const Triple<T>& a, const Triple<T>& b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
template <class T>
inline Triple<T> operator*(const Triple<T>& a, const T& s) {
  return {a.x * s, a.y * s, a.z * s};
}
template <class T>
inline Triple<T>& operator+=(Triple<T>& a, const Triple<T>& b) {
  return a = a + b;
}
template <class T>
inline Triple<T>& operator-=(Triple<T>& a, const Triple<T>& b) {
  return a = a - b;
}
template <class T>
inline T dot(const Triple<T>& a, const Triple<T>& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
template <class T>
inline Triple<T> cross(const Triple<T>& a, const Triple<T>& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

template <class T>
inline Triple<T> column(const Square<T>& m, std::size_t k) {
  return {m.a[k], m.a[3 + k], m.a[6 + k]};
}
// m v, m^T v
template <class T>
inline Triple<T> times(const Square<T>& m, const Triple<T>& v) {
  return {m.a[0] * v.x + m.a[1] * v.y + m.a[2] * v.z, m.a[3] * v.x + m.a[4] * v.y + m.a[5] * v.z,
          m.a[6] * v.x + m.a[7] * v.y + m.a[8] * v.z};
}
template <class T>
inline Triple<T> transposed_times(const Square<T>& m, const Triple<T>& v) {
  return {m.a[0] * v.x + m.a[3] * v.y + m.a[6] * v.z, m.a[1] * v.x + m.a[4] * v.y + m.a[7] * v.z,
          m.a[2] * v.x + m.a[5] * v.y + m.a[8] * v.z};
}
template <class T>
inline Square<T> times(const Square<T>& m, const Square<T>& n) {
  Square<T> r;
  for (std::size_t i = 0; i < 9; i += 3)
    for (std::size_t j = 0; j < 3; ++j)
      r.a[i + j] = m.a[i] * n.a[j] + m.a[i + 1] * n.a[3 + j] + m.a[i + 2] * n.a[6 + j];
  return r;
}
template <class T>
inline Triple<T> times(const Symmetric<T>& s, const Triple<T>& v) {
  return {s.xx * v.x + s.xy * v.y + s.xz * v.z, s.xy * v.x + s.yy * v.y + s.yz * v.z,
          s.xz * v.x + s.yz * v.y + s.zz * v.z};
}
template <class T>
inline Symmetric<T>& operator+=(Symmetric<T>& a, const Symmetric<T>& b) {
  a = {a.xx + b.xx, a.xy + b.xy, a.xz + b.xz, a.yy + b.yy, a.yz + b.yz, a.zz + b.zz};
  return a;
}

template <class T>
inline T trace(const Symmetric<T>& s) {
  return s.xx + s.yy + s.zz;
}

// R J R^T
template <class T>
inline Symmetric<T> turned(const Square<T>& R, const Symmetric<T>& J) {
  const auto row = [&](std::size_t i) { return Triple<T>{R.a[i], R.a[i + 1], R.a[i + 2]}; };
  const Triple<T> r0 = row(0), r1 = row(3), r2 = row(6);
  const Triple<T> p = times(J, r0), q = times(J, r1), s = times(J, r2);
  return {dot(p, r0), dot(p, r1), dot(p, r2), dot(q, r1), dot(q, r2), dot(s, r2)};
}
template <class T>
inline Symmetric<T> inverse(const Symmetric<T>& s) {
  const T a = s.yy * s.zz - s.yz * s.yz, b = s.xz * s.yz - s.xy * s.zz, c = s.xy * s.yz - s.xz * s.yy;
  const T d = T(1) / (s.xx * a + s.xy * b + s.xz * c);
  return {a * d,
          b * d,
          c * d,
          (s.xx * s.zz - s.xz * s.xz) * d,
          (s.xy * s.xz - s.xx * s.yz) * d,
          (s.xx * s.yy - s.xy * s.xy) * d};
}
// R of a quaternion (w, x, y, z) of any length.
template <class T>
inline Square<T> rotation(const T* e) {
  const T w = e[0], x = e[1], y = e[2], z = e[3], s = T(2) / (w * w + x * x + y * y + z * z);
  return {{T(1) - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y), s * (x * y + w * z),
           T(1) - s * (x * x + z * z), s * (y * z - w * x), s * (x * z - w * y), s * (y * z + w * x),
           T(1) - s * (x * x + y * y)}};
}

// A motion (angular velocity, velocity of the point) or a wrench (torque about the point, force); world axes.
template <class T>
struct Spatial {
  Triple<T> w, v;
};
template <class T>
inline Spatial<T> operator+(const Spatial<T>& a, const Spatial<T>& b) {
  return {a.w + b.w, a.v + b.v};
}
template <class T>
inline Spatial<T> operator-(const Spatial<T>& a, const Spatial<T>& b) {
  return {a.w - b.w, a.v - b.v};
}
template <class T>
inline Spatial<T> operator*(const Spatial<T>& a, const T& s) {
  return {a.w * s, a.v * s};
}
template <class T>
inline Spatial<T>& operator+=(Spatial<T>& a, const Spatial<T>& b) {
  return a = a + b;
}
template <class T>
inline Spatial<T>& operator-=(Spatial<T>& a, const Spatial<T>& b) {
  return a = a - b;
}
template <class T>
inline T dot(const Spatial<T>& a, const Spatial<T>& b) {
  return dot(a.w, b.w) + dot(a.v, b.v);
}
// A wrench about a point that lies d away, about the point itself.
template <class T>
inline Spatial<T> wrench_moved(const Spatial<T>& f, const Triple<T>& d) {
  return {f.w + cross(d, f.v), f.v};
}
// A motion of the point, at a point that lies d away.
template <class T>
inline Spatial<T> motion_moved(const Spatial<T>& s, const Triple<T>& d) {
  return {s.w, s.v + cross(s.w, d)};
}

// A symmetric 6 x 6 matrix on motions:  [ A  B ; B^T  M ]
template <class T>
struct Inertia {
  Symmetric<T> A;
  Square<T> B;
  Symmetric<T> M;
};
template <class T>
inline Inertia<T>& operator+=(Inertia<T>& a, const Inertia<T>& b) {
  a.A += b.A;
  for (std::size_t i = 0; i < 9; ++i) a.B.a[i] += b.B.a[i];
  a.M += b.M;
  return a;
}
template <class T>
inline Spatial<T> times(const Inertia<T>& I, const Spatial<T>& s) {
  return {times(I.A, s.w) + times(I.B, s.v), transposed_times(I.B, s.w) + times(I.M, s.v)};
}
// I - U V^T, where that is symmetric.
template <class T>
inline void subtract_outer(Inertia<T>& I, const Spatial<T>& U, const Spatial<T>& V) {
  I.A.xx -= U.w.x * V.w.x, I.A.xy -= U.w.x * V.w.y, I.A.xz -= U.w.x * V.w.z;
  I.A.yy -= U.w.y * V.w.y, I.A.yz -= U.w.y * V.w.z, I.A.zz -= U.w.z * V.w.z;
  I.B.a[0] -= U.w.x * V.v.x, I.B.a[1] -= U.w.x * V.v.y, I.B.a[2] -= U.w.x * V.v.z;
  I.B.a[3] -= U.w.y * V.v.x, I.B.a[4] -= U.w.y * V.v.y, I.B.a[5] -= U.w.y * V.v.z;
  I.B.a[6] -= U.w.z * V.v.x, I.B.a[7] -= U.w.z * V.v.y, I.B.a[8] -= U.w.z * V.v.z;
  I.M.xx -= U.v.x * V.v.x, I.M.xy -= U.v.x * V.v.y, I.M.xz -= U.v.x * V.v.z;
  I.M.yy -= U.v.y * V.v.y, I.M.yz -= U.v.y * V.v.z, I.M.zz -= U.v.z * V.v.z;
}
// An inertia about a point that lies d away, about the point itself:  B' = B + d~ M,  A' = A - B d~ + d~ B'^T
template <class T>
inline Inertia<T> moved(const Inertia<T>& I, const Triple<T>& d) {
  Inertia<T> r;
  r.M = I.M;
  const Symmetric<T>& M = I.M;
  const std::array<T, 9>& b = I.B.a;
  std::array<T, 9>& c = r.B.a;
  c[0] = b[0] - d.z * M.xy + d.y * M.xz, c[1] = b[1] - d.z * M.yy + d.y * M.yz, c[2] = b[2] - d.z * M.yz + d.y * M.zz;
  c[3] = b[3] + d.z * M.xx - d.x * M.xz, c[4] = b[4] + d.z * M.xy - d.x * M.yz, c[5] = b[5] + d.z * M.xz - d.x * M.zz;
  c[6] = b[6] - d.y * M.xx + d.x * M.xy, c[7] = b[7] - d.y * M.xy + d.x * M.yy, c[8] = b[8] - d.y * M.xz + d.x * M.yz;
  r.A.xx = I.A.xx - b[1] * d.z + b[2] * d.y - d.z * c[1] + d.y * c[2];
  r.A.xy = I.A.xy + b[0] * d.z - b[2] * d.x - d.z * c[4] + d.y * c[5];
  r.A.xz = I.A.xz - b[0] * d.y + b[1] * d.x - d.z * c[7] + d.y * c[8];
  r.A.yy = I.A.yy + b[3] * d.z - b[5] * d.x + d.z * c[3] - d.x * c[5];
  r.A.yz = I.A.yz - b[3] * d.y + b[4] * d.x + d.z * c[6] - d.x * c[8];
  r.A.zz = I.A.zz - b[6] * d.y + b[7] * d.x - d.y * c[6] + d.x * c[7];
  return r;
}
// The inverse, by the Schur complement of M:  S = A - B M^-1 B^T
template <class T>
inline Inertia<T> inverse(const Inertia<T>& I) {
  const Symmetric<T> Mi = inverse(I.M);
  Square<T> X;  // B M^-1
  for (std::size_t i = 0; i < 9; i += 3) {
    const Triple<T> row = times(Mi, Triple<T>{I.B.a[i], I.B.a[i + 1], I.B.a[i + 2]});
    X.a[i] = row.x, X.a[i + 1] = row.y, X.a[i + 2] = row.z;
  }
  const auto product = [](const Square<T>& P, std::size_t i, const Square<T>& Q, std::size_t j) {  // rows i, j
    return P.a[3 * i] * Q.a[3 * j] + P.a[3 * i + 1] * Q.a[3 * j + 1] + P.a[3 * i + 2] * Q.a[3 * j + 2];
  };
  Inertia<T> r;
  r.A = inverse(Symmetric<T>{I.A.xx - product(X, 0, I.B, 0), I.A.xy - product(X, 0, I.B, 1),
                             I.A.xz - product(X, 0, I.B, 2), I.A.yy - product(X, 1, I.B, 1),
                             I.A.yz - product(X, 1, I.B, 2), I.A.zz - product(X, 2, I.B, 2)});
  // -S^-1 X,  M^-1 + X^T S^-1 X
  for (std::size_t k = 0; k < 3; ++k) {
    const Triple<T> y = times(r.A, column(X, k));
    r.B.a[k] = -y.x, r.B.a[3 + k] = -y.y, r.B.a[6 + k] = -y.z;
  }
  const auto corner = [&](std::size_t i, std::size_t j) { return dot(column(X, i), column(r.B, j)); };
  r.M = {Mi.xx - corner(0, 0), Mi.xy - corner(0, 1), Mi.xz - corner(0, 2),
         Mi.yy - corner(1, 1), Mi.yz - corner(1, 2), Mi.zz - corner(2, 2)};
  return r;
}

}  // namespace trammel::recursion
