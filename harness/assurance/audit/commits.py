"""The verified commits of a record: each held against its verdict, its predecessor and its attestations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from harness.assurance.audit.findings import Findings
from harness.assurance.audit.report import Row
from harness.errors import RecordError
from harness.record import ssh
from harness.record.attest import DIRECTORY, SUMMARY_FILE, unseal
from harness.record.event import SSH_KEY, UNSIGNED, Event
from harness.record.keys import PublicKey
from harness.record.log import event_file
from harness.record.message import trailers, trailers_in
from harness.record.objects import Commit
from harness.record.specification import COMPARING, FREEZING
from harness.record.store import Store
from harness.session.recipe import ATTEMPT, reported_dollars
from harness.verdict import Outcome, Verdict

LEVEL_PREFIX = "LOCKSTEP_LEVEL_"


class Commits:
    """Checks the verified commits in the order of the log, and keeps a row for each."""

    def __init__(self, store: Store, findings: Findings) -> None:
        self.rows: list[Row] = []
        self._store = store
        self._findings = findings
        self._summary: str | None = None
        self._attempts = 0
        self._dollars = self._reported = 0.0

    def count(self, event: Event) -> None:
        """Take in what an event cost."""
        self._dollars += float(event.usage.get("dollars", 0.0))
        self._reported += reported_dollars(event.arguments, event.usage)
        self._attempts += event.kind in (ATTEMPT, COMPARING, FREEZING)

    def check(self, event: Event, verdict: Mapping[str, Any], start: Event, key: PublicKey, cases: int) -> None:
        """Check the commit that an event verified.

        Args:
            event: the verdict; `verdict` is its content.
            start: the first event of the log.
            key: the one in force.
            cases: how many known cases there were.
        """
        require, commit = self._findings.require, str(event.commit)
        passed = {report["level"] for report in verdict["levels"] if report["outcome"] == Outcome.PASS}
        complete = verdict["outcome"] == Outcome.PASS and passed >= set(event.arguments["levels"])
        require(complete, "verdict", event, f"commit {commit} did not pass what was asked")
        require(event.detail.get("counts") is True, "verdict", event, f"commit {commit} had a chosen seed")
        parents = (self.rows[-1].commit,) if self.rows else ()
        found = self._store.commit(commit)
        self.rows.append(self._row(event, found.message.split("\n", 1)[0], verdict, cases))
        self._attempts, self._dollars, self._reported = 0, 0.0, 0.0
        tree = (event.workspace or {}).get("gitTree")
        require(found.tree == tree, "tree", event, f"commit {commit} is not the tree that was verified")
        require(found.parents == parents, "ancestry", event, f"commit {commit} has another parent")
        claims = trailers_in(found.message)
        require(
            claims == trailers(Verdict.from_json(verdict)),
            "message",
            event,
            f"commit {commit} claims what was not verified",
        )
        self._findings.safely(lambda: self._check_ssh(event, found, start.detail.get(SSH_KEY)))
        self._findings.safely(lambda: self._check_attestations(event, verdict, start, key))

    def frozen(self, event: Event, compared: Mapping[str, Any], scenarios: int, machine: Mapping[str, Any]) -> None:
        """Keep a row for the commit of a frozen specification, which `specifications` checks."""
        message = self._store.commit(str(event.commit)).message.split("\n", 1)[0]
        row = self._row(event, message, {**compared, "sandbox": event.detail["sandbox"]}, scenarios)
        self.rows.append(replace(row, machine=machine))
        self._attempts, self._dollars, self._reported = 0, 0.0, 0.0

    def _check_ssh(self, event: Event, found: Commit, public: str | None) -> None:
        """Where the session names an SSH key, a commit carries its signature, or the event says why not."""
        if public is None:
            return
        why = event.detail.get(UNSIGNED, "")
        if why and not found.signature:
            self.rows[-1] = replace(self.rows[-1], unsigned=str(why))
            return
        try:
            ssh.check_commit(found, public)
        except RecordError as error:
            self._findings.require(False, "ssh", event, f"commit {event.commit}: {error.what}")
        else:
            self.rows[-1] = replace(self.rows[-1], ssh=ssh.fingerprint(public))

    def _check_attestations(self, event: Event, verdict: Mapping[str, Any], start: Event, key: PublicKey) -> None:
        require, commit = self._findings.require, event.commit
        trees = event.workspace or {}
        subject = {"gitCommit": commit, "gitTree": trees.get("gitTree"), "dirHash": trees.get("dirHash")}
        before, self._summary = self._summary, event.attached.get(SUMMARY_FILE)
        levels = [f"{DIRECTORY}/level-{report['level']}.json" for report in verdict["levels"]]
        for name in (SUMMARY_FILE, *levels):
            try:
                statement = unseal(event_file(self._store, event.id, name), key)
            except RecordError as error:
                require(False, "attestation", event, f"{name} of commit {commit}: {error.what}")
                continue
            about = statement["subject"][0]["digest"]
            require(about == subject, "attestation", event, f"{name} is not about commit {commit}")
            predicate = statement["predicate"]
            if name == SUMMARY_FILE:
                self.rows[-1] = replace(self.rows[-1], machine=predicate["lockstep"]["machine"])
                self._check_summary(event, verdict, start, predicate, before, levels)
            else:
                report = predicate["lockstep"]
                require(report in verdict["levels"], "attestation", event, f"{name} is not the verdict's report")
                claimed = "PASSED" if report["outcome"] == Outcome.PASS else "FAILED"
                require(predicate["result"] == claimed, "attestation", event, f"{name} claims another result")

    def _check_summary(
        self,
        event: Event,
        verdict: Mapping[str, Any],
        start: Event,
        predicate: Mapping[str, Any],
        before: str | None,
        levels: Sequence[str],
    ) -> None:
        """A summary is of this session, after the summary before, and claims what the verdict found."""

        def require(holds: bool, what: str) -> None:
            self._findings.require(holds, "attestation", event, f"{SUMMARY_FILE} {what}")

        ours = predicate["lockstep"]
        require(predicate["resourceUri"] == f"lockstep:session/{start.detail['session']}", "is of another session")
        require(ours["parent"] == before, "does not follow the summary of the commit before")
        policy = {"uri": f"lockstep:task/{start.arguments['task']}", "digest": {"sha256": verdict["task_digest"]}}
        require(predicate["policy"] == policy, "names another task")
        inputs = {item["uri"]: item["digest"]["sha256"] for item in predicate["inputAttestations"]}
        require(inputs == {path: event.attached.get(path) for path in levels}, "rests on other attestations")
        claimed = [f"{LEVEL_PREFIX}{report['level']}" for report in verdict["levels"]]
        passed = predicate["verificationResult"] == "PASSED" and predicate["verifiedLevels"] == claimed
        require(passed, "claims other levels than the verdict")
        require(ours["seed"] == verdict["seed"], "names another seed than the verdict")
        require(ours["sandbox"] == verdict["sandbox"], "names another sandbox than the verdict")

    def _row(self, event: Event, message: str, verdict: Mapping[str, Any], cases: int) -> Row:
        levels, sandbox = verdict["levels"], verdict["sandbox"]
        bounds = [level["divergence_bound_95"] for level in levels if level["divergence_bound_95"] is not None]
        return Row(
            seq=event.seq,
            commit=str(event.commit),
            time=event.time,
            message=message,
            level=event.arguments.get("level", max((level["level"] for level in levels), default=0)),
            module=event.arguments.get("module"),
            levels=tuple({k: v for k, v in level.items() if k != "checks"} for level in levels),
            cases=cases,
            examples=sum(level["examples"] for level in levels),
            episodes=sum(level["episodes"] for level in levels),
            steps=sum(level["steps"] for level in levels),
            bound=min(bounds, default=None),
            seed=verdict["seed"],
            sandbox=sandbox["driver"],
            isolated=sandbox["isolated"],
            image=sandbox.get("image", ""),
            duration_s=event.duration_s,
            attempts=self._attempts,
            dollars=round(self._dollars, 6),
            dollars_reported=round(self._reported, 6),
        )
