"""Functions that add joints, motions, forces and blocks to a model, made from the registry of the library: one for each type."""
from __future__ import annotations

import inspect
import keyword
from typing import Any, Callable, Dict, List

from . import _core

_plural = {"joint": "joints", "motion": "motions", "force": "forces", "block": "blocks"}


def python_name(name: str) -> str:
    return name + "_" if keyword.iskeyword(name) else name


def file_name(name: str) -> str:
    return name[:-1] if name.endswith("_") and keyword.iskeyword(name[:-1]) else name


def _common(category: str) -> List[Any]:
    """The keys that all elements of a category take; those of blocks are fields of their own."""
    return [key for key in _core.keys("item") if key[0] != "type"] if category != "block" else []


def descriptions(category: str) -> List[Dict[str, Any]]:
    return [element for element in _core.elements() if element["category"] == category]


def _docstring(element: Dict[str, Any]) -> str:
    text = [element["summary"], "", f"Adds a {element['category']} of type `{element['key']}` and returns its name."]
    if element["fields"]:
        text += ["", "Fields:", "", element["fields_text"].rstrip()]
    for number, (name, sentence, unit, _) in enumerate(_common(element["category"])):
        text += ["", "Where it acts:", ""] if number == 0 else []
        text.append(f"  {name}  {'(' + unit + ') ' if unit else ''}{sentence}")
    text += ["", f"See docs/elements/{element['key']}.md."]
    return "\n".join(text)


def parameters_of(element: Dict[str, Any]) -> List[str]:
    """Names of the keywords: what all elements take, then the fields."""
    common = [key[0] for key in _common(element["category"])]
    own = [field["name"] for field in element["fields"] if field["name"] not in common]
    return [python_name(name) for name in common + own]


def _make(element: Dict[str, Any]) -> Callable[..., str]:
    key, section = element["key"], _plural[element["category"]]

    def add(model: Any, name: str, **fields: Any) -> str:
        return model._add(section, name, {"type": key, **{file_name(k): v for k, v in fields.items()}})

    add.__name__ = add.__qualname__ = key
    add.__module__ = f"trammel.{section}"
    add.__doc__ = _docstring(element)
    kind = inspect.Parameter
    add.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [kind("model", kind.POSITIONAL_OR_KEYWORD), kind("name", kind.POSITIONAL_OR_KEYWORD, annotation="str")]
        + [kind(name, kind.KEYWORD_ONLY, default=None) for name in parameters_of(element)]
        + [kind("fields", kind.VAR_KEYWORD)],
        return_annotation="str",
    )
    return add


def functions(category: str) -> Dict[str, Callable[..., str]]:
    return {element["key"]: _make(element) for element in descriptions(category)}


class Adder:
    """``model.joint``, ``model.motion``, ``model.force`` and ``model.block``: a function for each type, bound to the model."""

    def __init__(self, model: Any, category: str, table: Dict[str, Callable[..., str]]) -> None:
        self._model, self._category, self._table = model, category, table

    def __getattr__(self, key: str) -> Callable[..., str]:
        if key.startswith("_"):
            raise AttributeError(key)
        function = self._table.get(key)
        if function is None:  # the reader knows what is nearest to it
            section = _plural[self._category]
            return lambda name, **fields: self._model._add(section, name, {"type": key, **fields})
        bound = lambda name, **fields: function(self._model, name, **fields)  # noqa: E731
        bound.__doc__, bound.__name__ = function.__doc__, key
        signature = inspect.signature(function)
        bound.__signature__ = signature.replace(parameters=list(signature.parameters.values())[1:])  # type: ignore[attr-defined]
        return bound

    def __call__(self, type: str, name: str, **fields: Any) -> str:
        return getattr(self, type)(name, **fields)

    def __dir__(self) -> List[str]:
        return sorted(self._table)
