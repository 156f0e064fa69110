"""Results of runs and analyses: columns by name as numpy arrays, in memory or in a file."""
from __future__ import annotations

import json
import os
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy

from . import _core
from .errors import Error, Problem, from_call, problems_of, refuse

PathLike = Union[str, "os.PathLike[str]"]


class Signal(NamedTuple):
    """What a column is: its name, unit (SI), axes, a line of text, and a caveat (empty: none)."""

    name: str
    unit: str
    frame: str
    text: str
    flag: str

    @property
    def label(self) -> str:
        return f"{self.name} [{self.unit}]" if self.unit else self.name


class Result:
    """Tables of numbers: ``output`` at output times, ``steps`` at accepted steps, ``events`` if there are any.

    ``result["body.slider.position.x"]`` is an array that looks into the memory of the run; nothing is copied, and the
    array stays good when the result is gone. ``result["joint.pin.force"]`` takes a group, ``result["body.*.position.z"]``
    a pattern: both give an array with a column for each signal (a copy). ``steps/time`` names the time of another table.
    """

    def __init__(self, core: _core.Result, path: Optional[str] = None, seen: Optional[Tuple[int, ...]] = None) -> None:
        self._core = core
        self._path = path  # of a file that is read column by column
        self._seen = seen  # which file it was when its head was read
        self._rows: Dict[int, int] = {}  # of each table, when its first column was read
        self._read: Dict[Tuple[int, int], numpy.ndarray] = {}
        self.warnings: List[Problem] = problems_of(core.notes)
        self.notes: List[str] = []
        self.start: List[Dict[str, Any]] = []

    # ---- names -----------------------------------------------------------------------------------------------------

    @property
    def tables(self) -> List[str]:
        """Names of the tables."""
        return self._core.tables()

    def names(self, table: Union[str, int] = 0) -> List[str]:
        """Names of the columns of a table."""
        if isinstance(table, str):
            if table not in self.tables:
                raise refuse("unknown-signal", f"the result has no table '{table}'", "tables: " + ", ".join(self.tables))
            table = self.tables.index(table)
        return self._core.names(table)

    def signal(self, name: str) -> Signal:
        """Unit, axes and text of a column."""
        return Signal(*self._core.signal(*self._find(name)))

    def signals(self, pattern: str) -> List[Signal]:
        """Of all that a name, a group or a pattern means."""
        return [Signal(*self._core.signal(*ref)) for ref in self._match(pattern)]

    def unit(self, name: str) -> str:
        """The unit of a column, empty for a pure number."""
        return self.signal(name).unit

    def _match(self, pattern: str) -> List[Tuple[int, int]]:
        try:
            return self._core.match(pattern)
        except Error as error:
            raise from_call(error) from None

    def _find(self, name: str) -> Tuple[int, int]:
        ref = self._core.find(name)
        if ref is None:
            found = self._match(name)
            if len(found) > 1:
                raise refuse("unknown-signal", f"'{name}' names {len(found)} signals", "name one of them")
            ref = found[0]
        return ref

    def __contains__(self, name: str) -> bool:
        return self._core.find(name) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def __len__(self) -> int:
        return len(self.names())

    # ---- values ----------------------------------------------------------------------------------------------------

    @property
    def t(self) -> numpy.ndarray:
        """The output times, s."""
        return self._column((0, 0))

    def __getitem__(self, name: str) -> numpy.ndarray:
        if not isinstance(name, str):
            raise refuse("unknown-signal", f"a signal is asked for by its name, not by {name!r}", "for example result['time']")
        ref = self._core.find(name)
        if ref is not None:
            return self._column(ref)
        refs = self._match(name)
        if len({table for table, _ in refs}) > 1:
            raise refuse("unknown-signal", f"'{name}' names columns of several tables", "write output/... or steps/...")
        return numpy.stack([self._column(ref) for ref in refs], axis=1)

    def _column(self, ref: Tuple[int, int]) -> numpy.ndarray:
        if self._path is None:
            return self._core.column(*ref)
        if ref not in self._read:
            self._check_file()
            table, name = self.tables[ref[0]], self._core.signal(*ref)[0]
            part = _core.read(self._path, [f"{table}/{name}"])
            self._check_file()  # while it was read
            self.warnings += [p for p in problems_of(part.notes) if p not in self.warnings]
            rows = self._rows.setdefault(ref[0], part.rows(0))  # all columns are of one moment, though a run may go on
            if part.rows(0) < rows:
                raise self._changed()
            self._read.setdefault((ref[0], 0), part.column(0, 0)[:rows])
            if ref[1] > 0:
                self._read[ref] = part.column(0, 1)[:rows]
        return self._read[ref]

    def _check_file(self) -> None:
        """Columns of one result come from one file: not from another that took its place, nor from one written anew."""
        assert self._path is not None
        seen = _which_file(self._path)
        if seen is None or seen == self._seen:
            return
        head = _core.read_head(self._path) if self._core.status == "running" else None
        if head is None or head.provenance != self._core.provenance or _columns(head) != _columns(self._core):
            raise self._changed()
        self._core, self._seen = head, seen  # the same run, which went on

    def _changed(self) -> Error:
        return refuse("result-changed", f"the result file '{self._path}' was written anew or replaced after it was opened",
                      "open it again with trammel.read(); columns that were read stay good", 4)

    # ---- where it comes from ------------------------------------------------------------------------------------------

    @property
    def status(self) -> str:
        """finished, failed, interrupted; running, if the program that wrote it was killed or still runs."""
        return self._core.status

    @property
    def summary(self) -> Dict[str, Any]:
        """What the command prints at the end of a run."""
        return json.loads(self._core.summary) if self._core.summary else {}

    @property
    def failure(self) -> Optional[Dict[str, Any]]:
        """The report of a run that failed: parts of the model, likely causes, what to try."""
        return json.loads(self._core.failure) if self._core.failure else None

    @property
    def provenance(self) -> Dict[str, str]:
        """Model, method, settings, parameters, date."""
        return dict(self._core.provenance)

    def __repr__(self) -> str:
        of = f" of '{self._path}'" if self._path else ""
        sizes = ", ".join(f"{name}: {len(self.names(i))} columns" for i, name in enumerate(self.tables))
        return f"<trammel.Result{of}: {self.status}; {sizes}>"

    # ---- elsewhere -------------------------------------------------------------------------------------------------

    def save(self, path: PathLike) -> None:
        """Writes the result: HDF5, or CSV if the name ends in .csv. Files of another kind are not overwritten."""
        core = self._core
        try:
            if self._path is not None:
                self._check_file()
                core = _core.read(self._path, [])
                self._check_file()
            core.save(os.fspath(path))
        except Error as error:
            raise from_call(error) from None

    def to_dataframe(self, *patterns: str) -> Any:
        """A pandas.DataFrame over time: all outputs, or what the names, groups and patterns mean."""
        import pandas

        names = self._chosen(patterns)
        return pandas.DataFrame({name: self[name] for name in names}, index=pandas.Index(self.t, name="time"))

    def to_xarray(self, *patterns: str) -> Any:
        """An xarray.Dataset over time, with units and texts as attributes."""
        import xarray

        variables = {}
        for name in self._chosen(patterns):
            signal = self.signal(name)
            variables[name] = ("time", self[name], {"units": signal.unit, "long_name": signal.text})
        return xarray.Dataset(variables, coords={"time": ("time", self.t, {"units": "s"})}, attrs=self.provenance)

    def _chosen(self, patterns: Sequence[str]) -> List[str]:
        if not patterns:
            return self.names()[1:]
        names: List[str] = []
        for pattern in patterns:
            for table, column in self._match(pattern):
                if table != 0:
                    raise refuse("unknown-signal", f"'{pattern}' is not among the outputs", "take signals of one table")
                name = self._core.signal(table, column)[0]
                if name not in names:
                    names.append(name)
        return names

    def plot(self, *patterns: str, axes: Any = None, x: Optional[str] = None, **style: Any) -> Any:
        """Draws signals with matplotlib, those of each unit in a panel of their own; returns the array of axes.

        ``x`` names the signal on the horizontal axis, time if left out; ``style`` goes to ``Axes.plot``.
        """
        from matplotlib import pyplot

        if not patterns:
            raise refuse("bad-usage", "nothing to draw", "name signals: result.plot('body.slider.position.x')")
        units: Dict[str, List[Tuple[int, int]]] = {}
        for pattern in patterns:
            for ref in self._match(pattern):
                units.setdefault(self._core.signal(*ref)[1], []).append(ref)
        if axes is None:
            _, axes = pyplot.subplots(len(units), 1, sharex=True, squeeze=False)
        panels = numpy.atleast_1d(numpy.asarray(axes, dtype=object)).ravel()
        if len(panels) < len(units):
            raise refuse("bad-usage", f"{len(units)} units need as many panels, and {len(panels)} were given", "give more axes")
        for panel, (unit, refs) in zip(panels, units.items()):
            for ref in refs:
                signal = Signal(*self._core.signal(*ref))
                across = self._column((ref[0], 0)) if x is None else self[x]
                panel.plot(across, self._column(ref), label=signal.name, **style)
            panel.set_ylabel(unit or "1")
            panel.legend(fontsize="small")
            panel.grid(True, alpha=0.3)
        panels[-1].set_xlabel("time [s]" if x is None else self.signal(x).label)
        return panels


def _which_file(path: str) -> Optional[Tuple[int, ...]]:
    """What differs when a file is replaced or written anew; nothing if it is gone, of which the reader tells."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size


def _columns(core: _core.Result) -> List[Tuple[str, List[str]]]:
    return [(name, core.names(i)) for i, name in enumerate(core.tables())]


def read(path: PathLike) -> Result:
    """Opens a result file, HDF5 or CSV. Columns of an HDF5 file are read when they are asked for, and only those; if the
    file has been written anew meanwhile, they are refused.
    """
    name = os.path.abspath(os.fspath(path))
    try:
        if os.path.isfile(name) and _core.is_hdf5(name):
            seen = _which_file(name)
            return Result(_core.read_head(name), name, seen)
        return Result(_core.read(name, []))
    except Error as error:
        raise from_call(error) from None
