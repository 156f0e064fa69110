"""What the analyses of a model give."""
from __future__ import annotations

import csv
import dataclasses
import os
from typing import Any, Dict, Iterator, List, Tuple

import numpy

from . import _core
from .errors import Error, refuse
from .result import PathLike, Result


class StaticResult(Result):
    """The equilibrium: a result of one row. ``report`` says how it was found and whether it is stable."""

    def __init__(self, core: _core.Result, report: Dict[str, Any]) -> None:
        super().__init__(core)
        self.report = report

    @property
    def stability(self) -> str:
        """stable, neutral, unstable or unknown."""
        return self.report["stability"]


class KinematicResult(Result):
    """The motion of a driven mechanism. ``report`` names singular positions."""

    def __init__(self, core: _core.Result, report: Dict[str, Any]) -> None:
        super().__init__(core)
        self.report = report


class QuasiStaticResult(Result):
    """The equilibrium over time. ``report`` names jumps, where one was lost, and says whether the last one is stable."""

    def __init__(self, core: _core.Result, report: Dict[str, Any]) -> None:
        super().__init__(core)
        self.report = report


class Drives:
    """Forces and torques of the motions over time: ``drives["motor"]``."""

    def __init__(self, found: Dict[str, Any]) -> None:
        self.t: numpy.ndarray = found["t"]
        self.by: str = found["by"]  #: kinematics, or simulation if the motions leave freedoms
        self.forward: str = found["forward"]  #: lines of a model in which forces stand in the place of the motions
        self._csv: str = found["csv"]
        self.units: Dict[str, str] = {column: unit for column, _, _, unit, _ in found["drives"]}
        self.components: Dict[str, Tuple[str, str]] = {c: (motion, part) for c, motion, part, _, _ in found["drives"]}
        self._values: Dict[str, numpy.ndarray] = {column: values for column, _, _, _, values in found["drives"]}

    @property
    def names(self) -> List[str]:
        return list(self._values)

    def __getitem__(self, name: str) -> numpy.ndarray:
        if name not in self._values:
            raise refuse("unknown-signal", f"there is no drive '{name}'", "drives: " + ", ".join(self._values))
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def save(self, path: PathLike) -> None:
        """Writes the table that ``forward`` names. A file that is there already is left alone."""
        try:
            with open(path, "x", encoding="utf-8") as file:
                file.write(self._csv)
        except FileExistsError:
            raise refuse("file-exists", f"'{os.fspath(path)}' exists", "remove it first", 4) from None


@dataclasses.dataclass
class LinearSystem:
    """x' = A x + B u, y = C x + D u; names and units of states, inputs and outputs as pairs."""

    A: numpy.ndarray
    B: numpy.ndarray
    C: numpy.ndarray
    D: numpy.ndarray
    x_dot: numpy.ndarray  #: of the state itself: not zero away from an equilibrium
    y: numpy.ndarray  #: outputs at the state
    states: List[Tuple[str, str]]
    inputs: List[Tuple[str, str]]
    outputs: List[Tuple[str, str]]
    positions: int  #: how many of the states are displacements
    around: str
    t: float
    mass: numpy.ndarray  #: reduced to the independent velocities
    smallest_pivot: float
    speed: float
    acceleration: float

    def to_scipy(self) -> Any:
        """A scipy.signal.StateSpace; it needs at least one input."""
        from scipy import signal

        if self.B.shape[1] == 0:
            raise refuse("bad-usage", "the model has no inputs, and scipy.signal takes no system without", "add `inputs:`")
        return signal.StateSpace(self.A, self.B, self.C, self.D)


@dataclasses.dataclass
class Mode:
    """``shape`` has a row for each body: displacement of its origin and rotation, world axes; the largest is 1."""

    eigenvalue: complex  #: rad/s
    frequency: float  #: |eigenvalue| / 2 pi, Hz
    damping: float
    oscillates: bool
    rigid: bool
    stable: bool
    bodies: List[str]  #: that move most
    shape: numpy.ndarray


@dataclasses.dataclass
class Modes:
    """``undamped`` and ``damped`` modes by frequency; one of each conjugate pair."""

    undamped: List[Mode]
    damped: List[Mode]
    bodies: List[str]  #: rows of the shapes
    around: str
    freedoms: int
    rigid: int
    notes: List[str]

    @property
    def frequencies(self) -> numpy.ndarray:
        """Hz; of the undamped modes, or of the damped ones where there are no others."""
        return numpy.array([mode.frequency for mode in self.undamped or self.damped])


def mode_list(found: List[Dict[str, Any]]) -> List[Mode]:
    return [Mode(**entry) for entry in found]


class Coupled(Result):
    """A coupled run: forces, torques and gaps of the gluing joints. ``participants`` has the result of each model."""

    def __init__(self, core: _core.Result, participants: Dict[str, Result], report: Dict[str, Any]) -> None:
        super().__init__(core)
        self.participants = participants
        self.report = report  #: steps, iterations, errors of the gluing


class Sweep:
    """The table of a sweep: ``sweep["L"]`` a parameter, ``sweep["swing.max"]`` a measure, a row for each run.

    Runs that failed have ``status`` "failed", their reason in ``messages``, and no numbers (nan).
    """

    def __init__(self, table: str, names: List[str], summary: _core.SweepSummary) -> None:
        with open(table, encoding="utf-8", newline="") as file:
            rows = list(csv.reader(line for line in file if not line.startswith("#")))
        head, rows = rows[0], sorted(rows[1:], key=lambda row: int(row[0]))
        self.parameters = names
        self.measures: List[str] = head[2 + len(names):-1]
        self.status: List[str] = [row[1] for row in rows]
        self.messages: List[str] = [row[-1] for row in rows]
        self.finished: int = summary.finished
        self.failed: int = summary.failed
        self.seconds: float = summary.seconds
        self._texts: Dict[str, List[str]] = {
            name: [row[i] for row in rows] for i, name in enumerate(head) if 2 <= i < len(head) - 1
        }

    def __len__(self) -> int:
        return len(self.status)

    def texts(self, name: str) -> List[str]:
        """A column as it was written; parameters may have units."""
        if name not in self._texts:
            raise refuse("unknown-signal", f"the sweep has no column '{name}'", "columns: " + ", ".join(self._texts))
        return self._texts[name]

    def __getitem__(self, name: str) -> numpy.ndarray:
        try:
            return numpy.array([float(text) if text else numpy.nan for text in self.texts(name)])
        except ValueError:
            raise refuse("bad-usage", f"column '{name}' has values with units", "texts() gives them as they are") from None

    def to_dataframe(self) -> Any:
        """A pandas.DataFrame with a row for each run."""
        import pandas

        columns: Dict[str, Any] = {"status": self.status}
        for name, texts in self._texts.items():
            try:
                columns[name] = self[name]
            except Error:  # values with units, or expressions
                columns[name] = texts
        return pandas.DataFrame(columns)
