"""Type stubs of what is made at run time: the compiled module from its signatures, the elements from the registry, the
sections of a model from the grammar.

    python3 python/make_stubs.py            writes python/trammel/{_core,sections,joints,motions,forces,blocks}.pyi
    python3 python/make_stubs.py --check    says whether they are as they would be written

The package itself must be importable (PYTHONPATH=build/release/python).
"""
import inspect
import os
import re
import sys

sys.path = [entry for entry in sys.path if os.path.abspath(entry) != os.path.dirname(os.path.abspath(__file__))]

import trammel
from trammel import _core, elements, sections

folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "trammel")


def types_in(signature: str) -> str:
    """A signature of pybind11 as Python writes it."""
    text = signature.replace("trammel._core.", "")
    text = re.sub(r"numpy\.ndarray\[[^\]]*\]\]?", "numpy.ndarray", text)
    text = re.sub(r"\b(List|Dict|Tuple|Optional|Callable)\[", r"typing.\1[", text)
    text = re.sub(r"(?<![\w.])(object|capsule)(?![\w])", "typing.Any", text)
    text = re.sub(r"(?<![\w.])(tuple|list|dict|function)(?![\w\[])", lambda m: {"tuple": "typing.Tuple[typing.Any, ...]",
                  "list": "typing.List[typing.Any]", "dict": "typing.Dict[typing.Any, typing.Any]",
                  "function": "typing.Callable[..., typing.Any]"}[m[1]], text)
    text = re.sub(r"<[^>]*>", "...", text)
    return text


def signature_of(function: object, fallback: str) -> str:
    first = (function.__doc__ or "").split("\n")[0]
    found = re.fullmatch(r"\w+(\(.*\) -> .*)", first)
    return types_in(found[1]) if found else fallback


def property_type(accessor: property) -> str:
    found = re.search(r"-> (.*)$", (accessor.fget.__doc__ or "").split("\n")[0])
    return types_in(found[1]) if found else "typing.Any"


def core_stub() -> str:
    lines = ['"""Made by python/make_stubs.py from the signatures of the compiled module."""', "import typing", "", "import numpy", "",
             "version: str", ""]
    for name, thing in sorted(vars(_core).items()):
        if inspect.isclass(thing):
            lines += ["", f"class {name}:"]
            for part, member in sorted(vars(thing).items()):
                if isinstance(member, property):
                    kind = property_type(member)
                    lines += ["    @property", f"    def {part}(self) -> {kind}: ..."]
                    if member.fset is not None:
                        lines += [f"    @{part}.setter", f"    def {part}(self, value: {kind}) -> None: ..."]
                elif callable(member) and (not part.startswith("_") or part == "__init__"):
                    text = signature_of(member, "(self) -> None")
                    lines.append(f"    def {part}{re.sub(r'^.self: [^,)]*', '(self', text)}: ...")
            lines.append("")
    for name, thing in sorted(vars(_core).items()):
        if inspect.isbuiltin(thing):
            lines.append(f"def {name}{signature_of(thing, '(*arguments: typing.Any) -> typing.Any')}: ...")
    return "\n".join(lines) + "\n"


def element_stub(category: str) -> str:
    lines = [f'"""All {category}s. Made by python/make_stubs.py from the registry of the library."""',
             "from typing import Any, Callable, Dict", "", "from .model import Model, Value", "",
             "_table: Dict[str, Callable[..., str]]", ""]
    for element in elements.descriptions(category):
        keywords = "".join(f", {name}: Value = ..." for name in elements.parameters_of(element))
        lines += [f"def {element['key']}(model: Model, name: str, *{keywords}, **fields: Any) -> str:",
                  f'    """{element["summary"]}"""', ""]
    return "\n".join(lines).rstrip() + "\n"


def sections_stub() -> str:
    lines = ['"""The sections of a model. Made by python/make_stubs.py from the grammar of files."""', "from typing import Any, List, Tuple", "",
             "from .model import Value", "", "named_sections: List[Tuple[str, str, str, str]]", "",
             "def summary(section: str, rule: str, article: str) -> str: ...", "def parameters_of(rule: str) -> List[str]: ...", "",
             "class Sections:"]
    for method, section, rule, article in sections.named_sections:
        keywords = "".join(f", {name}: Value = ..." for name in sections.parameters_of(rule))
        lines += [f"    def {method}(self, name: str, *{keywords}, **fields: Any) -> str:",
                  f'        """{sections.summary(section, rule, article)}"""', ""]
    return "\n".join(lines).rstrip() + "\n"


def stubs() -> dict:
    return {"_core.pyi": core_stub(), "sections.pyi": sections_stub(), **{f"{c}s.pyi": element_stub(c) for c in ("joint", "motion", "force", "block")}}


def main() -> int:
    different = []
    for name, text in stubs().items():
        path = os.path.join(folder, name)
        present = open(path, encoding="utf-8").read() if os.path.exists(path) else None
        if present == text:
            continue
        different.append(name)
        if "--check" not in sys.argv:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
    for name in different:
        print(f"python/trammel/{name}: " + ("would be changed" if "--check" in sys.argv else "written"))
    return 1 if different and "--check" in sys.argv else 0


if __name__ == "__main__":
    assert trammel.__version__
    sys.exit(main())
