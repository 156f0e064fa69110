"""Notebooks of the examples, from their scripts: the text at the top and every comment that begins a paragraph become text, the
paragraphs cells of code.

    python3 python/make_notebooks.py            writes python/examples/*.ipynb
    python3 python/make_notebooks.py --check    says whether they are as they would be written

Only the scripts are edited.
"""
import ast
import json
import pathlib
import re
import sys
from typing import Dict, List

examples = pathlib.Path(__file__).resolve().parent / "examples"
programs_only = {"coupled_participant"}  # is started by another program

setup = """import os
import sys

sys.argv = sys.argv[:1]  # those of the notebook are none of the example's
while not os.path.isdir("models") and os.path.dirname(os.getcwd()) != os.getcwd():
    os.chdir("..")"""


def cell(kind: str, text: str) -> Dict[str, object]:
    lines = text.strip("\n").splitlines(keepends=True)
    return {"cell_type": kind, "metadata": {}, "source": lines} if kind == "markdown" else {
        "cell_type": kind, "execution_count": None, "metadata": {}, "outputs": [], "source": lines}


def paragraphs(code: str) -> List[str]:
    """Cut at empty lines between statements, never within one; a comment goes with the statement that it stands above."""
    lines, cuts = code.splitlines(), []
    imports = False  # they stay together
    for statement in ast.parse(code).body:
        first = min([statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", []))]) - 1
        while first > 0 and lines[first - 1].startswith("#"):
            first -= 1
        after_imports, imports = imports, isinstance(statement, (ast.Import, ast.ImportFrom))
        if first > 0 and not lines[first - 1].strip() and not (after_imports and imports):
            cuts.append(first)
    return ["\n".join(lines[a:b]).strip("\n") + "\n" for a, b in zip([0, *cuts], [*cuts, len(lines)])]


def cells(script: str) -> List[Dict[str, object]]:
    title = ast.get_docstring(ast.parse(script)) or ""
    text, code = re.sub(r"\n+ *python3 .*", "", title), script.split('"""', 2)[2]
    code = re.sub(r'\nmatplotlib\.use\("Agg"\)(  #.*)?\n', "\n", code)  # a notebook shows pictures itself
    made = [cell("markdown", text), cell("code", setup)]
    for part in paragraphs(code):
        comment = re.match(r"(# .*\n)+", part.lstrip("\n"))
        if comment:
            made.append(cell("markdown", re.sub(r"^# ", "", comment[0], flags=re.MULTILINE)))
            part = part.lstrip("\n")[comment.end():]
        if part.strip():
            made.append(cell("code", part))
    return made


def notebook(script: str) -> str:
    made = cells(script)
    for number, each in enumerate(made):
        each["id"] = f"cell-{number}"
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}, "language_info": {"name": "python"}}
    return json.dumps({"cells": made, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}, indent=1, ensure_ascii=False) + "\n"


def main() -> int:
    different = []
    for script in sorted(examples.glob("*.py")):
        path, text = script.with_suffix(".ipynb"), notebook(script.read_text(encoding="utf-8"))
        if script.stem in programs_only or (path.exists() and path.read_text(encoding="utf-8") == text):
            continue
        different.append(path.name)
        if "--check" not in sys.argv:
            path.write_text(text, encoding="utf-8")
    for name in different:
        print(f"python/examples/{name}: " + ("would be changed" if "--check" in sys.argv else "written"))
    return 1 if different and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
