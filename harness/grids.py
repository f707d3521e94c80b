"""Arrays on both sides of a difference, as aligned text: small ones whole, of large ones what lies around the difference.

A grid holds texts of numbers alone, so that it can be recorded, read back and shown without the arrays it was made of.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.model import Array
from harness.support.document import Document, DocumentError, text, whole

MAX_CELLS = 400
"""So many elements of a plane are shown at most: a board of 20 by 20 is whole."""
MAX_VECTOR = 64
"""A vector of at most so many elements is shown whole."""
MAX_CHARACTERS = 3600
"""Of all that is shown. The timestep before is shown with the first plane, where there is room for it."""
WINDOW = 12
"""Rows and columns that are shown of a plane that is too large, and three times as many elements of a vector."""
MARGIN = 3
"""Rows and columns before the first difference in such a window."""
MAX_PARTS = 8
MAX_AXES = 16
WIDTH = 96
"""Characters that a line of text takes at most where sides stand beside each other."""
GAP = "   "
BEFORE, EXPECTED, ACTUAL = "before", "expected", "actual"
_CELL = re.compile(r"\[?[-+.0-9A-Za-z]{1,40}\]?")

Rows = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Part:
    """A vector or a plane of an array, or a window of it.

    Attributes:
        corner: the index of its first element in the whole array.
        axes: of the whole array, those that its rows and columns run along; for a vector the one of its columns.
        before: the reference's values one timestep earlier; empty where they are not shown.
        expected, actual: rows of cells; one that differs stands in brackets, and of booleans there are 0 and 1.
    """

    corner: tuple[int, ...]
    axes: tuple[int, ...]
    before: Rows
    expected: Rows
    actual: Rows

    @property
    def sides(self) -> list[tuple[str, Rows]]:
        """The name and the rows of each side that is there."""
        named = ((BEFORE, self.before), (EXPECTED, self.expected), (ACTUAL, self.actual))
        return [(name, rows) for name, rows in named if rows]

    @property
    def size(self) -> tuple[int, ...]:
        """How far it reaches along each of its axes."""
        return (len(self.expected), len(self.expected[0]))[-len(self.axes) :]

    @property
    def index(self) -> str:
        """Where it lies in the whole array, as one would write it in Python: `[3:15, 0:12, 2]`."""
        sizes = dict(zip(self.axes, self.size, strict=True))
        spans = [f"{at}:{at + sizes[axis]}" if axis in sizes else str(at) for axis, at in enumerate(self.corner)]
        return f"[{', '.join(spans)}]"

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description: rows as texts."""
        described: dict[str, Any] = {"corner": list(self.corner), "axes": list(self.axes)}
        return described | {name: [" ".join(row) for row in rows] for name, rows in self.sides}

    @staticmethod
    def from_json(described: object, kind: str = "part") -> Part:
        """The inverse of `to_json`.

        Raises:
            DocumentError: `described` is no such description.
        """
        document = Document(described, kind)
        corner, axes = document.list("corner", whole), document.list("axes", whole)
        before = document.list(BEFORE, _row) if BEFORE in document.content else ()
        sides = (before, document.list(EXPECTED, _row), document.list(ACTUAL, _row))
        widths = {tuple(map(len, rows)) for rows in sides if rows}
        first = next(iter(widths), ())
        if len(widths) != 1 or len(set(first)) != 1 or sum(first) > MAX_CELLS or not all(sides[1:]):
            raise DocumentError(f"{kind} does not have the same rows on both sides, {MAX_CELLS} elements at most")
        known = len(axes) in (1, 2) and all(0 <= axis < len(corner) <= MAX_AXES for axis in axes)
        if not known or len(set(axes)) < len(axes) or (len(axes) == 1 and len(sides[1]) > 1):
            raise DocumentError(f"{kind}.axes are not those of a vector or a plane")
        return Part(corner, axes, *sides)


