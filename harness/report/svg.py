"""A few words of SVG, as elements that escape what is put into them, and scales from values to places.

Their texts go through `harness.support.text`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement, tostring

from markupsafe import Markup

from harness.support.text import one_line, visible


class Drawing:
    """One picture, with a title and a description for those who don't see it.

    Args:
        name: its id, which no other picture of the page has; without one it is decoration, beside words that say the same.
        width, height: of the coordinates that everything in it is placed in.
        title, description: what it shows, and what one would see in it.
        kind: its class, for the style sheet.
    """

    def __init__(
        self, name: str, width: float, height: float, *, kind: str, title: str = "", description: str = ""
    ) -> None:
        about = {"viewBox": f"0 0 {_position(width)} {_position(height)}", "class": f"chart {kind}" if name else kind}
        if name:
            about |= {"id": name, "role": "img", "aria-labelledby": f"{name}-title {name}-desc"}
        else:
            about |= {"aria-hidden": "true"}
        self.root = Element("svg", about)
        if name:
            SubElement(self.root, "title", {"id": f"{name}-title"}).text = one_line(title)
            SubElement(self.root, "desc", {"id": f"{name}-desc"}).text = visible(description)

    def add(self, tag: str, kind: str = "", *, hover: str = "", **attributes: float | str) -> Element:
        """Add an element; numbers are rounded, `_` in names becomes `-`, and `hover` is shown under the pointer."""
        named = {key.strip("_").replace("_", "-"): _attribute(value) for key, value in attributes.items()}
        element = SubElement(self.root, tag, ({"class": kind} if kind else {}) | named)
        if hover:
            SubElement(element, "title").text = visible(hover)
        return element

    def line(self, x1: float, y1: float, x2: float, y2: float, kind: str) -> None:
        """Add a straight line."""
        self.add("line", kind, x1=x1, y1=y1, x2=x2, y2=y2)

    def text(self, x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> None:
        """Add a line of text; `anchor` is `start`, `middle` or `end`."""
        self.add("text", kind, x=x, y=y, text_anchor=anchor).text = one_line(text)

    def path(self, points: Iterable[tuple[float, float]], kind: str) -> None:
        """Add a line through points."""
        drawn = "L".join(f"{_position(x)} {_position(y)}" for x, y in points)
        if drawn:
            self.add("path", kind, d=f"M{drawn}")

    def markup(self) -> Markup:
        """The picture as markup for a page."""
        return Markup(tostring(self.root, encoding="unicode"))


@dataclass(frozen=True)
class Scale:
    """Places `first` to `last` for values `low` to `high`, evenly or (`log`) by their logarithm."""

    low: float
    high: float
    first: float
    last: float
    log: bool = False

    def __call__(self, value: float) -> float:
        """The place of a value; one beyond the ends lies at the end."""
        low, high, value = (self._even(each) for each in (self.low, self.high, value))
        share = 0.5 if high == low else (value - low) / (high - low)
        return self.first + min(max(share, 0.0), 1.0) * (self.last - self.first)

    def _even(self, value: float) -> float:
        return math.log10(max(value, 1e-12)) if self.log else value


def decades(low: float, high: float) -> list[float]:
    """Powers of ten from the one at or below `low` to the one at or above `high`."""
    first, last = math.floor(math.log10(max(low, 1e-12))), math.ceil(math.log10(max(high, 1e-12)))
    return [10.0**power for power in range(first, max(last, first + 1) + 1)]


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round values between `low` and `high`, about so many."""
    span = high - low
    if not span > 0:
        return [low]
    rough = span / about
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * each for each in (1, 2, 5, 10) if size * each >= rough)
    first = math.ceil(low / step - 1e-9)
    return [n * step for n in range(first, math.floor(high / step + 1e-9) + 1)]


def apart(positions: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """The same places, in the same order, moved so that no two are closer than `gap` where there is room."""
    order = sorted(range(len(positions)), key=lambda number: positions[number])
    moved = list(positions)
    for before, here in itertools.pairwise(order):
        moved[here] = max(moved[here], moved[before] + gap)
    if order:
        over = max(moved[order[-1]] - high, 0.0)
        for number in order:
            moved[number] = max(moved[number] - over, low)
    return moved


def _attribute(value: float | str) -> str:
    return one_line(value) if isinstance(value, str) else _position(value)


def _position(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
