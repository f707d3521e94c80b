"""The CartPole candidate is Gymnasium's CartPole-v1 bit by bit, under the XLA flags that its task states."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from harness.candidate.start import candidate_options
from harness.protocol.worker import SingleEnvironment
from harness.task.contract import Task
from harness.task.load import load_task
from tests.candidate.adapters.process import Worker
from tests.paths import ROOT

DIRECTORY = ROOT / "environments/cartpole"


@pytest.fixture(scope="module")
def task() -> Task:
    return load_task(DIRECTORY)


@pytest.fixture(scope="module")
def candidate(task: Task, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    worker = Worker(tmp_path_factory.mktemp("worker"), task.candidate.xla_flags)
    assert "ok" in worker.ask("open", options=candidate_options(task, str(DIRECTORY / task.candidate.entry)))
    yield worker
    worker.close()


@pytest.fixture(scope="module")
def reference() -> SingleEnvironment:
    spec = importlib.util.spec_from_file_location("cartpole_reference", DIRECTORY / "reference/adapter.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    environment = SingleEnvironment(module.CartPole)
    environment.open({})
    return environment


@pytest.fixture(scope="module")
def episodes(reference: SingleEnvironment) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Whole episodes under every policy: cases that force the reference's draws, and what it answered."""
    return [
        ({"seed": 0, "actions": answer["actions"], "draws": answer["draws"]}, answer)
        for policy in ("balance", "drift", "random")
        for answer in reference.drive(policy, list(range(5)), 600)
    ]


def assert_identical(actual: dict[str, Any], expected: dict[str, Any]) -> None:
    assert sorted(actual) == sorted(expected)
    for path, array in expected.items():
        assert (actual[path].dtype, actual[path].shape) == (array.dtype, array.shape), path
        assert actual[path].tobytes() == array.tobytes(), path


@pytest.mark.parametrize("mode", ["single", "batched", "scanned"])
def test_whole_episodes_in_open_loop_are_the_reference_s(candidate: Worker, episodes: Any, mode: str) -> None:
    ends = [(bool(a["leaves"]["terminated"][-1]), bool(a["leaves"]["truncated"][-1])) for _, a in episodes]
    assert {(True, False), (False, True)} <= set(ends)
    answers = candidate.ask("rollout", cases=[case for case, _ in episodes], mode=mode)["ok"]
    for (_, expected), answer in zip(episodes, answers, strict=True):
        assert_identical(answer["leaves"], expected["leaves"])
        assert str(answer["draws"]) == str(expected["draws"])


def test_steps_from_any_state_are_the_reference_s(
    candidate: Worker, reference: SingleEnvironment, episodes: Any
) -> None:
    cases = []
    for _, answer in episodes:
        for timestep in range(0, len(answer["leaves"]["reward"]) - 1, 20):
            start = {path: array[timestep] for path, array in answer["leaves"].items() if path.startswith("state/")}
            # The last step before the time limit, and falling there, so that both ends come at once.
            start["state/steps"] = np.array(499, np.int32)
            actions = {"action": answer["actions"]["action"][timestep : timestep + 1]}
            cases.append({"seed": 0, "actions": actions, "start": start, "draws": [[], []]})
    expected = reference.rollout(cases)
    for answer, wanted in zip(candidate.ask("rollout", cases=cases)["ok"], expected, strict=True):
        assert_identical(answer["leaves"], wanted["leaves"])


def test_probes_are_the_reference_s(candidate: Worker, reference: SingleEnvironment, task: Task) -> None:
    rng = np.random.default_rng(0)
    for name, probe in task.probes.items():
        inputs = {
            path: rng.integers(leaf.low, leaf.high + 1, 300).astype(leaf.dtype)
            if np.dtype(leaf.dtype).kind == "i"
            else rng.uniform(leaf.low, leaf.high, 300)
            for path, leaf in probe.inputs.items()
        }
        assert_identical(candidate.ask("probe", name=name, inputs=inputs)["ok"], reference.probe(name, inputs))
