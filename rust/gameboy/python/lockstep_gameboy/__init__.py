"""Many monochrome Game Boys at once: `VecGameBoy`, `make_vec` for Gymnasium, and `Console` for one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from lockstep_gameboy._native import BOOT, Console, Snapshot
from lockstep_gameboy.vector import BUTTONS, VecGameBoy, buttons

if TYPE_CHECKING:
    from lockstep_gameboy.vector_env import GameBoyVectorEnv

__all__ = ["BOOT", "BUTTONS", "Console", "Snapshot", "VecGameBoy", "buttons", "make_vec"]


def make_vec(rom: bytes | str | Path, num_envs: int, frame_skip: int, **how: Any) -> GameBoyVectorEnv:
    """A game as a vector environment of Gymnasium's; see `GameBoyVectorEnv`. It needs Gymnasium 1.1 or newer."""
    from lockstep_gameboy.vector_env import GameBoyVectorEnv

    return GameBoyVectorEnv(rom, num_envs, frame_skip, **how)
