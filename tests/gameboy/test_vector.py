"""`VecGameBoy` is consoles that each do what they would do alone; and whatever it is given, it answers or refuses."""

from __future__ import annotations

import ast
import functools
import inspect
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import lockstep_gameboy_tools.build as crate
from environments.gameboy.assembler import assemble
from harness.support.embedded import rust_sources
from tests.paths import ENVIRONMENTS

pytestmark = [pytest.mark.slow, pytest.mark.rust]
DIRECTORY = ENVIRONMENTS / "gameboy"
NAMES = sorted(path.stem for path in (DIRECTORY / "roms").glob("*.asm"))
FRAMES = 240
GREYS = np.array([255, 153, 85, 0], np.uint8)


@functools.cache
def rom(name: str) -> bytes:
    return assemble(DIRECTORY / "roms" / f"{name}.asm").image


@functools.cache
def boot_rom() -> bytes:
    return assemble(DIRECTORY / "reference" / "boot.asm").image[:256]


@pytest.fixture(scope="session")
def gameboy(cargo: None) -> ModuleType:
    return crate.gameboy()


def test_a_console_begins_with_the_program_that_the_task_is_verified_with(gameboy: ModuleType) -> None:
    assert boot_rom() == gameboy.BOOT
    usual, told, without = (
        gameboy.Console(rom("bricks"), **given) for given in ({}, {"boot_rom": gameboy.BOOT}, {"boot_rom": None})
    )
    many, documented = (gameboy.VecGameBoy(rom("bricks"), 1, 1, **given) for given in ({}, {"boot_rom": None}))
    assert usual.save() == told.save() == many.save(0) != without.save() == documented.save(0)
    assert (usual.registers()["pc"], without.registers()["pc"]) == (0, 0x100)


@pytest.mark.parametrize("name", NAMES)
def test_shortcuts_change_nothing_in_any_frame(gameboy: ModuleType, name: str) -> None:
    quick, plain = (gameboy.Console(rom(name), boot_rom=boot_rom(), shortcuts=shortcuts) for shortcuts in (True, False))
    chance = np.random.default_rng(7)
    for frame in range(FRAMES):
        held, drawn = int(chance.integers(256)) if frame % 5 == 0 else 0, bool(chance.integers(2))
        quick.run(1, held, drawn)
        plain.run(1, held, drawn)
        assert quick.save() == plain.save(), f"frame {frame}"


def test_every_console_of_a_batch_does_what_it_does_alone(gameboy: ModuleType) -> None:
    held = np.array([0, 1, 2, 16, 128, 255, 64, 33], np.uint8)
    envs = gameboy.VecGameBoy(rom("bricks"), len(held), 24, boot_rom=boot_rom(), ram=[0xC006, 0xC007], threads=2)
    seen = envs.reset()
    assert seen is envs.observation and seen.shape == (8, 144, 160) and seen.dtype == np.uint8
    for _ in range(10):
        assert envs.step(held) is seen
    for number, buttons in enumerate(held):
        alone = gameboy.Console(rom("bricks"), boot_rom=boot_rom())
        for _ in range(10):
            alone.run(23, int(buttons), render=False)
            alone.run(1, int(buttons))
        assert np.array_equal(alone.screen(), seen[number])
        assert bytes(envs.ram[number]) == envs.peek(number, 0xC006, 2)
        assert envs.registers(number)["clock"] == alone.registers()["clock"]
    assert len({bytes(row) for row in seen.reshape(8, -1)}) > 1


