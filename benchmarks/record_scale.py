"""A long session, of 500 attempts and 50 verified commits: how long the audit and the report take, how large they are.

The session is a real one, with every event, snapshot, commit and attestation. Its verdicts are not: they are those of the
stand-in of tests/session/standin.py, which compares files, because judging 500 candidates is not what is measured here. What
a verdict holds is of the size that real ones have: a shrunk case of 40 actions, the inputs of a probe, causes in words.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import report
from harness.assurance.audit import AuditReport, audit
from harness.model import Case
from harness.record.store import SETTINGS
from harness.session.session import Session
from harness.verdict import CheckResult, Divergence, LevelReport, Outcome, Verdict
from harness.verify.request import LevelsRequest
from tests.session.standin import Agent, FileComparison, make_task

ATTEMPTS, COMMITS = 500, 50
ACTIONS = 40
REPEATS = 3
CAUSE = (
    "the candidate adds the angular velocity before it is updated, where the reference takes the one of the step before; "
    "restored to the reference's state of row 17, one step shows it again, and no other leaf differs"
)
SCROLL = """async () => {
    const intervals = [], frame = () => new Promise(requestAnimationFrame);
    for (let last = await frame(); scrollY + innerHeight < document.documentElement.scrollHeight - 1;) {
        scrollBy(0, innerHeight / 10);
        const now = await frame();
        intervals.push(now - last);
        last = now;
    }
    return intervals;
}"""
LOCKSTEP = [sys.executable, "-P", "-c", "import sys; from harness.cli import main; sys.exit(main())"]


class Wordy(FileComparison):
    """The stand-in, with divergences of the size of real ones; each attempt finds another case."""

    def verify(self, tree: Path, request: LevelsRequest) -> Verdict:
        judged = super().verify(tree, request)
        return replace(judged, reports=tuple(self._reported(level, len(self.calls)) for level in judged.reports))

    def _reported(self, level: LevelReport, number: int) -> LevelReport:
        checks = (replace(check, divergences=tuple(_worded(check, number))) for check in level.checks)
        features = {f"feature {name}": 17 * number for name in "abcdefgh"}
        return replace(level, checks=tuple(checks), features=features)


def _worded(check: CheckResult, number: int) -> list[Divergence]:
    """Two divergences in place of the stand-in's one: an episode, and a probe."""
    if check.outcome is not Outcome.FAIL:
        return []
    found, chance = check.divergences[0], np.random.default_rng(number)
    case = Case(seed=number, actions={"action": chance.integers(0, 10, ACTIONS)}, origin="shrunk")
    inputs = {name: chance.standard_normal((1, 8)) for name in ("state/position", "state/velocity")}
    reported = replace(found, case=case, step=17, path="state/velocity", index=(3,), cause=CAUSE, reproduced=True)
    return [reported, replace(reported, case=None, step=0, probe="advance", inputs=inputs)]


def make_session(root: Path) -> tuple[Path, float]:
    """The record of a session of this size, and how many seconds making it took."""
    task = make_task(root / "task")
    contract = task / "task.toml"
    limits = contract.read_text().replace("iterations = 6", f"iterations = {2 * ATTEMPTS}")
    contract.write_text(limits.replace("dollars = 2.0", f"dollars = {ATTEMPTS}.0"))
    made: list[FileComparison] = []

    def factory(directory: Path, progress: Any) -> Wordy:
        made.append(Wordy(directory, progress))
        return made[-1]  # type: ignore[return-value]

    began = time.perf_counter()
    with Session.start(task, root / "workspace", root / "home", verifier=factory) as session:
        agent, between = Agent(session, made), ATTEMPTS // COMMITS
        agent.get_right()
        for number in range(ATTEMPTS):
            passes = number % between == between - 1
            agent.write("env.py", f"x = {number}\n" + "# a line of a candidate\n" * 200)
            agent.write("whole.txt", "" if passes else "fail3")
            agent.write("moves.txt", "moves\n" if passes or number % 2 else f"moves {number}\n")
            session.verify(3, message=f"Attempt {number}: another idea")
            session.report_usage(dollars=0.01, input_tokens=9_000, output_tokens=800)
        commits = sum(event.commit is not None for event in session.events)
        assert (len(session.state.attempts), commits) == (ATTEMPTS, COMMITS)
    return session.directory.repository, time.perf_counter() - began


