"""Does the reference step many episodes side by side as it plays them one by one?"""

from __future__ import annotations

import numpy as np

from harness.authoring.conformance.kit import Kit, Passed, Skipped
from harness.model import ENDINGS, Case, Leaves, Trajectory, is_of_step

NUM_ENVS = 4
STEPS = 64


def keeps_sub_envs_apart(kit: Kit) -> Passed:
    """Episodes in a vector environment are those that a rollout plays, also where one restarts while the others go on.

    Where draws are reported and can be forced, a rollout is given those of the sub-environment: instances may share one
    source of chance. Elsewhere a sub-environment's episode must be that of its seed.
    """
    if not kit.can("vector"):
        raise Skipped("it steps one environment at a time, so training in it takes as many processes as environments")
    taped = kit.can("draws") and kit.can("force_draws")
    played = _play(kit)
    cases = [
        Case(episode.case.seed, episode.case.actions, draws=episode.draws if taped else None) for episode in played
    ]
    kit.demand_same(
        kit.environment.rollout(cases), played, "an episode in a sub-environment is not what a rollout plays"
    )
    if not any(episode.leaves[path][-1] for episode in played for path in ENDINGS):
        return Passed(len(played), f"no episode ended within {STEPS} steps, so none restarted")
    return Passed(len(played), f"{NUM_ENVS} sub-environments, restarted where an episode ended")


def _play(kit: Kit) -> list[Trajectory]:
    """What sub-environments play under recorded actions, cut into episodes."""
    seeds = list(range(1, NUM_ENVS + 1))
    vector = kit.environment.vector(seeds, state=True)
    chosen = {path: np.concatenate([e.case.actions[path] for e in kit.episodes]) for path in kit.actions}
    length = len(next(iter(chosen.values())))
    if not length:
        raise Skipped("no episode has a step")
    if any(path.startswith("legal_actions") for path in kit.spec.leaves):
        raise Skipped("actions that were legal in one episode need not be so in another")
    timesteps: list[list[Leaves]] = [[_timestep(vector.leaves, env_index)] for env_index in range(NUM_ENVS)]
    tapes, actions, episodes = [[timestep] for timestep in vector.draws], [[] for _ in seeds], []

    def finish(env_index: int) -> None:
        leaves = {
            path: np.stack([timestep[path] for timestep in timesteps[env_index]]) for path in timesteps[env_index][0]
        }
        taken = {
            path: np.stack([a[path] for a in actions[env_index]]) if actions[env_index] else chosen[path][:0]
            for path in chosen
        }
        draws = tuple(tapes[env_index]) if kit.can("draws") else None
        episodes.append(Trajectory(Case(seeds[env_index], taken), leaves, draws))

    for step in range(STEPS):
        picked = {path: array[(np.arange(NUM_ENVS) * 7 + step) % length] for path, array in chosen.items()}
        following = [1000 * (step + 1) + env_index for env_index in range(NUM_ENVS)]
        now = vector.advance(picked, following)
        final = {path: now.before_reset(path) for path in now.leaves}
        begun = iter(now.next_draws)
        for env_index in range(NUM_ENVS):
            timesteps[env_index].append(_timestep(final, env_index))
            tapes[env_index].append(now.draws[env_index])
            actions[env_index].append({path: array[env_index] for path, array in picked.items()})
            if now.ended[env_index]:
                finish(env_index)
                fresh = dict(_timestep(now.leaves, env_index))
                fresh |= {path: np.zeros_like(fresh[path]) for path in fresh if is_of_step(path)}
                seeds[env_index] = following[env_index]
                timesteps[env_index], tapes[env_index], actions[env_index] = [fresh], [next(begun, ())], []
    for env_index in range(NUM_ENVS):
        finish(env_index)
    return episodes


def _timestep(leaves: Leaves, env_index: int) -> Leaves:
    return {path: array[env_index] for path, array in leaves.items()}
