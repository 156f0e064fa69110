#include "trammel/elements/constraint.h"

#include "trammel/elements/force.h"

namespace trammel {

void ConstraintPartials::set_zero(int rows, int frames) {
  const int n = 6 * frames;
  for (RowMatrix* m : {&C, &Ctwist_pose, &Crate_pose, &Cbias_pose, &curvature_pose, &curvature_twist}) m->setZero(rows, n);
  for (RowVector* v : {&g_t, &curvature, &curvature_t, &Crate_t}) v->setZero(rows);
  wrench_pose.setZero(n, n);
  wrench_t.setZero(n);
}

void ForcePartials::set_zero(int frames) {
  pose.setZero(6 * frames, 6 * frames);
  twist.setZero(6 * frames, 6 * frames);
  time.setZero(6 * frames);
}

}  // namespace trammel
