"""Whether a candidate steps by itself as the reference does from the states that the candidate comes to: the other half of
resynchronised steps.

Where each step begins at a state of the reference, two things are never seen: what a candidate keeps beside its state, and
what it does in states of its own, which it may tell apart by bits that the tolerance forgives. So it also plays whole
episodes by itself, and the reference is led along the states that it came to. Each pair of steps has one begin: nothing that
floats enlarge lies between them.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.compare import Difference
from harness.model import Case, Trajectory
from harness.verdict import Divergence
from harness.verify.leaf_grids import grid_of
from harness.verify.pair import Pair
from harness.verify.refusals import answered
from harness.verify.resynchronised import Play

KEPT = (
    "by itself the candidate comes to a state and steps on otherwise than when it is restored to that very state: it keeps "
    "something that `encode` does not show, or `decode` does not take up"
)
OWN = (
    "from a state that the candidate came to by itself it steps on otherwise than the reference does from that very state: "
    "what it does must not depend on how a state was come to, nor on bits that the tolerance forgives"
)


def strayed(pair: Pair, expected: Sequence[Trajectory], level: int, check: str) -> Divergence | None:
    """The first of the candidate's own steps that is another from the state before it, or None.

    Args:
        expected: trajectories of the reference, whose actions and draws it takes.
    """
    alone = pair.follow_alone(expected)
    led, differences = held_alone(pair, alone)
    failing = [(found.step, number) for number, found in enumerate(differences) if found is not None]
    if not failing:
        return None
    number = min(failing)[1]
    found, one = differences[number], alone[number]
    assert found is not None
    kept = pair.differences(pair.led(pair.candidate.rollout, [one]), [one]) != [None]
    return Divergence(
        one.case.cut(found.step), found.step, found.path, found.expected,
        found.actual + (f" ({found.gap})" if found.gap else ""), "restored", level, check, index=found.index,
        grid=grid_of(led[number].leaves, one.leaves, found, pair.task.tolerances), cause=KEPT if kept else OWN,
    )  # fmt: skip


def held_alone(pair: Pair, alone: Sequence[Trajectory]) -> tuple[list[Trajectory], list[Difference | None]]:
    """What the reference comes to from each state of trajectories that the candidate played by itself, and of each the first
    difference. A reference that takes no draws cannot be asked: then it is the candidate itself that is restored.
    """
    asked = pair.reference_takes_draws
    led = pair.led(from_any_state(pair) if asked else pair.candidate.rollout, alone)
    return led, pair.differences(led, alone, counted=asked)


def from_any_state(pair: Pair) -> Play:
    """What answers cases from states that the candidate came to: the reference, and where it refuses one, the candidate."""

    def play(cases: Sequence[Case]) -> list[Trajectory]:
        answers = answered(pair.reference.rollout, cases)
        refused = [case for case, answer in zip(cases, answers, strict=True) if answer is None]
        restored = iter(pair.candidate.rollout(refused) if refused else ())
        return [next(restored) if answer is None else answer for answer in answers]

    return play
