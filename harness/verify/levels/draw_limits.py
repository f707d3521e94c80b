"""Level 2: the limits inside chance, to the last bit.

A step that fails once in 200 times has a limit like any other: the number that chance drew is below it, or is not. So each
number of a step's draws is moved to the ends of its stated law, and where another thing happens there, the reference is
asked for the two adjacent numbers at which it turns over. Candidate and reference take the step with both, and with one more
on either side. A chance of 0.0061 in place of 0.006 shows itself here, and in episodes by luck alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

import numpy as np

from harness.model import Case, Trajectory
from harness.task.law_values import ends
from harness.verdict import CheckResult, Outcome
from harness.verify.adjacent import Ends, number_at, place_of
from harness.verify.forcing import Forcing, Moved, Slot
from harness.verify.levels.beside import AWAY
from harness.verify.levels.boundaries import DRAWS, ORIGIN, compared, listed
from harness.verify.pair import Pair, step_case
from harness.verify.refusals import answered
from harness.verify.resynchronised import inexact_leaf

NAME = "limits of draws"
STARTS = 4
"""States whose steps are looked at, as a multiple of the task's budget of sequences."""
RARE_SHARE = 0.5
SLOTS = 4
"""Numbers of one timestep's draws that are moved, each by itself."""
NEW = 8
"""Steps with draws that none of the others has, of which so many are moved on from."""
TRIED = 60
"""Numbers that are tried in all searches together, as a multiple of the task's budget of sequences."""
NEAR = 1 << 10
"""A float of the outcome that does not change with the first one part in so many of the way depends on a limit alone."""


