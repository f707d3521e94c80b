"""Whether a candidate steps by itself as it does from the states that it comes to: the other half of resynchronised steps.

Where each step begins at a given state, what a candidate keeps beside its state is never seen. So it also plays whole
episodes by itself, and is then restored to each state that it came to. Both are its own steps: nothing that floats enlarge
lies between them.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.model import Trajectory
from harness.verdict import Divergence
from harness.verify.leaf_grids import grid_of
from harness.verify.pair import Pair


def strayed(pair: Pair, expected: Sequence[Trajectory], level: int, check: str) -> Divergence | None:
    """The first of the candidate's own steps that is another when it is restored to the state before it, or None.

    Args:
        expected: trajectories of the reference, whose actions and draws it takes.
    """
    alone = pair.follow_alone(expected)
    restored = pair.led(pair.candidate.rollout, alone)
    differences = pair.differences(restored, alone)
    failing = [(found.step, number) for number, found in enumerate(differences) if found is not None]
    if not failing:
        return None
    number = min(failing)[1]
    found, one = differences[number], alone[number]
    assert found is not None
    return Divergence(
        one.case.cut(found.step), found.step, found.path, found.expected,
        found.actual + (f" ({found.gap})" if found.gap else ""), "restored", level, check, index=found.index,
        grid=grid_of(restored[number].leaves, one.leaves, found, pair.task.tolerances),
        cause="by itself the candidate comes to a state and steps on otherwise than when it is restored to that very state: "
        "it keeps something that `encode` does not show, or `decode` does not take up",
    )  # fmt: skip