def test_what_is_seen_is_the_screen_as_it_was_asked_for(gameboy: ModuleType) -> None:
    options: dict[str, Any] = {"boot_rom": boot_rom(), "threads": 1}
    shades = gameboy.VecGameBoy(rom("sprites"), 1, 30, **options)
    small = gameboy.VecGameBoy(rom("sprites"), 1, 30, grayscale=True, downsample=4, stack=3, **options)
    assert small.observation.shape == (1, 3, 36, 40)
    last = []
    for envs in (shades, small):
        envs.reset()
    for _ in range(4):
        screen = GREYS[shades.step([0])[0]].reshape(36, 4, 40, 4).astype(np.float64)
        last.append(np.floor(screen.mean((1, 3)) + 0.5).astype(np.uint8))
        small.step([0])
    assert np.array_equal(small.observation[0], np.stack(last[-3:]))
    assert len({picture.tobytes() for picture in last}) > 1


def test_episodes_of_other_seeds_begin_otherwise_and_masks_choose(gameboy: ModuleType) -> None:
    envs = gameboy.VecGameBoy(rom("meteors"), 6, 4, idle_frames=90, random_frames=60, threads=2)
    envs.reset([1, 2, 3, 1, 2, 3])
    states = [envs.save(number) for number in range(6)]
    assert states[:3] == states[3:] and len(set(states)) == 3
    envs.reset(7, mask=np.array([False, True, False, False, False, False]))
    assert [envs.save(number) == states[number] for number in range(6)] == [True, False, True, True, True, True]
    envs.set_starts([states[0], states[1]])
    envs.reset(range(6))
    assert {envs.save(number) for number in range(6)} == set(states[:2])


def test_states_and_snapshots_come_back_with_their_rows(gameboy: ModuleType) -> None:
    envs = gameboy.VecGameBoy(rom("bricks"), 2, 8, ram=[0xC000])
    envs.reset()
    envs.step([16, 0])
    state, kept, seen, count = envs.save(0), envs.snapshot(0), envs.observation[0].copy(), envs.ram[0, 0]
    envs.step([0, 0])
    envs.restore(1, kept)
    assert envs.save(1) == state and np.array_equal(envs.observation[1], seen) and envs.ram[1, 0] == count
    envs.load(0, state)
    assert envs.save(0) == state and np.array_equal(envs.observation[0], seen)
    other = gameboy.VecGameBoy(rom("bricks"), 1, 8, sound=False)
    for take in (lambda: other.restore(0, kept), lambda: other.load(0, state)):
        with pytest.raises(ValueError, match="another cartridge, boot ROM or option"):
            take()


def test_a_console_takes_less_than_200_kb(gameboy: ModuleType) -> None:
    """`mbc5` has the most RAM that a cartridge can have. What the process takes is measured, not what it says."""
    program = f"""
import sys
sys.path.insert(0, {str(crate.built())!r})
from pathlib import Path
import psutil
from lockstep_gameboy import VecGameBoy
def resident():
    return psutil.Process().memory_info().rss
rom = Path(sys.argv[1]).read_bytes()
few = VecGameBoy(rom, 1, 24, threads=1); few.reset(); few.step([0])
before = resident()
many = VecGameBoy(rom, 400, 24, threads=1); many.reset(range(400)); many.step([0] * 400)
print((resident() - before) / 400, many.memory_bytes)
"""
    told = subprocess.run([sys.executable, "-c", program, _file("mbc5")], capture_output=True, text=True, check=True)
    measured, said = map(float, told.stdout.split())
    assert 150_000 < said < 200_000
    assert measured - 144 * 160 < 200_000, "without its row of the observations"


@functools.cache
def _file(name: str) -> str:
    import tempfile

    place = Path(tempfile.mkdtemp(prefix="lockstep-rom-")) / f"{name}.gb"
    place.write_bytes(rom(name))
    return str(place)


# --- wrong arguments --------------------------------------------------------------------------------------------------


def changed(image: bytes, **at: int) -> bytes:
    """A ROM with other bytes in its header, whose checksum is right again unless it is given."""
    places = {"kind": 0x147, "ram": 0x149, "checksum": 0x14D}
    data = bytearray(image)
    for name, value in at.items():
        data[places[name]] = value
    if "checksum" not in at:
        data[0x14D] = -sum(data[0x134:0x14D]) - 25 & 0xFF
    return bytes(data)


