"""All motions. Made by python/make_stubs.py from the registry of the library."""
from typing import Any, Callable, Dict

from .model import Model, Value

_table: Dict[str, Callable[..., str]]

def rotation(model: Model, name: str, *, frames: Value = ..., between: Value = ..., at: Value = ..., axis: Value = ..., axis_b: Value = ..., x_axis: Value = ..., joint: Value = ..., part: Value = ..., angle: Value = ..., angular_speed: Value = ..., angular_acceleration: Value = ..., initial_angle: Value = ..., initial_angular_speed: Value = ..., **fields: Any) -> str:
    """Prescribes the angle of the second frame about the z axis of the first as a function of time, over any number of turns; or its speed or acceleration."""

def translation(model: Model, name: str, *, frames: Value = ..., between: Value = ..., at: Value = ..., axis: Value = ..., axis_b: Value = ..., x_axis: Value = ..., joint: Value = ..., part: Value = ..., displacement: Value = ..., speed: Value = ..., acceleration: Value = ..., initial_displacement: Value = ..., initial_speed: Value = ..., **fields: Any) -> str:
    """Prescribes the displacement of the second frame along the z axis of the first as a function of time; or its speed or acceleration."""

def trajectory(model: Model, name: str, *, frames: Value = ..., between: Value = ..., at: Value = ..., axis: Value = ..., axis_b: Value = ..., x_axis: Value = ..., joint: Value = ..., part: Value = ..., x: Value = ..., y: Value = ..., z: Value = ..., about_x: Value = ..., about_y: Value = ..., about_z: Value = ..., **fields: Any) -> str:
    """Prescribes position and orientation of the second frame against the first as functions of time, as many of the six coordinates as are given."""
