"""Do the bounds of state leaves in task.toml hold all that play goes on from, and can tests start from within them?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.authoring.conformance.kit import Failed, Kit, Passed, Skipped, outside
from harness.errors import EnvironmentFailure, Raised
from harness.model import ENDINGS, Array, Case, Leaf, Trajectory
from harness.task.leaf_values import anywhere

MOVED = 8
"""Of so many reached states each leaf is moved."""
MOVES = 6
"""To so many values: all of its lower bound, all of its upper bound, and others between them."""


def keeps_its_state_bounds(kit: Kit) -> Passed:
    """States that episodes go on from lie within the bounds, and the reference steps on from others within them."""
    leaves = [
        leaf
        for path, leaf in kit.task.state.items()
        if path in kit.spec.outputs and (leaf.low is not None or leaf.high is not None)
    ]
    if not leaves:
        raise Skipped("no leaf of the state has bounds, so tests start only from states that episodes reach")
    looked_at = sum(_demand_within(episode, leaves) for episode in kit.episodes)
    movable = [leaf for leaf in leaves if leaf.low is not None and leaf.high is not None]
    if not kit.can("restore"):
        return Passed(looked_at, f"{len(leaves)} leaves; without `restore` no test starts elsewhere")
    refused = [_move(kit, leaf, kit.reached[:MOVED]) for leaf in movable]
    asked = len(movable) * MOVES * min(MOVED, len(kit.reached))
    return Passed(looked_at + asked, "; ".join([f"{len(leaves)} leaves", *(said for said in refused if said)]))


def _demand_within(episode: Trajectory, leaves: Sequence[Leaf]) -> int:
    """Fail where an episode goes on from outside the bounds; returns how many timesteps were looked at."""
    # Nothing starts where an episode has ended: a ball may lie beyond the field there.
    going = episode.steps if any(episode.leaves[path][-1] for path in ENDINGS) else episode.timesteps
    for leaf in leaves:
        values = episode.leaves[leaf.path][:going]
        wrong = outside(leaf, values)
        if wrong.any():
            timestep, *index = (int(i) for i in np.argwhere(wrong)[0])
            where = f"seed {episode.case.seed}, timestep {timestep}: {leaf.path}{index or ''}"
            raise Failed(
                f"{where} is {values[(timestep, *index)]}, outside the bounds of task.toml, {leaf.low} to {leaf.high}, and "
                "the episode goes on\nnext: widen the bounds, beyond which no test starts, or leave them out"
            )
    return going


def _move(kit: Kit, leaf: Leaf, picks: Sequence[tuple[Trajectory, int]]) -> str:
    """Step on from reached states with one leaf moved within its bounds; says how many of them are refused."""
    cases = list(_moved(kit, leaf, picks))
    try:
        answers = kit.answers(cases)
    except EnvironmentFailure as failure:
        raise _unanswered(kit, leaf, cases, failure) from failure
    refusals = [(case, answer) for case, answer in zip(cases, answers, strict=True) if isinstance(answer, Raised)]
    if not refusals:
        return ""
    case, why = refusals[0]
    if len(refusals) == len(cases):
        raise Failed(
            f"the reference refuses every state whose {leaf.path} alone is another value within its bounds, as "
            f"{_value(leaf, case)}: {why}\nnext: let `restore` take it, or leave the bounds of {leaf.path} out of task.toml"
        )
    return f"{len(refusals)} of {len(cases)} states are refused, as with {_value(leaf, case)}"


def _moved(kit: Kit, leaf: Leaf, picks: Sequence[tuple[Trajectory, int]]) -> list[Case]:
    rng = np.random.default_rng(0)
    # What is legal may be otherwise in another state.
    steps = 0 if kit.task.masked else 1
    bounds = [np.broadcast_to(np.asarray(bound, leaf.dtype), leaf.shape) for bound in (leaf.low, leaf.high)]
    finite = [bound for bound in bounds if np.isfinite(bound).all()]
    cases = []
    for episode, timestep in picks:
        actions = {path: array[timestep : timestep + steps] for path, array in episode.case.actions.items()}
        for value in (*finite, *anywhere(leaf, rng, MOVES - len(finite))):
            cases.append(Case(0, actions, start={**episode.state(timestep), leaf.path: value}))
    return cases


def _unanswered(kit: Kit, leaf: Leaf, cases: Sequence[Case], failure: EnvironmentFailure) -> Failed:
    """The failure with the first state that shows it alone."""
    for case in cases:
        try:
            kit.answers([case])
        except EnvironmentFailure as alone:
            return Failed(f"from a state within the bounds of task.toml, with {_value(leaf, case)}: {alone}")
    return Failed(f"from states with another {leaf.path} within its bounds: {failure}")


def _value(leaf: Leaf, case: Case) -> str:
    assert case.start is not None
    value: Array = np.asarray(case.start[leaf.path])
    return f"{leaf.path} = {' '.join(np.array2string(value, separator=', ', threshold=8).split())}"
