"""How large a reference's numbers get: a function of the reference, and of nothing that a candidate or its agent says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from harness.errors import Raised
from harness.model import Array, Case, Leaf, Trajectory
from harness.task.contract import Budgets, Candidate, Module, Reference, Task, TaskProbe, Tolerance
from harness.verify.scale import EPISODES, at_scale, measured_scales

LEAVES = {
    path: Leaf(path, "bool" if path.endswith("ted") else "float64")
    for path in ("state/x", "observation", "reward", "terminated", "truncated")
}
PROBE = TaskProbe("half", {"x": Leaf("x", "float64", (), -4.0, 4.0)}, {"y": Leaf("y", "float64")})


def task(**tolerances: Tolerance) -> Task:
    """A task of these leaves, of which nothing runs."""
    named = {path.replace("_", "/"): tolerance for path, tolerance in tolerances.items()}
    return Task(
        "t", "", "translate", Path(), Reference(None), Candidate("jax", ""), leaves=LEAVES, modules=(Module("m"),),
        probes={"half": PROBE}, tolerances=named, budgets=Budgets(horizon=9, policies=("random", "far")),
    )  # fmt: skip


class Numbers:
    """A reference whose numbers are as large as the seeds of its episodes say; now and then one is no number."""

    def __init__(self, refused: float = np.inf, capabilities: tuple[str, ...] = ("probe",)) -> None:
        self.first = self
        self.spec = SimpleNamespace(capabilities=capabilities)
        self.asked: list[tuple[str, tuple[int, ...], int]] = []
        self._refused = refused

    def drive(self, policy: str, seeds: Sequence[int], horizon: int) -> list[Trajectory]:
        self.asked.append((policy, tuple(seeds), horizon))
        times = -10.0 if policy == "far" else 1.0
        return [self._played(seed, times) for seed in seeds]

    def _played(self, seed: int, times: float) -> Trajectory:
        numbers = np.array([0.0, times * seed, np.nan, -np.inf])
        flags = np.zeros(4, bool)
        leaves = dict.fromkeys(LEAVES, numbers) | {"terminated": flags, "truncated": flags}
        return Trajectory(Case(seed, {"action": np.zeros(3)}), leaves)

    def probe(self, name: str, inputs: Mapping[str, Array]) -> dict[str, Array]:
        if np.abs(inputs["x"]).max() > self._refused:
            raise Raised("this is too far", where="half")
        return {"y": inputs["x"] / 2}


def test_the_scale_is_the_largest_number_of_a_few_episodes_that_are_always_the_same() -> None:
    reference, made = Numbers(), task(state_x=Tolerance(scale=1e-3), reward=Tolerance(atol=1e-3))
    found = measured_scales(made, reference)
    assert [(policy, len(seeds), horizon) for policy, seeds, horizon in reference.asked] == [
        ("random", EPISODES, 9), ("far", EPISODES, 9)
    ]  # fmt: skip
    assert found == {"state/x": 10.0 * max(reference.asked[1][1])}
    assert measured_scales(made, Numbers()) == found


def test_nothing_is_measured_where_no_tolerance_asks_for_it() -> None:
    reference, made = Numbers(), task(state_x=Tolerance(rtol=1e-3))
    assert (measured_scales(made, reference), reference.asked) == ({}, [])
    assert at_scale(made, {}) is made


@pytest.mark.parametrize(("refused", "expected"), [(np.inf, 2.0), (3.0, 1.5), (0.0, 0.0)])
def test_of_a_probe_it_is_the_largest_answer_to_inputs_within_their_bounds(refused: float, expected: float) -> None:
    reference = Numbers(refused)
    made = replace(task(), tolerances={"probe/half/y": Tolerance(scale=1e-3)})
    found = measured_scales(made, reference)["probe/half/y"]
    assert expected * 0.9 <= found <= expected and reference.asked == []


def test_a_reference_without_probes_gives_their_answers_no_scale() -> None:
    made = replace(task(), tolerances={"probe/half/y": Tolerance(scale=1e-3)})
    assert measured_scales(made, Numbers(capabilities=())) == {"probe/half/y": 0.0}


def test_a_share_of_a_scale_is_added_to_what_is_forgiven_anyway() -> None:
    made = task(state_x=Tolerance(atol=1.0, rtol=0.5, ulp=3, scale=1e-3), reward=Tolerance(atol=2.0))
    assert at_scale(made, {"state/x": 500.0}).tolerances == {
        "state/x": Tolerance(atol=1.5, rtol=0.5, ulp=3),
        "reward": Tolerance(atol=2.0),
    }
    assert str(made.tolerances["state/x"]) == "1 + 0.5 |expected| + 0.001 of the largest, or 3 ulp"
