"""The Game Boy in Rust: ROMs, saved states, and programs that nobody wrote. A panic ends the process, which is a finding."""

from __future__ import annotations

import random
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from environments.gameboy.assembler import assemble
from lockstep_gameboy_tools.build import gameboy
from tests.fuzz.mutate import of_bytes
from tests.fuzz.target import Target, Wrong
from tests.paths import ENVIRONMENTS

ROMS = ENVIRONMENTS / "gameboy" / "roms"
BANK = 0x4000
ENTRY, TITLE, TYPE, RAM_SIZE, CHECKSUM, CODE = 0x100, 0x134, 0x147, 0x149, 0x14D, 0x150
TYPES = (0x00, 0x01, 0x03, 0x05, 0x06, 0x08, 0x0F, 0x10, 0x13, 0x19, 0x1B, 0x1E)
STATE_HEADER = struct.Struct("<8sHQQQ")
"""Magic, version, whose state it is, length and checksum of what follows."""
WORD = (1 << 64) - 1
PRIME = 0x100000001B3
FRAMES = 4
PIECES = (
    "e0 00", "e0 01", "e0 02", "e0 04", "e0 05", "e0 06", "e0 07", "e0 0f", "e0 40", "e0 41", "e0 42", "e0 43", "e0 45",
    "e0 46", "e0 4a", "e0 4b", "e0 ff", "e0 1a", "e0 1e", "e0 30", "e0 26", "f0 44", "f0 41", "f0 05", "f0 04", "f0 30",
    "fb", "f3", "76", "10 00", "18 fe", "18 f8", "20 f0", "28 fa", "f0 44 b8 20 fb", "fa 00 c0 a7 28 fa", "31 00 ff",
    "31 10 fe", "31 00 01", "c3 40 ff", "cd 50 01", "c9", "d9", "21 00 fe", "21 00 80", "21 40 ff", "22", "32", "7e",
    "12", "1a", "3e 05", "3e 80", "3e 91", "3e ff", "d3", "c7", "ff", "34", "cb 7e", "cb fe", "ea 00 20", "ea 00 40",
    "ea 00 60", "ea 00 a0", "fa 00 a0", "ea 00 00", "08 0f ff", "e8 7f",
)  # fmt: skip
"""Instructions that programs which go astray like to have."""


def roms(directory: Path) -> Target:
    """A ROM file: its size and its header."""
    console = gameboy().Console
    seeds = [assemble(ROMS / f"{name}.asm").image for name in ("bricks", "mbc2", "mbc3")]

    def run(data: bytes) -> None:
        found = console(data)
        found.run(1)
        found.save()

    return Target("gameboy-rom", seeds, run, _of_rom, (ValueError,))


def states(directory: Path) -> Target:
    """A saved state. One that is taken goes on and comes back as it is."""
    module = gameboy()
    rom = assemble(ROMS / "mbc3.asm").image
    made = module.Console(rom)
    seeds = []
    for frames in (1, 40, 300):
        made.run(frames)
        seeds.append(made.save())
    fresh = module.Console(rom).save()

    def run(data: bytes) -> None:
        console = module.Console(rom)
        try:
            console.load(data)
        except ValueError:
            if console.save() != fresh:
                raise Wrong("a state that was refused has changed the console") from None
            raise
        if console.save() != data:
            raise Wrong("what was loaded is saved as something else")
        console.run(FRAMES)
        console.load(console.save())

    return Target("gameboy-state", seeds, run, _of_state, (ValueError,))


