import json
import os
import signal
import subprocess
import sys

import numpy
import pytest

import trammel


def by_command(command, tmp_path, verb, model, *arguments):
    out = subprocess.run([command, verb, model, "--json", *arguments], capture_output=True, text=True, cwd=tmp_path)
    return json.loads(out.stdout)


def test_static(models, command, tmp_path):
    found = trammel.load(models / "hanging_chain.yaml").static()
    told = by_command(command, tmp_path, "static", models / "hanging_chain.yaml")
    assert found.report == told["static"] and found.stability == told["static"]["stability"]
    for name, value in told["values"].items():
        assert found[name][0] == value or (value is None and numpy.isnan(found[name][0]))


def test_no_equilibrium_is_told_with_the_last_position(models):
    m = trammel.Model(gravity=[0, 0, -9.81])
    m.body("stone", mass=1, inertia=[1, 1, 1])
    with pytest.raises(trammel.Error) as caught:
        m.static()
    assert caught.value.problems[0].id == "no-equilibrium" and not caught.value.result.report["found"]
    with pytest.raises(trammel.Error):
        m.static(way="by magic")


def test_kinematic_and_inverse(models, command, tmp_path):
    model = trammel.load(models / "driven_four_bar.yaml")
    found = model.kinematic(end=0.5, output_step=0.05)
    assert found.report["finished"] and len(found.t) == 11
    told = by_command(command, tmp_path, "inverse", models / "driven_four_bar.yaml", "--end", "0.5", "--output-step", "0.05")
    drives = model.inverse(end=0.5, output_step=0.05)
    assert drives.by == told["by"] and len(drives) == len(told["drives"])
    for name, other in zip(drives, told["drives"]):
        numpy.testing.assert_array_equal(drives[name], other["values"])
        assert drives.units[name] == other["unit"]
    drives.save(tmp_path / "drives.csv")
    assert (tmp_path / "drives.csv").read_text().startswith("# trammel-drives") and "splines" in drives.forward
    with pytest.raises(trammel.Error) as caught:
        trammel.load(models / "pendulum.yaml").inverse()
    assert caught.value.problems[0].id == "no-motions"
    with pytest.raises(trammel.Error):
        trammel.load(models / "pendulum.yaml").kinematic()


def test_linearise(models):
    signal = pytest.importorskip("scipy.signal")
    s = trammel.load(models / "cart_pole.yaml").linearise()
    assert s.A.shape == (4, 4) and [name for name, _ in s.inputs] == ["push"] and s.positions == 2
    M, m, l, g = 2, 0.7, 0.4, 9.81
    mass = numpy.array([[M + m, m * l], [m * l, 4 / 3 * m * l**2]])
    poles = numpy.sqrt(numpy.linalg.eigvals(numpy.linalg.solve(mass, [[0, 0], [0, m * g * l]])).astype(complex))
    numpy.testing.assert_allclose(max(numpy.linalg.eigvals(s.A).real), max(poles.real), rtol=1e-9)
    system = s.to_scipy()
    assert isinstance(system, signal.StateSpace) and system.A.shape == (4, 4)
    with pytest.raises(trammel.Error):
        trammel.load(models / "pendulum.yaml").linearise().to_scipy()
    with pytest.raises(trammel.Error):
        trammel.load(models / "pendulum.yaml").linearise(around="nowhere")


def test_modes(models):
    modes = trammel.load(models / "pendulum.yaml").modes()
    w = numpy.sqrt(3 * 9.81 / 2)  # a bar of 1 m
    numpy.testing.assert_allclose(modes.frequencies, [w / (2 * numpy.pi)], rtol=1e-9)
    assert modes.undamped[0].shape.shape == (1, 6) and modes.bodies == ["bar"] and modes.freedoms == 1
    later = trammel.load(models / "pendulum.yaml").modes(around=0.1)
    assert "t = 0.1" in later.around


def test_sweep(models, tmp_path):
    model = trammel.load(models / "pendulum.yaml")
    table = model.sweep({"L": [0.5, 1.0], "m": [1, 2, 4]}, measures=["swing.max", "tip_z"], end=0.3, threads=2)
    assert len(table) == 6 and table.failed == 0 and table.measures == ["swing.max", "tip_z.last"]
    numpy.testing.assert_array_equal(table["L"], [0.5, 0.5, 0.5, 1, 1, 1])
    one = model.with_parameters(L=0.5, m=4).run(end=0.3)
    assert table["swing.max"][2] == one["swing"].max() and table["tip_z.last"][2] == one["tip_z"][-1]
    assert len(model.sweep(latin={"L": (0.5, 1.5)}, count=5, end=0.1)) == 5
    listed = model.sweep(runs=[{"L": 1}, {"L": -1}], end=0.1, file=tmp_path / "s.csv")
    assert listed.status == ["finished", "failed"] and numpy.isnan(listed["swing.last"][1]) and listed.messages[1]
    again = model.sweep(runs=[{"L": 1}, {"L": -1}], end=0.1, file=tmp_path / "s.csv", resume=True)
    assert again.finished == 1
    for wrong in (dict(), dict(grid={"L": []}), dict(grid={"L": [1]}, measures=["nothing.max"]), dict(grid={"L": [1]}, speed=3)):
        with pytest.raises(trammel.Error):
            model.sweep(**wrong)


