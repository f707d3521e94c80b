"""What a record says of isolation: fixed at its start, true of every verdict, and signed by a key for just that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.assurance.audit.findings import Findings
from harness.record.event import Event
from harness.record.isolation import stated
from harness.record.keys import PublicKey

RULE = "isolation"


class Isolation:
    """Checks a log, in its order.

    Args:
        unisolated: keys that are known to sign sessions without isolation only.

    Attributes:
        isolated: what the record states so far; None in one from before records stated it.
    """

    def __init__(self, findings: Findings, unisolated: Sequence[PublicKey]) -> None:
        self.isolated: bool | None = None
        self._findings = findings
        self._unisolated = unisolated

    def take(self, event: Event, key: PublicKey | None) -> None:
        """Take in what a start or a hand-over states, and to which key."""
        found = stated(event)
        if found is None:
            return
        fixed = self.isolated is None or found == self.isolated
        self._require(fixed, event, f"it states {found} of isolation, and its session began with {self.isolated}")
        self.isolated = found if self.isolated is None else self.isolated
        if found and key is not None and key in self._unisolated:
            self._require(False, event, f"the key {key.id} is for sessions without isolation, and it says otherwise")

    def check(self, event: Event, sandbox: Mapping[str, Any]) -> None:
        """Hold what an event says of the sandbox of a verdict against what the session states."""
        found = sandbox["isolated"] is True
        if self.isolated is None or found == self.isolated:
            return
        ran = "isolated" if found else "did not isolate"
        says = "isolates" if self.isolated else "does not isolate, as does its key"
        self._require(False, event, f"its sandbox {sandbox['driver']!r} {ran}, in a session that {says}")

    def _require(self, holds: bool, event: Event, what: str) -> None:
        self._findings.require(holds, RULE, event, what)
