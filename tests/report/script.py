"""Sessions whose verdicts a test writes down beforehand: everything but the judgement is real."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from harness.course import Course
from harness.deviations import Deviation, OpenLoop, Spread
from harness.model import Case
from harness.occurrences import Occurrences
from harness.session.session import Session, Verifier
from harness.support.progress import Progress
from harness.task.load import load_task
from harness.verdict import CheckResult, Divergence, LevelReport, Outcome, Verdict
from harness.verify.request import LevelsRequest
from tests.session.standin import make_task

MODULES = ("start", "moves")
FEATURES = {"the walker fell": 12, "the walker flew": 0}
TRANSFER: Mapping[str, Any] = {
    "margin": 1.0,
    "because": "a step more or less is noise",
    "minimum_return": 0.0,
    "episodes": 32,
    "noise_floor": {"spread": 0.8, "half_width": 0.6, "trainings": 12, "decidable": True},
    "policies": [
        {
            "trained_in": backend,
            "seed": 7,
            "steps": 5000,
            "digest": "ab" * 32,
            "returns": {"candidate": 9.5, "reference": 9.25},
        }
        for backend in ("candidate", "reference")
    ],
    "results": [
        {
            "trained_in": "candidate",
            "steps": 5000,
            "played_in": side,
            "player": "red",
            "opponent": "random",
            "episodes": 40,
            "won": {"share": 0.75, "interval_95": [0.588, 0.873]},
            "drawn": {"share": 0.0, "interval_95": [0.0, 0.088]},
            "lost": {"share": 0.25, "interval_95": [0.127, 0.412]},
        }
        for side in ("candidate", "reference")
    ],
    "comparisons": [
        {
            "name": "trained in the candidate, played in both",
            "decision": "equivalent",
            "identical": True,
            "trainings": 12,
            "means": [9.5, 9.5],
            "difference": 0.0,
            "interval": [0.0, 0.0],
            "bootstrap_95": [0.0, 0.0],
            "effect_size": 0.0,
            "probability_of_improvement": 0.5,
            "trainings_to_decide": None,
        },
        {
            "name": "trained in either, played in the reference",
            "decision": "undecided",
            "identical": False,
            "trainings": 12,
            "means": [9.5, 9.25],
            "difference": 0.25,
            "interval": [-0.75, 1.25],
            "bootstrap_95": [-0.5, 1.0],
            "effect_size": 0.3,
            "probability_of_improvement": 0.55,
            "same_policies": 2,
            "trainings_to_decide": 16,
        },
    ],
}


def figures(scale: float = 1.0) -> list[dict[str, Any]]:
    """What a profile's event keeps: a candidate, a peer and the reference."""
    rows = [("reference", "reference", "episodes", 2, 2e4)]
    for batch in (32, 512, 8192):
        rows += [("candidate", "candidate", kind, batch, 1e5 * batch * scale) for kind in ("step", "scan")]
        rows += [("gymnax", "peer", "scan", batch, 5e4 * batch)]
    names = ("contender", "role", "kind", "batch", "steps_per_s")
    made = [dict(zip(names, row, strict=True)) for row in rows]
    return [each | {"low": row[-1] * 0.9, "high": row[-1] * 1.2} for each, row in zip(made, rows, strict=True)]


@dataclass
class Finding:
    """What the next verification finds: the divergences of one check, or nothing.

    Attributes:
        level: at which one; a level below passes.
        text: stands in every text that a candidate or a task has a say in.
        frames: pictures by name.
    """

    level: int = 0
    module: str | None = None
    text: str = ""
    actual: str = "0.0"
    count: int = 1
    undecided: bool = False
    error: str = ""
    features: Mapping[str, int] = field(default_factory=lambda: FEATURES)
    notes: tuple[str, ...] = ()
    frames: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class Scripted:
    """A verifier that reads its judgements from a script; an empty one passes everything."""

    directory: Path
    script: list[Finding]
    isolated: bool = True

    def verify(self, tree: Path, request: LevelsRequest) -> Verdict:
        made = self.script.pop(0) if self.script else Finding()
        reports = []
        for level in sorted(request.levels):
            reports.append(_report(made, level, request.module if level == 1 else None, request.seed))
            if reports[-1].outcome is not Outcome.PASS:
                break
        digest = load_task(self.directory).digest
        return Verdict(
            tuple(reports), request.seed, digest, "bubblewrap", self.isolated, 0.25, made.error, frames=made.frames
        )

    def close(self) -> None:
        """Nothing is kept running."""


