"""What went wrong, where, and what to do about it: the problems that the command prints, as objects."""
from __future__ import annotations

import dataclasses
import os
import sys
from typing import TYPE_CHECKING, Any, Callable, Iterable, Optional

if TYPE_CHECKING:
    from .result import Result

_package = os.path.dirname(os.path.abspath(__file__))


@dataclasses.dataclass(frozen=True)
class Problem:
    """One error, warning or note. ``id`` is a key of ``docs/guide/messages.md`` (``trammel help ID``)."""

    severity: str
    id: str
    text: str
    hint: str = ""
    file: Optional[str] = None
    line: Optional[int] = None
    column: Optional[int] = None

    @property
    def explanation(self) -> str:
        """What ``trammel help ID`` says of it."""
        from . import _core

        found = _core.explain(self.id)
        return f"{found[1]} {found[2]}".strip() if found else ""

    def __str__(self) -> str:
        place = ""
        if self.file is not None:
            place = self.file
            if self.line is not None:
                place += f":{self.line}" + (f":{self.column}" if self.column is not None else "")
            place += ": "
        text = f"{place}{self.severity}: {self.text}" + (f" [{self.id}]" if self.id else "")
        return text + (f"\n  hint: {self.hint}" if self.hint else "")


class Error(Exception):
    """A model, a call or a run that cannot be honoured.

    ``problems`` lists everything that was found. ``result`` holds what was computed until then, if a run has failed.
    """

    def __init__(self, problems: Iterable[Problem], exit_code: int = 3, result: "Optional[Result]" = None) -> None:
        self.problems: list[Problem] = list(problems)
        self.exit_code = exit_code  #: of the command for the same mistake
        self.result = result
        super().__init__("\n".join(str(problem) for problem in self.problems))

    def __reduce__(self) -> Any:
        return (type(self), (self.problems, self.exit_code))


class Interrupted(KeyboardInterrupt):
    """Ctrl-C ended a run in good order: ``result`` holds what was computed until then, of a sweep its table."""

    def __init__(self, text: str, result: Any = None) -> None:
        super().__init__(text)
        self.result = result


def problems_of(tuples: Iterable[tuple]) -> list[Problem]:
    return [Problem(*entries) for entries in tuples]


def error_of(tuples: Iterable[tuple], exit_code: int) -> Error:
    """Called by the compiled part."""
    return Error(problems_of(tuples), exit_code)


def refuse(id: str, text: str, hint: str = "", exit_code: int = 2) -> Error:
    file, line = place_of_call()
    return Error([Problem("error", id, text, hint, file, line)], exit_code)


def place_of_call() -> tuple[str, int]:
    """File and line of the user's code that called the package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and (os.path.dirname(os.path.abspath(frame.f_code.co_filename)) == _package or
                                        frame.f_code.co_filename.startswith("<__array_function__")):  # numpy's, between
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


def moved(error: Error, place: Callable[[Problem], Optional[tuple[str, Optional[int]]]]) -> Error:
    """The same error with places of the user's program where ``place`` knows them; a place without a line is unknown."""
    problems = []
    for problem in error.problems:
        found = place(problem)
        if found is not None:
            problem = dataclasses.replace(problem, file=found[0], line=found[1], column=None)
        problems.append(problem)
    return Error(problems, error.exit_code, error.result)


def from_call(error: Error) -> Error:
    """What the command calls "command line" is here the call that the user made."""
    call = place_of_call()
    return moved(error, lambda problem: call if problem.file in (None, "command line") else None)
