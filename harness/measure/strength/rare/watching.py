"""Which predicates a verification meets: in which check it first compares a step in which they hold."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from harness.measure.strength.rare.curve import named
from harness.measure.strength.rare.numbers import Numbers
from harness.measure.strength.rare.predicates import Evaluation, Predicate
from harness.model import Array, Trajectory, is_reward

TOGETHER = 1 << 14
"""So many steps are looked at together."""


class Meeting:
    """Watches a verification.

    A comparison is exact. So a mutant that pays another reward where a predicate holds is caught when a step is compared in
    which it holds, and the reward with it; and by nothing else that compares steps.

    Attributes:
        met: for each predicate the level and check that met it first (`named`), or "".
        steps: how many steps were compared, rewards included.
    """

    def __init__(self, numbers: Numbers, predicates: Sequence[Predicate]) -> None:
        self._numbers, self._predicates = numbers, predicates
        self._waiting: list[Array] = []
        self._held = 0
        self._left = list(range(len(predicates)))
        self._new: set[int] = set()
        self.met = [""] * len(predicates)
        self.steps = 0

    def compared(self, expected: Sequence[Trajectory], only: Collection[str] | None) -> None:
        """See `harness.verify.watch.Watch`."""
        if only is not None and not any(map(is_reward, only)):  # in rewards the fault of a mutant shows
            return
        for played in expected:
            if played.steps:
                self._waiting.append(self._numbers.of_trajectory(played))
                self._held += played.steps
                self.steps += played.steps
            if self._held >= TOGETHER:
                self._look()

    def ended(self, level: int, check: str) -> None:
        """See `harness.verify.watch.Watch`."""
        self._look()
        for place in self._new:
            self.met[place] = named(level, check)
        self._new.clear()

    def _look(self) -> None:
        if not self._waiting:
            return
        rows = np.concatenate(self._waiting, axis=1)
        self._waiting, self._held = [], 0
        evaluation = Evaluation(self._numbers.chosen, [self._predicates[place] for place in self._left])
        found = evaluation.counts(rows) > 0
        self._new.update(place for place, here in zip(self._left, found, strict=True) if here)
        self._left = [place for place, here in zip(self._left, found, strict=True) if not here]
