"""Many monochrome Game Boys at once: `VecGameBoy`, and `Console` for one."""

from lockstep_gameboy._native import Console, Snapshot
from lockstep_gameboy.vector import BUTTONS, VecGameBoy, buttons

__all__ = ["BUTTONS", "Console", "Snapshot", "VecGameBoy", "buttons"]
