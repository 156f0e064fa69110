"""Methods of a model that add to its sections, made from the grammar of files: ``m.body("crank", mass=1.2)``."""
from __future__ import annotations

import inspect
from typing import Any, Callable, List

from . import _core
from .elements import file_name, python_name

#: name of the method, section, rule of the grammar, article
named_sections = [
    ("body", "bodies", "body", "a"),
    ("coordinate", "coordinates", "coordinate", "a"),
    ("frame", "frames", "frame", "a"),
    ("input", "inputs", "input", "an"),
    ("state", "states", "state", "a"),
    ("variable", "variables", "variable", "a"),
    ("output", "outputs", "output", "an"),
    ("spline", "splines", "spline", "a"),
    ("table", "tables", "table", "a"),
    ("shape", "shapes", "drawn_shape", "a"),
    ("subsystem", "subsystems", "subsystem", "a"),
    ("use", "use", "use", "a"),
]


def summary(section: str, rule: str, article: str) -> str:
    return f"Adds {article} {rule.replace('_', ' ')} to section `{section}` and returns its name."


def parameters_of(rule: str) -> List[str]:
    return [python_name(key[0]) for key in _core.keys(rule)]


def _adder(method: str, section: str, rule: str, article: str) -> Callable[..., str]:
    def add(self: Any, name: str, **fields: Any) -> str:
        return self._add(section, name, {file_name(key): value for key, value in fields.items()})

    add.__name__ = method
    add.__qualname__ = f"Model.{method}"
    lines = [summary(section, rule, article), ""]
    for key, sentence, unit, required in _core.keys(rule):
        facts = ", ".join(filter(None, [unit, "must be given" if required else ""]))
        lines.append(f"  {key}{'  (' + facts + ')' if facts else ''}  {sentence}")
    add.__doc__ = "\n".join(lines)
    kind = inspect.Parameter
    add.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [kind("self", kind.POSITIONAL_OR_KEYWORD), kind("name", kind.POSITIONAL_OR_KEYWORD, annotation="str")]
        + [kind(name, kind.KEYWORD_ONLY, default=None) for name in parameters_of(rule)]
        + [kind("fields", kind.VAR_KEYWORD)],
        return_annotation="str",
    )
    return add


class Sections:
    """What ``Model`` is made from; its methods are set below, and ``sections.pyi`` lists them for editors and mypy."""


for _name, _section, _rule, _article in named_sections:
    setattr(Sections, _name, _adder(_name, _section, _rule, _article))
