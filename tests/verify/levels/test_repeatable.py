"""A verdict is a function of tree, task and seed: not of the machine's pace, nor of what else a process has imported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.assurance.replay.reproduction import verdict_digest
from harness.verdict import Outcome, Verdict
from harness.verify.levels import rollout
from tests.verify.levels.conftest import Walk

SEARCH = """
import contextlib, sys
sys.path.insert(0, sys.argv[1])
import {module}
import hypothesis.strategies as st
from harness.verify import strategies
if {usual}:
    strategies._repeatable = contextlib.nullcontext
seen = []
strategies.simplest_failure(st.floats(-10, 10), lambda value: seen.append(value) or False, seed=3, examples=400)
print(seen)
"""


def searched(place: Path, module: str, *, usual: bool = False) -> str:
    """The examples that a process judges which has imported `module`."""
    program = SEARCH.format(module=module, usual=usual)
    command = [sys.executable, "-c", program, str(place)]
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=place).stdout


@pytest.mark.slow
def test_a_search_judges_the_same_examples_whatever_modules_are_imported(tmp_path: Path) -> None:
    place = tmp_path / "sources"  # not below a directory called tests, where Hypothesis does not look
    place.mkdir()
    (place / "first.py").write_text("NUMBERS = [0.123, 4.567, 8.901, 2.345]\n")
    (place / "second.py").write_text("NUMBERS = [6.789, 0.321, 7.654, 1.098]\n")
    assert searched(place, "first") == searched(place, "second")
    assert searched(place, "first", usual=True) != searched(place, "second", usual=True)


@pytest.mark.slow
def test_what_a_failure_of_level_3_tells_does_not_depend_on_the_pace(
    walk: Walk, monkeypatch: pytest.MonkeyPatch
) -> None:
    walk.edit("task.toml", [("episodes = 24", "episodes = 72")])
    # Wrong late in an episode only, so that most episodes agree and the first that differ stand in a later chunk.
    walk.edit(
        "candidate/env.py",
        [
            (
                "    return after, outputs(after, reward)",
                "    return after, outputs(after, reward + (after['steps'] == 36))",
            )
        ],
    )

    def judged(chunk_seconds: float) -> Verdict:
        monkeypatch.setattr(rollout, "CHUNK_SECONDS", chunk_seconds)
        return walk.verify((3,), seed=34)

    slow, quick = judged(0.0), judged(1e9)
    assert slow.outcome is quick.outcome is Outcome.FAIL
    [report] = slow.reports
    assert report.episodes >= rollout.FIRST_CHUNK, "the first chunk agrees"
    assert verdict_digest(slow.to_json()) == verdict_digest(quick.to_json())


@pytest.mark.slow
def test_evidence_tells_what_was_compared(walk: Walk) -> None:
    def evidence(**asked: Any) -> str:
        [report] = walk.verify((1,), **asked).reports
        assert report.outcome is Outcome.PASS
        return report.evidence

    first = evidence(module="moving", seed=3)
    assert first == evidence(module="moving", seed=3)
    assert first != evidence(module="moving", seed=4)
