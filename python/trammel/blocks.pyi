"""All blocks. Made by python/make_stubs.py from the registry of the library."""
from typing import Any, Callable, Dict

from .model import Model, Value

_table: Dict[str, Callable[..., str]]

def transfer_function(model: Model, name: str, *, input: Value = ..., numerator: Value = ..., denominator: Value = ..., initial: Value = ..., unit: Value = ..., **fields: Any) -> str:
    """A proper rational function of s, numerator over denominator."""

def state_space(model: Model, name: str, *, inputs: Value = ..., A: Value = ..., B: Value = ..., C: Value = ..., D: Value = ..., initial: Value = ..., unit: Value = ..., **fields: Any) -> str:
    """A linear system x' = A x + B u, y = C x + D u."""

def pid(model: Model, name: str, *, input: Value = ..., p: Value = ..., i: Value = ..., d: Value = ..., rate: Value = ..., filter: Value = ..., upper: Value = ..., lower: Value = ..., tracking: Value = ..., initial_integral: Value = ..., initial_error: Value = ..., unit: Value = ..., **fields: Any) -> str:
    """A controller with proportional, integral and derivative action, limits and anti-windup."""

def first_order_lag(model: Model, name: str, *, input: Value = ..., time_constant: Value = ..., gain: Value = ..., initial: Value = ..., unit: Value = ..., **fields: Any) -> str:
    """A low-pass filter of first order: T y' + y = k u."""

def second_order_lag(model: Model, name: str, *, input: Value = ..., frequency: Value = ..., damping: Value = ..., gain: Value = ..., initial: Value = ..., initial_rate: Value = ..., unit: Value = ..., **fields: Any) -> str:
    """A low-pass filter of second order: y'' + 2 zeta w y' + w^2 y = k w^2 u."""

def integrator(model: Model, name: str, *, input: Value = ..., gain: Value = ..., upper: Value = ..., lower: Value = ..., initial: Value = ..., unit: Value = ..., **fields: Any) -> str:
    """The integral of its input, within limits."""
