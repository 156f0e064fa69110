"""The sections of a model. Made by python/make_stubs.py from the grammar of files."""
from typing import Any, List, Tuple

from .model import Value

named_sections: List[Tuple[str, str, str, str]]

def summary(section: str, rule: str, article: str) -> str: ...
def parameters_of(rule: str) -> List[str]: ...

class Sections:
    def body(self, name: str, *, kind: Value = ..., mass: Value = ..., density: Value = ..., inertia: Value = ..., center_of_mass: Value = ..., shape: Value = ..., parts: Value = ..., flexible: Value = ..., position: Value = ..., velocity: Value = ..., angle: Value = ..., orientation: Value = ..., angular_velocity: Value = ..., ends: Value = ..., end_velocities: Value = ..., **fields: Any) -> str:
        """Adds a body to section `bodies` and returns its name."""

    def coordinate(self, name: str, *, quantity: Value = ..., mass: Value = ..., value: Value = ..., speed: Value = ..., keep: Value = ..., **fields: Any) -> str:
        """Adds a coordinate to section `coordinates` and returns its name."""

    def frame(self, name: str, *, body: Value = ..., position: Value = ..., at: Value = ..., node: Value = ..., orientation: Value = ..., axis: Value = ..., x_axis: Value = ..., **fields: Any) -> str:
        """Adds a frame to section `frames` and returns its name."""

    def input(self, name: str, *, value: Value = ..., unit: Value = ..., **fields: Any) -> str:
        """Adds an input to section `inputs` and returns its name."""

    def state(self, name: str, *, rate: Value = ..., value: Value = ..., unit: Value = ..., **fields: Any) -> str:
        """Adds a state to section `states` and returns its name."""

    def variable(self, name: str, *, expression: Value = ..., unit: Value = ..., **fields: Any) -> str:
        """Adds a variable to section `variables` and returns its name."""

    def output(self, name: str, *, expression: Value = ..., unit: Value = ..., **fields: Any) -> str:
        """Adds an output to section `outputs` and returns its name."""

    def spline(self, name: str, *, type: Value = ..., ends: Value = ..., slopes: Value = ..., extrapolation: Value = ..., points: Value = ..., x: Value = ..., y: Value = ..., file: Value = ..., columns: Value = ..., units: Value = ..., **fields: Any) -> str:
        """Adds a spline to section `splines` and returns its name."""

    def table(self, name: str, *, type: Value = ..., extrapolation: Value = ..., x: Value = ..., y: Value = ..., values: Value = ..., file: Value = ..., units: Value = ..., **fields: Any) -> str:
        """Adds a table to section `tables` and returns its name."""

    def shape(self, name: str, *, body: Value = ..., type: Value = ..., size: Value = ..., file: Value = ..., scale: Value = ..., position: Value = ..., orientation: Value = ..., color: Value = ..., **fields: Any) -> str:
        """Adds a drawn shape to section `shapes` and returns its name."""

    def subsystem(self, name: str, *, file: Value = ..., parameters: Value = ..., inputs: Value = ..., interface: Value = ..., needs: Value = ..., subsystems: Value = ..., splines: Value = ..., tables: Value = ..., bodies: Value = ..., coordinates: Value = ..., lines: Value = ..., use: Value = ..., repeat: Value = ..., frames: Value = ..., joints: Value = ..., motions: Value = ..., forces: Value = ..., contacts: Value = ..., initial: Value = ..., states: Value = ..., variables: Value = ..., blocks: Value = ..., outputs: Value = ..., shapes: Value = ..., **fields: Any) -> str:
        """Adds a subsystem to section `subsystems` and returns its name."""

    def use(self, name: str, *, subsystem: Value = ..., file: Value = ..., parameters: Value = ..., inputs: Value = ..., connect: Value = ..., position: Value = ..., orientation: Value = ..., **fields: Any) -> str:
        """Adds a use to section `use` and returns its name."""
