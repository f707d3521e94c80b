"""A small assembler for the Game Boy's CPU: enough for the ROMs in ../roms, and errors that say what was expected.

`assemble(path)` gives a `Rom`; as a program: `python -m assembler roms/bricks.asm bricks.gb` from the directory above.
"""

from __future__ import annotations

from .errors import AssemblyError, Place
from .expressions import Symbol
from .instructions import FORMS, Form, Immediate
from .program import Rom, assemble, assemble_text

__all__ = ["FORMS", "AssemblyError", "Form", "Immediate", "Place", "Rom", "Symbol", "assemble", "assemble_text"]
