"""Simulations that are stepped by hand, and the equations of motion themselves."""
from __future__ import annotations

from typing import Any, Dict, Iterator, List, Mapping, MutableMapping, Optional, Sequence, Tuple, Union

import numpy

from . import _core
from .clock import Clock
from .errors import Error, Interrupted, Problem, from_call, refuse
from .result import Result

Vector = Union[Sequence[float], numpy.ndarray]


class Inputs(MutableMapping):
    """Values that come from outside, by name: ``sim.inputs["torque"] = 2.5``. A new value restarts the method."""

    def __init__(self, simulation: "Simulation", names: List[str]) -> None:
        self._simulation, self._names = simulation, names

    def _index(self, name: str) -> int:
        if name not in self._names:
            raise refuse("unknown-name", f"the model has no input '{name}'", "inputs: " + ", ".join(self._names))
        return self._names.index(name)

    def __getitem__(self, name: str) -> float:
        return float(self._simulation._open.u[self._index(name)])

    def __setitem__(self, name: str, value: float) -> None:
        self.set({name: value})

    def set(self, values: Mapping[str, float]) -> None:
        """Several at once, with one restart."""
        core = self._simulation._open
        u = numpy.concatenate([core.u, core.x])
        for name, value in values.items():
            u[self._index(name)] = value
        if not numpy.isfinite(u).all():
            raise refuse("not-finite", "an input must be a finite number", "")
        if not numpy.array_equal(u[: len(self._names)], core.u):
            self._simulation._call(core.set_state, None, None, u, False)

    def __delitem__(self, name: str) -> None:
        raise refuse("bad-usage", "inputs cannot be removed", "set them to 0")

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class Simulation:
    """A model on its way. ``q``, ``v``, ``a``, ``lam``, ``x`` are read-only views: they follow the steps, and what they
    last showed stays good when the simulation is gone. One thread at a time may step it; many simulations may run in as
    many threads.
    """

    def __init__(self, core: _core.Stepper, inputs: List[str], states: List[str]) -> None:
        self._core: Optional[_core.Stepper] = core
        self._inputs = Inputs(self, inputs)
        self.states = states  #: names of the entries of x
        self._equations: Optional[Equations] = None

    @property
    def _open(self) -> _core.Stepper:
        if self._core is None:
            raise refuse("bad-usage", "the simulation was closed", "make another one with model.simulation()")
        return self._core

    @staticmethod
    def _call(function: Any, *arguments: Any) -> Any:
        try:
            return function(*arguments)
        except Error as error:
            raise from_call(error) from None

    def close(self) -> None:
        """Gives its memory back; views that were taken stay good."""
        self._core = self._equations = None

    def __enter__(self) -> "Simulation":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---- the present state -----------------------------------------------------------------------------------------

    @property
    def t(self) -> float:
        """Time, s."""
        return self._open.t

    @property
    def end(self) -> float:
        """How far it can go, s."""
        return self._open.end

    @property
    def q(self) -> numpy.ndarray:
        """Coordinates: of a spatial body position of the centre of mass and unit quaternion (w, x, y, z)."""
        return self._open.q

    @property
    def v(self) -> numpy.ndarray:
        """Velocities: of a spatial body that of the centre of mass, and angular velocity; see ``equations.velocity_names``."""
        return self._open.v

    @property
    def a(self) -> numpy.ndarray:
        """Accelerations."""
        return self._open.a

    @property
    def lam(self) -> numpy.ndarray:
        """Multipliers of the constraints; see ``equations.row_names``."""
        return self._open.lam

    @property
    def x(self) -> numpy.ndarray:
        """States of the model's own."""
        return self._open.x

    @property
    def inputs(self) -> Inputs:
        """Values that come from outside, by name."""
        return self._inputs

    @property
    def columns(self) -> Dict[str, Tuple[int, int]]:
        """Of each body, where its coordinates begin in q and its velocities in v."""
        return self._open.coordinates

    def __getitem__(self, name: str) -> float:
        """A signal of the present state, by the name it has in results: ``sim["joint.hinge.angle"]``."""
        return self._call(self._open.value, name)

    @property
    def steps(self) -> int:
        """Accepted steps since the start."""
        return self._open.steps

    @property
    def result(self) -> Result:
        """What was recorded so far (``record=True``)."""
        result = Result(self._open.recorded())
        if not result.tables:
            raise refuse("bad-usage", "nothing was recorded", "model.simulation(record=True), then a step")
        return result

    # ---- going on --------------------------------------------------------------------------------------------------

    def step(self, h: Optional[float] = None) -> float:
        """One step of the method, of the size that it chooses; returns its size.

        With ``h`` exactly that far: one step of this size if the step is fixed (``model.simulation(step=...)``), as many
        as the tolerance asks for if it is controlled.
        """
        core = self._open
        before = core.t
        if h is None:
            self._advance(None, 1, None)
        else:
            if not h > 0:
                raise refuse("not-positive", "a step must be a positive number of seconds", "")
            self._check(before + h)
            self._advance(before + h, 0, h)
        return core.t - before

    def advance(self, t: float) -> None:
        """Goes on to time ``t``, the last step cut to end there."""
        if not t > self._open.t:
            raise refuse("bad-usage", f"the simulation is at t = {self._open.t:.9g} s already", "restore() goes back")
        self._check(t)
        self._advance(t, 0, None)

    def _check(self, t: float) -> None:
        end = self._open.end
        if t > end * (1 + 1e-12):
            raise refuse("bad-usage", f"t = {t:.9g} s lies behind the end of the simulation, {end:.9g} s",
                         "model.simulation(end=...) sets it")

    def clock(self, speed: float = 1.0) -> Clock:
        """A clock that starts now: its ``wait()`` holds the simulation back until the clock on the wall is where it is."""
        return Clock(self, speed)

    def _advance(self, until: Optional[float], most_steps: int, step: Optional[float]) -> None:
        core = self._open
        if core.t >= core.end:
            raise refuse("bad-usage", f"the simulation has reached its end, {core.end:.9g} s", "model.simulation(end=...) sets it")
        status, id, text, hint = self._call(core.advance, until, most_steps, step)
        if status == "failed":
            raise Error([Problem("error", id, text.rstrip(), hint)], 1)
        if status == "interrupted":
            raise Interrupted(f"interrupted at t = {core.t:.6g} s")

    def set_state(self, q: Optional[Vector] = None, v: Optional[Vector] = None, *, x: Optional[Vector] = None,
                  consistent: bool = True) -> List[Dict[str, Any]]:
        """Goes on from other positions, velocities or states of the model's own. ``consistent`` brings positions and
        velocities onto the constraints by the least change; the list says what each stage moved and by how much.

        Numbers that are not finite, quaternions without length 1, and positions from which the constraints cannot be
        reached raise ``Error``; the simulation then stays where it was.
        """
        core = self._open
        u = None
        if x is not None:
            states = numpy.asarray(x, dtype=float)
            if states.shape != core.x.shape:
                raise refuse("bad-usage", f"x has the shape {states.shape}",
                             f"it must be a vector of {len(core.x)}: {', '.join(self.states) or 'the model has no states'}")
            u = numpy.concatenate([core.u, states])
        return self._call(core.set_state, q, v, u, consistent)

    def set_body(self, name: str, *, position: Optional[Vector] = None, orientation: Union[None, float, Vector] = None,
                 velocity: Optional[Vector] = None, angular_velocity: Union[None, float, Vector] = None,
                 consistent: bool = True) -> List[Dict[str, Any]]:
        """Goes on with a body somewhere else, or faster: its origin and axes in the world, as in model files, in SI.

        ``orientation`` is a quaternion (w, x, y, z), a rotation matrix with the axes of the body as columns, or an angle
        about z; of a planar body ``position`` and ``velocity`` may have two entries, and ``angular_velocity`` one. What is
        left out stays. ``consistent`` then brings all bodies onto the constraints by the least change, as ``set_state``
        does: to put a closed mechanism somewhere, set all its bodies, the last one with ``consistent``.
        """
        core = self._open
        return self._call(core.set_body, name, _in_space(position, "position"), _quaternion(orientation),
                          _in_space(velocity, "velocity"), _about(angular_velocity), consistent)

    def save(self) -> bytes:
        """The whole state: a simulation of the same model and settings that restores it goes on with the same bits."""
        return self._call(self._open.save)

    def restore(self, state: bytes) -> None:
        """Goes back, or on, to a state that was saved."""
        self._call(self._open.restore, state)

    # ---- equations -------------------------------------------------------------------------------------------------

    @property
    def equations(self) -> "Equations":
        """The equations of motion, at any state."""
        if self._equations is None:
            self._equations = Equations(self._open.equations())
        return self._equations

    def residual(self) -> numpy.ndarray:
        """(M a + G^T lam - Q, g) at the present state."""
        return self.equations.residual(self.t, self.q, self.v, self.a, self.lam)

    def mass_matrix(self) -> Any:
        """M at the present state, scipy.sparse."""
        return self.equations.mass_matrix(self.q)

    def G(self) -> Any:
        """The rows of the constraints at the present state, scipy.sparse."""
        return self.equations.G(self.t, self.q, self.v)

    def newton_matrix(self, h: float, *, beta: float = 0.25, gamma: float = 0.5) -> Any:
        """[M + beta h^2 K + gamma h D, G^T; G, 0] at the present state, scipy.sparse: that of a step of Newmark's family."""
        return self.equations.newton_matrix(self.t, self.q, self.v, self.a, self.lam, by_q=beta * h * h, by_v=gamma * h)


