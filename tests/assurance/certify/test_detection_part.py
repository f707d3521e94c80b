"""A certificate has a detection curve where one was asked for; what else it has is a stand-in here."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import sandboxes
from harness.assurance.certify import examination
from harness.assurance.certify.examination import Settings, examine
from harness.assurance.certify.recheck import Again, _compared
from harness.measure.strength.rare.run import Settings as RareSettings
from harness.measure.strength.run import StrengthError
from harness.record.certificate import DETECTION, PARTS, SPEED, STRENGTH, seed_of
from harness.support.progress import silent
from harness.task.load import load_task
from tests.measure.strength.rare.synthetic import curve
from tests.paths import WALK

SEED = 11


class StandIn:
    """A verifier that passes."""

    questions: Any = None

    def __init__(self, *arguments: Any, **named: Any) -> None:
        pass

    def __enter__(self) -> StandIn:
        return self

    def __exit__(self, *exception: object) -> None:
        pass

    def verify(self, *arguments: Any) -> SimpleNamespace:
        return told({"outcome": "PASS", "levels": []})


def told(document: dict[str, Any]) -> SimpleNamespace:
    """What a measurement returns."""
    return SimpleNamespace(to_json=lambda: document)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[RareSettings, int]]:
    """What the measurement of the curve is asked for; the others are stand-ins."""
    found: list[tuple[RareSettings, int]] = []

    def measure(
        task: Any, tree: Any, driver: Any, settings: RareSettings, *, seed: int, progress: Any, engine: None
    ) -> SimpleNamespace:
        found.append((settings, seed))
        return told(curve().to_json())

    monkeypatch.setattr(examination, "Verifier", StandIn)
    monkeypatch.setattr(examination, "_probed", lambda *arguments: {"outcome": "PASS"})
    monkeypatch.setattr(examination.coverage, "measure", lambda *arguments: told({"together": {}}))
    monkeypatch.setattr(examination.strength, "measure", lambda *arguments, **named: told({"rates": {}}))
    monkeypatch.setattr(examination.speed, "profile", lambda *arguments, **named: told({"outcome": "PASS"}))
    monkeypatch.setattr(examination.rare, "measure", measure)
    return found


def parts(settings: Settings) -> dict[str, Any]:
    task = load_task(WALK)
    return dict(examine(task, Path(), sandboxes.choose(None), SEED, settings, silent).parts)


def test_a_curve_that_was_asked_for_is_measured_with_the_exploration_of_a_certificate(
    asked: list[tuple[RareSettings, int]],
) -> None:
    found = parts(Settings(detection=30))
    assert list(found) == [*PARTS[: PARTS.index(STRENGTH) + 1], DETECTION, SPEED]
    assert asked == [(RareSettings(predicates=30, exploring=(1, 10)), seed_of(SEED, DETECTION))]
    assert found[DETECTION]["outcome"] == "PASS"


def test_without_one_everything_is_as_it_was(asked: list[tuple[RareSettings, int]]) -> None:
    assert (list(parts(Settings())), asked) == (list(PARTS), [])
    assert Settings().to_json() == {"levels": [], "mutants": None, "batches": []}
    for settings in (Settings(), Settings(detection=7)):
        assert Settings.from_json(json.loads(json.dumps(settings.to_json()))) == settings


def test_where_no_curve_can_be_measured_the_certificate_says_why(
    asked: list[tuple[RareSettings, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*arguments: Any, **named: Any) -> Any:
        raise StrengthError("the task compares no single states")

    monkeypatch.setattr(examination.rare, "measure", refused)
    found = parts(Settings(detection=7))[DETECTION]
    assert found["outcome"] == "SKIPPED" and "no single states" in found["because"]


def test_a_curve_is_the_same_again_but_for_times_and_another_is_different() -> None:
    before = {"outcome": "PASS", **curve().to_json()}
    later = {"outcome": "PASS", **curve(duration_s=77.0).to_json()}
    other = {"outcome": "PASS", **curve(seed=8).to_json()}
    assert _compared(DETECTION, before, later, {}, {}).again is Again.EXACT
    assert _compared(DETECTION, before, other, {}, {}).again is Again.DIFFERENT
    assert _compared(DETECTION, before, other, {"cpu": "a"}, {"cpu": "b"}).again is Again.WITHIN
