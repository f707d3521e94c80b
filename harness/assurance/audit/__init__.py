"""The audit: does a record prove what it says? Works from a clone or a bundle, with no session and no key but a public one.

It checks that no event is missing, out of order or changed; that each was signed by the key in force; that every verified
commit is the tree that was verified, on its predecessor, with attestations that say so; that task and tests were the same
throughout and cases only came in; and that every ref is where the log says. docs/audit.md has every rule.

What a record alone cannot show is that its newest part was cut off and all refs moved back with it, or that somebody made
all of it again with another key. Against the first, give an event's digest that you know. Against the second, give the
public key.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness.assurance.audit.gate import Gate
from harness.assurance.audit.package import PackageReport, check_package
from harness.assurance.audit.report import AuditReport, Problem, Row
from harness.assurance.audit.walk import Walk
from harness.record.keys import PublicKey, is_for_unisolated
from harness.record.received import opened
from harness.record.store import Store

__all__ = ["AuditReport", "Gate", "PackageReport", "Problem", "Row", "audit", "check_package"]


def audit(
    repository: Path | Store,
    public_key: PublicKey | Path | None = None,
    *,
    known_event: str | None = None,
    session: str | None = None,
    gate: Gate | None = None,
    unisolated: Sequence[PublicKey] = (),
) -> AuditReport:
    """Check a whole record.

    Args:
        repository: a session's git directory, a clone that fetched all its refs, a bundle, or an open store.
        public_key: a key that must vouch for it (or its PEM file): the one that signed its start, or one that a session was
            handed over to. Without it the record's own word is taken.
        known_event: the `last_event` of an earlier audit, which the log must still hold.
        session: the session that the record must be of.
        gate: what else is asked of the newest verified commit.
        unisolated: keys that are known to sign only sessions without isolation, such as those of this home; the file of a
            public key says itself whether it is of one.

    Raises:
        RecordError: there is no git directory, or the key cannot be read. What is wrong inside a record is a problem in the
            report, never an exception.
    """
    key = PublicKey.read(public_key) if isinstance(public_key, Path) else public_key
    if key is not None and isinstance(public_key, Path) and is_for_unisolated(public_key):
        unisolated = (*unisolated, key)
    if isinstance(repository, Store):
        return Walk(repository, unisolated).report(key, known_event, session, gate)
    with opened(repository) as store:
        return Walk(store, unisolated).report(key, known_event, session, gate)
