"""Commands in the agent's sandbox: bounded, cancelled with all that they started, and blind to what is not theirs."""

from __future__ import annotations

import os
import sys
import sysconfig
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import sandboxes
from harness.agent_sandbox import AgentSandbox, Cancel, CommandResult, run
from harness.agent_sandbox.commands import KEPT_BYTES
from harness.agent_sandbox.terminal import converse
from harness.errors import SessionError
from harness.session.session import Session
from harness.task.load import load_task
from tests.host.conftest import Hosted, processes, until
from tests.session.standin import factory, make_task


@pytest.fixture(params=["bubblewrap", "process"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[AgentSandbox]:
    driver = sandboxes.drivers()[request.param]
    if driver.unavailable():
        pytest.skip(f"{driver.name} does not work here")
    with Session.start(
        make_task(tmp_path / "task"), tmp_path / "workspace", tmp_path / "home", verifier=factory([])
    ) as session:
        (session.workspace / ".settings").write_text("a token\n")
        with AgentSandbox(session, load_task(session.task_directory), driver) as made:
            yield made


def call(place: AgentSandbox, command: str | list[str], timeout_s: float = 60.0, stdin: str = "") -> CommandResult:
    cancel = Cancel()
    try:
        return run(place, command, timeout_s=timeout_s, stdin=stdin, cancel=cancel)
    finally:
        cancel.close()


def test_a_command_ends_with_its_output_and_exit_code(place: AgentSandbox) -> None:
    done = call(place, "read line; echo got $line; echo problem >&2; exit 7", stdin="this\n")
    assert (done.exit_code, done.killed_by) == (7, None)
    assert (done.stdout, done.stderr) == ("got this\n", "problem\n")
    assert not done.stdout_truncated and not done.stderr_truncated
    assert call(place, ["printf", "%s", "a b"]).stdout == "a b"
    assert call(place, ["no-such-program"]).exit_code == 127
    assert call(place, "head -c 3", stdin="x" * 1_000_000).stdout == "xxx"


def test_commands_find_the_workspace_and_the_candidate_s_packages(place: AgentSandbox) -> None:
    done = call(
        place, "echo y > candidate/written; cat candidate/env.py; python3 -c 'import numpy; print(numpy.__name__)'"
    )
    assert done.stdout == "x = 1\nnumpy\n", done.stderr
    assert (place.workspace / "candidate" / "written").read_text() == "y\n"


def test_isolated_commands_see_nothing_else_of_the_session(place: AgentSandbox) -> None:
    if not place.driver.isolated:
        pytest.skip("this driver promises nothing about files")
    done = call(
        place, "ls -A; echo x >> task.toml; echo x > properties.py; echo x > cases/a; mkdir reference; echo x > new"
    )
    assert set(done.stdout.split()) <= {
        "candidate",
        "proposed",
        "cases",
        "task.toml",
        "properties.py",
        "README.md",
        "AGENTS.md",
    }
    assert done.stderr.count("Read-only") == 5
    assert "AGENTS.md" in done.stdout
    # The candidate imports some packages, and yet learns no path of this machine from them.
    packages = sysconfig.get_path("purelib")
    hidden = call(
        place,
        "find / -path /usr -prune -o -name adapter.py -print 2>&-;"
        f"ls -d {place.workspace} {packages} /home/*; python3 -c 'import harness'",
    )
    python = Path(sys.base_prefix).resolve()  # shown where it lies, as some are found by their own path alone
    assert hidden.stdout.split() == ([f"/home/{python.parts[2]}"] if python.is_relative_to("/home") else [])
    assert "No module named" in hidden.stderr


def test_of_a_lot_of_output_both_ends_are_kept(place: AgentSandbox) -> None:
    done = call(place, "echo first; head -c 300000000 /dev/zero | tr '\\0' x; echo; echo last")
    assert done.exit_code == 0 and done.stdout_truncated
    assert done.stdout.startswith("first\nxxx") and done.stdout.endswith("xxx\nlast\n")
    assert len(done.stdout) < KEPT_BYTES + 100
    noisy = call(place, "head -c 3000000 /dev/zero | tr '\\0' e >&2")
    assert noisy.stderr_truncated and len(noisy.stderr) < KEPT_BYTES


@pytest.mark.slow
def test_a_command_that_takes_too_long_is_ended(place: AgentSandbox) -> None:
    done = call(place, "echo before; sleep 1000", timeout_s=5)
    assert (done.exit_code, done.killed_by, done.stdout) == (None, "wall_seconds", "before\n")


def test_a_command_that_closes_its_output_is_waited_for(place: AgentSandbox) -> None:
    assert call(place, "exec >&- 2>&-; sleep 0.3; exit 5").exit_code == 5


def test_a_cancelled_command_ends_with_everything_that_it_started(place: AgentSandbox) -> None:
    cancel, results = Cancel(), []
    script = "echo started; (setsid sleep 876543.2 &) ; sleep 876543.2 & wait"
    thread = threading.Thread(target=lambda: results.append(run(place, script, timeout_s=60, cancel=cancel)))
    thread.start()
    until(lambda: len(processes("sleep\0876543.2")) == 2, "its processes")
    cancel.ask()
    cancel.ask()
    thread.join()
    cancel.close()
    assert not processes("876543.2")
    assert (results[0].killed_by, results[0].stdout) == ("cancelled", "started\n")


def test_closing_the_sandbox_ends_its_commands(place: AgentSandbox) -> None:
    cancel, results = Cancel(), []
    thread = threading.Thread(
        target=lambda: results.append(run(place, "echo up; sleep 765432.1", timeout_s=60, cancel=cancel))
    )
    thread.start()
    until(lambda: processes("765432.1"), "its process")
    place.close()
    thread.join()
    cancel.close()
    assert results[0].exit_code is None and results[0].killed_by
    with pytest.raises(SessionError, match="closed"):
        call(place, "true")


def test_a_terminal_is_a_terminal_and_ends_with_its_shell(place: AgentSandbox) -> None:
    keys, typed = os.pipe()
    seen, shown = os.pipe()
    os.write(typed, b"stty size; test -t 0 && echo it is a terminal\nexit 3\n")
    assert converse(place, ["sh", "-i"], read_from=keys, write_to=shown) == 3
    os.close(shown)
    os.close(typed)
    with os.fdopen(seen, "rb") as output:
        said = output.read().decode()
    os.close(keys)
    assert "it is a terminal\r\n" in said and "24 80" in said


def test_at_the_end_of_what_is_typed_the_shell_ends(place: AgentSandbox) -> None:
    with open(os.devnull, "r+b") as nothing:
        assert converse(place, ["sh", "-i"], read_from=nothing.fileno(), write_to=nothing.fileno()) == 0


# Through the host


def test_so_many_commands_run_at_once_and_no_more(hosted: Hosted) -> None:
    hosted.host()
    running = [hosted.begin("run_command", command="sleep 1000") for _ in range(8)]
    with pytest.raises(SessionError, match="8 commands are running"):
        hosted.ask("run_command", command="true")
    for job in running:
        hosted.ask("cancel", job=job.id)
    assert {hosted.ended(job).state for job in running} == {"cancelled"}
    assert hosted.ended(hosted.begin("run_command", command="echo on")).result["stdout"] == "on\n"  # type: ignore[index]


def test_the_newest_line_of_a_command_is_its_progress(hosted: Hosted) -> None:
    hosted.host()
    job = hosted.begin("run_command", command="echo one; echo two; sleep 1000")
    until(lambda: hosted.ask("status")["running"][0]["what"] == "two", "its second line")
    hosted.ask("cancel", job=job.id)
    ended = hosted.ended(job)
    assert ended.result is not None and ended.result["stdout"] == "one\ntwo\n"


def test_a_huge_input_is_cut_in_the_record_and_not_for_the_command(hosted: Hosted) -> None:
    hosted.host()
    job = hosted.ended(hosted.begin("run_command", command="wc -c", stdin="x" * 3_000_000))
    assert job.result is not None and job.result["stdout"].split() == ["3000000"]
    assert "SHA-256" in job.arguments["stdin"] and len(job.arguments["stdin"]) < 3000
