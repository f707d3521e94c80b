"""Level 4 of a candidate in Rust: where nothing is left to chance, one seed teaches the same in both backends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.protocol.vector import Stepped, VectorStep
from harness.task.contract import TASK_FILE
from harness.training.trained import Trained
from harness.verdict import LevelReport, Outcome
from harness.verify.levels import transfer_policies
from tests.rust.games import write_walk
from tests.verify.levels.test_transfer import Run, named

pytestmark = [pytest.mark.slow, pytest.mark.rust]
STILL = (
    (TASK_FILE, 'action = { dtype = "int32", low = 0, high = 2 }', 'action = { dtype = "int32", low = 0, high = 1 }'),
    ("reference/adapter.py", '"low": 0, "high": 2}', '"low": 0, "high": 1}'),
)
"""Without the action that lets the wind decide nothing is drawn."""


def report(directory: Path) -> LevelReport:
    return Run(write_walk(directory / "source" / "walk"), directory, *STILL, steps=2048, seeds=[2]).report()


def test_trainings_from_one_seed_are_the_same_bit_by_bit(tmp_path: Path) -> None:
    found = report(tmp_path)
    assert found.transfer is not None and found.outcome is Outcome.INCONCLUSIVE  # two pairs are too few to pass
    assert found.transfer["comparisons"][-1]["same_policies"] == 2
    assert "2 of them the same bit by bit in both" in named(found, "trained in either").detail
    seeds: dict[str, list[int]] = {"candidate": [], "reference": []}
    for policy in found.transfer["policies"]:
        seeds[policy["trained_in"]].append(policy["seed"])
    assert seeds["candidate"] == seeds["reference"] and len(set(seeds["reference"])) == 2


def test_one_reward_that_only_trainings_meet_sends_them_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No episode that is played shows it, as with a fault that strikes rarely."""
    train = transfer_policies.train_host

    def other(vector: Callable[..., Stepped], *arguments: Any, backend: str, **options: Any) -> Trained:
        def paying_more(seeds: Sequence[int]) -> Stepped:
            begun = vector(seeds)
            advance, steps = begun.advance, iter(range(1 << 20))

            def more(*asked: Any) -> VectorStep:
                answer = advance(*asked)
                if next(steps) == 20:
                    answer.leaves["reward"] = answer.leaves["reward"] + np.float32([0.01] + [0.0] * (begun.count - 1))
                return answer

            monkeypatch.setattr(begun, "advance", more)
            return begun

        return train(paying_more if backend == "candidate" else vector, *arguments, backend=backend, **options)

    monkeypatch.setattr(transfer_policies, "train_host", other)
    found = report(tmp_path)
    assert found.transfer is not None and not found.divergences
    assert found.transfer["comparisons"][-1]["same_policies"] == 0
    assert "bit by bit" not in named(found, "trained in either").detail
