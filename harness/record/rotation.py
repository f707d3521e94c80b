"""Handing a session over from one key to the next, so that the change itself is part of what is signed.

An event of kind `rotated` names the new key. The old key signs it like any event. The new key signs, inside it, that it
takes over after the event before: whoever holds only the old key can write a hand-over, but never one that the new key
accepted.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from harness.errors import RecordError
from harness.record.event import ISOLATED, Event
from harness.record.keys import PublicKey, SigningKey

ROTATED = "rotated"
"""The kind of event that hands a session over to another key."""
PAYLOAD_TYPE = "application/vnd.lockstep.rotation+json"


def handing_over(to: SigningKey, seq: int, previous: str, *, isolated: bool = True) -> dict[str, Any]:
    """The detail of the event `seq`, which follows the event with the digest `previous` and hands over to a key, for
    sessions that isolate or for those that do not."""
    return {
        ISOLATED: isolated,
        "key": to.public.to_json(),
        "accepted": json.loads(to.sign(_accepted(to.public, seq, previous), PAYLOAD_TYPE)),
    }


def appointed(event: Event) -> PublicKey:
    """The key that an event states: that of a session's start, or the one that it hands over to.

    Raises:
        RecordError: it states none.
    """
    return PublicKey.from_json(event.detail.get("key"))


def is_accepted(event: Event) -> bool:
    """Whether the key that a session is handed over to has signed that it takes over at this very place.

    Raises:
        RecordError: the event states no key.
    """
    key = appointed(event)
    signature = json.dumps(event.detail.get("accepted")).encode()
    return key.verifies(_accepted(key, event.seq, event.previous), PAYLOAD_TYPE, signature)


def key_in_force(events: Sequence[Event]) -> PublicKey:
    """The key that must sign the event after these.

    Raises:
        RecordError: the log does not begin with an event that states a key.
    """
    stating = next((event for event in reversed(events) if event.kind == ROTATED), None)
    if stating is None and not events:
        raise RecordError("an empty log states no key", expected="the start of a session")
    return appointed(stating or events[0])


def _accepted(key: PublicKey, seq: int, previous: str) -> bytes:
    described = {"key": key.to_json()["public"], "previous": previous, "seq": seq}
    return json.dumps(described, sort_keys=True).encode()