def main() -> None:
    """Measure and report."""
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="lockstep-scale-") as scratch:
        root = Path(scratch)
        # Making it durable is not what is measured, and takes most of the time in which it is made.
        os.fsync, SETTINGS["core.fsync"] = lambda descriptor: None, "none"
        record, seconds = make_session(root)
        os.environ["LOCKSTEP_HOME"] = str(root / "home")
        rows.append(row("the session", "made, without waiting for the disk", f"{seconds:.0f} s", ""))
        bundle, page = root / "session.bundle", root / "report.html"
        timed("bundle", str(record), str(bundle))
        rows.append(row("bundle", "size", f"{bundle.stat().st_size / 1e6:.1f} MB", ""))
        times, audited = zip(*(audit_timed(record) for _ in range(REPEATS)), strict=True)
        rows.append(row("audit", f"{audited[0].events} events, best of {REPEATS}", f"{min(times):.2f} s", "under 5 s"))
        rows.append(row("audit", "the whole command", f"{timed('audit', str(record)):.2f} s", "under 5 s"))
        rows.append(
            row("audit", "the whole command, of the bundle", f"{timed('audit', str(bundle)):.2f} s", "under 5 s")
        )
        shown = timed("report", str(record), "--out", str(page))
        rows.append(row("report", "the whole command", f"{shown:.2f} s", "under 10 s"))
        rows.append(row("report", "size", f"{page.stat().st_size / 1e6:.2f} MB", "under 5 MB"))
        rows.extend(shown_in_chromium(page))
    report("record_scale", f"A session of {ATTEMPTS} attempts and {COMMITS} commits (stand-in verifier)", rows)


def shown_in_chromium(page: Path) -> list[dict[str, Any]]:
    """How long Chromium takes to open a page, and how evenly it scrolls through all of it, in steps of a screen's tenth."""
    program = shutil.which("chromium")
    if program is None:
        return [row("Chromium", "not installed (apt-get install chromium)", "not measured", "")]
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": 1280, "height": 900})
        began = time.perf_counter()
        tab.goto(page.as_uri(), wait_until="load")
        opened = time.perf_counter() - began
        intervals: list[float] = sorted(tab.evaluate(SCROLL))
        browser.close()
    shares = {"median": intervals[len(intervals) // 2], "95%": intervals[int(0.95 * len(intervals))]}
    reported = ", ".join(f"{name} {value:.0f} ms" for name, value in shares.items())
    long = sum(interval > 50 for interval in intervals)
    return [
        row("Chromium", "opens the page", f"{opened:.2f} s", ""),
        row("Chromium", f"scrolls through it, {len(intervals)} frames", reported, "under 50 ms"),
        row("Chromium", "frames over 50 ms", str(long), ""),
    ]


def audit_timed(record: Path) -> tuple[float, AuditReport]:
    """How many seconds an audit takes, and what it comes to, which must be that all holds."""
    began = time.perf_counter()
    audited = audit(record)
    seconds = time.perf_counter() - began
    assert audited.ok and len(audited.rows) == COMMITS, audited.problems
    return seconds, audited


def row(what: str, of: str, measured: str, goal: str) -> dict[str, Any]:
    """One row of the table."""
    return {"what": what, "of": of, "measured": measured, "goal": goal}


def timed(*arguments: str) -> float:
    """How many seconds a command takes, from the start of its process to its end."""
    began = time.perf_counter()
    subprocess.run([*LOCKSTEP, *arguments], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