@dataclass(frozen=True)
class Grid:
    """An array on both sides.

    Attributes:
        dtype, shape: of the whole array.
        differing: how many of its elements differ.
        low, high: the lowest and the highest index at which one differs, axis by axis.
        parts: what is shown of it: of the planes in which something differs, the first ones.
    """

    dtype: str
    shape: tuple[int, ...]
    differing: int
    low: tuple[int, ...]
    high: tuple[int, ...]
    parts: tuple[Part, ...]

    @property
    def headline(self) -> str:
        """What it is, how much of it differs, and where, if not all of that is shown."""
        size = " x ".join(map(str, self.shape))
        total = int(np.prod(self.shape, dtype=object))
        said = f"{size} {self.dtype}: {self.differing:,} of {total:,} elements differ, marked by [ ]"
        marked = sum(cell.startswith("[") for part in self.parts for row in part.expected for cell in row)
        if marked < self.differing:
            spans = ", ".join(f"{low}:{high + 1}" for low, high in zip(self.low, self.high, strict=True))
            said += f"; all of them lie in [{spans}], {marked:,} are shown"
        return said

    def lines(self, width: int = WIDTH) -> list[str]:
        """The grid as lines of text.

        Args:
            width: characters of a line within which sides stand beside each other, where they fit.
        """
        lines = [self.headline]
        for part in self.parts:
            if self.is_cut(part):
                lines.append(f"at {part.index}:")
            lines += vector_lines(part, width) if len(part.axes) == 1 else _beside(part, width)
        return lines

    def is_cut(self, part: Part) -> bool:
        """Whether a part is not all of the array, so that a reader has to know where in it the part lies."""
        return part.size != self.shape

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {
            "dtype": self.dtype,
            "shape": list(self.shape),
            "differing": self.differing,
            "low": list(self.low),
            "high": list(self.high),
            "parts": [part.to_json() for part in self.parts],
        }

    @staticmethod
    def from_json(described: object, kind: str = "grid") -> Grid:
        """The inverse of `to_json`.

        Raises:
            DocumentError: `described` is no such description.
        """
        document = Document(described, kind)
        dtype = document.text("dtype")
        shape, low, high = (document.list(name, whole) for name in ("shape", "low", "high"))
        parts = document.list("parts", Part.from_json)
        if not _CELL.fullmatch(dtype) or not 1 <= len(parts) <= MAX_PARTS:
            raise DocumentError(f"{kind} has no known dtype, or not 1 to {MAX_PARTS} parts")
        if not {len(shape)} == {len(each) for each in (low, high, *(part.corner for part in parts))}:
            raise DocumentError(f"{kind} has indices that do not fit its shape")
        return Grid(dtype, shape, document.whole("differing"), low, high, parts)


def grid(expected: Array, actual: Array, differing: NDArray[np.bool_], before: Array | None = None) -> Grid | None:
    """The grid of two arrays; None for single values, and where nothing differs.

    Args:
        expected, actual: arrays of one dtype and shape.
        differing: which elements differ, of the same shape.
        before: the expected array one timestep earlier.
    """
    places = np.argwhere(differing)
    if expected.ndim == 0 or expected.size < 2 or not len(places):
        return None
    axes = (0,) if expected.ndim == 1 else _plane(expected.shape)
    parts: list[Part] = []
    room = MAX_CHARACTERS
    for first in _first_in_planes(places, axes):
        part = _part(expected, actual, differing, None if parts else before, first, axes)
        if _characters(part) > room and not parts:
            part = replace(part, before=())
        room -= _characters(part)
        whole_plane = part.size == tuple(expected.shape[axis] for axis in axes)
        if parts and (room < 0 or len(parts) == MAX_PARTS or not whole_plane):
            break
        parts.append(part)
    low, high = (tuple(map(int, ends)) for ends in (places.min(axis=0), places.max(axis=0)))
    return Grid(expected.dtype.name, expected.shape, len(places), low, high, tuple(parts))


def side_lines(part: Part, name: str, rows: Rows) -> list[str]:
    """One side of a plane: its name, the numbers of its columns, and its rows with their numbers."""
    top, left = (part.corner[axis] for axis in part.axes)
    cells = _width(part, left + len(rows[0]))
    label = len(str(top + len(rows) - 1))
    head = " " * (label + 2) + "".join(_cell(str(left + column), cells) for column in range(len(rows[0])))
    body = [f"{top + row:>{label}} |" + "".join(_cell(cell, cells) for cell in each) for row, each in enumerate(rows)]
    return [" " * (label + 3) + name, head, *body]


def _plane(shape: Sequence[int]) -> tuple[int, int]:
    """The two longest axes: what is left of a picture or a board is its channels or kinds of things."""
    longest = sorted(range(len(shape)), key=lambda axis: -shape[axis])[:2]
    return min(longest), max(longest)


