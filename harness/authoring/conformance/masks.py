"""Do the masks of legal actions say what the reference does?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from harness.authoring.conformance.kit import EPISODES, Failed, Kit, Passed, Skipped
from harness.candidate.faces.leaves import mask_of
from harness.errors import EnvironmentFailure, Raised
from harness.model import ENDINGS, Case, Leaf, Trajectory
from harness.task.contract import STANDARD_POLICIES

FEW = 8
"""Of the actions that are legal in a timestep, and of those that are not, so many at most are tried."""


def offers_legal_actions(kit: Kit) -> Passed:
    """Until an episode ends something is legal, policies keep to it, and the reference takes each action that is."""
    masked = {path: leaf for path, leaf in kit.actions.items() if mask_of(path) in kit.spec.outputs}
    if not masked:
        raise Skipped("the task has no masks of legal actions")
    own = [policy for policy in kit.spec.policies if policy not in STANDARD_POLICIES]
    driven = [
        episode for policy in own for episode in kit.environment.drive(policy, range(1, EPISODES + 1), kit.horizon)
    ]
    for episode in (*kit.episodes, *driven):
        for together in [masked] if kit.task.players else [{path: leaf} for path, leaf in masked.items()]:
            _demand_some(episode, together)
        for path, leaf in masked.items():
            _demand_legal(episode, path, leaf)
    picks = kit.reached
    legal = [case for path, leaf in masked.items() for case in _tries(picks, path, leaf, legal=True)]
    for case, answer in zip(legal, kit.answers(legal), strict=True):
        if isinstance(answer, Raised):
            raise Failed(f"{_told(case, masked)}, which its mask says is legal, is refused: {answer}")
    illegal = [case for path, leaf in masked.items() for case in _tries(picks, path, leaf, legal=False)]
    return Passed(len(legal) + len(illegal), f"{len(legal)} legal actions taken; {_what_becomes(kit, illegal, masked)}")


def _demand_some(episode: Trajectory, masked: dict[str, Leaf]) -> None:
    """Wherever an episode goes on, one of these masks at least allows something."""
    masks = {path: np.asarray(episode.leaves[mask_of(path)], np.bool_) for path in masked}
    for path, mask in masks.items():
        if mask.ndim != 2 or masked[path].shape:
            raise Failed(
                f"{mask_of(path)} is no mask of {path}: that takes one integer, and one boolean for each of its values"
            )
    ended = any(episode.leaves[end][-1] for end in ENDINGS)
    going = episode.steps if ended else episode.timesteps
    nothing = np.flatnonzero(~np.any([mask[:going].any(1) for mask in masks.values()], axis=0))
    if len(nothing):
        where, which = f"seed {episode.case.seed}, timestep {nothing[0]}", " and ".join(map(mask_of, masked))
        raise Failed(f"{where}: {which} allows no action at all, and the episode goes on")


def _demand_legal(episode: Trajectory, path: str, leaf: Leaf) -> None:
    """Each action of an episode was legal, but where a player could do nothing."""
    mask = np.asarray(episode.leaves[mask_of(path)], np.bool_)[: episode.steps]
    places = episode.case.actions[path][: episode.steps].astype(np.int64) - int(leaf.low or 0)
    wrong = np.flatnonzero(mask.any(1) & ~mask[np.arange(len(places)), places])
    if len(wrong):
        timestep = int(wrong[0])
        taken = f"{path} {episode.case.actions[path][timestep]}"
        policy = episode.case.origin.removeprefix("rollout/")
        raise Failed(
            f"seed {episode.case.seed}, timestep {timestep}: policy {policy} took {taken}, which {mask_of(path)} rules out"
        )


def _tries(picks: Sequence[tuple[Trajectory, int]], path: str, leaf: Leaf, *, legal: bool) -> Iterator[Case]:
    """Reached timesteps, each with another last action of one leaf: one that its mask allows, or one that it rules out."""
    rng = np.random.default_rng(0)
    for episode, timestep in picks:
        values = np.flatnonzero(episode.leaves[mask_of(path)][timestep] == legal) + int(leaf.low or 0)
        for value in rng.permutation(values)[:FEW]:
            case = episode.case.cut(timestep + 1)
            array = case.actions[path].copy()
            array[timestep] = value
            yield Case(case.seed, {**case.actions, path: array})


def _what_becomes(kit: Kit, illegal: Sequence[Case], masked: dict[str, Leaf]) -> str:
    """What the reference does with actions that are ruled out: it may refuse them or play them, and goes on."""
    if not illegal:
        return "no mask ruled anything out"
    try:
        answers = kit.answers(illegal)
    except EnvironmentFailure as failure:
        for case in illegal:
            try:
                kit.answers([case])
            except EnvironmentFailure as alone:
                raise Failed(f"{_told(case, masked)}, which its mask rules out, is not refused but: {alone}") from alone
        raise Failed(f"actions that masks rule out: {failure}") from failure
    refused = sum(isinstance(answer, Raised) for answer in answers)
    return f"of {len(illegal)} that are ruled out {refused} are refused, the others played"


def _told(case: Case, masked: dict[str, Leaf]) -> str:
    taken = ", ".join(f"{path} {case.actions[path][-1]}" for path in masked)
    return f"seed {case.seed}, timestep {case.length - 1}: {taken}"
