"""A certificate is issued, or somebody comes to it again from its record."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from harness.assurance.audit import audit
from harness.assurance.certify.examination import OnPart, Settings
from harness.assurance.certify.issue import Certificate, Opening, issue
from harness.assurance.certify.recheck import PartAgain, Recheck, newest, recheck
from harness.assurance.replay.rerun import driver_for
from harness.errors import RecordError
from harness.farm.engine import Engine
from harness.policy.trust import Trust
from harness.record.keyring import Keyring
from harness.record.log import read_events
from harness.record.received import opened
from harness.record.rotation import key_in_force
from harness.record.task_update import task_in_force
from harness.support.progress import Progress
from sandboxes.removal import scratch_directory


def certify(
    opening: Opening,
    settings: Settings,
    progress: Progress,
    described: OnPart,
    *,
    sandbox: str | None = None,
    engine: Engine | None = None,
) -> Certificate:
    """Certify the newest verified commit of a session, which is held only while its record is written.

    Raises:
        SessionError, RecordError, TaskError: as `harness.assurance.certify.issue.issue`.
    """
    return issue(opening, settings, progress, described, sandbox=sandbox, engine=engine)


def check(
    record: Path,
    trust: Trust,
    progress: Progress,
    described: Callable[[PartAgain], None],
    *,
    key: Path | None = None,
    sandbox: str | None = None,
) -> Recheck:
    """Come to the newest certificate of a record again. A record that does not hold together is not examined.

    Args:
        record: a session's git directory, a clone that fetched all its refs, or a bundle.
        trust: whose tasks may run here.
        key: a public key (PEM) that must vouch for the record.

    Raises:
        RecordError: there is no certificate, or the record does not hold together.
        TaskError: the recorded task cannot be read by this version.
    """
    with opened(record) as store, scratch_directory("lockstep-certify-") as scratch:
        held = audit(store, key, unisolated=Keyring(trust.home, isolated=False).public)
        if not held.ok:
            raise RecordError(
                f"the record does not hold together: {held.problems[0].what}",
                where=str(record),
                expected="a record whose audit finds nothing",
                next_step="run `lockstep audit` on it; a certificate in a damaged record proves nothing",
            )
        trust.demand(held.task_digest, held.task)  # the audit computed it
        events = read_events(store)
        event = newest(events)
        verified = next(each for each in events if each.commit == event.arguments["commit"])
        trust.demand(task_in_force(events[: verified.seq]), held.task)  # it may have been changed since
        signer = key_in_force(events[: event.seq + 1])
        driver = driver_for(event.arguments["sandbox"], sandbox)
        parts = recheck(store, event, signer, driver, scratch / "commit", progress, described)
        return Recheck(
            event=event.seq,
            commit=event.arguments["commit"],
            outcome=str(event.outcome),
            figures=event.detail["figures"],
            key=signer.id,
            pinned=held.pinned,
            parts=tuple(parts),
        )