WRONG_ROMS = {
    "empty": (b"", "the ROM is empty"),
    "truncated": (rom("busy")[:-1], "not a whole number of 16384-byte banks"),
    "a header alone": (rom("busy")[:0x150], "not a whole number"),
    "oversized": (rom("busy") * 257, "more than the 8388608"),
    "unknown type": (changed(rom("busy"), kind=0x22), "cartridge type 0x22"),
    "unknown RAM": (changed(rom("busy"), ram=9), "RAM size 0x09"),
    "wrong checksum": (changed(rom("busy"), checksum=1), "header checksum at 0x14D is 0x01"),
}


@pytest.mark.parametrize("case", WRONG_ROMS)
def test_wrong_roms_are_refused(gameboy: ModuleType, case: str) -> None:
    image, words = WRONG_ROMS[case]
    for make in (lambda: gameboy.Console(image), lambda: gameboy.VecGameBoy(image, 1, 1)):
        with pytest.raises(ValueError, match=words):
            make()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"num_envs": 0}, "is 0; expected 1 to"),
        ({"frame_skip": 0}, "is 0; expected 1 to"),
        ({"boot_rom": b"short"}, "the boot ROM has 5 bytes; expected 256"),
        ({"downsample": 3, "grayscale": True}, "3 times smaller"),
        ({"downsample": 2}, "shades have no averages"),
        ({"stack": 0}, "stack is 0; expected 1"),
        ({"ram": [0xFF44]}, "at 0xFF44 there is a register"),
        ({"ram": [0x10000]}, r"ram\[0\] is 65536; expected 0 to 65535"),
        ({"starts": [b"nothing"]}, "not a saved Game Boy state"),
    ],
)
def test_wrong_arguments_are_refused(gameboy: ModuleType, given: dict[str, Any], words: str) -> None:
    arguments: dict[str, Any] = {"num_envs": 1, "frame_skip": 1} | given
    with pytest.raises(ValueError, match=words):
        gameboy.VecGameBoy(rom("busy"), **arguments)


def test_wrong_calls_are_refused(gameboy: ModuleType) -> None:
    envs = gameboy.VecGameBoy(rom("busy"), 2, 1)
    for call, words in (
        (lambda: envs.step([1, 2, 3]), r"buttons: an array of shape \(3,\) was given; expected \(2,\)"),
        (lambda: envs.reset([1]), r"seeds: an array of shape \(1,\) was given; expected \(2,\)"),
        (lambda: envs.reset(0, mask=np.ones(3, bool)), r"mask: an array of shape \(3,\) was given; expected \(2,\)"),
        (lambda: envs.save(2), "there is no environment 2; there are 2"),
        (lambda: envs.peek(0, 0xFF00), "at 0xFF00 there is a register"),
        (lambda: gameboy.buttons("x"), "there is no button 'x'"),
    ):
        with pytest.raises(ValueError, match=words):
            call()
    assert gameboy.buttons("a", "start") == 0x90


def test_a_damaged_state_is_refused_and_changes_nothing(gameboy: ModuleType) -> None:
    console = gameboy.Console(rom("bricks"))
    console.run(30)
    state = console.save()
    damaged = [state[:-1], state + b"\0", b"", state[:20], b"x" + state[1:], state[:8] + b"\xff" + state[9:]]
    damaged += [state[:at] + bytes([state[at] ^ 1]) + state[at + 1 :] for at in range(40, len(state), 997)]
    for each in damaged:
        with pytest.raises(ValueError, match="state"):
            console.load(each)
    assert console.save() == state


# --- programs that go astray ------------------------------------------------------------------------------------------

