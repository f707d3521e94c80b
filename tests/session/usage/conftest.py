"""Transcripts of our own making in the form of Claude Code's and Codex's, beside a session on the stand-in task."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from harness.session.session import Session
from tests.session.standin import FileComparison, factory, make_task

PRICES = """\
schema = 1

[[models]]
pattern = "thinker-*"
input = 1.0
output = 10.0
cache_read = 0.1
cache_write = 2.0
cache_write_long = 4.0
long = { above = 1000000, input = 2.0, output = 20.0, cache_read = 0.2 }
"""


def at(seconds: float) -> str:
    """A time, as transcripts state it, so many seconds from now."""
    return (datetime.now(UTC) + timedelta(seconds=seconds)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass
class Transcripts:
    """The transcripts of one machine."""

    claude: Path
    codex: Path

    def claude_file(self, cwd: Path, name: str = "11111111-aaaa") -> Path:
        """The file of a session of Claude Code that was started in a directory."""
        folder = self.claude / "projects" / re.sub(r"[^A-Za-z0-9]", "-", str(cwd))
        folder.mkdir(parents=True, exist_ok=True)
        return folder / f"{name}.jsonl"

    def codex_file(self, name: str = "rollout-1") -> Path:
        """The file of a session of Codex."""
        folder = self.codex / "sessions" / "2026" / "11" / "21"
        folder.mkdir(parents=True, exist_ok=True)
        return folder / f"{name}.jsonl"


def add(path: Path, *records: dict[str, Any]) -> None:
    """Append records, a line each."""
    with path.open("a") as file:
        file.writelines(json.dumps(record, separators=(",", ":")) + "\n" for record in records)


def said(cwd: Path, identifier: str, model: str = "thinker-5", seconds: float = 1.0, **usage: Any) -> dict[str, Any]:
    """A line of a response of Claude Code."""
    return {
        "type": "assistant",
        "cwd": str(cwd),
        "sessionId": "11111111-aaaa",
        "timestamp": at(seconds),
        "message": {"id": identifier, "role": "assistant", "model": model, "content": [], "usage": usage},
    }


def meta(cwd: Path) -> dict[str, Any]:
    """The first line of a session of Codex."""
    return {"timestamp": at(0), "type": "session_meta", "payload": {"id": "1", "cwd": str(cwd)}}


def turn(cwd: Path, model: str = "thinker-5") -> dict[str, Any]:
    """The line before a turn of Codex."""
    return {"timestamp": at(0), "type": "turn_context", "payload": {"cwd": str(cwd), "model": model}}


def totals(given: int, cached: int, output: int, seconds: float = 1.0) -> dict[str, Any]:
    """A running total of Codex; `given` counts `cached` as well."""
    usage = {
        "input_tokens": given,
        "cached_input_tokens": cached,
        "output_tokens": output,
        "reasoning_output_tokens": 1,
    }
    info = {"total_token_usage": usage, "last_token_usage": {}}
    return {"timestamp": at(seconds), "type": "event_msg", "payload": {"type": "token_count", "info": info}}


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Transcripts:
    found = Transcripts(tmp_path / "claude", tmp_path / "codex")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(found.claude))
    monkeypatch.setenv("CODEX_HOME", str(found.codex))
    return found


@pytest.fixture
def session(tmp_path: Path, machine: Transcripts) -> Iterator[Session]:
    """A session, on a machine with prices of a person's own; two dollars are its limit."""
    made: list[FileComparison] = []
    home = tmp_path / "home"
    with Session.start(make_task(tmp_path / "task"), tmp_path / "my.work", home, verifier=factory(made)) as started:
        (home / "prices.toml").write_text(PRICES)
        yield started
