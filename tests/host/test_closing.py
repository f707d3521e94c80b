"""A call that is done stays done: what goes wrong while it is recorded keeps no job running; a full record begins none."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from harness.errors import SessionError
from harness.host.calls import RECORDED, Calls
from harness.host.closing import Closing


class Full:
    """A stand-in for a session: its record cannot be written, and is full."""

    id = "s"

    def record(self, kind: str, **named: object) -> None:
        raise PermissionError("something that nobody thought of")

    def demand_events(self) -> None:
        raise SessionError("the record of this session is full")


def test_what_cannot_be_recorded_is_said_in_the_log(capfd: pytest.CaptureFixture[str]) -> None:
    session: Any = Full()
    jobs: Any = None
    Closing(session, jobs, broken=lambda: None).record(
        "run_command", {}, "exit code 0", "me", time.monotonic(), tree=True
    )
    assert "something that nobody thought of" in capfd.readouterr().err


@pytest.mark.parametrize("call", sorted(RECORDED))
def test_a_full_record_begins_no_call_that_would_have_to_stand_in_it(call: str, tmp_path: Path) -> None:
    nothing: Any = None
    session: Any = Full()
    calls = Calls(session, tmp_path, nothing, nothing, nothing, nothing, nothing)
    given = {"run_command": {"command": "true"}, "write_file": {"path": "a", "text": ""}}
    given |= {"edit_file": {"path": "a", "old": "a", "new": "b"}, "replay": {"event": 1}}
    with pytest.raises(SessionError, match="the record of this session is full"):
        calls.answer(call, given.get(call, {}), "me")
