"""A pole balanced on a cart: the linear model goes to scipy, which designs the controller; it then drives the full model.

    python3 balanced_pole.py [cart_pole.yaml]
"""
import sys

import numpy
from scipy.linalg import solve_continuous_are

import trammel

model = trammel.load(sys.argv[1] if len(sys.argv) > 1 else "models/cart_pole.yaml")

# x' = A x + B u about the upright pole; states are displacements and velocities of bodies, named.
linear = model.linearise()
for name, unit in linear.states:
    print(f"  state {name} [{unit}]")
P = solve_continuous_are(linear.A, linear.B, numpy.diag([10, 10, 1, 1]), [[0.1]])
K = linear.B.T @ P / 0.1
poles = numpy.linalg.eigvals(linear.A - linear.B @ K)
print("  poles with the controller", numpy.round(poles, 2))

# Outputs y = C x of the model are the displacements it was linearised in: x = T y, T by least squares.
T = numpy.linalg.pinv(numpy.vstack([linear.C, linear.C @ linear.A]))

# The controller sees the full model every 5 ms and holds its force between. The pole starts far from upright.
model["initial"] = {"joints": {"hinge": {"angle": "20 deg"}}}
sim = model.simulation(end=4.0, tolerance=1e-7, record=True, output_step=0.01)
dt, largest, y_old = 5e-3, 0.0, numpy.array([sim["x"], sim["theta"]])
while sim.t < sim.end - dt / 2:
    y = numpy.array([sim["x"], sim["theta"]])
    x = T @ numpy.concatenate([y, (y - y_old) / dt])
    sim.inputs["push"] = float(-(K @ x)[0])
    largest, y_old = max(largest, abs(y[1])), y
    sim.step(dt)

theta = sim.result["theta"]
print(f"largest angle {largest:.3f} rad, at the end {theta[-1]:.1e} rad, cart at {sim['x']:.3f} m")
assert abs(theta[-1]) < 1e-2 and largest > 0.3