def _in_space(given: Optional[Vector], name: str) -> Optional[numpy.ndarray]:
    """Three numbers, or two in the plane of a body."""
    values = None if given is None else numpy.asarray(given, dtype=float)
    if values is not None and values.shape not in ((2,), (3,)):
        raise refuse("wrong-length", f"{name} has the shape {values.shape}", "it is a vector of three, in a plane of two")
    return values


def _about(given: Union[None, float, Vector]) -> Optional[numpy.ndarray]:
    """A vector; of a number, about z."""
    if given is None:
        return None
    values = numpy.asarray(given, dtype=float)
    values = numpy.array([0.0, 0.0, values]) if values.shape == () else values
    if values.shape != (3,):
        raise refuse("wrong-length", f"angular_velocity has the shape {values.shape}", "it is a vector of three, or a number about z")
    return values


def _quaternion(given: Union[None, float, Vector]) -> Optional[numpy.ndarray]:
    if given is None:
        return None
    values = numpy.asarray(given, dtype=float)
    if values.shape == ():
        return numpy.array([numpy.cos(values / 2), 0.0, 0.0, numpy.sin(values / 2)])
    if values.shape == (4,):
        return values
    if values.shape != (3, 3) or not (abs(values.T @ values - numpy.eye(3)) < 1e-6).all() or numpy.linalg.det(values) < 0:
        raise refuse("wrong-orientation", "orientation is no rotation", "a quaternion (w, x, y, z), a 3 x 3 rotation matrix, or an angle about z")
    # The largest of the four squares, by rows of q q^T.
    R = values
    rows = numpy.array([
        [1 + R[0, 0] + R[1, 1] + R[2, 2], R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]],
        [R[2, 1] - R[1, 2], 1 + R[0, 0] - R[1, 1] - R[2, 2], R[0, 1] + R[1, 0], R[0, 2] + R[2, 0]],
        [R[0, 2] - R[2, 0], R[0, 1] + R[1, 0], 1 - R[0, 0] + R[1, 1] - R[2, 2], R[1, 2] + R[2, 1]],
        [R[1, 0] - R[0, 1], R[0, 2] + R[2, 0], R[1, 2] + R[2, 1], 1 - R[0, 0] - R[1, 1] + R[2, 2]],
    ])
    row = rows[numpy.argmax(numpy.diag(rows))]
    return row / numpy.linalg.norm(row)


