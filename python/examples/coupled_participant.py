"""A participant of a coupling that is written in Python: a free rod with equations of its own hangs on a pendulum that
is a model. The same double pendulum with two models gives the difference.

    python3 coupled_participant.py
"""
import json
import os
import sys
import tempfile

import numpy

import trammel


class Rod:
    """A planar rod of 3 kg and 1 m, held by its upper end: y = (x, y, angle, and their rates), by Runge and Kutta."""

    mass, inertia, arm = 3.0, 0.25, 0.5
    gravity = 9.80665

    def __init__(self):
        a, b = numpy.pi / 12, numpy.pi / 6
        self.now = numpy.array([numpy.sin(a) + 0.5 * numpy.sin(b), -numpy.cos(a) - 0.5 * numpy.cos(b), b, 0, 0, 0])

    def top(self, angle):
        return self.arm * numpy.array([-numpy.sin(angle), numpy.cos(angle)])

    def slope(self, y, wrench):
        r, force = self.top(y[2]), wrench[:2]
        torque = wrench[5] + r[0] * force[1] - r[1] * force[0]
        return numpy.array([*y[3:], force[0] / self.mass, force[1] / self.mass - self.gravity, torque / self.inertia])

    def frame(self, y):
        """Position, rotation by columns, velocity, angular velocity of the upper end."""
        r, c, s = self.top(y[2]), numpy.cos(y[2]), numpy.sin(y[2])
        return [y[0] + r[0], y[1] + r[1], 0, c, s, 0, -s, c, 0, 0, 0, 1, y[3] - y[5] * r[1], y[4] + y[5] * r[0], 0, 0, 0, y[5]]

    def advance(self, t, end, inputs, samples):
        """Inputs are values at the start, in the middle and at the end: the shape `quadratic`."""
        first, middle, last = numpy.reshape(inputs, (3, 6))

        def wrench(time):
            s = (time - t) / (end - t)
            return first * (1 - s) * (1 - 2 * s) + middle * 4 * s * (1 - s) + last * s * (2 * s - 1)

        y, frames, n = self.now, [], 10
        for begin, sample in zip([t, *samples], samples):
            h = (sample - begin) / n
            for i in range(n):
                at = begin + i * h
                k1 = self.slope(y, wrench(at))
                k2 = self.slope(y + h / 2 * k1, wrench(at + h / 2))
                k3 = self.slope(y + h / 2 * k2, wrench(at + h / 2))
                k4 = self.slope(y + h * k3, wrench(at + h))
                y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
            frames += self.frame(y)
        self.tried = y
        return frames

    def compliance(self):
        """Accelerations of the upper end by unit wrenches; out of its plane the rod does not move."""
        values = numpy.zeros((6, 6))
        r = self.top(self.now[2])
        across = numpy.array([-r[1], r[0]])
        values[:2, :2] = numpy.eye(2) / self.mass + numpy.outer(across, across) / self.inertia
        values[:2, 5] = values[5, :2] = across / self.inertia
        values[5, 5] = 1 / self.inertia
        return values


def serve():
    """The protocol of docs/guide/coupling.md: a line of JSON in, one out."""
    rod = Rod()
    for line in sys.stdin:
        asked = json.loads(line)
        if asked["do"] == "hello":
            assert asked["shape"] == "quadratic", asked
            answer = {"rolls_back": True, "has_compliance": True, "has_sensitivity": False}
        elif asked["do"] == "start":
            answer = {"frames": rod.frame(rod.now)}
        elif asked["do"] == "try":
            answer = {"ok": True, "frames": rod.advance(asked["t"], asked["end"], asked["inputs"], asked["samples"]),
                      "step_times": [asked["end"]]}
        elif asked["do"] == "accept":
            rod.now, answer = rod.tried, {}
        elif asked["do"] == "compliance":
            answer = {"rows": 6, "columns": 6, "values": rod.compliance().ravel(order="F").tolist()}
        elif asked["do"] == "save":
            answer = {"state": rod.now.tobytes().hex()}
        elif asked["do"] == "restore":
            rod.now, answer = numpy.frombuffer(bytes.fromhex(asked["state"])), {}
        else:
            answer = {}
        print(json.dumps(answer), flush=True)
        if asked["do"] == "close":
            return


def compare():
    models = os.path.abspath("models")
    ways = {"model": f"{{model: {models}/glue_rod.yaml}}",
            "program": "{command: " + json.dumps([sys.executable, os.path.abspath(__file__), "serve"]) + "}"}
    angles = {}
    for way, rod in ways.items():
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "pendulum.yaml")
            with open(file, "w") as out:
                out.write(f"trammel-coupling: 1\nparticipants:\n  first: {{model: {models}/glue_pendulum.yaml}}\n  second: {rod}\n"
                          "joints:\n  pin: {type: revolute, frames: [first.tip, second.top]}\n"
                          "coupling: {step: 0.01, end: 0.5, scheme: quadratic, solver: compliance}\n")
            found = trammel.couple(file)
            angles[way] = found.participants["first"]["phi1"]
            print(f"rod as {way}: {found.report['steps']} steps, {found.report['iterations']} iterations")
    difference = abs(angles["model"] - angles["program"]).max()
    print(f"largest difference of the angles {difference:.1e} rad")
    assert difference < 1e-5


if __name__ == "__main__":
    serve() if sys.argv[1:] == ["serve"] else compare()
