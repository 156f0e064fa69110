// Coefficients as data: orders, error constants and stability limits derived from them, TEXT's tables repaired, and
// tableaus from files.
#include "trammel/ode/runge_kutta/butcher.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "tests/problems/ode_problems.h"
#include "trammel/ode/multistep/multistep.h"
#include "trammel/ode/rosenbrock/rosenbrock_tableau.h"
#include "trammel/ode/runge_kutta/runge_kutta.h"
#include "trammel/ode/solve.h"
#include "trammel/ode/stability.h"

namespace trammel::tableaus_test {
namespace {

TEST(RootedTrees, AreCounted) {
  const std::vector<RootedTree> trees = rooted_trees(9);
  const int expected[] = {1, 1, 2, 4, 9, 20, 48, 115, 286};
  int count[10] = {};
  double symmetric[10] = {};  // sum of order! / (sigma gamma) is (order - 1)!
  for (const RootedTree& t : trees) {
    ++count[t.order];
    symmetric[t.order] += std::tgamma(t.order + 1.0) / (t.sigma * t.gamma);
  }
  for (int n = 1; n <= 9; ++n) {
    EXPECT_EQ(count[n], expected[n - 1]);
    EXPECT_NEAR(symmetric[n] / std::tgamma(n), 1, 1e-12) << n;
  }
}

TEST(ButcherTableaus, HaveTheirOrders) {
  struct Row {
    const ButcherTableau& t;
    int order, embedded, other, dense, stages;
    double real, imaginary;
  };
  for (const Row& row :
       {Row{ButcherTableau::euler(), 1, 0, 0, 0, 1, 2, 0}, Row{ButcherTableau::heun(), 2, 0, 0, 0, 2, 2, 0},
        Row{ButcherTableau::rk4(), 4, 0, 0, 0, 4, 2.785293563405282, std::sqrt(8)},
        Row{ButcherTableau::fehlberg_45(), 4, 5, 0, 0, 6, 3.020, 0},
        Row{ButcherTableau::dormand_prince_54(), 5, 4, 0, 4, 7, 3.3066, 0.997},
        Row{ButcherTableau::dormand_prince_853(), 8, 5, 3, 7, 12, 6.394, 5.96}}) {
    SCOPED_TRACE(row.t.key);
    EXPECT_TRUE(row.t.is_explicit());
    EXPECT_EQ(row.t.order, row.order);
    EXPECT_EQ(row.t.embedded_order, row.embedded);
    EXPECT_EQ(row.t.other_order, row.other);
    EXPECT_EQ(row.t.dense_order, row.dense);
    EXPECT_EQ(row.t.step_stages, row.stages);
    EXPECT_NEAR(row.t.real_interval(), row.real, 5e-4);
    EXPECT_NEAR(row.t.imaginary_interval(), row.imaginary, 1e-3);
    // R(z) = exp(z) up to the order, in two ways
    const Vec polynomial = row.t.stability_polynomial();
    for (int i = 0; i <= row.order; ++i) EXPECT_NEAR(polynomial[i] * std::tgamma(i + 1.0), 1, 1e-9);
    std::complex<double> sum = 0;
    const std::complex<double> z(-0.7, 0.4);
    for (Eigen::Index i = polynomial.size(); i-- > 0;) sum = sum * z + polynomial[i];
    EXPECT_LT(std::abs(sum - row.t.stability(z)), 1e-13);
    EXPECT_GT(row.t.error_coefficients(row.t.b, row.order + 1).norm(), 1e-7);
    EXPECT_LT(row.t.error_coefficients(row.t.b, row.order).norm(), 1e-11);
    if (row.dense > 0) {  // ends where the step ends
      EXPECT_LT((row.t.dense.rowwise().sum() - row.t.b).norm(), 1e-11);
    }
  }
}

// Its orders follow from its coefficients; three stages of order 3 leave R(z) = 1 + z + z^2/2 + z^3/6.
TEST(BogackiShampine, HasItsOrders) {
  const OdeMethodInfo& method = find_ode_method("bogacki-shampine-32", {});
  EXPECT_EQ(method.order, 3);
  EXPECT_EQ(method.error_order, 3);  // of an embedded solution of order 2
  EXPECT_EQ(method.dense_order, 3);
  EXPECT_EQ(method.evaluations, 3);  // the last stage is the first of the next step
  const Growth growth = growth_of(method.key, {}, {});
  for (const Complex z : {Complex(-0.7, 0.4), Complex(-2.5, 0), Complex(0, 1.7)})
    EXPECT_NEAR(growth(z), std::abs(1.0 + z + z * z / 2.0 + z * z * z / 6.0), 1e-12);
  const StabilitySummary stability = summarise_stability(growth);
  EXPECT_NEAR(stability.real_interval, 2.5127, 5e-4);
  EXPECT_NEAR(stability.imaginary_interval, std::sqrt(3), 1e-3);
}

TEST(ButcherTableaus, ImplicitOnesAreMeasuredToo) {
  // the trapezoidal rule as TEXT should have printed it
  const ButcherTableau t = read_tableau_text("{A: [[0, 0], [1/2, 1/2]], b: [1/2, 1/2]}", "trapezoidal.yaml");
  EXPECT_EQ(t.order, 2);
  EXPECT_FALSE(t.is_explicit());
  EXPECT_EQ(t.real_interval(), 1e6);
  EXPECT_EQ(t.imaginary_interval(), 1e6);
  EXPECT_NEAR(t.error_coefficients(t.b, 3).norm(), std::sqrt(2) / 12, 1e-14);
}

std::string complaint(const char* text) {
  try {
    read_tableau_text(text, "mine.yaml");
  } catch (const Failure& failure) {
    return to_text(failure.problems()[0]);
  }
  return "";
}

TEST(ButcherTableaus, FilesAreReadStrictly) {
  EXPECT_NE(complaint("{A: [[], [1]], b: [1/2, 1/x]}").find("mine.yaml:1:"), std::string::npos);
  EXPECT_NE(complaint("{A: [[], [1]], b: [1/2, 1/x]}").find("'1/x' is not a number"), std::string::npos);
  EXPECT_NE(complaint("{A: [[], [1]], b: [1/2, 1/3]}").find("do not add up to 1"), std::string::npos);
  EXPECT_NE(complaint("{A: [[], [1]], b: [1/2, 1/2], c: [0, 0.5]}").find("does not add up to its c"),
            std::string::npos);
  EXPECT_NE(complaint("{A: [[], [1]], b: [1]}").find("A has 2 rows"), std::string::npos);
  EXPECT_NE(complaint("{A: [[], [1]], b: [1/2, 1/2], bhat: [1, 0]}").find("did you mean 'b_hat'?"), std::string::npos);
  EXPECT_NE(complaint("{b: [1]}").find("has no A"), std::string::npos);
  EXPECT_NE(complaint("[1, 2]").find("mapping"), std::string::npos);
}

// Ralston's method with an embedded Euler step, as a user would write it.
TEST(ButcherTableaus, FromAFileTheyRun) {
  const ButcherTableau t =
      read_tableau_text("key: ralston\nA:\n  - []\n  - [2/3]\nb: [1/4, 3/4]\nb_hat: [1, 0]\n", "ralston.yaml");
  EXPECT_EQ(t.order, 2);
  const problems::OdeCase& c = problems::ode_case("rational");
  double errors[2];
  for (const int fine : {0, 1}) {
    const auto problem = c.make();
    RungeKutta method(*problem, t, {.fixed_step = true});
    errors[fine] =
        (solve(method, 0, c.solution(0), c.end, Vec::Ones(1), {.step = fine == 0 ? 0.01 : 0.005}).y - c.solution(c.end))
            .norm();
  }
  EXPECT_NEAR(std::log2(errors[0] / errors[1]), 2, 0.1);
  const auto problem = c.make();
  RungeKutta controlled(*problem, t, {.tolerance = 1e-6});
  SolveOptions options;
  options.tolerance = 1e-6;
  const SolveResult result = solve(controlled, 0, c.solution(0), c.end, Vec::Ones(1), options);
  EXPECT_LT((result.y - c.solution(c.end)).norm(), 1e-5);
}

// As a method of the registry, whatever its kind: explicit, diagonally implicit, implicit.
TEST(ButcherTableaus, FromAFileTheyAreTheMethodRungeKutta) {
  const std::string file = testing::TempDir() + "tableau_of_a_user.yaml";
  const auto with = [&](const std::string& text) {
    std::ofstream(file) << text;
    SolveOptions options;
    options.options.set("tableau", file);
    return options;
  };
  const problems::OdeCase& c = problems::ode_case("rational");
  const auto error = [&](SolveOptions options) {
    const auto problem = c.make();
    const SolveResult result = solve(*problem, "runge-kutta", 0, c.solution(0), c.end, options);
    EXPECT_EQ(result.status, SolveStatus::finished) << result.message;
    return (result.y - c.solution(c.end)).norm();
  };
  struct Row {
    const char* text;
    int order;
  };
  for (const Row& row :
       {Row{"{A: [[], [1/2], [0, 3/4], [2/9, 1/3, 4/9]], b: [2/9, 1/3, 4/9, 0], b_hat: [7/24, 1/4, 1/3, 1/8]}", 3},
        Row{"{A: [[0.2928932188134524], [0.7071067811865476, 0.2928932188134524]], b: [0.7071067811865476, "
            "0.2928932188134524]}",
            2},                                                       // Alexander
        Row{"{A: [[1/4, -1/4], [1/4, 5/12]], b: [1/4, 3/4]}", 3}}) {  // Radau IA
    SolveOptions options = with(row.text);
    options.step = 0.02;
    const double coarse = error(options);
    options.step = 0.01;
    EXPECT_NEAR(std::log2(coarse / error(options)), row.order, 0.2) << row.text;
    options.step.reset();
    options.tolerance = 1e-7;
    EXPECT_LT(error(options), 1e-5) << row.text;
  }
  const auto refusal = [&](const std::string& text) -> std::string {
    const SolveOptions options = with(text);
    const auto problem = c.make();
    try {
      solve(*problem, "runge-kutta", 0, c.solution(0), c.end, options);
    } catch (const Failure& failure) {
      return failure.what();
    }
    return "";
  };
  // Crouzeix: order 4 on one diagonal; Lobatto IIIA: a singular A
  EXPECT_NE(refusal("{A: [[1.0685790213016289], [-0.5685790213016289, 1.0685790213016289], [2.1371580426032577, "
                    "-3.2743160852065154, 1.0685790213016289]], b: [0.1288864005157204, 0.7422271989685592, "
                    "0.1288864005157204]}")
                .find("fixed step"),
            std::string::npos);
  EXPECT_NE(refusal("{A: [[0, 0, 0], [5/24, 1/3, -1/24], [1/6, 2/3, 1/6]], b: [1/6, 2/3, 1/6]}").find("inverted"),
            std::string::npos);
  EXPECT_NE(refusal("{A: [[], [1]]}").find("has no b"), std::string::npos);
  EXPECT_NE(refusal("{A: [[], [x]], b: [0, 1]}").find("tableau_of_a_user.yaml:1:"), std::string::npos);
}

TEST(MultistepFormulas, AreTextsTables) {
  const double bashforth[] = {1.0 / 2, 5.0 / 12, 3.0 / 8, 251.0 / 720, 95.0 / 288};
  const double moulton[] = {-1.0 / 2, -1.0 / 12, -1.0 / 24, -19.0 / 720, -3.0 / 160};
  const double real_bashforth[] = {2, 1, 6.0 / 11, 0.3, 0.163};
  const double real_moulton[] = {1e6, 1e6, 6, 3, 1.836};
  for (int k = 1; k <= 5; ++k) {
    const MultistepFormula ab = MultistepFormula::adams_bashforth(k), am = MultistepFormula::adams_moulton(k);
    EXPECT_EQ(ab.order(), k);
    EXPECT_EQ(am.order(), k);
    EXPECT_NEAR(ab.error_constant(), bashforth[k - 1], 1e-12);
    EXPECT_NEAR(am.error_constant(), moulton[k - 1], 1e-12);
    EXPECT_TRUE(ab.zero_stable());
    EXPECT_TRUE(am.zero_stable());
    EXPECT_TRUE(ab.is_explicit());
    EXPECT_NEAR(ab.real_interval(), real_bashforth[k - 1], 1e-3);
    EXPECT_NEAR(am.real_interval(), real_moulton[k - 1], 1e-3);
  }
  EXPECT_NEAR(milne_factor(MultistepFormula::adams_bashforth(4), MultistepFormula::adams_moulton(4)), -19.0 / 270,
              1e-12);
  for (int k = 1; k <= 6; ++k) {
    const MultistepFormula bdf = MultistepFormula::bdf(k);
    EXPECT_EQ(bdf.order(), k);
    EXPECT_TRUE(bdf.zero_stable());
    EXPECT_EQ(bdf.real_interval(), 1e6);
    EXPECT_EQ(MultistepFormula::extrapolation(k).order(), k);
    EXPECT_NEAR(MultistepFormula::extrapolation(k).error_constant(), 1, 1e-12);
  }
  // printed with the signs of alpha_1 lost, AB2 is no method at all
  EXPECT_LT((MultistepFormula{"", {2, 2, 0}, {0, -3, 1}}.order()), 0);
  EXPECT_FALSE((MultistepFormula{"", {1, -3, 2}, {0, 0, 0}}.zero_stable()));
}

// The angles of the facts' table: the largest sector around the negative axis in which nothing grows.
TEST(MultistepFormulas, BdfIsStableInASector) {
  const double degrees[] = {90, 90, 86.03, 73.35, 51.84, 17.84};
  for (int k = 3; k <= 6; ++k) {
    const MultistepFormula bdf = MultistepFormula::bdf(k);
    // boundary: z = -alpha(x) / beta on the unit circle
    double least = 180;
    for (int i = 1; i < 20000; ++i) {
      const std::complex<double> x = std::polar(1.0, M_PI * i / 20000);
      std::complex<double> a = 0;
      for (std::size_t j = 0; j < bdf.alpha.size(); ++j) a += bdf.alpha[j] * std::pow(x, -static_cast<double>(j));
      const std::complex<double> z = -a / bdf.beta[0];
      if (z.real() < 0) least = std::min(least, 180 - std::abs(std::arg(z)) * 180 / M_PI);
    }
    EXPECT_NEAR(least, degrees[k - 1], 0.02) << k;
  }
}

class Decay final : public FirstOrderProblem {
 public:
  explicit Decay(double rate) : rate_(rate) {}
  int size() const override { return 1; }
  Eval f(double, const Vec& y, Vec& dydt) override {
    dydt = -rate_ * y;
    return Eval::ok;
  }

