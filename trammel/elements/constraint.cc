#include "trammel/elements/constraint.h"

#include "trammel/elements/force.h"

namespace trammel {

void ConstraintPartials::set_zero(int rows, int frames) {
  const int n = 6 * frames;
  for (RowMatrix* m : {&C, &Ctwist_pose, &Crate_pose, &Cbias_pose, &curvature_pose, &curvature_twist})
    m->setZero(rows, n);
  for (RowVector* v : {&g_t, &curvature, &curvature_t, &Crate_t}) v->setZero(rows);
  wrench_pose.setZero(n, n);
  wrench_t.setZero(n);
}

void ForcePartials::set_zero(int frames) {
  pose.setZero(6 * frames, 6 * frames);
  twist.setZero(6 * frames, 6 * frames);
  time.setZero(6 * frames);
}

double Force::power(const ElementInput& in) const {
  double wrench[6 * max_frames];
  if (!evaluate(in, wrench)) return 0;
  double sum = 0;
  for (int i = 0; i < frames(); ++i) {
    const double* w = wrench + 6 * i;
    sum += in.frames[i].v.dot(Vec3(w[0], w[1], w[2])) + in.frames[i].w.dot(Vec3(w[3], w[4], w[5]));
  }
  return sum;
}

}  // namespace trammel
