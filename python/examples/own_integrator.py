"""An integrator of one's own in twenty lines: Newmark's trapezoidal rule on the constraints of a slider-crank.

    python3 own_integrator.py [model.yaml]
"""
import sys

import numpy
from scipy.sparse.linalg import spsolve

import trammel


def newmark(sim, h, end):
    """q, v, a, lam so that M a + G^T lam = Q and g = 0 at the end of each step; q and v follow from a by the trapezoid."""
    e = sim.equations
    t, q, v, a, lam = sim.t, sim.q.copy(), sim.v.copy(), sim.a.copy(), sim.lam.copy()
    nv = len(v)
    while t < end - h / 2:
        t, a_old, a, v_old, q_old = t + h, a, a.copy(), v, q
        for _ in range(20):
            q = e.retract(q_old, h * v_old + h * h / 4 * (a_old + a))
            v = v_old + h / 2 * (a_old + a)
            r = e.residual(t, q, v, a, lam)
            r[nv:] *= 4 / (h * h)  # the rows of g by a: h^2 / 4 G
            delta = spsolve(e.newton_matrix(t, q, v, a, lam, by_q=h * h / 4, by_v=h / 2), -r)
            a, lam = a + delta[:nv], lam + delta[nv:]
            if h * h * abs(delta[:nv] / e.scales).max() < 1e-12:
                break
        else:
            raise ArithmeticError(f"no convergence at t = {t}")
    return t, q, v


if __name__ == "__main__":
    model = trammel.load(sys.argv[1] if len(sys.argv) > 1 else "models/slider_crank.yaml")
    reference = model.simulation(method="radau-iia-3", tolerance=1e-10)
    reference.advance(0.1)
    errors = []
    for h in (1e-3, 5e-4, 2.5e-4):
        sim = model.simulation()
        _, q, _ = newmark(sim, h, 0.1)
        errors.append(abs(sim.equations.difference(reference.q, q)).max())
        print(f"h = {h:.2e} s: largest error {errors[-1]:.2e}")
    print(f"order {numpy.log2(errors[1] / errors[2]):.2f}")
