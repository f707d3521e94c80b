"""Training in a JAX environment: rollout and update in one compiled loop, for many seeds at once.

A segment is one call of one compiled function. Seeds are mapped over, and laid out over devices where there are several:
nothing passes between them, so each device trains its own. This file runs in a candidate's sandbox too, and imports nothing
that is not there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from harness.candidate.adapters.jax import vector as jax_vector
from harness.candidate.adapters.jax.batch import key_data_of
from harness.candidate.adapters.jax.vector import SubEnv
from harness.candidate.faces.jax_env import JaxEnv, output_leaves
from harness.candidate.faces.leaves import pack_action
from harness.candidate.faces.restarts import restarted, select
from harness.task.training import PpoConfig
from harness.training.policy import Policy
from harness.training.ppo import Array, Batch, Learner, Ppo

F32 = jnp.float32


class Tally(NamedTuple):
    """Episodes that ended in each update of a segment `[segment_updates]`: how many, their returns and lengths summed."""

    episodes: Array
    returns: Array
    lengths: Array


class _Play(NamedTuple):
    """Where the environments stand `[N, ...]`."""

    sub_env: SubEnv
    seen: Any
    memory: Array
    begins: Array
    paid: Array


class _Decided(NamedTuple):
    """What a decision led to, until its episode ended or its action is held no longer; `length` of the episode so far."""

    final: Any
    reward: Array
    terminated: Array
    ended: Array
    length: Array

    def after(self, before: _Decided | None) -> _Decided:
        """This step's outcome behind those of the steps before it, under the same action."""
        if before is None:
            return self
        longer = self._replace(reward=before.reward + self.reward)
        return select(before.ended, before, longer)


