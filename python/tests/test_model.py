import copy
import fractions
import inspect
import pickle
import subprocess

import numpy
import pytest

import trammel


def pendulum():
    m = trammel.Model("Pendulum", gravity=[0, 0, -9.81], parameters={"L": 1, "m": 2})
    m.body("bar", mass="m", inertia=["0", "m*L^2/12", "m*L^2/12"], center_of_mass=["L/2", 0, 0])
    m.frame("tip", body="bar", position=["L", 0, 0])
    m.joint.revolute("hinge", between=("ground", "bar"), at=numpy.zeros(3), axis=(0, 1, 0))
    m.settings(end=5, tolerance=1e-6, output_step=0.01)
    m.output("swing", expression="angle(hinge)", unit="rad")
    return m


def test_built_in_python_and_read_from_a_file_give_the_same_bits(models):
    built, file = pendulum(), trammel.load(models / "pendulum.yaml")
    del file["outputs"]["tip_x"], file["outputs"]["tip_z"]
    assert built == file and built != file.with_parameters(L=0.9)
    a, b = built.run(end=0.5), trammel.load(models / "pendulum.yaml").run(end=0.5)
    numpy.testing.assert_array_equal(a["joint.hinge.force"], b["joint.hinge.force"])


def test_every_model_rebuilt_is_the_same(models, command, tmp_path):
    """Each file as Python's own values, written and read again: what is computed with has the same bits."""
    files = sorted(models.rglob("*.yaml"))
    assert len(files) > 60 and any(file.parent != models for file in files)
    for file in files:
        try:
            loaded = trammel.load(file)
        except trammel.Error:
            assert "\nneeds:" in file.read_text(), file.name  # a part, which is no model of its own
            continue
        rebuilt = loaded.copy()
        rebuilt["title"] = rebuilt["title"] if "title" in rebuilt else "x"  # from here on it is no file any more
        assert rebuilt._text is None
        assert rebuilt._read().digest == loaded._read().digest, file.name
        again = trammel.from_yaml(rebuilt.to_yaml(), str(file))
        assert again == loaded, file.name
        text = tmp_path / file.name
        text.write_text(rebuilt.to_yaml())
    check = subprocess.run([command, "fmt", "--check", *sorted(tmp_path.glob("*.yaml"))], capture_output=True, text=True)
    assert check.returncode == 0, check.stdout + check.stderr


@pytest.mark.parametrize("name", ["bouncing_ball", "cart_pole", "chain_repeat", "flexible_pendulum", "four_bar", "heavy_top", "pendulum",
                                  "rod_double_pendulum", "slider_crank", "two_carts_subsystem"])
def test_a_model_rebuilt_runs_with_the_same_bits(models, name):
    """Not only what is computed with, but what comes out; the rebuilt model knows of its file only where others stand."""
    loaded = trammel.load(models / f"{name}.yaml")
    rebuilt = loaded.copy()
    rebuilt["title"] = loaded.title
    a, b = loaded.run(end=0.05), rebuilt.run(end=0.05)
    assert rebuilt._text is None and a.tables == b.tables and len(a["steps/time"]) > 1
    for table in a.tables:
        assert a.names(table) == b.names(table)
        for signal in a.names(table):
            numpy.testing.assert_array_equal(a[f"{table}/{signal}"], b[f"{table}/{signal}"])


def test_to_yaml_is_what_fmt_leaves_alone(command, tmp_path):
    m = pendulum()
    m.force.torque("motor", joint="hinge", tz="-5*step(time, 1, 0, 1.5, 1)")
    m.spline("cam", points=[[0, 0], [1, 2.5e-3], [2, 0.1]])
    m.initial_joint("hinge", angle="30 deg")
    m["repeat"] = [{"index": "i", "from": 1, "to": 3, "bodies": {"b_$(i)": {"mass": 1, "inertia": [1, 1, 1], "position": ["i", 5, 0]}}}]
    m.save(tmp_path / "m.yaml")
    subprocess.run([command, "fmt", "--check", tmp_path / "m.yaml"], check=True)
    assert trammel.load(tmp_path / "m.yaml") == m
    with pytest.raises(trammel.Error):
        m.save(tmp_path / "m.yaml")


def line_of(text):
    source = open(__file__).read().split("\n")
    return next(i for i, line in enumerate(source, 1) if text in line and "line_of" not in line)


