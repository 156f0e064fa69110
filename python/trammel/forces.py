"""All forces: ``help(trammel.forces.NAME)`` says what each one takes. Made from the registry of the library."""
from .elements import functions as _functions

_table = _functions("force")
globals().update(_table)
__all__ = sorted(_table)
