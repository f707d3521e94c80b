"""A person brings a changed task into a session: it judges from then on, and what had passed before counts no more."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.assurance.audit import Gate, audit
from harness.candidate.skeleton import write_skeleton
from harness.errors import RecordError, SessionError, TaskError, TrustedFileChanged
from harness.record.keyring import Keyring
from harness.record.store import SETTINGS, Store
from harness.record.task_update import SSH_SIGNATURE, STATEMENT, TASK_UPDATED
from harness.session.recipe import Step
from harness.session.session import Session
from harness.task.load import load_task
from harness.verdict import Outcome
from tests.assurance.audit.forger import Forger
from tests.session.conftest import Open
from tests.session.faults import Points, in_child, killed_at
from tests.session.standin import TASK, Agent, FileComparison, factory, make_task
from tests.session.test_ssh_signing import begin, make_key
from tests.tools import needs

REASON = "the start is another one"


def expect(task: Path, module: str, text: str) -> None:
    """The task's reference says something else of a module from now on."""
    (task / "reference" / "expected" / f"{module}.txt").write_text(text)


@pytest.fixture
def changed(task: Path, tmp_path: Path) -> Path:
    """The task of the session with another start."""
    place = tmp_path / "changed"
    shutil.copytree(task, place)
    expect(place, "start", "another start\n")
    return place


@pytest.fixture
def finished(agent: Agent) -> Agent:
    agent.session.verify(message="A first try")
    agent.get_right()
    while agent.session.status()["next"]:
        agent.session.verify()
    return agent


def said(session: Session) -> str:
    return "\n".join(problem.what for problem in audit(session.store).problems)


def test_the_changed_task_judges_and_what_had_passed_counts_no_more(finished: Agent, changed: Path) -> None:
    session = finished.session
    before, head = audit(session.store), session.head
    event = session.update_task(changed, REASON)
    assert (event.kind, event.arguments) == (TASK_UPDATED, {"task": "walk", "reason": REASON})
    assert event.detail["changes"] == {"changed": ["reference/expected/start.txt"], "deleted": [], "added": []}
    assert session.state.passed == frozenset()
    for root in (session.task_directory, session.workspace):
        assert (root / "reference" / "expected" / "start.txt").read_text() == "another start\n"
    assert (session.workspace / "candidate" / "start.txt").read_text() == "start\n"

    with pytest.raises(SessionError, match="nothing is verified by the changed one yet"):
        session.verified()
    assert session.verify().verdict.outcome is Outcome.FAIL
    finished.write("start.txt", "another start\n")
    again = session.verify()
    assert again.verdict.outcome is Outcome.PASS
    assert again.commit is not None
    assert session.state.passed == {Step(1, "start")}
    assert session.verified()[1].commit == again.commit
    assert session.store.commit(again.commit).parents == (head.commit if head else None,)

    report = audit(session.store)
    assert report.problems == ()
    assert [task["from"] for task in report.tasks] == [0, event.seq]
    assert [task["digest"] for task in report.tasks] == [before.task_digest, report.task_digest]
    assert before.task_digest != report.task_digest == load_task(changed).digest


def test_a_session_is_opened_again_with_the_changed_task(finished: Agent, changed: Path, reopen: Open) -> None:
    event = finished.session.update_task(changed, REASON)
    finished.session.close()
    shutil.rmtree(finished.session.task_directory)
    agent = reopen()
    assert (agent.session.task_directory / "reference" / "expected" / "start.txt").read_text() == "another start\n"
    assert agent.session.state.passed == frozenset()
    agent.write("start.txt", "another start\n")
    assert agent.session.verify().verdict.task_digest == event.detail["task_digest"]


def test_modules_levels_and_limits_are_those_of_the_changed_task(finished: Agent, changed: Path) -> None:
    one = TASK.replace('[[modules]]\nname = "moves"\nleaves = ["reward"]\n', "").replace(
        "iterations = 6", "iterations = 9"
    )
    (changed / "task.toml").write_text(one)
    finished.session.update_task(changed, REASON)
    assert finished.session.state.plan.modules == ("start",)
    assert finished.session.status()["limits"]["iterations"] == 9


