import copy
import inspect
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
    files = sorted(models.glob("*.yaml"))
    assert len(files) > 40
    for file in files:
        loaded = trammel.load(file)
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
