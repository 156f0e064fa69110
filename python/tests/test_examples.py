"""The examples and the lines of the guide run as they stand."""
import importlib.util
import os
import pathlib
import re
import subprocess
import sys

import pytest

import trammel

root = pathlib.Path(__file__).resolve().parents[2]
examples = sorted((root / "python" / "examples").glob("*.py"))


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
