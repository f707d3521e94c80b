"""Level 2: the limits inside a step, to the last bit.

Where two states lie on both sides of a limit, a step from the one has another outcome than a step from the other: it ends
the episode, scores, or turns a ball around. In a row of states between them the reference is asked for the two adjacent ones
at which the outcome turns over. Candidate and reference are compared there, and one state further on either side. A
candidate sees only these, once and in large batches; random states hardly ever come so near.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from harness.model import STATE, Array, Case, Leaf, Trajectory, is_reward
from harness.task.contract import Task
from harness.verdict import CheckResult, Outcome
from harness.verify.adjacent import Ends, turning_points
from harness.verify.levels import beside
from harness.verify.levels.rows import Row, rows_from, starts
from harness.verify.localise import localise
from harness.verify.pair import Pair, step_case
from harness.verify.refusals import answered
from harness.verify.resynchronised import inexact_leaf

LEVEL = 2
NAME = "boundaries"
ORIGIN = "level 2"
STARTS = 2
"""States from which rows begin, as a multiple of the task's budget of sequences."""
TRIED = 4
"""Of so many times as many states those are taken, from which steps have all kinds of outcomes."""
ROWS = 20
"""Rows from each of these states."""
FEW_REWARDS = 16
"""Up to so many different rewards each is an outcome of its own; of more only the sign is."""
BITS = 160
"""Rounds of halving in all rows together, as a multiple of the task's budget of sequences: 64 are those of one float64."""
MOST_NUMBERS = 64
"""Of an array so many are looked at where turns are chosen that lie apart."""
SIDES = 3
"""Below a median, at it, above."""
DRAWS = "draws"
"""How many draws a step consumes is an outcome, too."""


Kind = tuple[str, str, float, float]


@dataclass(frozen=True)
class Turn:
    """An outcome that is another at the end of a row than where it begins.

    Attributes:
        path: the leaf that shows it, or `DRAWS`.
        below, above: the outcome at the lower and at the higher end, of a whole number only 0 and 1 (1 and 0), by which is
            more: a limit above and one below are two limits.
        trend: whether only the direction in which a number moves is another.
        first: the outcome where the row begins.
    """

    row: Row
    path: str
    below: float
    above: float
    trend: bool
    first: Array

    @property
    def kind(self) -> Kind:
        """Turns of one kind are mostly those of one rule."""
        return self.path, self.row.path, self.below, self.above


def possible(pair: Pair) -> bool:
    """Whether single steps can be compared, and the state has floats that can be moved."""
    return pair.can_restore and pair.paired and any(map(_is_float, pair.task.state.values()))


def check(pair: Pair) -> CheckResult:
    """Find boundaries on the reference, and compare both sides on them."""
    found, few_rewards = boundaries(pair)
    inexact = inexact_leaf(pair.task)
    if inexact is None:
        cases = [_case(turn.row, place) for turn, ends in found for place in _around(turn.row, ends)]
        expected = [played for played in _played(pair, cases) if played is not None]
    else:
        expected = _beside(pair, found, few_rewards)
    if not expected:
        return CheckResult(NAME, Outcome.SKIPPED, detail="no outcome of a step turns over between the states tried")
    why = "" if inexact is None else f"; beside them, as {inexact} may be off by a tolerance"
    told = listed(turn.path.removeprefix(STATE) for turn, _ in found)
    return compared(pair, NAME, expected, f"{len(found)} boundaries: {told}{why}")


def listed(names: Iterable[str]) -> str:
    """Each name with how often it is there."""
    return ", ".join(f"{name} {count}" for name, count in sorted(Counter(names).items()))


def compared(pair: Pair, name: str, expected: Sequence[Trajectory], detail: str) -> CheckResult:
    """Compare both sides where limits were found; `expected` is what the reference did there.

    Args:
        name: of the check.
        detail: what is to be said where both sides are equal.
    """
    pair.witness(expected)
    # About as many sequences from states, and as long as this, were swept before: what was compiled for them fits these.
    room = (6 * pair.task.budgets.sequences, pair.task.budgets.sequence_length)
    parts = [expected[first : first + room[0]] for first in range(0, len(expected), room[0])]
    actual = [answer for part in parts for answer in pair.follow(part, room=room)]
    differences = pair.differences(expected, actual, counted=True)
    for trajectory, difference in zip(expected, differences, strict=True):
        if difference is not None:
            divergence = localise(pair, trajectory, difference, level=LEVEL, check=name)
            return CheckResult(name, Outcome.FAIL, examples=len(expected), divergences=(divergence,))
    return CheckResult(name, Outcome.PASS, examples=len(expected), detail=detail)