def test_couple(repository, command, tmp_path):
    file = repository / "couplings" / "double_pendulum.yaml"
    found = trammel.couple(file)
    assert found.status == "finished" and len(found.participants) == 2 and found.report["steps"] > 0
    subprocess.run([command, "couple", file, "-q", "-o", tmp_path / "glued.h5"], check=True)
    stored = trammel.read(tmp_path / "glued.h5")
    for name in stored.names():
        numpy.testing.assert_array_equal(found[name], stored[name])
    for name, part in found.participants.items():
        numpy.testing.assert_array_equal(part.t, trammel.read(tmp_path / f"glued.{name}.h5").t)
    with pytest.raises(trammel.Error) as caught:
        trammel.couple(file, options={"scheme": "nonsense"})
    assert caught.value.problems[0].hint


def test_sweep_of_a_model_built_in_python():
    m = trammel.Model(gravity=[0, 0, -9.81], parameters={"h": 1})
    m.body("stone", mass=1, inertia=[1, 1, 1], position=[0, 0, "h"])
    m.output("z", expression="dz(stone, ground)", unit="m")
    table = m.sweep({"h": [1, 2]}, end=0.1)
    numpy.testing.assert_allclose(table["z.last"], [1 - 9.81 * 0.005, 2 - 9.81 * 0.005], rtol=1e-9)


def test_a_sweep_computes_the_model_and_not_its_file(models, tmp_path):
    text = "trammel: 1\nparameters: {h: 1}\nbodies:\n  a: {mass: 1, inertia: [1, 1, 1], position: [0, 0, %s]}\n" \
           "outputs: {z: {expression: 'dz(a, ground)', unit: m}}\ngravity: [0, 0, 0]\n"
    file = tmp_path / "m.yaml"
    file.write_text(text % "h")
    last = lambda model: list(model.sweep({"h": [1, 2]}, end=0.1)["z.last"])  # noqa: E731
    loaded = trammel.load(file)
    assert last(trammel.from_yaml(text % "5*h", str(file))) == [5, 10]
    assert last(trammel.from_yaml(text % "5*h", str(tmp_path / "other.yaml"))) == [5, 10]
    file.write_text(text % "7*h")
    assert last(loaded) == [1, 2]
    assert sorted(os.listdir(tmp_path)) == ["m.yaml"]
    with pytest.raises(trammel.Error) as caught:
        last(trammel.from_yaml(text % "h", str(tmp_path / "absent" / "m.yaml")))
    assert caught.value.problems[0].id == "cannot-write" and caught.value.problems[0].file == __file__


def test_options_are_read_alike_everywhere(models, repository):
    model = trammel.load(models / "pendulum.yaml")
    flag = next((m["key"], o["name"]) for m in trammel.methods() if m["mechanisms"]
                for o in m["options"] if o["kind"] == "true/false")
    model.run(method=flag[0], options={flag[1]: True}, end=0.01)
    assert model.sweep({"L": [1]}, method=flag[0], options={flag[1]: numpy.bool_(True)}, end=0.01).failed == 0


CTRL_C = """
import sys, time, threading, os, signal, trammel
m = trammel.load(sys.argv[1])
threading.Thread(target=lambda: (sys.stdin.readline(), time.sleep(0.5), os.kill(os.getpid(), signal.SIGINT)), daemon=True).start()
print('go', flush=True)
try:
    eval(sys.argv[2])
except KeyboardInterrupt as error:
    print('heard', error.args)
"""


