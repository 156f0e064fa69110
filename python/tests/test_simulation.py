import gc
import hashlib
import subprocess
import sys
import threading
import time

import numpy
import pytest

import trammel


@pytest.fixture
def model(models):
    return trammel.load(models / "slider_crank.yaml")


def test_steps_by_hand_are_those_of_a_run(model):
    run = model.run(end=0.2, output_step=0)
    sim = model.simulation(end=0.2)
    for size in run["solver.step_size"]:
        assert sim.step() == pytest.approx(size, rel=1e-9)
    assert sim.t == 0.2 and sim.steps == run.summary["steps"]
    assert sim["slider_x"] == run["slider_x"][-1]
    with pytest.raises(trammel.Error):
        sim.step()


def test_advance_ends_where_it_is_asked_to(model):
    sim = model.simulation(record=True, output_step=0.01)
    for t in (0.05, 0.1, 0.15):
        sim.advance(t)
        assert sim.t == t
    run = model.run(end=0.15)
    assert len(sim.result.t) == len(run.t)
    fine = model.run(end=0.15, tolerance=1e-10)["slider_x"]  # cut or not, the steps are as good
    assert abs(sim.result["slider_x"] - fine).max() < 2 * abs(run["slider_x"] - fine).max()
    for wrong in (lambda: sim.advance(0.1), lambda: sim.advance(1e9), lambda: sim.step(-1)):
        with pytest.raises(trammel.Error):
            wrong()


def test_a_cut_step_does_not_shorten_the_next_ones(model):
    whole, pieces = model.simulation(end=1.0), model.simulation(end=1.0)
    whole.advance(1.0)
    for i in range(1, 21):
        pieces.advance(i / 20)
    assert pieces.steps <= whole.steps + 2 * 20  # one more for each cut, and what the others shift


def test_fixed_steps(model):
    sim = model.simulation(step=1e-3)
    sim.step()
    assert sim.t == pytest.approx(1e-3) and sim.steps == 1
    sim.step(5e-4)
    assert sim.t == pytest.approx(1.5e-3) and sim.steps == 2
    sim.step()
    assert sim.t == pytest.approx(2.5e-3)


def test_views_follow_and_outlive_the_simulation(model):
    sim = model.simulation()
    q, v, a, lam = sim.q, sim.v, sim.a, sim.lam
    before = q.copy()
    sim.step()
    assert not numpy.array_equal(q, before)
    numpy.testing.assert_array_equal(q, sim.q)
    with pytest.raises(ValueError):
        q[0] = 3
    with pytest.raises(ValueError):
        q.setflags(write=True)
    last = [x.copy() for x in (q, v, a, lam)]
    equations = sim.equations
    result = model.simulation(record=True)
    result.advance(0.05)
    kept = result.result["slider_x"]
    copy = kept.copy()
    result.advance(0.2)  # records more: what was shown does not move
    numpy.testing.assert_array_equal(kept, copy)
    del sim, result
    gc.collect()
    numpy.zeros(100000)
    for view, copy in zip((q, v, a, lam), last):
        numpy.testing.assert_array_equal(view, copy)
    assert equations.accelerations(0.0, q, v)[0].shape == v.shape  # holds what it needs


def test_use_after_close(model):
    with model.simulation() as sim:
        q = sim.q
        inputs = sim.inputs
    assert q.sum() == q.sum() and len(inputs) == 0
    for use in (lambda: sim.t, lambda: sim.step(), lambda: sim.q, lambda: sim.save()):
        with pytest.raises(trammel.Error) as caught:
            use()
        assert caught.value.problems[0].id == "bad-usage" and caught.value.problems[0].file == __file__


