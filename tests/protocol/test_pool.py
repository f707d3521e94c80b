"""Several workers as one: the same answers in the same order, and a failure that leaves none of them half read."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from harness.errors import Crashed, Raised
from harness.model import Case
from harness.protocol.environment import Environment, Pool

Open = Callable[..., Environment]
CASES = [Case(seed, {"action": np.arange(seed % 9) % 3}) for seed in range(40)]


@pytest.fixture
def pool(open_walker: Open) -> Iterator[Pool]:
    made = Pool([open_walker(), open_walker(), open_walker()])
    yield made
    made.close()


def test_a_pool_answers_as_one_worker_does_and_in_order(pool: Pool) -> None:
    alone = pool.first.rollout(CASES)
    assert [t.digest for t in pool.rollout(CASES)] == [t.digest for t in alone]
    driven = pool.drive("random", range(40), 9)
    assert [t.case.seed for t in driven] == list(range(40))
    assert [t.digest for t in driven] == [t.digest for t in pool.first.drive("random", range(40), 9)]


@pytest.mark.parametrize("count", [0, 1, 2])
def test_there_may_be_less_work_than_workers(pool: Pool, count: int) -> None:
    assert [t.case for t in pool.rollout(CASES[:count])] == CASES[:count]


def test_a_worker_that_dies_fails_the_call_and_the_others_stay_usable(open_walker: Open) -> None:
    healthy = open_walker()
    pool = Pool([open_walker("faulty:ExitsWith3"), healthy])
    for _ in range(2):
        with pytest.raises(Crashed):
            pool.rollout(CASES)
    assert healthy.rollout(CASES[:5])[4].case is CASES[4]
    assert [environment.alive for environment in pool.environments] == [False, True]
    pool.close()
    assert not healthy.alive


def test_an_exception_in_one_worker_is_raised_after_all_have_answered(open_walker: Open) -> None:
    pool = Pool([open_walker("faulty:Raises"), open_walker("faulty:Raises")])
    with pytest.raises(Raised, match="the third step is too much"):
        pool.rollout(CASES)
    short = [case for case in CASES if case.length < 3]
    assert [t.case for t in pool.rollout(short)] == short
    pool.close()


def test_an_interrupt_ends_the_workers_and_not_only_the_wait(open_walker: Open) -> None:
    pool = Pool([open_walker("faulty:Hangs", timeout=60.0), open_walker("faulty:Hangs", timeout=60.0)])
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        pool.rollout(CASES)
    timer.join()
    assert not any(environment.alive for environment in pool.environments)
    pool.close()
