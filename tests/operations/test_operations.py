"""The calls that command line, host and server share: one document each, whoever asks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import operations
from harness.errors import SessionError, TaskError
from harness.operations.next_calls import shell_calls, tool_calls
from harness.operations.verification import verify
from harness.policy.floor import VARIABLE
from harness.record.event import VERDICT_FILE
from harness.session.request import VerificationRequest
from harness.session.session import Session, SessionView
from harness.support.document import DocumentError
from harness.verdict import Divergence
from harness.verify.explain import describe
from sandboxes import SandboxUnavailable
from tests.paths import WALK
from tests.session.standin import factory, make_task


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def session(tmp_path: Path, home: Path) -> Iterator[Session]:
    """A session on the stand-in task."""
    with Session.start(make_task(tmp_path / "task"), tmp_path / "work", home, verifier=factory([])) as opened:
        yield opened


def judge(session: Session, **asked: object) -> dict[str, object]:
    next_calls = tool_calls(session.id, None, None, session.workspace)
    return verify(session, VerificationRequest(**asked), next_calls).document  # type: ignore[arg-type]


# Starting


def test_a_new_session_states_where_it_stands_and_where_its_record_is(tmp_path: Path, home: Path) -> None:
    started = operations.start(str(WALK), tmp_path / "work", home)
    assert started["state"] == "working"
    assert Path(started["record"]).parent == home / "sessions"
    assert operations.status(started["session"], home=home) == {n: v for n, v in started.items() if n != "record"}
    assert [row["session"] for row in operations.sessions(home)] == [started["session"]]


def test_a_fresh_session_begins_with_a_candidate_that_is_yet_to_be_written(tmp_path: Path, home: Path) -> None:
    started = operations.start(str(WALK), tmp_path / "work", home, fresh=True)
    skeleton = (tmp_path / "work" / "candidate" / "env.py").read_text()
    compile(skeleton, "env.py", "exec")
    for said in ("def step(", "Draws: gust", "def sample_step(", '"ending"', "has no {what} yet"):
        assert said in skeleton
    assert [path.name for path in (tmp_path / "work" / "candidate").iterdir()] == ["env.py"]
    assert (WALK / "candidate" / "env.py").read_text() != skeleton, "the task itself stays as it was"
    with SessionView(started["session"], home) as view:
        assert (view.workspace / "task.toml").read_bytes() == (WALK / "task.toml").read_bytes()


def test_the_sandbox_that_was_asked_for_is_part_of_the_record(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "1")
    started = operations.start(str(WALK), tmp_path / "work", home, sandbox="process")
    with SessionView(started["session"], home) as view:
        assert view.sandbox == "process"
    with pytest.raises(SandboxUnavailable, match="no sandbox driver 'cage'"):
        operations.start(str(WALK), tmp_path / "other", home, sandbox="cage")
    assert len(operations.sessions(home)) == 1


def test_a_task_that_is_not_there_starts_nothing(tmp_path: Path, home: Path) -> None:
    with pytest.raises(TaskError):
        operations.start(str(tmp_path / "nothing"), tmp_path / "work", home)
    assert operations.sessions(home) == []


# Reading


def test_a_history_is_read_in_parts(session: Session, home: Path) -> None:
    for number in range(5):
        session.record("tool", arguments={"number": number})
    page = operations.history(session.id, home=home, after=1, limit=2)
    assert [row["seq"] for row in page["events"]] == [2, 3]
    assert page["more"] == 2
    assert [row["seq"] for row in operations.history(session.id, home=home)["events"]] == list(range(6))


def test_a_damaged_session_is_listed_as_damaged_beside_the_others(session: Session, home: Path, tmp_path: Path) -> None:
    other = operations.start(str(WALK), tmp_path / "other", home)
    (home / "sessions" / session.id / "repo.git" / "HEAD").unlink()
    states = {row["session"]: row["state"] for row in operations.sessions(home)}
    assert states == {session.id: "damaged", other["session"]: "working"}


def test_an_audit_takes_an_id_a_workspace_or_a_git_directory(session: Session, home: Path) -> None:
    for record in (session.id, str(session.workspace), session.directory.repository):
        assert operations.audit(record, home=home).ok
    with pytest.raises(SessionError):
        operations.audit("nobody", home=home)


# Judging and explaining


def test_a_failed_verification_tells_one_divergence_and_the_next_call(session: Session, home: Path) -> None:
    document = judge(session)
    assert (document["outcome"], document["recorded"], document["state"]) == ("FAIL", True, "working")
    case = document["case"]
    assert case in document["new_cases"]  # type: ignore[operator]
    assert document["reproduce"] == f'compare_rollouts(session="{session.id}", case="{case}")'
    explained = operations.explain(session.id, home=home)
    for name in ("divergence", "case", "reproduce"):
        assert explained[name] == document[name]
    assert explained["data"]["level"] == 1


def test_every_verdict_can_be_explained_and_each_of_its_divergences(session: Session, home: Path) -> None:
    first = judge(session, level=1)["event"]
    for module in ("start", "moves"):
        (session.workspace / "candidate" / f"{module}.txt").write_text(f"{module}\n")
    second = judge(session, level=1)["event"]
    assert operations.explain(session.id, home=home)["divergence"] is None
    assert operations.explain(session.id, home=home, event=second)["outcome"] == "PASS"  # type: ignore[arg-type]
    explained = [operations.explain(session.id, home=home, event=first, index=index) for index in range(2)]  # type: ignore[arg-type]
    assert [each["data"]["module"] for each in explained] == ["start", "moves"]
    for wrong in ({"event": 0}, {"event": 99}, {"event": first, "index": 2}, {"event": first, "index": -1}):
        with pytest.raises(SessionError, match=r"not a verdict|no verdict|no divergence"):
            operations.explain(session.id, home=home, **wrong)  # type: ignore[arg-type]


def test_a_divergence_is_the_same_after_it_was_recorded(session: Session) -> None:
    done = verify(session, VerificationRequest(), shell_calls("again", session.workspace)).done
    assert done is not None
    for found in done.verdict.divergences:
        again = Divergence.from_json(found.to_json())
        assert again.to_json() == found.to_json() and describe(again) == describe(found)
    placed = Divergence(None, 3, "observation/board", "1", "2", "value", 2, "rollout", index=(3, 4), probe="p")
    assert Divergence.from_json(placed.to_json()) == placed
    with pytest.raises(DocumentError, match="divergence has no 'step'"):
        Divergence.from_json({"address": "x"})
    assert VERDICT_FILE in session.events[-1].attached


def test_calls_are_worded_for_who_reads_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    case = tmp_path / "work" / "cases" / "a b.json"
    assert shell_calls("again", tmp_path).compare(case) == "lockstep compare --case 'work/cases/a b.json'"
    elsewhere = shell_calls("again", tmp_path / "work")
    assert elsewhere.compare(case) == f"lockstep compare {tmp_path}/work --case 'work/cases/a b.json'"
    tools = tool_calls("s-1", 1, "moves", tmp_path / "work")
    assert tools.verify == 'run_level_tests(session="s-1", level=1, module="moves")'
    assert tools.compare(case) == 'compare_rollouts(session="s-1", case="cases/a b.json")'
