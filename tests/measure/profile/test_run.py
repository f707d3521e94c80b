"""A whole profile, and what it leaves behind."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import sandboxes
from harness.measure.profile import text
from harness.measure.profile.run import Settings, profile
from harness.operations.profiling import PROFILE, profile_session
from harness.session.prompts.render import render
from harness.session.session import Session
from harness.task.load import load_task
from harness.verdict import Outcome
from tests.verify.levels.conftest import Walk

pytestmark = pytest.mark.slow

PEERS = """
[[peers]]
name = "quick"
adapter = "peers/quick.py:Quick"

[[peers]]
name = "small"
adapter = "peers/quick.py:Small"

[[peers]]
name = "broken"
adapter = "peers/quick.py:Broken"
"""
QUICK = """
import numpy as np


class Quick:
    answers_batches = True

    def open(self, options):
        return {"kinds": ["step", "train"], "cores": 1}

    def vector(self, seeds, state=False):
        self.steps = np.zeros(len(seeds), int)
        return {"leaves": self.leaves(self.steps < 0), "draws": []}

    def advance(self, actions, next):
        self.steps += 1
        over = self.steps == 5
        self.steps[over] = 0
        leaves = self.leaves(over)
        final = {"observation": leaves["observation"][over]} if over.any() else {}
        return {"leaves": leaves, "ended": np.flatnonzero(over).tolist(), "draws": [], "final": final, "next_draws": []}

    def leaves(self, over):
        observed = np.stack([self.steps, -self.steps], 1).astype(np.float32)
        return {"observation": observed, "reward": over.astype(np.float32), "terminated": over, "truncated": over & False}

    def bench_prepare(self, kind, batch, length):
        self.place = np.zeros(batch)
        return {}

    def bench_run(self, kind, batch, length, seed, repeats):
        for _ in range(length * repeats):
            self.place = np.where(np.abs(self.place) > 5, 0, self.place + 1)
        return {}

    def close(self):
        pass


class Small(Quick):
    def vector(self, seeds, state=False):
        raise RuntimeError("it has no room for so many")


class Broken(Quick):
    def open(self, options):
        raise RuntimeError("it lacks a library")
