"""The attack: the files of a task write where they please, read the signing key, and open sockets, while they are imported
and while they are called. They belong to the task, for which a person vouched; still, nothing of them runs beside the key.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import sandboxes
from harness.cli.main import main
from harness.errors import TaskError
from harness.session.session import Session
from harness.support.home import lockstep_home
from harness.task.load import load_task
from harness.verdict import Outcome
from harness.verify.request import LevelsRequest
from harness.verify.verifier import Verifier
from tests.paths import ROOT, WALK

ATTEMPT = """
def _attempt():
    import os, socket
    attempts = {{
        "wrote a mark": lambda: open({mark!r}, "a").close(),
        "read the key": lambda: open({secret!r}).read(),
        "listed the home": lambda: os.listdir({home!r}),
        "read a variable": lambda: os.environ["MY_TOKEN"],
        "opened a socket": lambda: socket.create_connection(("127.0.0.1", {port}), 2),
        "saw the harness": lambda: os.kill({pid}, 0),
    }}
    reached = []
    for name, attempt in attempts.items():
        try:
            attempt()
            reached.append(name)
        except (OSError, KeyError):
            pass
    return reached


_attempt()
"""
PROPERTIES = """
import hypothesis.strategies as _st
from lockstep import generator as _generator

WHILE_IMPORTED = _attempt()


@invariant(module="moving")
def nothing_is_reached(trajectory):
    return not (WHILE_IMPORTED or _attempt())


@feature
def something_was_reached(trajectory):
    return bool(WHILE_IMPORTED or _attempt())


def _inputs(place, steps):
    if _attempt():
        raise RuntimeError("reached")
    return {"place": place, "steps": steps}


@_generator("ending")
def endings():
    return _st.builds(_inputs, _st.floats(-6, 6, allow_subnormal=False), _st.integers(0, 45))
"""
INTERACTIONS = """
@sequence("reaching out")
def reaching_out(task):
    def drawn(actions):
        if _attempt():
            raise RuntimeError("reached")
        return {"start": None, "actions": actions}
    return st.lists(st.integers(0, 2), min_size=1, max_size=5).map(drawn)
"""


class Executed:
    """The code of files that this process runs while it watches. Python forgets no audit hook: it is there once for all."""

    def __init__(self) -> None:
        self.watching = False
        self.files: list[str] = []
        sys.addaudithook(self._heard)

    def _heard(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.watching and event == "exec":
            self.files.append(getattr(arguments[0], "co_filename", ""))

    def of_tasks(self) -> list[str]:
        """Those that lie neither beside Lockstep nor in an environment of Python."""
        homes = (str(ROOT), sys.prefix, sys.base_prefix, "<")
        return [file for file in self.files if not file.startswith(homes) or file.startswith(str(WALK))]


HOOK = Executed()


@pytest.fixture
def executed() -> Iterator[Executed]:
    HOOK.files.clear()
    HOOK.watching = True
    yield HOOK
    HOOK.watching = False


@pytest.fixture
def listening() -> Iterator[socket.socket]:
    """A server of this machine, which accepts nobody unless it is asked."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield server


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    """In the task's own directory: a sandbox has a /tmp of its own, in which a mark would be no harm."""
    return tmp_path / "hostile" / "mark"


