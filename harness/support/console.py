"""Rich's console, for texts that others wrote: nothing in them is markup, and nothing in them steers the terminal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TextIO

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.padding import Padding
from rich.segment import Segment
from rich.text import Text

from harness.support.text import unguarded, visible

WIDTH_WITHOUT_TERMINAL = 110


class VisibleConsole(Console):
    """A console on which every text is `visible`, in whatever part of whatever it lies.

    It is as wide as its terminal, or as a page and without colours where there is none, whatever FORCE_COLOR says: what is
    no text would be shown as its code. A string is no markup (`[link=...]`, `:smile:`).
    """

    def __init__(self, stream: TextIO) -> None:
        terminal = stream.isatty()
        super().__init__(
            file=unguarded(stream), width=None if terminal else WIDTH_WITHOUT_TERMINAL, highlight=False, markup=False,
            emoji=False, color_system="auto" if terminal else None,
        )  # fmt: skip

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The segments of a part; see `Console.render`. Texts are filtered before they are laid out, and once more after."""
        for segment in super().render(_shown(renderable), options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)


def hanging(part: RenderableType) -> RenderableType:
    """A part in which the second and every further line of a text is moved in, so that none passes for a line of its own."""
    if isinstance(part, Group):
        return Group(*map(hanging, part.renderables), fit=part.fit)
    if isinstance(part, Padding):
        return Padding(
            hanging(part.renderable),
            (part.top, part.right, part.bottom, part.left),
            style=part.style,
            expand=part.expand,
        )
    if not isinstance(part, Text):
        return part
    above = len(part.plain) - len(part.plain.lstrip("\n"))
    lines = part.split("\n", allow_blank=True)
    if len(lines) - above <= 1:
        return part
    moved = Text("\n  ", end=part.end).join(lines[above:])
    return Text.assemble("\n" * above, moved, style=part.style, end=part.end)


def _shown(part: RenderableType) -> RenderableType:
    if isinstance(part, str):
        return Text(visible(part))
    if isinstance(part, Text) and (shown := visible(part.plain)) != part.plain:
        return Text(
            shown, style=part.style, justify=part.justify, overflow=part.overflow, no_wrap=part.no_wrap, end=part.end
        )
    return part
