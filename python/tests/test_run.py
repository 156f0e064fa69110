import gc
import os
import signal
import subprocess
import sys
import threading
import time

import numpy
import pytest

import trammel


def test_run_gives_the_bits_of_the_command(models, command, tmp_path):
    file = tmp_path / "x.h5"
    subprocess.run([command, "run", models / "slider_crank.yaml", "-o", file, "-q", "--end", "0.5"], check=True)
    stored, here = trammel.read(file), trammel.load(models / "slider_crank.yaml").run(end=0.5)
    assert stored.names() == here.names() and stored.tables == here.tables
    for table in here.tables:
        for name in here.names(table):
            numpy.testing.assert_array_equal(stored[f"{table}/{name}"], here[f"{table}/{name}"])
    assert here.summary["steps"] == stored.summary["steps"]


def test_parameters_act_while_the_file_is_read(models):
    short = trammel.load(models / "pendulum.yaml", L=0.5)
    assert short.parameters["L"] == 0.5
    result = short.run(end=1, tolerance=1e-10)
    swing = trammel.load(models / "pendulum.yaml", {"L": "50 cm"}).run(end=1, tolerance=1e-10)
    numpy.testing.assert_array_equal(result["swing"], swing["swing"])
    # A thin bar: angle'' = 3 g / (2 L) cos(angle) from the horizontal, energy kept.
    speed, angle = result["body.bar.angular_velocity.y"], result["joint.hinge.angle"]
    numpy.testing.assert_allclose(speed**2, 3 * 9.81 / 0.5 * numpy.sin(angle), atol=6e-5)  # a millionth of the largest


def test_settings_of_a_run(models):
    model = trammel.load(models / "pendulum.yaml")
    result = model.run(method="radau-iia-3", tolerance=1e-8, end=0.3, output_step=0.1)
    assert result.provenance["method"] == "radau-iia-3" and result.provenance["tolerance"] == "1e-08"
    numpy.testing.assert_allclose(result.t, [0, 0.1, 0.2, 0.3])
    every = model.run(step=1e-3, end=0.01, output_step=0, options={"alpha": -0.1})
    assert len(every.t) == 11 and every.provenance["option.alpha"] == "-0.1"
    assert model.run(end=0.1).provenance["method"] == "hht-i3"  # nothing is kept of other runs


def test_columns_are_views(models):
    result = trammel.load(models / "pendulum.yaml").run(end=0.2)
    x = result["body.bar.position.x"]
    again = result["body.bar.position.x"]
    assert x.ctypes.data == again.ctypes.data and x.strides[0] == 8 * len(result.names())
    with pytest.raises(ValueError):
        x[0] = 1
    copy, t = x.copy(), result.t
    del result, again
    gc.collect()
    numpy.testing.assert_array_equal(x, copy)
    assert t[-1] == pytest.approx(0.2)


def test_names_units_groups_and_patterns(models):
    result = trammel.load(models / "pendulum.yaml").run(end=0.1)
    assert result.signal("swing").unit == "rad" and "swing" in result and "nonsense" not in result
    assert result["joint.hinge.force"].shape == (len(result.t), 3)
    numpy.testing.assert_array_equal(result["joint.hinge.force"][:, 2], result["joint.hinge.force.z"])
    assert [s.name for s in result.signals("tip_?")] == ["tip_x", "tip_z"]
    assert len(result["steps/time"]) == result.summary["steps"]
    with pytest.raises(trammel.Error) as caught:
        result["body.bar.positon.x"]
    problem = caught.value.problems[0]
    assert problem.id == "unknown-signal" and "position" in problem.hint and problem.file == __file__


def test_mistakes_are_those_of_the_command(models, command, tmp_path):
    file = tmp_path / "bad.yaml"
    file.write_text("trammel: 1\nbodies:\n  bar: {mass: -2, inertia: [1, 1, 1], colour: red}\n")
    printed = subprocess.run([command, "check", file], capture_output=True, text=True).stderr
    with pytest.raises(trammel.Error) as caught:
        trammel.load(file)
    first = caught.value.problems[0]
    assert (first.file, first.line) == (str(file), 3) and first.column is not None and first.hint
    assert str(first) in printed
    with pytest.raises(trammel.Error) as caught:
        trammel.load(tmp_path / "absent.yaml")
    assert "absent.yaml" in str(caught.value)


@pytest.mark.parametrize("settings, id", [
    (dict(method="hht-i33"), "unknown-method"), (dict(tolerance=-1), "not-positive"),
    (dict(options={"alpha": -5}), None), (dict(end="soon"), "wrong-type"), (dict(formulation="index-9"), None),
])
def test_wrong_settings_name_the_call(models, settings, id):
    model = trammel.load(models / "pendulum.yaml")
    with pytest.raises(trammel.Error) as caught:
        model.run(**settings)
    problem = caught.value.problems[0]
    assert problem.file == __file__ and problem.line and problem.text
    assert id is None or problem.id == id


FAILS = """
trammel: 1
bodies:
  ball: {mass: 1, inertia: [1, 1, 1]}
forces:
  pull: {type: force, frames: [ground, ball], fx: "1/(0.5 - time)^3"}
simulation: {end: 1, tolerance: 1e-6, output_step: 0.01}
"""


def test_a_failed_run_raises_with_what_was_computed():
    with pytest.raises(trammel.Error) as caught:
        trammel.from_yaml(FAILS).run()
    result = caught.value.result
    assert caught.value.exit_code == 1 and result.status == "failed" and result.failure["causes"]
    assert 0.3 < result.t[-1] < 0.51 and "pull" in str(caught.value)