def programs(directory: Path) -> Target:
    """A program: a byte for its cartridge, options and start, and its code. Both ways of running it come to the same."""
    module = gameboy()
    seeds = [bytes([kind]) + bytes.fromhex("".join(PIECES[kind * 5 : kind * 5 + 9])) for kind in range(12)]

    def run(data: bytes) -> None:
        head = data[0] if data else 0
        image = program(TYPES[head % len(TYPES)], data[1:])
        options: dict[str, Any] = {"sound": head < 128, "boot_rom": None if head & 64 else module.BOOT}
        quick, plain = (module.Console(image, shortcuts=shortcuts, **options) for shortcuts in (True, False))
        for frame in range(FRAMES):
            for console in (quick, plain):
                console.run(1, head + frame * 37 & 0xFF, frame % 2 == 0)
            if quick.save() != plain.save():
                raise Wrong(f"frame {frame} differs with and without shortcuts")
        copy = module.Console(image, **options)
        copy.load(quick.save())
        for console in (quick, copy):
            console.run(1)
        if copy.save() != quick.save():
            raise Wrong("a restored console went another way")

    return Target("gameboy-program", seeds, run, _of_program, ())


def program(kind: int, code: bytes) -> bytes:
    """A ROM of four banks that begins with this code, of which every bank has a part."""
    image = bytearray(4 * BANK)
    for bank in range(4):
        begin = bank * BANK + CODE
        part = code[: BANK - CODE]
        image[begin : begin + len(part)] = part
    image[ENTRY : ENTRY + 3] = bytes([0xC3, CODE & 0xFF, CODE >> 8])
    image[TYPE], image[RAM_SIZE] = kind, 3
    return _headed(image)


def _headed(image: bytearray) -> bytes:
    """With a checksum that fits the header, if it has one."""
    if len(image) > CHECKSUM:
        image[CHECKSUM] = -sum(image[TITLE:CHECKSUM]) - (CHECKSUM - TITLE) & 0xFF
    return bytes(image)


def _of_rom(rng: random.Random, data: bytes, donors: Sequence[bytes]) -> bytes:
    image = bytearray(data)
    if len(image) > CHECKSUM and rng.random() < 0.7:
        for _ in range(rng.randrange(1, 4)):
            image[rng.choice((TYPE, RAM_SIZE, CHECKSUM, rng.randrange(TITLE, CODE)))] = rng.randrange(256)
    else:
        image = bytearray(of_bytes(rng, data, donors))
    if rng.random() < 0.6:
        image += bytes(-len(image) % BANK)
    return _headed(image) if rng.random() < 0.8 else bytes(image)


def _of_state(rng: random.Random, data: bytes, donors: Sequence[bytes]) -> bytes:
    begin = STATE_HEADER.size
    if rng.random() < 0.2 or len(data) <= begin:
        return of_bytes(rng, data, donors)
    body = bytearray(data[begin:])
    small = [*range(60), *range(len(body) - 0x2000 - 600, len(body) - 0x2000)]
    for _ in range(rng.randrange(1, 5)):
        # Most of a state is memory, which can be anything; registers of units stand before and behind it.
        at = rng.choice(small) if rng.random() < 0.8 else rng.randrange(len(body))
        if 0 <= at < len(body):
            body[at] = rng.choice((0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)))
    magic, version, owner, _, _ = STATE_HEADER.unpack(data[:begin])
    return STATE_HEADER.pack(magic, version, owner, len(body), _checksum(bytes(body))) + body


def _checksum(body: bytes) -> int:
    whole = len(body) // 8 * 8
    found = 0xCBF29CE484222325
    for byte in body[whole:]:
        found = (found ^ byte) * PRIME & WORD
    for (word,) in struct.iter_unpack("<Q", body[:whole]):
        found = (found ^ word) * PRIME & WORD
        found = (found << 23 | found >> 41) & WORD
    return found


def _of_program(rng: random.Random, data: bytes, donors: Sequence[bytes]) -> bytes:
    if rng.random() < 0.3:
        return of_bytes(rng, data, donors)[: 4 * BANK]
    pieces = [bytes.fromhex(rng.choice(PIECES)) for _ in range(rng.randrange(1, 12))]
    pieces += [bytes([rng.randrange(256)]) for _ in range(rng.randrange(4))]
    rng.shuffle(pieces)
    at = rng.randrange(1, len(data) + 1) if data else 0
    return (bytes([rng.randrange(256)]) + data[1:at] + b"".join(pieces) + data[at:])[: 2 * BANK]