def _report(made: Finding, level: int, module: str | None, seed: int) -> LevelReport:
    checks = [CheckResult(name, Outcome.PASS, name if level == 1 else None, 40) for name in (module or "whole", "laws")]
    if level == made.level:
        outcome = Outcome.INCONCLUSIVE if made.undecided else Outcome.FAIL
        found = () if made.undecided else tuple(_divergence(made, number) for number in range(made.count))
        checks.append(CheckResult(f"check {made.text}".strip(), outcome, made.module, 3, made.text, found))
    episodes = 100 if level == 3 else 0
    ends, rewards = {"terminated": 99, "truncated": 0, "both": 1}, {"0.0": 4900, "1.0": 100}
    bounds = {f"observation{made.text}": ("high",)}
    return LevelReport(
        level, module, tuple(checks), seed, episodes=episodes, steps=episodes * 50, duration_s=0.1,
        features=made.features if level == 3 else {}, notes=made.notes, transfer=TRANSFER if level == 4 else None,
        occurred=Occurrences(100, 5000, ends, rewards, unreached=bounds, longest=321) if level == 3 else None,
        deviations=_deviations(made.text) if level == 3 else {}, resynchronised=level == 3,
        open_loop=OpenLoop(20, 48.0, 51.0) if level == 3 else None,
    )  # fmt: skip


def _deviations(text: str) -> dict[str, Deviation]:
    off = Deviation(5000, 1250, Spread(1e-12, 2e-11, 5e-10), Spread(4.0, 96.0, 2048.0), 0.625)
    return {"reward": Deviation(5000, 5000), f"state/x{text}": off}


def _divergence(made: Finding, number: int) -> Divergence:
    actions = {"action": np.array([number, 1, 2], dtype=np.int64)}
    start = {"state/x": np.array(0.5)}
    return Divergence(
        Case(seed=number, actions=actions, start=start, name=made.text, origin=made.text), 2, "reward",
        f"1.0{made.text}", f"{made.actual}{made.text}", f"value{made.text}", made.level, f"check {made.text}".strip(),
        module=made.module, cause=made.text or "the rule of this step is wrong",
        course=Course(0, (0.5, None, 1.0), (0.5, 0.75, float(number))),
    )  # fmt: skip


class Play:
    """An open session and the script of its verifier."""

    def __init__(self, root: Path, *, trains: bool = False, isolated: bool = True) -> None:
        self.script: list[Finding] = []
        self.isolated = isolated
        root.mkdir(parents=True, exist_ok=True)
        task = make_task(root / "task", trains=trains)
        sandbox = None if isolated else "process"  # the floor has to be lowered for it
        self.session = Session.start(task, root / "workspace", root / "home", verifier=self._verifier, sandbox=sandbox)
        self.record = self.session.directory.repository
        self._edits = 0

    def _verifier(self, directory: Path, progress: Progress) -> Verifier:
        return Scripted(directory, self.script, self.isolated)

    def attempt(self, finding: Finding | None = None, message: str = "", level: int | None = None, **more: Any) -> None:
        """Change something and verify it."""
        self._edits += 1
        (self.session.workspace / "candidate" / "env.py").write_text(f"x = {self._edits}\n")
        self.script[:] = [finding or Finding()]
        self.session.verify(level, message=message, **more)

    def finish(self) -> None:
        """Pass every step that is left."""
        from harness.session import recipe

        while (step := recipe.next_step(self.session.state)) is not None:
            self.attempt(message=f"Pass {step}")

    def profile(self, outcome: str = "PASS", rows: Sequence[Mapping[str, Any]] | None = None, **detail: Any) -> None:
        """Record a profile as `lockstep profile` does."""
        made = {"figures": list(figures() if rows is None else rows), "summary": "who  steps/s", "finding": ""} | detail
        self.session.record("profile", outcome=outcome, detail=made, with_tree=True)


def typical(root: Path) -> Play:
    """A session with everything that a report shows: failures, repairs, pictures, speed, transfer, cost; left open."""
    play = Play(root, trains=True)
    picture = np.zeros((12, 16, 3), np.uint8)
    pictures = {"0-expected": picture, "0-actual": picture + 200}
    play.attempt(Finding(1, "start", frames=pictures), "A first try")
    play.session.report_usage(dollars=0.25, input_tokens=1200, output_tokens=340)
    play.attempt(message="Start at rest")
    play.attempt(message="Move")
    play.attempt(Finding(2, "moves", count=2), "Compose")
    play.attempt(message="Mend the moves", level=1)
    play.profile(rows=figures(0.5))
    play.attempt(message="Compose again")
    play.attempt(message="Whole episodes")
    play.attempt(Finding(4, undecided=True, text="12 trainings would decide"), "Train")
    play.attempt(message="Train longer")
    play.profile()
    return play
