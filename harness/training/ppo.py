"""PPO (Schulman et al., 2017), one algorithm for every backend.

A backend plays: it fills a `Batch` with what `rollout_steps` steps in `num_envs` environments gave, under actions from
`Ppo.act`. What is learned from it, `Ppo.update`, and all chance that goes into both, `Ppo.chance`, is here. So a backend is
the only difference between two trainings.

An episode that *terminated* is worth nothing from there on; one that was *truncated* would have gone on, so its last
observation is worth what the critic says. Both come from the same line: the value after a step is that of the observation
that the step itself led to, never that of the next episode's begin.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

from harness.candidate.adapters.jax.rollout import random_key
from harness.task.training import PpoConfig
from harness.training.network import Network
from harness.training.policy import Actions, Observed, Policy, Stats

Array = Any
F32, I32, U32 = jnp.float32, jnp.int32, jnp.uint32
ADAM = (0.9, 0.999, 1e-5)
"""Decays of the two moments, and what keeps their quotient finite."""


class Learner(NamedTuple):
    """Everything that training changes: weights, the optimiser's state, statistics of observations, updates done.

    `past` holds network and statistics of earlier policies, stacked along axis 0 (`PpoConfig.past`); () without any.
    """

    network: Network
    optimiser: Any
    stats: Stats
    updates: Array
    past: Any = ()


class Batch(NamedTuple):
    """What one update learns from; arrays `[T, N, ...]`, `[T, N, players, ...]` where several play.

    Attributes:
        observed: what each action was chosen on.
        final: what each step led to, before any auto-reset.
        actions: as they were chosen.
        reward: of each step (float32).
        terminated, ended: whether the step terminated its episode, and whether it ended it in any way.
        begins: whether the action was an episode's first.
        memory: of the network, before the first timestep, `[N, H]` or `[N, players, H]`.
    """

    observed: Observed
    final: Observed
    actions: Actions
    reward: Array
    terminated: Array
    ended: Array
    begins: Array
    memory: Array


class Chance(NamedTuple):
    """All chance of one update: noise of the actions, seeds of the episodes that may begin `[T, N, 2]`, and a key."""

    noise: Actions
    seeds: Array
    shuffle: Array


class Ppo:
    """The algorithm for one policy and one config.

    Args:
        policy: how the network acts; its config is the trainer's.
    """

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.config: PpoConfig = policy.config
        self.played = _played(policy)
        self._optimiser = optax.flatten(
            optax.chain(optax.clip_by_global_norm(self.config.max_gradient_norm), _scale_by_adam(*ADAM))
        )

    def __eq__(self, other: object) -> bool:
        """Whether both are the same algorithm, so that what was compiled for one serves the other."""
        return isinstance(other, Ppo) and other.policy == self.policy

    def __hash__(self) -> int:
        return hash(self.policy)

    # --- learners -----------------------------------------------------------------------------------------------------

    def begin(self, seed: int) -> Learner:
        """A learner that has learned nothing."""
        network = self.policy.network(np.random.default_rng([_NETWORK, seed]))
        weights = eqx.filter(network, eqx.is_array)
        stats, past = self.policy.no_stats(), ()
        if self.config.past:
            past = jax.tree.map(lambda leaf: jnp.stack([jnp.asarray(leaf)] * self.config.past), (network, stats))
        return Learner(network, self._optimiser.init(weights), stats, jnp.zeros((), I32), past)

    def leaves(self, learner: Learner) -> dict[str, np.ndarray[Any, Any]]:
        """A learner as arrays by name, which is how it crosses a process's border."""
        flat, _ = jax.tree_util.tree_flatten_with_path(learner)
        return {jax.tree_util.keystr(path, simple=True, separator="/"): np.asarray(leaf) for path, leaf in flat}

    def learner(self, leaves: Mapping[str, Any], lead: tuple[int, ...] = ()) -> Learner:
        """The inverse of `leaves`; with `lead`, of several learners stacked along leading axes.

        Raises:
            ValueError: they are not the leaves of a learner of this policy, or hold a number that is not finite.
        """
        flat, structure = jax.tree_util.tree_flatten_with_path(self.begin(0))
        named = {jax.tree_util.keystr(path, simple=True, separator="/"): leaf for path, leaf in flat}
        if set(named) != set(leaves):
            raise ValueError(f"a learner of this policy has the leaves {sorted(named)}, these are {sorted(leaves)}")
        taken = []
        for name, expected in named.items():
            array = np.asarray(leaves[name])
            if array.shape != (*lead, *expected.shape) or array.dtype != expected.dtype:
                what = f"{array.dtype}{list(array.shape)}"
                raise ValueError(f"{name} is {what}, expected {expected.dtype}{[*lead, *expected.shape]}")
            if array.dtype.kind == "f" and not np.isfinite(array).all():
                raise ValueError(f"{name} holds numbers that are not finite: the training has diverged")
            taken.append(jnp.asarray(array))
        return jax.tree_util.tree_unflatten(structure, taken)

    # --- playing ------------------------------------------------------------------------------------------------------

    def segment_key(self, key_data: Any, segment: Any) -> jax.Array:
        """The key of a segment, from which its chance is derived: a segment can be trained again by itself."""
        return jax.random.fold_in(jax.random.fold_in(random_key(key_data), _SEGMENTS), segment)

    def first_seeds(self, key: jax.Array) -> Array:
        """Seeds of the episodes with which a segment begins, `[N, 2]`, each below 2**31 as two 32-bit numbers."""
        return _seeds(jax.random.fold_in(key, 0), (self.config.num_envs,))

    def chance(self, key: jax.Array, update: Any) -> Chance:
        """All chance of the segment's update number `update`."""
        acting, seeding, shuffling = jax.random.split(jax.random.fold_in(key, U32(1) + update.astype(U32)), 3)
        lead = (self.config.rollout_steps, self.config.num_envs)
        return Chance(self.policy.noise(acting, lead), _seeds(seeding, lead), jax.random.key_data(shuffling))

    def act(self, learner: Learner, observed: Observed, memory: Array, noise: Actions) -> tuple[Actions, Array]:
        """Actions, and what is remembered after them."""
        given, after = self.policy.act(learner.network, learner.stats, observed, memory)
        chosen = self.policy.sample(given, noise), after
        return self._beside_past(learner, observed, memory, noise, chosen) if self.config.past else chosen

    def remembered(self, learner: Learner, key: jax.Array, segment: Any) -> Learner:
        """The learner with which a segment begins: what it is now may take the place of an earlier policy.

        Each segment's policy is kept with the same chance (Vitter's reservoir), so that those kept are from all of them.
        """
        if not self.config.past:
            return learner
        slot = jax.random.randint(jax.random.fold_in(key, _PAST), (), 0, jnp.maximum(segment + 1, self.config.past))
        now = (learner.network, learner.stats)
        kept = jax.tree.map(lambda past, new: past.at[slot].set(new, mode="drop"), learner.past, now)
        return learner._replace(past=kept)

    def paid(self, paid: Array) -> Array:
        """What the learner's seats were paid on average, `[N]`."""
        return paid if self.played is None else (paid * self.played).sum(-1) / self.played.sum(-1)

    def _beside_past(
        self, learner: Learner, observed: Observed, memory: Array, noise: Actions, chosen: tuple[Actions, Array]
    ) -> tuple[Actions, Array]:
        """What is chosen and remembered, at the seats that earlier policies play by them."""
        policy, count, half = self.policy, self.config.past, self.config.num_envs // 2

        def one(weights: Any, observed: Observed, memory: Array, noise: Actions) -> tuple[Actions, Array]:
            network, stats = weights
            given, after = policy.act(network, stats, observed, memory)
            return policy.sample(given, noise), after

        rest = jax.tree.map(
            lambda a: jnp.reshape(a[half:], (half // count, count, *a.shape[1:])), (observed, memory, noise)
        )
        theirs = jax.vmap(one, in_axes=(0, 1, 1, 1), out_axes=1)(learner.past, *rest)

        def merged(own: Array, other: Array) -> Array:
            assert self.played is not None
            mine = self.played[..., None] > 0
            other = jnp.reshape(other, (half, *own.shape[1:]))
            return jnp.where(mine, own, jnp.concatenate([own[:half], other]))

        return jax.tree.map(merged, chosen, theirs)

    # --- learning -----------------------------------------------------------------------------------------------------

    def update(self, learner: Learner, batch: Batch, shuffle: Array, total: Any) -> Learner:
        """Learn from a batch.

        Args:
            shuffle: data of the key that orders the minibatches.
            total: updates of the whole training, over which the learning rate falls.
        """
        config, policy, stats = self.config, self.policy, learner.stats
        network = learner.network
        given, values, memories = policy.judge(network, stats, batch.observed, batch.begins, batch.memory)
        after = policy.value(network, stats, batch.final, memories)
        advantages = advantage(config, batch, values, after)
        judging = None if self.played is None else jnp.broadcast_to(self.played, advantages.shape)
        acting = None if judging is None or batch.observed.acts is None else judging * batch.observed.acts.astype(F32)
        items = _Items(
            batch.observed, batch.actions, policy.log_probability(given, batch.actions), advantages, advantages + values,
            batch.begins, batch.memory, acting, judging,
        )  # fmt: skip
        remembers = config.network == "gru"
        if not remembers:  # every timestep is an item of its own
            size = (config.decisions_per_update,)
            items = jax.tree.map(lambda array: jnp.reshape(array, size + array.shape[2:]), items._replace(memory=()))
        count = config.num_envs if remembers else config.decisions_per_update
        orders = _orders(shuffle, config.epochs, count)
        parts = jnp.reshape(orders, (config.epochs * config.minibatches, -1))
        left = 1 - learner.updates.astype(F32) / jnp.maximum(total, 1).astype(F32) if config.anneal else F32(1)
        rate = F32(config.learning_rate) * jnp.maximum(left, F32(0))

        def learn(carry: tuple[Network, Any], part: Array) -> tuple[tuple[Network, Any], None]:
            network, optimiser = carry
            gradient = jax.grad(self._loss)(network, stats, _taken(items, part, remembers))
            changes, optimiser = self._optimiser.update(gradient, optimiser)
            return (jax.tree.map(lambda weight, change: weight - rate * change, network, changes), optimiser), None

        (network, optimiser), _ = jax.lax.scan(learn, (network, learner.optimiser), parts)
        # The statistics change last: the policy that acted and the one that learned saw the same numbers.
        stats = policy.extended(stats, batch.observed.vector)
        return Learner(network, optimiser, stats, learner.updates + 1, learner.past)

    def _loss(self, network: Network, stats: Stats, items: _Items) -> Array:
        config, policy = self.config, self.policy
        given, values, _ = policy.judge(network, stats, items.observed, items.begins, items.memory)
        ratio = jnp.exp(policy.log_probability(given, items.actions) - items.log_probability)
        gain = items.advantage - _mean(items.advantage, items.acting)
        gain = gain / (jnp.sqrt(_mean(jnp.square(gain), items.acting)) + F32(1e-8))
        clipped = jnp.clip(ratio, F32(1 - config.clip), F32(1 + config.clip))
        acting = -_mean(jnp.minimum(ratio * gain, clipped * gain), items.acting)
        judging = F32(0.5) * _mean(jnp.square(values - items.target), items.judging)
        entropy = _mean(policy.entropy(given), items.acting)
        return acting + config.value_coefficient * judging - config.entropy_coefficient * entropy


class _Items(NamedTuple):
    """What a minibatch is cut from; of several players, the weights with which each acted and is judged, 0 or 1."""

    observed: Observed
    actions: Actions
    log_probability: Array
    advantage: Array
    target: Array
    begins: Array
    memory: Any
    acting: Array | None
    judging: Array | None


_NETWORK, _SEGMENTS = 0, 1  # what is derived from a seed's key
_PAST = 0xFFFFFFFF  # what is derived from a segment's key, beside its updates


def _played(policy: Policy) -> np.ndarray[Any, Any] | None:
    """Which seats the learner plays, 0 or 1, `[N, players]` (float32); None where there is one player.

    In the second half of the environments earlier policies play all seats but one, if any are kept.
    """
    if not policy.players:
        return None
    config, players = policy.config, len(policy.players)
    played = np.ones((config.num_envs, players), np.float32)
    if config.past:
        half = config.num_envs // 2
        # Environment n meets the earlier policy n % past: the seats go round among these and within each.
        number = np.arange(half)[:, None]
        played[half:] = (number // config.past + number % config.past) % players == np.arange(players)
    return played


def _mean(array: Array, weight: Array | None) -> Array:
    """The mean, of what has weight where weights are given."""
    return jnp.mean(array) if weight is None else jnp.sum(array * weight) / jnp.maximum(jnp.sum(weight), F32(1))


def advantage(config: PpoConfig, batch: Batch, values: Array, after: Array) -> Array:
    """Generalised advantage estimates `[T, N]` (Schulman et al., 2016).

    Args:
        values: of what each action was chosen on.
        after: of what each step led to; a step that terminated its episode led to nothing.
    """
    surprise = batch.reward + config.discount * jnp.where(batch.terminated, F32(0), after) - values
    # Who dropped out has come to its end before the others: what its rows hold afterwards is nothing that it led to.
    decay = jnp.where(jnp.logical_or(batch.ended, batch.terminated), F32(0), F32(config.discount * config.gae_lambda))

    def back(later: Array, step_values: tuple[Array, Array]) -> tuple[Array, Array]:
        now = step_values[0] + step_values[1] * later
        return now, now

    return jax.lax.scan(back, jnp.zeros_like(values[0]), (surprise, decay), reverse=True, unroll=8)[1]


def _taken(items: _Items, part: Array, remembers: bool) -> _Items:
    """The items with these numbers: timesteps, or whole sequences of environments."""
    if not remembers:
        return jax.tree.map(lambda array: jnp.take(array, part, 0, mode="clip"), items)
    whole = jax.tree.map(lambda array: jnp.take(array, part, 1, mode="clip"), items._replace(memory=()))
    return whole._replace(memory=jnp.take(items.memory, part, 0, mode="clip"))


def step_noise(policy: Policy, key_data: Array, use: int, step_index: Any) -> Actions:
    """The chance of one step in each of several episodes, from their seeds' key data `[episodes, 2]`; `use` tells apart what
    is drawn with it.
    """
    return jax.vmap(lambda one: policy.noise(random_key(one, use, step_index), ()))(key_data)


def _seeds(key: jax.Array, lead: tuple[int, ...]) -> Array:
    low = jax.random.bits(key, lead, U32) >> 1
    return jnp.stack([jnp.zeros_like(low), low], -1)


def _orders(key_data: Array, epochs: int, count: int) -> Array:
    """A permutation of `count` items for each epoch, `[epochs, count]`.

    Sorting random numbers costs more on a CPU than a small network's forward pass. A power of two is instead permuted by
    arithmetic: odd multiples, sums, and shifts that are folded back are one-to-one on its numbers.
    """
    key = random_key(key_data)
    if count & (count - 1):
        keys = jax.random.split(key, epochs)
        return jax.vmap(lambda key: jax.random.permutation(key, jnp.arange(count, dtype=I32)))(keys)
    bits, mask = count.bit_length() - 1, U32(count - 1)
    key_data = jax.random.bits(key, (epochs, 6, 1), U32)
    x = jnp.broadcast_to(jnp.arange(count, dtype=U32), (epochs, count))
    for turn in range(3):
        x = (x * (key_data[:, 2 * turn] | U32(1)) + key_data[:, 2 * turn + 1]) & mask
        x = x ^ (x >> U32(max(1, (bits + 1) // 2)))
    return x.astype(I32)


def _scale_by_adam(first: float, second: float, epsilon: float) -> optax.GradientTransformation:
    """Adam (Kingma and Ba, 2015), in float32 throughout.

    Optax's own computes the correction of the moments in JAX's default float, so that a training with 64-bit types on would
    differ from one with them off.
    """

    def init(params: Any) -> Any:
        zeros = jax.tree.map(jnp.zeros_like, params)
        return optax.ScaleByAdamState(count=jnp.zeros((), I32), mu=zeros, nu=zeros)

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        del params
        count = state.count + 1
        mean = jax.tree.map(lambda m, g: first * m + (1 - first) * g, state.mu, updates)
        square = jax.tree.map(lambda v, g: second * v + (1 - second) * jnp.square(g), state.nu, updates)
        turns = count.astype(F32)
        known_mean, known_square = 1 - F32(first) ** turns, 1 - F32(second) ** turns
        changes = jax.tree.map(
            lambda m, v: (m / known_mean) / (jnp.sqrt(v / known_square) + F32(epsilon)), mean, square
        )
        return changes, optax.ScaleByAdamState(count=count, mu=mean, nu=square)

    return optax.GradientTransformation(init, update)
