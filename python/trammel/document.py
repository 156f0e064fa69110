"""Documents of the file format as Python's own values, and their text, laid out as ``trammel fmt`` does."""
from __future__ import annotations

import json
import numbers
import re
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

import numpy

from . import _core
from .errors import refuse


class Quoted(str):
    """A text that stands in quotes in its file."""


class Number(float):
    """A number of a file, which is written back as it stands there."""

    text: str

    def __new__(cls, text: str) -> "Number":
        self = super().__new__(cls, text)
        self.text = text
        return self

    def __getnewargs__(self) -> Tuple[str]:  # type: ignore[override]
        return (self.text,)


class WholeNumber(int):
    """The same without a point, so that a count stays one: ``m["repeat"][0]["to"] += 1``."""

    text: str

    def __new__(cls, text: str) -> "WholeNumber":
        self = super().__new__(cls, text)
        self.text = text
        return self

    def __getnewargs__(self) -> Tuple[str]:  # type: ignore[override]
        return (self.text,)


_number = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")


def _of_file(text: str) -> Any:
    """What a text without quotes means: true, nothing, a number, or the text (an expression, a name, a number with a unit)."""
    special = {"true": True, "false": False, "null": None, "~": None, "": None}
    if text in special:
        return special[text]
    if not _number.fullmatch(text):
        return text
    return WholeNumber(text) if re.fullmatch("[-+]?[0-9]{1,18}", text) else Number(text)


class Quantity(float):
    """A number that knows its SI unit, so that it means the same in a model of other units: ``m.parameters["L"]``.

    Sums and differences with plain numbers (in SI) and with quantities of the same unit keep the unit, and so do
    multiples; products and quotients of two have theirs; the quotient of two of the same unit is a plain number.
    Functions such as ``math.sin`` take the number in SI. Arrays have no units: numpy's functions want ``float(p)``.
    """

    unit: str
    __array_ufunc__ = None  # else numpy.float64(2) * p would be computed by numpy, which knows of no unit

    def __new__(cls, value: float, unit: str) -> "Quantity":
        self = super().__new__(cls, value)
        self.unit = unit
        return self

    def __getnewargs__(self) -> Tuple[float, str]:  # type: ignore[override]
        return float(self), self.unit

    def _sum(self, other: Any, compute: Callable[[float, float], float]) -> Any:
        given = self._number(other)
        if given is None:
            return NotImplemented
        unit = other.unit if isinstance(other, Quantity) else self.unit
        if _unit_key(unit) != _unit_key(self.unit):
            raise refuse("wrong-unit", f"[{self.unit}] and [{unit}] do not add up", "float(p) is the number in SI")
        return Quantity(compute(float(self), given), self.unit)

    def _product(self, other: Any, compute: Callable[[float, float], float], unit: Callable[[str], str]) -> Any:
        given = self._number(other)
        if given is None:
            return NotImplemented
        return _quantity(compute(float(self), given), unit(other.unit if isinstance(other, Quantity) else ""))

    def _number(self, other: Any) -> Optional[float]:
        """The number of the other side; nothing if it is none."""
        if isinstance(other, numpy.ndarray) and other.ndim > 0:
            raise refuse("wrong-unit", f"an array has no unit, and the number has [{self.unit}]",
                         "[f * p for f in array] keeps it; float(p) is the number in SI")
        return float(other) if isinstance(other, (numbers.Real, numpy.ndarray)) else None

    def __add__(self, other: Any) -> Any:
        return self._sum(other, lambda a, b: a + b)

    def __radd__(self, other: Any) -> Any:
        return self._sum(other, lambda a, b: b + a)

    def __sub__(self, other: Any) -> Any:
        return self._sum(other, lambda a, b: a - b)

    def __rsub__(self, other: Any) -> Any:
        return self._sum(other, lambda a, b: b - a)

    def __mod__(self, other: Any) -> Any:
        return self._sum(other, lambda a, b: a % b)

    def __rmod__(self, other: Any) -> Any:
        return self._sum(other, lambda a, b: b % a)

    def __mul__(self, other: Any) -> Any:
        return self._product(other, lambda a, b: a * b, lambda unit: _times(self.unit, unit))

    def __rmul__(self, other: Any) -> Any:
        return self._product(other, lambda a, b: b * a, lambda unit: _times(unit, self.unit))

    def __truediv__(self, other: Any) -> Any:
        return self._product(other, lambda a, b: a / b, lambda unit: _over(self.unit, unit))

    def __rtruediv__(self, other: Any) -> Any:
        return self._product(other, lambda a, b: b / a, lambda unit: _over(unit, self.unit))

    def __floordiv__(self, other: Any) -> Any:
        return self._product(other, lambda a, b: a // b, lambda unit: _over(self.unit, unit))

    def __rfloordiv__(self, other: Any) -> Any:
        return self._product(other, lambda a, b: b // a, lambda unit: _over(unit, self.unit))

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def __pow__(self, power: Any, modulo: None = None) -> Any:  # type: ignore[override]
        value = float(self) ** power
        whole = isinstance(power, numbers.Real) and float(power).is_integer()
        if not whole or isinstance(power, Quantity):
            raise refuse("wrong-unit", f"[{self.unit}] has whole powers only", "float(p) is the number in SI")
        times = "*".join([self.unit] * abs(int(power)))
        return _quantity(value, times if power >= 0 else _over("", times))

    def __neg__(self) -> "Quantity":
        return Quantity(-float(self), self.unit)

    def __pos__(self) -> "Quantity":
        return self

    def __abs__(self) -> "Quantity":
        return Quantity(abs(float(self)), self.unit)

    def __round__(self, digits: Any = None) -> "Quantity":  # type: ignore[override]
        return Quantity(round(float(self), digits), self.unit)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """numpy.linspace(p, 2 * p, 5) is a list of quantities; other functions take the number."""
        found = function(*_bare(args), **{key: _bare(value) for key, value in kwargs.items()})
        if function.__name__ not in ("linspace", "geomspace") or len(args) < 2:
            return found
        units = {_unit_key(end.unit if isinstance(end, Quantity) else "") for end in args[:2]}
        if len(units) > 1:
            raise refuse("wrong-unit", "one end of a range has a unit and the other has none, or another one", "give both the same")
        return [Quantity(value, self.unit) for value in found.tolist()]


def _bare(value: Any) -> Any:
    if isinstance(value, Quantity):
        return float(value)
    return type(value)(_bare(entry) for entry in value) if type(value) in (list, tuple) else value


def _unit_key(unit: str) -> str:
    return unit.replace(" ", "*")


def _times(a: str, b: str) -> str:
    return f"{a}*{b}" if a and b else a or b


def _over(a: str, b: str) -> str:
    if _unit_key(a) == _unit_key(b):
        return ""
    return f"{a or 1}/({b})" if b else a


def _quantity(value: float, unit: str) -> float:
    return Quantity(value, unit) if unit else value


def sections(rule: str = "file") -> List[str]:
    return [key[0] for key in _core.keys(rule)]


def parsed(value: Any) -> Any:
    """What ``_core.parse`` gives, with texts in quotes marked, and numbers as numbers."""
    if isinstance(value, dict):
        return {key: parsed(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [parsed(entry) for entry in value]
    if isinstance(value, tuple):
        return Quoted(value[0])
    return _of_file(value)


def plain(value: Any) -> Any:
    """A value of the user as what a document holds: dictionaries, lists, numbers, texts."""
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, numpy.ndarray):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if isinstance(value, numpy.generic):
        return plain(value.item())
    if isinstance(value, Quantity):
        return f"{float(value)!r} {value.unit}"
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise refuse("wrong-type", f"{value!r} is not a number, a text, a list or a dictionary of them",
                 "the file format knows nothing else", 3)


_plain_text = re.compile(r"[A-Za-z0-9_(.$^/][A-Za-z0-9_./+*()^<>=| $-]*")
_number_like = re.compile(r"[-+]?[0-9.][0-9eE.+-]*( ?[A-Za-z][A-Za-z0-9 /^*-]*)?")
_special = {"null", "~", "true", "false", ""}


def scalar(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (Number, WholeNumber)):
        return value.text
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, int):
        return str(value)
    text = str(value)
    free = _plain_text.fullmatch(text) or _number_like.fullmatch(text) or re.fullmatch(r"-[A-Za-z0-9_(.][A-Za-z0-9_./+*()^-]*", text)
    if isinstance(value, Quoted) or not free or text.lower() in _special or text != text.strip():
        return json.dumps(text, ensure_ascii=False)
    return "".join(text)


def key_text(key: str) -> str:
    return scalar(key) if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.-]*", key) else key


def flow(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key_text(key)}: {flow(entry)}" for key, entry in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(flow(entry) for entry in value) + "]"
    return scalar(value)


