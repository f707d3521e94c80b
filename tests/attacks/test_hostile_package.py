"""The attack: a package that `lockstep new` makes a task from runs its code as the person who looks at it."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from harness.authoring import scaffold
from harness.errors import SetupError
from harness.reference.sandbox import Installed
from harness.task.contract import Task
from harness.task.load import load_task
from tests.session.standin import make_task

FACTS = {"class": "Walk", "mode": "none", "max_episode_steps": None, "notes": []}
PROGRAM = """
import json, os, sys
{attempt}
with open(sys.argv[2], "w") as file:
    json.dump({facts!r}, file)
"""


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Task:
    """A task to be made, whose environment is a program in the place of what asks one."""
    monkeypatch.setattr(scaffold, "TEMPLATES", tmp_path / "templates")
    (tmp_path / "templates").mkdir()
    made = load_task(make_task(tmp_path / "task"))
    (made.directory / "reference" / "environment.json").write_text('{"id": "Walk-v0"}')
    return replace(made, reference=replace(made.reference, options={}))


def discover(task: Task, attempt: str, facts: object = FACTS) -> dict[str, object]:
    program = PROGRAM.format(attempt=attempt, facts=facts)
    (scaffold.TEMPLATES / "gymnasium_discover.py").write_text(program)
    return scaffold._discover(task, Installed(Path(sys.prefix), Path(sys.executable)))


def test_it_runs_where_it_reaches_nothing(asked: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", "secret")
    (tmp_path / "mine").write_text("mine")
    for attempt in (
        f"open({str(tmp_path / 'mine')!r}).read()",
        "open('/etc/shadow').read()",
        "os.environ['MY_TOKEN']",
        f"os.kill({os.getpid()}, 0)",
        f"open({str(asked.directory / 'task.toml')!r}, 'a').close()",
    ):
        with pytest.raises(SetupError, match="the environment cannot be run"):
            discover(asked, attempt)
    assert discover(asked, "pass")["what"] == "Walk"


def test_it_changes_of_the_task_what_was_found_out_and_no_more(asked: Task) -> None:
    write = (
        "json.dump({'leaves': {}}, open(os.path.join(sys.argv[1], 'environment.json'), 'w'))\n"
        "open(os.path.join(sys.argv[1], 'adapter.py'), 'w').write('mine')\n"
    )
    before = (asked.directory / "reference" / "adapter.py").read_text()
    discover(asked, write)
    assert (asked.directory / "reference" / "adapter.py").read_text() == before
    assert json.loads((asked.directory / "reference" / "environment.json").read_text()) == {"leaves": {}}


@pytest.mark.parametrize("place", ["link", "fifo", "nothing", "deep"])
def test_what_it_leaves_in_the_place_of_an_answer_is_none(place: str, asked: Task, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text(json.dumps(FACTS))
    ends = {
        "link": f"os.symlink({str(tmp_path / 'mine')!r}, sys.argv[2])",
        "fifo": "os.mkfifo(sys.argv[2])",
        "nothing": "pass",
        "deep": "open(sys.argv[2], 'w').write('[' * 100000)",
    }
    with pytest.raises(SetupError, match="the environment cannot be run"):
        discover(asked, f"{ends[place]}\nos._exit(0)")


@pytest.mark.parametrize("facts", [{"mode": 'none"\n[tolerance]\n'}, {"max_episode_steps": "1\n[tolerance]"}])
def test_what_it_says_of_itself_writes_no_line_of_the_task(facts: dict[str, object], asked: Task) -> None:
    with pytest.raises(SetupError, match="not what was asked"):
        discover(asked, "pass", FACTS | facts)
