"""Differential equations of one's own with every method of the catalogue, in the shape of scipy.integrate.solve_ivp."""
from __future__ import annotations

import bisect
from typing import Any, Callable, List, Mapping, Optional, Sequence, Tuple, Union

import numpy

from . import _core
from .errors import Error, from_call, refuse

Vector = Union[Sequence[float], numpy.ndarray]
_nodes = 0.5 - 0.5 * numpy.cos(numpy.pi * numpy.arange(9) / 8)  # Chebyshev's, of [0, 1]
_weights = numpy.array([0.5, -1, 1, -1, 1, -1, 1, -1, 0.5])


class DenseOutput:
    """The solution between its ends, ``sol(t)``: in each step the polynomial of degree 8 through the method's own dense
    output. Nothing is lost by it where that is a polynomial of degree 8 or less, as of all methods but adams at its highest
    orders and CVODE, whose steps may be several polynomials; of those it is an approximation, and ``t_eval`` has the
    method's own values.
    """

    def __init__(self, start: float, direction: float) -> None:
        self._ends: List[float] = [start]
        self._values: List[numpy.ndarray] = []
        self._direction = direction

    def _add(self, t: float, values: numpy.ndarray) -> None:
        self._ends.append(t)
        self._values.append(values)

    @property
    def t_min(self) -> float:
        return min(self._ends[0], self._ends[-1])

    @property
    def t_max(self) -> float:
        return max(self._ends[0], self._ends[-1])

    def __call__(self, t: Union[float, Vector]) -> numpy.ndarray:
        times = numpy.atleast_1d(numpy.asarray(t, dtype=float))
        if len(self._values) == 0 or (times < self.t_min).any() or (times > self.t_max).any():
            raise refuse("bad-usage", f"the solution is known from {self.t_min:.9g} to {self.t_max:.9g}", "")
        keys = [self._direction * end for end in self._ends]
        columns = []
        for time in times:
            step = min(max(bisect.bisect_right(keys, self._direction * time) - 1, 0), len(self._values) - 1)
            s = (time - self._ends[step]) / (self._ends[step + 1] - self._ends[step])
            apart = s - _nodes
            hit = numpy.flatnonzero(apart == 0)
            if len(hit):
                columns.append(self._values[step][hit[0]])
            else:
                share = _weights / apart
                columns.append(share @ self._values[step] / share.sum())
        values = numpy.array(columns).T
        return values[:, 0] if numpy.ndim(t) == 0 else values


class OdeResult:
    """``t`` and ``y`` (a column for each time), ``success``, ``message``, counts, and what else solve_ivp gives."""

    t: numpy.ndarray
    y: numpy.ndarray
    sol: Optional[DenseOutput]
    t_events: Optional[List[numpy.ndarray]]
    y_events: Optional[List[numpy.ndarray]]
    nfev: int  #: calls of f, those for differences included
    njev: int  #: calls of jac
    nlu: int
    status: int  #: 0: the end, 1: a terminal event, -1: failed
    message: str
    success: bool
    steps: int
    rejected: int
    stiff_steps: int  #: that stability limited
    method: str

    def __init__(self, **entries: Any) -> None:
        self.__dict__.update(entries)

    def __repr__(self) -> str:
        return "\n".join(f"{name:>12}: {value!r}" for name, value in self.__dict__.items())


def _root(g: Callable[[float], float], a: float, b: float, g_a: float) -> float:
    """Where g changes its sign between a and b, to the last digit."""
    for _ in range(200):
        middle = 0.5 * (a + b)
        if middle == a or middle == b:
            break
        value = g(middle)
        if (value < 0) == (g_a < 0) and value != 0:
            a, g_a = middle, value
        else:
            b = middle
    return b


class _Watch:
    """What is done after each accepted step: times and values, dense output, events."""

    def __init__(self, t0: float, y0: numpy.ndarray, every: bool, dense: Optional[DenseOutput],
                 events: Sequence[Callable[[float, numpy.ndarray], float]]) -> None:
        self.t, self.y = [t0], [y0]
        self.every, self.dense, self.events = every, dense, events
        self.last_t = t0
        self.values = [float(event(t0, y0)) for event in events]
        self.t_events: List[List[float]] = [[] for _ in events]
        self.y_events: List[List[numpy.ndarray]] = [[] for _ in events]
        self.stopped: Optional[Tuple[float, numpy.ndarray]] = None

    def __call__(self, step: _core.LastStep) -> bool:
        t, y = step.t, numpy.array(step.y)
        found: List[Tuple[float, int]] = []
        for i, event in enumerate(self.events):
            value = float(event(t, y))
            before, self.values[i] = self.values[i], value
            rises, falls = before < 0 <= value, before > 0 >= value
            direction = getattr(event, "direction", 0)
            if (rises and direction >= 0) or (falls and direction <= 0):
                at = _root(lambda s, g=event: float(g(s, step.at(s) if s != t else y)), self.last_t, t, before)  # type: ignore[misc]
                found.append((at, i))
        found.sort(reverse=t < self.last_t)
        for at, i in found:
            there = y if at == t else numpy.array(step.at(at))
            self.t_events[i].append(at)
            self.y_events[i].append(there)
            after = getattr(self.events[i], "terminal", False)  # a number n: at the n-th one, as in scipy
            if after and len(self.t_events[i]) >= int(after):
                self.stopped = (at, there)
                t, y = at, there
                break
        if self.dense is not None:
            inside = self.last_t + (t - self.last_t) * _nodes
            self.dense._add(t, numpy.array([y if s == t else step.at(s) for s in inside]))
        if self.every:
            self.t.append(t)
            self.y.append(y)
        self.last_t = t
        return self.stopped is None


