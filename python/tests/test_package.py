"""Stubs, documentation of the package, and installation by pip."""
import doctest
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

import trammel

root = pathlib.Path(__file__).resolve().parents[2]


def test_stubs_are_those_of_the_bindings():
    out = subprocess.run([sys.executable, root / "python" / "make_stubs.py", "--check"], capture_output=True, text=True)
    assert out.returncode == 0, out.stdout + out.stderr + "python3 python/make_stubs.py writes them"


def test_stubs_are_python_and_complete():
    import ast

    for name in ("_core", "joints", "motions", "forces", "blocks"):
        tree = ast.parse((root / "python" / "trammel" / f"{name}.pyi").read_text())
        defined = {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
        module = getattr(trammel, name)
        assert {n for n, thing in vars(module).items() if not n.startswith("_") and callable(thing)} <= defined
    tree = ast.parse((root / "python" / "trammel" / "sections.pyi").read_text())
    methods = next(node for node in tree.body if isinstance(node, ast.ClassDef)).body
    assert {node.name for node in methods} == {name for name, _, _, _ in trammel.sections.named_sections}
    body = next(node for node in methods if node.name == "body")
    assert {"name", "mass"} <= {a.arg for a in body.args.args + body.args.kwonlyargs}


def test_types_agree():
    """The package and its stubs, by mypy."""
    pytest.importorskip("mypy")
    out = mypy(root / "python" / "trammel", root / "python" / "examples")
    assert out.returncode == 0, out.stdout


def test_types_know_the_sections_of_a_model(tmp_path):
    """The package said that it has types, and m.body was none of them: each program that used it had errors."""
    pytest.importorskip("mypy")
    program = tmp_path / "program.py"
    program.write_text("import trammel\nm = trammel.Model('x', gravity=[0, 0, -9.81])\n"
                       "name: str = m.body('bar', mass=1, inertia=[1, 1, 1])\n"
                       "m.input('push', unit='N')\nm.output('x', expression='dx(bar, ground)')\n"
                       "m.shape('s', body='bar', type='box', size=[1, 1, 1])\n"
                       "m.joint.revolute('j', between=['ground', 'bar'], at=[0, 0, 0], axis=[0, 1, 0])\n"
                       "end: float = m.run(end=0.1).t[-1]\nL = 2 * m.parameters['L']\n"
                       "wrong: int = m.body('b')\nm.bodi('b')\n")
    out = mypy(program, root / "python" / "trammel")
    assert out.stdout.count("error:") == 2 and "program.py:10: error" in out.stdout and "program.py:11: error" in out.stdout, out.stdout


def mypy(*files):
    return subprocess.run([sys.executable, "-m", "mypy", "--ignore-missing-imports", "--cache-dir=/dev/null", *files], cwd=root,
                          capture_output=True, text=True)


def test_every_identifier_is_explained():
    """Those that the package itself uses are in the list of the library, as all others are."""
    import re

    used = set()
    for file in (root / "python" / "trammel").glob("*.py"):
        used |= set(re.findall(r'(?:refuse\(|Problem\("error", )"([a-z-]+)"', file.read_text()))
    assert len(used) > 5 and not [id for id in used if trammel._core.explain(id) is None]
    assert "method" in trammel.Problem("error", "unknown-method", "").explanation


def test_doctests():
    for module in (trammel.model, trammel):
        assert doctest.testmod(module).failed == 0


def test_everything_public_is_described():
    for name in trammel.__all__:
        thing = getattr(trammel, name)
        assert thing.__doc__, name
        if isinstance(thing, type):
            for part, member in vars(thing).items():
                if not part.startswith("_") and (callable(member) or isinstance(member, property)):
                    assert part in ("title", "t_min", "t_max", "names", "label") or member.__doc__, f"{name}.{part}"


def test_pip_installs_offline(tmp_path):
    build = pathlib.Path(trammel.__file__).resolve().parents[2]
    if not (build / "CMakeCache.txt").exists() or not shutil.which("cmake"):
        pytest.skip("the package was not built here")
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    environment.update(TRAMMEL_BUILD_DIR=str(build), PIP_NO_INDEX="1", PIP_DISABLE_PIP_VERSION_CHECK="1")
    subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", tmp_path / "venv"], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    # A copy of what is not built: pip leaves folders beside setup.py.
    source = tmp_path / "source"
    shutil.copytree(root / "python", source / "python")
    for name in ("setup.py", "pyproject.toml"):
        text = (root / name).read_text().replace('here = os.path.dirname(os.path.abspath(__file__))', f"here = {str(root)!r}")
        (source / name).write_text(text)
    subprocess.run([python, "-m", "pip", "install", "-q", "--no-build-isolation", "--no-deps", source], check=True,
                   env=environment, cwd=tmp_path)
    out = subprocess.run([python, "-c", "import trammel; print(trammel.__file__); print(trammel.__version__)"], env=environment,
                         cwd=tmp_path, capture_output=True, text=True, check=True).stdout.split()
    assert str(tmp_path / "venv") in out[0] and out[1] == trammel.__version__
    linked = subprocess.run(["ldd", next(pathlib.Path(out[0]).parent.glob("_core*.so"))], capture_output=True, text=True).stdout
    assert str(pathlib.Path(out[0]).parent / "libtrammel") in linked
