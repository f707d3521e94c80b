"""For how long two runs of one environment can be compared that nobody brings together again.

Floats that are rounded otherwise part: slowly at first, and in a chaotic environment by a factor in each step. What can be
compared then is the beginning. How long that is, is measured on the reference: it plays against itself from a state that is
a little off.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from harness.errors import Raised
from harness.model import STATE, Array, Case, Trajectory
from harness.verify.adjacent import units_off
from harness.verify.pair import Pair

OFF = (1 << 12, 1 << 6, 1)
"""By so many units in the last place each float of the other start is off: of its dtype, or of the coarser one in which the
candidate computes. Thousands are as much as the steps that follow may add where another compiler rounds them otherwise;
fewer are taken where the tolerances do not forgive that at the start.
"""
MOST = 8


def comparable_steps(pair: Pair, episodes: Sequence[Trajectory]) -> int:
    """After how many steps from a reset the reference is still within the tolerances of itself, in each of some episodes;
    all of them, where the tolerances do not forgive one unit in the last place at the start, or the reference refuses every
    start that is off.

    Args:
        episodes: with leaves of the state, and with draws where there is a tape.
    """
    some = episodes[:: max(1, len(episodes) // MOST)][:MOST]
    plain = pair.reference.rollout([_from_start(pair, one, 0) for one in some])
    for off in OFF:
        try:
            moved = pair.reference.rollout([_from_start(pair, one, off) for one in some])
        except Raised:
            continue
        found = agreed_steps(pair, plain, moved)
        if min(found) >= 0:
            return min(found)
    return max(one.steps for one in episodes)


def parted_steps(pair: Pair, expected: Sequence[Trajectory], alone: Sequence[Trajectory]) -> list[tuple[int, int]]:
    """Of each episode for how many steps a candidate that nobody leads agrees with the reference, and for how many the
    reference does with itself; nothing where the reference takes no draws, or refuses to start a little off.
    """
    if not pair.reference_takes_draws:
        return []
    try:
        own = own_steps(pair, expected)
    except Raised:
        return []
    return list(zip(agreed_steps(pair, expected, alone), own, strict=True))


def own_steps(pair: Pair, episodes: Sequence[Trajectory]) -> list[int]:
    """For how many steps the reference agrees with itself in each episode, if it starts a unit in the last place off."""
    plain, moved = (pair.reference.rollout([_from_start(pair, one, off) for one in episodes]) for off in (0, 1))
    return agreed_steps(pair, plain, moved)


def agreed_steps(pair: Pair, expected: Sequence[Trajectory], actual: Sequence[Trajectory]) -> list[int]:
    """For how many steps both are within the tolerances of each other in what a user sees; -1 where the reset differs."""
    seen = [path for path in pair.task.outputs if not path.startswith(STATE)]
    found = pair.differences(expected, actual, only=seen)
    return [one.steps if parted is None else parted.step - 1 for one, parted in zip(expected, found, strict=True)]


def _from_start(pair: Pair, episode: Trajectory, off: int) -> Case:
    draws = None if episode.draws is None else ((), *episode.draws[1:])
    precision = pair.task.candidate.precision
    start = {path: units_off(np.asarray(value), off, precision) for path, value in episode.state(0).items()}
    return replace(episode.case, start=start, draws=draws)


def together(ended: Array, steps: int) -> int:
    """How many rows of one place of a batch can be compared, if each episode can for so many steps.

    Args:
        ended: whether an episode ended in a step, bool `[timesteps]`. The next begins in the same row.
    """
    begins = 0
    for end in np.flatnonzero(ended[1:]) + 1:
        if end - begins > steps:
            break
        begins = int(end)
    return min(len(ended), begins + steps + 1)
