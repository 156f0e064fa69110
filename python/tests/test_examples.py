"""The examples, their notebooks and the lines of the guide run as they stand."""
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

import trammel

root = pathlib.Path(__file__).resolve().parents[2]
examples = sorted((root / "python" / "examples").glob("*.py"))
notebooks = sorted((root / "python" / "examples").glob("*.ipynb"))


def run(program, folder):
    os.symlink(root / "models", folder / "models")
    return subprocess.run([sys.executable, program], cwd=folder,
                          capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("example", examples, ids=lambda path: path.stem)
def test_example(example, tmp_path):
    pytest.importorskip("scipy")
    out = run(example, tmp_path)
    assert out.returncode == 0, out.stdout + out.stderr
    if example.stem == "own_integrator":
        assert float(out.stdout.split("order ")[1]) == pytest.approx(2, abs=0.1)


def test_notebooks_are_those_of_the_scripts():
    out = subprocess.run([sys.executable, root / "python" / "make_notebooks.py", "--check"], capture_output=True, text=True)
    assert out.returncode == 0, out.stdout + out.stderr + "python3 python/make_notebooks.py writes them"
    assert {path.stem for path in examples} - {path.stem for path in notebooks} == {"coupled_participant"}


@pytest.mark.parametrize("path", notebooks, ids=lambda path: path.stem)
def test_notebook(path, tmp_path):
    """Cell by cell, as a notebook does it: each is compiled by itself, all share their names."""
    pytest.importorskip("scipy")
    cells = json.loads(path.read_text())["cells"]
    assert cells[0]["cell_type"] == "markdown" and sum(cell["cell_type"] == "code" for cell in cells) > 2
    program = tmp_path / "cells.py"
    program.write_text("import json, sys\nimport matplotlib\nmatplotlib.use('Agg')\nnames = {}\n"
                       f"for number, cell in enumerate(json.load(open({str(path)!r}))['cells']):\n"
                       "    if cell['cell_type'] == 'code':\n"
                       "        exec(compile(''.join(cell['source']), f'<cell {number}>', 'exec'), names)\n")
    out = run(program, tmp_path)
    assert out.returncode == 0, out.stdout + out.stderr


@pytest.mark.parametrize("page, least", [("python", 6), ("running", 1), ("analyses", 1), ("model-files", 1), ("own-equations", 1), ("results", 3)])
def test_lines_of_the_guide(page, least, tmp_path):
    """All Python of a page, one block after the other, in one program."""
    text = (root / "docs" / "guide" / f"{page}.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) >= least
    if importlib.util.find_spec("pandas") is None:
        blocks = [block for block in blocks if "import pandas" not in block]
    program = tmp_path / "guide.py"
    if page == "results":
        pytest.importorskip("h5py")
        found = trammel.load(root / "models" / "slider_crank.yaml").run(end=0.1)
        found.save(tmp_path / "slider_crank.h5")
        found.save(tmp_path / "run.csv")
    program.write_text("import matplotlib\nmatplotlib.use('Agg')\n" + "\n".join(blocks))
    out = run(program, tmp_path)
    assert out.returncode == 0, out.stderr
