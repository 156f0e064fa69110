#include "trammel/elements/joints/relation_constraint.h"

#include <cmath>
#include <numbers>

#include "trammel/elements/remembered_angle.h"
#include "trammel/math/rotation.h"

namespace trammel {
namespace {

using TermTwist = Eigen::Matrix<double, 12, 1>;

// The part of stacked twists that a term sees.
PairTwist term_twist(const RelationTerm& term, const double* stacked) {
  TermTwist u;
  u << Eigen::Map<const Vec6>(stacked + 6 * term.a), Eigen::Map<const Vec6>(stacked + 6 * term.b);
  return PairTwist(u.data());
}

PairTwist term_twist(const RelationTerm& term, const ElementInput& in) {
  return pair_twist_of(in.frames[term.a], in.frames[term.b]);
}

template <class Row>
void scatter(const RelationTerm& term, const PairRow& from, Row&& to) {
  to.template segment<6>(6 * term.a) += from.head<6>();
  to.template segment<6>(6 * term.b) += from.tail<6>();
}

}  // namespace

RelationConstraint::RelationConstraint(int frames, std::vector<RelationRow> rows)
    : rows_(std::move(rows)), frames_(frames) {
  std::vector<const RelationTerm*> angles;
  for (RelationRow& row : rows_) {
    for (RelationTerm& term : row.terms) {
      if (!is_turning(term.kind, term.i)) continue;
      for (const RelationTerm* known : angles) {
        if (known->kind == term.kind && known->i == term.i && known->a == term.a && known->b == term.b)
          term.memory = known->memory;
      }
      if (term.memory < 0) {
        term.memory = memory_;
        memory_ += RememberedAngle::size;
      }
      angles.push_back(&term);
    }
  }
}

RelationConstraint::Angle RelationConstraint::total_angle(const RelationTerm& term, const ElementInput& in) const {
  const FrameState &a = in.frames[term.a], &b = in.frames[term.b];
  const PairFunction f = pair_function(term.kind, term.i, term.j, a, b);
  return {RememberedAngle(in.memory + term.memory).total(f.value, in.t), f.rate(pair_twist_of(a, b))};
}

PairFunction RelationConstraint::term_function(const RelationTerm& term, const ElementInput& in) const {
  PairFunction f = pair_function(term.kind, term.i, term.j, in.frames[term.a], in.frames[term.b]);
  if (term.memory >= 0) f.value = RememberedAngle(in.memory + term.memory).total(f.value, in.t);
  if (term.function) f.compose(term.function(f.value));
  f.scale(term.weight);
  return f;
}

double RelationConstraint::value(const RelationRow& row, const ElementInput& in) const {
  double sum = -row.offset;
  for (const RelationTerm& term : row.terms) sum += term_function(term, in).value;
  return sum;
}

bool RelationConstraint::evaluate(const ElementInput& in, const double* lambda, double* g, double* wrench) const {
  FrameVector total = FrameVector::Zero(6 * frames_);
  bool good = true;
  for (std::size_t k = 0; k < rows_.size(); ++k) {
    g[k] = -rows_[k].offset;
    for (const RelationTerm& term : rows_[k].terms) {
      const PairFunction f = term_function(term, in);
      g[k] += f.value;
      const PairRow row = f.gradient();
      good = good && std::isfinite(f.value) && row.allFinite();
      if (lambda != nullptr) scatter(term, lambda[k] * row, total.transpose());
    }
  }
  if (wrench != nullptr) Eigen::Map<Vec>(wrench, 6 * frames_) = total;
  return good;
}

void RelationConstraint::rate(const ElementInput& in, double* g_dot) const {
  for (std::size_t k = 0; k < rows_.size(); ++k) {
    g_dot[k] = 0;
    for (const RelationTerm& term : rows_[k].terms) g_dot[k] += term_function(term, in).rate(term_twist(term, in));
  }
}

void RelationConstraint::curvature(const ElementInput& in, double* c) const {
  for (std::size_t k = 0; k < rows_.size(); ++k) {
    c[k] = 0;
    for (const RelationTerm& term : rows_[k].terms) c[k] += term_function(term, in).curvature(term_twist(term, in));
  }
}

void RelationConstraint::jacobian(const ElementInput& in, RowMatrix& C) const {
  C.setZero(rows(), 6 * frames_);
  for (int k = 0; k < rows(); ++k) {
    for (const RelationTerm& term : rows_[k].terms) scatter(term, term_function(term, in).gradient(), C.row(k));
  }
}

void RelationConstraint::linearise(const ElementInput& in, const double* lambda, RowMatrix& C,
                                   FrameMatrix& wrench_pose) const {
  C.setZero(rows(), 6 * frames_);
  wrench_pose.setZero(6 * frames_, 6 * frames_);
  for (int k = 0; k < rows(); ++k) {
    for (const RelationTerm& term : rows_[k].terms) {
      const PairFunction f = term_function(term, in);
      scatter(term, f.gradient(), C.row(k));
      PairMatrix h = PairMatrix::Zero();
      f.add_hessian(lambda[k], h);
      const std::array<int, 2> at{6 * term.a, 6 * term.b};
      for (int p = 0; p < 2; ++p) {
        for (int q = 0; q < 2; ++q) {
          wrench_pose.block<6, 6>(at[p], at[q]) += h.block<6, 6>(6 * p, 6 * q);
        }
      }
    }
  }
}

void RelationConstraint::linearise_all(const ElementInput& in, const double* lambda, const double* rate,
                                       const double* bias, ConstraintPartials& out) const {
  out.set_zero(rows(), frames_);
  linearise(in, lambda, out.C, out.wrench_pose);
  for (int k = 0; k < rows(); ++k) {
    for (const RelationTerm& term : rows_[k].terms) {
      const PairFunction f = term_function(term, in);
      const PairTwist u = term_twist(term, in);
      scatter(term, f.contracted(u), out.Ctwist_pose.row(k));
      scatter(term, f.contracted(term_twist(term, rate)), out.Crate_pose.row(k));
      scatter(term, f.contracted(term_twist(term, bias)), out.Cbias_pose.row(k));
      out.curvature[k] += f.curvature(u);
      scatter(term, f.curvature_pose(u), out.curvature_pose.row(k));
      scatter(term, f.curvature_twist(u), out.curvature_twist.row(k));
    }
  }
}

std::unique_ptr<Constraint> RelationConstraint::generic() const {
  bool any = false;
  std::vector<RelationRow> rows = rows_;
  for (RelationRow& row : rows) {
    for (RelationTerm& term : row.terms) {
      if (!term.function) continue;
      any = true;
      term.function = [](double x) {
        const double e = std::exp(std::sin(x));  // any numbers that are not zero
        return std::array<double, 4>{e, 1.1 * e, 1.2 * e, 1.3 * e};
      };
    }
  }
  return any ? std::make_unique<RelationConstraint>(frames_, std::move(rows)) : nullptr;
}

void RelationConstraint::start(const ElementInput& in, double* memory) const {
  for (int i = 0; i < memory_; ++i) memory[i] = 0;
  const ElementInput here{in.t, in.frames, memory};
  accept(here, memory);
  constexpr double turn = 2 * std::numbers::pi;
  for (const RelationRow& row : rows_) {
    const RelationTerm* last = nullptr;
    for (const RelationTerm& term : row.terms) {
      if (term.memory >= 0 && !term.function && term.weight != 0) last = &term;
    }
    if (last != nullptr) memory[last->memory] -= turn * std::round(value(row, here) / (last->weight * turn));
  }
}

void RelationConstraint::accept(const ElementInput& in, double* memory) const {
  for (const RelationRow& row : rows_) {
    for (const RelationTerm& term : row.terms) {
      if (term.memory < 0) continue;
      const Angle now = total_angle(term, in);
      RememberedAngle::keep(now.total, now.rate, in.t, memory + term.memory);
    }
  }
}

double RelationConstraint::turned(const ElementInput& in) const {
  double most = 0;
  for (const RelationRow& row : rows_) {
    for (const RelationTerm& term : row.terms) {
      if (term.memory < 0) continue;
      const Angle now = total_angle(term, in);
      most = std::max(most, RememberedAngle(in.memory + term.memory).doubt(now.total, now.rate, in.t));
    }
  }
  return most;
}

}  // namespace trammel
