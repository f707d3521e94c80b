"""The face that code written for EnvPool knows: one object, whole batches in and out. It needs only numpy.

As there, seeds are given when the pool is made, an episode that has ended restarts in the next step, whose action is
discarded, and `info` names the instances. What `reset` and `step` hand out are the pool's own arrays, which the next call
writes to: copy what has to stay. All instances step in one call that returns when the last of them has; so there is no
`send` and `recv`, by which EnvPool hands out those that were done first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from .leaves import Actions, is_action, nested, whole
from .rust_batch import NEXT_STEP, RustBatch

Array = np.ndarray[Any, Any]
SEED = 42


class RustPool:
    """`num_envs` instances of a verified environment.

    Args:
        module: a candidate's extension module.
        leaves: of the environment's contract, by path.
        num_envs: how many instances.
        seed: instance `i` gets `seed + i`, or `seed[i]`.
        num_threads: on how many threads; 0 takes one for each processor.

    Raises:
        ValueError: there are not as many seeds as instances.
        TypeError: several play, and each has a reward of its own, which this interface cannot show.
    """

    def __init__(
        self,
        module: Any,
        leaves: Mapping[str, Any],
        num_envs: int,
        seed: int | Sequence[int] = SEED,
        num_threads: int = 0,
    ) -> None:
        if "reward" not in leaves:
            raise TypeError("several play, each with a reward of its own: make_batch() and make_vector() show them")
        self.num_envs = num_envs = whole("num_envs", num_envs, 1)
        self.batch = RustBatch(module, num_envs, NEXT_STEP, num_threads)
        given = seed if isinstance(seed, Iterable) else range(first := whole("seed", seed), first + num_envs)
        self._seeds = [whole(f"seed[{index}]", each) for index, each in enumerate(given)]
        if len(self._seeds) != num_envs:
            raise ValueError(f"{num_envs} instances need as many seeds, {len(self._seeds)} were given")
        self._leaves = leaves
        declared = {path: leaf for path, leaf in leaves.items() if is_action(path)}
        self._actions = Actions(declared, (num_envs,))
        self._masked = any(path.split("/")[0] == "legal_actions" for path in leaves)
        self._elapsed = np.zeros(num_envs, np.int32)
        self._begun, self._ended = np.zeros(num_envs, bool), np.zeros(num_envs, bool)

    @property
    def observation_space(self) -> Any:
        """The space of one instance's observation; needs Gymnasium."""
        from .leaf_spaces import observation_space

        return observation_space(self._leaves)

    @property
    def action_space(self) -> Any:
        """The space of one instance's action; needs Gymnasium."""
        from .leaf_spaces import action_space

        return action_space(self._leaves)

    def reset(self, env_id: Sequence[int] | Array | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin episodes in all instances, or in those that are named, and hand out what these see.

        An instance begins with its seed the first time, later with the chance that it has.

        Raises:
            TypeError, ValueError: there are no such instances; nothing has begun.
        """
        named = range(self.num_envs) if env_id is None else env_id
        chosen = np.array([whole("env_id", each, 0, self.num_envs - 1) for each in named], np.int64)
        self.batch.reset_some({index: None if self._begun[index] else self._seeds[index] for index in chosen.tolist()})
        self._begun[chosen], self._ended[chosen], self._elapsed[chosen] = True, False, 0
        return self._shown(slice(None) if env_id is None else chosen)

    def step(self, action: Any) -> tuple[Any, Array, Array, Array, dict[str, Any]]:
        """One step of every instance: observations, rewards, terminated, truncated, info.

        Raises:
            RuntimeError: an instance was not reset yet.
            TypeError, ValueError: the actions are not those that the environment takes; see `Actions`.
        """
        batch = self.batch
        if not self._begun.all():
            raise RuntimeError(f"reset() comes first: instances {np.flatnonzero(~self._begun).tolist()} have not begun")
        batch.step(self._actions.unpacked(action))
        self._elapsed += 1
        self._elapsed[self._ended] = 0
        np.logical_or(batch.terminated, batch.truncated, out=self._ended)
        observation, info = self._shown(slice(None))
        return observation, batch.reward, batch.terminated, batch.truncated, info

    def _shown(self, env_ids: slice | Array) -> tuple[Any, dict[str, Any]]:
        """What the instances of these rows see, and what is reported of them."""
        seen = {path: array[env_ids] for path, array in self.batch.seen.items()}
        info = {"env_id": np.arange(self.num_envs, dtype=np.int32)[env_ids], "elapsed_step": self._elapsed[env_ids]}
        if self._masked:
            info["legal_actions"] = nested(seen, "legal_actions", np.asarray)
        return nested(seen, "observation", np.asarray), info
