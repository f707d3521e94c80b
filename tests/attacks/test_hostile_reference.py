"""The attack: a task whose reference looks for keys, other sessions, the network and the process that judges.

A reference is a program that a person chose; a state that an agent made up can turn a fault of it in C into the same thing.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from harness.errors import Crashed, SetupError, Side
from harness.policy import floor
from harness.reference.install import run_script, setup
from harness.reference.sandbox import Installed
from harness.reference.start import start_reference
from harness.support.home import lockstep_home
from harness.task.contract import Task
from harness.task.load import load_task
from sandboxes import SandboxUnavailable, drivers
from tests.session.standin import make_task

PROGRAM = """
import os, pathlib, signal, socket, sys
try:
    {attempt}
    print("reached", file=sys.stderr)
except Exception as error:
    print("out of reach:", type(error).__name__, file=sys.stderr)
"""


@pytest.fixture
def hostile(tmp_path: Path) -> Task:
    """A task with a reference that is a program."""
    made = load_task(make_task(tmp_path / "task"))
    command = (sys.executable, "reference/serve.py")
    return replace(made, reference=replace(made.reference, adapter=None, command=command))


@pytest.fixture
def listening() -> Iterator[int]:
    """The port of a server of this machine."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def said(task: Task, attempt: str) -> str:
    (task.directory / "reference" / "serve.py").write_text(PROGRAM.format(attempt=attempt))
    with pytest.raises(Crashed) as ended:
        start_reference(task, Installed(Path(sys.prefix), Path(sys.executable)))
    assert ended.value.side is Side.REFERENCE
    return str(ended.value)


def secret(home: Path) -> Path:
    place = home / "keys" / "secret"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("secret")
    return place


def test_it_reads_no_key_and_no_session(hostile: Task, home: Path) -> None:
    assert "out of reach: FileNotFoundError" in said(hostile, f"open({str(secret(lockstep_home()))!r}).read()")
    assert "out of reach: FileNotFoundError" in said(hostile, f"os.listdir({str(lockstep_home() / 'sessions')!r})")


def test_it_reads_nothing_of_its_user(hostile: Task, tmp_path: Path) -> None:
    (tmp_path / "beside-the-task").write_text("mine")
    assert "out of reach: FileNotFoundError" in said(hostile, f"open({str(tmp_path / 'beside-the-task')!r}).read()")
    assert "out of reach: FileNotFoundError" in said(hostile, "open('/etc/shadow').read()")


def test_it_changes_neither_the_task_nor_its_environment(hostile: Task) -> None:
    assert "out of reach: OSError" in said(hostile, f"open({str(hostile.directory / 'task.toml')!r}, 'a').close()")
    assert "out of reach: OSError" in said(hostile, f"open({str(Path(sys.prefix) / 'mine')!r}, 'w').close()")
    assert not (Path(sys.prefix) / "mine").exists()


def test_it_has_no_network(hostile: Task, listening: int) -> None:
    attempt = f"socket.create_connection(('127.0.0.1', {listening}), 5)"
    assert "out of reach: ConnectionRefusedError" in said(hostile, attempt)


def test_it_sees_no_process_and_no_variable_of_the_harness(hostile: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", "secret")
    assert "out of reach: KeyError" in said(hostile, "os.environ['MY_TOKEN']")
    assert "out of reach: KeyError" in said(hostile, "os.environ['LOCKSTEP_HOME']")
    assert "out of reach: ProcessLookupError" in said(hostile, f"os.kill({os.getpid()}, 0)")


def test_what_it_may_see_it_sees(hostile: Task) -> None:
    """The checks above can fail: the same attempts at what is its own succeed."""
    assert "reached" in said(hostile, f"open({str(hostile.directory / 'task.toml')!r}).read()")
    assert "reached" in said(hostile, "open('/tmp/mine', 'w').write('1')")
    assert "reached" in said(hostile, "os.kill(os.getpid(), 0)")


def test_a_fault_in_its_memory_stays_inside(hostile: Task) -> None:
    assert "SIGSEGV" in said(hostile, "os.kill(os.getpid(), signal.SIGSEGV)") or "139" in said(
        hostile, "os.kill(os.getpid(), signal.SIGSEGV)"
    )


def test_a_home_or_a_session_is_never_shown_as_the_installation_of_a_program(
    hostile: Task, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program in `~/bin` does not bring all of `~` with it."""
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    program = tmp_path / "user" / "bin" / "program"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\ncat ../private >&2 || echo out of reach >&2\n".replace("..", str(tmp_path / "user")))
    program.chmod(0o755)
    (tmp_path / "user" / "private").write_text("mine")
    own = replace(hostile, reference=replace(hostile.reference, command=(str(program),)))
    with pytest.raises(Crashed) as ended:
        start_reference(own, Installed(Path("/usr"), Path("/usr/bin/python3")))
    assert "out of reach" in str(ended.value)


def test_where_nothing_isolates_it_does_not_start(hostile: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(floor.VARIABLE, raising=False)
    monkeypatch.setattr(type(drivers()["bubblewrap"]), "unavailable", lambda self: "planted")
    with pytest.raises(
        SandboxUnavailable, match=r"a reference runs .* in bubblewrap, which does not work here: planted"
    ):
        start_reference(hostile, Installed(Path(sys.prefix), Path(sys.executable)))


BUILD = """
import os, pathlib, socket, sys
for attempt in {attempts}:
    try:
        exec(attempt)
    except Exception:
        continue
    raise SystemExit("reached: " + attempt)
open(os.path.join(sys.argv[1], "built"), "w").close()
"""


def attempts(tmp_path: Path) -> list[str]:
    (tmp_path / "beside-the-task").write_text("mine")
    return [
        f"open({str(secret(lockstep_home()))!r}).read()",
        f"open({str(tmp_path / 'beside-the-task')!r}).read()",
        "open('/etc/shadow').read()",
        "os.environ['MY_TOKEN']",
        f"os.kill({os.getpid()}, 0)",
        "open('task.toml', 'a').close()",
        f"open({str(Path(sys.prefix) / 'mine')!r}, 'w').close()",
    ]


@pytest.mark.slow
def test_a_build_script_reaches_no_key_and_nothing_of_its_user(
    hostile: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_TOKEN", "secret")
    (hostile.directory / "reference" / "build.py").write_text(BUILD.format(attempts=attempts(tmp_path)))
    built = setup(replace(hostile, reference=replace(hostile.reference, build="reference/build.py")))
    assert (built.prefix / "built").is_file()
    mine = BUILD.format(attempts=["open('reference/build.py').read()"])
    (hostile.directory / "reference" / "build.py").write_text(mine)
    with pytest.raises(SetupError, match="reached: open"):
        setup(replace(hostile, reference=replace(hostile.reference, build="reference/build.py")))


@pytest.mark.slow
def test_a_script_that_prepares_files_has_no_network_either(hostile: Task, tmp_path: Path, listening: int) -> None:
    tried = [*attempts(tmp_path), f"socket.create_connection(('127.0.0.1', {listening}), 5)"]
    (hostile.directory / "reference" / "data.py").write_text(BUILD.format(attempts=tried))
    written = tmp_path / "written"
    written.mkdir()
    run_script(hostile, Installed(Path(sys.prefix), Path(sys.executable)), "reference/data.py", written)
    assert (written / "built").is_file()
