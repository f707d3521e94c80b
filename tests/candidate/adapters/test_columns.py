"""A candidate answers cases in columns as it answers them one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from harness.candidate.adapters import columns
from harness.candidate.adapters.jax.in_columns import JaxInColumns
from harness.model import Case, Draw, Leaf
from harness.protocol.columns import packed, unpacked
from harness.protocol.environment import _case_to_wire
from tests.candidate.adapters.contracts import DICE, dice_case
from tests.candidate.adapters.test_jax_rollout import MODES, started

OUTPUTS = {
    path: Leaf(path, each["dtype"], tuple(each["shape"]))
    for path, each in DICE["leaves"].items()
    if not path.startswith("action/")
}


@pytest.fixture(scope="module")
def served() -> JaxInColumns:
    candidate = JaxInColumns()
    assert "columns" in candidate.open(DICE)["capabilities"]
    return candidate


@pytest.fixture
def cases() -> list[Case]:
    """Resets and states, with and without tapes, of all lengths."""
    rng = np.random.default_rng(0)
    given = [dice_case(rng, int(length)) for length in rng.integers(0, 9, 12)] + [started(rng, 4), started(rng, 0)]
    return [
        Case(
            number,
            case["actions"],
            start=case.get("start"),
            draws=None if number % 3 == 0 else _tape(case["draws"]),
        )
        for number, case in enumerate(given)
    ]


def _tape(timesteps: Any) -> Any:
    return tuple(tuple(Draw(name, np.asarray(value)) for name, value in timestep) for timestep in timesteps)


def _bytes_of(answer: Any) -> Any:
    leaves = {path: (array.dtype.str, array.shape, array.tobytes()) for path, array in answer["leaves"].items()}
    return leaves, [[(name, np.asarray(value).tobytes()) for name, value in timestep] for timestep in answer["draws"]]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("part_bytes", [1, 1 << 24])
def test_cases_in_columns_are_answered_as_one_by_one(
    served: JaxInColumns, cases: list[Case], mode: str, part_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(columns, "PART_BYTES", part_bytes)
    alone = served.rollout([_case_to_wire(case) for case in cases], mode)
    answer = served.rollout(packed(cases), mode, columns=True)
    assert len(answer["parts"]) == (len(cases) if part_bytes == 1 else 1)
    together = list(unpacked(answer, OUTPUTS, {}, "rollout"))
    assert [_bytes_of(one) for one in together] == [_bytes_of(one) for one in alone]
