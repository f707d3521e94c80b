"""Many instances of an environment in Rust, with the arrays that they are stepped through. It needs only numpy.

What a module is: `harness/candidate/crates/build.py` compiles a candidate to one, and `rust/python` says what is in it.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from .leaves import Actions, whole

Array = np.ndarray[Any, Any]
NAME = "lockstep_binding"
STATE = "state/"
ENDINGS = ("terminated", "truncated")
SAME_STEP, NEXT_STEP, DISABLED = "same_step", "next_step", "disabled"


def load_module(path: Path) -> ModuleType:
    """The extension module in a file.

    Raises:
        ImportError: the file holds no such module.
    """
    loader = importlib.machinery.ExtensionFileLoader(NAME, str(path))
    spec = importlib.util.spec_from_file_location(NAME, path, loader=loader)
    if spec is None:
        raise ImportError(f"{path} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def blank(described: Sequence[tuple[str, str, Sequence[int]]], count: int) -> dict[str, Array]:
    """Zeros for `count` rows of leaves as a module describes them, by path."""
    return {path: np.zeros((count, *shape), dtype) for path, dtype, shape in described}


def seeds_of(key_data: Array) -> list[int]:
    """Seeds of instances from the 32-bit numbers of their keys, uint32 `[count, 2]`."""
    return (key_data[:, 0].astype(np.uint64) << np.uint64(32) | key_data[:, 1]).tolist()


class RustBatch:
    """Instances that step together into arrays that are allocated once.

    Args:
        module: a candidate's extension module.
        count: how many.
        mode: `same_step`, `next_step` or `disabled`, as Gymnasium's `AutoresetMode` has them.
        threads: on how many threads; 0 takes one for each processor.
        leaves: of the environment's contract, by path: actions are held against them. Without it they only
            have to fit the dtypes of the module.

    Attributes:
        seen: what is seen `[count, ...]`, by path: `observation...`, `legal_actions...`.
        last: in mode `same_step` what was seen at the end of the episodes that ended in the last step; other rows hold what
            they held.
        outcome: of the last step, by path, each `[count]`: `reward`, or `reward/<player>` of each where several play, and
            `terminated` and `truncated`.
    """

    def __init__(
        self,
        module: Any,
        count: int,
        mode: str = SAME_STEP,
        threads: int = 0,
        leaves: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        spec = module.SPEC
        self.count, self.mode = whole("count", count, 1), mode
        self._unfit: type[Exception] = module.Unfit
        self.vector = module.environment.vector({}, self.count, mode, whole("threads", threads))
        seen, reward, endings = (
            blank(spec["observation"], 2 * count),
            blank(spec["reward"], count),
            np.zeros(2 * count, bool),
        )
        self.seen = {path: array[:count] for path, array in seen.items()}
        self.last = {path: array[count:] for path, array in seen.items()}
        self.outcome = reward | dict(zip(ENDINGS, (endings[:count], endings[count:]), strict=True))
        self._actions = {path: np.dtype(dtype) for path, dtype, _ in spec["action"]}
        self._held_against = (
            None if leaves is None else Actions({path: leaves[path] for path in self._actions}, (count,))
        )
        self.state_paths = [path for path, _, _ in spec["state"]]
        self.seen_arrays: list[Array] = list(self.seen.values())
        """Those of what is seen, as the module takes them."""
        self._to = module.Results(list(seen.values()), list(reward.values()), endings)

    def reset(self, seeds: Sequence[int]) -> None:
        """Begin an episode in every instance, each from its seed (0 <= seed < 2^64)."""
        self.vector.reset([whole(f"seeds[{index}]", seed) for index, seed in enumerate(seeds)], self.seen_arrays)
        for array in self.outcome.values():
            array[...] = 0

    def reset_some(self, seeds: Mapping[int, int | None]) -> None:
        """Begin an episode in some instances: seeds by their number; None goes on with the chance that it has."""
        begun, given = list(seeds), [seed for seed in seeds.values() if seed is not None]
        if len(given) == self.count and begun == list(range(self.count)):
            self.reset(given)
            return
        for env_index, seed in seeds.items():
            self.vector.reset_env(env_index, seed if seed is None else whole("seed", seed), self.seen_arrays)
        for array in self.outcome.values():
            array[begun] = 0

    def step(self, actions: Mapping[str, Array]) -> None:
        """Step every instance; action leaves by path, each `[count, ...]`.

        Raises:
            TypeError, ValueError: they are not those that the environment takes; see `Actions`.
        """
        if self._held_against is not None:
            actions = {path: self._held_against.leaf(path, actions[path]) for path in self._actions}
        try:
            self.vector.step([actions[path] for path in self._actions], self._to)
            return
        except self._unfit:
            pass  # nothing was stepped; to look at actions before would take as long as the games of a small batch
        self.vector.step([_of_dtype(path, actions[path], dtype) for path, dtype in self._actions.items()], self._to)

    @property
    def reward(self) -> Array:
        """What the last step earned, `[count]`, where one agent acts."""
        return self.outcome["reward"]

    @property
    def terminated(self) -> Array:
        """Which episodes ended in the last step by the environment's own rules, bool `[count]`."""
        return self.outcome["terminated"]

    @property
    def truncated(self) -> Array:
        """Which episodes were cut short in the last step, bool `[count]`."""
        return self.outcome["truncated"]


def _of_dtype(path: str, action: Any, dtype: np.dtype[Any]) -> Array:
    array = np.ascontiguousarray(action)
    if array.dtype == dtype:
        return array
    cast = array.astype(dtype)
    if dtype.kind != "f" and not np.array_equal(cast, array):
        raise ValueError(f"{path}: {array.dtype} was given that {dtype} cannot hold; expected {dtype}")
    return cast
