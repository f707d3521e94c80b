"""Collecting what does not hold, from data that somebody may have tampered with."""

from __future__ import annotations

from collections.abc import Callable

from harness.assurance.audit.report import Problem
from harness.errors import RecordError
from harness.record.event import Event

_MALFORMED = (KeyError, IndexError, ValueError, TypeError, AttributeError, RecursionError, OverflowError)
"""What reading values of the wrong form can raise."""


class Findings:
    """The problems so far; `position` is the place in the log of the event that is being looked at, None beyond its end."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.position: int | None = 0

    def add(self, rule: str, position: int | None, what: str) -> None:
        """Note a problem."""
        self.problems.append(Problem(rule, position, what))

    def require(self, holds: bool, rule: str, event: Event, what: str) -> None:
        """Note a problem with the event that is being looked at, unless this holds."""
        if not holds:
            self.add(rule, self.position, f"event {event.seq} ({event.kind}): {what}")

    def safely(self, check: Callable[[], None]) -> None:
        """Run a check; whatever goes wrong in it is a finding."""
        where = "the record" if self.position is None else f"event {self.position}"
        try:
            check()
        except RecordError as error:
            self.add("damaged", self.position, f"{where}: {error.what}")
        except _MALFORMED as error:
            self.add("malformed", self.position, f"{where}: {type(error).__name__}: {error}")
