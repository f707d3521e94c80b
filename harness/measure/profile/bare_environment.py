"""A reference's environment without its adapter, stepped as its users would: the worker serves it in its place.

It runs under the reference's own Python (3.8 or newer), and needs numpy there. The environment is what the method `bare` of
the adapter returns; without one, its first attribute with the calls of Gymnasium, made anew where the registry can.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from typing import Any

import numpy as np

ACTIONS = 1024
"""So many actions are chosen before the clock runs, and taken again and again."""


class Bare:
    """Answers the calls of a measured run; of each, one environment is stepped `length * repeats` times."""

    answers_batches = True

    def __init__(self) -> None:
        self._env = None  # type: Any
        self._actions = []  # type: list[Any]
        self._begun = False

    def open(self, options: dict[str, Any]) -> dict[str, Any]:
        """Find the environment; `found` is whether there is one."""
        adapter = _load(options["adapter"])(**options["options"])
        self._env = _bare(adapter)
        if self._env is not None:
            self._actions = _actions(self._env, adapter, options["seed"])
        return {"found": self._env is not None}

    def bench_prepare(self, kind: str, batch: int, length: int) -> dict[str, Any]:
        """Begin the first episode, where none goes on."""
        if not self._begun:
            try:
                self._env.reset(seed=0)
            except TypeError:  # of an older interface
                self._env.reset()
            self._begun = True
        return {}

    def bench_run(self, kind: str, batch: int, length: int, seed: int, repeats: int) -> dict[str, Any]:
        """Step, and reset where an episode ends."""
        step, reset, actions = self._env.step, self._env.reset, self._actions
        for number in range(length * repeats):
            said = step(actions[(seed + number) % ACTIONS])
            if said[2] or (len(said) > 4 and said[3]):
                reset()
        return {}

    def close(self) -> None:
        """Let the environment close what it has open."""
        if hasattr(self._env, "close"):
            self._env.close()


def _load(target: str) -> Any:
    source, _, name = target.rpartition(":")
    spec = importlib.util.spec_from_file_location("adapter", source)
    if spec is None or spec.loader is None:
        raise ImportError(f"{source} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    sys.modules["adapter"] = module
    sys.path.insert(0, os.path.dirname(source))
    spec.loader.exec_module(module)
    return getattr(module, name)


def _bare(adapter: Any) -> Any | None:
    if hasattr(adapter, "bare"):
        return adapter.bare()
    for value in vars(adapter).values():
        # A game of several players has a method of that name, and is stepped otherwise.
        if all(hasattr(value, name) for name in ("reset", "step")) and hasattr(
            getattr(value, "action_space", None), "sample"
        ):
            # An adapter may have changed its own, so that draws are recorded.
            return value.spec.make() if hasattr(getattr(value, "spec", None), "make") else value
    return None


def _actions(env: Any, adapter: Any, seed: int) -> list[Any]:
    """Random actions, in the environment's own form or, where it has no space, in that of the adapter's only action."""
    if hasattr(env, "action_space"):
        env.action_space.seed(seed)
        return [env.action_space.sample() for _ in range(ACTIONS)]
    leaf = adapter.spec()["leaves"]["action"]
    rng, shape = np.random.RandomState(seed), (ACTIONS, *leaf.get("shape", ()))
    dtype = np.dtype(leaf["dtype"])
    low, high = (0, 1) if dtype.kind == "b" else (np.asarray(leaf["low"]), np.asarray(leaf["high"]))
    chance = rng.random_sample(shape)
    values = low + (chance * (high - low) if dtype.kind == "f" else np.floor(chance * (high - low + 1)))
    return list(values.astype(dtype)) if len(shape) > 1 else values.astype(dtype).tolist()
