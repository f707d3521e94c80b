"""A session that is killed, or finds the disk full, at any of its writes: nothing recorded is lost, and it goes on."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.assurance.audit import audit
from harness.errors import LockstepError, RecordError
from harness.record.directory import UNFINISHED, all_sessions
from harness.record.store import SETTINGS
from harness.session.recipe import DONE
from harness.session.session import Session
from harness.support.files import TEMPORARY
from tests.session.faults import Fault, Points, full_from, in_child, killed_at
from tests.session.standin import Agent, FileComparison, factory, make_task

STRIDE = 17
"""CI takes every seventeenth point, the night takes all."""
PARTS = 4
ENDS = 5
"""After every fifth kill the agent works to the end of the recipe, after the others for one verification."""


@pytest.fixture(autouse=True)
def no_syncing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A killed process loses nothing that it has written: here no power fails, so nothing waits for the disk."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
    monkeypatch.setitem(SETTINGS, "core.fsync", "none")


@dataclass
class Place:
    """A task, a home and a workspace of their own."""

    root: Path

    def __post_init__(self) -> None:
        make_task(self.root / "task")

    @property
    def acknowledged(self) -> Path:
        """Where the process under test writes each commit that `verify` has returned."""
        return self.root / "acknowledged"

    def begin(self) -> Agent:
        """Start the session, or open the one that is there."""
        made: list[FileComparison] = []
        home, workspace = self.root / "home", self.root / "workspace"
        if all_sessions(home):
            return Agent(Session.open(workspace, home, verifier=factory(made)), made)
        return Agent(Session.start(self.root / "task", workspace, home, verifier=factory(made)), made)

    def commits(self) -> list[str]:
        return self.acknowledged.read_text().split() if self.acknowledged.exists() else []


def play(place: Place) -> None:
    """The scripted session: a failure with a new case, two passes, a report of usage."""
    with place.acknowledged.open("a", buffering=1) as out, place.begin().session as session:
        agent = Agent(session, [])
        session.verify(message="A first try")
        agent.get_right()
        print(session.verify(message="Start").commit, file=out)
        session.report_usage(dollars=0.1)
        print(session.verify(level=2, message="Compose").commit, file=out)


def go_on(place: Place, to_the_end: bool = True) -> None:
    """What an agent does after a crash: open, and work on. Everything promised must be there."""
    agent = place.begin()
    with agent.session as session:
        ended = [attempt.outcome for attempt in session.state.attempts]
        assert all(ended), "an attempt is still pending after opening"
        on_main = {event.commit for event in session.events}
        assert set(place.commits()) <= on_main, "a commit that verify returned is gone"
        assert audit(session.store).problems == ()
        agent.get_right()
        for _ in range(4 if to_the_end else 1):
            if session.status()["state"] != DONE:
                session.verify()
        assert session.status()["state"] == DONE or not to_the_end
        assert audit(session.store).problems == ()
    start_lock = session.directory.path.parent / ".start.lock"
    for leftover in (f"{TEMPORARY}*", "*.lock", "tmp_*", f"{UNFINISHED}*"):
        assert [*session.directory.path.parent.rglob(leftover), *session.workspace.rglob(leftover)] in (
            [],
            [start_lock],
        )


def count_points(root: Path) -> int:
    """How many writes the script makes when nothing goes wrong."""
    place = Place(root)
    points = Points(lambda number, name: None)
    points.install()
    try:
        play(place)
    finally:
        points.remove()
    return points.count


def faulty(place: Place, fault: Fault, work: Callable[[Place], None] = play) -> int:
    """`work` in a process of its own, with a fault; returns how it ended."""

    def child() -> None:
        Points(fault).install()
        work(place)

    return in_child(child)


def kill_at_each(tmp_path: Path, chosen: range) -> None:
    for number in chosen:
        place = Place(tmp_path / str(number))
        status = faulty(place, killed_at(number))
        assert os.WIFSIGNALED(status), f"point {number} was not reached"
        assert os.WTERMSIG(status) == signal.SIGKILL
        try:
            go_on(place, to_the_end=number % ENDS == 0)
        except (AssertionError, LockstepError) as error:
            error.add_note(f"after a kill at point {number}")
            raise
        shutil.rmtree(place.root)


def test_the_script_comes_to_its_end_when_nothing_goes_wrong(tmp_path: Path) -> None:
    assert count_points(tmp_path) > 300
    assert len(Place(tmp_path).commits()) == 2
    go_on(Place(tmp_path))


@pytest.mark.slow
def test_a_session_survives_a_kill_at_its_writes(tmp_path: Path) -> None:
    kill_at_each(tmp_path, range(0, count_points(tmp_path / "whole"), STRIDE))


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize("part", range(PARTS))
def test_a_session_survives_a_kill_at_every_write(tmp_path: Path, part: int) -> None:
    kill_at_each(tmp_path, range(part, count_points(tmp_path / "whole"), PARTS))


@pytest.mark.slow
def test_a_second_kill_while_the_first_is_being_recovered_from_does_no_harm(tmp_path: Path) -> None:
    def recover(place: Place) -> None:
        place.begin().session.close()

    whole = tmp_path / "whole"
    total = count_points(whole)
    for number, (first, second) in enumerate((n, m) for n in range(150, total, 100) for m in (1, 8, 20)):
        place = Place(tmp_path / str(number))
        assert os.WIFSIGNALED(faulty(place, killed_at(first)))
        faulty(place, killed_at(second), recover)
        go_on(place)


@pytest.mark.slow
def test_a_full_disk_is_a_named_error_and_nothing_is_lost(tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    for number in range(3, count_points(whole), 2 * STRIDE):
        place = Place(tmp_path / str(number))
        said = place.root / "said"

        def until_full(place: Place, said: Path = said) -> None:
            try:
                play(place)
            except RecordError as error:
                with open(said, "w") as out:
                    out.write(error.what)

        assert faulty(place, full_from(number), until_full) == 0, f"not a RecordError at point {number}"
        if said.exists():
            assert "No space left on device" in said.read_text()
        go_on(place)
        shutil.rmtree(place.root)


def test_a_session_goes_on_in_the_same_process_once_there_is_room_again(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with place.begin().session as session:
        agent = Agent(session, [])
        agent.get_right()
        points = Points(full_from(0))
        points.install()
        try:
            with pytest.raises(RecordError, match="No space left on device") as caught:
                session.verify()
        finally:
            points.remove()
        assert "make room" in caught.value.next_step
        assert session.verify().commit is not None
        assert audit(session.store).ok


@pytest.mark.timeout(120)
def test_a_git_process_that_outlives_its_killed_parent_keeps_others_out_until_it_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Place(tmp_path)
    place.begin().session.close()
    monkeypatch.setattr("harness.record.lock.GRACE_S", 0.0)
    hold = tmp_path / "hold"
    os.mkfifo(hold)
    bin_directory = tmp_path / "bin"
    bin_directory.mkdir()
    real = shutil.which("git")
    (bin_directory / "git").write_text(
        f'#!/bin/sh\ncase "$*" in *update-ref*) cat {hold} >/dev/null;; esac\nexec {real} "$@"\n'
    )
    (bin_directory / "git").chmod(0o755)

    def killed_while_git_runs() -> None:
        os.environ["PATH"] = f"{bin_directory}:{os.environ['PATH']}"

        def fault(number: int, name: str) -> None:
            if name == "git runs":
                os.kill(os.getpid(), signal.SIGKILL)

        agent = place.begin()
        Points(fault).install()
        agent.session.report_usage(dollars=0.01)

    assert os.WIFSIGNALED(in_child(killed_while_git_runs))
    with pytest.raises(LockstepError, match="is in use by process"):
        place.begin()
    hold.write_text("go on\n")
    subprocess.run(["flock", str(next(iter(all_sessions(tmp_path / "home"))).lock), "true"], check=True)
    with place.begin().session as session:
        assert [event.kind for event in session.events][-1] == "usage"
        assert audit(session.store).ok
