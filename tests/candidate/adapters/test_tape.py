"""What a candidate in JAX consumed, as the reference is given it."""

from __future__ import annotations

import numpy as np

from harness.candidate.adapters.jax.tape import unpack

DRAWS = {
    "speed": {"dtype": "int64", "shape": [], "capacity": 2},
    "angle": {"dtype": "float64", "shape": [], "capacity": 1},
}


def test_names_come_as_the_task_has_them_whatever_their_order_in_the_answer() -> None:
    values = {"angle": np.array([[0.5], [0.25]]), "speed": np.array([[3, 4], [5, 6]])}
    used = {"angle": np.array([1, 0]), "speed": np.array([2, 1])}
    first, second = unpack(values, used, DRAWS, 2)
    assert [(name, float(value)) for name, value in first] == [("speed", 3), ("speed", 4), ("angle", 0.5)]
    assert [(name, float(value)) for name, value in second] == [("speed", 5)]
