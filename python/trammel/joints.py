"""All joints: ``help(trammel.joints.NAME)`` says what each one takes. Made from the registry of the library."""
from .elements import functions as _functions

_table = _functions("joint")
globals().update(_table)
__all__ = sorted(_table)
