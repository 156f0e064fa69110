#include "trammel/elements/joints/relation_constraint.h"

#include <cmath>
#include <numbers>

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
  return {in.frames[term.a], in.frames[term.b]};
}

TotalAngle angle_of(const RelationTerm& term, const ElementInput& in) {
  return total_angle(term.scalar(), in.frames[term.a], in.frames[term.b], in.memory + term.memory, in.t);
}

}  // namespace

RelationConstraint::RelationConstraint(int frames, std::vector<RelationRow> rows)
    : rows_(std::move(rows)), frames_(frames) {
  std::vector<const RelationTerm*> angles;
  for (RelationRow& row : rows_) {
    for (RelationTerm& term : row.terms) {
      if (!term.scalar().is_multi_turn()) continue;
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

PairScalar RelationConstraint::argument(const RelationTerm& term, const ElementInput& in, int order) const {
  PairScalar s(term.scalar(), in.frames[term.a], in.frames[term.b], order);
  if (term.memory >= 0) s.unwrap(RememberedAngle(in.memory + term.memory).near(in.t));
  return s;
}

PairScalar RelationConstraint::term_scalar(const RelationTerm& term, const ElementInput& in, int order) const {
  PairScalar s = argument(term, in, order);
  if (term.function) s.compose(term.function(s.value()));
  s.scale(term.weight);
  return s;
}

double RelationConstraint::value(const RelationRow& row, const ElementInput& in) const {
  double sum = -row.offset;
  for (const RelationTerm& term : row.terms) sum += term_scalar(term, in, 0).value();
  return sum;
}

bool RelationConstraint::evaluate(const ElementInput& in, const double* lambda, double* g, double* wrench) const {
  FrameVector total = FrameVector::Zero(6 * frames_);
  bool good = true;
  for (std::size_t k = 0; k < rows_.size(); ++k) {
    g[k] = -rows_[k].offset;
    for (const RelationTerm& term : rows_[k].terms) {
      const PairScalar s = term_scalar(term, in, 1);
      g[k] += s.value();
      good = good && s.good();
      if (lambda != nullptr) s.gradient().scatter(lambda[k], term.a, term.b, total.transpose());
    }
  }
  if (wrench != nullptr) Eigen::Map<Vec>(wrench, 6 * frames_) = total;
  return good;
}

void RelationConstraint::rate(const ElementInput& in, double* g_dot) const {
  for (std::size_t k = 0; k < rows_.size(); ++k) {
    g_dot[k] = 0;
    for (const RelationTerm& term : rows_[k].terms) g_dot[k] += term_scalar(term, in, 1).rate(term_twist(term, in));
  }
}

void RelationConstraint::curvature(const ElementInput& in, double* c) const {
  for (std::size_t k = 0; k < rows_.size(); ++k) {
    c[k] = 0;
    for (const RelationTerm& term : rows_[k].terms) c[k] += term_scalar(term, in, 2).curvature(term_twist(term, in));
  }
}

void RelationConstraint::jacobian(const ElementInput& in, RowMatrix& C) const {
  C.setZero(rows(), 6 * frames_);
  for (int k = 0; k < rows(); ++k) {
    for (const RelationTerm& term : rows_[k].terms)
      term_scalar(term, in, 1).gradient().scatter(1, term.a, term.b, C.row(k));
  }
}

void RelationConstraint::linearise(const ElementInput& in, const double* lambda, RowMatrix& C,
                                   FrameMatrix& wrench_pose) const {
  C.setZero(rows(), 6 * frames_);
  wrench_pose.setZero(6 * frames_, 6 * frames_);
  for (int k = 0; k < rows(); ++k) {
    for (const RelationTerm& term : rows_[k].terms) {
      const PairScalar s = term_scalar(term, in, 2);
      s.gradient().scatter(1, term.a, term.b, C.row(k));
      PairMatrix h = PairMatrix::Zero();
      s.add_hessian(lambda[k], h);
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
      const PairScalar s = term_scalar(term, in, 3);
      const PairTwist u = term_twist(term, in);
      s.contracted(u).scatter(1, term.a, term.b, out.Ctwist_pose.row(k));
      s.contracted(term_twist(term, rate)).scatter(1, term.a, term.b, out.Crate_pose.row(k));
      s.contracted(term_twist(term, bias)).scatter(1, term.a, term.b, out.Cbias_pose.row(k));
      out.curvature[k] += s.curvature(u);
      s.curvature_pose(u).scatter(1, term.a, term.b, out.curvature_pose.row(k));
      s.curvature_twist(u).scatter(1, term.a, term.b, out.curvature_twist.row(k));
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
      term.corners = {};
      term.function = [](double x) {
        const double e = std::exp(std::sin(x));  // any numbers that are not zero
        return std::array<double, 4>{e, 1.1 * e, 1.2 * e, 1.3 * e};
      };
    }
  }
  return any ? std::make_unique<RelationConstraint>(frames_, std::move(rows)) : nullptr;
}

std::vector<SwitchInfo> RelationConstraint::switches() const {
  std::vector<SwitchInfo> all;
  for (const RelationRow& row : rows_)
    for (const RelationTerm& term : row.terms)
      all.insert(all.end(), static_cast<std::size_t>(term.corners.count), {"corner of its curve"});
  return all;
}

void RelationConstraint::switch_values(const ElementInput& in, double* values) const {
  for (const RelationRow& row : rows_) {
    for (const RelationTerm& term : row.terms) {
      if (term.corners.count == 0) continue;
      term.corners.values(argument(term, in, 0).value(), values);
      values += term.corners.count;
    }
  }
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
      const TotalAngle now = angle_of(term, in);
      RememberedAngle::keep(now.total, now.rate, in.t, memory + term.memory);
    }
  }
}

double RelationConstraint::turned(const ElementInput& in) const {
  double most = 0;
  for (const RelationRow& row : rows_) {
    for (const RelationTerm& term : row.terms) {
      if (term.memory < 0) continue;
      const TotalAngle now = angle_of(term, in);
      most = std::max(most, RememberedAngle(in.memory + term.memory).doubt(now.total, now.rate, in.t));
    }
  }
  return most;
}

}  // namespace trammel
