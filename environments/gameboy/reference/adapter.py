"""PyBoy 2.8.0 as a Lockstep reference: a monochrome Game Boy with one of the project's own cartridges in it.

Frames are PyBoy's own, run through its API. The adapter presses buttons, copies the state between two frames out and
in, and reads score and end of a game from work memory.
"""

from __future__ import annotations

import collections
from typing import Any

import numpy as np
import policies
import probe_spec
import probes
from cartridges import NAMES, cartridge
from console import HEIGHT, WIDTH, Console
from leaves import ARRAYS, FIELDS, INSERTED, SCREEN, demand, demand_banks, described

A, B, SELECT, START = 16, 32, 64, 128
RIGHT, LEFT, UP, DOWN = 1, 2, 4, 8
HELD = (
    0, RIGHT, LEFT, UP, DOWN, A, B, SELECT, START,
    RIGHT | A, LEFT | A, RIGHT | B, LEFT | B, UP | A, 255, A | B | START | SELECT,
)  # fmt: skip
"""The buttons that each action holds."""
CARTRIDGE, RANDOM = "cartridge", "random"
RANDOM_VALUES = 1 << 16
GREYS = np.array([255, 170, 85, 0], np.uint8)
_FREE = collections.defaultdict(list)
"""Consoles that no environment of this process uses now, by cartridge: making one takes as long as hundreds of frames."""


class GameBoy:
    """One console behind the protocol.

    Args:
        frame_skip: frames in a step; the buttons are held in all of them, and each is drawn.
    """

    def __init__(self, frame_skip: int = 1) -> None:
        if frame_skip < 1:
            raise ValueError("frame_skip is {}: expected at least 1".format(frame_skip))
        self._frame_skip = frame_skip
        self._number = -1
        self._console: Console | None = None
        self._draws: list[tuple[str, np.ndarray]] = []
        self.probe = probes.ask
        self.policies = {"play": policies.play, "idle": policies.idle}

    def spec(self) -> dict[str, Any]:
        """What task.toml declares, as this adapter provides it."""
        leaves = described()
        leaves.update(
            observation={"dtype": "uint8", "shape": [HEIGHT, WIDTH]},
            reward={"dtype": "float32", "shape": []},
            terminated={"dtype": "bool", "shape": []},
            truncated={"dtype": "bool", "shape": []},
            action={"dtype": "int64", "shape": [], "low": 0, "high": len(HELD) - 1},
        )
        return {
            "leaves": leaves,
            "capabilities": ["restore", "probe", "draws", "force_draws", "render"],
            "probes": probe_spec.SPEC,
            "draws": {name: {"dtype": "int32", "shape": [], "at": "reset"} for name in (CARTRIDGE, RANDOM)},
            "policies": sorted(self.policies),
        }

    def reset(self, seed: int, draws: list[Any] | None = None) -> dict[str, Any]:
        """Insert a cartridge and switch the console on; nothing has run yet. A game finds its random number in memory."""
        number, random = _drawn(seed) if draws is None else _forced(draws)
        self._draws = [(CARTRIDGE, np.array(number, np.int32)), (RANDOM, np.array(random, np.int32))]
        console = self._insert(number)
        console.switch_on()
        place = cartridge(number).random
        if place is not None:
            console.poke(place, random & 0xFF)
            console.poke(place + 1, random >> 8)
        return self._row(0.0, False)

    def step(self, action: int, draws: list[Any] | None = None) -> dict[str, Any]:
        """The frames of one step, with the action's buttons held."""
        if draws:
            raise ValueError("a step draws nothing, but was given {}".format([name for name, _ in draws]))
        self._draws = []
        console, score = self._inserted(), self._score()
        for _ in range(self._frame_skip):
            console.run_frame(HELD[action])
        over = cartridge(self._number).over
        return self._row(float(self._score() - score), over is not None and console.peek(over) != 0)

    def restore(self, state: dict[str, np.ndarray]) -> dict[str, Any]:
        """Go on from a canonical state.

        Raises:
            ValueError: PyBoy could not bear it.
        """
        fields = {path[len("state/") :]: value for path, value in state.items()}
        demand(fields, len(NAMES))
        console = self._insert(int(fields[INSERTED]))
        demand_banks(fields, console.access.rom_banks, console.access.has_clock)
        values = {name: value if name in ARRAYS else value.item() for name, value in fields.items() if name != SCREEN}
        console.restore(values, fields[SCREEN].ravel())
        self._draws = []
        return self._row(0.0, False)

    def take_draws(self) -> list[tuple[str, np.ndarray]]:
        """What was drawn since the last call; only a reset draws."""
        taken, self._draws = self._draws, []
        return taken

    def render(self) -> np.ndarray:
        """The screen in greys."""
        shades = np.frombuffer(self._inserted().access.screen()[0], np.uint8).reshape(HEIGHT, WIDTH)
        return np.repeat(GREYS[shades][..., None], 3, axis=2)

    def close(self) -> None:
        """Give the console back."""
        self._give_back()

    def _insert(self, number: int) -> Console:
        if self._console is None or number != self._number:
            self._give_back()
            free = _FREE[number]
            self._console = free.pop() if free else Console(cartridge(number).image)
            self._number = number
        return self._console

    def _give_back(self) -> None:
        if self._console is not None:
            _FREE[self._number].append(self._console)
            self._console = None

    def _inserted(self) -> Console:
        if self._console is None:
            raise RuntimeError("there is no cartridge in the console: reset or restore comes first")
        return self._console

    def _score(self) -> int:
        place = cartridge(self._number).score
        if place is None:
            return 0
        console = self._inserted()
        return console.peek(place) | console.peek(place + 1) << 8

    def _row(self, reward: float, terminated: bool) -> dict[str, Any]:
        access = self._inserted().access
        row: dict[str, Any] = {"state/" + name: value for name, value in access.read().items()}
        for name in ARRAYS:
            row["state/" + name] = np.frombuffer(row["state/" + name], np.uint8)
        shades, packed = access.screen()
        row["state/" + INSERTED] = self._number
        row["state/" + SCREEN] = np.frombuffer(packed, np.uint8).reshape(FIELDS[SCREEN].shape)
        observation = np.frombuffer(shades, np.uint8).reshape(HEIGHT, WIDTH)
        row.update(observation=observation, reward=reward, terminated=terminated, truncated=False)
        return row


def _drawn(seed: int) -> tuple[int, int]:
    """The first game three times as often as each of the other cartridges; and any random number."""
    rng = np.random.default_rng(seed)
    side = int(rng.integers(len(NAMES) + 2))
    return max(side - 2, 0), int(rng.integers(RANDOM_VALUES))


def _forced(draws: list[Any]) -> tuple[int, int]:
    """The numbers of a tape's row.

    Raises:
        ValueError: it is not exactly the two draws of a reset.
    """
    limits = ((CARTRIDGE, len(NAMES)), (RANDOM, RANDOM_VALUES))
    if [name for name, _ in draws] != [name for name, _ in limits]:
        raise ValueError("a reset draws cartridge and random, but was given {}".format([name for name, _ in draws]))
    for (name, value), (_, below) in zip(draws, limits, strict=True):
        if value.dtype != np.int32 or value.shape != () or not 0 <= value < below:
            raise ValueError("the draw {} is {!r}: expected an int32 from 0 to {}".format(name, value, below - 1))
    return int(draws[0][1]), int(draws[1][1])
