// Jets: numbers that carry their exact first derivatives against N directions (forward differentiation). Jets of jets
// carry mixed second derivatives. For elements whose formulas are short and whose derivatives are long.
#pragma once
#include <array>
#include <cmath>
#include <cstddef>

namespace trammel {

template <class T, int N>
struct Jet {
  T a{};                 // value
  std::array<T, N> d{};  // derivatives

  Jet() = default;
  Jet(double value) : a(value) {}  // NOLINT(google-explicit-constructor): constants mix freely with jets
  // The variable of direction `i`.
  static Jet variable(const T& value, int i) {
    Jet out;
    out.a = value;
    out.d[i] = T(1);
    return out;
  }

  friend Jet operator-(const Jet& x) {
    Jet out;
    out.a = -x.a;
    for (std::size_t i = 0; i < N; ++i) out.d[i] = -x.d[i];
    return out;
  }
  friend Jet operator+(const Jet& x, const Jet& y) {
    Jet out;
    out.a = x.a + y.a;
    for (std::size_t i = 0; i < N; ++i) out.d[i] = x.d[i] + y.d[i];
    return out;
  }
  friend Jet operator-(const Jet& x, const Jet& y) {
    Jet out;
    out.a = x.a - y.a;
    for (std::size_t i = 0; i < N; ++i) out.d[i] = x.d[i] - y.d[i];
    return out;
  }
  friend Jet operator*(const Jet& x, const Jet& y) {
    Jet out;
    out.a = x.a * y.a;
    for (std::size_t i = 0; i < N; ++i) out.d[i] = x.d[i] * y.a + x.a * y.d[i];
    return out;
  }
  friend Jet operator/(const Jet& x, const Jet& y) {
    Jet out;
    out.a = x.a / y.a;
    for (std::size_t i = 0; i < N; ++i) out.d[i] = (x.d[i] - out.a * y.d[i]) / y.a;
    return out;
  }
};

// A function of one variable, value and slope given.
template <class T, int N>
Jet<T, N> chain(const Jet<T, N>& x, const T& value, const T& slope) {
  Jet<T, N> out;
  out.a = value;
  for (std::size_t i = 0; i < N; ++i) out.d[i] = slope * x.d[i];
  return out;
}

using std::cos;
using std::sin;
using std::sqrt;
template <class T, int N>
Jet<T, N> sqrt(const Jet<T, N>& x) {
  const T root = sqrt(x.a);
  return chain(x, root, T(0.5) / root);
}
template <class T, int N>
Jet<T, N> sin(const Jet<T, N>& x) {
  return chain(x, T(sin(x.a)), T(cos(x.a)));
}
template <class T, int N>
Jet<T, N> cos(const Jet<T, N>& x) {
  return chain(x, T(cos(x.a)), T(-sin(x.a)));
}

using std::abs;
using std::exp;
using std::log;
using std::pow;
using std::tan;
using std::tanh;
template <class T, int N>
Jet<T, N> exp(const Jet<T, N>& x) {
  const T value = exp(x.a);
  return chain(x, value, value);
}
template <class T, int N>
Jet<T, N> log(const Jet<T, N>& x) {
  return chain(x, T(log(x.a)), T(1) / x.a);
}
template <class T, int N>
Jet<T, N> tan(const Jet<T, N>& x) {
  const T value = tan(x.a);
  return chain(x, value, T(1) + value * value);
}
template <class T, int N>
Jet<T, N> tanh(const Jet<T, N>& x) {
  const T value = tanh(x.a);
  return chain(x, value, T(1) - value * value);
}
template <class T, int N>
Jet<T, N> pow(const Jet<T, N>& x, double exponent) {
  return chain(x, T(pow(x.a, exponent)), T(exponent) * pow(x.a, exponent - 1));
}

inline double value_of(double x) { return x; }
template <class T, int N>
double value_of(const Jet<T, N>& x) {
  return value_of(x.a);
}

// Comparisons look at the value alone.
template <class T, int N>
bool operator<(const Jet<T, N>& x, const Jet<T, N>& y) {
  return value_of(x) < value_of(y);
}
template <class T, int N>
bool operator>(const Jet<T, N>& x, const Jet<T, N>& y) {
  return value_of(x) > value_of(y);
}
template <class T, int N>
Jet<T, N> abs(const Jet<T, N>& x) {
  return value_of(x) < 0 ? -x : x;
}

// Three components of any such number.
template <class T>
struct Triple {
  std::array<T, 3> c{};

  Triple() = default;
  Triple(const T& x, const T& y, const T& z) : c{x, y, z} {}
  const T& operator[](int i) const { return c[i]; }
  T& operator[](int i) { return c[i]; }

  friend Triple operator+(const Triple& x, const Triple& y) { return {x[0] + y[0], x[1] + y[1], x[2] + y[2]}; }
  friend Triple operator-(const Triple& x, const Triple& y) { return {x[0] - y[0], x[1] - y[1], x[2] - y[2]}; }
  friend Triple operator*(const T& s, const Triple& x) { return {s * x[0], s * x[1], s * x[2]}; }
  friend T dot(const Triple& x, const Triple& y) { return x[0] * y[0] + x[1] * y[1] + x[2] * y[2]; }
  friend Triple cross(const Triple& x, const Triple& y) {
    return {x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]};
  }
};

}  // namespace trammel
