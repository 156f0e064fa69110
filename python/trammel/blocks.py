"""All blocks: ``help(trammel.blocks.NAME)`` says what each one takes. Made from the registry of the library."""
from .elements import functions as _functions

_table = _functions("block")
globals().update(_table)
__all__ = sorted(_table)
