// ADAMS' functions. Upper and lower case do not matter, but a name that is exactly one of ours is ours: mod(x, y) is
// the remainder with the sign of y, MOD(x, y) that with the sign of x.
//
// A displacement DX(i, j, k) is along the x axis of k from j to i, and so dx(i, k) - dx(j, k); j and k left out are the
// ground. Velocities VX(i, j, k, l) are seen from l: here l must be k.
#include "trammel/math/expression_foreign.h"

#include "trammel/math/expression_text.h"

namespace trammel {

std::string ForeignFunction::name() const {
  return expression_text::lower_case(signature.substr(0, signature.find('(')));
}

namespace {

const std::vector<ForeignRow>& foreign_rows() {
  using F = ForeignForm;
  constexpr std::string_view turned = "turn the frames so that z is the axis, and use angle(i, j)";
  constexpr std::string_view no_force =
      "reactions of joints are force_x(joint) and so on; of other forces, write their expression again";
  constexpr std::string_view no_state = "write the state's name";
  constexpr std::string_view no_rate = "write der(x) with the state's name";
  static const std::vector<ForeignRow> rows = {
      {{"ABS(x)", "abs(x)", ""}, F::same, "abs"},
      {{"ACOS(x)", "acos(x)", ""}, F::same, "acos"},
      {{"AINT(x)", "trunc(x)", ""}, F::same, "trunc"},
      {{"ANINT(x)", "round(x)", ""}, F::same, "round"},
      {{"ASIN(x)", "asin(x)", ""}, F::same, "asin"},
      {{"ATAN(x)", "atan(x)", ""}, F::same, "atan"},
      {{"ATAN2(y, x)", "atan2(y, x)", ""}, F::same, "atan2"},
      {{"COS(x)", "cos(x)", ""}, F::same, "cos"},
      {{"COSH(x)", "cosh(x)", ""}, F::same, "cosh"},
      {{"DIM(a, b)", "dim(a, b)", ""}, F::same, "dim"},
      {{"EXP(x)", "exp(x)", ""}, F::same, "exp"},
      {{"LOG(x)", "log(x)", ""}, F::same, "log"},
      {{"LOG10(x)", "log10(x)", ""}, F::same, "log10"},
      {{"MAX(a, b)", "max(a, b)", ""}, F::same, "max"},
      {{"MIN(a, b)", "min(a, b)", ""}, F::same, "min"},
      {{"MOD(x, y)", "x - y*trunc(x/y)", ""}, F::remainder, ""},
      {{"SIGN(a, b)", "b < 0 ? -abs(a) : abs(a)", ""}, F::transfer_sign, ""},
      {{"SIN(x)", "sin(x)", ""}, F::same, "sin"},
      {{"SINH(x)", "sinh(x)", ""}, F::same, "sinh"},
      {{"SQRT(x)", "sqrt(x)", ""}, F::same, "sqrt"},
      {{"TAN(x)", "tan(x)", ""}, F::same, "tan"},
      {{"TANH(x)", "tanh(x)", ""}, F::same, "tanh"},
      {{"IF(x: a, b, c)", "x < 0 ? a : x == 0 ? b : c", ""}, F::arithmetic_if, ""},
      {{"STEP(x, x0, h0, x1, h1)", "step(x, x0, h0, x1, h1)", ""}, F::same, "step"},
      {{"STEP5(x, x0, h0, x1, h1)", "step5(x, x0, h0, x1, h1)", ""}, F::same, "step5"},
      {{"HAVSIN(x, x0, h0, x1, h1)", "havsin(x, x0, h0, x1, h1)", ""}, F::same, "havsin"},
      {{"IMPACT(x, v, x1, k, e, cmax, d)", "impact(x, v, x1, k, e, cmax, d)", ""}, F::same, "impact"},
      {{"BISTOP(x, v, x1, x2, k, e, cmax, d)", "bistop(x, v, x1, x2, k, e, cmax, d)", ""}, F::same, "bistop"},
      {{"POLY(x, x0, a0, ...)", "poly(x, x0, a0, ...)", ""}, F::same, "poly"},
      {{"CHEBY(x, x0, a0, ...)", "cheby(x, x0, a0, ...)", ""}, F::same, "cheby"},
      {{"FORCOS(x, x0, w, a0, ...)", "forcos(x, x0, w, a0, ...)", ""}, F::same, "forcos"},
      {{"FORSIN(x, x0, w, a0, ...)", "forsin(x, x0, w, a0, ...)", ""}, F::same, "forsin"},
      {{"SHF(x, x0, a, w, phi, b)", "shf(x, x0, a, w, phi, b)", ""}, F::same, "shf"},
      {{"SWEEP(x, a, x0, f0, x1, f1, dx)", "sweep(x, a, x0, f0, x1, f1, dx)", ""}, F::same, "sweep"},
      {{"AKISPL(x, y, name, order)", "spline(name, x), table(name, x, y)", ""}, F::curve, "akima"},
      {{"CUBSPL(x, y, name, order)", "spline(name, x), table(name, x, y)", ""}, F::curve, "cubic"},
      {{"DM(i, j)", "distance(i, j)", ""}, F::pair, "distance"},
      {{"DX(i, j, k)", "dx(i, k) - dx(j, k)", ""}, F::component, "dx"},
      {{"DY(i, j, k)", "dy(i, k) - dy(j, k)", ""}, F::component, "dy"},
      {{"DZ(i, j, k)", "dz(i, k) - dz(j, k)", ""}, F::component, "dz"},
      {{"VM(i, j, l)", "hypot(vx(i, l) - vx(j, l), ...)", ""}, F::magnitude, "v", true},
      {{"VR(i, j)", "speed(i, j)", ""}, F::pair, "speed"},
      {{"VX(i, j, k, k)", "vx(i, k) - vx(j, k)", ""}, F::component, "vx", true},
      {{"VY(i, j, k, k)", "vy(i, k) - vy(j, k)", ""}, F::component, "vy", true},
      {{"VZ(i, j, k, k)", "vz(i, k) - vz(j, k)", ""}, F::component, "vz", true},
      {{"WM(i, j)", "hypot(wx(i) - wx(j), ...)", ""}, F::magnitude, "w"},
      {{"WX(i, j, k)", "wx(i, k) - wx(j, k)", ""}, F::component, "wx"},
      {{"WY(i, j, k)", "wy(i, k) - wy(j, k)", ""}, F::component, "wy"},
      {{"WZ(i, j, k)", "wz(i, k) - wz(j, k)", ""}, F::component, "wz"},
      {{"AZ(i, j)", "angle(i, j)", ""}, F::pair, "angle"},
      {{"AX(i, j)", "", turned}, F::missing, ""},
      {{"AY(i, j)", "", turned}, F::missing, ""},
      {{"PSI(i, j)", "", turned}, F::missing, ""},
      {{"THETA(i, j)", "", turned}, F::missing, ""},
      {{"PHI(i, j)", "", turned}, F::missing, ""},
      {{"YAW(i, j)", "", turned}, F::missing, ""},
      {{"PITCH(i, j)", "", turned}, F::missing, ""},
      {{"ROLL(i, j)", "", turned}, F::missing, ""},
      {{"CURVE(x, order, component, name)", "", "use one spline for each coordinate: spline(name_x, x)"},
       F::missing,
       ""},
      {{"ACCM(i, j, l)", "hypot(accx(i, l) - accx(j, l), ...)", ""}, F::magnitude, "acc", true},
      {{"ACCX(i, j, k, k)", "accx(i, k) - accx(j, k)", ""}, F::component, "accx", true},
      {{"ACCY(i, j, k, k)", "accy(i, k) - accy(j, k)", ""}, F::component, "accy", true},
      {{"ACCZ(i, j, k, k)", "accz(i, k) - accz(j, k)", ""}, F::component, "accz", true},
      {{"WDTM(i, j, l)", "hypot(wdtx(i, l) - wdtx(j, l), ...)", ""}, F::magnitude, "wdt", true},
      {{"WDTX(i, j, k, k)", "wdtx(i, k) - wdtx(j, k)", ""}, F::component, "wdtx", true},
      {{"WDTY(i, j, k, k)", "wdty(i, k) - wdty(j, k)", ""}, F::component, "wdty", true},
      {{"WDTZ(i, j, k, k)", "wdtz(i, k) - wdtz(j, k)", ""}, F::component, "wdtz", true},
      {{"FM(i, j)", "", no_force}, F::missing, ""},
      {{"FX(i, j)", "", no_force}, F::missing, ""},
      {{"FY(i, j)", "", no_force}, F::missing, ""},
      {{"FZ(i, j)", "", no_force}, F::missing, ""},
      {{"TM(i, j)", "", no_force}, F::missing, ""},
      {{"TX(i, j)", "", no_force}, F::missing, ""},
      {{"TY(i, j)", "", no_force}, F::missing, ""},
      {{"TZ(i, j)", "", no_force}, F::missing, ""},
      {{"DIF(id)", "", no_state}, F::missing, ""},
      {{"DIF1(id)", "", no_rate}, F::missing, ""},
      {{"VARVAL(id)", "", "write the variable's name"}, F::missing, ""},
      {{"ARYVAL(id, i)", "", "write the entry, or make it a parameter"}, F::missing, ""},
  };
  return rows;
}

}  // namespace

const ForeignRow* find_foreign(std::string_view lower_case_name) {
  for (const ForeignRow& row : foreign_rows()) {
    const std::string_view signature = row.function.signature;
    if (signature.size() > lower_case_name.size() && signature[lower_case_name.size()] == '(' &&
        row.function.name() == lower_case_name) {
      return &row;
    }
  }
  return nullptr;
}

const std::vector<ForeignFunction>& foreign_functions() {
  static const std::vector<ForeignFunction> functions = [] {
    std::vector<ForeignFunction> list;
    for (const ForeignRow& row : foreign_rows()) list.push_back(row.function);
    return list;
  }();
  return functions;
}

}  // namespace trammel
