"""Walking through events with single keys, in a terminal."""

from __future__ import annotations

import os
import sys
import termios
import tty
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import click
from rich.console import RenderableType

from harness.record.event import Event
from harness.support.console import VisibleConsole, hanging

KEYS = "[enter] next   [b] back   [f] next finding   [c] next commit   [g] go to an event   [q] quit"
NEXT = ("\r", "\n", " ", "n", "\x1b[C", "\x1b[B")
BACK = ("b", "\x7f", "\x1b[D", "\x1b[A")
QUIT = ("", "q", "\x1b", "\x04")
KEY_BYTES = 16


def walk(shown: Callable[[int], RenderableType], events: Sequence[Event], first: int) -> None:
    """Show events one at a time, beginning with `first`, until the person quits or goes beyond the last.

    Args:
        shown: what is to be shown of the event at a place.
    """
    console, location = VisibleConsole(sys.stdout), first
    with _single_keys():
        while location < len(events):
            console.clear()
            console.print(hanging(shown(location)))
            console.print(f"\n{KEYS}", style="dim")
            key = os.read(sys.stdin.fileno(), KEY_BYTES).decode(errors="replace")
            if key in QUIT:
                return
            location = _after(key, events, location)


@contextmanager
def _single_keys() -> Iterator[None]:
    """Give keys as they are pressed, for as long as this lasts; what was typed ahead is kept, and Ctrl-C stays Ctrl-C."""
    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    try:
        tty.setcbreak(terminal, termios.TCSANOW)
        yield
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def _after(key: str, events: Sequence[Event], location: int) -> int:
    """The place that a key leads to; the present one where it leads nowhere."""
    if key in NEXT:
        return location + 1
    if key in BACK:
        return max(location - 1, 0)
    if key == "f":
        return _next(events, location, lambda event: bool(event.detail.get("finding")))
    if key == "c":
        return _next(events, location, lambda event: event.commit is not None)
    if key == "g":
        return _asked(len(events), location)
    return location


def _asked(events: int, location: int) -> int:
    """The event whose number is typed, read key by key; the present place for anything else."""
    click.echo(f"event (0 to {events - 1}): ", nl=False)
    typed = ""
    while (key := os.read(sys.stdin.fileno(), 1).decode(errors="replace")) not in ("\r", "\n", ""):
        typed = typed[:-1] if key == "\x7f" else typed + key
        click.echo("\b \b" if key == "\x7f" else key, nl=False)
    click.echo()
    return int(typed) if typed.isdigit() and int(typed) < events else location


def _next(events: Sequence[Event], location: int, wanted: Callable[[Event], bool]) -> int:
    return next((number for number in range(location + 1, len(events)) if wanted(events[number])), location)