"""
SETTINGS = Settings(batches=(16,), kinds=("step", "scan"), seconds_per=0.1)


@pytest.fixture
def task(walk: Walk) -> Path:
    (walk.directory / "peers").mkdir()
    (walk.directory / "peers" / "quick.py").write_text(QUICK)
    with (walk.directory / "task.toml").open("a") as file:
        file.write(PEERS)
    return walk.directory


def test_candidate_reference_and_peers_stand_side_by_side(task: Path) -> None:
    done = profile(load_task(task), task, sandboxes.choose(None), SETTINGS)
    document = json.loads(json.dumps(done.to_json(), allow_nan=False))
    assert document["outcome"] == "PASS", document
    cells = {(each["contender"], each["kind"]): each for each in document["measurements"]}
    own = {("reference", "adapter"), ("reference", "episodes"), ("candidate", "step"), ("candidate", "scan")}
    assert set(cells) == own | {("quick", "step"), ("small", "step")}
    for each in cells.values():
        assert 0 < each["steps_per_s"]["low"] <= each["steps_per_s"]["median"] <= each["steps_per_s"]["high"]
    assert cells["quick", "step"]["per_core"] == cells["quick", "step"]["steps_per_s"]["median"]
    assert cells["candidate", "scan"]["compile_s"] > 0 and not cells["candidate", "scan"]["suspicious"]
    skipped = {each["contender"]: each["because"] for each in document["skipped"]}
    assert set(skipped) == {"broken", "reference, bare"} and "it lacks a library" in skipped["broken"]
    assert document["speed_up_against"] == "adapter" and "no `bare()`" in skipped["reference, bare"]
    assert {check["kind"] for check in document["checks"]} == {"step", "scan"}
    assert document["state_bytes"] == 12 and document["machine"]["device"]["platform"]
    sources = [each["source"] for each in document["hot"]["operations"]]
    assert any(source.startswith("env.py:") for source in sources)
    assert document["advice"]["because"] and "who" in text.summary(done)


def test_policies_are_trained_in_candidate_reference_and_those_peers_that_can_be(task: Path) -> None:
    settings = Settings(batches=(16,), kinds=("train",), seconds_per=0.1)
    done = profile(load_task(task), task, sandboxes.choose(None), settings)
    document = json.loads(json.dumps(done.to_json(), allow_nan=False))
    assert document["outcome"] == "PASS", document
    trained = {each["contender"]: each for each in document["measurements"] if each["kind"] == "train"}
    assert set(trained) == {"candidate", "quick", "reference"}
    skipped = {each["contender"]: each["because"] for each in document["skipped"]}
    assert "no room for so many" in skipped["small, train at batch 16"]
    for each in trained.values():
        assert each["batch"] == 16 and each["steps_per_s"]["low"] > 0
    assert trained["candidate"]["compile_s"] > 0
    assert "environment_share" not in trained["reference"] and document["method"]["train_at"] == [16]


def test_a_reference_that_is_too_slow_to_be_trained_in_is_said_to_be(
    task: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.measure.profile.run.LONGEST_UPDATE_S", 1e-6)
    settings = Settings(batches=(16,), kinds=("train",), seconds_per=0.1, peers=())
    done = profile(load_task(task), task, sandboxes.choose(None), settings)
    [_, skipped] = done.skipped
    assert skipped.contender == "reference, train at batch 16" and "one update would take" in skipped.because


def test_an_unknown_peer_is_named(task: Path) -> None:
    settings = Settings(batches=(16,), kinds=("step",), peers=("quik",))
    done = profile(load_task(task), task, sandboxes.choose(None), settings)
    assert done.outcome is Outcome.ERROR and "'quik'" in done.error and "quick" in done.error


def test_a_session_keeps_the_figures_with_the_tree_and_tells_them_in_the_prompt(task: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    settings = Settings(batches=(16,), kinds=("step", "scan"), seconds_per=0.1, peers=())
    recorded: list[int] = []

    @contextmanager
    def interruptible() -> Iterator[None]:
        recorded.append(len(session.events))
        yield
        recorded.append(len(session.events))

    with Session.start(task, tmp_path / "workspace", home) as session:
        report = profile_session(session, settings, client="somebody", interruptible=interruptible())
        assert recorded == [1, 1], "the record may not be cut short, so nothing is recorded where that is allowed"
        event = next(each for each in session.events if each.kind == PROFILE)
        assert (report.event, event.outcome, event.detail["client"]) == (event.seq, "PASS", "somebody")
        assert report.verified is None
        assert {each["kind"] for each in event.detail["figures"]} == {"adapter", "episodes", "step", "scan"}
        assert event.workspace is not None and event.workspace["gitTree"]
        prompt = render("optimise_jax", session.id, home=home, samples=False)
    assert f"event {event.seq}" in prompt and "candidate  step" in prompt


def test_a_candidate_is_measured_on_several_devices_beside_one(walk: Walk) -> None:
    settings = Settings(
        batches=(8, 9), kinds=("step", "scan"), seconds_per=0.02, rounds=2, peers=(), trace=False, devices=2
    )
    measured = profile(load_task(walk.directory), walk.directory, sandboxes.choose(None), settings, seed=5)
    assert measured.outcome is Outcome.PASS, measured.error
    spread = [(each.kind, each.batch) for each in measured.measurements if each.contender == "candidate, 2 devices"]
    assert spread == [("step", 8), ("scan", 8)] and measured.method["devices"] == 2
    assert ("candidate, 2 devices, batch 9", "it cannot be shared out equally") in [
        (each.contender, each.because) for each in measured.skipped
    ]
