"""All joints. Made by python/make_stubs.py from the registry of the library."""
from typing import Any, Callable, Dict

from .model import Model, Value

_table: Dict[str, Callable[..., str]]

def fixed(model: Model, name: str, *, frames: Value = ..., between: Value = ..., at: Value = ..., axis: Value = ..., axis_b: Value = ..., x_axis: Value = ..., joint: Value = ..., part: Value = ..., **fields: Any) -> str:
    """Holds two frames together: no relative motion."""

def revolute(model: Model, name: str, *, frames: Value = ..., between: Value = ..., at: Value = ..., axis: Value = ..., axis_b: Value = ..., x_axis: Value = ..., joint: Value = ..., part: Value = ..., **fields: Any) -> str:
    """A hinge: one rotation about the common z axis."""

def translational(model: Model, name: str, *, frames: Value = ..., between: Value = ..., at: Value = ..., axis: Value = ..., axis_b: Value = ..., x_axis: Value = ..., joint: Value = ..., part: Value = ..., **fields: Any) -> str:
    """A slide: one displacement along the z axis of the first frame, no rotation."""

def cylindrical(model: Model, name: str, *, frames: Value = ..., between: Value = ..., at: Value = ..., axis: Value = ..., axis_b: Value = ..., x_axis: Value = ..., joint: Value = ..., part: Value = ..., **fields: Any) -> str:
    """A slide that may turn: displacement along and rotation about the common z axis."""

def spherical(model: Model, name: str, *, frames: Value = ..., between: Value = ..., at: Value = ..., axis: Value = ..., axis_b: Value = ..., x_axis: Value = ..., joint: Value = ..., part: Value = ..., **fields: Any) -> str:
    """A ball joint: the origins of the two frames coincide."""

def universal(model: Model, name: str, *, frames: Value = ..., between: Value = ..., at: Value = ..., axis: Value = ..., axis_b: Value = ..., x_axis: Value = ..., joint: Value = ..., part: Value = ..., **fields: Any) -> str:
    """A Cardan joint: origins coincide, the z axes of the two frames stay perpendicular (the arms of the cross)."""

def planar(model: Model, name: str, *, frames: Value = ..., between: Value = ..., at: Value = ..., axis: Value = ..., axis_b: Value = ..., x_axis: Value = ..., joint: Value = ..., part: Value = ..., **fields: Any) -> str:
    """A table: the second frame slides and turns in the xy plane of the first."""

def distance(model: Model, name: str, *, frames: Value = ..., between: Value = ..., at: Value = ..., axis: Value = ..., axis_b: Value = ..., x_axis: Value = ..., joint: Value = ..., part: Value = ..., length: Value = ..., **fields: Any) -> str:
    """A massless rod with ball ends: the origins of the two frames keep a fixed distance."""

def point_on_line(model: Model, name: str, *, frames: Value = ..., between: Value = ..., at: Value = ..., axis: Value = ..., axis_b: Value = ..., x_axis: Value = ..., joint: Value = ..., part: Value = ..., **fields: Any) -> str:
    """The origin of the second frame stays on the z axis of the first."""

def point_in_plane(model: Model, name: str, *, frames: Value = ..., between: Value = ..., at: Value = ..., axis: Value = ..., axis_b: Value = ..., x_axis: Value = ..., joint: Value = ..., part: Value = ..., **fields: Any) -> str:
    """The origin of the second frame stays in the xy plane of the first."""

def constant_velocity(model: Model, name: str, *, frames: Value = ..., between: Value = ..., at: Value = ..., axis: Value = ..., axis_b: Value = ..., x_axis: Value = ..., joint: Value = ..., part: Value = ..., **fields: Any) -> str:
    """A homokinetic joint: the origins coincide and both shafts, along the z axes, turn at the same speed at any angle between them."""

def screw(model: Model, name: str, *, frames: Value = ..., between: Value = ..., at: Value = ..., axis: Value = ..., axis_b: Value = ..., x_axis: Value = ..., joint: Value = ..., part: Value = ..., pitch: Value = ..., **fields: Any) -> str:
    """A screw: rotation about the common z axis advances the second frame along it by the pitch for each turn."""

def parallel_axes(model: Model, name: str, *, frames: Value = ..., between: Value = ..., at: Value = ..., axis: Value = ..., axis_b: Value = ..., x_axis: Value = ..., joint: Value = ..., part: Value = ..., **fields: Any) -> str:
    """The z axes of the two frames stay parallel; all displacements and the rotation about them are free."""

