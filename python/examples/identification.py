"""Parameter identification: damping and stiffness of a spring from a noisy measurement, by scipy.optimize over runs.

    python3 identification.py
"""
import numpy
from scipy.optimize import least_squares

import trammel

m = trammel.Model("A mass on a spring", parameters={"k": 100, "c": 1})
m.body("mass", mass=1, inertia=[1, 1, 1], position=[1.2, 0, 0])
m.joint.translational("guide", between=["ground", "mass"], at=[0, 0, 0], axis=[1, 0, 0])
m.force.translational_spring_damper("spring", between=["ground", "mass"], at=[[0, 0, 0], [1.2, 0, 0]], stiffness="k",
                                    damping="c", free_length=1)
m.settings(end=2, tolerance=1e-7, output_step=0.02)

truth = m.with_parameters(k=130, c=0.7).run()["body.mass.position.x"]
measured = truth + numpy.random.default_rng(1).normal(0, 1e-3, len(truth))


def misfit(p):
    return m.with_parameters(k=p[0], c=p[1]).run()["body.mass.position.x"] - measured


found = least_squares(misfit, [100, 1], x_scale=[100, 1], diff_step=1e-4)
print(f"k = {found.x[0]:.1f} N/m (130), c = {found.x[1]:.3f} N s/m (0.7), {found.nfev} evaluations")
assert abs(found.x[0] - 130) < 1 and abs(found.x[1] - 0.7) < 0.05
