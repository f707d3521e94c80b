"""One mutant before the levels: what each of them says of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

from harness.errors import Failing, Failure, Side
from harness.measure.strength.statuses import CRASHED, ERROR, INCONCLUSIVE, KILLED, STILLBORN, SURVIVED, TIMEOUT
from harness.support.document import Document
from harness.verdict import Divergence, LevelReport, Outcome, Verdict
from harness.verify.request import LevelsRequest
from harness.verify.verifier import CONTRACT

MAX_WHY = 300
UNREACHED = "no level runs this code from this seed"


class Judge(Protocol):
    """What of `harness.verify.verifier.Verifier` is needed here."""

    def verify(self, tree: Path, request: LevelsRequest) -> Verdict:
        """The verdict on a tree."""
        ...


@dataclass(frozen=True)
class Finding:
    """What one level said of one mutant.

    Attributes:
        level: the level.
        outcome: `survived`, `killed`, `stillborn` (it never ran: it cannot be imported or traced), `timeout`, `crashed`,
            `inconclusive`, or `error` (nothing was learned of the mutant).
        seconds: how long the level took; with what it took to load the candidate, where that came first.
        check, rule, address: the check that failed, the rule that was broken, and the leaf; empty where none did.
        why: in words, where no leaf says it.
        ran: False where the level was left out, as it would not run the fault.
    """

    level: int
    outcome: str
    seconds: float
    check: str = ""
    rule: str = ""
    address: str = ""
    why: str = ""
    ran: bool = True

    def to_json(self) -> dict[str, Any]:
        """As it stands in a document and in a journal."""
        return asdict(self)

    @staticmethod
    def from_json(described: object, kind: str = "finding") -> Finding:
        """The inverse of `to_json`. Raises DocumentError if `described` has another form."""
        document = Document(described, kind)
        return Finding(
            level=document.whole("level"),
            outcome=document.text("outcome"),
            seconds=document.number("seconds"),
            check=document.text("check", ""),
            rule=document.text("rule", ""),
            address=document.text("address", ""),
            why=document.text("why", ""),
            ran=document.flag_or_none("ran") is not False,
        )


def judge(verifier: Judge, tree: Path, levels: list[int], seed: int, *, unreached: bool = False) -> list[Finding]:
    """Run some levels on a mutant's tree, lowest first, until one does not pass it.

    Args:
        unreached: none of them would run its fault. So it is only loaded, and survives them if it can be.
    """
    verdict = verifier.verify(tree, LevelsRequest([] if unreached else levels, seed, stop_at_failure=True))
    found = read(verdict, levels)
    if unreached and not found:
        return [Finding(level, SURVIVED, 0.0, why=UNREACHED, ran=False) for level in levels]
    return found


def read(verdict: Verdict, levels: list[int]) -> list[Finding]:
    """What a verdict says, level by level, for the `levels` that were asked for."""
    findings = []
    loading = verdict.duration_s - sum(report.duration_s for report in verdict.reports)
    for report in verdict.reports:
        findings.append(_of_report(report, levels[0], loading if not findings else 0.0))
    if verdict.error:
        level = levels[min(len(findings), len(levels) - 1)]
        findings.append(_failure(level, verdict.error, verdict.failure, verdict.duration_s if not findings else 0.0))
    return findings


def _of_report(report: LevelReport, lowest: int, loading: float) -> Finding:
    seconds = report.duration_s + loading
    if report.outcome is Outcome.PASS:
        return Finding(report.level, SURVIVED, seconds)
    found = report.divergences[0] if report.divergences else None
    failed = next((check for check in report.checks if check.outcome is not Outcome.PASS), None)
    name, detail = ("", "") if failed is None else (failed.name, failed.detail)
    failure = None if failed is None else failed.failure
    if name == CONTRACT:
        # It shows when the candidate is loaded, whichever level was to run.
        level = max(report.level, lowest)
        if failure is not None and failure.how is Failing.UNUSABLE:
            return Finding(level, STILLBORN, seconds, name, why=failure.said[:MAX_WHY])
        return _kill(level, seconds, name, found)
    if report.outcome is Outcome.FAIL:
        failed = next(check for check in report.checks if check.outcome is Outcome.FAIL)
        return _kill(report.level, seconds, failed.name, found, failed.detail)
    if report.outcome is Outcome.INCONCLUSIVE:
        return Finding(report.level, INCONCLUSIVE, seconds, name, why=detail[:MAX_WHY])
    return _failure(report.level, detail, failure, seconds, name)


def _kill(level: int, seconds: float, check: str, found: Divergence | None, detail: str = "") -> Finding:
    if found is None:
        return Finding(level, KILLED, seconds, check, why=detail[:MAX_WHY])
    return Finding(
        level, KILLED, seconds, check, found.rule, found.address, "" if found.case else found.cause[:MAX_WHY]
    )


def _failure(level: int, said: str, failure: Failure | None, seconds: float, check: str = "") -> Finding:
    line = said.split("\n", 1)[0][:MAX_WHY]
    if failure is None or failure.side is not Side.CANDIDATE:
        return Finding(level, ERROR, seconds, check, why=line)
    return Finding(level, TIMEOUT if failure.how is Failing.LATE else CRASHED, seconds, check, why=line)
