"""Test ROMs that people bring: each says in one of a few usual ways whether the console that runs it is right.

| how | passed | failed |
|---|---|---|
| serial | the text that was sent has `Passed` | it has `Failed` |
| memory | 0xA001 holds DE B0 61, and 0xA000 the status 0 | another status, 0x80 (it runs) aside |
| registers | at an `ld b, b`, B C D E H L are 3 5 8 13 21 34 | all are 0x42 |
| screen | it stays the picture in NAME.png, or one whose digest is in NAME.sha256 | it is not when time is up |
| high memory | when time is up, 0xFF82 holds 1, and 0xFF80 what is in 0xFF81 | 0xFF82 holds 255, and the two differ |

Whatever speaks first counts. Many programs use high memory for something else, so it is looked at last.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from harness.errors import LockstepError
from harness.verdict import Outcome

SIGNATURE = bytes([0xDE, 0xB0, 0x61])
RUNNING = 0x80
TEXT = 0xA004
MOST_TEXT = 1024
REGISTERS = ("b", "c", "d", "e", "h", "l")
PASSED = (3, 5, 8, 13, 21, 34)
FAILED = (0x42,) * 6
HIGH = 0xFF80
"""Where gbmicrotest's ROMs write what came out, what should have, and whether these are equal (1) or not (255)."""
COLOR_ONLY = 0xC0
SMALLEST = 0x8000
SHADE = 85
"""Greys from one shade to the next."""
SETTLED = 30
"""Frames for which a screen must be the expected one; and for which the text after a failure is awaited."""
DIGEST = ".sha256"
PICTURE = ".png"
SHOWN = 400

Screen = np.ndarray[Any, Any]


@dataclass(frozen=True)
class RomResult:
    """What came of one ROM.

    Attributes:
        rom: its path below the folder.
        outcome: INCONCLUSIVE where it said nothing, ERROR where it is not a ROM that can be run.
        by: `serial`, `memory`, `registers`, `screen`, `high memory`, or empty.
        what: its own words, or why there are none.
        frames: how many it ran for.
        screen: SHA-256 of the last screen's shades (a byte each, 0 white to 3 black), which NAME.sha256 can hold.
    """

    rom: str
    outcome: Outcome
    by: str
    what: str
    frames: int
    screen: str

    def to_json(self) -> dict[str, Any]:
        """The result as a JSON object."""
        return asdict(self)


def check_roms(folder: Path, make: Callable[[bytes], Any], frames: int) -> Iterator[RomResult]:
    """Run every `.gb` (or `.GB`) below a folder.

    Args:
        make: a console (`lockstep_gameboy.Console`) with a ROM in it; ValueError where that is none.
        frames: after so many a ROM is given up.

    Raises:
        LockstepError: there is no ROM, or an expected screen cannot be read.
    """
    roms = sorted(path for path in folder.rglob("*") if path.suffix.lower() == ".gb" and path.is_file())
    if not roms:
        raise LockstepError("there is no ROM", where=str(folder), expected="files whose names end in .gb")
    for path in roms:
        name = path.relative_to(folder).as_posix()
        expected = expected_screen(path)
        rom = path.read_bytes()
        fault, console = fault_of(rom), None
        if not fault:
            try:
                console = make(rom)
            except ValueError as error:
                fault = str(error)
        if console is None:
            yield RomResult(name, Outcome.ERROR, "", fault, 0, "")
            continue
        yield _run(name, console, expected, frames)


def fault_of(rom: bytes) -> str:
    """Why a ROM cannot be run for what it is, by its header; an empty string where that tells nothing against it."""
    if len(rom) < 0x150:
        return f"the file has {len(rom)} bytes; a header alone ends at 336"
    if rom[0x143] == COLOR_ONLY:
        return "it is for the Game Boy Color alone (0x0143 is 0xC0); this console is monochrome"
    told = SMALLEST << rom[0x148]
    if rom[0x148] <= 8 and len(rom) < told:
        return f"the file has {len(rom)} bytes; its header says {told} (0x0148 is {rom[0x148]})"
    return ""


def expected_screen(rom: Path) -> str | None:
    """The digest of the screen that a file beside a ROM asks for; None where there is no such file.

    Raises:
        LockstepError: the file is neither a digest nor a picture of 160 by 144 greys.
    """
    digest, picture = rom.with_suffix(DIGEST), rom.with_suffix(PICTURE)
    if digest.is_file():
        words = digest.read_text(encoding="utf-8", errors="replace").split()
        if words and len(words[0]) == 64 and set(words[0].lower()) <= set("0123456789abcdef"):
            return words[0].lower()
        raise LockstepError("this is no digest", where=str(digest), expected="64 hexadecimal digits")
    return digest_of(_shades(picture)) if picture.is_file() else None


