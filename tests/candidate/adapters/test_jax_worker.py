"""The adapter in a worker's process, with no more of the harness around it than a sandbox has."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from harness.candidate.adapters.jax.flags import FLAGS
from harness.candidate.jax_process import jax_environment
from tests.candidate.adapters.contracts import DICE, assert_equal, dice_case, dice_expected
from tests.candidate.adapters.process import Worker


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[Worker]:
    started = Worker(tmp_path)
    yield started
    started.close()


def test_a_worker_needs_nothing_of_the_harness_but_the_adapters(worker: Worker) -> None:
    assert worker.ask("open", options=DICE)["ok"]["leaves"] == DICE["leaves"]
    case = dice_case(np.random.default_rng(0), 6)
    [answer] = worker.ask("rollout", cases=[case])["ok"]
    assert_equal(answer["leaves"], dice_expected(case))
    [answer] = worker.ask("rollout", cases=[case], mode="single")["ok"]
    assert_equal(answer["leaves"], dice_expected(case))
    error = worker.ask("probe", name="nothing", inputs={})["error"]
    assert (error["kind"], error["message"]) == ("raised", "there is no probe 'nothing'; expected one of ['rules']")
    worker.ask("close")
    assert worker.process.wait(10) == 0


def test_of_the_user_s_variables_none_is_passed_on_and_a_task_s_flags_come_last(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("JAX_PLATFORMS", "cuda")
    monkeypatch.setenv("SECRET", "of the user")
    environment = jax_environment(["--xla_cpu_max_isa=AVX"])
    assert environment["XLA_FLAGS"].split() == [*FLAGS, "--xla_cpu_max_isa=AVX"]
    assert "--xla_cpu_enable_concurrency_optimized_scheduler=false" in FLAGS
    assert environment["JAX_PLATFORMS"] == "cpu"
    assert set(environment) == {"XLA_FLAGS", "JAX_PLATFORMS", "XLA_PYTHON_CLIENT_PREALLOCATE"}
