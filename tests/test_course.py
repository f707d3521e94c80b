"""The way of a value on both sides up to a difference: bounded, read back as written, and only where there are numbers."""

from __future__ import annotations

import numpy as np
import pytest

from harness.course import MAX_STEPS, Course, course
from harness.support.document import DocumentError


def test_it_ends_with_the_step_that_differs_and_has_the_last_values() -> None:
    rows = np.arange(300, dtype=np.float32)
    other = rows.copy()
    other[200] = 7
    found = course({"x": rows}, {"x": other}, "x", (), 200)
    assert found is not None
    assert (found.first, len(found.expected)) == (201 - MAX_STEPS, MAX_STEPS)
    assert (found.expected[-1], found.actual[-1]) == (200.0, 7.0)
    assert found.expected[:-1] == found.actual[:-1]


def test_an_element_of_an_array_has_its_own() -> None:
    rows = np.arange(24).reshape(6, 2, 2)
    found = course({"b": rows}, {"b": -rows}, "b", (1, 0), 3)
    assert found == Course(0, (2.0, 6.0, 10.0, 14.0), (-2.0, -6.0, -10.0, -14.0))


def test_what_is_not_finite_is_left_out_and_a_flag_is_0_or_1() -> None:
    found = course({"x": np.array([1.0, np.nan, np.inf])}, {"x": np.array([True, False, True])}, "x", (), 2)
    assert found == Course(0, (1.0, None, None), (1.0, 0.0, 1.0))


@pytest.mark.parametrize(
    ("actual", "index", "step"),
    [
        ({}, (), 3),
        ({"x": np.arange(3)}, (), 3),
        ({"x": np.zeros((5, 2))}, (), 3),
        ({"x": np.zeros(5, dtype="U3")}, (), 3),
        ({"x": np.arange(5)}, (), 1),
    ],
)
def test_there_is_none(actual: dict[str, np.ndarray], index: tuple[int, ...], step: int) -> None:
    assert course({"x": np.arange(5)}, actual, "x", index, step) is None


def test_it_is_read_as_it_was_written_and_what_is_none_is_refused() -> None:
    written = Course(5, (1.0, None, 2.0), (1.0, 1.5, 2.5))
    assert Course.from_json(written.to_json()) == written
    for wrong in (
        {**written.to_json(), "actual": [1.0]},
        {"first": 0, "expected": [0.0] * 200, "actual": [0.0] * 200},
        {**written.to_json(), "first": "5"},
        {**written.to_json(), "expected": ["1", "2", "3"]},
    ):
        with pytest.raises(DocumentError):
            Course.from_json(wrong)
