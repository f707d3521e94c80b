"""One verification in a session, reported in one document."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from harness.errors import LockstepError
from harness.operations.explanation import first_of, kept_case
from harness.operations.next_calls import NextCalls
from harness.session.coverage import known
from harness.session.request import VerificationRequest
from harness.session.session import Session, Verification
from harness.session.usage import import_transcripts
from harness.support.progress import Progress
from harness.task.load import load_task
from harness.verdict import Divergence
from harness.verify.explain import first

NEEDS_HUMAN = "NEEDS_HUMAN"
"""The outcome of a verification that did not run because the session waits for a person."""


@dataclass(frozen=True)
class Verified:
    """What `verify` came to.

    Attributes:
        document: all of it, JSON-ready.
        done: the verification; None where the session waits for a person and none was made.
        found: the divergence that the document tells.
    """

    document: dict[str, Any]
    done: Verification | None = None
    found: Divergence | None = None


def verify(
    session: Session,
    request: VerificationRequest,
    next_calls: NextCalls,
    *,
    client: str = "",
    progress: Progress | None = None,
) -> Verified:
    """Verify the workspace as it is now; the errors are those of `Session.attempt`.

    The document has `outcome`, `session`, `recorded`, `step`, `event`, `commit`, `new_cases`, `next`, `verdict`, `state`,
    `coverage` (what the session's levels reached of the reference so far: `harness.session.coverage.Known`), and where
    something was found the fields of `first_of`. Where the session waits for a person its outcome is NEEDS_HUMAN, nothing
    was verified, and the rest is the session's status.
    """
    # The limit in dollars is worth nothing if nobody counts. A price table that cannot be read stops no verification: it
    # is `lockstep usage` that names its mistake.
    with suppress(LockstepError):
        import_transcripts(session)
    status = session.status()
    if status["needs_human"]:
        return Verified({"outcome": NEEDS_HUMAN, **status})
    done = session.attempt(request, progress, client=client)
    document: dict[str, Any] = {
        "outcome": str(done.verdict.outcome),
        "session": session.id,
        "recorded": True,
        **done.to_json(),
        "state": session.status()["state"],
        "coverage": known(session.events).to_json(),
    }
    found = first(done.verdict.divergences)
    if found is not None:
        case = kept_case(session.workspace, found)
        document |= first_of(load_task(session.task_directory), found, case, next_calls, session.workspace)
    return Verified(document, done, found)


def resume(session: Session, reason: str) -> dict[str, Any]:
    """A person lets a session that reached its limits go on; gives its status."""
    session.resume(reason)
    return session.status()
