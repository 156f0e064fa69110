"""Models: read from files, built in Python, or both; run, analysed, stepped."""
from __future__ import annotations

import copy
import json
import os
import sys
import tempfile
import warnings
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

import numpy

from . import _core, blocks, forces, joints, motions
from .analyses import Coupled, Drives, KinematicResult, LinearSystem, Modes, QuasiStaticResult, StaticResult, Sweep, mode_list
from .document import Quantity, flow, parsed, plain, to_text
from .elements import Adder
from .errors import Error, Interrupted, Problem, from_call, moved, place_of_call, problems_of, refuse
from .result import PathLike, Result, read
from .sections import Sections
from .simulation import Simulation

Value = Union[float, str, Sequence[Any], numpy.ndarray, Mapping[str, Any]]
ProgressFunction = Callable[[float, float, int], Any]

_built = "<model>"  # the name of the text of a model that no file holds


class ModelWarning(UserWarning):
    """A model that can be run, but hardly as it is meant; or a result to doubt."""


def _text_of(value: Any) -> str:
    """A parameter as ``--set`` takes it."""
    value = plain(value)
    if isinstance(value, list):
        return "[" + ", ".join(_text_of(entry) for entry in value) + "]"
    return repr(value) if isinstance(value, float) else str(value)


def _unit_of_range(a: Any, b: Any) -> str:
    units = {value.unit if isinstance(value, Quantity) else "" for value in (a, b)}
    if len(units) > 1:
        raise refuse("bad-usage", "one end of a range has a unit and the other has none, or another one", "give both the same")
    return units.pop()


def _option_texts(options: Optional[Mapping[str, Any]]) -> List[str]:
    """Options as ``--option`` takes them."""
    return [f"{key}={_text_of(value).lower() if isinstance(value, (bool, numpy.bool_)) else _text_of(value)}"
            for key, value in (options or {}).items()]


