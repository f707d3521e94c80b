"""A Game Boy with a cartridge in it: PyBoy, stepped through its own API, and its state between two frames."""

from __future__ import annotations

import io
import tempfile
import warnings
from typing import Any

from cartridges import boot_rom

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it tells which SDL library it would open windows with
    from pyboy import PyBoy

from access import Access

HEIGHT, WIDTH = 144, 160
BUTTONS = ("right", "left", "up", "down", "a", "b", "select", "start")
"""By their bit in a mask of held buttons."""
BLACK = bytes([0xFF]) * (HEIGHT * WIDTH // 4)
"""The picture of a console that was just switched on, packed."""


class Console:
    """One console, switched on and not yet run.

    Args:
        image: the ROM of its cartridge.
    """

    def __init__(self, image: bytes) -> None:
        with tempfile.NamedTemporaryFile() as boot:
            boot.write(boot_rom())
            boot.flush()
            self.emulator = PyBoy(
                io.BytesIO(image),
                window="null",
                bootrom=boot.name,
                cgb=False,
                sound_emulated=False,
                log_level="CRITICAL",
            )
        self.emulator.set_emulation_speed(0)
        self.access = Access(self.emulator)
        self._switched_on = self.access.read(resting=False)
        self._held = 0

    def switch_on(self) -> None:
        """Bring it back to the moment in which it was made."""
        self.restore(self._switched_on, BLACK)

    def run_frame(self, held: int) -> None:
        """One frame, drawn, with the buttons of a mask held from its start on."""
        changed = held ^ self._held
        for bit, button in enumerate(BUTTONS):
            if changed >> bit & 1:
                if held >> bit & 1:
                    self.emulator.button_press(button)
                else:
                    self.emulator.button_release(button)
        self._held = held
        self.emulator.tick(1, True, False)

    def restore(self, fields: dict[str, Any], packed: Any) -> None:
        """Go on from the fields that `access.read()` gave, with this picture, as `access.screen()` packs it."""
        self.access.write(fields)
        self.access.write_screen(packed)
        self._held = int(fields["joypad/held"])

    def peek(self, address: int) -> int:
        """A byte of work memory."""
        return self.emulator.memory[address]

    def poke(self, address: int, value: int) -> None:
        """Set a byte of work memory."""
        self.emulator.memory[address] = value
