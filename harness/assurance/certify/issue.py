"""Issuing a certificate for the newest verified commit of a session.

A certification that was interrupted goes on from its own seed, so nobody can look for a better one by stopping what goes
badly; one that was not passed stays in the record beside those that were.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness import __version__
from harness.assurance.certify.examination import Examination, OnPart, Settings, examine, report_nothing
from harness.farm.engine import Engine
from harness.record.attest import SUMMARY, seal
from harness.record.certificate import (
    CERTIFIED,
    CERTIFYING,
    ENVELOPE,
    SEED,
    VERDICT,
    begun,
    claims,
    figures,
    finding,
    path_of,
)
from harness.record.directory import POLICIES, SessionDirectory
from harness.record.event import now
from harness.record.export import check_out, discard, exported
from harness.record.lock import Lock
from harness.record.machine import conditions
from harness.record.snapshot import trusted_part
from harness.record.store import Store
from harness.session.session import Session
from harness.support.document import Document, number
from harness.support.progress import Progress, within
from harness.task.contract import Task
from harness.task.load import load_task
from harness.verdict import Outcome
from sandboxes.removal import scratch_directory


@dataclass(frozen=True)
class Certificate:
    """What a certification came to.

    Attributes:
        session: its id.
        event: the number of the event that records it.
        commit: what was examined.
        examination: what that came to.
    """

    session: str
    event: int
    commit: str
    examination: Examination

    @property
    def finding(self) -> str:
        """What kept the commit from being certified, in one line; empty where nothing did."""
        return finding(self.examination.parts)

    @property
    def figures(self) -> dict[str, Any]:
        """The few numbers by which a certificate is known."""
        return figures(self.examination.parts)

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        found = self.examination
        return {
            "session": self.session,
            "event": self.event,
            "commit": self.commit,
            "outcome": str(found.outcome),
            "finding": self.finding,
            "seed": found.seed,
            "settings": found.settings.to_json(),
            "figures": self.figures,
            "seconds": {name: round(value, 1) for name, value in found.seconds.items()},
            "parts": {name: dict(part) for name, part in found.parts.items()},
        }

    @staticmethod
    def from_json(described: object, kind: str = "certificate") -> Certificate:
        """The inverse of `to_json`, of the seconds that it rounded. Outcome, finding and figures follow from the parts.

        Raises:
            DocumentError: `described` has another form; it names the field.
        """
        document = Document(described, kind)

        def part(value: Any, name: str) -> Mapping[str, Any]:
            found = Document(value, name)
            found.one_of("outcome", Outcome)
            return found.content

        return Certificate(
            session=document.text("session"),
            event=document.whole("event"),
            commit=document.text("commit"),
            examination=Examination(
                seed=document.whole("seed"),
                settings=Settings.from_json(document.content.get("settings"), f"{kind}.settings"),
                parts=document.mapping("parts", part),
                seconds=document.mapping("seconds", number),
            ),
        )


Opening = Callable[[bool], AbstractContextManager[Session]]
"""Opens the session to be certified. True: it waits for whoever works on it meanwhile; False: it refuses then."""


def issue(
    opening: Opening,
    settings: Settings,
    progress: Progress,
    on_part: OnPart = report_nothing,
    *,
    sandbox: str | None = None,
    engine: Engine | None = None,
) -> Certificate:
    """Examine the newest verified commit of a session and record the certificate.

    The session is held only while the record is written: at the beginning, and at the end. In between others may work on it;
    the certificate is of the commit that was the newest at the beginning.

    Args:
        opening: gives the session for as long as its context lasts.
        on_part: called with each part as soon as it is known.
        sandbox: the driver to use; by default the session's.
        engine: as `examine`.

    Raises:
        SessionError: nothing is verified yet, or another process certifies the session.
        RecordError: the record cannot be read or written.
        TaskError: the recorded task cannot be read.
    """
    began = time.monotonic()
    with ExitStack() as stack:
        with opening(False) as session:
            _, subject = session.verified()
            directory, driver = session.directory, session.driver(sandbox)
            lock = Lock(directory.certifying, f"the certification of {directory.id}")
            stack.callback(lock.release)
            asked = {"commit": subject.commit, "sandbox": driver.name, **settings.to_json()}
            start = begun(session.events, asked)
            if start is None:
                start = session.record(CERTIFYING, arguments=asked, seeds={SEED: secrets.randbits(62)})
            scratch = stack.enter_context(scratch_directory("lockstep-certify-")) / "commit"
            task, tree = stack.enter_context(recorded_tree(session.store, subject.commit, scratch))
        seed, policies = start.seeds[SEED], directory.path / POLICIES
        telling = within("certify", progress)
        found = examine(task, tree, driver, seed, settings, telling, policies=policies, on_part=on_part, engine=engine)
        files = {path_of(name): _encoded(part) for name, part in found.parts.items()}
        with opening(True) as session:
            files[ENVELOPE] = seal(subject, SUMMARY, _summary(directory, found, files, now()), session.key)
            event = session.record(
                CERTIFIED,
                arguments=asked,
                outcome=str(found.outcome),
                detail={"figures": figures(found.parts), "finding": finding(found.parts)},
                seeds={SEED: seed},
                duration_s=time.monotonic() - began,
                attached=files,
            )
    return Certificate(directory.id, event.seq, subject.commit, found)


@contextmanager
def recorded_tree(store: Store, commit: str, scratch: Path) -> Iterator[tuple[Task, Path]]:
    """A verified commit made usable below a directory of its own: its task, checked out, and a read-only export of its tree.

    Raises:
        RecordError: something of the commit is missing or damaged.
        TaskError: its task cannot be read by this version.
    """
    tree = store.commit(commit).tree
    try:
        check_out(store, trusted_part(store.files(tree)), scratch / "task")
        with exported(store, tree, scratch / "tree") as location:
            yield load_task(scratch / "task"), location
    finally:
        discard(scratch)


def _summary(
    directory: SessionDirectory, found: Examination, files: Mapping[str, bytes], moment: str
) -> dict[str, Any]:
    verdict = found.parts[VERDICT]
    claimed = claims(found.parts)
    return {
        "verifier": {"id": "lockstep:certify", "version": {"lockstep": __version__}},
        "timeVerified": moment,
        "resourceUri": f"lockstep:session/{directory.id}",
        "policy": {"uri": f"lockstep:task/{directory.task}", "digest": {"sha256": verdict["task_digest"]}},
        "inputAttestations": [
            {"uri": name, "digest": {"sha256": hashlib.sha256(content).hexdigest()}} for name, content in files.items()
        ],
        "verificationResult": claimed["verificationResult"],
        "verifiedLevels": claimed["verifiedLevels"],
        "lockstep": {
            "seed": found.seed,
            "settings": found.settings.to_json(),
            "parts": claimed["parts"],
            "figures": claimed["figures"],
            "sandbox": verdict["sandbox"],
            "conditions": conditions(),
        },
    }


def _encoded(part: Mapping[str, Any]) -> bytes:
    return json.dumps(part, indent=1, sort_keys=True, allow_nan=False).encode() + b"\n"