def _first_in_planes(places: NDArray[np.int64], axes: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """The first differing index of each plane, in the order of the array."""
    seen: set[tuple[int, ...]] = set()
    others = [axis for axis in range(places.shape[1]) if axis not in axes]
    _, firsts = np.unique(places[:, others], axis=0, return_index=True) if others else (None, np.array([0]))
    for place in places[np.sort(firsts)]:
        plane = tuple(int(place[axis]) for axis in others)
        if plane not in seen:
            seen.add(plane)
            yield tuple(map(int, place))


def _part(
    expected: Array,
    actual: Array,
    differing: NDArray[np.bool_],
    before: Array | None,
    first: tuple[int, ...],
    axes: tuple[int, ...],
) -> Part:
    """The plane, or the window of it, in which `first` lies."""
    corner, sizes = list(first), [expected.shape[axis] for axis in axes]
    if len(axes) == 1:
        shown = [sizes[0] if sizes[0] <= MAX_VECTOR else 3 * WINDOW]
    elif sizes[0] * sizes[1] <= MAX_CELLS and _fits(expected, actual, first, axes):
        shown = sizes
    else:
        shown = [min(size, WINDOW) for size in sizes]
        near = [slice(max(0, first[axis] - WINDOW), first[axis] + WINDOW) for axis in axes]  # wherever it will begin
        number = len(str(sizes[1] - 1))  # of a column, which stands above its cells
        widest = max(number, *(_widest(side[_at(first, axes, near)]) for side in (expected, actual)))
        shown[1] = max(1, min(shown[1], (WIDTH - 8) // (widest + 2)))
    for axis, size, part in zip(axes, sizes, shown, strict=True):
        corner[axis] = 0 if part == size else max(0, min(first[axis] - min(MARGIN, part // 2), size - part))
    where = _at(tuple(corner), axes, [slice(corner[a], corner[a] + n) for a, n in zip(axes, shown, strict=True)])
    marks = np.atleast_2d(differing[where])
    return Part(
        tuple(corner),
        axes,
        () if before is None or before.shape != expected.shape else _rows(np.atleast_2d(before[where])),
        _rows(np.atleast_2d(expected[where]), marks),
        _rows(np.atleast_2d(actual[where]), marks),
    )


def _characters(part: Part) -> int:
    return sum(len(line) + 1 for line in (vector_lines(part, WIDTH) if len(part.axes) == 1 else _beside(part, WIDTH)))


def _at(index: tuple[int, ...], axes: tuple[int, ...], spans: Sequence[slice]) -> tuple[int | slice, ...]:
    chosen = dict(zip(axes, spans, strict=True))
    return tuple(chosen.get(axis, at) for axis, at in enumerate(index))


def _fits(expected: Array, actual: Array, first: tuple[int, ...], axes: tuple[int, ...]) -> bool:
    """Whether one side of a whole plane fits into a line of text, and both into the text."""
    where = _at(first, axes, [slice(None)] * len(axes))
    widest = max(len(str(expected.shape[axes[1]] - 1)), *(_widest(side[where]) for side in (expected, actual)))
    line = (widest + 2) * expected.shape[axes[1]] + 8
    return line <= WIDTH and 2 * line * expected.shape[axes[0]] <= MAX_CHARACTERS


def _widest(plane: Array) -> int:
    return max((len(cell) for row in _rows(plane) for cell in row), default=1)


def _rows(values: Array, marks: NDArray[np.bool_] | None = None) -> Rows:
    marks = np.zeros(values.shape, np.bool_) if marks is None else marks
    shown = values.astype(np.int8) if values.dtype.kind == "b" else values
    return tuple(
        tuple(f"[{value!s}]" if marked else str(value) for value, marked in zip(*row, strict=True))
        for row in zip(shown, marks, strict=True)
    )


def _row(value: Any, name: str) -> tuple[str, ...]:
    cells = tuple(text(value, name).split(" "))
    if not all(map(_CELL.fullmatch, cells)):
        raise DocumentError(f"{name} is no row of numbers")
    return cells


def _width(part: Part, most: int) -> int:
    """Characters of the widest cell on any side, and of the number of a column."""
    cells = (cell.strip("[]") for _, rows in part.sides for row in rows for cell in row)
    return max(len(str(most - 1)), *map(len, cells))


def _cell(cell: str, width: int) -> str:
    marked = cell.startswith("[")
    return f"[{cell.strip('[]'):>{width}}]" if marked else f" {cell:>{width}} "


def _beside(part: Part, width: int) -> list[str]:
    """The sides of a plane beside each other: all where they fit, else the two that are compared, else none."""
    blocks = [side_lines(part, name, rows) for name, rows in part.sides]
    size = max(len(line) for block in blocks for line in block)
    together = next((n for n in (len(blocks), 2) if n * size + (n - 1) * len(GAP) <= width), 1)
    lines: list[str] = []
    for group in (blocks,) if together == len(blocks) else (blocks[:-2], *_groups(blocks[-2:], together)):
        lines += [GAP.join(f"{line:<{size}}" for line in row).rstrip() for row in zip(*group, strict=True)]
    return lines


def _groups(blocks: list[list[str]], together: int) -> list[list[list[str]]]:
    return [blocks] if together == 2 else [[block] for block in blocks]


def vector_lines(part: Part, width: int) -> list[str]:
    """The sides of a vector below each other, in as many pieces as lines of this width need."""
    [axis], columns = part.axes, len(part.expected[0])
    first = part.corner[axis]
    cells = _width(part, first + columns)
    label = max(len(name) for name, _ in part.sides)
    lines = []
    together = max(1, (width - label) // (cells + 2))
    for begin in range(0, columns, together):
        piece = range(begin, min(begin + together, columns))
        lines.append(" " * label + "".join(_cell(str(first + column), cells) for column in piece).rstrip())
        lines += [
            (f"{name:<{label}}" + "".join(_cell(rows[0][column], cells) for column in piece)).rstrip()
            for name, rows in part.sides
        ]
    return lines
