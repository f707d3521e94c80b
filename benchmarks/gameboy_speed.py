"""The Game Boy's core beside PyBoy, ROM by ROM on one core, and what a batch and a second thread make of it.

A step is 24 frames of which the last is drawn: `tick(24, render=True, sound=False)` in PyBoy, in a process of its own in the
reference's environment. The two take turns on one processor, both with the project's boot ROM, and have run the same frames
in the end: their screens must be equal. Times are the processor's, so that what else the machine does counts for neither;
only the threads are measured by the wall's clock.

The ROMs are the project's own, PyBoy's default one as the task's reference has it, and those in the directory that
`LOCKSTEP_GAMEBOY_ROMS` names.
"""

from __future__ import annotations

import hashlib
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import ENVIRONMENTS, report, spread
from environments.gameboy.assembler import assemble
from harness.candidate.crates.data import prepared
from harness.reference.install import setup
from harness.task.load import load_task
from lockstep_gameboy_tools.build import gameboy

TASK = ENVIRONMENTS / "gameboy"
BROUGHT = "LOCKSTEP_GAMEBOY_ROMS"
FRAME_SKIP = 24
WARM_UP = 10
ROUNDS = 7
STEPS = 10
ENVIRONMENTS_TOGETHER = 64
GREYS = np.array([255, 153, 85, 0], np.uint8)
PYBOY = f"""
import hashlib, sys, time, warnings
warnings.simplefilter("ignore")
from pyboy import PyBoy
emulator = PyBoy(sys.argv[1], bootrom=sys.argv[2], window="null", cgb=False, log_level="CRITICAL")
emulator.set_emulation_speed(0)
for line in sys.stdin:
    begin = time.process_time()
    for _ in range(int(line)):
        emulator.tick({FRAME_SKIP}, render=True, sound=False)
    took = time.process_time() - begin
    seen = hashlib.sha256(emulator.screen.ndarray[:, :, 0].tobytes()).hexdigest()
    print("TOOK", took, seen, flush=True)
"""


def main() -> None:
    """Measure and report."""
    roms = {path.stem: assemble(path).image for path in sorted((TASK / "roms").glob("*.asm"))}
    given = prepared(load_task(TASK))
    assert given is not None
    roms["default"] = (given / "default.gb").read_bytes()
    if brought := os.environ.get(BROUGHT):
        roms |= {path.name: path.read_bytes() for path in sorted(Path(brought).glob("*.gb"))}
    boot = assemble(TASK / "reference" / "boot.asm").image[:256]
    report("gameboy_speed", "Game Boy, 24 frames a step, the last one drawn (one core)", speeds(roms, boot))
    report("gameboy_batch", f"{ENVIRONMENTS_TOGETHER} Game Boys together", batches(roms, boot))


def speeds(roms: dict[str, bytes], boot: bytes) -> list[dict[str, Any]]:
    """A row for each ROM, and one for all: frames per second of both, and their ratio."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        rows = [_beside(name, image, boot) for name, image in roms.items()]
    finally:
        os.sched_setaffinity(0, allowed)
    ratios = [row["ratio"] for row in rows]
    return [
        *rows,
        {
            "ROM": "geometric mean",
            "PyBoy, frames/s": statistics.geometric_mean(row["PyBoy, frames/s"] for row in rows),
            "core, frames/s": statistics.geometric_mean(row["core, frames/s"] for row in rows),
            "ratio": statistics.geometric_mean(ratios),
            "ratio of each round": f"{min(ratios):.3g} to {max(ratios):.3g} by ROM",
        },
    ]


def _beside(name: str, image: bytes, boot: bytes) -> dict[str, Any]:
    console = gameboy().Console(image, boot_rom=boot)

    def own(steps: int) -> tuple[float, str]:
        begin = time.process_time()
        for _ in range(steps):
            console.run(FRAME_SKIP - 1, render=False)
            console.run(1)
        took = time.process_time() - begin
        return took, hashlib.sha256(GREYS[console.screen()].tobytes()).hexdigest()

    frames = STEPS * FRAME_SKIP
    with pyboy(image, boot) as peer:
        peer(WARM_UP)
        own(WARM_UP)
        pairs = [(peer(STEPS), own(STEPS)) for _ in range(ROUNDS)]
    assert all(theirs[1] == ours[1] for theirs, ours in pairs), f"{name}: the screens differ"
    theirs, ours = (statistics.median(each[side][0] for each in pairs) for side in (0, 1))
    return {
        "ROM": name,
        "PyBoy, frames/s": frames / theirs,
        "core, frames/s": frames / ours,
        "ratio": theirs / ours,
        "ratio of each round": spread([theirs[0] / ours[0] for theirs, ours in pairs]),
    }


@contextmanager
def pyboy(image: bytes, boot: bytes) -> Iterator[Callable[[int], tuple[float, str]]]:
    """PyBoy with a ROM, in a process of its own: a function that runs steps and gives their time and the screen's digest."""
    python = setup(load_task(TASK)).python
    with tempfile.TemporaryDirectory() as scratch:
        rom, boot_file = Path(scratch, "rom.gb"), Path(scratch, "boot.bin")
        rom.write_bytes(image)
        boot_file.write_bytes(boot)
        command = [str(python), "-c", PYBOY, str(rom), str(boot_file)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdin is not None and process.stdout is not None
            asked, reported = process.stdin, process.stdout

            def run(steps: int) -> tuple[float, str]:
                print(steps, file=asked, flush=True)
                words = next(line for line in reported if line.startswith("TOOK")).split()
                return float(words[1]), words[2]

            yield run
            asked.close()


def batches(roms: dict[str, bytes], boot: bytes) -> list[dict[str, Any]]:
    """A row for each game: what a batch on one thread takes beside as many single consoles, and two threads beside one."""
    return [_together(name, roms[name], boot) for name in ("bricks", "meteors", "busy")]


def _together(name: str, image: bytes, boot: bytes) -> dict[str, Any]:
    module, count = gameboy(), ENVIRONMENTS_TOGETHER
    singles = [module.Console(image, boot_rom=boot) for _ in range(count)]
    one, two = (module.VecGameBoy(image, count, FRAME_SKIP, boot_rom=boot, threads=threads) for threads in (1, 2))
    held = np.zeros(count, np.uint8)

    def alone() -> None:
        for console in singles:
            console.run(FRAME_SKIP - 1, render=False)
            console.run(1)

    overheads, scalings = [], []
    for _ in range(ROUNDS):
        core, batch = _time(alone, time.process_time), _time(lambda: one.step(held), time.process_time)
        overheads.append(batch / core - 1)
        first, second = (
            _time(lambda: one.step(held), time.perf_counter),
            _time(lambda: two.step(held), time.perf_counter),
        )
        scalings.append(first / second)
    frames = count * FRAME_SKIP
    return {
        "ROM": name,
        "frames/s, 2 threads": frames / _time(lambda: two.step(held), time.perf_counter),
        "overhead of the batch": spread(overheads),
        "1 to 2 threads": spread(scalings),
        "KB for each": one.memory_bytes / 1000,
        "snapshot, µs": _time(lambda: one.snapshot(0), time.perf_counter) * 1e6,
        "save, µs": _time(lambda: one.save(0), time.perf_counter) * 1e6,
    }


def _time(run: Callable[[], object], clock: Callable[[], float]) -> float:
    """Seconds of one call, the least of three."""
    took = []
    for _ in range(3):
        begin = clock()
        run()
        took.append(clock() - begin)
    return min(took)
