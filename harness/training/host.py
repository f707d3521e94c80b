"""Training in any environment behind the protocol: it is stepped from here, all sub-environments in one message.

Policy, update and chance are those of every backend (`harness.training.ppo`); only the steps come from outside.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from harness.candidate.adapters.jax.batch import key_data_of
from harness.model import Array, Leaf, Leaves
from harness.protocol.vector import Stepped
from harness.support.progress import silent
from harness.task.training import PpoConfig
from harness.training.policy import Policy
from harness.training.ppo import Batch, Ppo
from harness.training.segments import Report, demand_config, train_segments
from harness.training.trained import Played, Trained

VectorFactory = Callable[[Sequence[int]], Stepped]
"""Begins one episode for each seed: `environment.vector` of an `Environment` or a `Pool`."""


def train_host(
    vector_factory: VectorFactory,
    leaves: Mapping[str, Leaf],
    config: PpoConfig,
    steps: int,
    seed: int,
    *,
    backend: str = "reference",
    progress: Report = silent,
    checkpoint: Path | None = None,
    identity: Mapping[str, Any] | None = None,
    log: Path | None = None,
    ppo: Ppo | None = None,
    players: Sequence[str] = (),
) -> Trained:
    """Train one policy in an environment that is stepped from here.

    Args:
        vector_factory: begins sub-environments from seeds.
        leaves: of the environment, by path (a task's, or a spec's).
        config, steps, seed: how and for how long to train.
        backend: how to call the environment.
        progress, checkpoint, identity, log: see `harness.training.segments.train_segments`.
        ppo: of these leaves and this config, for callers that train several policies: what was compiled for it is kept.
        players: their names, where several play.

    Raises:
        TrainingError: see there.
        ValueError: config and environment do not fit.
        EnvironmentFailure: the environment failed; a checkpoint keeps the segments that were done.
    """
    demand_config(config, steps)
    ppo = ppo or Ppo(Policy(leaves, config, players))
    backing = _Host(vector_factory, leaves, ppo, seed)
    [trained] = train_segments(
        backing.segment,
        ppo,
        steps,
        [seed],
        backend=backend,
        progress=progress,
        checkpoint=checkpoint,
        identity=identity,
        log=log,
    )
    return trained


def as_taken(leaves: Mapping[str, Leaf], actions: Mapping[str, Any]) -> dict[str, Array]:
    """Actions in the dtypes that the environment declares: JAX may hold them in narrower ones."""
    return {path: np.asarray(array).astype(leaves[path].dtype, copy=False) for path, array in actions.items()}


def narrowed(array: Array) -> Array:
    """An observed leaf in the width that a policy computes with: what JAX would do silently, on purpose."""
    return array.astype(np.float32) if array.dtype.itemsize == 8 else array


class _Host:
    """The backend: one seed."""

    def __init__(self, vector: VectorFactory, leaves: Mapping[str, Leaf], ppo: Ppo, seed: int) -> None:
        self._begin, self._leaves, self._ppo = vector, leaves, ppo
        self._key_data = key_data_of(seed)
        programs = _compiled(ppo)
        self._key, self._seeds, self._chance = programs.key, programs.seeds, programs.chance
        self._act, self._learn, self._remembered = programs.act, programs.learn, programs.remembered

    def segment(self, learners: Leaves, segment: int, updates: int, total: int) -> tuple[Leaves, Played]:
        """See `harness.training.segments.RunSegment`."""
        ppo, config = self._ppo, self._ppo.config
        learner = ppo.learner({name: leaf[0] for name, leaf in learners.items()})
        key = self._key(self._key_data, np.int32(segment))
        learner = self._remembered(learner, key, np.int32(segment))
        vector = self._begin(_as_numbers(self._seeds(key)))
        seen = self._observed(vector.leaves)
        memory = ppo.policy.memory(config.num_envs)
        policy = ppo.policy
        begins, paid = np.ones(config.num_envs, bool), np.zeros((config.num_envs, *policy.axes), np.float32)
        lengths = np.zeros(config.num_envs, np.int64)
        tally = np.zeros(3)
        for index in range(updates):
            chance = self._chance(key, np.int32(index))
            noise, seeds = jax.device_get(chance.noise), _as_numbers(chance.seeds)
            before, timesteps = memory, []
            for step_index in range(config.rollout_steps):
                timestep_noise = jax.tree.map(lambda array, step_index=step_index: array[step_index], noise)
                actions, taken, memory = self._act(learner, seen, memory, begins, timestep_noise)
                held = as_taken(self._leaves, jax.device_get(taken))
                after, final, reward, terminated, ended, counted = self._decide(vector, held, seeds[step_index])
                each = policy.each(ended, np)
                timesteps.append((seen, final, actions, reward, terminated, each, policy.each(begins, np)))
                seen, begins = after, ended
                paid, lengths = paid + reward, lengths + counted
                tally += (ended.sum(), ppo.paid(paid)[ended].sum(), lengths[ended].sum())
                paid, lengths = np.where(each, np.float32(0), paid), np.where(ended, 0, lengths)
            whole = jax.tree.map(lambda *parts: np.stack(parts), *jax.device_get(timesteps))
            learner = self._learn(learner, whole, before, chance.shuffle, np.int32(total))
        learned = {name: leaf[None] for name, leaf in ppo.leaves(learner).items()}
        return learned, Played(*(np.array([number]) for number in tally))

    def _decide(self, vector: Stepped, actions: Leaves, following: Sequence[int]) -> tuple[Any, ...]:
        """Hold actions: what is seen after them, and until the episode's end what was seen last, the reward, whether it
        terminated, whether it ended, and in how many steps.
        """
        policy, config = self._ppo.policy, self._ppo.config
        seen: Leaves = {}
        final: Leaves = {}
        counted, ended = np.zeros(config.num_envs, np.int64), np.zeros(config.num_envs, bool)
        reward = np.zeros((config.num_envs, *policy.axes), np.float32)
        terminated = np.zeros(reward.shape, bool)
        for _ in range(config.hold):
            step = vector.advance(actions, following)
            going = ~ended
            last = {path: step.before_reset(path) for path in policy.observed_leaves}
            reward[going] += policy.earned(step.leaves, np)[going]
            terminated[going] |= policy.terminated({**step.leaves, **last}, np)[going]
            last = self._observed(last)
            if not going.all():  # pictures are large, and hardly ever need to be copied
                last = {path: rows_where(going, array, final[path]) for path, array in last.items()}
            final = last
            counted += going
            ended = ended | step.ended
            seen = self._observed(step.leaves)
        return seen, final, reward, terminated, ended, counted

    def _observed(self, leaves: Leaves) -> dict[str, Array]:
        """The leaves that the policy sees."""
        return {path: narrowed(np.asarray(leaves[path])) for path in self._ppo.policy.observed_leaves}


def rows_where(chosen: Array, array: Array, other: Array) -> Array:
    """Rows of one array where they are chosen, of another elsewhere."""
    return np.where(chosen.reshape(-1, *[1] * (array.ndim - 1)), array, other)


class _Programs:
    """What is compiled for one `Ppo`, whatever the environment and the seed."""

    def __init__(self, ppo: Ppo) -> None:
        self._ppo = ppo
        self.key, self.seeds, self.chance = jax.jit(ppo.segment_key), jax.jit(ppo.first_seeds), jax.jit(ppo.chance)
        self.act, self.learn = jax.jit(self._acting), jax.jit(self._learning)
        self.remembered = jax.jit(ppo.remembered)

    def _acting(self, learner: Any, seen: Any, memory: Any, begins: Any, noise: Any) -> Any:
        policy = self._ppo.policy
        kept = jnp.where(policy.each(begins)[..., None], jnp.float32(0), memory)
        observed = policy.observe(seen)
        actions, remembered = self._ppo.act(learner, observed, kept, noise)
        return actions, policy.to_leaves(actions, observed.acts), remembered

    def _learning(self, learner: Any, timesteps: Any, memory: Any, shuffle: Any, total: Any) -> Any:
        seen, final, actions, reward, terminated, ended, begins = timesteps
        observe = self._ppo.policy.observe
        batch = Batch(observe(seen), observe(final), actions, reward, terminated, ended, begins, memory)
        return self._ppo.update(learner, batch, shuffle, total)


_compiled = lru_cache(maxsize=4)(_Programs)


def _as_numbers(key_data: Any) -> Any:
    """Seeds from their key data `[..., 2]`, as nested lists of Python's whole numbers."""
    pair = np.asarray(key_data).astype(np.int64)
    return (pair[..., 0] << 32 | pair[..., 1]).tolist()
