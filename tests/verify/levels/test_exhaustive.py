"""A probe with few possible inputs is asked all of them, each once, and the verdict says so."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from harness.model import Leaf
from harness.task import every_input as every_input_module
from harness.task.contract import TaskProbe
from harness.task.every_input import count_inputs, every_input
from harness.verdict import Outcome
from tests.verify.levels.conftest import Walk

FEW = TaskProbe(
    "few",
    {
        "flags": Leaf("flags", "bool", (2,)),
        "signed": Leaf("signed", "int8", (), -2, 1),
        "high": Leaf("high", "uint64", (2,), (1 << 64) - 2, (1 << 64) - 1),
    },
    {},
)
INTEGER_PROBE = [
    ('{"place": number, "steps": count}, "outputs"', '{"spot": count, "count": count}, "outputs"'),
    (
        'abs(float(inputs["place"])) > 5.0 or int(inputs["steps"]) >= 40',
        'abs(int(inputs["spot"])) > 5 or int(inputs["count"]) >= 40',
    ),
]
INTEGER_TASK = [
    (
        'place = { dtype = "float64", low = -6.0, high = 6.0 }, steps = { dtype = "int32", low = 0, high = 45 }',
        'spot = { dtype = "int32", low = -1000, high = 1000 }, count = { dtype = "int32", low = 0, high = 45 }',
    )
]


@pytest.mark.parametrize("message_bytes", [1, 100, 1 << 20])
def test_every_input_comes_exactly_once(message_bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(every_input_module, "MESSAGE_BYTES", message_bytes)
    seen = [
        (*flags.tolist(), int(signed), *(int(value) for value in high))
        for stacked in every_input(FEW)
        for flags, signed, high in zip(stacked["flags"], stacked["signed"], stacked["high"], strict=True)
    ]
    flags, top = (False, True), ((1 << 64) - 2, (1 << 64) - 1)
    assert sorted(seen) == sorted(product(flags, flags, range(-2, 2), top, top))
    assert count_inputs(FEW, 64) == len(seen) == 64
    [first, *_] = every_input(FEW)
    assert {name: array.dtype for name, array in first.items()} == {
        "flags": np.dtype(bool), "signed": np.dtype("int8"), "high": np.dtype("uint64"),
    }  # fmt: skip


@pytest.mark.parametrize(
    "leaf",
    [
        Leaf("x", "int8", (), -2, 2),
        Leaf("x", "float32", (), 0.0, 0.0),
        Leaf("x", "int32", ()),
        Leaf("x", "int32", (), 0),
        Leaf("x", "bool", (1 << 20,)),
    ],
    ids=["too many", "float", "without bounds", "without an upper bound", "far too many"],
)
def test_what_has_too_many_inputs_or_cannot_be_counted_is_not_asked_whole(leaf: Leaf) -> None:
    assert count_inputs(TaskProbe("many", {"x": leaf}, {}), 4) is None


@pytest.mark.slow
def test_one_wrong_input_in_ninety_thousand_is_found_whatever_the_seed(walk: Walk) -> None:
    walk.edit("task.toml", INTEGER_TASK)
    walk.edit("reference/adapter.py", INTEGER_PROBE)
    walk.edit("candidate/env.py", [('inputs["place"]', 'inputs["spot"]'), ('inputs["steps"]', 'inputs["count"]')])
    [check] = (c for c in walk.verify((1,), module="ending").reports[0].checks if c.name.endswith("every input"))
    assert (check.name, check.outcome, check.examples) == ("probe ending, every input", Outcome.PASS, 2001 * 46)
    assert "all 92046 possible inputs were asked" in check.detail
    fault = '(inputs["count"] >= 40) ^ ((inputs["spot"] == 2) & (inputs["count"] == 17))'
    walk.edit("candidate/env.py", [('(inputs["count"] >= 40)', fault)])
    verdict = walk.verify((1,), module="ending", seed=8)
    [divergence] = verdict.divergences
    assert (divergence.check, divergence.path) == ("probe ending, every input", "probe/ending/over")
    assert divergence.inputs is not None
    assert {name: array.tolist() for name, array in divergence.inputs.items()} == {"spot": [2], "count": [17]}
