"""Whole measurements on the walk: mutants are caught where it is said, and a wrong shortcut is told by them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import sandboxes
from harness.measure.strength.rare import run
from harness.measure.strength.rare.curve import AS_SAID, CONTRADICTED, Curve
from harness.measure.strength.rare.play import RandomPlay
from harness.measure.strength.rare.run import Settings, measure
from harness.measure.strength.rare.watching import Meeting
from harness.measure.strength.result import strength_digest
from harness.measure.strength.run import StrengthError
from harness.model import Array
from harness.task.load import load_task
from tests.cli.conftest import Result, home, lockstep
from tests.paths import WALK

__all__ = ["home", "lockstep"]

SEED = 5
SMALL = Settings(predicates=10, steps=60_000, runs=1, exploring=(1,), plant=2)


def measured(journals: Path, settings: Settings = SMALL, *, seed: int | None = SEED, **budgets: int) -> Curve:
    task = load_task(WALK)
    task = replace(task, budgets=replace(task.budgets, **budgets))
    return measure(task, task.directory, sandboxes.choose(None), settings, seed=seed, journals=journals)


@pytest.fixture(scope="module")
def curve(tmp_path_factory: pytest.TempPathFactory) -> Curve:
    """A measurement that nobody disturbed."""
    return measured(tmp_path_factory.mktemp("journals"))


@pytest.mark.slow
def test_mutants_of_what_was_met_are_caught_by_that_check_and_others_pass(curve: Curve) -> None:
    outcomes = [each.outcome for each in curve.planted]
    assert outcomes.count(AS_SAID) >= len(outcomes) - 1 and CONTRADICTED not in outcomes
    assert any(each.said for each in curve.planted)


@pytest.mark.slow
def test_without_exploration_the_same_is_met_as_where_nothing_is_explored(curve: Curve, tmp_path: Path) -> None:
    nothing = measured(tmp_path, replace(SMALL, plant=0), exploration=0)
    key = [(trial.predicate, trial.caught(0)) for trial in curve.trials]
    assert [(trial.predicate, trial.caught(1)) for trial in nothing.trials] == key


@pytest.mark.slow
def test_a_measurement_that_was_interrupted_goes_on_and_comes_to_the_same(
    curve: Curve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(run._Measurement, "_planted", _interrupted)
        with pytest.raises(KeyboardInterrupt):
            measured(tmp_path)
    resumed = measured(tmp_path)
    assert resumed.resumed
    assert strength_digest(resumed.to_json()) == strength_digest(curve.to_json())


def _interrupted(*arguments: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.slow
def test_a_shortcut_that_counts_steps_that_were_not_compared_is_contradicted_by_mutants(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest, play = Meeting.compared, RandomPlay.batches
    played: list[Array] = []

    def remembered(*arguments: Any) -> Iterator[Array]:
        for rows in play(*arguments):
            played.append(rows)
            yield rows

    def counting_too_much(meeting: Meeting, *arguments: Any) -> None:
        meeting._waiting.extend(played)
        played.clear()
        honest(meeting, *arguments)

    monkeypatch.setattr(RandomPlay, "batches", remembered)
    monkeypatch.setattr(Meeting, "compared", counting_too_much)
    monkeypatch.setattr(run, "SHARES", (1e-4,))
    monkeypatch.setattr(run, "TRAINING_LEVEL", 3)  # so that much is missed in truth, as by small budgets
    settings = replace(SMALL, predicates=20, steps=200_000, plant=4)
    planted = measured(tmp_path, settings, exploration=0, examples=2, sequences=1, episodes=3).planted
    assert all(each.said.startswith("level 1") for each in planted)
    assert CONTRADICTED in [each.outcome for each in planted]


@pytest.mark.slow
def test_the_command_shows_the_curve_and_its_json_is_read(lockstep: Callable[..., Result]) -> None:
    few = ["--rare", "--predicates", "5", "--steps", "60000", "--runs", "1", "--exploring", "1", "--seed", "3"]
    shown = lockstep("strength", str(WALK), *few, "--json")
    assert shown.code == 0, shown.err
    read = Curve.from_json(shown.document)
    assert read.points()[0].share == 1e-2 and read.explorings == (0, 1)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--rare", "--sample", "5"], "--rare takes no"),
        (["--rare", "--level", "2"], "--rare takes no"),
        (["--predicates", "5"], "--predicates belongs to --rare"),
        (["--exploring", "5"], "--exploring belongs to --rare"),
    ],
)
def test_options_that_do_not_belong_together_are_refused(
    lockstep: Callable[..., Result], arguments: list[str], words: str
) -> None:
    refused = lockstep("strength", str(WALK), *arguments)
    assert refused.code == 2 and words in refused.err


def test_mutants_are_not_made_of_a_crate_and_states_are_needed(tmp_path: Path) -> None:
    task = load_task(WALK)
    crate = replace(task, candidate=replace(task.candidate, kind="rust"))
    with pytest.raises(StrengthError, match="made in JAX only"):
        measure(crate, WALK, sandboxes.choose(None), Settings(plant=1), journals=tmp_path)
    blind = replace(task, leaves={path: leaf for path, leaf in task.leaves.items() if not path.startswith("state/")})
    with pytest.raises(StrengthError, match="no single states"):
        measure(blind, WALK, sandboxes.choose(None), journals=tmp_path)