def test_mistakes_name_the_line_of_the_program():
    m = trammel.Model()
    m.body("bar", mass=-2, inertia=[1, 1, 1])  # a negative mass
    m.joint.revolute("hinge", between=["ground", "bra"], at=[0, 0, 0], axis=[0, 1, 0])  # a body that is not there
    m.joint.revolut("pin", between=["ground", "bar"], at=[0, 0, 0])  # a joint that is not there
    m.force.torque("motor", joint="hinge", tzz=3)  # a field that is not there
    with pytest.raises(trammel.Error) as caught:
        m.check()
    found = {(p.id, p.line) for p in caught.value.problems}
    assert all(p.file == __file__ and p.column is None for p in caught.value.problems)
    for text in ("a body that is not there", "a joint that is not there", "a field that is not there"):
        assert line_of(text) in {line for _, line in found}, found
    hints = " ".join(p.hint for p in caught.value.problems)
    assert "`bodies`" in hints and "revolute" in hints and "tz" in hints
    m = trammel.Model()
    m.body("bar", mass=-2, inertia=[1, 1, 1])  # found when it is checked
    with pytest.raises(trammel.Error) as caught:
        m.run()
    assert caught.value.problems[0].line == line_of("found when it is checked")


def test_a_name_is_given_once():
    m = pendulum()
    with pytest.raises(trammel.Error) as caught:
        m.body("bar", mass=1)
    assert caught.value.problems[0].id == "duplicate-key" and caught.value.problems[0].file == __file__


def test_values_that_the_format_does_not_know():
    with pytest.raises(trammel.Error) as caught:
        pendulum().body("x", mass=1j)
    assert caught.value.problems[0].id == "wrong-type"
    m = pendulum()
    m.body("x", mass=float("nan"), inertia=[1, 1, 1])
    with pytest.raises(trammel.Error):
        m.check()


def test_copies_are_independent():
    m = pendulum()
    other, third = m.copy(), copy.deepcopy(m)
    other["bodies"]["bar"]["mass"] = 7
    assert m == third and m != other and m["bodies"]["bar"]["mass"] == "m"


def test_models_that_were_used_are_copied_and_pickled(models):
    """What was read of them is compiled, and could be neither."""
    for m in (pendulum(), trammel.load(models / "pendulum.yaml", L=0.5)):
        m.check()
        for other in (copy.copy(m), copy.deepcopy(m), pickle.loads(pickle.dumps(m))):
            assert other == m and other.to_yaml() == m.to_yaml() and other.parameters == m.parameters
            other["bodies"]["bar"]["mass"] = 7
            assert other != m


def test_help_comes_from_the_registry():
    assert trammel.joints.revolute.__doc__.startswith(trammel._core.elements()[0]["summary"]) or \
        "revolute" in trammel.joints.revolute.__doc__
    for element in trammel._core.elements():
        function = getattr(getattr(trammel, element["category"] + "s"), element["key"])
        assert element["summary"] in function.__doc__
        parameters = inspect.signature(function).parameters
        for field in element["fields"]:
            assert trammel.elements.python_name(field["name"]) in parameters and field["name"] in function.__doc__
    assert "mass" in trammel.Model.body.__doc__ and "revolute" in dir(trammel.Model().joint)
    assert "tz" in inspect.signature(trammel.Model().force.torque).parameters


def test_texts_that_yaml_would_take_for_something_else():
    m = trammel.Model("yes: #no, [x] {y} 'z' \"w\"", bodies={"null": {"mass": 1, "inertia": [1, 1, 1]}})
    assert trammel.from_yaml(m.to_yaml()).title == "yes: #no, [x] {y} 'z' \"w\""
    assert trammel.from_yaml(m.to_yaml()).bodies == ["null"]


MILLIMETRES = """
trammel: 1
units: {length: mm}
parameters: {L: 160 mm, tilt: 30 deg, ratio: 3}
bodies:
  stone: {mass: 1, inertia: [1, 1, 1], position: [L, 0, 0]}
outputs: {x: {expression: "dx(stone, ground)", unit: m}}
"""


