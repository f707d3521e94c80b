"""Any game as a vector environment of Gymnasium's: rewards and ends are what its memory says.

It needs Gymnasium 1.1 or newer. Conventions are those of its own `SyncVectorEnv`: `metadata["autoreset_mode"]` says what
happens to an episode that has ended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from lockstep_gameboy.checks import addresses_of, counted_up, mask_of, whole, whole_array
from lockstep_gameboy.vector import BUTTONS, VecGameBoy, buttons

Array = np.ndarray[Any, Any]
Values = dict[str, Array]
"""Named numbers of the games' memory, int64 `[num_envs]` each."""
Reward = Mapping[str, float] | Callable[[Values, Values], Any]
Ended = Mapping[str, int] | Callable[[Values], Any]

ACTIONS: tuple[tuple[str, ...], ...] = ((), *((name,) for name in BUTTONS))
"""No button, and each alone."""


class GameBoyVectorEnv(VectorEnv[Array, Array, Array]):
    """`num_envs` consoles with one game, stepped together.

    Args:
        rom: the ROM's bytes, or the file that holds them.
        num_envs: how many.
        frame_skip: frames of a step. The action's buttons are held for all of them.
        values: what of the memory counts, by name: the address of a byte, or several addresses of one number, the lowest
            byte first.
        reward: how much each value's growth in a step is worth, by name; or a function of the values before and after a
            step, whose answer is `[num_envs]` numbers.
        terminated: at which number of a value an episode is over, by name; or a function of the values after a step, whose
            answer is `[num_envs]` bools.
        max_steps: after so many steps an episode is truncated; 0: never.
        actions: which buttons each action holds.
        autoreset_mode: one of Gymnasium's modes, or its value (`NextStep`, `SameStep`, `Disabled`).
        copy: whether each step hands out an array of its own. Without it, it is the one that the next step writes to.
        **console: further arguments of `VecGameBoy`: pictures, starts, threads.

    The values are in the infos, by name.

    Raises:
        TypeError, ValueError, MemoryError: an argument is wrong; the message says what was expected.
    """

    def __init__(
        self,
        rom: bytes | str | Path,
        num_envs: int,
        frame_skip: int,
        *,
        values: Mapping[str, int | Sequence[int]],
        reward: Reward,
        terminated: Ended,
        max_steps: int = 0,
        actions: Sequence[Sequence[str]] = ACTIONS,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        copy: bool = True,
        **console: Any,
    ) -> None:
        if not actions:
            raise ValueError("actions: none was given; expected the buttons of each, as in ACTIONS")
        self._held = np.array([buttons(*names) for names in actions], np.uint8)
        places = {
            name: addresses_of(f"values: {name}", at if isinstance(at, Iterable) else [at])
            for name, at in values.items()
        }
        read = [address for each in places.values() for address in each]
        first = np.cumsum([0, *map(len, places.values())])
        self._columns = {
            name: (slice(first[n], first[n + 1]), 1 << 8 * np.arange(len(each), dtype=np.int64))
            for n, (name, each) in enumerate(places.items())
        }
        _demand_known("reward", reward, places)
        _demand_known("terminated", terminated, places)
        self._reward, self._terminated = reward, terminated
        self._max_steps = whole("max_steps", max_steps, 0, (1 << 63) - 1)
        self.games = VecGameBoy(rom, num_envs, frame_skip, ram=read, **console)
        self.num_envs = len(self.games)
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {"autoreset_mode": self.autoreset_mode}
        seen = self.games.observation
        most = 255 if console.get("grayscale") else 3
        self.single_observation_space = spaces.Box(0, most, seen.shape[1:], np.uint8)
        self.single_action_space = spaces.Discrete(len(self._held))
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._copy = copy
        self._begun = False
        self._ended = np.zeros(self.num_envs, bool)
        self._steps = np.zeros(self.num_envs, np.int64)
        self._seeds = np.zeros(self.num_envs, np.uint64)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Begin episodes: in all games, or in those that `options["reset_mask"]` (bools) names.

        Args:
            seed: game `i` gets `seed + i`, or `seed[i]`; None goes on with the chance that it had.
        """
        mask = mask_of((options or {}).get("reset_mask", np.ones(self.num_envs, bool)), self.num_envs)
        if not self._begun and not mask.all():
            raise ResetNeeded("the first reset must be one of all games")
        seeds, given = self._given(seed)
        if not self._begun:
            self._seeds = self.np_random.integers(0, 1 << 64, self.num_envs, np.uint64)
        self._seeds = np.where(given & mask, seeds, self._seeds)
        self._begin(mask)
        self._begun = True
        return self._seen(), self._infos(self._values())

    def step(self, actions: Any) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        """One step of every game: observations, rewards, terminations, truncations, infos.

        Raises:
            TypeError, ValueError: the actions are no whole numbers of the action space; nothing has changed.
        """
        if not self._begun:
            raise ResetNeeded("step() before the first reset()")
        over = self._ended
        if self.autoreset_mode is AutoresetMode.DISABLED and over.any():
            raise ResetNeeded(
                f"the episodes of games {np.flatnonzero(over).tolist()} have ended, and nothing resets them by itself in "
                'mode DISABLED: call reset(options={"reset_mask": ...}) with True for them'
            )
        chosen = whole_array("actions", actions, self.num_envs, np.uint64)
        if (wrong := np.flatnonzero(chosen >= len(self._held))).size:
            raise ValueError(f"actions[{wrong[0]}] is {chosen[wrong[0]]}; expected 0 to {len(self._held) - 1}")
        before = self._values()
        self.games.step(self._held[chosen])
        self._steps += 1
        after = self._values()
        reward = np.where(over, 0.0, self._earned(before, after))
        terminated = self._over(after) & ~over
        truncated = (self._steps >= self._max_steps) & ~over if self._max_steps else np.zeros(self.num_envs, bool)
        ended = terminated | truncated
        final: dict[str, Any] = {}
        begins = over  # in mode NEXT_STEP: this step is their reset, and their action is not taken
        if self.autoreset_mode is AutoresetMode.SAME_STEP and ended.any():
            final = self._final(ended, after)
            begins, ended = ended, np.zeros(self.num_envs, bool)
        if begins.any():
            self._begin(begins)
            after = self._values()
        self._ended = ended
        return self._seen(), reward, terminated, truncated, self._infos(after) | final

    def _given(self, seed: Any) -> tuple[Array, Array]:
        """A seed for each game, and where one was given."""
        if seed is None:
            return np.zeros(self.num_envs, np.uint64), np.zeros(self.num_envs, bool)
        if not isinstance(seed, Iterable):
            seeds = counted_up(seed, self.num_envs)
            super().reset(seed=int(seeds[0]))
            return seeds, np.ones(self.num_envs, bool)
        listed = list(seed)
        given = [0 if each is None else each for each in listed]
        seeds = whole_array("seed", given, self.num_envs, np.uint64)
        return seeds, np.array([each is not None for each in listed])

    def _begin(self, mask: Array) -> None:
        """Begin an episode where the mask is true, and draw the seed of the one after it."""
        self.games.reset(self._seeds, mask)
        self._seeds = np.where(mask, _next(self._seeds), self._seeds)
        self._steps[mask] = 0
        self._ended = self._ended & ~mask

    def _values(self) -> Values:
        ram = self.games.ram.astype(np.int64)
        return {name: ram[:, at] @ worth for name, (at, worth) in self._columns.items()}

    def _earned(self, before: Values, after: Values) -> Array:
        if callable(self._reward):
            return _answer("reward", self._reward(before, after), self.num_envs, "f").astype(np.float64)
        worth = [weight * (after[name] - before[name]) for name, weight in self._reward.items()]
        return np.sum(worth, axis=0, dtype=np.float64) if worth else np.zeros(self.num_envs)

    def _over(self, after: Values) -> Array:
        if callable(self._terminated):
            return _answer("terminated", self._terminated(after), self.num_envs, "b")
        over = np.zeros(self.num_envs, bool)
        for name, number in self._terminated.items():
            over |= after[name] == number
        return over

    def _seen(self) -> Array:
        return self.games.observation.copy() if self._copy else self.games.observation

    def _infos(self, values: Values) -> dict[str, Any]:
        everywhere = np.ones(self.num_envs, bool)
        return {**values, **{f"_{name}": everywhere for name in values}}

    def _final(self, ended: Array, values: Values) -> dict[str, Any]:
        """What ended: Gymnasium keeps one object for each environment, None where no episode ended."""
        observations = np.full(self.num_envs, None, dtype=object)
        for number in np.flatnonzero(ended).tolist():
            observations[number] = self.games.observation[number].copy()
        info = {**values, **{f"_{name}": ended for name in values}}
        return {"final_obs": observations, "_final_obs": ended, "final_info": info, "_final_info": ended}


def _next(seeds: Array) -> Array:
    """For each seed the one of the episode that follows: SplitMix64's step and mix (Steele, Lea and Flood, 2014)."""
    with np.errstate(over="ignore"):
        mixed = seeds + np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ mixed >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ mixed >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
        return mixed ^ mixed >> np.uint64(31)


def _demand_known(what: str, given: Any, values: Mapping[str, Any]) -> None:
    if callable(given):
        return
    if not isinstance(given, Mapping):
        raise TypeError(f"{what} is {given!r}; expected a table by the names of values, or a function")
    for name, number in given.items():
        if name not in values:
            raise ValueError(f"{what}: there is no value {name!r}; expected one of {', '.join(values) or 'none'}")
        if not isinstance(number, int | float | np.number) or not np.isfinite(number):
            raise TypeError(f"{what}: {name} is {number!r}; expected a number")


def _answer(what: str, given: Any, count: int, kind: str) -> Array:
    """What a user's function answered, held against what it was asked for."""
    array = np.asarray(given)
    fits = array.dtype == bool if kind == "b" else array.dtype.kind in "iuf"
    if array.shape != (count,) or not fits:
        wanted = "bools" if kind == "b" else "numbers"
        raise TypeError(f"{what} answered {array.dtype} of shape {array.shape}; expected {wanted} of shape {(count,)}")
    return array
