import math
import os
import signal
import subprocess
import sys
import time

import numpy
import pytest

import trammel


def oscillator(t, y):
    return [y[1], -y[0]]



@pytest.mark.parametrize("method", trammel.ode_methods())
def test_every_method_of_first_order(method):
    tries = [dict(rtol=1e-7, atol=1e-9), dict(step=1e-3)]
    errors = []
    for settings in tries:
        try:
            r = trammel.solve(oscillator, (0, 2), [1.0, 0.0], method, t_eval=[0.5, 1, 2], **settings)
        except trammel.Error as error:  # of fixed step only, of controlled step only, or in need of a file
            errors.append(error)
            continue
        assert r.success, r.message
        tolerance = 2e-3 if "step" in settings else 2e-4
        numpy.testing.assert_allclose(r.y[0], numpy.cos(r.t), atol=tolerance)
    assert len(errors) < 2 or method == "runge-kutta", errors
    assert all(error.problems[0].hint or error.problems[0].text for error in errors)


@pytest.mark.parametrize("method", [m["key"] for m in trammel.methods() if m["second_order"]])
def test_every_method_of_second_order(method):
    for settings in (dict(rtol=1e-6, atol=1e-8), dict(step=1e-3)):
        try:
            r = trammel.solve(lambda t, y, v: -y, (0, 2), [1.0, 0.0], method, kind="second", t_eval=[1, 2],
                              jac=lambda t, y, v: (-numpy.eye(1), numpy.zeros((1, 1))), **settings)
        except trammel.Error:
            continue
        assert r.success
        numpy.testing.assert_allclose(r.y[0], numpy.cos(r.t), atol=2e-3)
        return
    raise AssertionError("the method takes neither a tolerance nor a step")


@pytest.mark.parametrize("method", trammel.ode_methods("implicit"))
def test_every_method_for_implicit_equations(method):
    # y1' = -y1, 0 = y2 - y1^2: an algebraic component.
    F = lambda t, y, p: [p[0] + y[0], y[1] - y[0] ** 2]  # noqa: E731
    r = trammel.solve(F, (0, 1), [1.0, 1.0], method, kind="implicit", rtol=1e-7, atol=1e-9)
    assert r.success
    numpy.testing.assert_allclose(r.y[:, -1], [numpy.exp(-1), numpy.exp(-2)], rtol=1e-4)
    given = trammel.solve(F, (0, 1), [1.0, 1.0], method, kind="implicit", rtol=1e-7, atol=1e-9,
                          jac=lambda t, y, p, c: [[1 + c, 0], [-2 * y[0], 1]])
    assert given.njev > 0 and given.nfev < r.nfev


def test_as_scipy_does():
    scipy = pytest.importorskip("scipy.integrate")
    f = lambda t, y: [y[0] - y[0] * y[1], y[0] * y[1] - y[1]]  # noqa: E731
    theirs = scipy.solve_ivp(f, (0, 10), [1.5, 1], rtol=1e-9, atol=1e-11, dense_output=True)
    ours = trammel.solve(f, (0, 10), [1.5, 1], rtol=1e-9, atol=1e-11, dense_output=True)
    assert ours.t[0] == 0 and ours.t[-1] == 10 and ours.y.shape == (2, len(ours.t))
    times = numpy.linspace(0, 10, 101)
    numpy.testing.assert_allclose(ours.sol(times), theirs.sol(times), atol=1e-7)
    numpy.testing.assert_allclose(ours.sol(2.5), theirs.sol(2.5), atol=1e-7)
    with pytest.raises(trammel.Error):
        ours.sol(10.1)


@pytest.mark.parametrize("method", ["dormand-prince-54", "adams", "radau-iia-3", "bdf", "cvode-bdf"])
def test_events(method):
    def ground(t, y):
        return y[0]

    ground.terminal, ground.direction = True, -1

    def top(t, y):
        return y[1]

    r = trammel.solve(lambda t, y: [y[1], -9.81], (0, 10), [1.0, 5.0], method, events=[ground, top], rtol=1e-9, atol=1e-10)
    landing = (5 + numpy.sqrt(25 + 2 * 9.81)) / 9.81
    assert r.status == 1 and r.t[-1] == r.t_events[0][0]
    assert r.t_events[0][0] == pytest.approx(landing, rel=1e-6) and r.t_events[1][0] == pytest.approx(5 / 9.81, rel=1e-6)
    assert abs(r.y_events[0][0][0]) < 1e-8


