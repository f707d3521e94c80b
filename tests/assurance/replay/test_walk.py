"""The walk through a record, in a real terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.terminal import PATIENCE_S, Terminal

BUNDLE = Path(__file__).parent / "sessions" / "cartpole.bundle"
KEYS = "[q] quit"


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    opened = Terminal("replay", str(BUNDLE), "--step")
    yield opened
    opened.close()


def press(terminal: Terminal, keys: str) -> str:
    """Press keys and wait for the next screen."""
    terminal.type(keys)
    return terminal.until(KEYS)


def place(screen: str) -> int:
    """The number of the event that a screen shows."""
    found = re.search(r"(\d+) of \d+  ", screen)
    assert found, screen
    return int(found[1])


@pytest.mark.slow
def test_keys_lead_on_back_to_the_next_finding_and_to_the_next_commit(terminal: Terminal) -> None:
    assert place(terminal.until(KEYS)) == 0
    assert place(press(terminal, "\r")) == 1
    assert place(press(terminal, "b")) == 0
    finding = press(terminal, "f")
    assert "address" in finding and "expected" in finding and place(finding) > 1
    commit = press(terminal, "c")
    assert "commit" in commit and place(commit) > place(finding)
    assert place(press(terminal, "\x1b[C")) == place(commit) + 1, "the arrow keys lead on too"
    terminal.type("g")
    terminal.until("event (0 to")
    assert place(press(terminal, "3\r")) == 3
    assert place(press(terminal, "?")) == 3, "a key that means nothing leads nowhere"
    terminal.type("q")
    assert terminal.process.wait(PATIENCE_S) == 0


def test_going_on_from_the_last_event_ends_the_walk(terminal: Terminal) -> None:
    terminal.until(KEYS)
    terminal.type("g")
    last = re.search(r"event \(0 to (\d+)\)", terminal.until("): "))
    assert last
    assert place(press(terminal, f"{last[1]}\r")) == int(last[1])
    terminal.type("\r")
    assert terminal.process.wait(PATIENCE_S) == 0
