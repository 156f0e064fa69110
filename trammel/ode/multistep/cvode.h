// CVODE of SUNDIALS behind the face of our methods, so that comparisons are made against a good code on the very same
// right side: BDF of orders 1 to 5 with Newton's method, Adams of orders 1 to 12 with functional iteration.
//
// CVODE controls step and order itself. `attempt(h)` goes to t + h: one of its steps if h is what it suggested last,
// several if it finds h too long; the polynomial of each is kept for values between them. It has moved on when it
// returns: an attempt that is not accepted costs a restart at order 1, as does a change of coordinates. Its history is
// its own, so that a run cannot be saved in the middle.
#pragma once
#include <memory>
#include <vector>

#include "trammel/ode/ode_method.h"

namespace trammel {

struct CvodeOptions {
  enum class Family { bdf, adams };
  Family family = Family::bdf;
  bool newton = true;        // otherwise functional iteration
  bool differences = false;  // Jacobians by differences of f, also where there are exact ones
  double tolerance = 1e-5;
  int greatest_order = 5;
};

class Cvode final : public OdeMethod {
 public:
  Cvode(FirstOrderProblem& problem, const CvodeOptions& options);
  ~Cvode() override;

  int error_order() const override { return order() + 1; }
  int order() const override;
  void start(double t, const Vec& y) override;
  Attempt attempt(double h) override;
  void accept() override;
  const Vec& trial() const override { return trial_; }
  void interpolate(double t, Vec& y) const override;
  void restart() override { restart_ = true; }
  int memory() const override { return 2; }  // it remembers; of a new past it can use the newest point only
  void rebase(std::span<const Point> past) override;
  void visit(Archive& archive) override;

 private:
  struct Handles;  // of SUNDIALS
  void make();
  void keep_polynomial(double from, double to);

  // A step of CVODE: its polynomial by powers of t - to, as columns.
  struct Piece {
    double from = 0, to = 0;
    Mat powers;
  };
  FirstOrderProblem& problem_;
  CvodeOptions options_;
  std::unique_ptr<Handles> handles_;
  double trial_t_ = 0;
  Vec trial_;
  std::vector<Piece> pieces_, trial_pieces_;  // of the last accepted step and of the last attempt
  bool restart_ = true;                       // before the next step
  bool pending_ = false;                      // CVODE stands at trial_, not at y_
  long internal_ = 0, setups_ = 0;            // steps and matrices of CVODE since it was restarted
};

}  // namespace trammel
