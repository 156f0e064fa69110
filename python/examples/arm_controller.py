"""A robot arm follows its path: inverse dynamics gives the torques of the arm as it was planned, and a controller that sees
the joints every 2 ms corrects what a heavier payload makes of them.

    python3 arm_controller.py [robot_arm.yaml]
"""
import sys

import numpy

import trammel

file = sys.argv[1] if len(sys.argv) > 1 else "models/robot_arm.yaml"
axes, period, dt = range(1, 7), 2.0, 2e-3
far = numpy.array([1.2, 0.5, -0.6, 0.8, 0.9, 1.5])
k = numpy.array([4000, 6000, 3000, 400, 400, 150])  # N m/rad, a tenth of those of the model
c = numpy.array([300, 450, 160, 15, 15, 4])  # N m s/rad


def arm():
    """The arm without the motors of the file."""
    model = trammel.load(file)
    del model["repeat"]
    return model


# As planned: motions turn the joints, and inverse dynamics says what they need.
planned = arm()
for i in axes:
    planned.motion.rotation(f"drive_{i}", joint=f"axis_{i}", angle=f"far({i})*(1 - cos(2*pi*time/period))/2")
drives = planned.inverse(end=period, output_step=dt)
torques = numpy.array([drives[name] for name in drives]).T
print("largest torques", numpy.round(abs(torques).max(axis=0), 1), "N m, found by", drives.by)

# As it is: torques come from outside, and the payload weighs 8 kg in the place of 5.
real = arm()
for i in axes:
    real.input(f"tau_{i}", unit="N m")
    real.force.torque(f"motor_{i}", joint=f"axis_{i}", tz=f"tau_{i}")
    real.output(f"angle_{i}", expression=f"angle(axis_{i})", unit="rad")
    real.output(f"rate_{i}", expression=f"rate(axis_{i})", unit="rad/s")
real = real.with_parameters(payload=8)


def largest_error(feedforward):
    sim = real.simulation(end=period, step=dt / 2)
    largest = 0.0
    for step in range(round(period / dt)):
        phase = 2 * numpy.pi * step * dt / period
        error = far * (1 - numpy.cos(phase)) / 2 - [sim[f"angle_{i}"] for i in axes]
        slip = far * numpy.pi / period * numpy.sin(phase) - [sim[f"rate_{i}"] for i in axes]
        torque = feedforward * torques[step] + k * error + c * slip
        sim.inputs.set({f"tau_{i}": torque[i - 1] for i in axes})
        sim.advance((step + 1) * dt)
        largest = max(largest, abs(error).max())
    return largest


alone, with_plan = largest_error(0), largest_error(1)
print(f"largest error {alone:.4f} rad with the controller alone, {with_plan:.4f} rad with the planned torques added")
assert with_plan < 0.5 * alone
