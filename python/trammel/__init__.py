"""Trammel: mechanical systems, built, run, driven and read with numpy.

>>> import trammel
>>> model = trammel.load("models/pendulum.yaml", L=0.5)   # doctest: +SKIP
>>> result = model.run(method="hht-i3", tolerance=1e-6, end=5)   # doctest: +SKIP
>>> result["body.bar.position.x"], result.t   # doctest: +SKIP
"""
from typing import Any, Dict, List

from . import _core, blocks, forces, joints, motions
from .analyses import Coupled, Drives, KinematicResult, LinearSystem, Mode, Modes, QuasiStaticResult, StaticResult, Sweep
from .clock import Clock
from .errors import Error, Interrupted, Problem
from .model import Model, ModelWarning, couple, from_yaml, load
from .ode import DenseOutput, OdeResult, ode_methods, solve
from .result import Result, Signal, read
from .simulation import Equations, Inputs, Simulation
from .studies import study

__version__: str = _core.version


def methods() -> List[Dict[str, Any]]:
    """All time integration methods: key, title, source, order, formulations, options."""
    return _core.methods()


__all__ = [
    "Clock", "Coupled", "DenseOutput", "Drives", "Equations", "Error", "Inputs", "Interrupted", "KinematicResult", "LinearSystem", "Mode",
    "Model", "ModelWarning", "Modes", "OdeResult", "Problem", "QuasiStaticResult", "Result", "Signal", "Simulation", "StaticResult", "Sweep",
    "blocks", "couple", "forces", "from_yaml", "joints", "load", "methods", "motions", "ode_methods", "read", "solve",
    "study",
]