class Model(Sections):
    """A mechanism in the words of the file format.

    >>> m = Model("Pendulum", gravity=[0, 0, -9.81])
    >>> m.body("bar", mass=2, inertia=[0, 0.17, 0.17], center_of_mass=[0.5, 0, 0])
    'bar'
    >>> m.joint.revolute("hinge", between=["ground", "bar"], at=[0, 0, 0], axis=[0, 1, 0])
    'hinge'
    >>> float(m.run(end=0.5)["joint.hinge.angle"][-1]) > 1
    True

    Numbers, texts with units ("30 deg") and expressions stand for values as in files. Mistakes are found when the model
    is first used, or by ``check()``, and name the line of the program that made them.
    """

    def __init__(self, title: str = "", **top: Value) -> None:
        self._document: Dict[str, Any] = {}
        self._text: Optional[str] = None  # of a file that was not edited
        self._seen: Optional[str] = None  # its document as it was parsed, in one line: whoever looks at it may edit it
        self._file = _built
        self._set: List[str] = []
        self._places: Dict[Tuple[str, ...], Tuple[str, int]] = {}
        self._cache: Optional[Tuple[str, Tuple[str, ...], _core.Model]] = None
        if title:
            self._document["title"] = title
        for key, value in top.items():
            self[key] = value

    # ---- editing ---------------------------------------------------------------------------------------------------

    def _looked_at(self) -> Dict[str, Any]:
        """The document; the text of a file stays what the model is until something is changed."""
        if self._text is not None and self._seen is None:
            self._document = parsed(_core.parse(self._text, self._file))
            self._seen = flow(self._document)
        return self._document

    def _own(self) -> Dict[str, Any]:
        """The document, to be changed."""
        self._looked_at()
        self._text = self._seen = None
        return self._document

    def _of_file(self) -> Optional[str]:
        """The text of the file, layout and comments, unless the model was changed since."""
        if self._seen is not None and flow(self._document) != self._seen:
            self._own()
        return self._text

    def __getitem__(self, section: str) -> Any:
        """A section as dictionary, to look at or to change: ``m["bodies"]["bar"]["mass"] = 3``."""
        self._places[(section,)] = place_of_call()
        return self._looked_at()[section]

    def __setitem__(self, section: str, value: Any) -> None:
        self._places[(section,)] = place_of_call()
        self._own()[section] = plain(value)

    def __delitem__(self, section: str) -> None:
        del self._own()[section]

    def __contains__(self, section: str) -> bool:
        return section in self._looked_at()

    def _add(self, section: str, name: str, fields: Mapping[str, Any], *path: str) -> str:
        place = place_of_call()
        entries = self._own().setdefault(section, {})
        for key in path:
            entries = entries.setdefault(key, {})
        if name in entries:
            raise Error([Problem("error", "duplicate-key", f"'{name}' is in section '{section}' already",
                                 "choose another name, or change the entry: model[section][name][key] = value", *place)])
        entries[name] = plain({key: value for key, value in fields.items() if value is not None})
        self._places[(section, *path, name)] = place
        return name

    @property
    def joint(self) -> Adder:
        """``m.joint.revolute("pin", between=[...], at=[...], axis=[...])``: all types of ``trammel.joints``."""
        return Adder(self, "joint", joints._table)

    @property
    def motion(self) -> Adder:
        """``m.motion.rotation("drive", joint="pin", angle="2*time")``: all types of ``trammel.motions``."""
        return Adder(self, "motion", motions._table)

    @property
    def force(self) -> Adder:
        """``m.force.torque("motor", joint="pin", tz=5)``: all types of ``trammel.forces``."""
        return Adder(self, "force", forces._table)

    @property
    def block(self) -> Adder:
        """``m.block.pid("controller", input="0.2 - x", p=3)``: all types of ``trammel.blocks``."""
        return Adder(self, "block", blocks._table)

    def set_parameters(self, **values: Value) -> None:
        """Gives parameters of the section ``parameters`` these values, or adds them."""
        for name, value in values.items():
            self._own().setdefault("parameters", {})[name] = plain(value)
            self._places[("parameters", name)] = place_of_call()

    def with_parameters(self, parameters: Optional[Mapping[str, Value]] = None, **values: Value) -> "Model":
        """A copy that is read with other parameters, as ``--set`` does."""
        other = self.copy()
        for name, value in {**(parameters or {}), **values}.items():
            other._set = [text for text in other._set if text.split("=", 1)[0] != name] + [f"{name}={_text_of(value)}"]
        return other

    def settings(self, **values: Value) -> None:
        """The section ``simulation``: end, method, tolerance, step, output_step, options ... what ``run`` starts from."""
        self._own().setdefault("simulation", {}).update(plain(values))
        self._places[("simulation",)] = place_of_call()

    def initial_joint(self, name: str, **values: Value) -> None:
        """Where and how fast a joint starts: angle, displacement, angular_speed, speed."""
        self._add("initial", name, values, "joints")

    def initial_body(self, name: str, **values: Value) -> None:
        """Where and how fast a body starts, and what assembly must not move."""
        self._add("initial", name, values, "bodies")

    def copy(self) -> "Model":
        """An independent copy."""
        other = Model()
        other._document, other._text, other._file = copy.deepcopy(self._document), self._text, self._file
        other._seen = self._seen
        other._set, other._places, other._cache = list(self._set), dict(self._places), self._cache
        return other

    def __copy__(self) -> "Model":
        return self.copy()

    def __deepcopy__(self, memo: Dict[int, Any]) -> "Model":
        return self.copy()

    def __getstate__(self) -> Dict[str, Any]:
        """For other processes: all but what was read of it, which is compiled."""
        return {**self.__dict__, "_cache": None}

    def __eq__(self, other: object) -> bool:
        """Whether two models are computed with the same numbers, wherever they come from."""
        return isinstance(other, Model) and self._read().digest == other._read().digest

    __hash__ = None  # type: ignore[assignment]

    # ---- reading ---------------------------------------------------------------------------------------------------

    def to_yaml(self) -> str:
        """The model as a file, laid out as ``trammel fmt`` does. Parameters given to ``load`` are not part of it."""
        text = self._of_file()
        if text is not None:
            return _core.format_text(text, self._file)
        return to_text(self._document, self._file)[0]

    def save(self, path: PathLike) -> None:
        """Writes the model file. A file that is there already is left alone."""
        text = self.to_yaml()
        try:
            with open(path, "x", encoding="utf-8") as file:
                file.write(text)
        except FileExistsError:
            raise refuse("file-exists", f"'{os.fspath(path)}' exists", "models are never overwritten: remove it first", 4) from None

    def _read(self) -> _core.Model:
        places: Sequence[Tuple[str, ...]] = ()
        text = self._of_file()
        if text is None:
            text, places = to_text(self._document, self._file)
        key = tuple(self._set)
        if self._cache is None or self._cache[0] != text or self._cache[1] != key:
            try:
                self._cache = (text, key, _core.read_text(text, self._file, self._set))
            except Error as error:
                raise from_call(moved(error, self._placer(places))) from None
        return self._cache[2]

    def _placer(self, lines: Sequence[Tuple[str, ...]]) -> Callable[[Problem], Optional[Tuple[str, Optional[int]]]]:
        """``lines``: the keys that lead to each line of the text; none if the text is that of a file."""
        def place(problem: Problem) -> Optional[Tuple[str, Optional[int]]]:
            if problem.file != self._file or problem.line is None or not lines:
                return None
            path = lines[problem.line - 1] if problem.line <= len(lines) else ()
            while path:
                if path in self._places:
                    return self._places[path]
                path = path[:-1]
            return self._file, None  # it counts the lines of a text that nobody has seen

        return place

    def _changed(self, core: _core.Model, changes: _core.Changes) -> _core.Model:
        lines = () if self._of_file() is not None else to_text(self._document, self._file)[1]
        try:
            return core.changed(changes)
        except Error as error:
            raise from_call(moved(error, self._placer(lines))) from None

    def check(self) -> List[Problem]:
        """Reads and checks the model: raises ``Error`` with all errors, returns warnings and notes."""
        return problems_of(self._changed(self._read(), _core.Changes()).warnings)

    @property
    def title(self) -> str:
        return self._read().title

    @property
    def bodies(self) -> List[str]:
        """Names of the bodies."""
        return self._read().bodies

    @property
    def inputs(self) -> List[str]:
        """Names of the values that come from outside."""
        return self._read().inputs

    @property
    def outputs(self) -> List[str]:
        """Names of the outputs of the model's own."""
        return self._read().outputs

    @property
    def variables(self) -> List[str]:
        """Names of the variables, those of blocks included."""
        return self._read().variables

    @property
    def parameters(self) -> Dict[str, float]:
        """Values of the parameters. Where the file states a unit they are in SI and know it (``.unit``), so that
        ``m.with_parameters(L=2 * m.parameters["L"])`` means twice the length in a model of any units.
        """
        return {name: Quantity(value, unit) if unit else value for name, (value, unit) in self._read().parameters.items()}

    def __repr__(self) -> str:
        return f"<trammel.Model {self._file}{' ' + ', '.join(self._set) if self._set else ''}>"

    # ---- running ---------------------------------------------------------------------------------------------------

    @staticmethod
    def _changes(options: Optional[Mapping[str, Any]], **settings: Any) -> _core.Changes:
        changes = _core.Changes()
        for name, value in settings.items():
            if name == "set" or not hasattr(changes, name):
                raise refuse("bad-usage", f"there is no setting '{name}'", "those of run()")
            if value is not None:
                try:
                    setattr(changes, name, value)
                except TypeError:
                    raise refuse("wrong-type", f"{name} cannot be {value!r}",
                                 "methods are texts, times and tolerances numbers in SI") from None
        changes.options = _option_texts(options)
        return changes

    def _ready(self, *, options: Optional[Mapping[str, Any]] = None, **settings: Any) -> _core.Model:
        changes = self._changes(options, **settings)
        core = self._changed(self._read(), changes)
        self._warn(problems_of(core.warnings))
        return core

    @staticmethod
    def _warn(problems: Iterable[Problem]) -> None:
        for problem in problems:
            if problem.severity == "warning":
                depth = 2
                while sys._getframe(depth).f_globals.get("__package__") == __package__:
                    depth += 1
                warnings.warn(str(problem), ModelWarning, stacklevel=depth + 1)

    def run(
        self,
        *,
        method: Optional[str] = None,
        formulation: Optional[str] = None,
        tolerance: Optional[float] = None,
        step: Optional[float] = None,
        end: Optional[float] = None,
        output_step: Optional[float] = None,
        greatest_step: Optional[float] = None,
        options: Optional[Mapping[str, Any]] = None,
        from_static: bool = False,
        file: Optional[PathLike] = None,
        progress: Union[None, bool, ProgressFunction] = None,
    ) -> Result:
        """Simulates the model, as ``trammel run`` does with options of the same names.

        ``output_step=0`` records every accepted step; ``options`` are those of the method; ``from_static`` starts in the
        equilibrium; ``file`` keeps the result on the disk instead of in memory. ``progress`` is a function of (t, end,
        steps), or whether to show a line; left out, it is shown in a terminal.

        A run that fails raises ``Error``, and Ctrl-C ``Interrupted``: both carry what was computed as ``result``.
        Other threads of Python go on meanwhile.
        """
        if not (progress is None or isinstance(progress, bool) or callable(progress)):
            raise refuse("wrong-type", f"progress cannot be {progress!r}", "True, False or a function of (t, end, steps)")
        core = self._ready(method=method, formulation=formulation, tolerance=tolerance, step=step, end=end,
                           output_step=output_step, greatest_step=greatest_step, options=options)
        shown = progress is True or (progress is None and sys.stderr is not None and sys.stderr.isatty())

        def tell(t: float, until: float, steps: int) -> None:
            sys.stderr.write(f"\r  t = {t:<8.4g} of {until:.4g} s ({100 * t / until:.0f} %), {steps} steps ")
            sys.stderr.flush()

        try:
            outcome = _core.run(core, from_static, os.fspath(file) if file is not None else "",
                                tell if shown else progress if callable(progress) else None)
        except Error as error:
            raise from_call(error) from None
        finally:
            if shown:
                sys.stderr.write("\r" + 70 * " " + "\r")
        result = Result(outcome.result) if file is None else read(file)
        result.warnings = problems_of(outcome.warnings)
        result.notes = outcome.notes
        result.start = json.loads(outcome.start)
        self._warn(problem for problem in result.warnings if problem not in problems_of(core.warnings))
        return finished(result, outcome.status, outcome.failure_id, outcome.failure_text, outcome.failure_hint, self._file)

    def simulation(
        self,
        *,
        method: Optional[str] = None,
        formulation: Optional[str] = None,
        tolerance: Optional[float] = None,
        step: Optional[float] = None,
        end: Optional[float] = None,
        output_step: Optional[float] = None,
        greatest_step: Optional[float] = None,
        options: Optional[Mapping[str, Any]] = None,
        from_static: bool = False,
        record: bool = False,
    ) -> Simulation:
        """A simulation to step by hand, at its consistent start. ``record`` keeps outputs, for ``Simulation.result``."""
        core = self._ready(method=method, formulation=formulation, tolerance=tolerance, step=step, end=end,
                           output_step=output_step, greatest_step=greatest_step, options=options)
        try:
            return Simulation(_core.Stepper(core, record, from_static), core.inputs, core.states)
        except Error as error:
            raise from_call(error) from None

    # ---- analyses ----------------------------------------------------------------------------------------------------

    def static(self, *, way: str = "automatic", tolerance: float = 1e-10) -> StaticResult:
        """The static equilibrium near the drawn position: a result of one row, with ``report``."""
        try:
            core, report = _core.static(self._ready(), way, tolerance)
        except Error as error:
            raise from_call(error) from None
        result = StaticResult(core, report)
        if not report["found"]:
            raise Error([Problem("error", "no-equilibrium", "no static equilibrium: " + report["why"], report["advice"],
                                 self._file)], 1, result)
        return result

    def kinematic(self, *, end: Optional[float] = None, output_step: Optional[float] = None) -> KinematicResult:
        """Positions, velocities, accelerations and forces of a mechanism that motions drive completely."""
        try:
            core, report = _core.kinematic(self._ready(end=end, output_step=output_step))
        except Error as error:
            raise from_call(error) from None
        result = KinematicResult(core, report)
        if not report["finished"]:
            raise Error([Problem("error", "run-failed", report["why"], "check the motions against the mechanism's reach",
                                 self._file)], 1, result)
        return result

    def quasi_static(self, *, end: Optional[float] = None, steps: int = 100) -> QuasiStaticResult:
        """The static equilibrium while motions and loads change, without inertia; ``steps`` intervals are recorded."""
        if steps < 1:
            raise refuse("not-positive", "steps must be a positive number", "it counts the intervals that are recorded")
        try:
            core, report = _core.quasi_static(self._ready(end=end), steps)
        except Error as error:
            raise from_call(error) from None
        result = QuasiStaticResult(core, report)
        if not report["finished"]:
            raise Error([Problem("error", "run-failed", report["why"], report["last"].get("advice", ""), self._file)], 1, result)
        return result

    def inverse(self, *, end: Optional[float] = None, output_step: Optional[float] = None,
                csv_name: str = "drives.csv") -> Drives:
        """The forces and torques that the motions need, over time."""
        try:
            found = _core.inverse(self._ready(end=end, output_step=output_step), csv_name)
        except Error as error:
            raise from_call(error) from None
        drives = Drives(found)
        if found["why"]:
            raise Error([Problem("error", "run-failed", found["why"], "", self._file)], 1)
        return drives

    def linearise(self, *, around: Union[str, float] = "initial", outputs: str = "automatic") -> LinearSystem:
        """x' = A x + B u, y = C x + D u near the initial state, the equilibrium, or the state at a time."""
        if outputs not in ("automatic", "model", "bodies", "all"):
            raise refuse("bad-usage", f"there are no outputs '{outputs}'", "automatic, model, bodies or all")
        try:
            return LinearSystem(**_core.linearise(self._ready(), self._around(around), outputs))
        except Error as error:
            raise from_call(error) from None

    def modes(self, *, around: Union[str, float] = "equilibrium", count: int = 0, solver: str = "automatic") -> Modes:
        """Natural frequencies, damping and shapes; ``count`` lowest ones (0: all of a small model, 10 of a large one)."""
        if solver not in ("automatic", "dense", "sparse"):
            raise refuse("bad-usage", f"there is no solver '{solver}'", "automatic, dense or sparse")
        try:
            found = _core.modes(self._ready(), self._around(around), count, solver)
        except Error as error:
            raise from_call(error) from None
        return Modes(mode_list(found["undamped"]), mode_list(found["damped"]), found["bodies"], found["around"],
                     found["freedoms"], found["rigid"], found["notes"])

    @staticmethod
    def _around(where: Union[str, float]) -> str:
        return where if isinstance(where, str) else repr(float(where))

    def sweep(
        self,
        grid: Optional[Mapping[str, Iterable[Any]]] = None,
        *,
        latin: Optional[Mapping[str, Tuple[float, float]]] = None,
        count: int = 0,
        seed: int = 1,
        runs: Optional[Sequence[Mapping[str, Any]]] = None,
        measures: Sequence[str] = (),
        threads: Optional[int] = None,
        file: Optional[PathLike] = None,
        resume: bool = False,
        progress: Optional[Callable[[int, int], Any]] = None,
        **settings: Any,
    ) -> Sweep:
        """Many runs with different parameters, side by side in threads.

        ``grid={"L": [0.5, 1], "m": [1, 2]}`` takes every value with every other, ``latin={"L": (0.5, 1.5)}`` with
        ``count`` a Latin hypercube, ``runs=[{"L": 1}, ...]`` a list. ``measures`` are signals with ``.last``, ``.max``,
        ``.min`` or ``.mean``; left out, the last value of every output. ``file`` keeps the table, with which
        ``resume=True`` goes on; Ctrl-C raises ``Interrupted``, with the runs that were made as ``result``. Settings as
        in ``run``.
        """
        if progress is not None and not callable(progress):
            raise refuse("wrong-type", f"progress cannot be {progress!r}", "a function of (done, all)")
        if (grid is not None) + (latin is not None) + (runs is not None) != 1:
            raise refuse("bad-usage", "a sweep needs one of grid, latin and runs", "sweep(grid={'L': [0.5, 1]})")
        names: List[str]
        values: List[List[str]]
        try:
            if latin is not None:
                plan = _core.latin_plan([f"{n}={float(a)!r}:{float(b)!r}" for n, (a, b) in latin.items()], count, seed)
                names, units = plan.names, [_unit_of_range(*latin[name]) for name in plan.names]
                values = [[f"{value} {unit}".strip() for value, unit in zip(run, units)] for run in plan.runs]
            elif grid is not None:
                names, values = list(grid), [[]]
                for axis in grid.values():
                    texts = [_text_of(value) for value in axis]
                    values = [row + [text] for row in values for text in texts]
            else:
                assert runs is not None
                names = list(runs[0]) if runs else []
                if any(set(run) != set(names) for run in runs):
                    raise refuse("bad-sweep", "the runs do not all set the same parameters", "give each of them all")
                values = [[_text_of(run[name]) for name in names] for run in runs]
            if not values:
                raise refuse("bad-sweep", "the sweep has no runs", "give some values")
            changes = self._changes(settings.pop("options", None), **settings)
            changes.set = self._set
            with tempfile.TemporaryDirectory() as folder:
                model = self._file_to_read(folder)
                table = os.fspath(file) if file is not None else os.path.join(folder, "sweep.csv")
                try:
                    summary = _core.sweep(model, changes, names, values, list(measures), table, resume,
                                          threads or os.cpu_count() or 1, progress)
                finally:
                    if model != self._file:
                        os.remove(model)
                found = Sweep(table, names, summary)
        except Error as error:
            raise from_call(error) from None
        if not summary.complete:
            raise Interrupted(f"interrupted after {len(found)} of {summary.runs} runs" +
                              ("; go on with resume=True" if file is not None else ""), found)
        return found

    def _file_to_read(self, folder: str) -> str:
        """The model's own file, or one that is written now because it holds something else; files that the model names
        are looked for beside it."""
        text = self._of_file()
        if text is not None and self._file != _built and _holds(self._file, text):
            return self._file
        self._read()
        beside = (os.path.dirname(self._file) or ".") if self._file != _built else folder
        try:
            handle, path = tempfile.mkstemp(".yaml", "trammel-", beside)
            with os.fdopen(handle, "w", encoding="utf-8") as out:
                out.write(self.to_yaml() if text is None else text)
        except OSError as error:
            raise refuse("cannot-write", f"the model cannot be written into '{beside}': {error.strerror}",
                         "a sweep reads it from there; load or name it in a folder that can be written to", 4) from None
        return path


