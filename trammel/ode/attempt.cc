#include "trammel/ode/attempt.h"

namespace trammel {

const char* to_text(Verdict verdict) {
  switch (verdict) {
    case Verdict::ok: return "ok";
    case Verdict::newton_diverged: return "Newton did not converge";
    case Verdict::singular_matrix: return "singular matrix";
    case Verdict::evaluation_rejected: return "an element could not be evaluated";
    case Verdict::not_finite: return "a value is not finite";
    case Verdict::angle_too_large:
      return "a body or joint turns so far, or so unsteadily, that its turns could be miscounted";
  }
  return "";
}

}  // namespace trammel