def test_the_kind_of_candidate_stays_the_one_that_was_chosen_at_the_start(finished: Agent, changed: Path) -> None:
    one = 'kind = "jax"\nentry = "candidate/env.py"\n'
    also = 'also = [{ kind = "rust", entry = "candidate/rust/src/lib.rs" }]\n'
    assert TASK.count(one) == 1
    (changed / "task.toml").write_text(TASK.replace(one, one + also))
    assert load_task(changed).others
    finished.session.update_task(changed, REASON)
    brought = load_task(finished.session.task_directory)
    assert (brought.candidate.kind, brought.others) == ("jax", ())


def test_limits_that_were_reached_are_counted_anew(agent: Agent, changed: Path) -> None:
    for _ in range(6):
        agent.session.verify()
    with pytest.raises(SessionError, match="needs a person"):
        agent.session.verify()
    agent.session.update_task(changed, REASON)
    agent.session.verify()


def test_what_is_no_change_of_this_task_is_refused(finished: Agent, task: Path, changed: Path) -> None:
    session, events = finished.session, len(finished.session.events)
    with pytest.raises(SessionError, match="is the one that the session has"):
        session.update_task(task, REASON)
    (changed / "cases").mkdir()
    expect(changed, "start", "start\n")
    with pytest.raises(SessionError, match="is the one that the session has"):
        session.update_task(changed, REASON)
    expect(changed, "start", "third\n")
    with pytest.raises(SessionError, match="it was changed meanwhile"):
        session.update_task(changed, REASON, "0" * 64)
    (changed / "task.toml").write_text(TASK.replace('name = "walk"', 'name = "run"'))
    with pytest.raises(SessionError, match="the task 'run', and the session is on 'walk'"):
        session.update_task(changed, REASON)
    (changed / "task.toml").write_text("name = 1\n")
    with pytest.raises(TaskError):
        session.update_task(changed, REASON)
    with pytest.raises(SessionError, match="lies in the workspace"):
        session.update_task(session.workspace, REASON)
    assert len(session.events) == events


def test_a_workspace_in_which_the_verifier_s_files_are_changed_is_refused(finished: Agent, changed: Path) -> None:
    (finished.session.workspace / "properties.py").write_text("easier = True\n")
    with pytest.raises(TrustedFileChanged):
        finished.session.update_task(changed, REASON)
    assert finished.session.state.passed != frozenset()


def test_a_verification_that_runs_is_not_disturbed(agent: Agent, changed: Path) -> None:
    found: list[str] = []

    def meanwhile(what: str, done: int, total: int) -> None:
        with pytest.raises(SessionError, match="a verification is running") as refusal:
            agent.session.update_task(changed, REASON)
        found.append(refusal.value.what)

    agent.session.verify(progress=meanwhile)
    assert found


def found_cases(session: Session) -> set[str]:
    return {path for path in session.store.files(session.events[-1].workspace["gitTree"]) if path.startswith("cases/")}


def test_cases_found_so_far_stay_where_they_can_be_played(finished: Agent, changed: Path) -> None:
    session = finished.session
    (case,) = (session.workspace / "cases").iterdir()
    event = session.update_task(changed, REASON)
    assert event.detail["dropped"] == []
    assert found_cases(session) == {f"cases/{case.name}"}
    assert case.is_file()


def test_cases_of_other_leaves_are_dropped_and_the_record_says_so(finished: Agent, changed: Path) -> None:
    session = finished.session
    (case,) = (session.workspace / "cases").iterdir()
    wider = TASK.replace('observation = { dtype = "float32" }', 'observation = { dtype = "float32", shape = [2] }')
    (changed / "task.toml").write_text(wider)
    event = session.update_task(changed, REASON)
    assert event.detail["dropped"] == [f"cases/{case.name}"]
    assert not case.exists() and not (session.task_directory / "cases" / case.name).exists()
    finished.write("start.txt", "another start\n")
    assert session.verify().verdict.outcome is Outcome.PASS
    assert said(session) == ""


def stub(task: Path, place: Path) -> str:
    shutil.copytree(task, place)
    write_skeleton(load_task(place), place)
    return (place / "candidate" / "env.py").read_text()