def test_a_failed_run_leaves_a_file_that_can_be_read(tmp_path):
    with pytest.raises(trammel.Error) as caught:
        trammel.from_yaml(FAILS).run(file=tmp_path / "x.h5")
    assert trammel.read(tmp_path / "x.h5").status == "failed"
    assert caught.value.result.t[-1] > 0.3


LONG = "import sys, trammel\nm = trammel.load(sys.argv[1])\n"


def test_ctrl_c_ends_a_run_in_good_order(models):
    program = LONG + """
print('go', flush=True)
try:
    m.run(end=1e3, step=1e-6, output_step=1)
except trammel.Interrupted as interrupted:
    assert isinstance(interrupted, KeyboardInterrupt)
    print(interrupted.result.status, len(interrupted.result.t) > 0)
m.run(end=0.1)
print('and on')
"""
    run = subprocess.Popen([sys.executable, "-c", program, models / "pendulum.yaml"], stdout=subprocess.PIPE, text=True)
    assert run.stdout.readline() == "go\n"
    time.sleep(0.5)
    run.send_signal(signal.SIGINT)
    assert run.communicate(timeout=60)[0] == "interrupted True\nand on\n"
    assert run.returncode == 0


def test_an_exception_of_the_progress_function_ends_the_run(models):
    class Enough(Exception):
        pass

    def progress(t, end, steps):
        assert 0 < t < end and steps > 0
        raise Enough

    with pytest.raises(Enough):
        trammel.load(models / "slider_crank.yaml").run(end=1e3, step=1e-6, output_step=1, progress=progress)


def test_ctrl_c_does_not_hide_a_disk_that_is_full(models, tmp_path):
    """Behind the signal every failure was taken for it, and the program was told nothing of its result."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    def progress(t, end, steps):
        resource.setrlimit(resource.RLIMIT_FSIZE, (1, before[1]))
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(1000):  # the handler runs here
            pass

    try:
        with pytest.raises(trammel.Error) as caught:
            trammel.load(models / "pendulum.yaml").run(end=1e3, step=1e-5, output_step=1e-3, file=tmp_path / "x.csv", progress=progress)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert caught.value.exit_code == 4


def test_a_handler_that_is_installed_meanwhile_stays(models):
    """The end of the run put the one back that was there at its start."""

    class Enough(Exception):
        pass

    def progress(t, end, steps):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        raise Enough

    before = signal.getsignal(signal.SIGINT)
    try:
        with pytest.raises(Enough):
            trammel.load(models / "slider_crank.yaml").run(end=1e3, step=1e-6, output_step=1, progress=progress)
        ignored = int(open("/proc/self/status").read().split("SigIgn:")[1].split()[0], 16)
        assert ignored >> (signal.SIGINT - 1) & 1
    finally:
        signal.signal(signal.SIGINT, before)
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(1000):
            pass


def test_a_progress_that_is_no_function_is_refused(models):
    """Numbers and texts were taken for nothing."""
    model = trammel.load(models / "pendulum.yaml")
    for wrong in (lambda: model.run(end=0.01, progress=42), lambda: model.run(end=0.01, progress="yes"),
                  lambda: model.sweep({"L": [1]}, end=0.01, progress=42)):
        with pytest.raises(trammel.Error) as caught:
            wrong()
        assert caught.value.problems[0].id == "wrong-type" and caught.value.problems[0].file == __file__


def test_other_threads_go_on_and_runs_go_side_by_side(models):
    model = trammel.load(models / "slider_crank.yaml")
    alone = model.run(end=0.5)
    results = [None] * 4

    def work(i):
        results[i] = model.run(end=0.5)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results:
        numpy.testing.assert_array_equal(result["slider_x"], alone["slider_x"])


def test_after_a_fork(models):
    model = trammel.load(models / "pendulum.yaml")
    before = model.run(end=0.2)["swing"]
    child = os.fork()
    if child == 0:
        os._exit(0 if numpy.array_equal(model.run(end=0.2)["swing"], before) else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_doubts_are_warnings():
    model = trammel.Model(bodies={"a": {"mass": 1, "inertia": [1, 1, 1]}}, parameters={"unused": 3})
    assert [p.id for p in model.check()]
    with pytest.warns(trammel.ModelWarning):
        trammel.from_yaml("trammel: 1\nparameters: {unused: 3}\nbodies:\n  a: {mass: 1, inertia: [1, 1, 2.1]}\n").run(end=0.1)


def test_the_start_is_told(models):
    result = trammel.load(models / "slider_crank.yaml").run(end=0.01)
    assert result.start and result.start == trammel.load(models / "slider_crank.yaml").run(end=0.01).start
    assert all(stage["stage"] and stage["residual_after"] < 1e-8 for stage in result.start)


def test_ctrl_c_in_the_progress_function_keeps_the_result(models):
    """Python's handler may speak up while the line of progress is written: a terminal's usual case."""
    calls = []

    def progress(t, end, steps):
        calls.append(t)
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(1000):  # the handler runs here
            pass

    with pytest.raises(trammel.Interrupted) as caught:
        trammel.load(models / "slider_crank.yaml").run(end=1e3, step=1e-6, output_step=1, progress=progress)
    assert caught.value.result.status == "interrupted" and len(calls) == 1
    assert caught.value.result.summary["reached"] >= calls[0]


def test_a_thousand_small_runs_in_two_threads(models):
    model = trammel.load(models / "pendulum.yaml")
    swing = model.run(end=0.02)["swing"]
    same = [0, 0]

    def work(i):
        for _ in range(500):
            same[i] += numpy.array_equal(model.run(end=0.02)["swing"], swing)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert same == [500, 500]
