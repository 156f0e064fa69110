// The pair of order 3(2) of Bogacki and Shampine: order 3 is kept, order 2 measures its error. Between steps Hermite's
// cubic, which is of order 3 as well.
#include "trammel/ode/methods.h"
#include "trammel/ode/runge_kutta/butcher_data.h"
#include "trammel/ode/runge_kutta/runge_kutta.h"

namespace trammel::methods {
namespace {

const ButcherTableau& bogacki_shampine_tableau() {
  using namespace butcher_data;
  static const ButcherTableau table = [] {
    ButcherTableau t;
    t.key = "bogacki-shampine-32";
    t.A = lower({{}, {1.0 / 2}, {0, 3.0 / 4}, {2.0 / 9, 1.0 / 3, 4.0 / 9}});
    t.b = t.A.row(3);
    t.c = list({0, 1.0 / 2, 3.0 / 4, 1});
    t.b_hat = list({7.0 / 24, 1.0 / 4, 1.0 / 3, 1.0 / 8});
    Vec first = Vec::Zero(4), last = Vec::Zero(4);
    first[0] = last[3] = 1;
    const Vec bend = first - t.b;
    t.dense = nested_to_powers({t.b, bend, t.b - last - bend});
    t.complete(t.key);
    return t;
  }();
  return table;
}

}  // namespace

OdeMethodInfo bogacki_shampine_32() {
  OdeMethodInfo m = runge_kutta_info(bogacki_shampine_tableau());
  m.stages = 4;
  m.title = "Bogacki-Shampine 3(2)";
  m.stability = "explicit; real axis to 2.51, imaginary to 1.73";
  m.is_explicit = true;
  m.source = "Bogacki, Shampine, Appl. Math. Lett. 2, 1989";
  return m;
}

}  // namespace trammel::methods
