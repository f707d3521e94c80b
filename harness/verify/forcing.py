"""Chance that is forced: one of a step's draws is moved within its stated law, and the draws after it adapt.

An event that chance brings once in ten thousand steps is a matter of one number; a tape can hold any value of its law. After
another value a step may need other draws than it took: a storm that breaks out has a length, too. What follows is found by
trying: what followed elsewhere after the same draws, and the step's own draws with one more or fewer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np

from harness.model import Array, Case, Draw, Trajectory
from harness.protocol.environment import Environment, Pool
from harness.task.contract import Mode, Task, TaskDraw
from harness.task.law_values import at_quantile
from harness.verify.refusals import answered

MOST_TAILS = 16
"""Other draws that are tried after one that was moved."""
MOST_LEARNED = 64
"""Of a timestep's draws those behind so many are not noted."""
Draws = tuple[Draw, ...]


@dataclass(frozen=True)
class Slot:
    """One number that chance decided: the timestep, the position among its draws, and inside the draw, in a flat view."""

    timestep: int
    number: int
    index: int


@dataclass(frozen=True)
class Moved:
    """A case, and the value that one number of its draws takes."""

    case: Case
    slot: Slot
    value: Any


class Forcing:
    """Plays steps with draws that were never made.

    Args:
        reference: which judges whether draws belong together: it refuses draws that are left over, or missing.
    """

    def __init__(self, task: Task, reference: Pool) -> None:
        self._task, self._reference = task, reference
        self._examples: dict[str, Draw] = {}
        self._tails: dict[tuple[bool, tuple[str, ...]], dict[tuple[str, ...], Draws]] = {}

    @staticmethod
    def possible(task: Task, *moments: str) -> bool:
        """Whether draws of these moments can be moved: those with a stated law, each of whose values is known to occur."""
        stated = [draw for draw in task.draws.values() if draw.law is not None]
        return task.mode is Mode.TAPE and any(draw.occurs_at(moment) for draw in stated for moment in moments)

    def count(self, draws: Draws) -> int:
        """How many numbers of a timestep's draws can be moved."""
        return sum(draw.value.size for draw in draws if self._task.draws[draw.name].law is not None)

    def slot(self, draws: Draws, timestep: int, which: int) -> Slot:
        """One of the numbers of a timestep's draws that can be moved, in their order."""
        for number, draw in enumerate(draws):
            if self._task.draws[draw.name].law is not None:
                if which < draw.value.size:
                    return Slot(timestep, number, which)
                which -= draw.value.size
        raise IndexError(which)

    def play(self, asked: Sequence[Moved]) -> list[Trajectory | None]:
        """What the reference does in each of these cases, whose draws are given, with one number moved.

        None where it takes no draws that are tried after it. The workers share the cases; what is learned from one serves
        the next call, so that answers depend on no order.
        """
        answers = self._reference.each(asked, self._one)
        for played in answers:
            if played is not None:
                self.learn(played)
        return answers

    def _one(self, reference: Environment, moved: Moved) -> Trajectory | None:
        case, slot = moved.case, moved.slot
        assert case.draws is not None
        draws = case.draws[slot.timestep]
        head = (*draws[: slot.number], _moved(draws[slot.number], slot.index, moved.value))
        for tail in islice(self._may_follow(draws, slot), MOST_TAILS):
            tape = (*case.draws[: slot.timestep], (*head, *tail), *case.draws[slot.timestep + 1 :])
            [played] = answered(reference.rollout, [replace(case, draws=tape)])
            if played is not None and self._has_room(played):
                return played
        return None

    def learn(self, played: Trajectory) -> None:
        """Note which draws a trajectory has, and which follow upon which."""
        for timestep, draws in enumerate(played.draws or ()):
            names = tuple(draw.name for draw in draws)
            for number, draw in enumerate(draws[:MOST_LEARNED], start=1):
                self._examples.setdefault(draw.name, draw)
                following = self._tails.setdefault((timestep == 0, names[:number]), {})
                following.setdefault(names[number:], draws[number:])

    def _may_follow(self, draws: Draws, slot: Slot) -> Iterator[Draws]:
        """Draws that may follow upon the one that was moved, no two with the same names; first what followed upon it."""
        own, tried = draws[slot.number + 1 :], set()
        before = tuple(draw.name for draw in draws[: slot.number + 1])
        known = self._tails.get((slot.timestep == 0, before), {})
        for tail in [own, *known.values(), *self._variants(own, "step" if slot.timestep else "reset")]:
            names = tuple(draw.name for draw in tail)
            if names not in tried:
                tried.add(names)
                yield tail

    def _variants(self, own: Draws, moment: str) -> Iterator[Draws]:
        """A timestep's own draws with one more or fewer at the beginning, or another one there; and none."""
        more = [self._example(draw) for draw in self._task.draws.values() if draw.occurs_at(moment)]
        yield own[1:]
        for draw in more:
            yield (draw, *own)
        yield ()
        for draw in more:
            yield (draw, *own[1:])

    def _example(self, draw: TaskDraw) -> Draw:
        if draw.name not in self._examples:
            middle = at_quantile(draw, 0.5) if draw.law is not None else 0
            return Draw(draw.name, np.full(draw.shape, middle, draw.dtype))
        return self._examples[draw.name]

    def _has_room(self, played: Trajectory) -> bool:
        """Whether no draw occurs more often in a timestep than the task states: what a candidate has room for."""
        return all(
            sum(draw.name == name for draw in draws) <= self._task.draws[name].capacity
            for draws in played.draws or ()
            for name in {draw.name for draw in draws}
        )


def _moved(draw: Draw, index: int, value: Any) -> Draw:
    array: Array = np.array(draw.value)
    array.flat[index] = value
    return Draw(draw.name, array)
