"""Does the reference play episodes as the protocol says, and the same ones each time?"""

from __future__ import annotations

import numpy as np

from harness.authoring.conformance.kit import Failed, Kit, Passed, divergence, outside, shown
from harness.compare import compare
from harness.errors import Raised
from harness.model import ENDINGS, STATE, Array, Case, is_of_step
from harness.protocol.worker import SEEDS
from harness.task.contract import Mode


def plays_episodes(kit: Kit) -> Passed:
    """Random and sticky episodes can be played to their end, each timestep as declared."""
    steps = sum(episode.steps for episode in kit.episodes)
    ended = sum(any(episode.leaves[path][-1] for path in ENDINGS) for episode in kit.episodes)
    return Passed(len(kit.episodes), f"{steps} steps; {ended} of {len(kit.episodes)} episodes came to an end")


def resets_to_a_beginning(kit: Kit) -> Passed:
    """Timestep 0 has reward 0 and no end."""
    for episode in kit.episodes:
        for path in filter(is_of_step, kit.spec.outputs):
            if (found := episode.leaves[path][0]).any():
                raise Failed(
                    f"seed {episode.case.seed}, timestep 0: {path} is {found}; a reset has reward 0 and no end"
                )
    return Passed(len(kit.episodes))


def keeps_its_bounds(kit: Kit) -> Passed:
    """Outputs stay within the bounds that task.toml states; for state leaves these mean something else."""
    leaves = [
        leaf for path, leaf in kit.task.outputs.items() if path in kit.spec.outputs and not path.startswith(STATE)
    ]
    for episode in kit.episodes:
        for leaf in leaves:
            wrong = outside(leaf, episode.leaves[leaf.path])
            if wrong.any():
                timestep, *index = (int(i) for i in np.argwhere(wrong)[0])
                value = episode.leaves[leaf.path][(timestep, *index)]
                where = f"seed {episode.case.seed}, timestep {timestep}: {leaf.path}{index or ''}"
                raise Failed(f"{where} is {value}, outside the bounds of task.toml, {leaf.low} to {leaf.high}")
    bounded = sum(leaf.low is not None or leaf.high is not None for leaf in leaves)
    return Passed(sum(episode.timesteps for episode in kit.episodes), f"{bounded} leaves with bounds")


def repeats_itself(kit: Kit) -> Passed:
    """The same case gives the same trajectory: twice, in another order, in a fresh process."""
    cases, played = kit.cases, kit.episodes
    kit.demand_same(played, kit.environment.rollout(cases), "the same case played twice differs")
    backwards = kit.environment.rollout(cases[::-1])[::-1]
    kit.demand_same(played, backwards, "the same cases in another order differ: something carries over")
    with kit.fresh() as other:
        kit.demand_same(played, other.rollout(cases[::-1])[::-1], "the same cases in a fresh process differ")
    return Passed(3 * len(cases), "twice, in another order, in a fresh process")


def heeds_its_seed(kit: Kit) -> Passed:
    """Seeds, from the least to the greatest, make a difference exactly where the task says that there is chance."""
    longest = max(kit.cases, key=lambda case: case.length)
    seeds = [*range(7), SEEDS - 1]
    answers = kit.answers([Case(seed, longest.actions) for seed in seeds])
    for answer in answers:
        if isinstance(answer, Raised) and not kit.task.masked:
            raise answer
    # What is legal under one seed may be refused under another: then it is another trajectory.
    different = len({None if isinstance(answer, Raised) else answer.digest for answer in answers})
    if kit.task.mode is Mode.NONE and different > 1:
        raise Failed("the seed changes the trajectory, but task.toml says that there is no randomness")
    if kit.task.mode is not Mode.NONE and different == 1:
        raise Failed(f"{len(seeds)} seeds give the same trajectory: it ignores them, or the mode should be `none`")
    return Passed(len(seeds), f"{different} different trajectories from {len(seeds)} seeds")


def steps_singly(kit: Kit) -> Passed:
    """A rollout is what single calls of `reset` and `step` give."""
    picked = kit.episodes[::3]
    for episode in picked:
        difference = compare(kit.environment.walk(episode.case), episode, kit.spec.outputs, {})
        if difference is None:
            continue
        why = "single steps and a rollout differ"
        if _constant(episode.leaves.get(difference.path)):
            why = "the adapter returns a buffer that it uses again, and has to copy it: a rollout repeats its last timestep"
        raise Failed(f"{why}: {shown(difference)}", divergence(episode.case, difference, why))
    return Passed(len(picked))


def _constant(timesteps: Array | None) -> bool:
    return (
        timesteps is not None
        and len(timesteps) > 2
        and all(timestep.tobytes() == timesteps[-1].tobytes() for timestep in timesteps)
    )