HOSTILE = {
    "jumps into registers": "jp $FF40",
    "jumps into object memory": "jp $FE00",
    "stack in the ROM": "ld sp, $0100\n  ei\n.loop:\n  push af\n  rst $00\n  jr .loop",
    "stack at the end of memory": "ld sp, $0000\n.loop:\n  push hl\n  call .loop",
    "stack in the registers": "ld sp, $FF50\n.loop:\n  push bc\n  jr .loop",
    "endless copies": ".loop:\n  ldh [$46], a\n  inc a\n  jr .loop",
    "an opcode that does not exist": "db $D3",
    "halt with nothing to wait for": "di\n  xor a\n  ldh [$FF], a\n  halt\n  nop\n  jr @",
    "waits for the divider": "ld hl, $C000\n.loop:\n  ldh a, [4]\n  cp b\n  jr z, .loop\n  ld b, a\n  inc [hl]\n  jr .loop",
    "reads wave memory while it plays": (
        "ld a, $80\n  ldh [$26], a\n  ldh [$1A], a\n  ld a, $20\n  ldh [$1C], a\n  ld a, $87\n  ldh [$1E], a\n"
        "  ld hl, $C000\n.loop:\n  ldh a, [$30]\n  add [hl]\n  ld [hl+], a\n  res 4, h\n  set 6, h\n  jr .loop"
    ),
    "stop": ".loop:\n  stop\n  jr .loop",
    "screen on and off": ".loop:\n  xor $80\n  ldh [$40], a\n  jr .loop",
    "fastest timer": "ld a, 5\n  ldh [7], a\n  ld a, 255\n  ldh [6], a\n  ldh [$FF], a\n  ei\n  jr @",
    "writes everywhere": "ld hl, $0000\n.loop:\n  ld [hl], l\n  inc hl\n  jr .loop",
}


@pytest.mark.parametrize("case", HOSTILE)
def test_programs_that_go_astray_have_frames_all_the_same(gameboy: ModuleType, tmp_path: Path, case: str) -> None:
    image = program(tmp_path, HOSTILE[case])
    quick, plain = (gameboy.Console(image, shortcuts=shortcuts) for shortcuts in (True, False))
    for frame in range(30):
        quick.run(1, frame * 37 & 0xFF)
        plain.run(1, frame * 37 & 0xFF)
    assert quick.save() == plain.save()
    copy = gameboy.Console(image)
    copy.load(quick.save())
    copy.run(5)
    quick.run(5)
    assert copy.save() == quick.save()


PROGRAM = """
title "PROGRAM"
cartridge "rom"
section "entry", rom0[$100]
  nop
  jp Start
section "main", rom0[$150]
Start:
  {}
"""


def program(folder: Path, lines: str) -> bytes:
    """A ROM that begins with these lines."""
    source = folder / "program.asm"
    source.write_text(PROGRAM.format(lines))
    return assemble(source).image


# --- the stub ---------------------------------------------------------------------------------------------------------


def test_the_stub_names_what_the_module_has_and_nothing_else(gameboy: ModuleType) -> None:
    native = sys.modules["lockstep_gameboy._native"]
    stub = ast.parse((rust_sources() / "gameboy" / "python" / "lockstep_gameboy" / "_native.pyi").read_text())
    classes = {node.name: node for node in stub.body if isinstance(node, ast.ClassDef)}
    assert set(classes) == {name for name, value in vars(native).items() if isinstance(value, type)}
    for name, node in classes.items():
        kind = getattr(native, name)
        said = {each.name: each for each in node.body if isinstance(each, ast.FunctionDef)}
        assert {each for each in dir(kind) if not each.startswith("_") or each == "__len__"} == set(said) - {"__new__"}
        for method, function in said.items():
            found = kind if method == "__new__" else getattr(kind, method)
            if "__text_signature__" not in dir(found) or inspect.isgetsetdescriptor(found) or method == "__len__":
                continue
            expected = [a.arg for a in (*function.args.args, *function.args.kwonlyargs) if a.arg not in ("cls", "self")]
            assert [each for each in inspect.signature(found).parameters if each != "self"] == expected, (name, method)
