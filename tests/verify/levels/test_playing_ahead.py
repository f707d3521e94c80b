"""Level 3 keeps the reference busy while the candidate works, and leaves nothing running when it stops early."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

import sandboxes
from harness.task.load import load_task
from harness.verdict import Outcome
from harness.verify.levels import rollout
from harness.verify.pair import Pair
from harness.verify.suite.client import Suite
from harness.verify.verifier import Verifier
from tests.verify.levels.conftest import WALK, Walk

SEEDS = list(range(1000, 1300))


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    task = load_task(WALK)
    with Verifier(task, sandboxes.choose(None), workers=2) as verifier:
        pool = verifier.reference()
        # Only the reference is asked anything here.
        yield Pair(task, Suite(), pool, pool.first, 7, lambda what, done, total: None)


def test_every_seed_is_played_once_and_in_order(pair: Pair) -> None:
    chunks = list(rollout.played_ahead(pair, "random", SEEDS))
    assert [trajectory.case.seed for chunk in chunks for trajectory in chunk] == SEEDS
    assert len(chunks[0]) == rollout.FIRST_CHUNK
    assert max(map(len, chunks)) == rollout.CHUNK


def test_chunks_stay_small_where_episodes_take_long(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rollout, "CHUNK_SECONDS", 0.0)
    assert {len(chunk) for chunk in rollout.played_ahead(pair, "random", SEEDS[:40])} == {rollout.FIRST_CHUNK}


@pytest.mark.parametrize("came", [[300], [8] * 37 + [4], [8, 128, 8, 128, 28]])
def test_groups_do_not_depend_on_the_pace_at_which_episodes_came(came: list[int]) -> None:
    episodes: Any = iter(range(300))
    chunks = [[next(episodes) for _ in range(size)] for size in came]
    groups = list(rollout.grouped(chunks, 1 << 30))
    assert [len(group) for group in groups] == [8, 8, 16, 32, 64, 128, 44]
    assert [each for group in groups for each in group] == list(range(300))
    assert [len(group) for group in rollout.grouped(chunks, 20)][:4] == [8, 8, 16, 16]
    assert [len(group) for group in rollout.grouped(chunks, 0)][:2] == [8, 8]


def test_nothing_is_played_any_more_for_a_caller_that_stops_early(pair: Pair) -> None:
    playing = rollout.played_ahead(pair, "random", SEEDS)
    next(playing)
    playing.close()
    assert not still_running("lockstep-ahead")
    assert list(rollout.played_ahead(pair, "random", [])) == []


@pytest.mark.slow
def test_a_failing_episode_ends_the_second_process_too(walk: Walk) -> None:
    walk.edit("candidate/env.py", [('"steps": state["steps"] + 1}', '"steps": state["steps"] + 2}')])
    verdict = walk.verify((3,))
    assert verdict.outcome is Outcome.FAIL, verdict.error
    assert verdict.reports[-1].checks[-1].name.startswith("episodes")
    assert not still_running("lockstep-second")


def still_running(prefix: str) -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith(prefix)]
