"""Playing a trained policy, closed loop: what an environment answers decides the next action."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from harness.adapters.jax_batch import key_words
from harness.adapters.jax_flags import prepare_process
from harness.adapters.jax_rollout import random_key
from harness.environment import Environment, Pool
from harness.model import Array, Case, Leaves, Tape, Trajectory
from harness.policy import Policy
from harness.ppo import Ppo
from harness.training.host import as_taken

LANES = 64
"""Episodes that are played beside each other."""
_ACTING = 2  # what of a seed's key is the noise of actions; the episode's own chance comes from others


def evaluate(
    environment: Environment | Pool,
    policy: Policy,
    learner: Leaves,
    seeds: Sequence[int],
    *,
    horizon: int,
    draws: Sequence[Tape | None] | None = None,
    greedy: bool = True,
    state: bool = True,
) -> list[Trajectory]:
    """Play one episode of at most `horizon` steps for each seed.

    Args:
        environment: a reference, several workers of one, or a candidate.
        policy, learner: the policy and its leaves (`Trained.learner`).
        seeds: of the episodes. The noise of a policy that is not greedy comes from them too, so two environments see the
            same noise.
        draws: tapes of chance to force, so that a candidate shares an episode with the reference as long as it agrees.
        greedy: take the most probable action; else draw from the policy.
        state: whether trajectories hold the canonical state.

    Returns:
        A trajectory for each seed, its case with the actions taken. Its return is the sum of its rewards.

    Raises:
        EnvironmentFailure: the environment failed, or has no lanes.
        ValueError: the learner is not one of this policy.
    """
    prepare_process()
    held = Ppo(policy).learner(learner)
    weights = (held.network, held.stats)
    played: list[Trajectory] = []
    for start in range(0, len(seeds), LANES):
        part = slice(start, start + LANES)
        tapes = None if draws is None else draws[part]
        played += _play(environment, policy, weights, seeds[part], horizon, tapes, greedy, state)
    return played


def _play(
    environment: Environment | Pool,
    policy: Policy,
    weights: Any,
    seeds: Sequence[int],
    horizon: int,
    draws: Sequence[Tape | None] | None,
    greedy: bool,
    state: bool,
) -> list[Trajectory]:
    lanes = environment.lanes(seeds, draws=draws, state=state)
    declared = environment.spec.leaves
    words = np.stack([key_words(int(seed)) for seed in seeds])
    memory = policy.memory(len(seeds))
    rows, tapes, chosen = [lanes.leaves], [lanes.draws], []
    length = np.full(len(seeds), horizon)
    over = np.zeros(len(seeds), bool)
    while len(chosen) < horizon and not over.all():
        seen = {path: _held(rows[-1][path]) for path in policy.observed_leaves}
        taken, memory = _choose(policy, greedy, weights, seen, memory, words, np.int32(len(chosen)))
        actions = as_taken(declared, jax.device_get(taken))
        step = lanes.advance(actions)
        chosen.append(actions)
        rows.append(step.leaves)
        tapes.append(step.draws)
        length[step.ended] = len(chosen)
        over |= step.ended
    return [
        _trajectory(environment, int(seed), index, int(length[index]), rows, tapes, chosen, draws)
        for index, seed in enumerate(seeds)
    ]


def _trajectory(
    environment: Environment | Pool,
    seed: int,
    lane: int,
    steps: int,
    rows: Sequence[Leaves],
    tapes: Sequence[Tape],
    chosen: Sequence[Mapping[str, Array]],
    draws: Sequence[Tape | None] | None,
) -> Trajectory:
    leaves = {path: np.stack([row[path][lane] for row in rows[: steps + 1]]) for path in rows[0]}
    actions = {
        path: np.stack([action[path][lane] for action in chosen[:steps]]) if steps else leaf.zeros(0)
        for path, leaf in environment.spec.actions.items()
    }
    forced = None if draws is None else draws[lane]
    case = Case(seed, actions, draws=forced, origin="rollout/learned")
    if "draws" not in environment.spec.capabilities:
        return Trajectory(case, leaves)
    return Trajectory(case, leaves, tuple(tape[lane] for tape in tapes[: steps + 1]))


def _held(array: Array) -> Array:
    return array.astype(np.float32) if array.dtype.itemsize == 8 else array


@partial(jax.jit, static_argnums=(0, 1))
def _choose(policy: Policy, greedy: bool, weights: Any, seen: Any, memory: Any, words: Any, row: Any) -> Any:
    network, stats = weights
    given, memory = policy.act(network, stats, policy.observe(seen), memory)
    if greedy:
        actions = policy.mode(given)
    else:
        keys = jax.vmap(lambda words: random_key(words, _ACTING, row))(words)
        actions = policy.sample(given, jax.vmap(lambda key: policy.noise(key, ()))(keys))
    return policy.to_leaves(actions), jax.tree.map(jnp.asarray, memory)
