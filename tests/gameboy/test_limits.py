"""Nothing that a user gives `VecGameBoy` ends the interpreter, hangs it, or is taken for something else in silence."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import lockstep_gameboy_tools.build as crate
from environments.gameboy.assembler import assemble
from tests.paths import ENVIRONMENTS

pytestmark = [pytest.mark.slow, pytest.mark.rust]
ROM = assemble(ENVIRONMENTS / "gameboy" / "roms" / "bricks.asm").image
WRONG_BYTES: list[Any] = [
    [300, 0, 0, 0], [-1, 0, 0, 0], [0.5, 0, 0, 0], [True] * 4, [float("nan")] * 4, ["1"] * 4, [0] * 3, None, 7,
    np.array([300, 0, 0, 0]), np.array([-1, 0, 0, 0], np.int8), np.full(4, 0.5), np.full(4, np.nan), np.ones(4, bool),
    np.zeros((4, 1), np.uint8), np.zeros(3, np.uint8), np.array(["a"] * 4),
]  # fmt: skip
WRONG_SEEDS: list[Any] = [*WRONG_BYTES[1:8], *WRONG_BYTES[10:], -1, 0.5, 1 << 64, True, [1 << 64, 0, 0, 0]]
BEGIN = """
import os, signal, sys
import numpy as np
from lockstep_gameboy import Console, VecGameBoy
rom = bytes.fromhex(sys.stdin.read())
"""
FORKED = """
envs, alone = (VecGameBoy(rom, 4, 4, threads=threads) for threads in (2, 1))
held = np.array([1, 2, 0, 16], np.uint8)
for each in (envs, alone):
    each.reset(7)
if not (child := os.fork()):
    envs.step(held)
    alone.step(held)
    os._exit(7 if (envs.observation == alone.observation).all() else 8)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
assert (envs.step(held) == alone.step(held)).all()
"""
INTERRUPTED = """
class Stop(Exception):
    pass

def stop(*_):
    raise Stop

signal.signal(signal.SIGALRM, stop)
endless = VecGameBoy(rom, 2, (1 << 32) - 1, threads=int(sys.argv[1]))
endless.reset()
for call in (lambda: endless.step([0, 0]), lambda: endless.reset(3)):
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        call()
        raise SystemExit("it was not interrupted")
    except Stop:
        pass
    for again in (lambda: endless.step([0, 0]), lambda: endless.reset(0, np.array([True, False]))):
        try:
            again()
            raise SystemExit("consoles that are torn apart go on")
        except RuntimeError as error:
            assert "reset all environments first" in str(error), error
    endless.set_starts([], idle_frames=(1 << 32) - 1)
endless.set_starts([])
endless.reset()
console = Console(rom)
signal.setitimer(signal.ITIMER_REAL, 0.2)
try:
    console.run((1 << 32) - 1)
    raise SystemExit("it was not interrupted")
except Stop:
    pass
