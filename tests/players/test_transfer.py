"""Level 4 with several players: policies from self-play meet the same opponents in both backends, from every seat."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import sandboxes
from harness.cli.main import main
from harness.task.contract import TASK_FILE
from harness.task.load import load_task
from harness.task.training import PpoConfig
from harness.training.policy import Policy
from harness.training.ppo import Ppo
from harness.training.trained import Trained
from harness.verdict import LevelReport, Outcome
from harness.verify.levels.transfer_groups import Group, shares_of
from harness.verify.request import LevelsRequest
from harness.verify.verifier import Verifier
from tests.edits import edit as replace_once
from tests.paths import NIM, STANDING, WALK

pytestmark = pytest.mark.slow
BUDGET = """
[transfer]
margin = {margin}
because = "a test"
steps = 512
minimum_return = {minimum}
seeds = [10]
episodes = 12
opponents = {opponents}

[transfer.ppo]
num_envs = 16
rollout_steps = 16
learning_rate = 5e-3
hidden = [16]
past = 2
network = "{network}"
"""
Edit = tuple[str, str, str]
HELD = PpoConfig(num_envs=16, rollout_steps=16, hidden=(8,))
"""Of the policy in `reference/held.npz`, which is another network than those that are trained."""


def report(
    source: Path,
    directory: Path,
    *edits: Edit,
    opponents: str = '["random"]',
    margin: float = 3.0,
    network: str = "mlp",
) -> LevelReport:
    """Level 4 on a copy of a task with a small budget."""
    copied = directory / source.name
    shutil.copytree(source, copied, ignore=shutil.ignore_patterns("__pycache__"))
    for name, old, new in edits:
        replace_once(copied / name, old, new)
    policy = Policy(load_task(copied).leaves, HELD, load_task(copied).player_names)
    learner = Ppo(policy).leaves(Ppo(policy).begin(1))
    Trained(learner, HELD, 1, 1, (), "candidate").save(copied / "reference" / "held.npz")
    file = copied / TASK_FILE
    file.write_text(file.read_text() + BUDGET.format(margin=margin, minimum=-1.0, opponents=opponents, network=network))
    with Verifier(load_task(copied), sandboxes.choose(None)) as verifier:
        verdict = verifier.verify(copied, LevelsRequest((4,), 11))
    assert verdict.error == "", verdict.error
    return verdict.reports[-1]


def test_honest_candidates_pass_against_every_kind_of_opponent_from_every_seat(tmp_path: Path) -> None:
    greedy = "class Nim:\n    policies = {'greedy': lambda row, rng: min(3, int(row['state/stones']))}\n\n"
    scripts = ("reference/adapter.py", "class Nim:\n", greedy)
    found = report(NIM, tmp_path, scripts, opponents='["random", "greedy", "reference/held.npz"]')
    assert found.outcome is Outcome.PASS, found.checks
    assert found.transfer is not None
    assert {each["name"].rpartition(", as ")[2] for each in found.transfer["comparisons"]} == {"first", "second"}
    rows = found.transfer["results"]
    assert {(row["player"], row["opponent"]) for row in rows} == {
        (player, opponent) for player in ("first", "second") for opponent in ("random", "greedy", "held.npz")
    }
    for row in rows:
        assert row["won"]["share"] + row["drawn"]["share"] + row["lost"]["share"] == pytest.approx(1)
        assert row["drawn"]["share"] == 0 and row["episodes"] == 10 * 2
    ways = [[row["won"] for row in rows if row["played_in"] == side] for side in ("candidate", "reference")]
    assert ways[0] == ways[1]


@pytest.mark.parametrize(
    ("source", "edit", "path"),
    [
        (NIM, ("candidate/env.py", '"second": rewards[1]', '"second": -jnp.abs(rewards[1])'), "reward/second"),
        (STANDING, ("candidate/env.py", "name: rewards[player]", "name: rewards[min(player, 1)]"), "reward/blue"),
    ],
)
def test_a_reward_that_one_player_alone_gets_wrongly_fails(source: Path, edit: Edit, path: str, tmp_path: Path) -> None:
    found = report(source, tmp_path, edit)
    [divergence] = [one for check in found.checks for one in check.divergences]
    assert (found.outcome, divergence.path) == (Outcome.FAIL, path)


def test_an_opponent_that_is_not_there_ends_in_an_error_that_names_it(tmp_path: Path) -> None:
    found = report(NIM, tmp_path, opponents='["greedy"]')
    assert found.outcome is Outcome.ERROR
    assert "there is no opponent 'greedy'" in found.checks[0].detail and "random" in found.checks[0].detail


def test_a_network_that_does_not_fit_ends_in_an_error_that_says_so(tmp_path: Path) -> None:
    found = report(NIM, tmp_path, network="cnn")
    assert found.outcome is Outcome.ERROR and "needs an observation of rank 3" in found.checks[0].detail


def test_what_one_seat_gains_and_another_loses_shows_seat_by_seat() -> None:
    group = Group("candidate", 1)
    group.returns["candidate"] = [np.array([1.0, -1.0, 1.0, -1.0])]
    assert group.means("candidate").tolist() == [0.0]
    assert [group.means("candidate", seat, 2).tolist() for seat in (0, 1)] == [[1.0], [-1.0]]


def test_shares_come_with_exact_intervals() -> None:
    shares = shares_of(np.array([1, 1, 0, -1, 1, 1, 1, 1, 1, 1]))
    assert [shares[name]["share"] for name in ("won", "drawn", "lost")] == [0.8, 0.1, 0.1]
    assert shares["won"]["interval_95"] == pytest.approx([0.4439, 0.9748], abs=1e-4)


def test_the_command_trains_players_and_tells_whom_they_beat(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = [f"--set={name}={value}" for name, value in (("num_envs", 8), ("rollout_steps", 32), ("hidden", "[8]"))]
    arguments = ["train", str(STANDING), "--steps", "512", "--episodes", "4", "--out", "policies", *settings, "--json"]
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 0
    [policy] = json.loads(capfd.readouterr().out)["policies"]
    assert [(row["player"], row["opponent"]) for row in policy["results"]] == [
        (player, "random") for player in ("red", "green", "blue")
    ]
    assert sum(row["episodes"] for row in policy["results"]) == 6, "four rounded up, so that each seat has as many"
    again = [*arguments, "--in", "reference", "--against", "policies/candidate-0.npz", "--against", "random"]
    assert main(again) == 0
    [policy] = json.loads(capfd.readouterr().out)["policies"]
    assert {row["opponent"] for row in policy["results"]} == {"candidate-0.npz", "random"}
    assert main([*arguments, "--episodes", "0"]) == 0
    [policy] = json.loads(capfd.readouterr().out)["policies"]
    assert policy["return"] is None and "results" not in policy
    assert main([*arguments, "--against", "nobody"]) != 0
    told = capfd.readouterr()
    assert "there is no opponent 'nobody'" in told.out and "training" not in told.err, "it was trained first"
    assert main(["train", str(WALK), "--against", "random"]) != 0
    assert "has one player" in capfd.readouterr().err
