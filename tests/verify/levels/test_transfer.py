"""Level 4 over the real machinery: what must pass, what must fail, and what must stay undecided."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import sandboxes
from harness.task.contract import TASK_FILE
from harness.task.load import load_task, without_training
from harness.task.training import PpoConfig
from harness.training.policy import Policy
from harness.training.ppo import Ppo
from harness.training.trained import Trained
from harness.verdict import CheckResult, LevelReport, Outcome
from harness.verify.levels import transfer, transfer_policies
from harness.verify.request import LevelsRequest
from harness.verify.verifier import Verifier
from tests.edits import edit
from tests.paths import ENVIRONMENTS, WALK

pytestmark = pytest.mark.slow
BUDGET = """
[transfer]
margin = {margin}
because = "a test"
steps = {steps}
minimum_return = {minimum}
seeds = {seeds}
episodes = {episodes}

[transfer.ppo]
num_envs = 16
rollout_steps = 32
learning_rate = 5e-3
hidden = [16]
"""
LEARNS = 6144
"""Steps after which a walker has learned to walk straight out of the field, for a return of 6."""

SHORT = {"margin": 25.0, "minimum": 100.0, "episodes": 4}

Edit = tuple[str, str, str]
Report = Callable[[str, int, int], None]


class Run:
    """A copy of a task with a small budget for level 4, and the reports of that level on its candidate."""

    def __init__(self, source: Path, directory: Path, *edits: Edit, **budget: Any) -> None:
        self.directory = directory / source.name
        shutil.copytree(source, self.directory, ignore=shutil.ignore_patterns("__pycache__"))
        values = {"margin": 1.0, "steps": LEARNS, "minimum": 4.0, "seeds": [3], "episodes": 8} | budget
        file = self.directory / TASK_FILE
        file.write_text(without_training(file.read_text()) + BUDGET.format(**values))
        for name, old, new in edits:
            edit(self.directory / name, old, new)

    def report(self, progress: Report = lambda what, done, total: None, policies: Path | None = None) -> LevelReport:
        task = load_task(self.directory)
        with Verifier(task, sandboxes.choose(None), progress=progress, policies=policies) as verifier:
            verdict = verifier.verify(self.directory, LevelsRequest((4,), 11))
        assert verdict.error == "", verdict.error
        return verdict.reports[-1]


def named(report: LevelReport, part: str) -> CheckResult:
    [check] = [check for check in report.checks if part in check.name]
    return check


@pytest.fixture(scope="module")
def resumed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[LevelReport, list[tuple[str, int]], Path]]:
    """The same environment twice, enough trainings, and an interruption in the middle; also what was reported after it."""
    root = tmp_path_factory.mktemp("resumed")
    run = Run(WALK, root, seeds=[10, 12], episodes=8, margin=2.0)

    def interrupt(what: str, done: int, total: int) -> None:
        if "in the reference" in what and done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run.report(interrupt, root / "policies")
    reported: list[tuple[str, int]] = []
    report = run.report(lambda what, done, total: reported.append((what, done)), root / "policies")
    yield report, reported, root / "policies"


def test_a_faithful_candidate_passes(resumed: tuple[LevelReport, Any, Path]) -> None:
    report = resumed[0]
    assert report.outcome is Outcome.PASS, [check for check in report.checks if check.outcome is not Outcome.PASS]
    assert report.episodes == 8 * len(report.transfer["policies"])
    assert named(report, "trained in the candidate, played").detail == "every episode is the same in both"


def test_the_report_tells_margin_noise_floor_and_every_policy(resumed: tuple[LevelReport, Any, Path]) -> None:
    report, _, kept = resumed
    assert report.transfer is not None
    assert report.transfer["because"] == "a test" and report.transfer["noise_floor"]["decidable"]
    policies = report.transfer["policies"]
    assert {policy["trained_in"] for policy in policies} == {"candidate", "reference"}
    assert len({policy["digest"] for policy in policies}) == len(policies)
    for policy in policies:
        assert Trained.load(kept / f"{policy['digest']}.npz").seed == policy["seed"]
    assert {row["decision"] for row in report.transfer["comparisons"]} == {"equivalent"}


def test_an_interrupted_level_goes_on_with_the_policies_that_it_had_trained(
    resumed: tuple[LevelReport, list[tuple[str, int]], Path],
) -> None:
    _, reported, kept = resumed
    first = [done for what, done in reported if "policies in the candidate" in what]
    assert first[0] > 0, "it trained the first policies again"
    assert not list(kept.glob("training-*")), "a run that ended keeps policies only"


def test_an_undertrained_policy_is_inconclusive(tmp_path: Path) -> None:
    report = Run(WALK, tmp_path, steps=512, minimum=5.9, seeds=[2]).report()
    learned = named(report, "have learned")
    assert report.outcome is Outcome.INCONCLUSIVE and learned.outcome is Outcome.INCONCLUSIVE
    assert "raise transfer.steps" in learned.detail


def test_fewer_policies_play_together_where_their_episodes_are_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transfer, "MOST_BYTES", 1)
    reported: list[int] = []

    def progress(what: str, done: int, total: int) -> None:
        if "playing policies trained in the candidate" in what:
            reported.append(done)

    assert Run(WALK, tmp_path, steps=512, seeds=[2]).report(progress).outcome is Outcome.INCONCLUSIVE
    assert reported == [0, 1]


def test_too_few_trainings_are_inconclusive_and_the_report_says_how_many_would_do(tmp_path: Path) -> None:
    report = Run(WALK, tmp_path, seeds=[3]).report()
    assert report.outcome is Outcome.INCONCLUSIVE
    undecided = named(report, "trained in either")
    assert undecided.outcome is Outcome.INCONCLUSIVE and "trainings in each backend would decide" in undecided.detail
    assert named(report, "have learned").outcome is Outcome.PASS


def test_a_reward_of_another_sign_at_one_event_fails(tmp_path: Path) -> None:
    edit = (
        "candidate/env.py",
        "    return after, outputs(after, reward)",
        "    reward = jnp.where(jnp.abs(after['place']) > 5.0, -reward, reward)\n    return after, outputs(after, reward)",
    )
    report = Run(WALK, tmp_path, edit, seeds=[2]).report()
    assert report.outcome is Outcome.FAIL
    [found] = report.divergences
    assert found.path == "reward" and found.case is not None and found.reproduced


def test_a_trainer_that_learns_otherwise_in_one_backend_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The episodes are the same in both, so only what comes out of training shows it."""
    train, run = (
        transfer_policies.train_host,
        Run(ENVIRONMENTS / "cartpole", tmp_path, **SHORT, seeds=[6], steps=40_000),
    )
    task = load_task(run.directory)
    assert task.transfer is not None
    config = replace(PpoConfig.from_json(task.transfer.ppo), learning_rate=1e-7)
    mistuned = Ppo(Policy(task.leaves, config))

    def other(vector: Any, leaves: Any, _: Any, *arguments: Any, ppo: Any, **options: Any) -> Trained:
        return train(vector, leaves, config, *arguments, ppo=mistuned, **options)

    monkeypatch.setattr(transfer_policies, "train_host", other)
    report = run.report()
    assert report.outcome is Outcome.FAIL
    assert named(report, "trained in either").outcome is Outcome.FAIL
    assert report.divergences[0].rule == "equivalence"