def solve(
    f: Callable[..., Any],
    t_span: Sequence[float],
    y0: Vector,
    method: str = "dormand-prince-54",
    *,
    t_eval: Optional[Vector] = None,
    dense_output: bool = False,
    events: Union[None, Callable[..., float], Sequence[Callable[..., float]]] = None,
    jac: Optional[Callable[..., Any]] = None,
    rtol: float = 1e-6,
    atol: Union[float, Vector] = 1e-6,
    step: Optional[float] = None,
    first_step: Optional[float] = None,
    max_step: float = numpy.inf,
    kind: str = "first",
    options: Optional[Mapping[str, Any]] = None,
    args: Sequence[Any] = (),
    most_attempts: int = 1000000,
) -> OdeResult:
    """Integrates equations given as a function.

    ``kind`` "first": y' = f(t, y), and ``jac(t, y)`` gives df/dy. "second": y'' = f(t, y, v) with y0 = (y, v); ``jac``
    gives the pair (df/dy, df/dv). "implicit": f(t, y, y') = 0, and ``jac(t, y, y', c)`` gives df/dy + c df/dy'. Without
    ``jac`` derivatives are differences, and counted in ``nfev``.

    ``method`` is any key of ``trammel.ode_methods(kind)``; ``options`` are those of the method. An error of
    ``atol + rtol |y|`` in a step counts 1, in the root mean square over the components. ``step`` fixes the step size.
    ``t_eval``, ``dense_output``, ``events`` (with attributes ``terminal`` and ``direction``), ``first_step``,
    ``max_step`` and ``args`` are as in scipy.integrate.solve_ivp, and so is what is returned.

    The function may return values that are not finite: the step is then tried again with a smaller size. An exception of
    the function ends the run and is passed on.
    """
    if kind not in ("first", "second", "implicit"):
        raise refuse("bad-usage", f"there is no kind '{kind}' of equations", "first, second or implicit")
    start = numpy.array(y0, dtype=float)
    if start.ndim != 1 or len(start) == 0 or (kind == "second" and len(start) % 2):
        raise refuse("bad-usage", f"y0 has the shape {start.shape}", "a vector; of second order positions, then velocities")
    t0, end = (float(t) for t in t_span)
    floor = numpy.broadcast_to(numpy.asarray(atol, dtype=float), start.shape) / rtol if rtol > 0 else None
    if floor is None or not (floor > 0).all():
        raise refuse("not-positive", "rtol and atol must be positive", "errors below round-off cannot be asked for")
    for name, size in (("step", step), ("first_step", first_step), ("max_step", max_step)):
        if size is not None and not size > 0:
            raise refuse("not-positive", f"{name} must be a positive number", "leave it out for one that is chosen")
    watched: List[Callable[..., float]] = [events] if callable(events) else list(events or [])
    if args:
        function, jacobian = f, jac
        f = lambda *values: function(*values, *args)  # noqa: E731
        if jacobian is not None:
            given: Callable[..., Any] = jacobian
            jac = lambda *values: given(*values, *args)  # noqa: E731
        wrapped = []
        for event in watched:
            bound = lambda t, y, event=event: event(t, y, *args)  # noqa: E731
            bound.terminal = getattr(event, "terminal", False)  # type: ignore[attr-defined]
            bound.direction = getattr(event, "direction", 0)  # type: ignore[attr-defined]
            wrapped.append(bound)
        watched = wrapped
    times = None if t_eval is None else numpy.asarray(t_eval, dtype=float)
    inner = [] if times is None else [float(t) for t in times]
    dense = DenseOutput(t0, 1.0 if end >= t0 else -1.0) if dense_output else None
    watch = _Watch(t0, start, times is None, dense, watched)
    needed = times is None or dense is not None or watched
    try:
        r = _core.solve(kind, f, t0, end, start, method, jac, rtol, numpy.ascontiguousarray(floor), step, first_step or 0.0,
                        0.0 if numpy.isinf(max_step) else max_step, inner, dict(options or {}), most_attempts,
                        watch if needed else None)
    except Error as error:
        raise from_call(error) from None
    if times is None:
        t, y = numpy.array(watch.t), numpy.array(watch.y).T
    else:
        t, y = numpy.array(r["times"]), r["outputs"]
        if watch.stopped is not None:
            kept = t <= watch.stopped[0] if end >= t0 else t >= watch.stopped[0]
            t, y = t[kept], y[:, kept]
    ended = 1 if watch.stopped is not None else 0 if r["finished"] else -1
    message = r["message"] or ("a terminal event" if ended == 1 else r["status"])
    return OdeResult(
        t=t, y=y, sol=dense, t_events=[numpy.array(e) for e in watch.t_events] if watched else None,
        y_events=[numpy.array(e) for e in watch.y_events] if watched else None, nfev=r["nfev"], njev=r["njev"],
        nlu=r["nlu"], status=ended, message=message, success=ended >= 0, steps=r["steps"], rejected=r["rejected"],
        stiff_steps=r["stiff_steps"], method=method,
    )


def ode_methods(kind: str = "first") -> List[str]:
    """Keys of the methods that integrate such equations: "first", "second" or "implicit"."""
    if kind not in ("first", "second", "implicit"):
        raise refuse("bad-usage", f"there is no kind '{kind}' of equations", "first, second or implicit")
    # What integrates y' = f also integrates y'' = f, seen as first order.
    return [m["key"] for m in _core.methods()
            if m["implicit" if kind == "implicit" else "first_order"] or (kind == "second" and m["second_order"])]