 private:
  double rate_;
};

// (7.24): the largest step for which fixed point iteration converges, found by bisection, is alpha_0 / (beta_0 lambda).
TEST(MultistepFormulas, FixedPointIterationHasItsBound) {
  for (const int k : {2, 4}) {
    MultistepOptions options;
    options.predictor = MultistepFormula::adams_bashforth(k);
    options.corrector = MultistepFormula::adams_moulton(k);
    options.mode = MultistepOptions::Corrector::iterated;
    options.fixed_step = true;
    options.tolerance = 1e-6;
    const auto converges = [&](double h) {
      Decay problem(1);
      MultistepMethod method(problem, options);
      method.start(0, Vec::Ones(1));
      for (int i = 0; i < 6; ++i) {
        if (method.attempt(h).verdict != Verdict::ok) return false;
        method.accept();
      }
      return true;
    };
    double low = 0.1, high = 10;
    for (int i = 0; i < 30; ++i) (converges(0.5 * (low + high)) ? low : high) = 0.5 * (low + high);
    const double bound = options.corrector.iteration_limit();
    EXPECT_GT(low, 0.6 * bound) << k;  // 60 iterations to reach the tolerance: the rate must be below about 0.75
    EXPECT_LT(low, 1.01 * bound) << k;
    // Newton has no such bound
    options.mode = MultistepOptions::Corrector::newton;
    EXPECT_TRUE(converges(10 * bound)) << k;
  }
}

// The equations by which the source finds its coefficients: (8a) to (8h) for order 4, (10) for a second solution of
// order 3, (11) for a stage saved, (12) and (13) for conditions of order 5, (14). scripts/rosenbrock_coefficients.py
// solves them.
TEST(Rosenbrock, CoefficientsSolveTheEquationsOfTheSource) {
  for (const RosenbrockTableau* table : {&RosenbrockTableau::rn43(), &RosenbrockTableau::rn43_print()}) {
    const RosenbrockTableau& t = *table;
    SCOPED_TRACE(t.key);
    const auto beta = [&](int i, int j) { return t.A[i - 1][j - 1] + t.G[i - 1][j - 1]; };
    const auto A = [&](int i, int j) { return t.A[i - 1][j - 1]; };
    double a[5] = {}, b[5] = {}, s[5] = {};  // alpha_i, b_i, beta'_i
    for (int i = 1; i <= 4; ++i) {
      b[i] = t.b[i - 1];
      for (int j = 1; j < i; ++j) {
        a[i] += A(i, j);
        s[i] += beta(i, j);
      }
    }
    const double g = t.gamma, round_off = 1e-15;
    const auto squares = [&](double x, double y, double z) { return b[2] * x + b[3] * y + b[4] * z; };
    EXPECT_NEAR(b[1] + b[2] + b[3] + b[4], 1, round_off);                              // (8a)
    EXPECT_NEAR(squares(s[2], s[3], s[4]), 0.5 - g, round_off);                        // (8b)
    EXPECT_NEAR(squares(a[2] * a[2], a[3] * a[3], a[4] * a[4]), 1.0 / 3, round_off);   // (8c)
    EXPECT_NEAR(squares(0, beta(3, 2) * s[2], beta(4, 2) * s[2] + beta(4, 3) * s[3]),  // (8d)
                1.0 / 6 - g + g * g, round_off);
    EXPECT_NEAR(squares(std::pow(a[2], 3), std::pow(a[3], 3), std::pow(a[4], 3)), 0.25, round_off);  // (8e)
    EXPECT_NEAR(squares(0, a[3] * A(3, 2) * s[2], a[4] * (A(4, 2) * s[2] + A(4, 3) * s[3])),         // (8f)
                0.125 - g / 3, round_off);
    EXPECT_NEAR(squares(0, beta(3, 2) * a[2] * a[2], beta(4, 2) * a[2] * a[2] + beta(4, 3) * a[3] * a[3]),  // (8g)
                1.0 / 12 - g / 3, round_off);
    EXPECT_NEAR(b[4] * beta(4, 3) * beta(3, 2) * s[2], 1.0 / 24 - g / 2 + 1.5 * g * g - g * g * g, round_off);  // (8h)
    EXPECT_NEAR(beta(3, 2) * s[2] * (s[2] * a[4] * a[4] - s[4] * a[2] * a[2]),                                  // (10)
                (s[2] * a[3] * a[3] - s[3] * a[2] * a[2]) * (beta(4, 2) * s[2] + beta(4, 3) * s[3]), 4 * round_off);
    EXPECT_EQ(A(4, 1), A(3, 1));  // (11)
    EXPECT_EQ(A(4, 2), A(3, 2));
    EXPECT_EQ(A(4, 3), 0);
    EXPECT_NEAR(a[3], (0.2 - a[2] / 4) / (0.25 - a[2] / 3), round_off);                                     // (12)
    EXPECT_NEAR(b[4] * beta(4, 3) * a[3] * a[3] * (a[3] - a[2]), 0.05 - g / 4 - a[2] * (1.0 / 12 - g / 3),  // (13)
                round_off);
    EXPECT_EQ(b[3], 0);  // (14)
    EXPECT_NEAR(a[2], 2 * g, round_off);
  }
}

}  // namespace
}  // namespace trammel::tableaus_test
