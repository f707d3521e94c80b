"""Whether steps of the candidate, as its users run it, are right from the states that its user's program shows.

Where floats may be off, that program and the verified batch part after a while, and nothing that both show can be compared
any more. So the program tells the states, too, and the reference is led along these: each step that it shows is judged by
itself, and each state that it claims is what the step before it led to.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from harness.candidate.as_user import FINAL
from harness.compare import Difference, compare_leaves
from harness.model import ENDINGS, Array, Case, Trajectory, is_observed, is_of_step
from harness.verify.levels.by_itself import from_any_state
from harness.verify.pair import Pair
from harness.verify.resynchronised import step_of


def can_be_led(pair: Pair) -> bool:
    """Whether a user's program is asked for its states: one in JAX, whose steps may be off and draw nothing."""
    draws = pair.task.draws.values()
    return pair.resynchronised and pair.task.candidate.kind == "jax" and not any(one.occurs_at("step") for one in draws)


def first_wrong_step(
    pair: Pair, verified: Mapping[str, Array], shown: Mapping[str, Array], actions: Mapping[str, Array]
) -> Difference | None:
    """The first timestep of one sub-environment that is not what the reference comes to from the state before it, or not the
    begin of the verified batch where an episode of both ended; None if there is none.

    Args:
        verified, shown: of the batch and of the program, outputs and state by path, and under `FINAL` + path what the step
            itself led to; each `[timesteps, *leaf shape]`.
        actions: by path, each `[timesteps - 1, *leaf shape]`.
    """
    rows = {path: array for path, array in shown.items() if not path.startswith(FINAL)}
    ended, other = (np.logical_or(*(each[path] for path in ENDINGS)) for each in (shown, verified))
    played = Trajectory(Case(0, actions), rows)
    both: dict[bool, list[tuple[int, Trajectory]]] = {False: [], True: []}
    for step in range(1, len(ended)):
        both[bool(ended[step])].append((step, _step(played, shown, step)))
    # Of a step that ended its episode neither the state is shown, nor what else belongs to the begin of the next one.
    of_ends = {path for path in rows if is_observed(path) or is_of_step(path)}
    found = []
    for at_end, steps in both.items():
        actual = [one for _, one in steps]
        expected = from_any_state(pair)([one.case for one in actual]) if actual else []
        differences = pair.differences(expected, actual, only=frozenset(of_ends if at_end else rows))
        found += [
            replace(difference, step=step - 1 + difference.step)
            for (step, _), difference in zip(steps, differences, strict=True)
            if difference is not None
        ]
    # The same keys begin the same episodes.
    begins = [0, *np.flatnonzero(ended & other)]
    of_begins = [path for path in rows if not is_of_step(path)]
    first, second = ({path: each[path][begins] for path in of_begins} for each in (verified, shown))
    begun = compare_leaves(first, second, pair.task.tolerances)
    if begun is not None:
        found.append(replace(begun, step=int(begins[begun.step])))
    return min(found, key=lambda one: one.step, default=None)


def _step(played: Trajectory, shown: Mapping[str, Array], step: int) -> Trajectory:
    leaves = {path: np.array(array[step - 1 : step + 1]) for path, array in played.leaves.items()}
    for path, leaf in leaves.items():
        if is_of_step(path):
            leaf[0] = 0  # it tells of the step before
        elif is_observed(path):
            leaf[1] = shown[FINAL + path][step]
    return Trajectory(step_of(played, step, forced=False), leaves)