def digest_of(screen: Screen) -> str:
    """SHA-256 over a screen's shades."""
    return hashlib.sha256(np.ascontiguousarray(screen, np.uint8).tobytes()).hexdigest()


def _shades(picture: Path) -> Screen:
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(picture) as image:
            if image.size != (160, 144):
                raise LockstepError(
                    f"the picture has {image.width} by {image.height} pixels", where=str(picture), expected="160 by 144"
                )
            greys = np.asarray(image.convert("L"), np.int32)
    except (UnidentifiedImageError, OSError, Image.DecompressionBombError) as error:
        raise LockstepError("this is no picture that can be read", where=str(picture)) from error
    return ((255 - greys + SHADE // 2) // SHADE).astype(np.uint8)


def _run(name: str, console: Any, expected: str | None, frames: int) -> RomResult:
    listener = _Listener(console, expected)
    frame = 0
    while frame < frames and not listener.spoke():
        frame += 1
        listener.hear()
        if console.registers()["locked"]:
            listener.give_up("the processor met an opcode that does not exist")
            break
    outcome, by, what = listener.verdict()
    return RomResult(name, outcome, by, what[:SHOWN], frame, digest_of(console.screen()))


class _Listener:
    """What a running ROM has said so far."""

    def __init__(self, console: Any, expected: str | None) -> None:
        self._console, self._expected = console, expected
        self._serial = ""
        self._right_for = 0
        self._failing_for = 0
        self._marked: tuple[int, ...] | None = None
        self._why = "it said nothing within its time"

    def hear(self) -> None:
        """Run a frame."""
        console = self._console
        console.run(1, render=True)
        self._serial += console.take_serial().decode("ascii", "replace")
        mark = console.take_mark()
        if mark is not None:
            self._marked = tuple(mark[register] for register in REGISTERS)
        if self._expected is not None:
            self._right_for = self._right_for + 1 if digest_of(console.screen()) == self._expected else 0
        self._failing_for += "Failed" in self._serial

    def give_up(self, why: str) -> None:
        """Nothing more will come."""
        self._why = why

    def spoke(self) -> bool:
        """Whether the ROM has said all that matters."""
        return (
            "Passed" in self._serial
            or self._failing_for > SETTLED
            or self._status() is not None
            or self._marked in (PASSED, FAILED)
            or self._right_for >= SETTLED
        )

    def verdict(self) -> tuple[Outcome, str, str]:
        """What it said, how, and in which words."""
        text = " ".join(self._serial.split())
        if "Passed" in self._serial or "Failed" in self._serial:
            return (Outcome.FAIL if "Failed" in self._serial else Outcome.PASS), "serial", text
        status = self._status()
        if status is not None:
            return (Outcome.PASS if status == 0 else Outcome.FAIL), "memory", self._text() or f"status {status}"
        if self._marked in (PASSED, FAILED):
            registers = " ".join(f"{name.upper()}={value}" for name, value in zip(REGISTERS, self._marked, strict=True))
            return (Outcome.PASS if self._marked == PASSED else Outcome.FAIL), "registers", registers
        if self._expected is not None:
            right = self._right_for > 0
            return (
                (Outcome.PASS if right else Outcome.FAIL),
                "screen",
                "" if right else "the screen is not the expected one",
            )
        found, wanted, equal = self._memory(HIGH, 3)
        if equal == (1 if found == wanted else 255):
            return (
                (Outcome.PASS if equal == 1 else Outcome.FAIL),
                "high memory",
                f"{found} came out; {wanted} is right",
            )
        return Outcome.INCONCLUSIVE, "", f"{self._why}; it sent {text!r}" if text else self._why

    def _status(self) -> int | None:
        if self._memory(0xA001, 3) != SIGNATURE:
            return None
        [status] = self._memory(0xA000, 1)
        return None if status == RUNNING else status

    def _text(self) -> str:
        said = self._memory(TEXT, MOST_TEXT).split(b"\0")[0]
        return " ".join(said.decode("ascii", "replace").split())

    def _memory(self, address: int, length: int) -> bytes:
        return bytes(self._console.peek(address + at) for at in range(length))
