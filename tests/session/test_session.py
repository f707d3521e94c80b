"""A session: what was verified is what is committed, and nothing that an agent does to its workspace changes that."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from harness.assurance.audit import audit
from harness.errors import RecordError, SessionError, SessionLocked, TaskError, TrustedFileChanged
from harness.model import Case
from harness.record import log
from harness.record.event import VERDICT_FILE
from harness.record.log import event_file
from harness.session import recorder
from harness.session.recipe import Step
from harness.session.session import Session, SessionView
from harness.verdict import Outcome
from tests.session.conftest import Open
from tests.session.standin import UNDECIDED, Agent, FileComparison, factory, make_task


def git(agent: Agent, *arguments: str) -> str:
    command = ["git", "--git-dir", str(agent.session.directory.repository), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def cases_in(directory: Path) -> list[str]:
    return sorted(path.name for path in (directory / "cases").glob("*"))


# Starting


def test_a_new_session_fills_its_workspace_from_the_task(agent: Agent, task: Path, workspace: Path) -> None:
    def contents(root: Path) -> dict[str, bytes]:
        return {p.relative_to(root).as_posix(): p.read_bytes() for p in root.rglob("*") if p.is_file()}

    welcome = {"AGENTS.md", ".mcp.json", ".claude/CLAUDE.md"}
    found = contents(workspace)
    assert {path: content for path, content in found.items() if path not in welcome} == contents(task)
    assert welcome < found.keys()
    trusted = contents(agent.session.task_directory)
    assert trusted == {path: data for path, data in contents(task).items() if not path.startswith("candidate/")}
    assert agent.session.status()["next"] == {"level": 1, "module": "start"}
    assert agent.session.status()["commit"] is None


def test_a_wrong_task_starts_nothing(home: Path, task: Path, workspace: Path) -> None:
    (task / "task.toml").write_text("name = 1\n")
    with pytest.raises(TaskError):
        Session.start(task, workspace, home)
    assert not workspace.exists()
    assert not (home / "sessions").exists()


def test_a_workspace_with_the_task_s_files_is_adopted(home: Path, task: Path, workspace: Path) -> None:
    shutil.copytree(task, workspace)
    (workspace / "candidate" / "start.txt").write_text("mine\n")
    (workspace / ".settings").mkdir()
    with Session.start(task, workspace, home) as session:
        assert (workspace / "candidate" / "start.txt").read_text() == "mine\n"
        assert "candidate/start.txt" in session.store.files(session.events[0].workspace["gitTree"])


def test_a_workspace_with_other_trusted_files_is_refused(home: Path, task: Path, workspace: Path) -> None:
    shutil.copytree(task, workspace)
    (workspace / "properties.py").write_text("easier = True\n")
    with pytest.raises(TrustedFileChanged, match=r"changed properties\.py"):
        Session.start(task, workspace, home)
    assert [path for path in (home / "sessions").iterdir() if path.is_dir()] == []


def test_the_record_must_lie_outside_the_workspace(home: Path, task: Path) -> None:
    for workspace in (home.parent, home / "sessions" / "x"):
        with pytest.raises(SessionError, match="outside the workspace"):
            Session.start(task, workspace, home)


def test_a_second_session_in_the_same_workspace_is_refused_by_name(agent: Agent, home: Path, task: Path) -> None:
    for workspace in (agent.session.workspace, agent.session.workspace / "candidate"):
        with pytest.raises(SessionError, match=f"the session {agent.session.id} works in"):
            Session.start(task, workspace, home)


def test_sessions_in_workspaces_of_their_own_share_a_home_and_its_key(agent: Agent, home: Path, task: Path) -> None:
    with Session.start(task, home.parent / "another", home) as other:
        assert other.id != agent.session.id
        assert other.events[0].detail["key"] == agent.session.events[0].detail["key"]


def test_a_second_process_is_reported_who_has_the_session(agent: Agent, home: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from harness.session.session import Session\n"
        "try: Session.open(sys.argv[1], Path(sys.argv[2]))\n"
        "except Exception as error: print(type(error).__name__, error)"
    )
    said = subprocess.run(
        [sys.executable, "-c", script, agent.session.id, str(home)], check=True, capture_output=True, text=True
    ).stdout
    assert said.startswith("SessionLocked")
    assert f"the session {agent.session.id} is in use by process {os.getpid()}" in said
    with pytest.raises(SessionLocked):
        Session.open(agent.session.workspace, home)


def test_a_session_is_found_by_its_id_and_by_its_workspace(agent: Agent, home: Path, workspace: Path) -> None:
    agent.session.close()
    for which in (agent.session.id, workspace, str(workspace)):
        with Session.open(which, home) as session:
            assert session.id == agent.session.id
    with pytest.raises(SessionError, match="there is no session 'other'") as caught:
        Session.open("other", home)
    assert agent.session.id not in str(caught.value)  # which there are is not for every reader


@pytest.mark.parametrize("which", ["x" * 300, "a\0b", "~nobody-of-this-name/x"])
def test_what_can_be_no_path_names_no_session(which: str, home: Path) -> None:
    with pytest.raises(SessionError, match="there is no session"):
        Session.open(which, home)


# Verifying


def test_the_recipe_leads_through_all_levels_and_each_pass_is_committed(agent: Agent) -> None:
    agent.get_right()
    steps, commits = [], []
    for message in ("Begin", "Move", "Compose", "Whole episodes"):
        done = agent.session.verify(message=message)
        assert done.verdict.outcome is Outcome.PASS
        steps.append(done.step)
        commits.append(done.commit)
    assert steps == [Step(1, "start"), Step(1, "moves"), Step(2), Step(3)]
    assert [(levels, module) for levels, module, _ in agent.verifier.calls] == [
        ((1,), "start"),
        ((1,), "moves"),
        ((1, 2), None),
        ((1, 2, 3), None),
    ]
    assert agent.session.status()["state"] == "done"
    assert git(agent, "log", "--format=%H %s", "--reverse", "main").split("\n") == [
        f"{commits[0]} Begin",
        f"{commits[1]} Move",
        f"{commits[2]} Compose",
        f"{commits[3]} Whole episodes",
    ]
    assert git(agent, "log", "-1", "--format=%an <%ae>%n%(trailers)", "main").split("\n") == [
        "Lockstep agent <agent@lockstep.invalid>",
        "Lockstep-Level: 1 passed",
        "Lockstep-Level: 2 passed",
        "Lockstep-Level: 3 passed",
        f"Lockstep-Seed: {agent.verifier.calls[-1][2]}",
        "Lockstep-Sandbox: standin",
    ]
    assert audit(agent.session.store).problems == ()


def test_the_committed_tree_is_the_verified_one_even_if_the_workspace_changes_meanwhile(agent: Agent) -> None:
    agent.get_right()

    def swap(*_: object) -> None:
        agent.write("env.py", "swapped = True\n")

    done = agent.session.verify(progress=swap)
    assert done.commit is not None
    committed = {p: agent.session.store.blob(e.id).decode() for p, e in _files_of(agent, done.commit).items()}
    assert committed == agent.verifier.trees[0]
    assert committed["candidate/env.py"] == "x = 1\n"
    assert (agent.session.workspace / "candidate" / "env.py").read_text() == "swapped = True\n"


def _files_of(agent: Agent, commit: str):
    return agent.session.store.files(agent.session.store.commit(commit).tree)


def test_each_run_draws_a_fresh_seed_after_the_snapshot(agent: Agent) -> None:
    for number in range(3):
        agent.write("env.py", f"x = {number}\n")
        agent.session.verify()
    seeds = [seed for _, _, seed in agent.verifier.calls]
    assert len(set(seeds)) == 3
    attempts = [event for event in agent.session.events if event.kind == "attempt"]
    assert [event.seeds["run"] for event in attempts] == seeds


def test_a_chosen_seed_repeats_a_run_but_never_counts_as_a_pass(agent: Agent) -> None:
    agent.get_right()
    done = agent.session.verify(seed=7)
    assert agent.verifier.calls == [((1,), "start", 7)]
    assert done.verdict.outcome is Outcome.PASS
    assert done.commit is None
    assert done.next == Step(1, "start")
    with pytest.raises(SessionError, match="out of range"):
        agent.session.verify(seed=1 << 63)


def test_everything_can_be_verified_at_once(agent: Agent) -> None:
    agent.get_right()
    done = agent.session.verify(level=3)
    assert done.commit is not None
    assert done.next is None


def test_a_failure_is_kept_as_a_snapshot_with_its_verdict_but_not_committed(agent: Agent) -> None:
    done = agent.session.verify()
    assert done.verdict.outcome is Outcome.FAIL
    assert done.commit is None
    event = agent.session.events[done.seq]
    assert json.loads(event_file(agent.session.store, event.id, VERDICT_FILE)) == done.verdict.to_json()
    assert "candidate/env.py" in git(agent, "ls-tree", "-r", "--name-only", f"{event.id}:workspace").split()
    assert agent.session.status()["last_attempt"]["finding"].startswith("comparison: reward at step 0: expected 1.0")


def test_counterexamples_go_into_the_trusted_and_the_workspace_s_cases(agent: Agent) -> None:
    done = agent.session.verify(level=1)
    assert len(done.cases) == 1  # both modules fail in the same way, so the case is the same
    name = Path(done.cases[0]).name
    assert cases_in(agent.session.task_directory) == cases_in(agent.session.workspace) == [name]
    case = Case.from_json(json.loads((agent.session.workspace / "cases" / name).read_text()))
    assert case.digest.startswith(name.removesuffix(".json"))
    again = agent.session.verify(level=1)
    assert again.cases == ()
    assert f"cases/{name}" in agent.verifier.trees[1]
    agent.get_right()
    passed = agent.session.verify(level=1)
    assert passed.commit is not None
    assert f"cases/{name}" in _files_of(agent, passed.commit)


def test_a_later_failure_leads_back_to_the_module_with_the_new_case(agent: Agent) -> None:
    agent.get_right()
    agent.session.verify(level=2)
    agent.write("whole.txt", "fail3:moves")
    failed = agent.session.verify()
    assert failed.step == Step(3)
    assert failed.next == Step(1, "moves")
    assert len(failed.cases) == 1
    agent.write("whole.txt", "")
    walked = [agent.session.verify().step for _ in range(3)]
    assert walked == [Step(1, "moves"), Step(2), Step(3)]
    assert agent.session.status()["state"] == "done"


def test_verifying_the_same_again_adds_nothing_and_other_code_at_the_top_is_committed(agent: Agent) -> None:
    agent.get_right()
    first = agent.session.verify(level=3)
    assert agent.session.verify().commit is None
    assert agent.session.verify(level=1, module="start").commit is None
    agent.write("env.py", "faster = True\n")
    assert agent.session.verify(level=1, module="start").commit is None
    second = agent.session.verify()
    assert second.step == Step(3)
    assert second.commit is not None
    assert agent.session.store.commit(second.commit).parents == (first.commit,)


@pytest.mark.parametrize("word", ["error", "seed", "task", "short"])
def test_a_verdict_that_is_none_or_about_something_else_is_an_error_and_commits_nothing(
    agent: Agent, word: str
) -> None:
    agent.get_right()
    agent.write("whole.txt", word)
    done = agent.session.verify(level=2)
    assert done.verdict.outcome is Outcome.ERROR
    assert done.commit is None
    assert done.cases == ()
    assert done.next == Step(1, "start")
    assert agent.session.status()["spent_on_next"]["iterations"] == 1


def test_limits_end_in_asking_a_person_who_can_let_it_go_on(agent: Agent) -> None:
    for _ in range(6):
        agent.session.verify(message="a try")
    status = agent.session.status()
    assert status["state"] == "needs_human"
    assert status["needs_human"]["because"] == ["6 iterations on level 1 of start (limit 6)"]
    assert [tried["message"] for tried in status["needs_human"]["tried"]] == ["a try"] * 6
    with pytest.raises(SessionError, match="needs a person: 6 iterations"):
        agent.session.verify()
    agent.session.resume("the adapter is mended")
    assert agent.session.verify().verdict.outcome is Outcome.FAIL


def test_money_counts_against_its_limit(agent: Agent) -> None:
    agent.session.report_usage(dollars=1.5, input_tokens=1000)
    agent.session.report_usage(dollars=0.5)
    assert agent.session.status()["dollars"] == 2.0
    with pytest.raises(SessionError, match=r"\$2\.00 in this session"):
        agent.session.verify()
    for wrong in (-1.0, float("nan"), float("inf")):
        with pytest.raises(SessionError, match="usage `dollars`"):
            agent.session.report_usage(dollars=wrong)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"level": 4}, "this session has no level 4"),
        ({"level": 0}, "this session has no level 0"),
        ({"module": "ends"}, "there is no module 'ends'"),
        ({"level": 2, "module": "start"}, "all modules together"),
    ],
)
def test_what_cannot_be_verified_is_refused_before_anything_is_recorded(agent: Agent, arguments, said: str) -> None:
    with pytest.raises(SessionError, match=said):
        agent.session.verify(**arguments)
    assert len(agent.session.events) == 1


# Going on


def test_a_session_goes_on_where_it_was(agent: Agent, reopen: Open) -> None:
    agent.get_right("start")
    first = agent.session.verify()
    before = agent.session.status()
    agent.session.close()
    again = reopen()
    assert again.session.status() == before
    again.get_right("moves")
    second = again.session.verify()
    assert second.step == Step(1, "moves")
    assert again.session.store.commit(str(second.commit)).parents == (first.commit,)


@pytest.mark.parametrize(("word", "error"), [("raise", RuntimeError), ("interrupt", KeyboardInterrupt)])
def test_an_interrupted_verification_is_recorded_and_the_session_goes_on(
    agent: Agent, word: str, error: type[BaseException]
) -> None:
    agent.get_right()
    agent.write("whole.txt", word)
    with pytest.raises(error):
        agent.session.verify()
    last = agent.session.status()["last_attempt"]
    assert last["outcome"] == "interrupted"
    assert last["finding"].startswith(error.__name__)
    assert [*agent.session.directory.exports.iterdir()] == []
    agent.write("whole.txt", "")
    assert agent.session.verify().commit is not None
    assert audit(agent.session.store).ok


def test_a_task_that_trains_has_level_4(trainer: Agent) -> None:
    trainer.get_right()
    done = trainer.session.verify(4)
    assert done.commit is not None and done.next is None
    assert trainer.verifier.calls[-1][0] == (1, 2, 3, 4)


def test_an_inconclusive_level_commits_nothing_and_says_what_would_decide(trainer: Agent) -> None:
    trainer.get_right()
    trainer.write("whole.txt", "undecided4")
    done = trainer.session.verify(4)
    assert done.verdict.outcome is Outcome.INCONCLUSIVE and done.commit is None and done.cases == ()
    assert done.next == Step(4)
    status = trainer.session.status()
    assert status["last_attempt"]["outcome"] == "INCONCLUSIVE"
    assert UNDECIDED in status["last_attempt"]["finding"]
    assert audit(trainer.session.store).ok
    trainer.write("whole.txt", "")
    assert trainer.session.verify().commit is not None
    assert audit(trainer.session.store).ok


def test_a_full_record_is_refused_before_anything_runs_and_can_still_be_read(
    agent: Agent, reopen: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder, "MAX_EVENTS", 103)
    monkeypatch.setattr(log, "MAX_EVENTS", 5)
    agent.session.record("noted")
    agent.session.record("noted")
    with pytest.raises(SessionError, match="the record of this session is full: 3 events"):
        agent.session.verify()
    assert [event.kind for event in agent.session.events].count("attempt") == 0
    agent.session.record("noted")
    agent.session.record("noted")
    with pytest.raises(RecordError, match="the log has 5 events, and cannot grow"):
        agent.session.record("noted")
    agent.session.close()
    assert len(reopen().session.events) == 5


def test_a_lost_workspace_comes_back_from_the_record(agent: Agent, reopen: Open) -> None:
    agent.write("env.py", "x = 2\n")
    [case] = agent.session.verify().cases
    agent.session.close()
    shutil.rmtree(agent.session.workspace)
    again = reopen()
    assert (again.session.workspace / "candidate" / "env.py").read_text() == "x = 2\n"
    assert (again.session.workspace / case).exists()
    again.session.verify()


def test_a_second_verification_at_the_same_time_is_refused(agent: Agent) -> None:
    refused: list[str] = []

    def again() -> None:
        try:
            agent.session.verify()
        except SessionError as error:
            refused.append(error.what)

    def meanwhile(*_: object) -> None:
        thread = threading.Thread(target=again)
        thread.start()
        thread.join()

    agent.session.verify(progress=meanwhile)
    assert refused == ["a verification is running in this session"]


def test_tool_calls_are_events_too_even_while_a_verification_runs(agent: Agent) -> None:
    def meanwhile(*_: object) -> None:
        agent.session.record("read_file", arguments={"path": "candidate/env.py"}, outcome="ok", duration_s=0.1)

    agent.session.verify(progress=meanwhile)
    assert [event.kind for event in agent.session.events] == ["start", "attempt", "read_file", "verdict"]
    assert audit(agent.session.store).ok
    with pytest.raises(SessionError, match="session's own"):
        agent.session.record("verdict")
    with pytest.raises(SessionError, match="cannot be recorded"):
        agent.session.record("odd", arguments={"x": object()})


def test_anyone_can_look_without_the_lock(agent: Agent, home: Path) -> None:
    agent.session.verify(message="a try")
    with SessionView(agent.session.workspace, home) as view:
        assert view.status() == agent.session.status()
        assert view.history() == agent.session.history()
        rows = view.history()
    assert [(row["kind"], row["outcome"]) for row in rows] == [("start", ""), ("attempt", ""), ("verdict", "FAIL")]
    assert rows[1]["arguments"]["message"] == "a try"
    json.dumps([rows, agent.session.status()])


def test_an_author_can_be_chosen(home: Path, task: Path, workspace: Path) -> None:
    made: list[FileComparison] = []
    with Session.start(task, workspace, home, verifier=factory(made), author="A Person <a@b.invalid>") as session:
        agent = Agent(session, made)
        agent.get_right()
        session.verify()
        assert git(agent, "log", "--format=%an <%ae>", "main") == "A Person <a@b.invalid>"


def test_only_so_many_counterexamples_of_one_attempt_are_kept(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.session.attempt.MAX_NEW_CASES", 1)
    agent.write("start.txt", "one")
    agent.write("moves.txt", "two")
    assert len(agent.session.verify(level=1).cases) == 1
    assert len(agent.session.verify(level=1).cases) == 1
    assert agent.session.verify(level=1).cases == ()


def test_a_task_that_is_a_checkout_can_be_worked_on(home: Path, workspace: Path, tmp_path: Path) -> None:
    task = make_task(tmp_path / "checkout")
    subprocess.run(["git", "init", "-q", str(task)], check=True)
    with Session.start(task, workspace, home):
        assert not (workspace / ".git").exists()


def test_a_record_that_was_packed_on_closing_is_gone_on_with(
    agent: Agent, reopen: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.record.store.PACK_ABOVE", 10)
    agent.get_right()
    first = agent.session.verify()
    agent.session.close()
    assert [*agent.session.directory.repository.glob("objects/pack/*.pack")]
    again = reopen()
    assert again.session.head is not None
    assert again.session.head.commit == first.commit
    assert again.session.verify().commit is not None
    assert audit(again.session.store).ok


def test_a_record_whose_refs_somebody_moved_is_not_worked_on(agent: Agent, reopen: Open) -> None:
    agent.get_right()
    agent.session.verify()
    agent.session.close()
    git(agent, "update-ref", "refs/heads/main", agent.session.events[0].id)
    with pytest.raises(RecordError, match="the log never verified"):
        reopen()