def test_where_only_laws_are_compared_a_faithful_candidate_is_not_accused(tmp_path: Path) -> None:
    report = Run(WALK, tmp_path, (TASK_FILE, 'mode = "tape"', 'mode = "law"'), seeds=[3], episodes=20).report()
    assert not report.divergences
    assert named(report, "laws of episodes under policies trained in the candidate").outcome is Outcome.PASS
    assert any("distributions" in note for note in report.notes)


@pytest.mark.nightly
def test_gravity_two_percent_too_strong_fails(tmp_path: Path) -> None:
    edit = ("candidate/env.py", "GRAVITY = 9.8\n", "GRAVITY = 9.996\n")
    report = Run(ENVIRONMENTS / "cartpole", tmp_path, edit, seeds=[2], steps=1024).report()
    assert report.outcome is Outcome.FAIL
    assert report.divergences[0].module == "dynamics"


@pytest.mark.pong
@pytest.mark.nightly
def test_a_paddle_three_percent_too_fast_fails(tmp_path: Path) -> None:
    edit = ("candidate/env.py", "PADDLE_SPEED, BALL_SPEED = 8.0,", "PADDLE_SPEED, BALL_SPEED = 8.24,")
    report = Run(ENVIRONMENTS / "pong", tmp_path, edit, seeds=[2], steps=1024).report()
    assert report.outcome is Outcome.FAIL
    assert report.divergences[0].module == "paddles"