def _sparse(parts: Tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray, Tuple[int, int]]) -> Any:
    from scipy import sparse

    values, rows, starts, shape = parts
    return sparse.csc_matrix((values, rows, starts), shape=shape)


class Equations:
    """The equations of motion at states of one's own: everything an integrator needs.

        M(q) a + G(t, q)^T lam = Q(t, q, v),   g(t, q) = 0,   G a = gamma

    Small displacements are added with ``retract``, which knows that rotations are no vectors. ``u`` holds the inputs, and
    behind them the states of the model; left out, they are those of the simulation. One thread at a time.
    """

    def __init__(self, core: _core.Equations) -> None:
        self._core = core

    @property
    def sizes(self) -> Tuple[int, int, int]:
        """How many coordinates, velocities and rows of constraints there are."""
        return self._core.nq, self._core.nv, self._core.ng

    @property
    def scales(self) -> numpy.ndarray:
        """Of displacements, for norms: the length scale of the model, 1 rad."""
        return self._core.scales

    @property
    def velocity_names(self) -> List[str]:
        """Of the velocities: "body 'crank': rotation about y"."""
        return self._core.velocity_names

    @property
    def row_names(self) -> List[str]:
        """Of the rows of the constraints."""
        return self._core.row_names

    @staticmethod
    def _call(function: Any, *arguments: Any) -> Any:
        return Simulation._call(function, *arguments)

    def accelerations(self, t: float, q: Vector, v: Vector, u: Optional[Vector] = None) -> Tuple[numpy.ndarray, numpy.ndarray]:
        """(a, lam) that solve the equations of motion."""
        return self._call(self._core.accelerations, t, q, v, u)

    def project(self, t: float, q: Vector, v: Vector, u: Optional[Vector] = None) -> Tuple[numpy.ndarray, numpy.ndarray]:
        """(q, v) brought onto the constraints from nearby, by the least change."""
        return self._call(self._core.project, t, q, v, u)

    def forces(self, t: float, q: Vector, v: Vector, u: Optional[Vector] = None) -> numpy.ndarray:
        """Q: weights, forces, gyroscopic torques."""
        return self._call(self._core.forces, t, q, v, u)

    def constraints(self, t: float, q: Vector, v: Vector, u: Optional[Vector] = None) -> numpy.ndarray:
        """g; k in rows at velocity level."""
        return self._call(self._core.constraints, t, q, v, u)

    def velocity_constraints(self, t: float, q: Vector, v: Vector, u: Optional[Vector] = None) -> numpy.ndarray:
        """G v + g_t; k in rows at velocity level."""
        return self._call(self._core.velocity_constraints, t, q, v, u)

    def gamma(self, t: float, q: Vector, v: Vector, u: Optional[Vector] = None) -> numpy.ndarray:
        """Of the constraints at acceleration level, G a = gamma."""
        return self._call(self._core.gamma, t, q, v, u)

    def residual(self, t: float, q: Vector, v: Vector, a: Vector, lam: Vector, u: Optional[Vector] = None) -> numpy.ndarray:
        """(M a + G^T lam - Q, g)."""
        return self._call(self._core.residual, t, q, v, a, lam, u)

    def mass_matrix(self, q: Vector) -> Any:
        """M, scipy.sparse."""
        return _sparse(self._call(self._core.mass, q))

    def G(self, t: float, q: Vector, v: Vector, u: Optional[Vector] = None) -> Any:
        """The rows of the constraints, scipy.sparse."""
        return _sparse(self._call(self._core.jacobian, t, q, v, u))

    def derivatives(self, t: float, q: Vector, v: Vector, a: Vector, lam: Vector, u: Optional[Vector] = None) -> Tuple[Any, Any]:
        """(K, D): M a + G^T lam - Q by small displacements and by velocities, exact, scipy.sparse."""
        K, D = self._call(self._core.derivatives, t, q, v, a, lam, u)
        return _sparse(K), _sparse(D)

    def newton_matrix(self, t: float, q: Vector, v: Vector, a: Vector, lam: Vector, *, by_q: float, by_v: float,
                      u: Optional[Vector] = None) -> Any:
        """[M + by_q K + by_v D, G^T; G, 0], scipy.sparse."""
        return _sparse(self._call(self._core.newton_matrix, t, q, v, a, lam, by_q, by_v, u))

    def retract(self, q: Vector, delta: Vector) -> numpy.ndarray:
        """q moved by a small displacement: positions are added, rotations composed."""
        return self._call(self._core.retract, q, delta)

    def difference(self, first: Vector, second: Vector) -> numpy.ndarray:
        """The displacement that leads from the first position to the second."""
        return self._call(self._core.difference, first, second)

    def energy(self, t: float, q: Vector, v: Vector, u: Optional[Vector] = None) -> Tuple[float, float]:
        """(kinetic, potential), J."""
        return self._call(self._core.energy, t, q, v, u)
