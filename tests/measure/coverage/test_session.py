"""Coverage in a session: when it is measured, what is kept of it, and that no verdict hangs on it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from harness.errors import SetupError
from harness.measure.coverage.result import Coverage, File, Level
from harness.record.event import VERDICT_FILE
from harness.record.log import event_file
from harness.session.coverage import CANDIDATE, COVERAGE, known
from harness.session.session import Session
from harness.session.view import SessionView
from harness.support.progress import Progress
from tests.session.standin import Agent, FileComparison, factory, make_task

LINES = frozenset(range(10, 20))


@dataclass
class Counting(FileComparison):
    """The stand-in, which reaches one more line at each level; `measured` holds for what it was asked."""

    measured: list[list[int]] = field(default_factory=list)
    broken: str = ""

    def coverage(self, levels: Sequence[int]) -> Coverage:
        self.measured.append(list(levels))
        if self.broken:
            raise SetupError(self.broken, next_step="install it")
        reached = {level: Level({"walk.py": LINES - {15 + level}}, {"walk.py": frozenset()}) for level in levels}
        return Coverage({"walk.py": File(LINES)}, {"start": (("walk.py", 10, 19),)}, reached)


Start = Callable[..., tuple[Session, list[Counting]]]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    opened: list[Session] = []

    def begun(broken: str = "") -> tuple[Session, list[Counting]]:
        made: list[Counting] = []

        def counting(directory: Path, progress: Progress) -> Counting:
            made.append(Counting(directory, progress, broken=broken))
            return made[-1]

        task = make_task(tmp_path / "task")
        opened.append(Session.start(task, tmp_path / "workspace", tmp_path / "home", verifier=counting))
        return opened[-1], made

    yield begun
    for session in opened:
        session.close()


@pytest.mark.slow
def test_each_level_is_measured_once_with_the_commit_that_first_verifies_it_whole(start: Start) -> None:
    session, made = start()
    agent = Agent(session, [])
    agent.get_right()
    for module in ("start", "moves"):
        assert session.verify(1, module).commit
    assert made[0].measured == []
    assert session.verify(2).commit
    assert made[0].measured == [[1, 2]]
    assert session.verify(3).commit
    assert made[0].measured == [[1, 2], [3]]
    agent.write("faster.txt", "the same, faster")
    assert session.verify(3).commit
    assert made[0].measured == [[1, 2], [3]]
    assert known(session.events).coverage.lines() == (10, 10)
    assert known(session.events).coverage.lines([1]) == (9, 10)


def test_what_made_no_commit_is_not_measured(start: Start) -> None:
    session, made = start()
    Agent(session, []).get_right()
    assert session.verify(3, seed=1).commit is None
    Agent(session, []).write("whole.txt", "fail2")
    assert session.verify(3).commit is None
    assert made[0].measured == []


def test_coverage_is_beside_the_verdict_and_no_part_of_it(start: Start) -> None:
    session, _ = start()
    Agent(session, []).get_right()
    session.verify(3)
    event = session.events[-1]
    assert [each["level"] for each in event.detail[COVERAGE]["levels"]] == [1, 2, 3]
    written = json.loads(event_file(session.store, event.id, VERDICT_FILE))
    assert [each["level"] for each in written["levels"]] == [1, 2, 3]
    assert "coverage" not in json.dumps(written)


def test_a_measurement_that_fails_leaves_the_verdict_alone_and_says_why(start: Start) -> None:
    session, made = start("there is no gcov")
    Agent(session, []).get_right()
    done = session.verify(3)
    assert done.commit and made[0].measured == [[1, 2, 3]]
    detail = session.events[-1].detail[COVERAGE]
    assert "there is no gcov" in detail["error"] and "\n" not in detail["error"]
    assert known(session.events).to_json()["summary"] == [f"not measured: {detail['error']}"]


def test_a_verifier_that_measures_nothing_verifies_as_before(tmp_path: Path) -> None:
    made: list[FileComparison] = []
    task = make_task(tmp_path / "task")
    with Session.start(task, tmp_path / "workspace", tmp_path / "home", verifier=factory(made)) as session:
        Agent(session, made).get_right()
        assert session.verify(3).commit
        assert COVERAGE not in session.events[-1].detail
        assert known(session.events).to_json()["summary"] == []


def test_the_lines_that_are_shown_name_gaps_and_the_bound(start: Start, tmp_path: Path) -> None:
    session, _ = start()
    Agent(session, []).get_right()
    session.verify(2)
    with SessionView(session.id, tmp_path / "home") as view:
        reported = known(view.events).to_json()
    assert reported["together"]["lines"] == [10, 10]
    session.verify(3)
    reported = known(session.events).to_json()
    assert reported["summary"][0] == "level 1 reached of the reference: lines 9/10 (90%)"
    assert reported["summary"][-1] == "reference reached: lines 10/10; divergence ≤ 13.91% of episodes (95%)"


def test_what_was_reached_of_a_candidate_is_kept_in_words_until_it_is_measured_again(start: Start) -> None:
    session, _ = start()
    for lines in (["candidate reached: lines 1/9"], ["candidate reached: lines 9/9"]):
        session.record(COVERAGE, detail={COVERAGE: {CANDIDATE: {"summary": lines}}})
    session.record(COVERAGE, detail={COVERAGE: {CANDIDATE: "words"}})
    assert known(session.events).candidate == ("candidate reached: lines 9/9",)


def test_a_detail_that_is_none_of_ours_counts_as_not_said(start: Start) -> None:
    session, _ = start()
    session.record(COVERAGE, detail={COVERAGE: {"levels": [{"level": "no"}], "files": 3}})
    session.record(COVERAGE, detail={COVERAGE: "words"})
    assert known(session.events).coverage == Coverage()