def boundaries(pair: Pair) -> tuple[list[tuple[Turn, Ends]], bool]:
    """Turns, each with the two adjacent places of its row between which it lies, and whether rewards are few; only the
    reference is asked.
    """
    sequences = pair.task.budgets.sequences
    rounds = max(8 * np.dtype(leaf.dtype).itemsize for leaf in pair.task.state.values() if _is_float(leaf))
    turns, few_rewards = _turns(pair, STARTS * sequences)
    turns = spread(turns, BITS * sequences // rounds)

    def at_first_end(asked: Sequence[tuple[int, int]]) -> list[bool | None]:
        answers = _played(pair, [_case(turns[number].row, place) for number, place in asked])
        return [
            None
            if played is None
            else np.array_equal(_outcome(played, turn.path, turn.row.path, few_rewards), turn.first)
            for turn, played in zip((turns[number] for number, _ in asked), answers, strict=True)
        ]

    found = turning_points([(turn.row.begin, turn.row.end) for turn in turns], at_first_end)
    return [(turn, ends) for turn, ends in zip(turns, found, strict=True) if ends is not None], few_rewards


def _beside(pair: Pair, found: Sequence[tuple[Turn, Ends]], few_rewards: bool) -> list[Trajectory]:
    """What the reference does beside limits, as far as it does the same all around."""
    rng = pair.random(f"{NAME}/corners")
    cases = [
        (turn, _case(turn.row, place)) for turn, ends in found for place in beside.places(pair.task, turn.row, ends)
    ]
    around = [[case, *beside.corners(pair.task, case, rng)] for _, case in cases]
    answers = iter(_played(pair, [case for each in around for case in each]))
    told = [path for path, leaf in pair.task.outputs.items() if is_reward(path) or not _is_float(leaf)]

    def alike(turn: Turn, one: Trajectory, other: Trajectory | None) -> bool:
        def outcome(of: Trajectory, path: str) -> Array:
            return _outcome(of, path, turn.row.path, few_rewards)

        return other is not None and all(
            np.array_equal(outcome(one, path), outcome(other, path)) for path in (*told, turn.path)
        )

    certain = []
    for (turn, _), each in zip(cases, around, strict=True):
        first, *others = [next(answers) for _ in each]
        if first is not None and all(alike(turn, first, other) for other in others):
            certain.append(first)
    return certain


def spread(turns: Sequence[Turn], most: int) -> list[Turn]:
    """At most `most` turns, one of each row, so that of each kind there are about as many.

    What turns over in one row together is mostly one boundary. So a row that is taken counts for all its kinds, and the next
    is one of the kind that counts least, among equals of the rarest. Of one kind turns are taken all over the state: a limit
    may be wrong only where another number is small, or below zero.
    """
    sides = _sides(turns)
    kinds: dict[Kind, list[Turn]] = {}
    rows: dict[int, list[Turn]] = {}
    for turn in turns:
        kinds.setdefault(turn.kind, []).append(turn)
        rows.setdefault(id(turn.row), []).append(turn)
    waiting = {
        kind: _Waiting(alike, np.stack([sides[id(turn.row)] for turn in alike])) for kind, alike in kinds.items()
    }
    order = sorted(kinds, key=lambda kind: (len(kinds[kind]), kind))
    count = Counter({kind: 2 for kind in order if kinds[kind][0].trend})  # as if some had been taken
    chosen: list[Turn] = []
    while order and len(chosen) < most:
        kind = min(order, key=lambda each: count[each])
        turn = waiting[kind].take()
        if not waiting[kind].left.any():
            order.remove(kind)
        if together := rows.pop(id(turn.row), None):
            chosen.append(turn)
            for each in together:
                count[each.kind] += 2 if each.trend else 1
    return chosen


class _Waiting:
    """Turns of one kind: each that is taken is one of those whose surroundings were met least.

    Args:
        sides: `[N, E]` of the N turns: on which side of its median each of E numbers is.
    """

    def __init__(self, turns: Sequence[Turn], sides: Array) -> None:
        self.left = np.ones(len(turns), bool)
        self._turns, self._sides = turns, sides
        places: dict[bytes, int] = {}
        self._place = np.array([places.setdefault(row.tobytes(), len(places)) for row in sides])
        self._met_together = np.zeros(len(places), np.int64)
        self._met = np.zeros((sides.shape[1], SIDES), np.int64)

    def take(self) -> Turn:
        """The next one: where all numbers together were met least, among equals where each by itself was."""
        each = np.arange(self._sides.shape[1])
        alone = self._met[each, self._sides].sum(axis=1)
        number = int(np.lexsort((alone, self._met_together[self._place], ~self.left))[0])
        self.left[number] = False
        self._met_together[self._place[number]] += 1
        self._met[each, self._sides[number]] += 1
        return self._turns[number]


def _sides(turns: Sequence[Turn]) -> dict[int, Array]:
    """For each row, by its id: whether each number of the state is below its median, at it, or above, where the row begins;
    that which moves is not looked at."""
    rows = {id(turn.row): turn.row for turn in turns}
    sides: dict[int, list[Array]] = {number: [np.zeros(0, np.int64)] for number in rows}
    for path in next(iter(rows.values())).start.state if rows else ():
        values = np.stack([row.start.state[path].ravel()[:MOST_NUMBERS] for row in rows.values()]).astype(np.float64)
        median = np.median(values, axis=0)
        above = (values >= median).astype(np.int64) + (values > median)
        for (number, row), side in zip(rows.items(), above, strict=True):
            sides[number].append(np.zeros_like(side) if path == row.path else side)
    return {number: np.concatenate(each) for number, each in sides.items()}


def _turns(pair: Pair, count: int) -> tuple[list[Turn], bool]:
    """What turns over between the ends of rows from `count` states, and whether rewards are few."""
    candidates = starts(pair, NAME, TRIED * count)
    steps = _played(pair, [step_case(start.state, start.action, start.seed, ORIGIN) for start in candidates])
    few_rewards = all(
        len({played.leaves[path][-1].item() for played in steps if played is not None}) <= FEW_REWARDS
        for path in pair.task.rewards
    )
    watched = [path for path, leaf in pair.task.outputs.items() if _shows_turns(leaf)] + [DRAWS]
    begun = _of_all_outcomes(pair.task, steps, watched, few_rewards, count)
    rng = pair.random(f"{NAME}/rows")
    others = rng.permutation(len(candidates))
    rows = [
        (row, steps[number])
        for number, other in zip(begun, others, strict=False)
        for row in rows_from(candidates[number], candidates[other], pair.task.state, rng, ROWS)
    ]
    turns: list[Turn] = []
    for (row, first), last in zip(rows, _played(pair, [_case(row, row.end) for row, _ in rows]), strict=True):
        if first is not None and last is not None:
            found = [turn for path in watched for turn in _turn(row, path, first, last, few_rewards)]
            # What happens beside a point or an end tells nothing of its own.
            turns += [turn for turn in found if not turn.trend] or found
    return turns, few_rewards


def _of_all_outcomes(
    task: Task, steps: Sequence[Trajectory | None], watched: Sequence[str], few_rewards: bool, count: int
) -> list[int]:
    """The numbers of `count` steps at most, of each outcome about as many: most have the same one, far from any limit."""
    told = [path for path in watched if path not in task.state or not _is_float(task.state[path])]
    waiting: dict[tuple[bytes, ...], list[int]] = {}
    for number, played in enumerate(steps):
        if played is not None:
            outcome = tuple(_outcome(played, path, path, few_rewards).tobytes() for path in told)
            waiting.setdefault(outcome, []).append(number)
    chosen: list[int] = []
    while waiting and len(chosen) < count:
        chosen += [numbers.pop(0) for numbers in waiting.values()]
        waiting = {outcome: numbers for outcome, numbers in waiting.items() if numbers}
    return chosen[:count]


def _turn(row: Row, path: str, first: Trajectory, last: Trajectory, few_rewards: bool) -> Iterator[Turn]:
    """The turn of one leaf between the ends of a row, where there is one."""
    before, after = _outcome(first, path, row.path, few_rewards), _outcome(last, path, row.path, few_rewards)
    changed = np.flatnonzero(before != after)
    if changed.size:
        ends = float(before[changed[0]]), float(after[changed[0]])
        below, above = ends if row.begin < row.end else ends[::-1]
        trend = path in first.leaves and _is_trend(first.leaves[path], path, row.path)
        if not trend and not is_reward(path):
            below, above = float(below > above), float(above > below)
        yield Turn(row, path, below, above, trend, before)


def _outcome(played: Trajectory, path: str, moved: str, few_rewards: bool) -> Array:
    """What counts of a leaf as the outcome of a step, flat.

    Booleans and whole numbers count as they are, and those of the state by how far they moved. Of a float of the state, of a
    whole number that is itself `moved`, and of one of many rewards, only the direction counts.
    """
    if path == DRAWS:
        return np.array([0 if played.draws is None else len(played.draws[-1])])
    before, after = played.leaves[path][0].ravel(), played.leaves[path][-1].ravel()
    if is_reward(path):
        return after if few_rewards else np.sign(after)
    if _is_trend(after, path, moved):
        return (after > before).astype(np.int8) - (after < before)
    return after - before if path.startswith(STATE) and after.dtype.kind != "b" else after


def _is_trend(values: Array, path: str, moved: str) -> bool:
    return path.startswith(STATE) and (values.dtype.kind == "f" or path == moved)


def _shows_turns(leaf: Leaf) -> bool:
    return is_reward(leaf.path) or leaf.path.startswith(STATE) or not _is_float(leaf)


def _is_float(leaf: Leaf) -> bool:
    return np.dtype(leaf.dtype).kind == "f"


def _around(row: Row, ends: Ends) -> list[int]:
    """The two places between which an outcome turns over, and the next on either side where the row has one."""
    low, high = sorted((row.begin, row.end))
    return [place for place in range(min(ends) - 1, max(ends) + 2) if low <= place <= high]


def _case(row: Row, place: int) -> Case:
    return step_case(row.state_at(place), row.start.action, row.start.seed, ORIGIN)


def _played(pair: Pair, cases: Sequence[Case]) -> list[Trajectory | None]:
    """What the reference does in these cases; None for those that it refuses.

    The seed is the same in a whole row, and with it what a step draws.
    """
    return answered(pair.reference.rollout, cases)