def test_parameters_know_their_unit_so_that_they_can_be_given_back():
    m = trammel.from_yaml(MILLIMETRES)
    p = m.parameters
    assert p == {"L": 0.16, "tilt": numpy.deg2rad(30), "ratio": 3} and p["L"].unit == "m" and p["tilt"].unit == "rad"
    same = m.with_parameters(p)
    assert same == m and same.parameters == p
    x = lambda model: float(model.run(end=0.01)["x"][-1])  # noqa: E731
    assert x(m) == x(same) == pytest.approx(0.16, rel=1e-15)
    assert x(m.with_parameters(L=2 * p["L"])) == x(m.with_parameters(L=-p["L"] / -0.5)) == pytest.approx(0.32, rel=1e-15)
    assert x(m.with_parameters(L=200)) == pytest.approx(0.2, rel=1e-15)  # a plain number: in the model's units
    table = m.sweep({"L": [p["L"], 200]}, end=0.01)
    numpy.testing.assert_allclose(table["x.last"], [0.16, 0.2], rtol=1e-12)
    table = m.sweep(latin={"L": (p["L"], 2 * p["L"])}, count=3, end=0.01)
    assert (table["x.last"] >= 0.16).all() and (table["x.last"] <= 0.32).all()
    with pytest.raises(trammel.Error):
        m.sweep(latin={"L": (p["L"], 400)}, count=3, end=0.01)
    other = m.copy()
    other.set_parameters(L=p["L"])
    assert other.parameters["L"] == 0.16 and copy.deepcopy(p["L"]).unit == "m"


def test_numbers_of_a_file_are_numbers_and_written_as_they_stand():
    """They were texts: "2" * 2 gave "22", which is a number as well."""
    text = """trammel: 1
title: Numbers
parameters: {m: 2, h: 1.50, e: +2.0e-1, n: 3}
bodies:
  a: {mass: m, inertia: [1, 1.0, 1e0], position: [h, -.5, "7"]}
repeat:
  - {index: i, from: 1, to: 2, bodies: {"b_$(i)": {mass: 1, inertia: [1, 1, 1], position: [i, 5, 0]}}}
"""
    m = trammel.from_yaml(text)
    same = m.copy()
    same["title"] = "Numbers"
    assert same["parameters"]["h"] == 1.5 and same["parameters"] == {"m": 2, "h": 1.5, "e": 0.2, "n": 3}
    assert same._text is None and same == m and copy.deepcopy(same["parameters"]["h"]).text == "1.50"
    for part in ("m: 2\n", "h: 1.5\n", "e: 2e-1\n", "inertia: [1, 1, 1]", '[h, -0.5, "7"]'):  # as `trammel fmt` lays them out
        assert part in same.to_yaml(), same.to_yaml()
    m["parameters"]["m"] *= 2
    m["parameters"]["h"] += 1
    m["bodies"]["a"]["position"][1] /= 2
    m["repeat"][0]["to"] += 1
    assert m.parameters["m"] == 4 and m.parameters["h"] == 2.5 and m.bodies == ["a", "b_1", "b_2", "b_3"]
    assert "[h, -0.25, " in m.to_yaml()


