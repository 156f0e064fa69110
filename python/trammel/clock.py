"""Steps by hand that keep time with the clock on the wall: a controller in the loop, hardware that waits for its numbers."""
from __future__ import annotations

import time
from typing import TYPE_CHECKING

from .errors import refuse

if TYPE_CHECKING:
    from .simulation import Simulation


class Clock:
    """Holds a simulation back until the clock is where it is.

    >>> clock = sim.clock()              # doctest: +SKIP
    >>> while sim.t < sim.end:           # doctest: +SKIP
    ...     sim.inputs["push"] = controller(sim["theta"])
    ...     sim.step(0.005)
    ...     clock.wait()

    What is late is not made good by waiting less: times are counted from the start. ``overruns`` counts the calls of ``wait``
    that came too late, ``latest`` says by how much at most, and ``longest`` is the longest time from one to the next without
    the waiting, all in seconds of the clock.
    """

    def __init__(self, simulation: "Simulation", speed: float = 1.0) -> None:
        if not speed > 0:
            raise refuse("not-positive", "the speed must be a positive number", "1: as fast as the clock")
        self._simulation, self._speed = simulation, speed
        self._first = simulation.t
        self._begun = self._computing = time.perf_counter()
        self.waits = self.overruns = 0
        self.latest = self.longest = 0.0

    def wait(self) -> float:
        """Until the clock is where the simulation is. Returns how late it was already, 0 if it was in time."""
        now = time.perf_counter()
        self.longest = max(self.longest, now - self._computing)
        ahead = self._begun + (self._simulation.t - self._first) / self._speed - now
        self.waits += 1
        if ahead > 0:
            time.sleep(ahead)
        else:
            self.overruns += 1
            self.latest = max(self.latest, -ahead)
        self._computing = time.perf_counter()
        return max(0.0, -ahead)

    def __repr__(self) -> str:
        return (f"<trammel.Clock: {self.waits} waits, {self.overruns} too late, by at most {1e3 * self.latest:.3g} ms; "
                f"longest computation {1e3 * self.longest:.3g} ms>")
