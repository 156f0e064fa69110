"""Where things are: models of the repository, the command that was built beside the package."""
import os
import pathlib

import matplotlib
import pytest

matplotlib.use("Agg")
root = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def models():
    return root / "models"


@pytest.fixture(scope="session")
def command():
    path = os.environ.get("TRAMMEL")
    if not path:
        pytest.skip("TRAMMEL names the command")
    return os.path.abspath(path)


@pytest.fixture(scope="session")
def repository():
    return root
