"""The attack: have the candidate run as the host's user, where it reads the signing key and forges a commit.

An agent asks for the driver `process`, or a record says that it was made with it and somebody reaches its verdicts again.
"""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from harness.assurance.replay.rerun import driver_for
from harness.cli.main import main
from harness.errors import LockstepError
from harness.policy import floor
from harness.support.progress import silent
from mcp_server.toolbox import connected
from sandboxes import SandboxUnavailable
from tests.session.standin import make_task


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home where nobody lowered the floor."""
    monkeypatch.setenv("LOCKSTEP_HOME", str(tmp_path / "home"))
    monkeypatch.delenv(floor.VARIABLE, raising=False)
    return tmp_path / "home"


def sessions(home: Path) -> list[Path]:
    return [path for path in (home / "sessions").glob("*") if path.is_dir()]


def test_an_agent_cannot_ask_a_server_for_no_isolation(tmp_path: Path, home: Path) -> None:
    make_task(tmp_path / "tasks" / "task")

    async def ask() -> None:
        async with connected(tmp_path / "tasks", tmp_path, silent) as tools:
            with pytest.raises(LockstepError, match="does not isolate"):
                await tools.call("start_session", task="task", workspace="workspace", sandbox="process")

    anyio.run(ask)
    assert sessions(home) == []


@pytest.mark.parametrize("command", ["start", "verify", "profile"])
def test_no_command_runs_below_the_floor(
    command: str, tmp_path: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    task = make_task(tmp_path / "task")
    assert main([command, str(task), "--sandbox", "process"]) != 0
    assert "only drivers that isolate are allowed here" in capsys.readouterr().err
    assert sessions(home) == []


@pytest.mark.parametrize("allowed", ["0", "1"])
@pytest.mark.parametrize("said", ["process", "no-such-driver", ""])
def test_a_record_picks_no_weaker_sandbox_for_its_reader(
    said: str, allowed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(floor.VARIABLE, allowed)
    assert driver_for(said).isolated
    assert floor.recorded(said) is None


def test_only_a_person_lowers_the_floor(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SandboxUnavailable, match=floor.VARIABLE):
        floor.permitted("process")
    monkeypatch.setenv(floor.VARIABLE, "yes")  # anything but the one value changes nothing
    with pytest.raises(SandboxUnavailable):
        floor.permitted("process")
    monkeypatch.setenv(floor.VARIABLE, "1")
    assert floor.permitted("process").name == "process"
