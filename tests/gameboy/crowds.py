"""What `life` and `swarm` make of a generation and of a frame, computed here, and whether they do in a console."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

import numpy as np

from .console import Console, self_checks

OBJECTS, LOOKS_AT, NEAR, FASTEST = 40, 4, 8, 24
ROWS = ("wX", "wY", "wDx", "wDy", "wXPart", "wYPart")


def next_generation(cells: np.ndarray) -> np.ndarray:
    """Conway's rule on a board around which nothing lives; bool [rows, columns]."""
    around = np.pad(cells.astype(int), 1)
    rows, columns = cells.shape
    near = sum(
        around[1 + down : 1 + down + rows, 1 + across : 1 + across + columns]
        for down in (-1, 0, 1)
        for across in (-1, 0, 1)
        if (down, across) != (0, 0)
    )
    return (near == 3) | (cells & (near == 2))


@dataclass(frozen=True)
class Swarm:
    """The objects after a frame: bytes of each by number, and how many pairs met in it."""

    x: tuple[int, ...]
    y: tuple[int, ...]
    dx: tuple[int, ...]
    dy: tuple[int, ...]
    x_part: tuple[int, ...]
    y_part: tuple[int, ...]
    met: int


def _signed(byte: int) -> int:
    return byte - 256 if byte & 0x80 else byte


def _towards(speed: int, distance: int) -> int:
    """A speed one more or less, as a difference of coordinates (a byte) points, up to the fastest."""
    if distance == 0:
        return speed
    way = -1 if distance & 0x80 else 1
    faster = _signed(speed) + way
    return speed if faster == way * (FASTEST + 1) else faster & 0xFF


def after_frame(before: Swarm, frames: int, sine: bytes) -> Swarm:
    """What the frame that follows makes of them; `frames` is the number of those that are over, `sine` the ROM's table."""
    x, y, dx, dy, x_part, y_part = (
        list(row) for row in (before.x, before.y, before.dx, before.dy, before.x_part, before.y_part)
    )
    met = 0
    for i in range(OBJECTS):
        if i % 4 == 0:
            dy[i] = sine[(6 * i + frames) & 0xFF]
        elif i % 4 == 2:
            dx[i] = dx[i] - (_signed(dy[i]) >> 3) & 0xFF
            dy[i] = dy[i] + (_signed(dx[i]) >> 3) & 0xFF
        elif i % 4 == 3:
            other = (i + 1) % OBJECTS
            dx[i] = _towards(dx[i], x[other] - x[i] & 0xFF)
            dy[i] = _towards(dy[i], y[other] - y[i] & 0xFF)
        for place, part, speed in ((x, x_part, dx[i]), (y, y_part, dy[i])):
            moved = (place[i] << 8 | part[i]) + 4 * _signed(speed)
            place[i], part[i] = moved >> 8 & 0xFF, moved & 0xFF
        for other in (j % OBJECTS for j in range(i + 1, i + 1 + LOOKS_AT)):
            met += all(abs(_signed(row[i] - row[other] & 0xFF)) < NEAR for row in (x, y))
    return replace(
        before, x=tuple(x), y=tuple(y), dx=tuple(dx), dy=tuple(dy), x_part=tuple(x_part), y_part=tuple(y_part), met=met
    )


def board(console: Console) -> np.ndarray:
    """The newest generation: bool [18, 20]."""
    page = console.byte("wFrom") << 8
    rows = np.array(console.emulator.memory[page : page + 20 * 32], bool).reshape(20, 32)
    return rows[1:19, 1:21]


def check_life(console: Console) -> list[str]:
    wrong: list[str] = []
    cells, generation = board(console), console.word("wGenerations")
    for _ in range(120):
        console.run(1)
        if console.word("wGenerations") == generation:
            continue
        expected, cells, generation = next_generation(cells), board(console), console.word("wGenerations")
        if not np.array_equal(cells, expected):
            wrong.append(f"generation {generation} does not follow from the one before")
        if console.word("wAlive") != cells.sum():
            wrong.append(f"{console.word('wAlive')} live in generation {generation}, and {cells.sum()} are there")
    if generation < 30 or cells.sum() < 10:
        wrong.append(f"{cells.sum()} cells live after {generation} generations")
    for _ in range(12):
        before = cells
        console.run(1)
        cells = board(console)
        shown = (console.screen != 255).reshape(18, 8, 20, 8).any(axis=(1, 3))
        known = (before, cells, next_generation(cells))
        if not all(any(np.array_equal(shown[row], one[row]) for one in known) for row in range(18)):
            wrong.append("the screen shows cells that are not there")
    return wrong + worked(console, 100) + self_checks(console)


def worked(console: Console, line: int) -> list[str]:
    """It works through the blank and so far down the screen, and no frame is missed."""
    lines, first = [], console.word("wFrames")
    for _ in range(20):
        console.run(1)
        lines.append(console.byte("wLine"))
    late = console.word("wFrames") - first != 20
    return [f"the work of frames ended at lines {lines}"] if late or not all(line <= at < 144 for at in lines) else []


def check_swarm(console: Console) -> list[str]:
    seen: list[tuple[int, Swarm]] = []

    def look(context: object) -> None:
        x, y, dx, dy, x_part, y_part = (tuple(console.bytes(name, OBJECTS)) for name in ROWS)
        seen.append((console.word("wFrames"), Swarm(x, y, dx, dy, x_part, y_part, console.byte("wMeeting"))))

    console.emulator.hook_register(0, console.address("FrameDone"), look, None)
    console.run(120)
    console.emulator.hook_deregister(0, console.address("FrameDone"))
    sine = console.rom.image[0x4100:0x4200]
    wrong = [
        f"frame {frame} does not follow from the one before"
        for (done, before), (frame, after) in itertools.pairwise(seen)
        if frame != done + 1 or after_frame(before, done, sine) != after
    ]
    if sum(swarm.met for _, swarm in seen) < 50:
        wrong.append("hardly any of them met")
    shown = np.array(console.emulator.memory[0xFE00:0xFEA0]).reshape(40, 4)
    tiles = tuple(number % 4 + 1 for number in range(OBJECTS))
    if tuple(map(tuple, shown.T[:3])) not in [(swarm.y, swarm.x, tiles) for _, swarm in seen[-2:]]:
        wrong.append("objects are not where they should be")
    return wrong + worked(console, 120) + self_checks(console)
