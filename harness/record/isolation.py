"""Whether a session isolates what it runs: fixed at its start, and the key that signs it says so.

The start states it, and each hand-over to another key does. Records from before this was stated say nothing; what ran in
them tells.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.record.event import ISOLATED, START, Event
from harness.record.rotation import ROTATED

UNISOLATED_DRIVER = "process"
"""The only driver that records from before name and that does not isolate."""


def stated(event: Event) -> bool | None:
    """What a start or a hand-over states; None where it states nothing, or nothing that could be meant."""
    found = event.detail.get(ISOLATED) if event.kind in (START, ROTATED) else None
    return found if isinstance(found, bool) else None


def isolates(events: Sequence[Event]) -> bool:
    """Whether the sandboxes of a session isolate, by what its newest event says that states it; where none does, by whether
    it asked for a driver that isolates and no verdict was reached in another."""
    for event in reversed(events):
        if (found := stated(event)) is not None:
            return found
    return not any(_unisolated(event.detail.get("sandbox")) for event in events)


def _unisolated(sandbox: Any) -> bool:
    if isinstance(sandbox, Mapping):
        return sandbox.get("isolated") is False
    return sandbox == UNISOLATED_DRIVER
