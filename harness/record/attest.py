"""Attestations: what was verified, in the words of in-toto, sealed so that a machine can check it offline.

For one verified commit there is one statement for each level (predicate `test-result`) and, on top, a verification
summary that names the others by their digests. They are several statements, not one, because a statement has a single
predicate type, and tools that know these two types can read them as they are. What has no field there stands under
`lockstep`. Each is a DSSE envelope, signed with the harness's key.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from harness import __version__
from harness.errors import RecordError
from harness.record.keys import PublicKey, SigningKey
from harness.record.machine import fingerprint
from harness.support.foreign import json_of
from harness.verdict import Outcome, Verdict

STATEMENT = "https://in-toto.io/Statement/v1"
TEST_RESULT = "https://in-toto.io/attestation/test-result/v0.1"
SUMMARY = "https://slsa.dev/verification_summary/v1"
PAYLOAD_TYPE = "application/vnd.in-toto+json"

DIRECTORY = "attestations"
SUMMARY_FILE = f"{DIRECTORY}/summary.json"


@dataclass(frozen=True)
class Subject:
    """What an attestation speaks of: a commit, its tree, and the tree's SHA-256 (`snapshot.directory_hash`)."""

    commit: str
    tree: str
    digest: str

    def to_json(self) -> dict[str, Any]:
        """An in-toto resource descriptor; a tree that matches one of the digests is the one that was verified."""
        return {
            "name": "workspace",
            "digest": {"gitCommit": self.commit, "gitTree": self.tree, "dirHash": self.digest},
        }


def attestations(
    verdict: Verdict, subject: Subject, *, session: str, task: str, time: str, parent: str | None, key: SigningKey
) -> dict[str, bytes]:
    """The envelopes for one verified commit, keyed by file name below an event.

    `parent` is the SHA-256 of the summary before this one, so that the summaries form a chain of their own; `time` is the
    event's.
    """
    policy = {"uri": f"lockstep:task/{task}", "digest": {"sha256": verdict.task_digest}}
    envelopes: dict[str, bytes] = {}
    for report in verdict.reports:
        predicate = {
            "result": "PASSED" if report.outcome is Outcome.PASS else "FAILED",
            "configuration": [policy],
            "passedTests": [check.name for check in report.checks if check.outcome is Outcome.PASS],
            "warnedTests": [check.name for check in report.checks if check.outcome is Outcome.SKIPPED],
            "failedTests": [check.name for check in report.checks if check.outcome in (Outcome.FAIL, Outcome.ERROR)],
            "lockstep": report.to_json(),
        }
        name = f"{DIRECTORY}/level-{report.level}.json"
        envelopes[name] = seal(subject, TEST_RESULT, predicate, key)
    predicate = {
        "verifier": {"id": "lockstep:verifier", "version": {"lockstep": __version__}},
        "timeVerified": time,
        "resourceUri": f"lockstep:session/{session}",
        "policy": policy,
        "inputAttestations": [
            {"uri": name, "digest": {"sha256": sha256(sealed).hexdigest()}} for name, sealed in envelopes.items()
        ],
        "verificationResult": "PASSED" if verdict.passed else "FAILED",
        "verifiedLevels": [f"LOCKSTEP_LEVEL_{report.level}" for report in verdict.reports],
        "lockstep": {
            "seed": verdict.seed,
            "module": next((report.module for report in verdict.reports if report.module), None),
            "sandbox": verdict.ran_in,
            "duration_s": round(verdict.duration_s, 3),
            "machine": fingerprint(),
            "parent": parent,
        },
    }
    envelopes[SUMMARY_FILE] = seal(subject, SUMMARY, predicate, key)
    return envelopes


def seal(subject: Subject, predicate_type: str, predicate: Mapping[str, Any], key: SigningKey) -> bytes:
    """An in-toto statement about a subject in a signed envelope; `predicate` must be JSON, without NaN or infinities."""
    statement = {
        "_type": STATEMENT,
        "subject": [subject.to_json()],
        "predicateType": predicate_type,
        "predicate": predicate,
    }
    return key.seal(json.dumps(statement, sort_keys=True, allow_nan=False).encode(), PAYLOAD_TYPE)


def unseal(sealed: bytes, key: PublicKey) -> dict[str, Any]:
    """The statement in an attestation that `key` signed.

    Raises:
        RecordError: it is not an attestation, another key signed it, or it was changed afterwards.
    """
    try:
        statement = json_of(key.unseal(sealed, PAYLOAD_TYPE))
    except ValueError as error:
        raise RecordError(f"the envelope holds no JSON: {error}", expected=STATEMENT) from error
    if not isinstance(statement, dict) or statement.get("_type") != STATEMENT:
        raise RecordError("the envelope holds no in-toto statement", expected=STATEMENT)
    return statement
