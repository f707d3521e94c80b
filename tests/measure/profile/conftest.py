"""The walk, measured: small enough that a profile of it takes seconds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import sandboxes
from harness.candidate.start import CandidateWorker
from harness.measure.profile.contenders import CANDIDATE, Cell, Contender, interleaved, prepare
from harness.measure.profile.spotcheck import SpotCheck, spot_check
from harness.reference.install import setup
from harness.reference.start import start_references
from harness.support.progress import silent
from harness.task.load import load_task
from harness.verify.pair import Pair
from harness.verify.suite.client import Suite
from tests.verify.levels.conftest import Walk

Measure = Callable[[Path, str, int, int], tuple[Cell, SpotCheck]]


@pytest.fixture
def walk(tmp_path: Path) -> Walk:
    return Walk(tmp_path / "walk")


@pytest.fixture
def measured() -> Iterator[Measure]:
    """Times one kind of run of a task's candidate at one batch size, and spot-checks it."""
    ends: list[Callable[[], None]] = []

    def measure(directory: Path, kind: str, batch: int, length: int) -> tuple[Cell, SpotCheck]:
        task = load_task(directory)
        pool = start_references(task, setup(task))
        ends.append(pool.close)
        worker = CandidateWorker(task, sandboxes.choose(None))
        ends.append(worker.close)
        candidate = worker.open(directory)
        rng = np.random.default_rng(0)
        contender = Contender("candidate", CANDIDATE, candidate, worker.pid)
        cell = prepare(contender, kind, batch, length, seconds=0.02, longest_s=1.0, seed=5)
        interleaved([cell], 3, lambda: int(rng.integers(1 << 62)), lambda done: None)
        pair = Pair(task, Suite(), pool, candidate, 7, silent)
        return cell, spot_check(pair, cell, np.random.default_rng(1), 400)

    yield measure
    for end in reversed(ends):
        end()
