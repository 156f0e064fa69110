"""The five-minute start: load a model, run it, look at it, change it.

    python3 five_minutes.py [picture.png]
"""
import sys

import matplotlib

matplotlib.use("Agg")
import trammel

# A model of one's own, in the words of the file format.
m = trammel.Model("A bar on a hinge with a motor", gravity=[0, 0, -9.81], parameters={"L": 1, "m": 2})
m.body("bar", mass="m", inertia=[0, "m*L^2/12", "m*L^2/12"], center_of_mass=["L/2", 0, 0])
m.joint.revolute("hinge", between=["ground", "bar"], at=[0, 0, 0], axis=[0, 1, 0])
m.force.torque("motor", joint="hinge", tz="4*sin(3*time) - 0.5*rate(hinge)")

# Run it. Columns are numpy arrays, found by name.
result = m.run(end=5, tolerance=1e-6, output_step=0.01)
angle, force = result["joint.hinge.angle"], result["joint.hinge.force"]
print(f"{len(result.t)} outputs, {result.summary['steps']} steps")
print(f"largest angle {angle.max():.3f} {result.unit('joint.hinge.angle')}, largest force {abs(force).max():.1f} N")

# Another method, another parameter.
other = m.with_parameters(L=0.5).run(end=5, method="radau-iia-3", tolerance=1e-8, output_step=0.01)
print(f"with half the length {other['joint.hinge.angle'].max():.3f} rad")

# How it swings about its rest, and the file of the same model.
mode = m.modes().damped[0]
print(f"about its rest it swings with {mode.frequency:.3f} Hz, damping ratio {mode.damping:.3f}")
print(m.to_yaml())

panels = result.plot("joint.hinge.angle", "joint.hinge.force.?")
panels[0].figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "five_minutes.png")

# Mistakes say what is wrong, where, and what to do.
try:
    m.run(method="radau-iia")
except trammel.Error as error:
    print(error)
