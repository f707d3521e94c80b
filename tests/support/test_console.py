"""The console that commands write to, where it is no terminal."""

from __future__ import annotations

import io

import pytest
from rich.text import Text

from harness.support.console import VisibleConsole


def test_a_pipe_gets_no_colours_even_where_they_are_forced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    pipe = io.StringIO()
    VisibleConsole(pipe).print(Text("FAIL", style="bold red"))
    assert pipe.getvalue() == "FAIL\n"