def _holds(path: str, text: str) -> bool:
    try:
        return os.path.isfile(path) and _core.read_file_text(path) == text
    except Error:
        return False


def finished(result: Result, status: str, id: str, text: str, hint: str, file: Optional[str]) -> Result:
    """The result of a run that reached its end; else an exception that carries it."""
    if status == "failed":
        raise Error([Problem("error", id, text.rstrip(), hint, file)], 1, result)
    if status == "interrupted":
        raise Interrupted(f"interrupted at t = {result.summary.get('reached', 0):.6g} s", result)
    return result


def load(path: PathLike, parameters: Optional[Mapping[str, Value]] = None, **values: Value) -> Model:
    """Reads and checks a model file; parameters take other values, as with ``--set``: ``load("car.yaml", L=0.5)``."""
    model = Model()
    model._file = os.fspath(path)
    try:
        model._text = _core.read_file_text(model._file)
    except Error as error:
        raise from_call(error) from None
    model = model.with_parameters(parameters, **values)
    model._warn(model.check())
    return model


def couple(path: PathLike, parameters: Optional[Mapping[str, Value]] = None, *, options: Optional[Mapping[str, Any]] = None,
           **values: Value) -> Coupled:
    """Simulates a coupling file: models glued together by joints, as ``trammel couple`` does.

    Parameters are those of the participants that have them, "PARTICIPANT.NAME" those of one; ``options`` are keys of the
    section ``coupling``. A run that fails raises ``Error`` with what was computed as ``result``.
    """
    texts = [f"{name}={_text_of(value)}" for name, value in {**(parameters or {}), **values}.items()]
    try:
        found = _core.couple(os.fspath(path), texts, _option_texts(options))
    except Error as error:
        raise from_call(error) from None
    result = Coupled(found.pop("result"), {name: Result(part) for name, part in found.pop("participants").items()}, found)
    if found["status"] == "failed":
        raise Error([Problem("error", "coupling-failed", f"t = {found['reached']:.9g} s: {found['failure']}", "",
                             os.fspath(path))], 1, result)
    if found["status"] == "interrupted":
        raise Interrupted(f"interrupted at t = {found['reached']:.6g} s", result)
    return result


def from_yaml(text: str, name: str = _built) -> Model:
    """A model from a text in the file format; files that it names are looked for beside ``name``."""
    model = Model()
    model._file, model._text = name, text
    model._read()
    return model