def test_stubs_are_made_anew_and_what_is_written_stays(agent: Agent, task: Path, changed: Path, tmp_path: Path) -> None:
    session = agent.session
    (changed / "task.toml").write_text(TASK.replace('reward = { dtype = "float64" }', 'reward = { dtype = "float32" }'))
    old, new = stub(task, tmp_path / "old"), stub(changed, tmp_path / "new")
    assert old != new
    agent.write("env.py", old)
    agent.write("start.txt", "mine\n")
    event = session.update_task(changed, REASON)
    assert list(event.detail["stubs"]) == ["candidate/env.py"]
    assert (session.workspace / "candidate" / "env.py").read_text() == new
    assert (session.workspace / "candidate" / "start.txt").read_text() == "mine\n"

    agent.write("env.py", new + "# mine\n")
    (changed / "task.toml").write_text(TASK)
    assert session.update_task(changed, REASON).detail["stubs"] == {}
    assert (session.workspace / "candidate" / "env.py").read_text() == new + "# mine\n"


def test_what_is_not_verified_by_the_changed_task_may_not_be_merged(finished: Agent, changed: Path) -> None:
    session = finished.session
    assert audit(session.store, gate=Gate(3)).ok
    event = session.update_task(changed, REASON)
    (problem,) = audit(session.store, gate=Gate(3)).problems
    assert problem.what == f"event {event.seq} changed the task, and no commit is verified by the changed one"
    finished.write("start.txt", "another start\n")
    session.verify(level=3)
    assert audit(session.store, gate=Gate(3)).ok


# Forged


@pytest.fixture
def forged(finished: Agent, changed: Path, home: Path) -> Forger:
    """A session whose task was changed, in the hands of somebody who has even its key."""
    finished.session.update_task(changed, REASON)
    finished.write("start.txt", "another start\n")
    finished.session.verify()
    finished.session.close()
    return Forger(finished.session.directory.repository)


def problems(forger: Forger, home: Path) -> str:
    forger.consistent(Keyring(home).present)
    forger.publish()
    return "\n".join(problem.what for problem in audit(forger.path).problems)


def update_in(forger: Forger) -> int:
    (found,) = (event.seq for event in forger.events if event.kind == TASK_UPDATED)
    return found


def test_a_record_that_is_only_written_again_holds(forged: Forger, home: Path) -> None:
    assert problems(forged, home) == ""


def test_an_update_that_is_taken_out_is_noticed(forged: Forger, home: Path) -> None:
    del forged.pages[update_in(forged)]
    found = problems(forged, home)
    assert "task or tests are not the session's" in found
    assert "it judged by another task" in found


def test_a_reason_or_a_digest_that_was_not_stated_is_noticed(forged: Forger, home: Path) -> None:
    seq = update_in(forged)
    event = forged.events[seq]
    forged.edit(seq, arguments={**event.arguments, "reason": "another"})
    assert "its statement is about another update" in problems(forged, home)
    forged.edit(seq, arguments=event.arguments, detail={**event.detail, "task_digest": "0" * 64})
    assert "the task's digest is" in problems(forged, home)


def test_an_update_that_stands_elsewhere_is_noticed(forged: Forger, home: Path) -> None:
    seq = update_in(forged)
    page = forged.pages.pop(seq)
    forged.pages.insert(seq - 2, page)
    assert "its statement is about another update" in problems(forged, home)


def test_cases_that_vanish_unsaid_are_noticed(finished: Agent, changed: Path, home: Path) -> None:
    wider = TASK.replace('observation = { dtype = "float32" }', 'observation = { dtype = "float32", shape = [2] }')
    (changed / "task.toml").write_text(wider)
    event = finished.session.update_task(changed, REASON)
    finished.session.close()
    forger = Forger(finished.session.directory.repository)
    forger.edit(event.seq, detail={**event.detail, "dropped": []})
    assert "known cases are gone, and it does not say so: cases/" in problems(forger, home)


# Signed by a person


