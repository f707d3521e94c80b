"""Is the canonical state of the reference its whole state, and can it be put back?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.authoring.conformance.kit import Failed, Kit, Passed, Skipped, divergence, shown, without_reset
from harness.authoring.conformance.predecessors import episodes_before
from harness.compare import compare, compare_leaves
from harness.model import STATE, Case, Tape, Trajectory, is_of_step
from harness.task.contract import Mode

SOON = 16
"""So many steps are played of what follows a state after each kind of thing that may come before."""


def restores(kit: Kit) -> Passed:
    """A restored state reads as it did when it was reached, with reward 0 and no end."""
    _demand_restore(kit)
    reached = kit.reached
    starts = [Case(0, kit.environment.no_actions(), start=episode.state(timestep)) for episode, timestep in reached]
    for (episode, timestep), restored in zip(reached, kit.environment.rollout(starts), strict=True):
        expected = {path: array[timestep : timestep + 1] for path, array in episode.leaves.items()}
        for path in filter(is_of_step, kit.spec.outputs):
            expected[path] = np.zeros_like(expected[path])
        difference = compare_leaves(expected, restored.leaves, {})
        if difference is not None:
            why = f"the state of seed {episode.case.seed}, timestep {timestep}, reads differently once it is restored"
            if not difference.path.startswith(STATE) and not is_of_step(difference.path):
                why += "; is there something that the state lacks?"
            raise Failed(f"{why}: {shown(difference)}", divergence(restored.case, difference, why))
    return Passed(len(reached))


def suffices(kit: Kit) -> Passed:
    """Two environments in the same state have the same future, whatever each of them did before."""
    _demand_restore(kit)
    rests = [rest for episode, timestep in kit.reached if (rest := _rest(kit, episode, timestep)) is not None]
    if not rests:
        raise Skipped(
            "without forced draws the future of a restored state is another one each time; that the state is the whole "
            "state is not proven, so a hidden difference may show only in later steps"
        )
    why = "the same state with the same actions and draws has another future: the state lacks something"
    # What was played just before must not show: so an unrelated case goes before each.
    interleaved = [case for rest in rests for case in (kit.cases[-1], rest.case)]
    _demand_same_future(kit, rests, kit.environment.rollout(interleaved)[1::2], why)
    soon = [rest.cut(SOON) for rest in rests]
    for kind, make in episodes_before(kit):
        interleaved = [case for number, rest in enumerate(soon) for case in (make(number, rest.case), rest.case)]
        _demand_same_future(kit, soon, kit.environment.rollout(interleaved)[1::2], f"{why}, as after {kind}")
    with kit.fresh() as other:
        _demand_same_future(kit, rests, other.rollout([rest.case for rest in rests]), f"{why} (in a fresh process)")
    return Passed(len(rests))


def _demand_restore(kit: Kit) -> None:
    if not kit.can("restore"):
        raise Skipped(
            "without the capability restore, tests start only from resets, states at the edge are met only by luck, "
            "and a difference is not confirmed by stepping again from just before it"
        )


def _rest(kit: Kit, episode: Trajectory, timestep: int) -> Trajectory | None:
    """What follows in an episode after a timestep, as a trajectory from that state; None where chance would decide it."""
    end, draws = episode.steps, None
    if kit.task.mode in (Mode.TAPE, Mode.LAW):
        if episode.draws is None:
            return None
        if kit.can("force_draws"):
            draws: Tape | None = ((), *episode.draws[timestep + 1 :])
        else:
            end = next((drawn - 1 for drawn in range(timestep + 1, end + 1) if episode.draws[drawn]), end)
    if end <= timestep:
        return None
    actions = {path: array[timestep:end] for path, array in episode.case.actions.items()}
    case = Case(0, actions, start=episode.state(timestep), draws=draws, origin="conformance")
    leaves = {path: array[timestep : end + 1] for path, array in episode.leaves.items()}
    return Trajectory(case, leaves, None if episode.draws is None else ((), *episode.draws[timestep + 1 : end + 1]))


def _demand_same_future(kit: Kit, expected: Sequence[Trajectory], actual: Sequence[Trajectory], why: str) -> None:
    for one, other in zip(expected, actual, strict=True):
        # Timestep 0 is the restored one, which `restores` looks at.
        difference = compare(without_reset(one), without_reset(other), kit.spec.outputs, {})
        if difference is not None:
            what = f"{difference.step + 1} steps after the state was restored, {shown(difference)}"
            raise Failed(f"{why}: {what}", divergence(one.case, difference, why))