def perpendicular_axes(model: Model, name: str, *, frames: Value = ..., between: Value = ..., at: Value = ..., axis: Value = ..., axis_b: Value = ..., x_axis: Value = ..., joint: Value = ..., part: Value = ..., **fields: Any) -> str:
    """The z axes of the two frames stay perpendicular; everything else is free."""

def orientation(model: Model, name: str, *, frames: Value = ..., between: Value = ..., at: Value = ..., axis: Value = ..., axis_b: Value = ..., x_axis: Value = ..., joint: Value = ..., part: Value = ..., **fields: Any) -> str:
    """The two frames keep their axes parallel: relative rotation is fixed, displacement free."""

def gear(model: Model, name: str, *, frames: Value = ..., between: Value = ..., at: Value = ..., axis: Value = ..., axis_b: Value = ..., x_axis: Value = ..., joint: Value = ..., part: Value = ..., joints: Value = ..., teeth: Value = ..., internal: Value = ..., offset: Value = ..., **fields: Any) -> str:
    """Two wheels in mesh: the angles of two joints on a common carrier keep the ratio of their teeth."""

def coupler(model: Model, name: str, *, frames: Value = ..., between: Value = ..., at: Value = ..., axis: Value = ..., axis_b: Value = ..., x_axis: Value = ..., joint: Value = ..., part: Value = ..., joints: Value = ..., scales: Value = ..., of: Value = ..., offset: Value = ..., **fields: Any) -> str:
    """A linear relation between the angles, over any number of turns, or displacements of two to four joints: belts, differentials, linkages idealised."""

def rack_and_pinion(model: Model, name: str, *, frames: Value = ..., between: Value = ..., at: Value = ..., axis: Value = ..., axis_b: Value = ..., x_axis: Value = ..., joint: Value = ..., part: Value = ..., joints: Value = ..., radius: Value = ..., offset: Value = ..., **fields: Any) -> str:
    """A rack moves with a pinion: the displacement of one joint is a radius times the angle of another."""

def pulley(model: Model, name: str, *, frames: Value = ..., between: Value = ..., at: Value = ..., axis: Value = ..., axis_b: Value = ..., x_axis: Value = ..., joint: Value = ..., part: Value = ..., ratio: Value = ..., length: Value = ..., **fields: Any) -> str:
    """A taut rope from one load over one or two pulleys to another: the lengths of its two sides, the second times a ratio, have a fixed sum."""

def point_on_curve(model: Model, name: str, *, frames: Value = ..., between: Value = ..., at: Value = ..., axis: Value = ..., axis_b: Value = ..., x_axis: Value = ..., joint: Value = ..., part: Value = ..., y: Value = ..., r: Value = ..., parameter: Value = ..., x: Value = ..., z: Value = ..., points: Value = ..., free_z: Value = ..., **fields: Any) -> str:
    """The second frame's origin stays on a curve fixed in the first frame: a function y(x), a cam r(angle), or a parametric curve in space."""

def rolling_disc(model: Model, name: str, *, frames: Value = ..., between: Value = ..., at: Value = ..., axis: Value = ..., axis_b: Value = ..., x_axis: Value = ..., joint: Value = ..., part: Value = ..., radius: Value = ..., **fields: Any) -> str:
    """A thin disc or wheel rolls without slipping on the xy plane of the first frame; the z axis of the second is its axis."""

def rolling_sphere(model: Model, name: str, *, frames: Value = ..., between: Value = ..., at: Value = ..., axis: Value = ..., axis_b: Value = ..., x_axis: Value = ..., joint: Value = ..., part: Value = ..., radius: Value = ..., **fields: Any) -> str:
    """A sphere about the second frame's origin rolls without slipping on the xy plane of the first frame."""

def knife_edge(model: Model, name: str, *, frames: Value = ..., between: Value = ..., at: Value = ..., axis: Value = ..., axis_b: Value = ..., x_axis: Value = ..., joint: Value = ..., part: Value = ..., **fields: Any) -> str:
    """A blade or skate: the second frame's origin moves against the first only along its own x axis and along its own z axis, never across (along y)."""

def velocity_condition(model: Model, name: str, *, frames: Value = ..., between: Value = ..., at: Value = ..., axis: Value = ..., axis_b: Value = ..., x_axis: Value = ..., joint: Value = ..., part: Value = ..., linear: Value = ..., angular: Value = ..., value: Value = ..., **fields: Any) -> str:
    """A linear combination of the second frame's velocities against the first is a given function of time."""
