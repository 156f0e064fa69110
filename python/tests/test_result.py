import os
import subprocess
import sys

import numpy
import pytest

import trammel


@pytest.fixture(scope="module")
def result(models):
    return trammel.load(models / "pendulum.yaml").run(end=0.5)


@pytest.mark.parametrize("name", ["x.h5", "x.csv"])
def test_saved_and_read_again(result, tmp_path, name):
    result.save(tmp_path / name)
    again = trammel.read(tmp_path / name)
    assert again.names() == result.names() and again.status == "finished" and again.provenance == result.provenance
    for signal in result.names():
        numpy.testing.assert_array_equal(again[signal], result[signal])
    assert again.signal("swing") == result.signal("swing") and again.summary == result.summary
    again.save(tmp_path / "y.h5")
    numpy.testing.assert_array_equal(trammel.read(tmp_path / "y.h5")["swing"], result["swing"])


def test_a_cut_file_and_others_are_refused(result, tmp_path):
    path = tmp_path / "x.h5"
    result.save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(trammel.Error) as caught:
        trammel.read(path)
    assert caught.value.problems[0].id == "damaged-result" and "truncated" in str(caught.value)
    for content, id in ((b"", "not-a-result"), (b"hello", "not-a-result")):
        path.write_bytes(content)
        with pytest.raises(trammel.Error) as caught:
            trammel.read(path)
        assert caught.value.problems[0].id == id
    with pytest.raises(trammel.Error):
        trammel.read(tmp_path / "absent.h5")
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(trammel.Error):
        result.save(tmp_path / "notes.txt")
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_a_damaged_column_is_found_when_it_is_read(result, tmp_path):
    path = tmp_path / "x.h5"
    result.save(path)
    content = bytearray(path.read_bytes())
    value = result["body.bar.position.x"][7:8].tobytes() if result["body.bar.position.x"][7] else result["tip_x"][7:8].tobytes()
    at = content.find(value)
    assert at > 0
    content[at + 3] ^= 1
    path.write_bytes(content)
    damaged = trammel.read(path)
    with pytest.raises(trammel.Error) as caught:
        [damaged[name] for name in damaged.names()]
    assert caught.value.problems[0].id == "damaged-result"


def test_the_file_may_go_while_columns_stay(result, tmp_path):
    path = tmp_path / "x.h5"
    result.save(path)
    stored = trammel.read(path)
    swing = stored["swing"]
    path.unlink()
    numpy.testing.assert_array_equal(swing, result["swing"])
    numpy.testing.assert_array_equal(stored["swing"], result["swing"])
    with pytest.raises(trammel.Error):
        stored["tip_x"]


def test_columns_come_from_one_file(result, models, tmp_path, monkeypatch):
    """Another result under the same name gave its columns to the one that was opened, and so did another folder."""
    other = trammel.load(models / "pendulum.yaml", L=0.5).run(end=0.5)
    monkeypatch.chdir(tmp_path)
    result.save("x.h5")
    stored = trammel.read("x.h5")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    other.save("x.h5")
    swing = stored["swing"]
    numpy.testing.assert_array_equal(swing, result["swing"])
    monkeypatch.chdir(tmp_path)
    for replace in (lambda: other.save("x.h5"), lambda: os.replace("elsewhere/x.h5", "x.h5")):
        result.save("x.h5")
        stored = trammel.read("x.h5")
        swing = stored["swing"]
        replace()
        for use in (lambda: stored["tip_x"], lambda: stored.save("y.h5"), lambda: stored["tip_*"]):
            with pytest.raises(trammel.Error) as caught:
                use()
            assert caught.value.problems[0].id == "result-changed" and caught.value.problems[0].file == __file__
        numpy.testing.assert_array_equal(stored["swing"], result["swing"])
        assert not os.path.exists("y.h5")


def test_a_result_that_is_still_written_is_opened_again(result, models, tmp_path):
    """The file of a run that goes on changes all the time; columns keep the rows of the moment when it was opened."""

    class Running:
        status = "running"

        def __init__(self, core):
            self.core = core

        def __getattr__(self, name):
            return getattr(self.core, name)

    path = tmp_path / "x.h5"
    result.save(path)
    stored = trammel.read(path)
    stored._core = Running(stored._core)
    swing = stored["swing"]
    os.utime(path, (1, 1))
    numpy.testing.assert_array_equal(stored["tip_x"], result["tip_x"][: len(swing)])
    assert stored.status == "finished"
    stored = trammel.read(path)
    stored._core = Running(stored._core)
    trammel.load(models / "pendulum.yaml", L=0.5).run(end=0.5).save(path)
    with pytest.raises(trammel.Error) as caught:
        stored["tip_x"]
    assert caught.value.problems[0].id == "result-changed"


def test_plot(result, tmp_path):
    panels = result.plot("swing", "tip_?", linewidth=1)
    assert len(panels) == 2 and len(panels[1].lines) == 2 and panels[0].get_ylabel() == "rad"
    panels[0].figure.savefig(tmp_path / "x.png")
    across = result.plot("tip_z", x="tip_x")
    numpy.testing.assert_array_equal(across[0].lines[0].get_xdata(), result["tip_x"])
    with pytest.raises(trammel.Error):
        result.plot()


def test_dataframe(result):
    pandas = pytest.importorskip("pandas")
    frame = result.to_dataframe("swing", "tip_*")
    assert isinstance(frame, pandas.DataFrame) and list(frame.columns) == ["swing", "tip_x", "tip_z"]
    numpy.testing.assert_array_equal(frame["swing"].to_numpy(), result["swing"])


def test_dataset(result):
    pytest.importorskip("xarray")
    data = result.to_xarray("swing")
    assert data["swing"].attrs["units"] == "rad"
    numpy.testing.assert_array_equal(data["swing"].values, result["swing"])


def test_reading_one_column_reads_little(tmp_path):
    """A result of 60 MB with some 2,600 columns: what the process reads from the disk is counted by the system."""
    model = trammel.Model(gravity=[0, 0, -9.81])
    for i in range(100):
        model.body(f"b{i}", mass=1, inertia=[1, 1, 1], position=[i, 0, 0])
    path = tmp_path / "large.h5"
    model.run(end=4, step=1e-2, output_step=1e-3, file=path)
    program = ("import sys, trammel\nr = trammel.read(sys.argv[1])\n"
               "def read(): return int(open('/proc/self/io').read().split('rchar: ')[1].split()[0])\n"
               "before = read()\nr['body.b50.position.z'][-1]\nprint(read() - before)")
    used = int(subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True, check=True).stdout)
    assert path.stat().st_size > 40e6
    assert used < 0.02 * path.stat().st_size
