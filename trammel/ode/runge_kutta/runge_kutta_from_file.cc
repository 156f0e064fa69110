// runge-kutta: the method of a tableau in a file. What the tableau is decides how its stages are solved.
#include "trammel/ode/methods.h"
#include "trammel/ode/runge_kutta/diagonally_implicit.h"
#include "trammel/ode/runge_kutta/implicit_runge_kutta.h"
#include "trammel/ode/runge_kutta/runge_kutta.h"

namespace trammel::methods {
namespace {

// Without a file: Kutta's other method of order 4.
constexpr const char* three_eighths = R"(
key: three-eighths
title: Kutta's 3/8 rule
source: "W. Kutta: Beitrag zur naeherungsweisen Integration totaler Differentialgleichungen, 1901"
A: [[], [1/3], [-1/3, 1], [1, -1, 1]]
b: [1/8, 3/8, 3/8, 1/8]
)";

ButcherTableau tableau_of(const OdeSettings& s) {
  const std::string file = s.options.get<std::string>("tableau");
  return file.empty() ? read_tableau_text(three_eighths, "three-eighths") : read_tableau(file);
}

enum class Stages { explicit_ones, one_after_another, together, unsolvable };

bool has_one_diagonal(const Mat& A) {
  if (!A.triangularView<Eigen::StrictlyUpper>().toDenseMatrix().isZero(0)) return false;
  const Vec diagonal = A.diagonal();
  const double g = diagonal[diagonal.size() - 1];
  for (Eigen::Index i = 0; i < diagonal.size(); ++i)
    if (diagonal[i] != g && !(i == 0 && diagonal[i] == 0)) return false;
  return g > 0;
}

bool has_distinct_nodes(const Vec& c) {
  for (Eigen::Index i = 0; i < c.size(); ++i)
    for (Eigen::Index j = 0; j < i; ++j)
      if (std::abs(c[i] - c[j]) < 1e-8) return false;
  return true;
}

Stages stages_of(const ButcherTableau& t) {
  if (t.is_explicit()) return Stages::explicit_ones;
  if (has_one_diagonal(t.A)) return Stages::one_after_another;
  const bool good = has_distinct_nodes(t.c) && std::abs(t.A.determinant()) > 1e-12;
  return good ? Stages::together : Stages::unsolvable;
}

std::string refuses_tableau(const OdeSettings& s) {
  const ButcherTableau t = tableau_of(s);
  switch (stages_of(t)) {
    case Stages::explicit_ones:
    case Stages::together: return "";
    case Stages::one_after_another:
      if (s.fixed_step || t.order <= 3 || t.embedded_order > 0) return "";
      return "without b_hat the error estimate of diagonally implicit tableaus is Simpson's rule minus the new value, "
             "which measures errors of methods up to order 3; this one is of order " +
             std::to_string(t.order) + ": give b_hat or a fixed step";
    case Stages::unsolvable: break;
  }
  return "its stages cannot be solved for: an implicit tableau needs either one element on its diagonal and none "
         "above, "
         "or an A that can be inverted and different nodes c";
}

}  // namespace

OdeMethodInfo runge_kutta_from_file() {
  static const ButcherTableau preset = read_tableau_text(three_eighths, "three-eighths");
  OdeMethodInfo m = runge_kutta_info(preset);
  m.key = "runge-kutta";
  m.title = "Runge-Kutta of any tableau, from a file; without one Kutta's 3/8 rule";
  m.stages = preset.stages();
  m.steps_to_outputs = true;
  m.stability = "that of the tableau: `trammel stability FILE`";
  m.source = preset.source;
  m.options = with_newton_options(
      {{"tableau", FieldKind::text, Quantity::none, std::string(),
        "File with A, b, and if wanted c, b_hat, dense; explicit, diagonally implicit or implicit. Its path counts "
        "from the folder the command runs in."}});
  m.refuses = refuses_tableau;
  m.make_first_order = [](FirstOrderProblem& p, const OdeSettings& s) -> std::unique_ptr<OdeMethod> {
    const ButcherTableau t = tableau_of(s);
    const Stages stages = stages_of(t);
    if (stages == Stages::explicit_ones)
      return std::make_unique<RungeKutta>(p, t,
                                          RungeKuttaOptions{.fixed_step = s.fixed_step, .tolerance = s.tolerance});
    const ImplicitTableau implicit{t.key, t.A, t.b, t.c, t.order, t.b_hat, t.embedded_order};
    if (stages == Stages::one_after_another)
      return std::make_unique<DiagonallyImplicit>(p, implicit, ImplicitOptions::from(s));
    return std::make_unique<ImplicitRungeKutta>(p, implicit, ImplicitOptions::from(s));
  };
  return m;
}

}  // namespace trammel::methods
