#include "trammel/run/constraint_watch.h"
#include "trammel/formulate/formulation_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "trammel/formulate/formulations.h"

namespace trammel {

namespace {

bool corrects_by_count(const MethodSettings& settings) {
  return settings.formulation != formulation::augmented_lagrangian && settings.options.has("iterations") &&
         settings.options.number("iterations") > 0;
}

// Softer than by itself: how far joints give way is then the user's choice.
bool softened(const MethodSettings& settings) {
  const auto below = [&](const char* option, double usual) {
    return settings.options.has(option) && settings.options.number(option) < usual;
  };
  const bool springs = settings.options.has("penalty_frequency") && settings.options.number("penalty_frequency") > 0;
  return springs || below("penalty", 1e7) || below("frequency", 20);
}

}  // namespace

bool holds_softly(const MethodSettings& settings) {
  const FormulationInfo* formulation = find_formulation(settings.formulation);
  return (formulation != nullptr && formulation->soft) || corrects_by_count(settings);
}

ConstraintWatch::ConstraintWatch(const Equations& equations, const MethodSettings& settings, double rate)
    : equations_(equations),
      soft_(holds_softly(settings)),
      lost_(1),
      rate_(rate),
      scales_(equations.scales()),
      bounds_(Vec::Zero(equations.sizes().multipliers())),
      residual_(equations.make_residual()),
      rows_(bounds_),
      worst_rows_(bounds_),
      slip_(Vec::Zero(equations.sizes().nk)) {
  if (soft_) {
    const bool asked_for =
        settings.formulation == formulation::index_1 || corrects_by_count(settings) || softened(settings);
    lost_ = asked_for ? std::numeric_limits<double>::infinity() : 10;
  }
  // With a fixed step the tolerance only stops the corrector, which then gets far below it.
  promised_ = 10 * (settings.fixed_step ? std::min(settings.tolerance, 1e-5) : settings.tolerance);
  if (soft_) promised_ = std::max(promised_, 1e-3);
  for (int i = 0; i < bounds_.size(); ++i) {
    const double unit = equations.row_unit(i) == RowUnit::torque ? 1.0 : equations.length();
    bounds_[i] = promised_ * unit + 10 * settings.misfit;
  }
}

void ConstraintWatch::look(double from, const State& state, const Rates& rates, Workspace& work) {
  if (bounds_.size() == 0) return;
  equations_.residual(state, rates, joints, residual_, work);
  rows_ = residual_.g;
  double worst = 0;
  const double rate = rate_ + state.v.cwiseQuotient(scales_).lpNorm<Eigen::Infinity>();
  take_up_slip(state.t - from, rate);
  // Most steps are far within: below the least of all bounds there is nothing to weigh.
  if ((rows_.cwiseAbs().array() <= std::min(1.0, rate) * bounds_.array()).all()) {
    record_.steps_lost = record_.steps = 0;
    return;
  }
  const double round_off = 32 * std::numeric_limits<double>::epsilon() * equations_.reach(state.q);
  for (int i = 0, k = 0; i < rows_.size(); ++i) {
    const double known = equations_.row_unit(i) == RowUnit::torque ? round_off / equations_.length() : round_off;
    const double violation = equations_.level(i) == Level::velocity ? slip_[k++] : rows_[i];
    worst = std::max(worst, std::abs(violation) / std::max(bounds_[i], known));
  }
  record_.steps_lost = worst > lost_ ? record_.steps_lost + 1 : 0;
  if (!(worst > 1)) {
    record_.steps = 0;
    return;
  }
  if (record_.worst <= 1) record_.first = from;
  if (record_.steps++ == 0) record_.since = from;
  if (worst > record_.worst) {
    record_.worst = worst;
    worst_rows_ = rows_;
  }
}

// Rows at velocity level are judged by how far they let the bodies slip within the time 1/rate: a steady residual r by
// r/rate. What correctors, which stop by positions, leave of them in a few short steps moves nothing.
void ConstraintWatch::take_up_slip(double h, double rate) {
  const std::vector<int>& rows = equations_.velocity_rows();
  const double kept = std::exp(-rate * h), gained = rate > 0 ? (1 - kept) / rate : h;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    double& slip = slip_[static_cast<Eigen::Index>(k)];
    slip = kept * slip + gained * rows_[rows[k]];
  }
}

std::string ConstraintWatch::value_of(int row, double residual) const {
  const bool turns = equations_.row_unit(row) == RowUnit::torque, rate = equations_.level(row) == Level::velocity;
  return fmt::format("{:.3g} {}{}", std::abs(residual), turns ? "rad" : "m", rate ? "/s" : "");
}

// What the corrector could not remove lies in the null space of G^T: it is spread over the very rows that contradict
// one another, and over no others.
ConstraintViolation ConstraintWatch::describe(const Vec& rows, double since) const {
  ConstraintViolation out;
  out.since = since;
  struct Share {
    double size;
    int row;
  };
  std::vector<Share> shares;
  for (int c = 0; c < equations_.constraint_count(); ++c) {
    const Equations::ConstraintInfo info = equations_.constraint_info(c);
    Share share{0, info.first_row};
    for (int i = info.first_row; i < info.first_row + info.rows; ++i) {
      const double size = std::abs(rows[i]) / bounds_[i];
      if (size > share.size) share = {size, i};
    }
    if (share.size > 0) shares.push_back(share);
  }
  std::stable_sort(shares.begin(), shares.end(), [](const Share& a, const Share& b) { return a.size > b.size; });
  constexpr std::size_t most = 6;
  for (const Share& share : shares) {
    if (share.size < 0.05 * shares.front().size || out.parts.size() == most) break;
    out.parts.push_back(equations_.name_of_constraint(equations_.constraint_of_row(share.row)));
    out.values.push_back(value_of(share.row, rows[share.row]));
  }
  if (!shares.empty()) out.largest = std::abs(rows[shares.front().row]);
  return out;
}

void ConstraintWatch::visit(Archive& archive) { archive(record_, worst_rows_, slip_); }

}  // namespace trammel