@pytest.mark.parametrize("call", ["m.linearise(around=1e6)", "m.modes(around=1e6)", "m.inverse(end=1e6, output_step=0.01)"])
def test_analyses_hear_ctrl_c(models, call):
    file = models / ("driven_four_bar.yaml" if "inverse" in call else "pendulum.yaml")
    run = subprocess.Popen([sys.executable, "-c", CTRL_C, file, call], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert run.stdout.readline() == "go\n"
    assert run.communicate("\n", timeout=60)[0].startswith("heard")


def test_quasi_static(tmp_path, command):
    """A stone on a spring of 100 N/m, drawn by a load that grows to 20 N."""
    file = tmp_path / "m.yaml"
    file.write_text("""trammel: 1
gravity: [0, 0, 0]
bodies:
  stone: {mass: 1, inertia: [1, 1, 1]}
joints:
  rail: {type: translational, between: [ground, stone], at: [0, 0, 0], axis: [1, 0, 0]}
forces:
  spring: {type: force, frames: [ground, stone], fx: "-100*dx(stone, ground) + 10*time"}
outputs: {x: {expression: "dx(stone, ground)", unit: m}}
simulation: {end: 2}
""")
    found = trammel.load(file).quasi_static(steps=20)
    assert len(found.t) == 21 and found.report["finished"] and found.status == "finished"
    numpy.testing.assert_allclose(found["x"], found.t / 10, atol=1e-9)
    report = by_command(command, tmp_path, "quasi-static", file, "--steps", "20")["quasi_static"]
    assert report["outputs"] == found.report["outputs"] and found.report.keys() == report.keys()
    with pytest.raises(trammel.Error):
        trammel.load(file).quasi_static(steps=0)


def test_values_with_commas_are_one_column(models):
    """max(0.5, 0.2) made two of it: measures moved to the right."""
    table = trammel.load(models / "pendulum.yaml").sweep({"L": ["max(0.5, 0.2)", 0.5]}, measures=["swing.max"], end=0.1)
    assert table.texts("L") == ["max(0.5, 0.2)", "0.5"] and table.status[1] == "finished"
    assert table["swing.max"][1] > 0 and (table.status[0] == "failed" or table["swing.max"][0] == table["swing.max"][1])


def test_an_interrupted_sweep_gives_the_runs_that_were_made(models):
    """They were thrown away."""
    model = trammel.load(models / "pendulum.yaml")

    def progress(done, all):
        if done == 2:
            os.kill(os.getpid(), signal.SIGINT)
            for _ in range(1000):  # the handler runs here
                pass

    with pytest.raises(trammel.Interrupted) as caught:
        model.sweep({"L": numpy.linspace(0.5, 1, 20)}, measures=["swing.max"], end=0.1, threads=1, progress=progress)
    found = caught.value.result
    assert 2 <= len(found) < 20 and set(found.status) == {"finished"} and numpy.isfinite(found["swing.max"]).all()
    numpy.testing.assert_array_equal(found["L"], numpy.linspace(0.5, 1, 20)[: len(found)])


def test_a_sweep_as_a_table_of_pandas(models):
    pandas = pytest.importorskip("pandas")
    frame = trammel.load(models / "pendulum.yaml").sweep({"L": ["50 cm", 1], "m": [1]}, measures=["swing.max"], end=0.1).to_dataframe()
    assert list(frame.columns) == ["status", "L", "m", "swing.max"] and list(frame["L"]) == ["50 cm", "1"]
    assert pandas.api.types.is_float_dtype(frame["m"]) and pandas.api.types.is_float_dtype(frame["swing.max"])


def test_studies(monkeypatch, tmp_path):
    """The program is another one here: it says what it was called with."""
    program = tmp_path / "trammel-study"
    program.write_text("#!/bin/sh\ncase $1 in\nnone) echo 'error: there is no study none [unknown-study]' >&2;"
                       " echo '  hint: cases' >&2; exit 2;;\nesac\necho \"{\\\"words\\\": \\\"$*\\\", \\\"ok\\\": false}\"; exit 6\n")
    program.chmod(0o755)
    monkeypatch.setattr(trammel.studies, "_program", lambda: str(program))
    assert trammel.study("cases --tight") == {"words": "cases --tight --json --no-pictures", "ok": False}
    assert trammel.study(["cases", "-o", "my pictures"])["words"] == "cases -o my pictures --json"
    assert trammel.study()["words"] == "--list --json"
    with pytest.raises(trammel.Error) as caught:
        trammel.study("none")
    problem = caught.value.problems[0]
    assert (problem.id, problem.text, problem.hint, problem.file) == ("unknown-study", "there is no study none", "cases", __file__)
    assert caught.value.exit_code == 2
    monkeypatch.setattr(trammel.studies, "_program", lambda: None)
    with pytest.raises(trammel.Error) as caught:
        trammel.study("cases")
    assert caught.value.problems[0].id == "no-studies"


def test_the_studies_are_listed():
    if trammel.studies._program() is None:
        pytest.skip("trammel-study was not built")
    assert {"cases", "corpus"} <= {entry["name"] for entry in trammel.study()}
