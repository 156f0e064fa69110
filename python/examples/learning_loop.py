"""A controller that is learned: the cross-entropy method tries gains on many copies of a cart with a pole, side by side in
threads, keeps the best and looks near them.

    python3 learning_loop.py [cart_pole.yaml]

Steps leave the interpreter, so copies in other threads go on meanwhile. The policy is Python here, and only one thread at a
time is in it: the less it does between steps, the more threads help.
"""
import concurrent.futures
import os
import sys
import threading

import numpy

import trammel

model = trammel.load(sys.argv[1] if len(sys.argv) > 1 else "models/cart_pole.yaml")
model["initial"] = {"joints": {"hinge": {"angle": "10 deg"}}}
dt, end = 0.02, 1.6
mine = threading.local()


def copy():
    """The simulation of this thread, at its start: made once, and set back for each trial."""
    if not hasattr(mine, "sim"):
        mine.sim = model.simulation(tolerance=1e-5, end=end)
        mine.start = mine.sim.save()
    mine.sim.restore(mine.start)
    return mine.sim


def cost(gains):
    """The mean of theta^2 + x^2/4; a pole that falls costs what is left of the time."""
    sim, total, steps = copy(), 0.0, round(end / dt)
    for k in range(1, steps + 1):
        state = sim["x"], sim["theta"], sim["body.cart.velocity.x"], sim["body.pole.angular_velocity.y"]
        if abs(state[1]) > 0.8:
            return (total + (steps + 1 - k) * 1.0) / steps
        sim.inputs["push"] = float(numpy.clip(gains @ state, -60, 60))
        sim.advance(min(k * dt, end))
        total += state[1] ** 2 + state[0] ** 2 / 4
    return total / steps


random = numpy.random.default_rng(3)
mean, spread = numpy.zeros(4), numpy.array([20.0, 100.0, 20.0, 20.0])
with concurrent.futures.ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as threads:
    first = cost(mean)
    for generation in range(5):
        trials = mean + spread * random.standard_normal((20, 4))
        costs = numpy.array(list(threads.map(cost, trials)))
        best = trials[numpy.argsort(costs)[:5]]
        mean, spread = best.mean(axis=0), best.std(axis=0) + 1.0
        print(f"generation {generation}: best {costs.min():.4f}, of {(costs < 0.1).sum()} trials the pole stands")
learned = cost(mean)
print(f"gains {numpy.round(mean, 1)}: cost {learned:.4f}, without a controller {first:.4f}")
assert learned < 0.05 * first
