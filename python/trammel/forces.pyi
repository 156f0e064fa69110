"""All forces. Made by python/make_stubs.py from the registry of the library."""
from typing import Any, Callable, Dict

from .model import Model, Value

_table: Dict[str, Callable[..., str]]

def translational_spring_damper(model: Model, name: str, *, frames: Value = ..., between: Value = ..., at: Value = ..., axis: Value = ..., axis_b: Value = ..., x_axis: Value = ..., joint: Value = ..., part: Value = ..., stiffness: Value = ..., damping: Value = ..., free_length: Value = ..., force: Value = ..., **fields: Any) -> str:
    """Spring, damper and actuator along the line between the origins of two frames; tension is positive."""

def rotational_spring_damper(model: Model, name: str, *, frames: Value = ..., between: Value = ..., at: Value = ..., axis: Value = ..., axis_b: Value = ..., x_axis: Value = ..., joint: Value = ..., part: Value = ..., stiffness: Value = ..., damping: Value = ..., free_angle: Value = ..., torque: Value = ..., **fields: Any) -> str:
    """Spring, damper and actuator in the angle of the second frame about the z axis of the first, over any number of turns."""

def bushing(model: Model, name: str, *, frames: Value = ..., between: Value = ..., at: Value = ..., axis: Value = ..., axis_b: Value = ..., x_axis: Value = ..., joint: Value = ..., part: Value = ..., stiffness: Value = ..., angular_stiffness: Value = ..., damping: Value = ..., angular_damping: Value = ..., stiffness_matrix: Value = ..., damping_matrix: Value = ..., preload_force: Value = ..., preload_torque: Value = ..., **fields: Any) -> str:
    """Elastic mount: stiffness and damping between two frames in all six directions, in the axes of the first."""

def force(model: Model, name: str, *, frames: Value = ..., between: Value = ..., at: Value = ..., axis: Value = ..., axis_b: Value = ..., x_axis: Value = ..., joint: Value = ..., part: Value = ..., fx: Value = ..., fy: Value = ..., fz: Value = ..., axes: Value = ..., **fields: Any) -> str:
    """Force on the origin of the second frame, given by expressions; the first frame takes the reaction along the same line."""

def torque(model: Model, name: str, *, frames: Value = ..., between: Value = ..., at: Value = ..., axis: Value = ..., axis_b: Value = ..., x_axis: Value = ..., joint: Value = ..., part: Value = ..., tx: Value = ..., ty: Value = ..., tz: Value = ..., axes: Value = ..., **fields: Any) -> str:
    """Torque on the second frame, given by expressions; the first takes the reaction."""

def general_force(model: Model, name: str, *, frames: Value = ..., between: Value = ..., at: Value = ..., axis: Value = ..., axis_b: Value = ..., x_axis: Value = ..., joint: Value = ..., part: Value = ..., fx: Value = ..., fy: Value = ..., fz: Value = ..., tx: Value = ..., ty: Value = ..., tz: Value = ..., axes: Value = ..., **fields: Any) -> str:
    """Force and torque on the second frame at its origin, given by expressions; the first frame takes the reaction."""

def rotational_stop(model: Model, name: str, *, frames: Value = ..., between: Value = ..., at: Value = ..., axis: Value = ..., axis_b: Value = ..., x_axis: Value = ..., joint: Value = ..., part: Value = ..., lower: Value = ..., upper: Value = ..., stiffness: Value = ..., exponent: Value = ..., damping: Value = ..., depth: Value = ..., **fields: Any) -> str:
    """Elastic stops that limit the angle of the second frame about the z axis of the first, over any number of turns."""

def translational_stop(model: Model, name: str, *, frames: Value = ..., between: Value = ..., at: Value = ..., axis: Value = ..., axis_b: Value = ..., x_axis: Value = ..., joint: Value = ..., part: Value = ..., lower: Value = ..., upper: Value = ..., stiffness: Value = ..., exponent: Value = ..., damping: Value = ..., depth: Value = ..., **fields: Any) -> str:
    """Elastic stops that limit the displacement of the second frame along the z axis of the first."""

def joint_friction(model: Model, name: str, *, frames: Value = ..., between: Value = ..., at: Value = ..., axis: Value = ..., axis_b: Value = ..., x_axis: Value = ..., joint: Value = ..., part: Value = ..., motion: Value = ..., radius: Value = ..., load: Value = ..., static_coefficient: Value = ..., kinetic_coefficient: Value = ..., force: Value = ..., viscous: Value = ..., stribeck_speed: Value = ..., slip_speed: Value = ..., **fields: Any) -> str:
    """Dry (Coulomb, Stribeck) and viscous friction about or along the z axis of a joint, made smooth at rest."""

def stick_slip_friction(model: Model, name: str, *, frames: Value = ..., between: Value = ..., at: Value = ..., axis: Value = ..., axis_b: Value = ..., x_axis: Value = ..., joint: Value = ..., part: Value = ..., motion: Value = ..., radius: Value = ..., load: Value = ..., static_coefficient: Value = ..., kinetic_coefficient: Value = ..., force: Value = ..., **fields: Any) -> str:
    """Coulomb friction about or along the z axis of a joint that truly sticks: at rest the coordinate is held by a constraint until the holding force exceeds the static limit."""

def clutch(model: Model, name: str, *, frames: Value = ..., between: Value = ..., at: Value = ..., axis: Value = ..., axis_b: Value = ..., x_axis: Value = ..., joint: Value = ..., part: Value = ..., capacity: Value = ..., static_ratio: Value = ..., **fields: Any) -> str:
    """Friction clutch or brake about the z axis of two shafts: open, slipping with the torque it is pressed to, or locked by a constraint until the torque exceeds what it can hold."""