def test_backwards_args_and_steps():
    r = trammel.solve(lambda t, y, k: [-k * y[0]], (1, 0), [1.0], args=(2.0,), rtol=1e-9, atol=1e-12)
    assert r.y[0, -1] == pytest.approx(numpy.exp(2), rel=1e-7)
    fixed = trammel.solve(oscillator, (0, 1), [1.0, 0.0], "rk4", step=0.1)
    assert len(fixed.t) == 11 and fixed.nfev >= 40
    assert trammel.solve(oscillator, (0, 1), [1.0, 0.0], max_step=0.01).steps >= 100


def test_jacobians_save_calls():
    lam = 1e4
    f = lambda t, y: [-lam * (y[0] - numpy.cos(t))]  # noqa: E731
    without = trammel.solve(f, (0, 1), [0.0], "radau-iia-3", rtol=1e-6)
    given = trammel.solve(f, (0, 1), [0.0], "radau-iia-3", rtol=1e-6, jac=lambda t, y: [[-lam]])
    assert given.success and given.njev > 0 and without.njev == 0 and given.steps < 500
    assert given.y[0, -1] == pytest.approx(numpy.cos(1), rel=1e-3)


def test_functions_that_misbehave():
    class Mine(Exception):
        pass

    def raises(t, y):
        if t > 0.5:
            raise Mine("no")
        return oscillator(t, y)

    for method in ("dormand-prince-54", "cvode-bdf", "radau-iia-3", "adams"):
        with pytest.raises(Mine):
            trammel.solve(raises, (0, 1), [1.0, 0.0], method)
        with pytest.raises(ValueError, match="shape"):
            trammel.solve(lambda t, y: [1.0], (0, 1), [1.0, 0.0], method)
        with pytest.raises((TypeError, ValueError)):
            trammel.solve(lambda t, y: "text", (0, 1), [1.0, 0.0], method)
        r = trammel.solve(lambda t, y: [numpy.nan if t > 0.5 else 1.0], (0, 1), [0.0], method)
        assert not r.success and r.status == -1 and r.t[-1] <= 0.5 + 1e-6 and r.message
    with pytest.raises(ValueError, match="jac"):
        trammel.solve(oscillator, (0, 1), [1.0, 0.0], "radau-iia-3", jac=lambda t, y: [1.0])
    with pytest.raises(Mine):
        trammel.solve(oscillator, (0, 1), [1.0, 0.0], events=lambda t, y: raises(t, y)[0])


@pytest.mark.parametrize("wrong", [
    dict(method="rk5"), dict(y0=[]), dict(y0=[[1.0]]), dict(rtol=0), dict(atol=-1), dict(kind="third"), dict(t_eval=[5.0]),
    dict(options={"nonsense": 1}), dict(kind="second", y0=[1.0]), dict(kind="implicit", method="rk4"), dict(step=-1.0),
])
def test_wrong_calls(wrong):
    call = dict(y0=[1.0, 0.0], method="rk4")
    call.update(wrong)
    with pytest.raises(trammel.Error) as caught:
        trammel.solve(oscillator, (0, 1), **call)
    assert caught.value.problems[0].file == __file__


def test_ctrl_c_reaches_a_function_that_never_ends():
    program = ("import trammel\nprint('go', flush=True)\n"
               "try: trammel.solve(lambda t, y: [1.0], (0, 1e9), [0.0], step=1e-3)\n"
               "except KeyboardInterrupt: print('ended')")
    run = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert run.stdout.readline() == "go\n"
    time.sleep(0.3)
    os.kill(run.pid, signal.SIGINT)
    assert run.communicate(timeout=60)[0] == "ended\n" and run.returncode == 0


@pytest.mark.parametrize("method", ["radau-iia-3", "bdf"])
def test_with_a_jacobian_time_is_not_differenced_where_no_method_asks(method):
    if method not in trammel.ode_methods():
        method = next(key for key in trammel.ode_methods() if "bdf" in key)
    f = lambda t, y: [math.sqrt(t)]  # noqa: E731  (raises before t = 0)
    r = trammel.solve(f, (0, 1), [0.0], method, jac=lambda t, y: [[0.0]], rtol=1e-6, atol=1e-8)
    assert r.success and r.y[0, -1] == pytest.approx(2 / 3, rel=1e-4)


def test_time_is_differenced_where_a_method_asks():
    """Of a Rosenbrock method, whose order f_t keeps; with and without jac."""
    method = next(key for key in trammel.ode_methods() if "rosenbrock" in key or "rodas" in key)
    for jac in (None, lambda t, y: [[-1.0]]):
        r = trammel.solve(lambda t, y: [-y[0] + math.sin(3 * t)], (0, 2), [1.0], method, jac=jac, rtol=1e-8, atol=1e-10)
        exact = 1.3 * math.exp(-2) + 0.1 * (math.sin(6) - 3 * math.cos(6))
        assert r.success and r.y[0, -1] == pytest.approx(exact, rel=1e-5)


