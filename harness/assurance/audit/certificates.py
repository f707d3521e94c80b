"""The certificates of a record: each of a commit verified before, from a seed drawn since, claiming what its parts say."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from harness.assurance.audit.findings import Findings
from harness.assurance.audit.isolation import Isolation
from harness.record.certificate import (
    CERTIFIED,
    CERTIFYING,
    ENVELOPE,
    SEED,
    VERDICT,
    claims,
    outcome_of,
    parts_of,
    seed_of,
    statement,
)
from harness.record.event import Event
from harness.record.keys import PublicKey
from harness.record.store import Store
from harness.record.task_update import task_in_force
from harness.support.document import DocumentError
from harness.verdict import Verdict

RULE = "certificate"
SAME = 1e-9
"""By so much, relative to them, two bounds may differ that two mathematical libraries computed."""


class Certificates:
    """Checks the certifications of a log, in its order."""

    def __init__(self, store: Store, findings: Findings, isolation: Isolation) -> None:
        self._store = store
        self._findings = findings
        self._isolation = isolation
        self._begun: list[Event] = []

    def check(self, event: Event, before: Sequence[Event], key: PublicKey | None) -> None:
        """Look at one event, if it is about a certification.

        Args:
            before: the events before it; `key` is the one in force.
        """
        if event.kind not in (CERTIFYING, CERTIFIED):
            return
        named = event.arguments["commit"]
        verified = next((earlier for earlier in before if named and earlier.commit == named), None)
        self._require(verified is not None, event, f"it certifies {named}, which nothing before it verified")
        if event.kind == CERTIFYING:
            self._begun.append(event)
        elif verified is not None and key is not None:
            self._check_end(event, before, verified, key)

    def _check_end(self, event: Event, before: Sequence[Event], verified: Event, key: PublicKey) -> None:
        asked = dict(event.arguments)
        start = next((each for each in self._begun if dict(each.arguments) == asked), None)
        self._require(start is not None, event, "no certification began that it could be the end of")
        if start is not None:
            self._begun.remove(start)
            same = start.seeds.get(SEED) == event.seeds.get(SEED)
            self._require(same, event, "its seed is not the one that was drawn when it began")
        said = statement(self._store, event, key)
        predicate, parts = said["predicate"], parts_of(self._store, event)
        ours = predicate["lockstep"]
        trees = verified.workspace or {}
        subject = {"gitCommit": verified.commit, "gitTree": trees.get("gitTree"), "dirHash": trees.get("dirHash")}
        self._require(said["subject"][0]["digest"] == subject, event, f"it is not about commit {verified.commit}")
        task = task_in_force(before[: verified.seq])
        self._check_trees(event, before[0], task, predicate, parts)
        self._check_verdict(event, parts[VERDICT])
        for sandbox in filter(None, (ours.get("sandbox"), parts[VERDICT].get("sandbox"))):
            self._findings.safely(partial(self._isolation.check, event, sandbox))
        inputs = {item["uri"]: item["digest"]["sha256"] for item in predicate["inputAttestations"]}
        held = {path: digest for path, digest in event.attached.items() if path != ENVELOPE}
        self._require(inputs == held, event, "its summary rests on other parts than it holds")
        claimed = {name: predicate[name] for name in ("verificationResult", "verifiedLevels")}
        claimed |= {name: ours[name] for name in ("parts", "figures")}
        self._require(claimed == claims(parts), event, "its summary claims what its parts do not say")
        shown = event.detail.get("figures")
        self._require(shown == ours["figures"], event, "it shows other figures than its summary claims")
        self._require(event.outcome == outcome_of(parts), event, "its outcome does not follow from its parts")
        settings = {name: value for name, value in asked.items() if name not in ("commit", "sandbox")}
        self._require(ours["settings"] == settings, event, "its summary states other settings")
        self._require(ours["seed"] == event.seeds.get(SEED), event, "its summary names another seed")

    def _check_trees(
        self,
        event: Event,
        start: Event,
        task: str,
        predicate: Mapping[str, Any],
        parts: Mapping[str, Mapping[str, Any]],
    ) -> None:
        """It is of this session and the task that verified the commit, and its verdict is from its own seed."""
        session = start.detail["session"]
        policy = {"uri": f"lockstep:task/{start.arguments['task']}", "digest": {"sha256": task}}
        self._require(predicate["resourceUri"] == f"lockstep:session/{session}", event, "it is of another session")
        self._require(predicate["policy"] == policy, event, "it names another task")
        verdict = parts[VERDICT]
        self._require(verdict["task_digest"] == task, event, "its verdict is by another task")
        seed = seed_of(event.seeds.get(SEED, -1), VERDICT)
        self._require(verdict["seed"] == seed, event, "its verdict is from another seed")

    def _check_verdict(self, event: Event, described: Mapping[str, Any]) -> None:
        """What its verdict says follows from its checks: the outcomes, and how many episodes may still differ."""
        try:
            verdict = Verdict.from_json(described)
        except DocumentError as error:
            self._require(False, event, f"its verdict is not one: {error}")
            return
        for level, report in zip(described["levels"], verdict.reports, strict=True):
            said, follows = level["divergence_bound_95"], report.divergence_bound
            same = said is None if follows is None else said is not None and math.isclose(said, follows, rel_tol=SAME)
            self._require(
                same, event, f"its verdict bounds by {said} what differs at level {report.level}, not {follows}"
            )

    def _require(self, holds: bool, event: Event, what: str) -> None:
        self._findings.require(holds, RULE, event, what)