def test_arithmetic_keeps_the_unit_or_says_that_it_cannot():
    """Of these only Python's own products kept it: the others gave 0.32 without a unit, which a model in mm reads as
    0.32 mm."""
    m = trammel.from_yaml(MILLIMETRES)
    p, tilt = m.parameters["L"], m.parameters["tilt"]
    x = lambda L: float(m.with_parameters(L=L).run(end=0.01)["x"][-1])  # noqa: E731
    for twice in (numpy.float64(2) * p, p * numpy.float64(2), numpy.int64(2) * p, numpy.array(2.0) * p, abs(-2 * p), p + p, p + 0.16,
                  0.16 + p, numpy.float64(0.16) + p, 3 * p - p, 0.48 - p, numpy.float64(0.48) - p, +p * 2, round(2 * p, 9),
                  p / numpy.float64(0.5), sum([p, p]), p**2 / p * 2, 2 * (p * tilt) / tilt, fractions.Fraction(2) * p, p // 1 + 0.32):
        assert twice.unit and x(twice) == pytest.approx(0.32, rel=1e-14), twice
    assert type(p / p) is float and p / p == 1 and (p * tilt).unit == "m*rad" and (1 / p).unit == "1/(m)"
    for wrong in (lambda: p + tilt, lambda: tilt - p, lambda: p**0.5, lambda: numpy.linspace(1, 2, 3) * p,
                  lambda: p * numpy.linspace(1, 2, 3), lambda: numpy.linspace(1, 2, 3) + p, lambda: numpy.linspace(p, tilt, 3)):
        with pytest.raises(trammel.Error) as caught:
            wrong()
        assert caught.value.problems[0].id == "wrong-unit" and caught.value.problems[0].file == __file__
    with pytest.raises(trammel.Error, match=r"\[f \* p for f in array\]"):
        numpy.linspace(1, 2, 3) * p
    with pytest.raises(TypeError):
        numpy.abs(p)
    table = m.sweep({"L": numpy.linspace(p, 2 * p, 3)}, end=0.01)
    numpy.testing.assert_allclose(table["x.last"], [0.16, 0.24, 0.32], rtol=1e-12)
    table = m.sweep({"L": [f * p for f in numpy.linspace(1, 2, 3)]}, end=0.01)
    numpy.testing.assert_allclose(table["x.last"], [0.16, 0.24, 0.32], rtol=1e-12)


def test_models_that_compute_other_numbers_are_not_equal():
    m = pendulum()
    start = m.copy()
    start["initial"] = {"equilibrium": True}
    for other in (start, *(pendulum() for _ in range(3))):
        assert (other == m) == (other is not start)
    for setting in (dict(events="located"), dict(events="at_steps"), dict(time_scale=2.0)):
        other = pendulum()
        other.settings(**setting)
        assert other != m, setting


def test_mistakes_behind_an_edit_name_no_line_of_the_file(tmp_path):
    file = tmp_path / "m.yaml"
    file.write_text("trammel: 1\n# a comment\n\n# and more\nbodies:\n  a: {mass: 1, inertia: [1, 1, 1]}\n")
    m = trammel.load(file)
    m["bodies"]["a"]["mass"] = -1  # known to be here
    with pytest.raises(trammel.Error) as caught:
        m.check()
    assert (caught.value.problems[0].file, caught.value.problems[0].line) == (__file__, line_of("known to be here"))
    m = trammel.load(file)
    m.body("b", mass=1, inertia=[1, 1, 1])
    m._document["bodies"]["a"]["mass"] = -1  # not through the model, which cannot know where
    with pytest.raises(trammel.Error) as caught:
        m.check()
    problem = caught.value.problems[0]
    assert (problem.file, problem.line, problem.column) == (str(file), None, None)


def test_looking_at_a_model_keeps_its_file(tmp_path):
    """m["bodies"] and "bodies" in m made it one without comments, before anything was changed."""
    file = tmp_path / "m.yaml"
    text = "trammel: 1\n# a comment\nbodies:\n  a: {mass: 1, inertia: [1, 1, 1]} # another\n"
    file.write_text(text)
    m = trammel.load(file)
    bodies = m["bodies"]
    assert "forces" not in m and bodies["a"]["mass"] == 1 and "# a comment" in m.to_yaml() and "# another" in m.copy().to_yaml()
    with pytest.raises(KeyError):
        m["forces"]
    same = m.copy()
    bodies["a"]["mass"] = True  # equals 1 for Python, and is no mass
    assert "# a comment" not in m.to_yaml() and "mass: true" in m.to_yaml()
    bodies["a"]["mass"] = 2
    assert m != same and "mass: 2" in m.to_yaml() and "# a comment" in same.to_yaml()
    same["bodies"]["a"]["mass"] = 2
    assert m == same and "#" not in same.to_yaml()


def test_save_leaves_no_empty_file(tmp_path):
    m = trammel.Model()
    m._document["bodies"] = {"a": {"mass": "["}}
    m._document["\0"] = 1
    try:
        m.save(tmp_path / "m.yaml")
    except trammel.Error:
        assert not (tmp_path / "m.yaml").exists()
    else:
        assert (tmp_path / "m.yaml").stat().st_size > 0


def test_variables_and_blocks():
    m = trammel.Model("A lag", gravity=[0, 0, 0])
    m.body("cart", mass=1, inertia=[1, 1, 1])
    m.variable("wanted", expression="0.2")
    m.block.first_order_lag("smooth", input="wanted", time_constant=0.1)
    m.output("y", expression="smooth")
    assert set(m.variables) >= {"wanted", "smooth"}
    y = m.run(end=0.3, method="radau-iia-3", tolerance=1e-9)["y"][-1]
    assert y == pytest.approx(0.2 * (1 - numpy.exp(-3)), rel=1e-6)
    assert "time_constant" in trammel.blocks.first_order_lag.__doc__ and "pid" in dir(m.block)
    assert "Where it acts" not in trammel.blocks.pid.__doc__
    assert trammel.from_yaml(m.to_yaml()) == m
    m.block.firstorder_lag("other", input="wanted")
    with pytest.raises(trammel.Error) as caught:
        m.check()
    assert "first_order_lag" in caught.value.problems[0].hint and caught.value.problems[0].file == __file__
