"""A host: one for each session, there when it is asked, gone when it is not needed, and nothing is lost with it."""

from __future__ import annotations

import os
import signal
import socket
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

from harness.assurance.audit import audit
from harness.errors import EnvironmentFailure, SessionError, SessionLocked, TaskError, TrustedFileChanged
from harness.host import client, jobs, protocol
from harness.host.protocol import SOCKET, described, rebuilt
from harness.session.session import Session
from tests.host.conftest import Hosted, processes, until
from tests.session.standin import factory, make_task

# Starting and ending


def test_a_call_starts_a_host_and_the_next_call_finds_it(hosted: Hosted) -> None:
    assert hosted.ask("list_files")["entries"]
    token = jobs.host_token(hosted.found)
    assert token
    assert hosted.ask("read_file", path="candidate/env.py")["text"] == "x = 1\n"
    assert jobs.host_token(hosted.found) == token
    mode = (hosted.found.path / SOCKET).stat().st_mode
    assert stat.S_ISSOCK(mode) and stat.S_IMODE(mode) == 0o600


def test_of_hosts_started_at_once_one_wins_and_all_callers_are_served(hosted: Hosted) -> None:
    answers, together = [], threading.Barrier(4)

    def call() -> None:
        together.wait()
        answers.append(hosted.ask("list_files"))

    callers = [threading.Thread(target=call) for _ in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert len(answers) == 4
    until(lambda: len(processes(f"harness.host\0{hosted.id}")) == 1, "the losers' end")


def test_reading_calls_start_no_host(hosted: Hosted) -> None:
    assert hosted.ask("status")["state"] == "working"
    assert [event["kind"] for event in hosted.ask("history")["events"]] == ["start"]
    with pytest.raises(SessionError, match="nothing was verified yet"):
        hosted.ask("explain")
    assert jobs.host_token(hosted.found) is None


def test_an_idle_host_lets_go_when_it_is_asked(hosted: Hosted) -> None:
    hosted.host()
    hosted.ask("list_files")
    assert client.release(hosted.id, hosted.home) is True
    with Session.open(hosted.id, hosted.home, verifier=factory([])):
        pass
    assert client.release(hosted.id, hosted.home) is False


def test_a_busy_host_does_not_let_go_and_says_what_it_does(hosted: Hosted) -> None:
    hosted.host()
    job = hosted.begin("run_command", command="sleep 1000")
    with pytest.raises(SessionError, match=rf"busy: run_command {job.id} of tester"):
        client.release(hosted.id, hosted.home)
    hosted.ask("cancel", job=job.id)
    assert hosted.ended(job).state == "cancelled"
    assert client.release(hosted.id, hosted.home) is True


def test_a_busy_host_is_ended_with_its_jobs_where_nobody_waits_for_them(hosted: Hosted) -> None:
    process = hosted.host()
    hosted.write("whole.txt", "wait")
    command, judged = hosted.begin("run_command", command="sleep 1000"), hosted.begin("verify")
    hosted.working(judged)
    client.end(hosted.id, hosted.home)
    assert process.wait(30) == 0
    assert [hosted.job(job.id).state for job in (command, judged)] == ["cancelled", "cancelled"]
    client.end(hosted.id, hosted.home)


def test_a_host_that_nobody_asks_ends(hosted: Hosted) -> None:
    process = hosted.host(idle_s=0.05)
    assert process.wait(30) == 0
    assert not (hosted.found.path / SOCKET).exists()
    assert jobs.host_token(hosted.found) is None


def test_a_host_does_not_end_while_a_job_runs(hosted: Hosted) -> None:
    process = hosted.host(idle_s=0.05)
    job = hosted.begin("run_command", command="sleep 1; echo done")
    assert hosted.ended(job).result == hosted.job(job.id).result
    assert (hosted.job(job.id).result or {})["stdout"] == "done\n"
    assert process.wait(30) == 0


def test_a_session_that_something_else_works_on_is_named_as_locked(hosted: Hosted) -> None:
    with Session.open(hosted.id, hosted.home, verifier=factory([])):
        with pytest.raises(SessionLocked, match=f"in use by process {os.getpid()}"):
            hosted.ask("list_files")
        assert hosted.ask("status")["session"] == hosted.id


def test_a_session_deep_down_has_a_host_too(tmp_path: Path) -> None:
    home = tmp_path / ("d" * 60) / ("e" * 60) / "home"
    home.mkdir(parents=True, mode=0o700)
    with Session.start(make_task(tmp_path / "task"), tmp_path / "work", home, verifier=factory([])) as session:
        deep = Hosted(session.id, home, tmp_path / "work")
    assert len(str(deep.found.path / SOCKET)) > 108
    deep.host()
    assert deep.ask("list_files")["entries"]
    deep.close()


# Faults


def test_a_killed_host_leaves_a_lost_job_and_the_next_call_goes_on(hosted: Hosted) -> None:
    first = hosted.host()
    hosted.write("whole.txt", "wait")
    verifying = hosted.working(hosted.begin("verify", level=2))
    command = hosted.begin("run_command", command="sleep 987654.5 & sleep 987654.5")
    until(lambda: len(processes("987654.5")) >= 2, "the command's processes")
    hosted.kill(first)

    lost = hosted.job(verifying.id)
    assert lost.state == "lost"
    assert "interrupted" in (lost.error or {})["expected"]
    assert hosted.job(command.id).state == "lost"
    until(lambda: not processes("987654.5"), "the end of what the command had started")
    assert (hosted.found.path / SOCKET).exists(), "the dead host's socket is what the next call meets"

    hosted.write("whole.txt", "fail2")
    second = hosted.host()
    assert hosted.job(verifying.id).state == "lost"
    assert hosted.ask("status")["last_attempt"]["outcome"] == "interrupted"
    job = hosted.ended(hosted.begin("verify", level=1))
    assert job.state == "done" and job.number == command.number + 1
    hosted.kill(second)
    assert hosted.job(job.id) == job, "what was done is reported for ever"


def test_anything_at_the_socket_s_place_is_replaced(hosted: Hosted) -> None:
    (hosted.found.path / SOCKET).write_text("no socket\n")
    assert hosted.ask("list_files")["entries"]


def test_a_host_that_cannot_start_says_why(hosted: Hosted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.host.client.sys.executable", "/bin/false")
    with pytest.raises(EnvironmentFailure, match="could not be started"):
        hosted.ask("list_files")


def test_an_idle_host_of_another_version_is_replaced(hosted: Hosted) -> None:
    old = hosted.host(version="0.0.1")
    assert hosted.ask("list_files")["entries"]
    assert old.wait(30) == 0
    assert jobs.host_token(hosted.found)


def test_a_busy_host_of_another_version_is_left_alone(hosted: Hosted, monkeypatch: pytest.MonkeyPatch) -> None:
    hosted.host(version="0.0.1")
    with monkeypatch.context() as patched:
        patched.setattr(protocol, "__version__", "0.0.1")
        job = hosted.begin("run_command", command="sleep 1000")
    with pytest.raises(SessionError, match=rf"Lockstep 0\.0\.1.*busy: run_command {job.id}"):
        hosted.ask("list_files")
    assert hosted.job(job.id).state == "running"


def test_garbage_on_the_socket_is_answered_and_harms_nobody(hosted: Hosted) -> None:
    hosted.host()
    for line in (b"no json\n", b"[1]\n", b'{"version": 1}\n', b"\xff\n", b""):
        with socket.socket(socket.AF_UNIX) as connection, protocol.address(hosted.found) as path:
            connection.connect(path)
            connection.sendall(line)
            connection.shutdown(socket.SHUT_WR)
            answer = protocol.receive(connection)
        assert answer is None if not line else answer is not None and "error" in answer
    assert hosted.ask("list_files")["entries"]


def test_a_terminated_host_ends_at_once_and_its_jobs_are_lost(hosted: Hosted) -> None:
    process = hosted.host()
    job = hosted.begin("run_command", command="sleep 1000")
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 0
    assert hosted.job(job.id).state in ("lost", "done")
    with Session.open(hosted.id, hosted.home, verifier=factory([])):
        pass


@pytest.mark.slow
def test_a_host_ends_although_its_exception_was_lost_in_a_finalizer(hosted: Hosted) -> None:
    process = hosted.host()
    hosted.write("whole.txt", "linger\n")
    job = hosted.begin("verify", level=1)
    until(lambda: hosted.job(job.id).what == "lingering", "the finalizer")
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 0
    assert not jobs.host_token(hosted.found)


# Verifying


def test_a_verdict_is_computed_once_and_reported_as_often_as_it_is_asked_for(hosted: Hosted) -> None:
    process = hosted.host()
    job = hosted.ended(hosted.begin("verify", message="A first try", client_name="an agent"))
    assert job.state == "done" and job.result is not None
    assert job.result["outcome"] == "FAIL"
    assert job.result["reproduce"].startswith('compare_rollouts(session="')
    assert job.result["case"] in job.result["new_cases"]
    assert "run_level_tests(" in job.result["repair_prompt"]
    hosted.kill(process)
    assert [hosted.job(job.id) for _ in range(3)] == [job] * 3
    explained = hosted.ask("explain")
    assert {name: explained[name] for name in ("divergence", "reproduce")} == {
        name: job.result[name] for name in ("divergence", "reproduce")
    }
    assert [event["kind"] for event in hosted.ask("history")["events"]] == ["start", "attempt", "verdict"]


def test_a_second_verification_is_refused_and_names_the_first_and_who_asked(hosted: Hosted) -> None:
    hosted.host()
    hosted.write("whole.txt", "wait")
    job = hosted.working(hosted.begin("verify", client_name="Ada"))
    with pytest.raises(SessionError, match=rf"{job.id}, which Ada asked for"):
        hosted.ask("verify", client_name="Bob")
    assert hosted.ask("status", client_name="Bob")["also_working"] == ["Ada"]
    assert [row["id"] for row in hosted.ask("status")["running"]] == [job.id]
    hosted.ask("cancel", job=job.id)
    hosted.ended(job)


def test_whoever_begins_a_job_or_changes_a_file_is_reported_who_else_works_here(hosted: Hosted) -> None:
    hosted.host()
    hosted.write("whole.txt", "wait")  # so what comes after the verification waits for its turn
    hosted.ask("list_files", client_name="Ada")
    calls: dict[str, dict[str, Any]] = {
        "verify": {},
        "compare": {"seed": 1},
        "profile": {"peers": False},
        "run_command": {"command": "true"},
        "write_file": {"path": "candidate/new.py", "text": ""},
        "edit_file": {"path": "candidate/env.py", "old": "x = 1", "new": "x = 2"},
    }
    answers = {name: hosted.ask(name, client_name="Bob", **arguments) for name, arguments in calls.items()}
    assert {name: answer.get("also_working") for name, answer in answers.items()} == {name: ["Ada"] for name in calls}
    for name in ("profile", "compare", "verify"):
        hosted.ask("cancel", job=answers[name]["job"]["id"])
    hosted.ended(jobs.Job.from_json(answers["verify"]["job"]))


def test_a_cancelled_verification_is_interrupted_and_the_host_goes_on(hosted: Hosted) -> None:
    hosted.host()
    hosted.write("whole.txt", "wait")
    job = hosted.working(hosted.begin("verify"))
    waiting = hosted.begin("compare", seed=1)
    hosted.ask("cancel", job=waiting.id)
    assert hosted.job(waiting.id).state == "cancelled", "what has not begun ends at once"
    hosted.ask("cancel", job=job.id)
    ended = hosted.ended(job)
    assert ended.state == "cancelled" and "interrupted" in (ended.error or {})["what"]
    assert hosted.ask("cancel", job=job.id)["job"]["state"] == "cancelled"
    assert hosted.ask("status")["last_attempt"]["outcome"] == "interrupted"
    hosted.write("whole.txt", "")
    hosted.write("start.txt", "start\n")
    passed = hosted.ended(hosted.begin("verify"))
    assert passed.result is not None and passed.result["commit"]
    assert hosted.ask("cancel", job=passed.id)["job"]["state"] == "done", "what is done stays done"


@pytest.mark.parametrize("word", ["raise", "interrupt"])
def test_a_verifier_that_fails_fails_the_job_and_not_the_host(hosted: Hosted, word: str) -> None:
    hosted.host()
    hosted.write("whole.txt", word)
    job = hosted.ended(hosted.begin("verify"))
    assert job.state == ("failed" if word == "raise" else "cancelled")
    hosted.write("whole.txt", "")
    assert hosted.ended(hosted.begin("verify")).state == "done"


def test_a_refused_verification_is_a_failed_job_with_the_reason(hosted: Hosted) -> None:
    hosted.host()
    (hosted.workspace / "properties.py").write_text("easier = True\n")
    job = hosted.ended(hosted.begin("verify"))
    assert job.state == "failed"
    assert (job.error or {})["error"] == "TrustedFileChanged"
    assert isinstance(rebuilt(job.error or {}), TrustedFileChanged)


def test_a_session_at_its_limits_asks_for_a_person_and_goes_on_when_one_says_so(hosted: Hosted) -> None:
    hosted.host()
    hosted.ask("report_usage", input_tokens=10, output_tokens=5, dollars=2.5, model="any")
    waits = hosted.ended(hosted.begin("verify"))
    assert waits.result is not None and waits.result["outcome"] == "NEEDS_HUMAN"
    assert hosted.ask("resume", reason="it may")["state"] == "working"
    assert (hosted.ended(hosted.begin("verify")).result or {})["outcome"] == "FAIL"


def test_what_changes_or_judges_is_recorded_with_who_asked_and_the_record_holds(hosted: Hosted) -> None:
    hosted.host()
    hosted.ask("write_file", path="candidate/start.txt", text="start\n", client_name="Ada")
    hosted.ended(hosted.begin("run_command", command="exit 4", client_name="Bob"))
    hosted.ask("read_file", path="candidate/start.txt")
    hosted.ended(hosted.begin("verify", client_name="Ada"))
    client.release(hosted.id, hosted.home)
    with Session.open(hosted.id, hosted.home, verifier=factory([])) as session:
        kinds = {event.kind: event for event in session.events}
        assert list(kinds) == ["start", "write_file", "run_command", "attempt", "verdict"]
        assert kinds["write_file"].detail == {"client": "Ada"}
        assert kinds["write_file"].workspace is not None
        assert kinds["run_command"].outcome == "exit code 4"
        assert kinds["run_command"].detail["client"] == "Bob"
        assert kinds["attempt"].detail["client"] == "Ada"
        repository = session.directory.repository
    assert audit(repository).ok


# Bad input


@pytest.mark.parametrize(
    ("call", "arguments", "said"),
    [
        ("fly", {}, "there is no call 'fly'"),
        ("_talk", {}, "there is no call"),
        ("verify", {"level": "1"}, "`level` is a str instead of int or null"),
        ("verify", {"level": True}, "`level` is a bool"),
        ("verify", {"messages": "x"}, "`messages` is unknown"),
        ("read_file", {}, "`path` is missing"),
        ("run_command", {"command": ""}, "there is no command"),
        ("run_command", {"command": ["ls", 3]}, "there is no command"),
        ("run_command", {"command": "ls", "timeout_s": -1}, "timeout_s is -1"),
        ("run_command", {"command": "ls", "timeout_s": 1e9}, "timeout_s is"),
        ("cancel", {"job": "other.1"}, "is not a job of"),
        ("compare", {"case": {"seed": "x"}}, "this is not a case"),
        ("compare", {"case": "candidate/env.py"}, "this is not a case"),
        ("compare", {"case": "candidate/none.json"}, "there is no file"),
        ("compare", {"seed": -1}, "makes no sense"),
        ("verify", {"message": "x" * 20_000}, "at most 10000"),
    ],
)
def test_a_wrong_call_is_named(shared: Hosted, call: str, arguments: dict[str, object], said: str) -> None:
    with pytest.raises((SessionError, TaskError), match=said):
        client.ask(shared.id, call, arguments, home=shared.home)


@pytest.mark.parametrize(
    "identifier", ["", "x", "x.1", ".1", "{}.0x1", "{}.99", "{}.-1", "../{}.1", "{}." + "9" * 4000]
)
def test_an_unknown_job_is_named(shared: Hosted, identifier: str) -> None:
    with pytest.raises(SessionError, match=r"is not a job|no job|no session"):
        jobs.read(identifier.replace("{}", shared.id), shared.home)


def test_an_unknown_session_is_named(home: Path) -> None:
    with pytest.raises(SessionError, match="there is no session 'nobody'"):
        client.ask("nobody", "status", {}, home=home)


def test_errors_cross_the_socket_with_their_class_and_words() -> None:
    task = TaskError("two mistakes", mistakes=("one", "two"), where="task.toml", next_step="mend them")
    for error in (task, SessionLocked("in use", where="here", expected="free", next_step="wait")):
        again = rebuilt(described(error))
        assert type(again) is type(error)
        assert str(again) == str(error)
    bug = rebuilt(described(ZeroDivisionError("x")))
    assert "bug of Lockstep" in bug.next_step and "ZeroDivisionError" in bug.what


@pytest.mark.parametrize(
    ("asked", "complaint"),
    [
        ({"module": "nonsense"}, "there is no module 'nonsense'"),
        ({"level": 9}, "this session has no level 9"),
        ({"level": 2, "module": "start"}, "level 2 is about all modules together"),
    ],
)
def test_a_step_that_is_not_there_is_a_mistake_of_the_call_and_no_job(
    hosted: Hosted, asked: dict[str, Any], complaint: str
) -> None:
    hosted.host()
    with pytest.raises(SessionError, match=complaint):
        hosted.ask("verify", **asked)
    assert jobs.recent(hosted.found) == [] and hosted.ask("status")["attempts"] == 0
