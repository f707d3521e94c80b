"""Does something that was asked before, in this process or in another, show in an episode?

An episode is its seed's and its actions' alone. What survives a reset shows seldom: after one episode in twenty, for one
seed in a hundred. So many seeds are played, each a few steps far, again after each kind of thing that may come before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from harness.authoring.conformance.kit import Failed, Kit, Passed, divergence, shown
from harness.authoring.conformance.predecessors import calls_before, episodes_before
from harness.compare import Difference, compare
from harness.model import Case, Trajectory
from harness.protocol.environment import Environment

SEEDS = 200
STEPS = 16
"""What survives a reset mostly shows soon: a number that is read before it is written, or chance that goes on."""
MOST_STEPS = 20_000
"""Beyond so many steps no further round of predecessors is begun."""
AFTER_CALLS = 20
"""So many seeds are played after each call that is no episode."""


@dataclass(frozen=True)
class _Turn:
    """A seed's turn: its beginning as it was first, where it is played this time, and the episode just before if any."""

    first: Trajectory
    where: str
    before: Case | None = None


@dataclass(frozen=True)
class _Leak:
    turn: _Turn
    difference: Difference


def forgets_what_came_before(kit: Kit) -> Passed:
    """Many seeds begin the same after other predecessors, in other orders, in other processes."""
    kinds = episodes_before(kit)
    with kit.fresh() as process:
        firsts = process.drive("random", range(1, SEEDS + 1), min(STEPS, kit.horizon))
    leaks: list[_Leak] = []
    shuffled = [firsts[number] for number in np.random.default_rng(0).permutation(SEEDS)]
    for where, order in (("in another order and process", shuffled), ("backwards, in a third process", firsts[::-1])):
        with kit.fresh() as process:
            leaks += _changed(kit, process, [_Turn(first, where) for first in order])
    rounds, steps = 0, 0
    while rounds < len(kinds) and steps < MOST_STEPS:
        turns = []
        for number, first in enumerate(firsts):
            kind, make = kinds[(number + rounds) % len(kinds)]
            turns.append(_Turn(first, f"after {kind}", make(number, first.case)))
        leaks += _changed(kit, kit.environment, turns)
        steps += sum(turn.before.length + turn.first.steps for turn in turns if turn.before is not None)
        rounds += 1
    calls = calls_before(kit)
    for name, call in calls:
        for first in firsts[:AFTER_CALLS]:
            call()
            leaks += _changed(kit, kit.environment, [_Turn(first, f"after {name}")])
    if leaks:
        raise _failed(kit, firsts, leaks)
    said = "; ".join(name for name, _ in (*kinds, *calls))
    return Passed(
        (3 + rounds) * SEEDS + len(calls) * AFTER_CALLS, f"{SEEDS} seeds in 3 orders and processes, and after: {said}"
    )


def _changed(kit: Kit, environment: Environment, turns: Sequence[_Turn]) -> list[_Leak]:
    """Play the turns one after the other in one process; the beginnings that are not what they were first."""
    cases = [case for turn in turns for case in (turn.before, turn.first.case) if case is not None]
    played = iter(environment.rollout(cases))
    leaks = []
    for turn in turns:
        if turn.before is not None:
            next(played)
        difference = compare(turn.first, next(played), kit.spec.outputs, {})
        if difference is not None:
            leaks.append(_Leak(turn, difference))
    return leaks


def _failed(kit: Kit, firsts: Sequence[Trajectory], leaks: Sequence[_Leak]) -> Failed:
    """The failure: how many seeds, where, and one of them with the least that makes it recur."""
    seeds = {leak.turn.first.case.seed for leak in leaks}
    one_of_each = {leak.turn.where: leak for leak in reversed(leaks)}
    leak, cause = _cause(kit, firsts, [*one_of_each.values()][::-1])
    case = leak.turn.first.case
    why = f"{len(seeds)} of {SEEDS} seeds begin otherwise {', '.join(reversed(one_of_each))}"
    found = f"seed {case.seed}, {leak.turn.where}: {shown(leak.difference)}"
    return Failed(f"{why}. {found}. {cause}", divergence(case, leak.difference, f"{why}. {cause}"))


def _cause(kit: Kit, firsts: Sequence[Trajectory], leaks: Sequence[_Leak]) -> tuple[_Leak, str]:
    """The leak that recurs in a fresh process, and what that says of its cause."""
    for number, leak in enumerate(leaks):
        case = leak.turn.first.case
        alone, befores = _last(kit, [case]), [leak.turn.before]
        if number == 0:
            if compare(alone, _last(kit, [case]), kit.spec.outputs, {}) is not None:
                return leak, (
                    "An episode depends on its process, as it is another one each time that a fresh process plays it alone: "
                    "look for chance that is not seeded, the clock, the id of the process, addresses, files that are kept"
                )
            # Also what was played first had something before it, in its process.
            befores += [one.case for one, second in pairwise(firsts) if second is leak.turn.first]
        for before in befores:
            if before is not None and compare(alone, _last(kit, [before, case]), kit.spec.outputs, {}) is not None:
                begun = "a restored state" if before.start is not None else f"seed {before.seed}"
                return leak, (
                    "Something survives a reset, and `reset` has to set it anew. In a fresh process it takes two episodes: "
                    f"{before.length} steps from {begun}, and then seed {case.seed}"
                )
    return leaks[0], (
        "Something outlives more than one episode, as one before it does not make it recur in a fresh process: look for "
        "what counts or collects, at the level of the class or the module, and for what other calls leave behind"
    )


def _last(kit: Kit, cases: Sequence[Case]) -> Trajectory:
    """What the last of some cases is in a fresh process that plays nothing else."""
    with kit.fresh() as process:
        return process.rollout(cases)[-1]
