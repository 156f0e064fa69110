"""A controller in the loop, in time with the clock: every 5 ms it sees the pole, gives a force, and the simulation waits until
the clock is where it is.

    python3 real_time.py [cart_pole.yaml]

Steps have a fixed size, and Newton's corrections a fixed number, so that each step costs the same.
"""
import sys

import trammel

model = trammel.load(sys.argv[1] if len(sys.argv) > 1 else "models/cart_pole.yaml")
model["initial"] = {"joints": {"hinge": {"angle": "5 deg"}}}
sim = model.simulation(end=1.0, step=5e-3, options={"iterations": 2})

# Gains of a controller by state feedback, as balanced_pole.py finds them.
cart, pole, forward, turn = 5.0, 90.0, 10.0, 20.0
angles: list[float] = []
clock = sim.clock()
while sim.t < sim.end - 1e-9:
    angles.append(sim["theta"])
    sim.inputs["push"] = (cart * sim["x"] + pole * sim["theta"] + forward * sim["body.cart.velocity.x"]
                          + turn * sim["body.pole.angular_velocity.y"])
    sim.step()
    clock.wait()

# On a machine with other work some steps end late. They are counted, and the next ones are not shortened for them.
print(clock)
print(f"the pole leaned by {max(abs(a) for a in angles):.3f} rad at most, by {abs(angles[-1]):.3f} rad after {sim.t:.2f} s")
assert abs(angles[-1]) < 0.5 * max(abs(a) for a in angles)