@pytest.fixture
def hostile(tmp_path: Path, mark: Path, listening: socket.socket, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The walk, every file of which tries all that it should not reach."""
    monkeypatch.setenv("MY_TOKEN", "secret")
    secret = lockstep_home() / "keys" / "planted"
    secret.parent.mkdir(parents=True, exist_ok=True)
    secret.write_text("secret")
    port = listening.getsockname()[1]
    attempt = ATTEMPT.format(
        mark=str(mark), secret=str(secret), home=str(secret.parent), port=port, pid=os.getpid()
    )  # fmt: skip
    task = tmp_path / "hostile"
    shutil.copytree(WALK, task, ignore=shutil.ignore_patterns("__pycache__"))
    for file, more in (("properties.py", PROPERTIES), ("interactions.py", INTERACTIONS), ("reference/adapter.py", "")):
        lines = (task / file).read_text().replace("from __future__ import annotations\n", "")
        (task / file).write_text(lines + attempt + more)
    return task


def unreached(mark: Path, listening: socket.socket) -> bool:
    """Whether nothing was written, and nobody connected."""
    try:
        listening.accept()[0].close()
    except BlockingIOError:
        return not mark.exists()
    return False


@pytest.mark.slow
def test_a_verifier_imports_nothing_of_its_task(
    hostile: Path, mark: Path, listening: socket.socket, executed: Executed, tmp_path: Path
) -> None:
    """Not even where there is no candidate to judge."""
    with Verifier(load_task(hostile), sandboxes.choose(None)) as verifier:
        verdict = verifier.verify(tmp_path / "nothing", LevelsRequest((1,), 7))
    assert "the tree has no candidate/env.py" in verdict.error
    assert executed.of_tasks() == []
    assert unreached(mark, listening)


def test_what_a_task_declares_reaches_nothing_when_it_is_imported_or_called(
    hostile: Path, mark: Path, listening: socket.socket, executed: Executed
) -> None:
    from harness.verify.suite.client import start_suite

    task = load_task(hostile)
    with Verifier(task, sandboxes.choose(None)) as verifier, closing(start_suite(task)) as suite:
        episodes = verifier.reference().drive("random", [1, 2], 10)
        suite.open()
        judged = dict(zip((name for name, _ in suite.invariants), suite.judge(episodes), strict=True))
        assert judged["nothing is reached"].first == (-1, -1) and judged["nothing is reached"].raised == ""
        assert suite.show(episodes).counts["something was reached"] == 0
        found = suite.search_inputs(task.probes["ending"], lambda inputs: False, seed=1, examples=5, shrink=True)
        assert found == (None, 5)
        assert suite.search_cases("reaching out", lambda case: False, seed=1, examples=5, shrink=True) == (None, 5)
    assert executed.of_tasks() == []
    assert unreached(mark, listening)


def test_the_same_attempts_reach_all_of_it_here(hostile: Path, mark: Path, listening: socket.socket) -> None:
    """The checks above can fail: in an ordinary process of this machine everything is within reach."""
    code = f"exec(open({str(hostile / 'properties.py')!r}).read()); print(WHILE_IMPORTED)"
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    for what in (
        "wrote a mark",
        "read the key",
        "listed the home",
        "read a variable",
        "opened a socket",
        "saw the harness",
    ):
        assert what in finished.stdout
    assert not unreached(mark, listening)


def test_a_file_that_is_imported_here_is_heard(tmp_path: Path, executed: Executed) -> None:
    (tmp_path / "mine.py").write_text("")
    exec(compile("", str(tmp_path / "mine.py"), "exec"))
    assert executed.of_tasks() == [str(tmp_path / "mine.py")]


def test_what_a_task_says_when_it_cannot_be_imported_reaches_a_person_as_text(hostile: Path) -> None:
    from harness.verify.suite.client import start_suite

    with (hostile / "properties.py").open("a") as file:
        file.write('raise ValueError("\\x1b]0;mine\\x07")\n')
    with closing(start_suite(load_task(hostile))) as suite, pytest.raises(TaskError) as caught:
        suite.open()
    assert "properties.py cannot be imported: ValueError: " in str(caught.value)
    assert "\x1b" not in str(caught.value)


@pytest.mark.slow
def test_no_command_runs_a_tasks_code_in_the_process_that_signs(
    hostile: Path,
    mark: Path,
    listening: socket.socket,
    executed: Executed,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def run(*command: str) -> str:
        status = main([*command])
        said = capsys.readouterr()
        assert status == 0, said.out + said.err
        return said.out

    run("check-reference", str(hostile))
    settings = hostile / "task.toml"  # coverage counts nothing where no module names a place
    settings.write_text(
        settings.read_text().replace('name = "moving"\n', 'name = "moving"\nsource = ["reference/adapter.py"]\n')
    )
    run("coverage", str(hostile), "--level", "1", "--seconds", "1")
    home = tmp_path / "home"
    with Session.start(hostile, tmp_path / "workspace", home) as session:
        verdict = session.verify(level=3).verdict
        assert verdict is not None and verdict.outcome is Outcome.PASS, verdict
        assert verdict.reports[-1].features["something was reached"] == 0
        session.bundle(tmp_path / "sent.bundle")
        digest = str(session.events[0].detail["task_digest"])
    run("replay", str(tmp_path / "sent.bundle"), "--verify", "all", "--trust-task", digest)
    assert executed.of_tasks() == []
    assert unreached(mark, listening)