@dataclass(frozen=True)
class Search:
    """A number of a case's draws on its way from the value that it had to an end of its law.

    Attributes:
        case: one step, with all of its draws.
        dtype: of the number; its values are counted as places (`harness.verify.adjacent`).
        begin, end: the places of both.
        paths: what is another at the end than where it begins.
        first: what each of these is there.
    """

    case: Case
    slot: Slot
    name: str
    dtype: np.dtype[Any]
    begin: int
    end: int
    paths: tuple[str, ...] = ()
    first: tuple[bytes, ...] = ()

    @property
    def near(self) -> int:
        """The place that is one part in NEAR of the way from its beginning, and the next one at least."""
        way = self.end - self.begin
        return self.begin + (way // NEAR or (1 if way > 0 else -1))

    def at(self, place: int) -> Moved:
        """The case with the number at a place."""
        return Moved(self.case, self.slot, number_at(place, self.dtype))


def possible(pair: Pair) -> bool:
    """Whether there are draws with stated laws."""
    return Forcing.possible(pair.task, "reset", "step")


def check(pair: Pair) -> CheckResult:
    """Find limits on the reference, and compare both sides on them."""
    forcing = Forcing(pair.task, pair.reference)
    turns = _limits(forcing, _in_turns(_turning(pair, forcing)), TRIED * pair.task.budgets.sequences)
    inexact = inexact_leaf(pair.task)
    beside = inexact is not None or pair.task.candidate.narrow
    asked = [search.at(place) for search, between in turns for place in around(search, between, beside)]
    expected = [trajectory for trajectory in forcing.play(asked) if trajectory is not None]
    if not expected:
        return CheckResult(NAME, Outcome.SKIPPED, detail="no outcome of a step turns over within the laws of its draws")
    why = f"; beside them, as {inexact or 'a float'} may be off by a tolerance, or narrower" if beside else ""
    told = listed(search.name for search, _ in turns)
    return compared(pair, NAME, expected, f"{len(turns)} limits: {told}{why}")


def _turning(pair: Pair, forcing: Forcing) -> list[Search]:
    """All searches from some steps and resets that end with another outcome than they begin with.

    What is drawn only at the end of a search is moved from there in its turn.
    """
    steps, rng = _steps(pair), pair.random(f"{NAME}/slots")
    for played in steps:
        forcing.learn(played)
    known = {_names(played) for played in steps}
    found, new = [], Counter[bytes]()
    while steps:
        ways = [(way, played) for played in steps for way in _ways(pair, forcing, played, rng)]
        steps = []
        for search, last in _ended(forcing, ways):
            if search.paths:
                found.append(search)
            if (names := _names(last)) not in known and new[names] < NEW:
                new[names] += 1
                steps.append(last)
    return found


def _steps(pair: Pair) -> list[Trajectory]:
    """Steps from states near those that episodes reach and rare ones, and the first steps of episodes."""
    count = pair.task.budgets.sequences
    cases = [trajectory.case.cut(1) for trajectory in pair.few_episodes]
    if pair.can_restore and Forcing.possible(pair.task, "step"):
        near = pair.starts.near(f"{NAME}/states", STARTS * count, rare=RARE_SHARE)
        seeds = pair.seeds(f"{NAME}/seeds", len(near))
        cases += [step_case(*start, seed, ORIGIN) for start, seed in zip(near, seeds, strict=True)]
    return [played for played in answered(pair.reference.rollout, cases) if played is not None and played.steps]


def _ways(pair: Pair, forcing: Forcing, played: Trajectory, rng: np.random.Generator) -> Iterator[Search]:
    """The ways of some numbers of a step's draws, or of a reset's, to both ends of their laws."""
    assert played.draws is not None
    timestep = 0 if played.case.start is None else 1
    draws = played.draws[timestep]
    count = forcing.count(draws)
    for which in rng.choice(count, min(SLOTS, count), replace=False) if count else ():
        slot = forcing.slot(draws, timestep, int(which))
        draw = draws[slot.number]
        dtype = draw.value.dtype
        if dtype.kind == "b":
            continue
        begin = place_of(draw.value.flat[slot.index], dtype)
        case = replace(played.case.cut(1), draws=played.draws)
        for end in ends(pair.task.draws[draw.name]):
            if (last := place_of(end, dtype)) != begin:
                yield Search(case, slot, draw.name, dtype, begin, last)


def _ended(forcing: Forcing, ways: Sequence[tuple[Search, Trajectory]]) -> Iterator[tuple[Search, Trajectory]]:
    """Searches with what turns over on their way, from what was played to what is at the end, and what is there.

    Of a float it is looked whether it rests where the search begins.
    """
    lasts = forcing.play([way.at(way.end) for way, _ in ways])
    nears = forcing.play([way.at(way.near) for way, _ in ways])
    for (way, played), last, near in zip(ways, lasts, nears, strict=True):
        if last is not None:
            timestep = way.slot.timestep
            before, after = _outcome(played, timestep), _outcome(last, timestep)
            told = {} if near is None else _outcome(near, timestep)
            rests = {path for path in before if not _is_float(played, path) or told.get(path) == before[path]}
            changed = [path for path in before if before[path] != after[path] and path in rests]
            yield replace(way, paths=tuple(changed), first=tuple(before[path] for path in changed)), last


def _outcome(played: Trajectory, timestep: int) -> dict[str, bytes]:
    """What a timestep is, leaf by leaf, and the names of all that was drawn."""
    return {DRAWS: _names(played), **{path: array[timestep].tobytes() for path, array in played.leaves.items()}}


def _names(played: Trajectory) -> bytes:
    return repr([[draw.name for draw in draws] for draws in played.draws or ()]).encode()


def _is_float(played: Trajectory, path: str) -> bool:
    return path != DRAWS and played.leaves[path].dtype.kind == "f"


def _limits(forcing: Forcing, searches: Sequence[Search], most: int) -> list[tuple[Search, Ends]]:
    """Searches with the two adjacent places between which all turns over, until `most` numbers were tried.

    Where limits of a draw are known, another search looks beside these first: most steps have one of few limits, so many
    states can be tried.
    """
    known: dict[str, set[int]] = {}
    found = []
    for search in searches:
        places = known.setdefault(search.name, set())
        same, other = search.begin, search.end
        while abs(same - other) > 1 and most > 0:
            between = sorted(place for place in places if min(same, other) < place < max(same, other))
            middle = between[len(between) // 2] if between else (same + other) // 2
            [played] = forcing.play([search.at(middle)])
            most -= 1
            if played is None:
                break
            outcome = _outcome(played, search.slot.timestep)
            if tuple(outcome[path] for path in search.paths) == search.first:
                same = middle
            else:
                other = middle
        if abs(same - other) <= 1:
            places |= {same, other}
            found.append((search, (same, other)))
    return found


def _in_turns(searches: Sequence[Search]) -> list[Search]:
    """The searches in another order: of all kinds one, then one more of each; a kind is where a number is drawn, and what it
    turns over.
    """
    kinds: dict[tuple[Any, ...], list[Search]] = {}
    for search in searches:
        kinds.setdefault((search.name, search.slot.timestep, search.begin < search.end, search.paths), []).append(
            search
        )
    ordered = sorted(kinds.values(), key=len)
    return [search for turn in zip_longest(*ordered) for search in turn if search is not None]


def around(search: Search, between: Ends, beside: bool) -> list[int]:
    """The two places between which an outcome turns over, and the next on either side; where floats may be off by a
    tolerance, places a little further away, as a candidate may compute chances in float32.
    """
    low, high = sorted((search.begin, search.end))
    places = range(min(between) - 1, max(between) + 2)
    if beside and search.dtype.kind == "f":
        below, above = (number_at(place, search.dtype) for place in (min(between), max(between)))
        reach = AWAY[0] * np.spacing(np.abs(np.float32(below)))
        places = [place_of(search.dtype.type(value), search.dtype) for value in (below - reach, above + reach)]
    return [place for place in places if low <= place <= high]
