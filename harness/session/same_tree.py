"""What came of the very same tree before: an attempt at it is no new chance.

A tree that failed takes the seed with which it failed, and so does one whose attempt was interrupted. The seed was drawn
after that tree was fixed, so it is as good as a fresh one; with it, level 4 finds what it had trained. Nobody can repeat a
call, or interrupt what goes badly, in the hope of a better seed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.record.event import CONDITIONS, Event
from harness.session import recipe
from harness.session.recipe import Attempt
from harness.verdict import Outcome


@dataclass(frozen=True)
class Before:
    """An attempt at this tree.

    Attributes:
        seed: that it used.
        attempt: what it was about, and how it ended.
        conditions: under which its verdict was reached; None where it reached none.
    """

    seed: int
    attempt: Attempt
    conditions: Mapping[str, Any] | None

    def contradicts(self, levels: Sequence[int], module: str | None, conditions: Mapping[str, Any]) -> bool:
        """Whether a PASS of these levels, of one module or of all, cannot be: this attempt failed there, with the same seed
        and under the same conditions.
        """
        failed, asked = self.attempt.failed_level, self.attempt.asked
        if self.attempt.outcome != Outcome.FAIL or failed not in levels or asked is None:
            return False
        return self.conditions == conditions and module in (None, asked.module)


def decides_seed(events: Sequence[Event], attempts: Sequence[Attempt], tree: str) -> Before | None:
    """The attempt at a tree whose seed the next one takes: the newest that failed, else the newest if it was interrupted."""
    before = list(_at(events, attempts, tree))
    failed = next((each for each in before if each.attempt.outcome == Outcome.FAIL), None)
    interrupted = before[0] if before and before[0].attempt.outcome == recipe.INTERRUPTED else None
    return failed or interrupted


def _at(events: Sequence[Event], attempts: Sequence[Attempt], tree: str) -> Iterator[Before]:
    """The attempts at a tree with seeds that were drawn, newest first."""
    ended = {attempt.seq: attempt for attempt in attempts}
    conditions: Mapping[str, Any] | None = None
    for event in reversed(events):
        if event.kind == recipe.VERDICT:
            conditions = event.detail.get(CONDITIONS)
        elif event.kind == recipe.ATTEMPT:
            if event.detail.get("drawn") and event.workspace is not None and event.workspace["gitTree"] == tree:
                yield Before(event.seeds["run"], ended[event.seq], conditions)
            conditions = None
