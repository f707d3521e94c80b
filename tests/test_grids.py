"""Arrays on both sides as text: boards whole, of pictures what lies around the difference, always bounded."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from harness.grids import MAX_CELLS, MAX_CHARACTERS, WIDTH, Grid, grid
from harness.model import Array
from harness.support.document import DocumentError

SHAPES = arrays.array_shapes(max_dims=2, max_side=40) | arrays.array_shapes(max_dims=4, max_side=12)
PAIRS = st.sampled_from([np.bool_, np.int8, np.uint8, np.int64, np.float32, np.float64]).flatmap(
    lambda dtype: SHAPES.flatmap(
        lambda shape: st.tuples(*(arrays.arrays(dtype, shape, fill=arrays.from_dtype(np.dtype(dtype))),) * 2)
    )
)


def made(expected: Array, actual: Array, before: Array | None = None) -> Grid:
    found = grid(expected, actual, expected != actual, before)
    assert found is not None
    return found


def board(**changes: int) -> Array:
    cells = np.zeros((6, 7), np.int8)
    cells[0, 3] = 2
    for place, value in changes.items():
        cells[int(place[1]), int(place[2])] = value
    return cells


def test_a_board_is_shown_whole_on_all_sides_with_the_differing_cells_marked() -> None:
    lines = made(board(c02=1), board(c12=1), board()).lines()
    assert lines[0] == "6 x 7 int8: 2 of 42 elements differ, marked by [ ]"
    assert lines[1].split() == ["before", "expected", "actual"]
    assert lines[3].split("0 |")[1:] == [
        " 0  0  0  2  0  0  0    ", " 0  0 [1] 2  0  0  0    ", " 0  0 [0] 2  0  0  0",
    ]  # fmt: skip
    assert len(lines) == 3 + 6
    assert len({line.index("|") for line in lines[3:]}) == 1


def wide_before_the_first_difference() -> tuple[Array, Array]:
    """The window begins before the margin where the difference lies at the end of a plane."""
    expected = np.zeros((30, 30))
    expected[:, 23] = -1.2345678901234567e-100
    actual = expected.copy()
    actual[29, 29] = 1
    return expected, actual


@example((np.zeros((1, 24), bool), np.ones((1, 24), bool)))  # the numbers of columns are wider than their cells
@example(wide_before_the_first_difference())
@given(PAIRS)
def test_a_grid_is_bounded_marks_what_differs_and_survives_being_written(pair: tuple[Array, Array]) -> None:
    expected, actual = pair
    differing = np.asarray(expected != actual)
    found = grid(expected, actual, differing, expected)
    assert (found is None) == (expected.size < 2 or not differing.any())
    if found is None:
        return
    lines = found.lines()
    assert all(len(line) <= WIDTH for line in lines[1:])
    assert len("\n".join(lines)) < MAX_CHARACTERS + 500  # with the headline, and where each part lies
    written = json.dumps(found.to_json())
    assert len(written) < 5000
    assert Grid.from_json(json.loads(written)) == found
    assert found.differing == differing.sum()
    assert all(len(part.expected) * len(part.expected[0]) <= MAX_CELLS for part in found.parts)
    assert any(cell.startswith("[") for row in found.parts[0].actual for cell in row)


@given(PAIRS)
def test_every_cell_shown_is_the_one_at_its_place(pair: tuple[Array, Array]) -> None:
    expected, actual = pair
    found = grid(expected, actual, np.asarray(expected != actual))
    for part in found.parts if found else ():
        spans: list[Any] = list(part.corner)
        for axis, size in zip(part.axes, part.size, strict=True):
            spans[axis] = slice(part.corner[axis], part.corner[axis] + size)
        for rows, side in ((part.expected, expected), (part.actual, actual)):
            shown = np.atleast_2d(side[tuple(spans)])
            shown = shown.astype(np.int8) if shown.dtype == np.bool_ else shown
            assert [[cell.strip("[]") for cell in row] for row in rows] == [[str(v) for v in row] for row in shown]


def test_a_picture_is_shown_around_its_first_difference_and_says_where_the_rest_is() -> None:
    expected = np.zeros((144, 160, 3), np.uint8)
    actual = expected.copy()
    actual[50:60, 70:90, 1] = 255
    found = made(expected, actual)
    text = "\n".join(found.lines())
    assert "200 of 69,120 elements differ" in text and "all of them lie in [50:60, 70:90, 1:2]" in text
    assert found.parts[0].index == "[47:59, 67:79, 1]" and "[255]" in text
    assert len(text) < 2500


def test_planes_without_a_difference_are_left_out() -> None:
    expected = np.zeros((10, 10, 4), np.bool_)
    actual = expected.copy()
    actual[2, 3, 2] = actual[9, 9, 0] = True
    assert [part.index for part in made(expected, actual).parts] == ["[0:10, 0:10, 2]", "[0:10, 0:10, 0]"]


def test_a_vector_has_its_sides_below_each_other() -> None:
    expected = np.array([0.1, 0.2, -0.0, 4.0], np.float32)
    lines = made(expected, np.array([0.1, 0.2, 1.5, 4.0], np.float32), expected).lines()
    assert [line.split()[0] for line in lines[2:]] == ["before", "expected", "actual"]
    assert lines[3].split()[1:] == ["0.1", "0.2", "[-0.0]", "4.0"]


def test_single_values_and_equal_arrays_have_no_grid() -> None:
    assert grid(np.array(1), np.array(2), np.array(True)) is None
    assert grid(np.ones(1), np.zeros(1), np.ones(1, np.bool_)) is None
    assert grid(board(), board(), np.zeros((6, 7), np.bool_)) is None


@pytest.mark.parametrize(
    "damage",
    [
        lambda part: part["expected"].pop(),
        lambda part: part["actual"].__setitem__(0, "0 0"),
        lambda part: part["actual"].__setitem__(0, "0 0 0 0 0 0 <b>"),
        lambda part: part["expected"].__setitem__(0, "0 0 0 0 0 0 \x1b[2J"),
        lambda part: part["expected"].__setitem__(0, "0 0 0 0 0 0 " + "9" * 100),
        lambda part: part.update(axes=[0, 2]),
        lambda part: part.update(axes=[1, 1]),
        lambda part: part.update(corner=[0]),
        lambda part: part.update(expected=[" ".join("0" * 401)], actual=[" ".join("0" * 401)]),
    ],
)
def test_a_record_that_holds_no_grid_is_refused(damage: Any) -> None:
    described = json.loads(json.dumps(made(board(c02=1), board()).to_json()))
    damage(described["parts"][0])
    with pytest.raises(DocumentError):
        Grid.from_json(described)