class FusedTrainer:
    """Trains in one JAX environment, segment by segment.

    Args:
        env: the environment.
        config: how to train.

    Raises:
        ValueError: config and environment do not fit.
    """

    def __init__(self, env: JaxEnv, config: PpoConfig) -> None:
        self.config = config
        self.ppo = Ppo(Policy(env.leaves, config, env.players))
        self._env = env
        self._run = jax.jit(jax.vmap(self._segment, in_axes=(0, 0, None, None, None)), donate_argnums=0)

    def begin(self, seeds: Sequence[int]) -> Learner:
        """Learners that have learned nothing, stacked along axis 0."""
        return jax.tree.map(lambda *parts: jnp.stack(parts), *[self.ppo.begin(seed) for seed in seeds])

    def segment(
        self, learners: Learner, seeds: Sequence[int], segment: int, updates: int, total: int
    ) -> tuple[Learner, Tally]:
        """Train one segment; what `learners` held is used up.

        Args:
            learners: stacked, one for each seed.
            segment: its number, from 0.
            updates: how many updates it has, at most `segment_updates`.
            total: updates of the whole training.

        Returns:
            The learners after it, and what was played, each `[seeds, segment_updates]`.
        """
        key_data = np.stack([key_data_of(seed) for seed in seeds])
        if (sharding := _spread(len(seeds))) is not None:
            learners, key_data = jax.device_put((learners, key_data), sharding)
        counts = (np.int32(segment), np.int32(updates), np.int32(total))
        learners, tally = self._run(learners, key_data, *counts)
        return learners, Tally(*jax.device_get(tally))

    def learners(self, leaves: Mapping[str, Any], count: int) -> Learner:
        """Stacked learners from their leaves (see `Ppo.learner`)."""
        return self.ppo.learner(leaves, (count,))

    def leaves(self, learners: Learner) -> dict[str, np.ndarray[Any, Any]]:
        """The leaves of stacked learners, which `learners` takes."""
        return self.ppo.leaves(learners)

    # --- compiled -----------------------------------------------------------------------------------------------------

    def _segment(
        self, learner: Learner, key_data: Any, segment: Any, updates: Any, total: Any
    ) -> tuple[Learner, Tally]:
        key = self.ppo.segment_key(key_data, segment)
        learner = self.ppo.remembered(learner, key, segment)
        nothing = jnp.zeros(self.config.segment_updates, F32)

        def update(index: Any, carry: Any) -> Any:
            learner, play, tally = carry
            chance = self.ppo.chance(key, index)
            batch, play, counted = self._rollout(learner, play, chance)
            tally = jax.tree.map(lambda whole, part: whole.at[index].set(part), tally, counted)
            return self.ppo.update(learner, batch, chance.shuffle, total), play, tally

        begun = self._begin(self.ppo.first_seeds(key))
        learner, _, tally = jax.lax.fori_loop(0, updates, update, (learner, begun, Tally(nothing, nothing, nothing)))
        return learner, tally

    def _begin(self, seeds: Array) -> _Play:
        def one(key_data: Any) -> tuple[SubEnv, Any]:
            sub_env, outputs = jax_vector.begin(self._env, key_data, jax_vector.reset_draws(self._env, key_data))
            return sub_env, self._seen(outputs)

        sub_env, seen = jax.vmap(one)(seeds)
        count, policy = self.config.num_envs, self.ppo.policy
        paid = jnp.zeros((count, *policy.axes), F32)
        return _Play(sub_env, seen, policy.memory(count), jnp.ones(count, bool), paid)

    def _rollout(self, learner: Learner, play: _Play, chance: Any) -> tuple[Batch, _Play, Tally]:
        env, policy = self._env, self.ppo.policy
        # Which episodes will begin is not known yet, but what each would draw is: drawn at once, it costs far less.
        draws = jax.vmap(jax.vmap(partial(jax_vector.reset_draws, env)))(chance.seeds)

        def begin(chance: Any) -> Any:
            fresh, first = jax_vector.begin(env, *chance)
            return fresh, self._seen(first)

        def one(sub_env: SubEnv, action: Any, key_data: Any, draws: Any) -> Any:
            held, seen, decided = pack_action(action), None, None
            for _ in range(self.config.hold):
                stepped, outputs, _ = jax_vector.step(env, sub_env, held)
                ended = outputs["terminated"] | outputs["truncated"]
                leaves, final = output_leaves(outputs), self._seen(outputs)
                reward, terminated = policy.earned(leaves), policy.terminated(leaves)
                sub_env, seen = restarted(ended, begin, (key_data, draws), stepped, final)
                decided = _Decided(final, reward, terminated, ended, stepped.timestep).after(decided)
            return sub_env, seen, decided

        def step(play: _Play, given: Any) -> Any:
            noise, key_data, draws = given
            begins, observed = policy.each(play.begins), policy.observe(play.seen)
            memory = jnp.where(begins[..., None], F32(0), play.memory)
            actions, remembered = self.ppo.act(learner, observed, memory, noise)
            taken = policy.to_leaves(actions, observed.acts)
            sub_env, seen, decided = jax.vmap(one)(play.sub_env, taken, key_data, draws)
            final, reward, terminated, ended, length = decided
            paid = play.paid + reward
            done = ended.astype(F32)
            returned = jnp.sum(done * self.ppo.paid(paid))
            counted = Tally(jnp.sum(done), returned, jnp.sum(done * length.astype(F32)))
            after = _Play(sub_env, seen, remembered, ended, paid * (1 - policy.each(done)))
            return after, (play.seen, final, actions, reward, terminated, policy.each(ended), begins, counted)

        after, timesteps = jax.lax.scan(step, play, (chance.noise, chance.seeds, draws))
        seen, final, actions, reward, terminated, ended, begins, counted = timesteps
        batch = Batch(
            policy.observe(seen), policy.observe(final), actions, reward, terminated, ended, begins, play.memory
        )
        return batch, after, jax.tree.map(jnp.sum, counted)

    def _seen(self, outputs: Any) -> dict[str, Array]:
        leaves = output_leaves(outputs)
        return {path: leaves[path] for path in self.ppo.policy.observed_leaves}


def _spread(count: int) -> jax.sharding.Sharding | None:
    """Axis 0 over as many devices as share it evenly; None where that is one."""
    devices = jax.local_devices()
    fitting = max(number for number in range(1, len(devices) + 1) if count % number == 0)
    if fitting == 1:
        return None
    mesh = jax.sharding.Mesh(np.array(devices[:fitting]), ("seeds",))
    return jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("seeds"))
