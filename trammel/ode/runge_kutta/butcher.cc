#include "trammel/ode/runge_kutta/butcher.h"

#include <Eigen/LU>
#include <cmath>
#include <map>

#include "trammel/base/diagnosis.h"
#include "trammel/ode/runge_kutta/butcher_data.h"

namespace trammel {

namespace butcher_data {

Vec list(std::initializer_list<double> values) {
  Vec v(static_cast<Eigen::Index>(values.size()));
  std::copy(values.begin(), values.end(), v.data());
  return v;
}

Mat lower(std::initializer_list<std::initializer_list<double>> rows) {
  const auto n = static_cast<Eigen::Index>(rows.size());
  Mat A = Mat::Zero(n, n);
  Eigen::Index i = 0;
  for (const auto& row : rows) {
    Eigen::Index j = 0;
    for (const double value : row) A(i, j++) = value;
    ++i;
  }
  return A;
}

Mat nested_to_powers(const std::vector<Vec>& f) {
  const auto stages = f[0].size(), degree = static_cast<Eigen::Index>(f.size());
  Mat inner = Mat::Zero(stages, degree + 1);  // powers 0 ... degree
  for (std::size_t level = f.size(); level-- > 0;) {
    // inner = f[level] + factor * inner, the factor being theta or 1 - theta
    Mat next = Mat::Zero(stages, degree + 1);
    for (Eigen::Index p = 0; p < degree; ++p) {
      if (level % 2 == 0) {
        next.col(p) += inner.col(p);
        next.col(p + 1) -= inner.col(p);
      } else {
        next.col(p + 1) += inner.col(p);
      }
    }
    next.col(0) += f[level];
    inner = next;
  }
  return inner.leftCols(degree);  // times theta
}

}  // namespace butcher_data

namespace {

constexpr double condition_tolerance = 1e-11;  // round-off of sums with coefficients up to 50

// Children of a tree of `left` more vertices, each not larger than the one before.
void grow_trees(const std::vector<RootedTree>& trees, int order, int left, int largest, std::vector<int>& children,
                std::vector<RootedTree>& out) {
  if (left == 0) {
    RootedTree tree;
    tree.order = order;
    tree.children = children;
    tree.gamma = order;
    std::map<int, int> copies;
    for (const int child : children) {
      const RootedTree& t = trees[child];
      tree.gamma *= t.gamma;
      tree.sigma *= t.sigma * ++copies[child];
    }
    out.push_back(std::move(tree));
    return;
  }
  for (int child = largest; child >= 0; --child) {
    if (trees[child].order > left) continue;
    children.push_back(child);
    grow_trees(trees, order, left - trees[child].order, child, children, out);
    children.pop_back();
  }
}

const std::vector<RootedTree>& all_trees() {
  static const std::vector<RootedTree> trees = rooted_trees(ButcherTableau::most_order);
  return trees;
}

// Phi of the next tree as a vector over the stages, from those of the trees before: the product over its children of
// A Phi(child).
void add_stage_weights(const Mat& A, const RootedTree& tree, std::vector<Vec>& phi) {
  Vec product = Vec::Ones(A.rows());
  for (const int child : tree.children) product.array() *= (A * phi[child]).array();
  phi.push_back(std::move(product));
}

// Largest x with |R| <= 1 all the way from 0 to x along `direction`.
double stable_length(const ButcherTableau& t, std::complex<double> direction) {
  const auto stable = [&](double x) { return std::abs(t.stability(x * direction)) <= 1 + 1e-12; };
  double x = 0, step = 1e-3;
  while (stable(x + step)) {
    x += step;
    step = std::max(1e-3, 1e-3 * x);
    if (x > 1e6) return 1e6;
  }
  for (int i = 0; i < 60; ++i) {
    step /= 2;
    if (stable(x + step)) x += step;
  }
  return x > 0.03 ? x : 0;  // less is the tolerance of the comparison
}

}  // namespace

std::vector<RootedTree> rooted_trees(int most) {
  std::vector<RootedTree> trees;
  for (int order = 1; order <= most; ++order) {
    std::vector<RootedTree> grown;
    std::vector<int> children;
    grow_trees(trees, order, order - 1, static_cast<int>(trees.size()) - 1, children, grown);
    trees.insert(trees.end(), grown.begin(), grown.end());
  }
  return trees;
}

bool ButcherTableau::is_explicit() const {
  for (Eigen::Index i = 0; i < A.rows(); ++i) {
    if (A.row(i).tail(A.cols() - i).lpNorm<Eigen::Infinity>() > 0) return false;
  }
  return true;
}

int ButcherTableau::last_stage() const {
  for (int i = 1; i < stages(); ++i) {
    if (c[i] == 1 && (A.row(i).transpose() - b).lpNorm<Eigen::Infinity>() == 0) return i;
  }
  return -1;
}

int ButcherTableau::order_of(const Vec& weights) const {
  std::vector<Vec> phi;
  for (const RootedTree& tree : all_trees()) {
    add_stage_weights(A, tree, phi);
    if (std::abs(weights.dot(phi.back()) - 1 / tree.gamma) > condition_tolerance) return tree.order - 1;
  }
  return most_order;
}

// sum b_i(theta) Phi_i = theta^order / gamma, power by power.
int ButcherTableau::order_of_dense() const {
  std::vector<Vec> phi;
  for (const RootedTree& tree : all_trees()) {
    add_stage_weights(A, tree, phi);
    Vec powers = dense.transpose() * phi.back();
    if (tree.order > powers.size()) return tree.order - 1;
    powers[tree.order - 1] -= 1 / tree.gamma;
    if (powers.lpNorm<Eigen::Infinity>() > 100 * condition_tolerance) return tree.order - 1;
  }
  return most_order;
}

Vec ButcherTableau::error_coefficients(const Vec& weights, int of_order) const {
  std::vector<Vec> phi;
  std::vector<double> out;
  for (const RootedTree& tree : all_trees()) {
    if (tree.order > of_order) break;
    add_stage_weights(A, tree, phi);
    if (tree.order == of_order) out.push_back((weights.dot(phi.back()) - 1 / tree.gamma) / tree.sigma);
  }
  return Eigen::Map<Vec>(out.data(), static_cast<Eigen::Index>(out.size()));
}

std::complex<double> ButcherTableau::stability(std::complex<double> z) const {
  const int n = stages();
  Eigen::VectorXcd k = Eigen::VectorXcd::Ones(n);
  if (is_explicit()) {
    for (int i = 1; i < n; ++i) {
      for (int j = 0; j < i; ++j) k[i] += z * A(i, j) * k[j];
    }
  } else {
    const Eigen::MatrixXcd matrix = Eigen::MatrixXcd::Identity(n, n) - z * A.cast<std::complex<double>>();
    k = matrix.partialPivLu().solve(k).eval();
  }
  return 1.0 + z * b.cast<std::complex<double>>().dot(k);
}

Vec ButcherTableau::stability_polynomial() const {
  Vec out = Vec::Zero(stages() + 1), power = Vec::Ones(stages());
  out[0] = 1;
  for (int i = 1; i <= stages(); ++i) {
    out[i] = b.dot(power);
    power = A * power;
  }
  return out;
}

double ButcherTableau::real_interval() const { return stable_length(*this, -1); }
double ButcherTableau::imaginary_interval() const { return stable_length(*this, {0, 1}); }

void ButcherTableau::complete(const std::string& where) {
  const auto fail_with = [&](const std::string& message, const std::string& hint) {
    throw Failure({Severity::error, "bad-tableau", where + ": " + message, hint, {}});
  };
  const auto n = b.size();
  if (n == 0) fail_with("b is empty", "give one weight for each stage");
  if (A.rows() != n || A.cols() != n)
    fail_with("A has " + std::to_string(A.rows()) + " rows, b has " + std::to_string(n), "both count the stages");
  if (c.size() == 0) c = A.rowwise().sum();
  if (c.size() != n) fail_with("c has " + std::to_string(c.size()) + " entries, b has " + std::to_string(n), "");
  for (const Vec* w : {&b_hat, &b_other}) {
    if (w->size() != 0 && w->size() != n)
      fail_with("embedded weights have " + std::to_string(w->size()) + " entries, b has " + std::to_string(n), "");
  }
  if (dense.size() != 0 && dense.rows() != n) fail_with("dense has a row for each stage", "");
  if (!A.allFinite() || !b.allFinite() || !c.allFinite()) fail_with("a coefficient is not finite", "");
  if ((A.rowwise().sum() - c).lpNorm<Eigen::Infinity>() > 1e-10)
    fail_with("a row of A does not add up to its c", "the stages would not even be of order 1 in time");
  if (std::abs(b.sum() - 1) > 1e-10) fail_with("the weights b do not add up to 1", "the method would not converge");
  if (b_hat.size() != 0 && std::abs(b_hat.sum() - 1) > 1e-10) fail_with("the weights b_hat do not add up to 1", "");
  if (step_stages == 0) {
    step_stages = static_cast<int>(n);
    const auto used = [&](int i) { return b[i] != 0 || (b_hat.size() != 0 && b_hat[i] != 0); };
    while (dense.size() != 0 && step_stages > 1 && !used(step_stages - 1)) --step_stages;
    // stages that a used one needs are in front of it as long as the method is explicit
    if (!is_explicit()) step_stages = static_cast<int>(n);
  }
  order = order_of(b);
  if (b_hat.size() != 0) embedded_order = order_of(b_hat);
  if (b_other.size() != 0) other_order = order_of(b_other);
  if (dense.size() != 0) dense_order = order_of_dense();
}

const ButcherTableau& ButcherTableau::euler() {
  using namespace butcher_data;
  static const ButcherTableau table = [] {
    ButcherTableau t;
    t.key = "euler";
    t.A = lower({{}});
    t.b = list({1});
    t.complete(t.key);
    return t;
  }();
  return table;
}

const ButcherTableau& ButcherTableau::heun() {
  using namespace butcher_data;
  static const ButcherTableau table = [] {
    ButcherTableau t;
    t.key = "heun";
    t.A = lower({{}, {1}});
    t.b = list({1.0 / 2, 1.0 / 2});
    t.complete(t.key);
    return t;
  }();
  return table;
}

const ButcherTableau& ButcherTableau::rk4() {
  using namespace butcher_data;
  static const ButcherTableau table = [] {
    ButcherTableau t;
    t.key = "rk4";
    t.A = lower({{}, {1.0 / 2}, {0, 1.0 / 2}, {0, 0, 1}});
    t.b = list({1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6});
    t.complete(t.key);
    return t;
  }();
  return table;
}

const ButcherTableau& ButcherTableau::fehlberg_45() {
  using namespace butcher_data;
  static const ButcherTableau table = [] {
    ButcherTableau t;
    t.key = "fehlberg-45";
    t.A = lower({{},
                 {1.0 / 4},
                 {3.0 / 32, 9.0 / 32},
                 {1932.0 / 2197, -7200.0 / 2197, 7296.0 / 2197},
                 {439.0 / 216, -8, 3680.0 / 513, -845.0 / 4104},
                 {-8.0 / 27, 2, -3544.0 / 2565, 1859.0 / 4104, -11.0 / 40}});
    t.b = list({25.0 / 216, 0, 1408.0 / 2565, 2197.0 / 4104, -1.0 / 5, 0});
    t.b_hat = list({16.0 / 135, 0, 6656.0 / 12825, 28561.0 / 56430, -9.0 / 50, 2.0 / 55});
    t.complete(t.key);
    return t;
  }();
  return table;
}

const ButcherTableau& ButcherTableau::dormand_prince_54() {
  using namespace butcher_data;
  static const ButcherTableau table = [] {
    ButcherTableau t;
    t.key = "dormand-prince-54";
    t.A = lower({{},
                 {1.0 / 5},
                 {3.0 / 40, 9.0 / 40},
                 {44.0 / 45, -56.0 / 15, 32.0 / 9},
                 {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
                 {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
                 {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84}});
    t.b = t.A.row(6);
    t.c = list({0, 1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1, 1});
    t.b_hat = list({5179.0 / 57600, 0, 7571.0 / 16695, 393.0 / 640, -92097.0 / 339200, 187.0 / 2100, 1.0 / 40});
    // Hermite's cubic and one more term of order 4
    Vec first = Vec::Zero(7), last = Vec::Zero(7);
    first[0] = last[6] = 1;
    const Vec bend = first - t.b;
    t.dense = nested_to_powers(
        {t.b, bend, t.b - last - bend,
         list({-12715105075.0 / 11282082432, 0, 87487479700.0 / 32700410799, -10690763975.0 / 1880347072,
               701980252875.0 / 199316789632, -1453857185.0 / 822651844, 69997945.0 / 29380423})});
    t.complete(t.key);
    return t;
  }();
  return table;
}

}  // namespace trammel