"""


@pytest.fixture(scope="session")
def gameboy(cargo: None) -> ModuleType:
    return crate.gameboy()


def ran(program: str, gameboy: ModuleType, *arguments: str) -> None:
    assert gameboy.__file__ is not None
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + program, *arguments],
        cwd=Path(gameboy.__file__).parents[1], input=ROM.hex(), capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])


def test_a_child_that_was_forked_steps(gameboy: ModuleType) -> None:
    ran(FORKED, gameboy)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_long_call_is_interrupted_by_a_signal(gameboy: ModuleType, threads: int) -> None:
    ran(INTERRUPTED, gameboy, str(threads))


@pytest.mark.parametrize("count", [10**6, 10**9, 1 << 62])
def test_more_consoles_than_there_is_memory_for_are_refused_in_bytes(gameboy: ModuleType, count: int) -> None:
    with pytest.raises(MemoryError, match=rf"{count} environments would take \d+ bytes of memory"):
        gameboy.VecGameBoy(ROM, count, 1)


def test_more_threads_than_help_are_left_out_and_told(gameboy: ModuleType) -> None:
    with pytest.warns(RuntimeWarning, match=r"100000 threads were asked for; .* so there are \d+"):
        envs = gameboy.VecGameBoy(ROM, 2, 1, threads=10**5)
    assert envs.threads < 10**5


@pytest.mark.parametrize(
    "name", ["num_envs", "frame_skip", "threads", "downsample", "stack", "idle_frames", "random_frames"]
)
@pytest.mark.parametrize("wrong", [-1, 2.5, True, "2", None, 1 << 70], ids=repr)
def test_numbers_are_whole_and_named(gameboy: ModuleType, name: str, wrong: Any) -> None:
    given = {"num_envs": 2, "frame_skip": 1, name: wrong}
    with pytest.raises((TypeError, ValueError), match=f"^{name} is .*; expected"):
        gameboy.VecGameBoy(ROM, **given)


@pytest.mark.parametrize("wrong", [-1, 0x10000, 0.5, True], ids=repr)
def test_addresses_are_whole_and_named(gameboy: ModuleType, wrong: Any) -> None:
    with pytest.raises((TypeError, ValueError), match=r"^ram\[1\] is .*; expected"):
        gameboy.VecGameBoy(ROM, 2, 1, ram=[0xC000, wrong])


@pytest.mark.parametrize("wrong", WRONG_BYTES, ids=repr)
def test_buttons_are_never_wrapped_around(gameboy: ModuleType, wrong: Any) -> None:
    envs = gameboy.VecGameBoy(ROM, 4, 1)
    envs.reset()
    before = envs.save(0)
    with pytest.raises((TypeError, ValueError), match=r"^buttons(\[\d\])?( is|:) .*; expected"):
        envs.step(wrong)
    assert envs.save(0) == before


@pytest.mark.parametrize("wrong", WRONG_SEEDS, ids=repr)
def test_seeds_are_never_wrapped_around(gameboy: ModuleType, wrong: Any) -> None:
    with pytest.raises((TypeError, ValueError), match=r"^seeds(\[\d\])?( is|:) .*; expected"):
        gameboy.VecGameBoy(ROM, 4, 1).reset(wrong)


@pytest.mark.parametrize("wrong", [np.array([1, 0, 0, 1]), [True] * 3, "x", 1], ids=repr)
def test_a_mask_is_of_bools(gameboy: ModuleType, wrong: Any) -> None:
    with pytest.raises((TypeError, ValueError), match=r"^mask: .*; expected"):
        gameboy.VecGameBoy(ROM, 4, 1).reset(0, wrong)


def test_whole_numbers_of_every_kind_are_taken(gameboy: ModuleType) -> None:
    envs = gameboy.VecGameBoy(ROM, np.int64(3), np.uint8(2))
    envs.reset([(1 << 64) - 1, 0, np.uint64(5)])
    seen = [envs.reset(seeds).copy() for seeds in (5, np.int16(5), np.array([5, 6, 7], np.int8), range(5, 8))]
    assert all(np.array_equal(seen[0], each) for each in seen[1:])
    held = [envs.step(each).copy() for each in ([255, 0, 1], np.array([255, 0, 1], np.int64), (np.int8(1), 2, 3))]
    assert len(held) == 3


def test_two_threads_of_python_cannot_step_the_same_batch(gameboy: ModuleType) -> None:
    envs = gameboy.VecGameBoy(ROM, 2, 3000)
    envs.reset()
    refused: list[str] = []
    ready = threading.Barrier(2)

    def step() -> None:
        ready.wait()
        try:
            envs.step([0, 0])
        except RuntimeError as error:
            refused.append(str(error))

    both = [threading.Thread(target=step) for _ in range(2)]
    for each in both:
        each.start()
    for each in both:
        each.join()
    assert refused == ["another thread is using this batch; make one for each thread"]