def rotational_actuator(model: Model, name: str, *, frames: Value = ..., between: Value = ..., at: Value = ..., axis: Value = ..., axis_b: Value = ..., x_axis: Value = ..., joint: Value = ..., part: Value = ..., torque: Value = ..., limit: Value = ..., lower_limit: Value = ..., saturation: Value = ..., **fields: Any) -> str:
    """Torque on the second frame about the z axis of the first, from a command between limits."""

def translational_actuator(model: Model, name: str, *, frames: Value = ..., between: Value = ..., at: Value = ..., axis: Value = ..., axis_b: Value = ..., x_axis: Value = ..., joint: Value = ..., part: Value = ..., force: Value = ..., limit: Value = ..., lower_limit: Value = ..., saturation: Value = ..., **fields: Any) -> str:
    """Force on the second frame along the z axis of the first, from a command between limits."""

def drag(model: Model, name: str, *, frames: Value = ..., between: Value = ..., at: Value = ..., axis: Value = ..., axis_b: Value = ..., x_axis: Value = ..., joint: Value = ..., part: Value = ..., density: Value = ..., area: Value = ..., coefficient: Value = ..., wind_x: Value = ..., wind_y: Value = ..., wind_z: Value = ..., **fields: Any) -> str:
    """Drag rho/2 c A |u| u on the second frame, moving through a medium at rest in the first, with wind."""

def beam(model: Model, name: str, *, frames: Value = ..., between: Value = ..., at: Value = ..., axis: Value = ..., axis_b: Value = ..., x_axis: Value = ..., joint: Value = ..., part: Value = ..., youngs_modulus: Value = ..., shear_modulus: Value = ..., area: Value = ..., second_moment_y: Value = ..., second_moment_z: Value = ..., torsion_constant: Value = ..., shear_coefficient_y: Value = ..., shear_coefficient_z: Value = ..., length: Value = ..., section_axes: Value = ..., curvature: Value = ..., damping_ratio: Value = ..., **fields: Any) -> str:
    """Elastic beam between two frames: stretch, bending, shear and twist, for large motions of its ends; without mass."""

def stiffness_matrix(model: Model, name: str, *, frames: Value = ..., between: Value = ..., at: Value = ..., axis: Value = ..., axis_b: Value = ..., x_axis: Value = ..., joint: Value = ..., part: Value = ..., stiffness: Value = ..., damping: Value = ..., preload_force: Value = ..., preload_torque: Value = ..., **fields: Any) -> str:
    """General linear stiffness and damping between up to eight frames, counted from the given pose."""

def ball_in_groove(model: Model, name: str, *, frames: Value = ..., between: Value = ..., at: Value = ..., axis: Value = ..., axis_b: Value = ..., x_axis: Value = ..., joint: Value = ..., part: Value = ..., ring: Value = ..., center_radius: Value = ..., groove_radius: Value = ..., ball_radius: Value = ..., contact_angle: Value = ..., stiffness: Value = ..., modulus_a: Value = ..., poisson_a: Value = ..., modulus_b: Value = ..., poisson_b: Value = ..., damping: Value = ..., friction: Value = ..., slip_speed: Value = ..., **fields: Any) -> str:
    """Contact of a ball with the groove of a bearing ring about the z axis of the first frame: Hertz, friction."""

def ball_in_pocket(model: Model, name: str, *, frames: Value = ..., between: Value = ..., at: Value = ..., axis: Value = ..., axis_b: Value = ..., x_axis: Value = ..., joint: Value = ..., part: Value = ..., pocket_radius: Value = ..., ball_radius: Value = ..., stiffness: Value = ..., modulus_a: Value = ..., poisson_a: Value = ..., modulus_b: Value = ..., poisson_b: Value = ..., damping: Value = ..., friction: Value = ..., slip_speed: Value = ..., **fields: Any) -> str:
    """Contact of a ball with the cylindrical pocket of a cage about the z axis of the first frame."""

def contact(model: Model, name: str, *, frames: Value = ..., between: Value = ..., at: Value = ..., axis: Value = ..., axis_b: Value = ..., x_axis: Value = ..., joint: Value = ..., part: Value = ..., shape_a: Value = ..., radius_a: Value = ..., length_a: Value = ..., rounding_a: Value = ..., crown_a: Value = ..., size_a: Value = ..., teeth_a: Value = ..., pitch_a: Value = ..., pocket_a: Value = ..., tip_a: Value = ..., shape_b: Value = ..., radius_b: Value = ..., length_b: Value = ..., rounding_b: Value = ..., crown_b: Value = ..., size_b: Value = ..., teeth_b: Value = ..., pitch_b: Value = ..., pocket_b: Value = ..., tip_b: Value = ..., law: Value = ..., stiffness: Value = ..., exponent: Value = ..., load: Value = ..., depth: Value = ..., modulus_a: Value = ..., poisson_a: Value = ..., modulus_b: Value = ..., poisson_b: Value = ..., damping: Value = ..., restitution: Value = ..., impact_speed: Value = ..., ramp: Value = ..., friction: Value = ..., static_friction: Value = ..., slip_speed: Value = ..., **fields: Any) -> str:
    """Contact of two shapes, one on each frame (plane, sphere, cylinder, disc, capsule, box, rail and sprocket for rollers): elastic and damped, with friction."""

def impact(model: Model, name: str, *, frames: Value = ..., between: Value = ..., at: Value = ..., axis: Value = ..., axis_b: Value = ..., x_axis: Value = ..., joint: Value = ..., part: Value = ..., restitution: Value = ..., radius: Value = ..., **fields: Any) -> str:
    """A ball about the origin of the second frame strikes the xy plane of the first and rebounds by Newton's law of restitution: an event, without a force in time."""