def _block(value: Dict[str, Any], indent: int, path: Tuple[str, ...], lines: List[str], places: List[Tuple[str, ...]]) -> None:
    margin = " " * indent
    for key, entry in value.items():
        here = path + (key,)
        one = f"{margin}{key_text(key)}: {flow(entry)}"
        if isinstance(entry, dict) and entry and (indent == 0 or len(one) > 110 or any(isinstance(e, dict) for e in entry.values())):
            lines.append(f"{margin}{key_text(key)}:")
            places.append(here)
            _block(entry, indent + 2, here, lines, places)
        elif isinstance(entry, list) and entry and (len(one) > 110 or any(isinstance(e, dict) for e in entry)):
            lines.append(f"{margin}{key_text(key)}:")
            places.append(here)
            for item in entry:
                if isinstance(item, dict) and len(flow(item)) > 100:
                    inner: List[str] = []
                    deeper: List[Tuple[str, ...]] = []
                    _block(item, indent + 4, here, inner, deeper)
                    inner[0] = f"{margin}  - {inner[0].lstrip()}"
                    lines += inner
                    places += deeper
                else:
                    lines.append(f"{margin}  - {flow(item)}")
                    places.append(here)
        else:
            lines.append(one)
            places.append(here)


def to_text(document: Dict[str, Any], name: str) -> Tuple[str, List[Tuple[str, ...]]]:
    """The text of a document, and for each of its lines the keys that lead to it."""
    order = {key: i for i, key in enumerate(sections())}
    top = dict(sorted(document.items(), key=lambda pair: order.get(pair[0], len(order))))
    lines: List[str] = []
    places: List[Tuple[str, ...]] = []
    _block({"trammel": 1, **{k: v for k, v in top.items() if k != "trammel"}}, 0, (), lines, places)
    text = "\n".join(lines) + "\n"
    return _core.format_text(text, name), places
