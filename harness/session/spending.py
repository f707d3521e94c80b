"""What a session spends of the budgets of its client and its task, kept in the home as its events come."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from harness.errors import RecordError
from harness.policy.owners import owner_of
from harness.policy.spent import DIRECTORY, LOCAL, Spent, read_spent, write_spent
from harness.record.directory import SessionDirectory
from harness.record.event import Event
from harness.session import recipe


def client_of(found: SessionDirectory) -> str:
    """For whom a session's spending counts: who owns it, also what others do in it."""
    return owner_of(found.home, found.id) or LOCAL


class Spending:
    """The account of one open session. Making one writes it anew from the log, whatever a killed process left.

    Raises:
        RecordError: the home cannot be written; also raised by every method.
    """

    def __init__(self, found: SessionDirectory, events: Iterable[Event]) -> None:
        self._found = found
        self._spent = Spent(client_of(found), found.task)
        for event in events:
            self._spent = self._after(event.kind, event.arguments, event.usage, event.duration_s)
        with suppress(RecordError):
            if read_spent(found.home / DIRECTORY / f"{found.id}.json") == self._spent:
                return
        self._write(self._spent)

    def expect(self, kind: str, fields: Mapping[str, Any]) -> None:
        """Count an event that is about to be recorded."""
        after = self._after(kind, fields.get("arguments"), fields.get("usage"), fields.get("duration_s", 0.0))
        if after != self._spent:
            self._write(after)

    def recorded(self, event: Event) -> None:
        """An event is in the log."""
        self._spent = self._after(event.kind, event.arguments, event.usage, event.duration_s)

    def take_back(self) -> None:
        """The event that was expected could not be recorded."""
        self._write(self._spent)

    def _after(
        self, kind: str, arguments: Mapping[str, Any] | None, usage: Mapping[str, float] | None, duration_s: float
    ) -> Spent:
        usage = usage or {}
        return self._spent.plus(
            Spent(
                self._spent.client,
                self._spent.task,
                dollars=float(usage.get("dollars", 0.0)),
                reported_dollars=recipe.reported_dollars(arguments or {}, usage),
                attempts=int(kind in recipe.ITERATIONS),
                seconds=round(duration_s, 3),
            )
        )

    def _write(self, spent: Spent) -> None:
        write_spent(self._found.home, self._found.id, spent)
