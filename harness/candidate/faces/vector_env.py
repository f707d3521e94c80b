"""What our faces of Gymnasium's vector environments have in common, whatever steps them.

It needs Gymnasium 1.1 or newer, and numpy.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from .leaf_spaces import action_space, observation_space
from .leaves import OBSERVED, Actions, is_action, whole

Array = np.ndarray[Any, Any]


class Stepped(NamedTuple):
    """Rewards and endings of a step, `[num_envs]` each, in arrays that the next step leaves alone; the rewards of several
    players in a dict by name.
    """

    reward: Any
    terminated: Array
    truncated: Array


class SteppedVectorEnv(VectorEnv[Any, Any, Any]):
    """`num_envs` instances of a verified environment, stepped together.

    Conventions are those of Gymnasium's own `SyncVectorEnv`: `metadata["autoreset_mode"]` says what happens to an ended
    episode. NEXT_STEP resets it in the step after its end, ignoring that step's action. SAME_STEP resets it at once and
    hands the terminal observation in `infos["final_obs"]`. DISABLED leaves it to
    `reset(options={"reset_mask": ...})`. Legal actions, where the task has them, are in `infos["legal_actions"]`, as are
    `to_move` and `alive` of several players, whose rewards come in a dict by name.

    Args:
        leaves: of the environment's contract, by path.
        num_envs: how many instances.
        autoreset_mode: one of Gymnasium's modes, or its value (`NextStep`, `SameStep`, `Disabled`).

    Raises:
        ValueError: the reward is an array.
    """

    def __init__(self, leaves: Mapping[str, Any], num_envs: int, autoreset_mode: AutoresetMode | str) -> None:
        if leaves.get("reward", {}).get("shape"):
            raise ValueError("a vector environment shows one reward, or one for each player in a leaf of its own")
        self.num_envs = num_envs = whole("num_envs", num_envs, 1)
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {"autoreset_mode": self.autoreset_mode}
        self.single_observation_space = observation_space(leaves)
        self.single_action_space = action_space(leaves)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._actions = self._taking({path: leaf for path, leaf in leaves.items() if is_action(path)})
        roots = {path.split("/")[0] for path in leaves}
        self._told = [name for name in OBSERVED[1:] if name in roots]
        self._begun = False
        self._ended = np.zeros(num_envs, bool)

    def _taking(self, declared: Mapping[str, Mapping[str, Any]]) -> Actions:
        """What takes the actions of all instances, of the leaves that the environment declares."""
        return Actions(declared, (self.num_envs,))

    # --- what a face has to do ----------------------------------------------------------------------------------------

    @abstractmethod
    def _begin(self, seeds: Sequence[int | None], mask: Array) -> None:
        """Begin an episode in the instances of the mask: from its seed, or with the chance that it had.

        At the first call the mask is full.
        """

    @abstractmethod
    def _advance(self, actions: Mapping[str, Array], ended: Array) -> Stepped:
        """Step all instances, with auto-reset as the mode says; `ended` are those that the last step left ended."""

    @abstractmethod
    def _seen(self, name: str) -> Any:
        """What of `OBSERVED` the task has, to act on next: `[num_envs, ...]`."""

    @abstractmethod
    def _final(self, name: str) -> Any:
        """In mode SAME_STEP, the same from before the auto-reset; it counts where the last step ended an episode."""

    # --- Gymnasium's calls --------------------------------------------------------------------------------------------

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin episodes: in all instances, or in those that `options["reset_mask"]` (bools) names.

        Args:
            seed: instance `i` gets `seed + i`, or `seed[i]`; None goes on with the chance that it had.
        """
        mask = self._mask(options)
        if not self._begun and not mask.all():
            raise gymnasium.error.ResetNeeded("the first reset must be one of all instances")
        self._begin(self._seeds(seed), mask)
        self._begun = True
        self._ended = self._ended & ~mask
        return self._seen("observation"), self._infos()

    def step(self, actions: Any) -> tuple[Any, Any, Array, Array, dict[str, Any]]:
        """One step in every instance: observations, rewards, terminations, truncations, infos.

        Raises:
            TypeError, ValueError: the actions are not those that the environment takes; see `Actions`.
        """
        if not self._begun:
            raise gymnasium.error.ResetNeeded("step() before the first reset()")
        if self.autoreset_mode is AutoresetMode.DISABLED and self._ended.any():
            raise gymnasium.error.ResetNeeded(
                f"the episodes of instances {np.flatnonzero(self._ended).tolist()} have ended, and nothing resets them by "
                'itself in mode DISABLED: call reset(options={"reset_mask": ...}) with True for them'
            )
        stepped = self._advance(self._actions.unpacked(actions), self._ended)
        self._ended = stepped.terminated | stepped.truncated
        infos = self._infos()
        if self.autoreset_mode is AutoresetMode.SAME_STEP and self._ended.any():
            infos |= self._final_infos()
            self._ended = np.zeros(self.num_envs, bool)
        return self._seen("observation"), stepped.reward, stepped.terminated, stepped.truncated, infos

    def _infos(self) -> dict[str, Any]:
        everywhere = np.ones(self.num_envs, bool)
        return {name: self._seen(name) for name in self._told} | {f"_{name}": everywhere for name in self._told}

    def _final_infos(self) -> dict[str, Any]:
        """What ended: Gymnasium keeps one object for each instance, None where no episode ended."""
        whole = self._final("observation")
        observations = np.full(self.num_envs, None, dtype=object)
        for index in np.flatnonzero(self._ended):
            observations[index] = _of_env(whole, int(index))
        info = {name: self._final(name) for name in self._told} | {f"_{name}": self._ended for name in self._told}
        return {
            "final_obs": observations,
            "_final_obs": self._ended,
            "final_info": info,
            "_final_info": self._ended,
        }

    def _mask(self, options: Mapping[str, Any] | None) -> Array:
        if not options or "reset_mask" not in options:
            return np.ones(self.num_envs, bool)
        mask = np.asarray(options["reset_mask"])
        if mask.dtype != np.bool_ or mask.shape != (self.num_envs,) or not mask.any():
            raise ValueError(f"reset_mask must be {self.num_envs} bools with at least one True, it is {mask!r}")
        return mask

    def _seeds(self, seed: int | Sequence[int | None] | None) -> list[int | None]:
        first = None if seed is None or isinstance(seed, Iterable) else whole("seed", seed)
        if first is not None:
            seeds: list[int | None] = [first + index for index in range(self.num_envs)]
        else:
            seeds = list(seed) if isinstance(seed, Iterable) else [None] * self.num_envs
        if len(seeds) != self.num_envs:
            raise ValueError(f"{self.num_envs} instances need as many seeds, {len(seeds)} were given")
        seeds = [None if each is None else whole(f"seed[{index}]", each) for index, each in enumerate(seeds)]
        if first is not None:
            super().reset(seed=first)
        return seeds


def _of_env(tree: Any, index: int) -> Any:
    """One instance's part of an array, or of arrays in nested dictionaries."""
    if isinstance(tree, Mapping):
        return {name: _of_env(part, index) for name, part in tree.items()}
    return np.array(tree[index])
