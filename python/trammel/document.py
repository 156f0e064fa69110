"""Documents of the file format as Python's own values, and their text, laid out as ``trammel fmt`` does."""
from __future__ import annotations

import json
import re
from typing import Any, Dict, List, Mapping, Tuple

import numpy

from . import _core
from .errors import refuse


class Quoted(str):
    """A text that stands in quotes in its file."""


class Quantity(float):
    """A number that knows its SI unit, so that it means the same in a model of other units: ``m.parameters["L"]``.

    Times a plain number it stays one; other arithmetic makes a plain number of it.
    """

    unit: str

    def __new__(cls, value: float, unit: str) -> "Quantity":
        self = super().__new__(cls, value)
        self.unit = unit
        return self

    def __getnewargs__(self) -> Tuple[float, str]:  # type: ignore[override]
        return float(self), self.unit

    def _scaled(self, value: Any) -> Any:
        return value if value is NotImplemented else Quantity(value, self.unit)

    def __mul__(self, other: Any) -> Any:
        return float(self) * float(other) if isinstance(other, Quantity) else self._scaled(super().__mul__(other))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return float(self) / float(other) if isinstance(other, Quantity) else self._scaled(super().__truediv__(other))

    def __neg__(self) -> "Quantity":
        return Quantity(-float(self), self.unit)


def sections(rule: str = "file") -> List[str]:
    return [key[0] for key in _core.keys(rule)]


def parsed(value: Any) -> Any:
    """What ``_core.parse`` gives, with texts in quotes marked."""
    if isinstance(value, dict):
        return {key: parsed(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [parsed(entry) for entry in value]
    if isinstance(value, tuple):
        return Quoted(value[0])
    return {"true": True, "false": False, "null": None, "~": None, "": None}.get(value, value)


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