def test_algebraic_columns_survive_small_steps():
    """c = 1/h of 1e10: a difference that is divided by c would move the algebraic component by 1e-18."""
    seen = []

    def F(t, y, p):
        seen.append(numpy.array(y))
        return [p[0] + y[0], y[1] - y[0] ** 2]

    method = trammel.ode_methods("implicit")[0]
    r = trammel.solve(F, (0, 1e-8), [1.0, 1.0], method, kind="implicit", rtol=1e-6, atol=1e-9, first_step=1e-11, max_step=1e-10)
    assert r.success and r.y[1, -1] == pytest.approx(1, rel=1e-6) and r.rejected < 5
    moved = {abs(y[1] - 1) for y in seen if y[0] == 1.0} - {0.0}
    assert moved and min(moved) > 1e-9


def test_a_terminal_event_may_count():
    crossing = lambda t, y: y[0]  # noqa: E731
    crossing.terminal = 3
    r = trammel.solve(oscillator, (0, 20), [1.0, 0.0], events=crossing, rtol=1e-9, atol=1e-10)
    assert r.status == 1
    numpy.testing.assert_allclose(r.t_events[0], numpy.pi * numpy.array([0.5, 1.5, 2.5]), rtol=1e-6)
    assert r.t[-1] == r.t_events[0][-1]


def test_ctrl_c_ends_solve_in_another_thread():
    """Only the first thread hears of signals: elsewhere the run ended as one whose function cannot be evaluated."""
    program = """
import threading, trammel
seen, begun, over = [], [], threading.Event()
def f(t, y):
    if not begun:
        begun.append(t)
        print('go', flush=True)
    return [1.0]
def work():
    try:
        seen.append(trammel.solve(f, (0, 1e9), [0.0], step=1e-3).message)
    except BaseException as error:
        seen.append(type(error).__name__)
    over.set()
started = False
while not over.is_set():  # a join that is interrupted would take the thread for one that has ended
    try:
        if not started:
            started = True
            threading.Thread(target=work).start()
        over.wait()
    except KeyboardInterrupt:
        pass
print(seen)
"""
    run = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert run.stdout.readline() == "go\n"  # from within the run
    os.kill(run.pid, signal.SIGINT)
    assert run.communicate(timeout=60)[0] == "['KeyboardInterrupt']\n"


def test_ctrl_c_reaches_a_function_that_does_not_come_back():
    program = ("import trammel\ndef f(t, y):\n    print('go', flush=True)\n    while True: pass\n"
               "try: trammel.solve(f, (0, 1), [0.0])\n"
               "except KeyboardInterrupt: print('ended')\nprint(trammel.solve(lambda t, y: [1.0], (0, 1), [0.0]).success)")
    run = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert run.stdout.readline() == "go\n"
    os.kill(run.pid, signal.SIGINT)
    assert run.communicate(timeout=60)[0] == "ended\nTrue\n" and run.returncode == 0


def test_a_column_for_each_time_that_was_asked_for():
    """Times equal to the start were left out wherever they stood: two columns for three times."""
    for times in ([0.0, 0.5, 1.0], [0.0, 0.0, 1.0], [0.5], [0.0]):
        r = trammel.solve(oscillator, (0, 1), [1.0, 0.0], t_eval=times, rtol=1e-9, atol=1e-9)
        assert list(r.t) == times and r.y.shape == (2, len(times))
        numpy.testing.assert_allclose(r.y[0], numpy.cos(times), atol=1e-7)
    with pytest.raises(trammel.Error, match="out of order"):
        trammel.solve(oscillator, (0, 1), [1.0, 0.0], t_eval=[0.5, 0.0, 1.0])


@pytest.mark.parametrize("method", ["dormand-prince-54"] + [key for key in trammel.ode_methods() if "cvode" in key])
def test_backwards_between_the_steps(method):
    """CVODE gave the end of the step for all times inside it."""
    r = trammel.solve(lambda t, y: [-2 * y[0]], (1, 0), [1.0], method, t_eval=numpy.linspace(1, 0, 41), rtol=1e-8, atol=1e-10)
    assert r.success
    numpy.testing.assert_allclose(r.y[0], numpy.exp(2 * (1 - r.t)), rtol=1e-5)