@needs("ssh-keygen", package="openssh-client")
def test_a_session_with_an_ssh_key_is_changed_by_its_owner_alone(tmp_path: Path) -> None:
    key = make_key(tmp_path / "key")
    agent = begin(tmp_path, key)
    expect(tmp_path / "task", "start", "another start\n")
    with agent.session as session:
        agent.get_right()
        session.verify()
        key.rename(tmp_path / "elsewhere")
        key.with_suffix(".pub").rename(tmp_path / "elsewhere.pub")
        with pytest.raises(RecordError, match="ssh-keygen did not sign"):
            session.update_task(tmp_path / "task", REASON)
        assert session.events[-1].kind != TASK_UPDATED
        (tmp_path / "elsewhere").rename(key)
        event = session.update_task(tmp_path / "task", REASON)
        assert said(session) == ""
    assert set(event.attached) == {STATEMENT, SSH_SIGNATURE}
    with Store(session.directory.repository) as store:
        statement = json.loads(Forger(store.path).content(event.seq, STATEMENT))
    assert statement["reason"] == REASON
    assert statement["to"] == event.detail["task_digest"]

    forger = Forger(session.directory.repository)
    content = forger.content(event.seq, STATEMENT)
    other = make_key(tmp_path / "other")
    signing = ["ssh-keygen", "-q", "-Y", "sign", "-n", "lockstep-task-update", "-f", str(other)]
    signed = subprocess.run(signing, input=content, check=True, capture_output=True).stdout
    forger.put(event.seq, SSH_SIGNATURE, signed)
    assert "signed by another SSH key" in problems(forger, tmp_path / "home")
    del forger.pages[event.seq].files[SSH_SIGNATURE]
    assert f"{SSH_SIGNATURE} is missing" in problems(forger, tmp_path / "home")


# Killed


def prepared(root: Path) -> None:
    """A session with a case and a commit, and beside it the changed task, in which a stub differs too."""
    task = make_task(root / "task")
    write_skeleton(load_task(task), task)
    made: list[FileComparison] = []
    with Session.start(task, root / "workspace", root / "home", verifier=factory(made)) as session:
        agent = Agent(session, made)
        session.verify()
        agent.get_right()
        session.verify()
    changed = root / "changed"
    shutil.copytree(task, changed)
    expect(changed, "start", "another start\n")
    (changed / "properties.py").unlink()
    (changed / "cases.md").write_text("new\n")
    (changed / "task.toml").write_text(TASK.replace('reward = { dtype = "float64" }', 'reward = { dtype = "float32" }'))


def change(root: Path) -> None:
    with Session.open(root / "workspace", root / "home", verifier=factory([])) as session:
        session.update_task(root / "changed", REASON)


@pytest.mark.slow
def test_a_session_that_is_killed_on_the_way_has_the_old_task_or_the_new_one_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
    monkeypatch.setitem(SETTINGS, "core.fsync", "none")
    prepared(tmp_path / "prepared")
    outcomes: set[bool] = set()
    number, ended = 0, False
    while not ended:
        root = tmp_path / "now"
        shutil.copytree(tmp_path / "prepared", root)
        described = root / "home" / "sessions"
        (place,) = (each for each in described.iterdir() if each.is_dir())
        session_json = json.loads((place / "session.json").read_text())
        (place / "session.json").write_text(json.dumps(session_json | {"workspace": str(root / "workspace")}))
        ended = not killed(number, lambda root=root: change(root))
        outcomes.add(whole(root))
        shutil.rmtree(root)
        number += 1 if number > 400 else 7
    assert number > 100
    assert outcomes == {False, True}


def killed(number: int, work: Callable[[], None]) -> bool:
    def child() -> None:
        Points(killed_at(number)).install()
        work()

    status = in_child(child)
    assert status == 0 or os.WTERMSIG(status) == signal.SIGKILL
    return status != 0


def whole(root: Path) -> bool:
    """Whether the session has the changed task; all that it has is of one of the two, and it goes on."""
    made: list[FileComparison] = []
    with Session.open(root / "workspace", root / "home", verifier=factory(made)) as session:
        now = session.events[-1].kind == TASK_UPDATED
        task = root / ("changed" if now else "task")
        for place in (session.task_directory, session.workspace):
            assert load_task(place).digest == load_task(task).digest
        again = root / "again"
        write_skeleton(load_task(task), again)
        written = (session.workspace / "candidate" / "env.py").read_text()
        assert written == (again / "candidate" / "env.py").read_text()
        agent = Agent(session, made)
        agent.write("start.txt", "another start\n" if now else "start\n")
        assert session.verify().verdict.outcome is Outcome.PASS
        assert said(session) == ""
        assert not session.directory.updating.exists()
    return now
