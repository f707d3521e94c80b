"""The walk through a record, in a real terminal."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

BUNDLE = Path(__file__).parent / "sessions" / "cartpole.bundle"
KEYS = "[q] quit"
PATIENCE_S = 60.0


class Terminal:
    """A program in a pseudo-terminal: what it shows, screen by screen, and keys for it."""

    def __init__(self, *command: str) -> None:
        self._side, inner = pty.openpty()
        environment = os.environ | {"TERM": "xterm", "COLUMNS": "120", "LINES": "50"}
        self.process = subprocess.Popen(command, stdin=inner, stdout=inner, stderr=inner, env=environment)
        os.close(inner)

    def until(self, text: str) -> str:
        """All that is shown until `text` appears, without control sequences."""
        shown = b""
        while text not in (plain := re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode(errors="replace"))):
            ready, _, _ = select.select([self._side], [], [], PATIENCE_S)
            assert ready, f"{text!r} did not appear in {plain!r}"
            shown += os.read(self._side, 65536)
        return plain

    def type(self, keys: str) -> None:
        """Press keys."""
        os.write(self._side, keys.encode())

    def press(self, keys: str) -> str:
        """Press keys and wait for the next screen."""
        self.type(keys)
        return self.until(KEYS)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._side)


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    program = "from harness.cli import main; raise SystemExit(main())"
    opened = Terminal(sys.executable, "-c", program, "replay", str(BUNDLE), "--step")
    yield opened
    opened.close()


def place(screen: str) -> int:
    """The number of the event that a screen shows."""
    found = re.search(r"(\d+) of \d+  ", screen)
    assert found, screen
    return int(found[1])


def test_keys_lead_on_back_to_the_next_finding_and_to_the_next_commit(terminal: Terminal) -> None:
    assert place(terminal.until(KEYS)) == 0
    assert place(terminal.press("\r")) == 1
    assert place(terminal.press("b")) == 0
    finding = terminal.press("f")
    assert "address" in finding and "expected" in finding and place(finding) > 1
    commit = terminal.press("c")
    assert "commit" in commit and place(commit) > place(finding)
    assert place(terminal.press("\x1b[C")) == place(commit) + 1, "the arrow keys lead on too"
    terminal.type("g")
    terminal.until("event (0 to")
    assert place(terminal.press("3\r")) == 3
    assert place(terminal.press("?")) == 3, "a key that means nothing leads nowhere"
    terminal.type("q")
    assert terminal.process.wait(PATIENCE_S) == 0


def test_going_on_from_the_last_event_ends_the_walk(terminal: Terminal) -> None:
    terminal.until(KEYS)
    terminal.type("g")
    last = re.search(r"event \(0 to (\d+)\)", terminal.until("): "))
    assert last
    assert place(terminal.press(f"{last[1]}\r")) == int(last[1])
    terminal.type("\r")
    assert terminal.process.wait(PATIENCE_S) == 0
