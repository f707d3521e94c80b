"""The keys of one record: which of them must have signed what, and which of them vouch for the whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.assurance.audit.findings import Findings
from harness.record.event import PAYLOAD_TYPE, Event
from harness.record.isolation import stated
from harness.record.keys import PublicKey
from harness.record.rotation import appointed, is_accepted


@dataclass(frozen=True)
class Link:
    """A key, the first place in the log that it must have signed, whether it really signed something of this log, and
    whether it does so for a session that isolates (None where the record does not say)."""

    key: PublicKey
    position: int
    proven: bool
    isolated: bool | None


class KeyChain:
    """The keys of a log in the order in which each handed over to the next.

    A key is *proven* when it signed the start, or accepted a hand-over at its place in this very log. Only a proven key may
    be pinned: that a record merely names a key shows nothing, since public keys are public.

    Args:
        unisolated: keys that are known to sign sessions without isolation only.
    """

    def __init__(self, findings: Findings, unisolated: Sequence[PublicKey] = ()) -> None:
        self.links: list[Link] = []
        self._findings = findings
        self._unisolated = unisolated

    @property
    def key(self) -> PublicKey | None:
        """The key in force; None before a start that states one."""
        return self.links[-1].key if self.links else None

    def take(self, event: Event, content: bytes, signature: bytes, *, starts: bool, rotates: bool) -> None:
        """Check an event's signature, and let the key that it states follow."""
        findings = self._findings
        position = findings.position or 0
        if starts:
            self.links = [Link(appointed(event), position, False, stated(event))]
        key = self.key
        signed = key is not None and key.verifies(content, PAYLOAD_TYPE, signature)
        if starts:
            self.links = [Link(self.links[0].key, position, signed, stated(event))]
        if not signed:
            findings.require(False, "signature", event, self._objection(content, signature))
        if not rotates:
            return
        accepted = is_accepted(event)
        findings.require(accepted, "key", event, f"the key {appointed(event).id} never accepted the hand-over to it")
        if signed:
            # One that the key in force did not sign hands nothing over: what follows it is then named too.
            isolated = stated(event)
            isolated = self.links[-1].isolated if isolated is None else isolated
            self.links.append(Link(appointed(event), position + 1, accepted, isolated))

    def vouched(self, pinned: PublicKey) -> bool:
        """Whether a key signed something of this record that the rest depends on."""
        return any(link.proven and link.key == pinned for link in self.links)

    def stands_for_less(self, pinned: PublicKey) -> Link | None:
        """The hand-over to a key for sessions without isolation that a key came before: it vouches for nothing after."""
        after = [link for link in self.links if link.isolated is False]
        return None if not after or any(link.key == pinned for link in after) else after[0]

    def _objection(self, content: bytes, signature: bytes) -> str:
        before = (link for link in self.links[:-1] if link.key.verifies(content, PAYLOAD_TYPE, signature))
        former = next(before, None)
        if former is None:
            if other := next((key for key in self._unisolated if key.verifies(content, PAYLOAD_TYPE, signature)), None):
                return f"it is signed by the key {other.id}, which is for sessions without isolation and not this one's"
            return "its signature does not verify with the session's key"
        following = self.links[self.links.index(former) + 1]
        return f"it is signed by the key {former.key.id}, which was rotated away by event {following.position - 1}"