def test_saved_and_restored_goes_on_with_the_same_bits(model, tmp_path, models):
    sim = model.simulation(record=True)
    sim.advance(0.1)
    state = sim.save()
    sim.advance(0.3)
    q, rows = sim.q.copy(), sim.result["slider_x"].copy()
    sim.restore(state)
    assert sim.t == 0.1
    sim.advance(0.3)
    numpy.testing.assert_array_equal(sim.q, q)
    numpy.testing.assert_array_equal(sim.result["slider_x"], rows)
    (tmp_path / "state").write_bytes(state)
    program = ("import sys, trammel\nsim = trammel.load(sys.argv[1]).simulation(record=True)\n"
               "sim.restore(open(sys.argv[2], 'rb').read())\nsim.advance(0.3)\nprint(sim.q.tobytes().hex())")
    other = subprocess.run([sys.executable, "-c", program, models / "slider_crank.yaml", tmp_path / "state"],
                           capture_output=True, text=True, check=True).stdout.strip()
    assert other == q.tobytes().hex()
    with pytest.raises(trammel.Error) as caught:
        trammel.load(models / "pendulum.yaml").simulation().restore(state)
    assert caught.value.problems[0].id == "state-of-another-model"
    for wrong in (b"", b"nonsense", state[: len(state) // 2]):
        with pytest.raises(trammel.Error):
            sim.restore(wrong)


def test_inputs(models):
    sim = trammel.load(models / "cart_pole.yaml").simulation()
    assert list(sim.inputs) == ["push"] and sim.inputs["push"] == 0
    sim.inputs["push"] = 2.0
    M, m, l = 2, 0.7, 0.4
    mass = [[M + m, m * l], [m * l, 4 / 3 * m * l**2]]
    assert sim["body.cart.acceleration.x"] == pytest.approx(numpy.linalg.solve(mass, [2, 0])[0], rel=1e-9)
    sim.step(0.01)
    assert sim["x"] > 0 and sim.inputs["push"] == 2.0
    for name, value in (("pull", 1.0), ("push", float("nan"))):
        with pytest.raises(trammel.Error):
            sim.inputs[name] = value


def test_states_that_are_set_are_made_consistent(model):
    sim = model.simulation()
    sim.advance(0.1)
    q, v = sim.q.copy(), sim.v.copy()
    v[sim.columns["crank"][1] + 4] += 1.0  # rad/s about y
    report = sim.set_state(v=v)
    assert [stage["stage"] for stage in report] == ["positions", "velocities"] and report[1]["largest_change"] > 0
    assert abs(sim.equations.velocity_constraints(sim.t, sim.q, sim.v)).max() < 1e-9
    assert abs(sim.equations.constraints(sim.t, sim.q, sim.v)).max() < 1e-9
    sim.advance(0.2)
    for wrong in (q[:-1], numpy.array([q, q])):
        with pytest.raises(trammel.Error):
            sim.set_state(q=wrong)


def test_states_that_are_none_are_refused_by_name(model):
    """They were taken, and so was a crank far away, whose constraints were then violated by 100 m."""
    sim = model.simulation()
    sim.advance(0.1)
    before = sim.q.copy(), sim.v.copy()
    at, speed = sim.columns["crank"]

    def changed(which, index, value):
        out = before[which].copy()
        out[index] = value
        return out

    longer = before[0].copy()
    longer[at + 3:at + 7] *= 1.1
    for consistent in (True, False):
        for wrong, id in ((dict(q=changed(0, at, numpy.nan)), "not-finite"), (dict(v=changed(1, speed + 4, numpy.inf)), "not-finite"),
                          (dict(q=longer), "quaternion-norm")):
            with pytest.raises(trammel.Error, match="crank") as caught:
                sim.set_state(**wrong, consistent=consistent)
            assert caught.value.problems[0].id == id and caught.value.problems[0].file == __file__
            numpy.testing.assert_array_equal(sim.q, before[0])
    with pytest.raises(trammel.Error) as caught:
        sim.set_state(q=changed(0, at, 100.0))
    assert caught.value.problems[0].id == "loop-does-not-close"
    numpy.testing.assert_array_equal(sim.q, before[0])
    sim.advance(0.2)


def test_equations(model):
    sparse = pytest.importorskip("scipy.sparse")
    sim = model.simulation()
    sim.advance(0.1)
    e = sim.equations
    nq, nv, ng = e.sizes
    M, G = sim.mass_matrix(), sim.G()
    assert sparse.issparse(M) and M.shape == (nv, nv) and G.shape == (ng, nv) and len(e.velocity_names) == nv
    a, lam = e.accelerations(sim.t, sim.q, sim.v)
    Q, gamma = e.forces(sim.t, sim.q, sim.v), e.gamma(sim.t, sim.q, sim.v)
    numpy.testing.assert_allclose(M @ a + G.T @ lam, Q, atol=1e-8)
    numpy.testing.assert_allclose(G @ a, gamma, atol=1e-8)
    numpy.testing.assert_allclose(e.residual(sim.t, sim.q, sim.v, a, lam)[:nv], 0, atol=1e-8)
    kinetic, _ = e.energy(sim.t, sim.q, sim.v)
    assert kinetic == pytest.approx(0.5 * sim.v @ (M @ sim.v))
    # Derivatives against differences, and the matrix of Newton's method from them.
    K, D = e.derivatives(sim.t, sim.q, sim.v, a, lam)
    for j in range(nv):
        d = numpy.zeros(nv)
        d[j] = 1e-6
        r = lambda sign: e.residual(sim.t, e.retract(sim.q, sign * d), sim.v, a, lam)[:nv]  # noqa: E731
        numpy.testing.assert_allclose(K.toarray()[:, j], (r(1) - r(-1)) / 2e-6, atol=1e-5)
        s = lambda sign: e.residual(sim.t, sim.q, sim.v + sign * d, a, lam)[:nv]  # noqa: E731
        numpy.testing.assert_allclose(D.toarray()[:, j], (s(1) - s(-1)) / 2e-6, atol=1e-5)
    h = 1e-3
    N = e.newton_matrix(sim.t, sim.q, sim.v, a, lam, by_q=h * h / 4, by_v=h / 2)
    whole = sparse.bmat([[M + h * h / 4 * K + h / 2 * D, G.T], [G, None]])
    numpy.testing.assert_allclose(N.toarray(), whole.toarray(), atol=1e-12)
    numpy.testing.assert_allclose(e.difference(sim.q, e.retract(sim.q, 1e-3 * sim.v)), 1e-3 * sim.v, atol=1e-12)


def test_many_simulations_in_threads(model):
    alone = model.simulation()
    alone.advance(0.2)
    ends = [None] * 4

    def work(i):
        sim = model.simulation()
        for k in range(1, 5):
            sim.advance(0.2 if k == 4 else alone_times[k - 1])
        ends[i] = sim.q.copy()

    alone_times = [0.05, 0.1, 0.15]
    reference = model.simulation()
    for t in alone_times + [0.2]:
        reference.advance(t)
    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for q in ends:
        numpy.testing.assert_array_equal(q, reference.q)


def test_two_threads_do_not_step_one_simulation(model):
    sim = model.simulation(end=1e4, tolerance=1e-9)
    equations, q, v = sim.equations, sim.q.copy(), sim.v.copy()
    thread = threading.Thread(target=lambda: sim.advance(100.0))
    thread.start()
    time.sleep(0.1)  # the steps take a second or more
    for use in (sim.step, sim.save, lambda: sim["slider_x"], lambda: sim.set_state(v=v), lambda: equations.forces(0.0, q, v)):
        with pytest.raises(trammel.Error, match="another thread"):
            use()
    assert sim.t == 0.0
    thread.join()
    assert sim.t == 100.0 and sim.step() > 0


def test_a_step_that_fails():
    m = trammel.from_yaml('trammel: 1\nbodies:\n  ball: {mass: 1, inertia: [1, 1, 1]}\nforces:\n'
                          '  pull: {type: force, frames: [ground, ball], fx: "1/(0.5 - time)^3"}\n'
                          'simulation: {end: 1, tolerance: 1e-6}\n')
    sim = m.simulation()
    with pytest.raises(trammel.Error) as caught:
        sim.advance(1.0)
    assert "pull" in str(caught.value) and 0.3 < sim.t < 0.51


def test_events_are_located_while_stepping(models):
    model = trammel.load(models / "stick_slip.yaml")
    run, sim = model.run(), model.simulation(record=True)
    while sim.t < sim.end:
        sim.advance(min(sim.end, sim.t + 0.1 * sim.end))
    assert len(sim.result["events/time"]) == len(run["events/time"])
    numpy.testing.assert_allclose(sim.result["events/time"], run["events/time"], rtol=1e-3)


def test_a_state_fits_simulations_of_another_end_and_with_or_without_outputs(model):
    whole = model.simulation(end=0.3)
    whole.advance(0.1)
    state = whole.save()
    whole.advance(0.3)
    for settings in (dict(end=0.5), dict(end=0.5, record=True)):
        other = model.simulation(**settings)
        other.restore(state)
        other.advance(0.3)
        numpy.testing.assert_array_equal(other.q, whole.q)
    times = other.result.t
    step = times[1] - times[0]
    assert 0.1 < times[0] <= 0.1 + 1.001 * step and times[-1] == pytest.approx(0.3)
    recorded = model.simulation(end=0.3, record=True)
    recorded.advance(0.1)
    plain = model.simulation(end=0.3)
    plain.restore(recorded.save())
    plain.advance(0.2)
    back = plain.save()
    recorded.restore(back)
    recorded.advance(0.3)
    in_three_parts = model.simulation(end=0.3)  # parts end steps
    for end in (0.1, 0.2, 0.3):
        in_three_parts.advance(end)
    numpy.testing.assert_array_equal(recorded.q, in_three_parts.q)


def test_a_damaged_state_changes_nothing(model):
    sim = model.simulation()
    sim.advance(0.1)
    state = sim.save()
    sim.advance(0.2)
    q = sim.q.copy()
    for damaged in (state[:-1], state[: len(state) // 2], b"", state[:1000] + b"x" + state[1001:]):
        with pytest.raises(trammel.Error) as caught:
            sim.restore(damaged)
        assert caught.value.problems[0].id == "truncated-state"
        numpy.testing.assert_array_equal(sim.q, q)
    sim.advance(0.3)


def test_a_state_of_another_version_is_refused(model):
    """Its parts may stand in another order: nothing said which version had written it."""
    sim = model.simulation()
    sim.advance(0.1)
    state = sim.save()
    assert state.startswith(b"trammel-state " + trammel.__version__.encode() + b"\n")
    body = state[state.index(b"\n"):-64]
    q = sim.q.copy()
    for head in (b"trammel-state 0.0.1", b""):
        other = head + body
        with pytest.raises(trammel.Error) as caught:
            sim.restore(other + hashlib.sha256(other).hexdigest().encode())
        assert caught.value.problems[0].id == "state-of-another-version"
        numpy.testing.assert_array_equal(sim.q, q)
    sim.restore(state)


def test_a_state_that_does_not_fit_leaves_the_simulation_where_it_was(model):
    """Whole by its hash, but with too few numbers: it was half read."""
    sim = model.simulation()
    sim.advance(0.1)
    state, q, view = sim.save(), sim.q.copy(), sim.q
    short = state[: len(state) // 2]
    with pytest.raises(trammel.Error) as caught:
        sim.restore(short + hashlib.sha256(short).hexdigest().encode())
    assert caught.value.problems[0].id == "truncated-state"
    sim.advance(0.2)
    other = model.simulation()
    other.restore(state)
    numpy.testing.assert_array_equal(other.q, q)
    other.advance(0.2)
    numpy.testing.assert_array_equal(sim.q, other.q)
    numpy.testing.assert_array_equal(view, sim.q)


def test_looks_at_the_result_share_their_rows(model):
    """Each look had all rows copied by the next step; and the end of the run was written into results given out before."""
    sim = model.simulation(record=True, end=0.3, output_step=0.001)
    looks = []
    for i in range(1, 201):
        sim.advance(0.001 * i)
        looks.append(sim.result)
    assert sim.result["slider_x"].ctypes.data == sim.result["slider_x"].ctypes.data
    assert len({look["slider_x"].ctypes.data for look in looks}) < 20
    sizes = [len(look.t) for look in looks]
    assert sizes == sorted(sizes) and sizes[-1] - sizes[0] >= 190
    status, summary = looks[99].status, looks[99].summary
    early = sim.save()
    sim.advance(0.3)
    last = sim.result["slider_x"].copy()
    assert looks[99].status == status and looks[99].summary == summary and len(looks[99].t) == sizes[99]
    kept = looks[-1]["slider_x"].copy()
    sim.restore(early)  # cuts rows off, which others still see
    assert len(sim.result.t) == sizes[-1]
    sim.advance(0.3)
    numpy.testing.assert_array_equal(sim.result["slider_x"], last)
    numpy.testing.assert_array_equal(looks[-1]["slider_x"], kept)


def test_a_result_that_begins_at_a_restored_state_says_where_it_comes_from(model):
    sim = model.simulation()
    sim.advance(0.1)
    other = model.simulation(record=True)
    other.restore(sim.save())
    other.advance(0.2)
    expected = model.run(end=0.01).provenance
    assert other.result.provenance["method"] == expected["method"] and other.result.provenance.keys() == expected.keys()


def test_a_body_is_set_by_its_origin_and_axes(models):
    m = trammel.Model()
    m.body("a", mass=2, inertia=[1, 2, 2.5], center_of_mass=[0.1, 0.2, 0.3], position=[1, 0, 0], velocity=[0.5, 0, 0])
    m.body("p", kind="planar", mass=1, inertia=1)
    sim = m.simulation()
    told = lambda body, what: [sim[f"body.{body}.{what}.{axis}"] for axis in "xyz"]  # noqa: E731
    at, speed = sim.columns["a"]
    assert len(sim.set_body("a", orientation=numpy.pi / 2)) == 2
    numpy.testing.assert_allclose(sim.q[at:at + 3], [1 - 0.2, 0.1, 0.3], atol=1e-15)
    turned = sim.q[at + 3:at + 7].copy()
    numpy.testing.assert_allclose(turned, numpy.sqrt([0.5, 0, 0, 0.5]), atol=1e-15)
    assert told("a", "position") == pytest.approx([1, 0, 0], abs=1e-15) and told("a", "velocity") == pytest.approx([0.5, 0, 0], abs=1e-15)
    sim.set_body("a", orientation=[[0, -1, 0], [1, 0, 0], [0, 0, 1]], position=[0, 1, 2], velocity=[1, 2, 3], angular_velocity=[0, 0, 4])
    numpy.testing.assert_allclose(sim.q[at + 3:at + 7], turned, atol=1e-15)
    numpy.testing.assert_allclose(sim.v[speed:speed + 3], [0.6, 1.2, 3], atol=1e-14)
    assert told("a", "position") == pytest.approx([0, 1, 2]) and told("a", "velocity") == pytest.approx([1, 2, 3])
    assert told("a", "angular_velocity") == pytest.approx([0, 0, 4], abs=1e-14)
    # In a plane; an angle stays on the turn it is on.
    first = sim.columns["p"][0]
    sim.set_body("p", position=[1, 2], orientation=3.0, velocity=[1, 0], angular_velocity=5)
    numpy.testing.assert_allclose(sim.q[first:first + 3], [1, 2, 3], atol=1e-15)
    sim.set_body("p", orientation=-3.0)
    numpy.testing.assert_allclose(sim.q[first + 2], 2 * numpy.pi - 3, rtol=1e-14)
    q = sim.q.copy()
    for body, wrong, id in (("p", dict(position=[0, 0, 1]), "bad-usage"), ("p", dict(orientation=numpy.sqrt([0.5, 0.5, 0, 0])), "bad-usage"),
                            ("p", dict(angular_velocity=[1, 0, 0]), "bad-usage"), ("a", dict(position=[0, numpy.nan, 1]), "not-finite"),
                            ("a", dict(orientation=[1, 1, 0, 0]), "quaternion-norm"), ("a", dict(orientation=numpy.ones((3, 3))), "wrong-orientation"),
                            ("a", dict(velocity=[1]), "wrong-length"), ("aa", dict(velocity=[1, 2, 3]), "unknown-body")):
        with pytest.raises(trammel.Error) as caught:
            sim.set_body(body, **wrong)
        assert caught.value.problems[0].id == id and caught.value.problems[0].file == __file__
        numpy.testing.assert_array_equal(sim.q, q)
    # On a hinge.
    sim = trammel.load(models / "pendulum.yaml").simulation()
    report = sim.set_body("bar", orientation=[numpy.cos(0.15), 0, numpy.sin(0.15), 0], angular_velocity=[0, 2, 0])
    assert sim["swing"] == pytest.approx(0.3, rel=1e-12) and report[0]["largest_change"] < 1e-12
    assert sim["body.bar.angular_velocity.y"] == pytest.approx(2)
    sim.step()


def test_states_of_the_model_are_set():
    m = trammel.Model()
    m.body("a", mass=1, inertia=[1, 1, 1])
    m.state("s", rate="-s", value=1)
    sim = m.simulation(tolerance=1e-9, end=2)
    sim.advance(0.5)
    sim.set_state(x=[2.0])
    assert list(sim.x) == [2.0] and sim.t == 0.5
    sim.advance(1.5)
    assert sim.x[0] == pytest.approx(2 * numpy.exp(-1), rel=1e-5)  # HHT: tolerance^(2/3) is 1e-6
    for wrong, id in (([1.0, 2.0], "bad-usage"), ([numpy.nan], "not-finite")):
        with pytest.raises(trammel.Error) as caught:
            sim.set_state(x=wrong)
        assert caught.value.problems[0].id == id and "s" in str(caught.value)


def test_a_clock_holds_steps_back_and_counts_those_that_are_late(model, monkeypatch):
    """The clock on the wall is one of the test's own: it goes on by what sleeps, and by 3 ms that each step takes."""
    wall = [100.0]
    monkeypatch.setattr("trammel.clock.time.perf_counter", lambda: wall[0])
    monkeypatch.setattr("trammel.clock.time.sleep", lambda seconds: wall.__setitem__(0, wall[0] + seconds))
    sim = model.simulation(step=0.01)
    clock = sim.clock()
    for _ in range(5):
        sim.step()
        wall[0] += 3e-3
        assert clock.wait() == 0
    assert wall[0] == pytest.approx(100.05, abs=1e-9) and clock.waits == 5 and clock.overruns == 0
    assert clock.longest == pytest.approx(3e-3, abs=1e-9)
    sim.step()
    wall[0] += 25e-3
    assert clock.wait() == pytest.approx(15e-3, abs=1e-9)  # late, and the next step does not make up for it
    sim.step()
    assert clock.wait() == pytest.approx(5e-3, abs=1e-9)
    sim.step()
    assert clock.wait() == 0 and wall[0] == pytest.approx(100.08, abs=1e-9)
    assert clock.overruns == 2 and clock.latest == pytest.approx(15e-3, abs=1e-9) and "2 too late, by at most 15 ms" in repr(clock)
    slow = sim.clock(speed=0.1)
    sim.step()
    slow.wait()
    assert wall[0] == pytest.approx(100.18, abs=1e-9)
    with pytest.raises(trammel.Error):
        sim.clock(speed=0)


def test_back_to_the_start_is_a_new_start(model):
    """A state from before the first step holds nothing of what is recorded: turns of joints and the book of energies stayed
    those of the end, and the first row was written twice."""
    sim = model.simulation(record=True, end=0.3)
    start = sim.save()
    sim.advance(0.3)
    first = {name: sim.result[name].copy() for name in [*sim.result.names(), "steps/time"]}
    sim.restore(start)
    assert sim.t == 0
    sim.advance(0.3)
    for name, column in first.items():
        numpy.testing.assert_array_equal(sim.result[name], column, name)
