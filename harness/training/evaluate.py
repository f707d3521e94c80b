"""Playing trained policies, closed loop: what an environment answers decides the next action."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from harness.candidate.adapters.jax.batch import key_data_of
from harness.candidate.adapters.jax.flags import prepare_process
from harness.model import Array, Case, Leaves, Tape, Trajectory
from harness.protocol.environment import Environment, Pool
from harness.training.host import as_taken, narrowed
from harness.training.opponents import Opponent, Table
from harness.training.policy import Policy
from harness.training.ppo import Ppo, step_noise

NUM_ENVS = 128
"""Episodes that are played side by side."""
_ACTING = 2  # what of a seed's key is the noise of actions; the episode's own chance comes from others


def evaluate(
    environment: Environment | Pool,
    policy: Policy,
    learners: Sequence[Leaves],
    seeds: Sequence[Sequence[int]],
    *,
    horizon: int,
    draws: Sequence[Sequence[Tape | None]] | None = None,
    fixed: Mapping[str, Any] | None = None,
    greedy: bool = True,
    state: bool = True,
    opponents: Sequence[Opponent] = (),
) -> list[list[Trajectory]]:
    """Play episodes of at most `horizon` steps: for each learner as many as it has seeds, which are equally many for all.

    Args:
        environment: a reference, several workers of one, or a candidate.
        policy, learners: the policy, and leaves for it (`Trained.learner`).
        seeds: of the episodes of each learner. The noise of a policy that is not greedy comes from them too, so two
            environments see the same noise.
        draws: tapes of chance to force, so that a candidate shares an episode with the reference as long as it agrees.
        fixed: values of draws of resets, by name, in episodes without a tape.
        greedy: take the most probable action; else draw from the policy.
        state: whether trajectories hold the canonical state.
        opponents: where several play, whom each policy meets: a `Table` says in which episode and who sits where. Without
            any a policy plays all seats.

    Returns:
        For each learner a trajectory for each seed, its case with the actions taken. Its return is the sum of its rewards.

    Raises:
        EnvironmentFailure: the environment failed, or has no sub-environments.
        ValueError: a learner is not one of this policy.
    """
    prepare_process()
    ppo, count = Ppo(policy), len(seeds[0])
    table = Table(policy, opponents) if opponents else None
    together = max(1, NUM_ENVS // count)
    played: list[list[Trajectory]] = []
    for first in range(0, len(learners), together):
        group = slice(first, first + together)
        held = [ppo.learner(learner) for learner in learners[group]]
        weights = jax.tree.map(lambda *parts: jnp.stack(parts), *[(each.network, each.stats) for each in held])
        done: list[list[Trajectory]] = [[] for _ in held]
        for start in range(0, count, NUM_ENVS):
            part = slice(start, start + NUM_ENVS)
            own = [each[part] for each in seeds[group]]
            tapes = None if draws is None else [tape for each in draws[group] for tape in each[part]]
            flat = _play(environment, policy, weights, own, horizon, tapes, fixed, greedy, state, table, start)
            for index in range(len(held)):
                done[index] += flat[index * len(own[0]) : (index + 1) * len(own[0])]
        played += done
    return played


def _play(
    environment: Environment | Pool,
    policy: Policy,
    weights: Any,
    seeds_of: Sequence[Sequence[int]],
    horizon: int,
    draws: Sequence[Tape | None] | None,
    fixed: Mapping[str, Any] | None,
    greedy: bool,
    state: bool,
    table: Table | None,
    first: int,
) -> list[Trajectory]:
    """The episodes of all learners, one learner's after the other's; each one's first has the number `first`."""
    seeds = [int(seed) for each in seeds_of for seed in each]
    vector = environment.vector(seeds, draws=draws, state=state, fixed=fixed)
    declared = environment.spec.leaves
    shape = (len(seeds_of), len(seeds_of[0]))
    key_data = np.stack([key_data_of(seed) for seed in seeds]).reshape(*shape, 2)
    memory = np.asarray(policy.memory(*shape))
    numbers = [first + number for each in seeds_of for number in range(len(each))]
    replaced = table.begin(seeds, numbers) if table else None
    timesteps, tapes, chosen = [vector.leaves], [vector.draws], []
    actions: dict[str, Array] = {}
    length = np.full(len(seeds), horizon)
    over = np.zeros(len(seeds), bool)
    while len(chosen) < horizon and not over.all():
        if len(chosen) % policy.config.hold == 0:
            newest = {path: narrowed(timesteps[-1][path]) for path in policy.observed_leaves}
            seen = {path: array.reshape(*shape, *array.shape[1:]) for path, array in newest.items()}
            taken, memory = _choose(policy, greedy, weights, seen, memory, key_data, np.int32(len(chosen)))
            flat = {path: array.reshape(len(seeds), *array.shape[2:]) for path, array in jax.device_get(taken).items()}
            actions = as_taken(declared, flat)
            if replaced is not None:
                actions = as_taken(declared, replaced(timesteps[-1], actions, len(chosen), over))
        step = vector.advance(actions)
        chosen.append(actions)
        timesteps.append(step.leaves)
        tapes.append(step.draws)
        length[step.ended] = len(chosen)
        over |= step.ended
    return [
        _trajectory(environment, seed, index, int(length[index]), timesteps, tapes, chosen, draws)
        for index, seed in enumerate(seeds)
    ]


def _trajectory(
    environment: Environment | Pool,
    seed: int,
    env_index: int,
    steps: int,
    timesteps: Sequence[Leaves],
    tapes: Sequence[Tape],
    chosen: Sequence[Mapping[str, Array]],
    draws: Sequence[Tape | None] | None,
) -> Trajectory:
    leaves = {
        path: np.stack([step_index[path][env_index] for step_index in timesteps[: steps + 1]]) for path in timesteps[0]
    }
    actions = {
        path: np.stack([action[path][env_index] for action in chosen[:steps]]) if steps else leaf.zeros(0)
        for path, leaf in environment.spec.actions.items()
    }
    forced = None if draws is None else draws[env_index]
    case = Case(seed, actions, draws=forced, origin="rollout/learned")
    if "draws" not in environment.spec.capabilities:
        return Trajectory(case, leaves)
    return Trajectory(case, leaves, tuple(tape[env_index] for tape in tapes[: steps + 1]))


@partial(jax.jit, static_argnums=(0, 1))
def _choose(policy: Policy, greedy: bool, weights: Any, seen: Any, memory: Any, key_data: Any, step_index: Any) -> Any:
    """Actions and memories `[learners, episodes, ...]`."""

    def one(weights: Any, seen: Any, memory: Any, key_data: Any) -> Any:
        network, stats = weights
        observed = policy.observe(seen)
        given, memory = policy.act(network, stats, observed, memory)
        if greedy:
            actions = policy.mode(given)
        else:
            actions = policy.sample(given, step_noise(policy, key_data, _ACTING, step_index))
        return policy.to_leaves(actions, observed.acts), memory

    return jax.vmap(one)(weights, seen, memory, key_data)
