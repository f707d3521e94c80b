"""The files of jobs: whole at every moment, and never believed beyond the life of the host that wrote them."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

from harness.errors import RecordError, SessionError
from harness.host import jobs
from harness.host.jobs import KEPT, HostLock, Job, Jobs, host_token, read, recent
from harness.record.directory import SessionDirectory
from harness.support.document import DocumentError
from harness.support.files import TEMPORARY
from tests.session.faults import Points, in_child, killed_at

WRITTEN = {
    "id": "walk.3", "session": "walk", "operation": "verify", "arguments": {"level": 1, "module": None},
    "state": "failed", "client": "Ada", "started": "2026-01-02T03:04:05.678+00:00", "what": "level 1", "done": 1,
    "total": 4, "ended": "2026-01-02T03:04:06.678+00:00", "result": None,
    "error": {"what": "the disk is full", "where": "/"}, "host": "0123456789abcdef",
}  # fmt: skip
"""The file of a job, as hosts have written it from the first."""
WORDS = st.text(st.characters(codec="utf-8"), max_size=8)
JOBS = st.builds(
    Job, id=st.builds("{}.{}".format, st.text("ab-", min_size=1), st.integers(1, 9999)), session=WORDS, operation=WORDS,
    arguments=st.dictionaries(WORDS, st.none() | WORDS | st.integers(), max_size=2), state=st.sampled_from(jobs.STATES),
    client=WORDS, started=WORDS, what=WORDS, done=st.integers(0), total=st.integers(0), ended=st.none() | WORDS,
    result=st.none() | st.dictionaries(WORDS, WORDS, max_size=2),
    error=st.none() | st.dictionaries(WORDS, WORDS, max_size=2), host=WORDS,
)  # fmt: skip


@pytest.fixture
def found(tmp_path: Path) -> SessionDirectory:
    made = SessionDirectory(tmp_path / "sessions" / "walk", tmp_path / "workspace", "walk", "2026-01-01T00:00:00+00:00")
    made.path.mkdir(parents=True)
    made.write()
    return made


@pytest.fixture
def host(found: SessionDirectory) -> Iterator[HostLock]:
    lock = HostLock(found)
    assert lock.take()
    yield lock
    lock.release()


def test_a_job_is_read_back_as_it_was_written(tmp_path: Path, found: SessionDirectory, host: HostLock) -> None:
    kept = Jobs(found, host.token)
    job = kept.begin("verify", {"level": 1}, "Ada")
    assert read(job.id, tmp_path) == job
    kept.progress(job, "level 1", 3, 9)
    assert (read(job.id, tmp_path).what, read(job.id, tmp_path).done) == ("level 1", 3)
    ended = kept.end(job, jobs.DONE, result={"outcome": "PASS"})
    assert read(job.id, tmp_path) == ended and ended.finished
    assert Job.from_json(json.loads(json.dumps(ended.to_json()))) == ended
    assert kept.end(job, jobs.FAILED) == job, "a job ends once"
    assert read(job.id, tmp_path) == ended
    assert [row.id for row in recent(found)] == [job.id]


@given(JOBS)
def test_a_job_is_the_same_after_it_was_written(job: Job) -> None:
    assert Job.from_json(json.loads(json.dumps(job.to_json(), allow_nan=False))) == job


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"id": "walk"}, r"job\.id is 'walk'; expected SESSION\.NUMBER"),
        ({"state": "asleep"}, r"job\.state is 'asleep'; expected one of running, done, failed, cancelled, lost"),
        ({"arguments": []}, r"job\.arguments is \[\]; expected an object"),
        ({"done": 0.5}, r"job\.done is 0\.5; expected a whole number"),
        ({"result": "PASS"}, r"job\.result is 'PASS'; expected an object"),
        ({"error": {"what": 3}}, r"job\.error\.what is 3; expected a text"),
        ({"ended": 3}, r"job\.ended is 3; expected a text or null"),
    ],
)
def test_a_malformed_job_names_field_and_form(changed: dict[str, Any], words: str) -> None:
    with pytest.raises(DocumentError, match=words):
        Job.from_json(WRITTEN | changed)


@pytest.mark.parametrize("field", [name for name in WRITTEN if name not in ("ended", "result", "error")])
def test_a_job_without_a_field_is_none(field: str) -> None:
    with pytest.raises(DocumentError, match=rf"job has no '{field}'"):
        Job.from_json({name: value for name, value in WRITTEN.items() if name != field})


def test_the_file_of_a_job_made_before_is_read_and_written_as_it_was() -> None:
    assert json.dumps(Job.from_json(WRITTEN).to_json()) == json.dumps(WRITTEN)


def test_what_runs_when_its_host_ends_is_lost_whatever_it_says_on_the_way(
    tmp_path: Path, found: SessionDirectory
) -> None:
    host = HostLock(found)
    assert host.take()
    kept = Jobs(found, host.token)
    job = kept.begin("run_command", {"command": "sleep 9"}, "Ada")
    kept.abandon()
    kept.progress(job, "killed with its sandbox", 1, 1)
    kept.end(job, jobs.DONE, result={"exit_code": None})
    host.release()
    assert read(job.id, tmp_path).state == jobs.LOST


def test_progress_is_not_written_more_often_than_anyone_looks(found: SessionDirectory, host: HostLock) -> None:
    kept = Jobs(found, host.token)
    job = kept.begin("verify", {}, "")
    kept.progress(job, "first", 0, 9)
    path = found.path / "jobs" / "1.json"
    written = path.stat().st_ino
    for done in range(100):
        kept.progress(job, "more", done, 100)
    assert path.stat().st_ino == written
    assert kept.running[0].done == 99


def test_a_running_job_without_its_host_is_lost(tmp_path: Path, found: SessionDirectory) -> None:
    lock = HostLock(found)
    assert lock.take() and host_token(found) == lock.token
    job = Jobs(found, lock.token).begin("verify", {}, "")
    lock.release()
    assert host_token(found) is None
    assert read(job.id, tmp_path).state == jobs.LOST
    # Another host does not make it run again, and writes down what became of it.
    other = HostLock(found)
    assert other.take()
    assert read(job.id, tmp_path).state == jobs.LOST
    Jobs(found, other.token)
    assert json.loads((found.path / "jobs" / "1.json").read_text())["state"] == jobs.LOST
    other.release()


def test_only_one_host_at_a_time_has_the_lock(found: SessionDirectory, host: HostLock) -> None:
    other = HostLock(found)
    assert not other.take()
    assert host_token(found) == host.token
    other.release()


def test_numbers_go_on_and_old_jobs_are_forgotten(tmp_path: Path, found: SessionDirectory, host: HostLock) -> None:
    kept = Jobs(found, host.token)
    first = kept.end(kept.begin("run_command", {}, ""), jobs.DONE)
    directory = found.path / "jobs"
    for number in range(2, KEPT + 5):
        described = first.to_json() | {"id": f"{found.id}.{number}"}
        (directory / f"{number}.json").write_text(json.dumps(described))
    again = Jobs(found, host.token)
    assert again.begin("verify", {}, "").number == KEPT + 5
    assert len(list(directory.glob("*.json"))) == KEPT + 1
    with pytest.raises(SessionError, match="there is no job"):
        read(first.id, tmp_path)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"id": 1}', "\xff"])
def test_a_damaged_job_is_named_and_stands_in_nobody_s_way(
    tmp_path: Path, found: SessionDirectory, host: HostLock, content: str
) -> None:
    Jobs(found, host.token)
    (found.path / "jobs" / "7.json").write_text(content, encoding="latin-1")
    with pytest.raises(RecordError, match="cannot be read"):
        read(f"{found.id}.7", tmp_path)
    assert Jobs(found, host.token).begin("verify", {}, "").number == 8


def test_a_host_killed_at_any_write_leaves_whole_jobs(
    tmp_path: Path, found: SessionDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)

    def work() -> None:
        lock = HostLock(found)
        assert lock.take()
        kept = Jobs(found, lock.token)
        job = kept.begin("verify", {"message": "x" * 1000}, "Ada")
        kept.progress(job, "half", 1, 2)
        kept.end(job, jobs.DONE, result={"outcome": "PASS"})

    def killed(point: int) -> bool:
        def under_fault() -> None:
            points = Points(killed_at(point))
            points.install()
            work()

        return os.WIFSIGNALED(status := in_child(under_fault)) and os.WTERMSIG(status) == signal.SIGKILL

    point, states = 0, set()
    ended = True
    while ended:
        ended = killed(point)
        assert host_token(found) is None
        for path in (found.path / "jobs").glob("*.json"):
            states.add(read(f"{found.id}.{path.stem}", tmp_path).state)
        point += 1
    assert point > 10
    assert states == {jobs.LOST, jobs.DONE}
    lock = HostLock(found)
    assert lock.take()
    Jobs(found, lock.token)
    assert not list((found.path / "jobs").glob(f"{TEMPORARY}*"))
    lock.release()
