"""`lockstep coverage`, on a task directory and in a session."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from rich.console import Console

from harness.cli.coverage import _shown
from harness.cli.main import main
from harness.measure.coverage.result import Coverage, File, Level
from harness.operations.coverage import CoverageReport
from harness.session.session import Session
from harness.task.contract import Task
from harness.verdict import Outcome
from tests.measure.coverage.conftest import line

Make = Callable[..., Task]


def report(reference: Coverage, candidate: Coverage | None = None) -> CoverageReport:
    return CoverageReport(outcome=Outcome.PASS, task="walk", seed=5, reference=reference, candidate=candidate)


def test_everything_that_was_measured_is_shown() -> None:
    reach = Level({"a/walk.py": frozenset({1, 2})}, {"a/walk.py": frozenset({"1->2"})}, {"it rained": 0}, 9, 4)
    file = File(frozenset({1, 2, 3}), frozenset({"1->2", "1->3"}), {3: "lost()"})
    modules = {"start": (("a/walk.py", 1, 1),), "moves": (("a/walk.py", 2, 3),)}
    measured = Coverage({"a/walk.py": file}, modules, {1: reach, 2: Level(error="it died")}, ("b.rs: not counted",))
    shown_report = replace(report(measured), bound=0.01, remarks=("level 3 was not reached",))
    with (console := Console(width=140)).capture() as caught:
        console.print(*_shown(shown_report), sep="\n")
    shown = caught.get()
    for text in ("level 1", "4/9", "2/3", "66%", "moves", "a/walk.py:3", "lost()", "a/walk.py:1->3", "it rained"):
        assert text in shown
    for text in ("it died", "b.rs", "level 3 was not reached", "1.00%"):
        assert text in shown


def test_of_a_crate_its_files_are_shown_and_the_functions_that_were_not_reached_as_a_whole() -> None:
    name = "candidate/src/lib.rs"
    files = {name: File(frozenset(range(1, 7)), frozenset({"5:9-5:12"}), {4: "fn lost() {"})}
    functions = {"src/lib.rs:1 walk": ((name, 1, 3),), "src/lib.rs:4 lost": ((name, 4, 6),)}
    own = Coverage(files, functions, {1: Level({name: frozenset({1, 2, 3})}, {name: frozenset()}, {}, 9, 9)})
    with (console := Console(width=140)).capture() as caught:
        console.print(*_shown(report(Coverage(), own)), sep="\n")
    shown = caught.get()
    for text in ("of the candidate's own code", "3/6", f"{name}:4-6", "src/lib.rs:4 lost", "fn lost() {"):
        assert text in shown
    assert "src/lib.rs:1 walk" not in shown


def test_a_measurement_counts_where_anything_was_counted_and_no_level_failed() -> None:
    reach = Level({"walk.rs": frozenset({1})}, {"walk.rs": frozenset()}, {}, 9, 9)
    crate = Coverage({"walk.rs": File(frozenset({1, 2}), frozenset(), {})}, {}, {1: reach})
    broken = Coverage({}, {}, {1: Level(error="it died")})
    features = Coverage({}, {}, {1: Level(features={"it rained": 0})}, ("walk.py: a module runs in its place",))
    nothing = Coverage({}, {}, {1: Level()}, ("walk.py: not counted",))
    alone = [report(reference).measured for reference in (crate, broken, features, nothing)]
    assert alone == [True, False, True, False]
    assert report(nothing, crate).measured
    assert not report(features, broken).measured and not report(broken, crate).measured


@pytest.mark.slow
def test_the_levels_of_a_task_are_measured_shown_and_recorded(
    make: Make,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    unreachable = "        if self._place > 99:\n            self._lost = True\n"
    task = make(("reference/adapter.py", "        self._steps += 1\n", f"        self._steps += 1\n{unreachable}"))
    assert main(["coverage", str(task.directory), "--seed", "5"]) == 0
    shown = capsys.readouterr().out
    lost = line(task, "self._lost = True")
    assert f"reference/adapter.py:{lost}" in shown
    assert "level 3" in shown and "together" in shown
    assert (
        f"{line(task, 'self._far = True')}"
        not in shown.partition("reached by no level")[2].partition("branches that")[0]
    )

    home, workspace = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("workspace")
    with Session.start(task.directory, workspace / "here", home) as session:
        from harness.operations.coverage import coverage_session

        assert session.verify(2).commit
        known = session.events[-1].detail["coverage"]
        assert [each["level"] for each in known["levels"]] == [1, 2]
        measured = coverage_session(session, [1], seed=5, seconds=1e-9)
        assert (session.events[-1].kind, session.events[-1].seq) == ("coverage", measured.event)
        assert json.loads(json.dumps(measured.to_json()))["levels"][0]["level"] == 1
        assert measured.reference.levels[1].repeated == 1 < measured.reference.levels[1].asked
        assert Coverage.from_json(session.events[-1].detail["coverage"]).lines() == measured.reference.lines()
