"""Coverage of references in Python."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable

import pytest

from harness.measure.coverage.measure import measure
from harness.measure.coverage.result import Coverage
from harness.reference.install import COVERAGE_PINS, Installed, installed, setup
from harness.session.coverage import lines_of
from harness.task.contract import Task
from harness.verify.questions import Questions
from tests.measure.coverage.conftest import line, walks
from tests.paths import ROOT

FILE = "reference/adapter.py"
RIGHT, LEFT = [1, 1], [0] * 5
Make = Callable[..., Task]


@pytest.mark.slow
def test_a_branch_that_no_level_reaches_is_named_by_its_lines(make: Make) -> None:
    task = make()
    reached = measure(task, {1: walks(RIGHT), 2: walks(RIGHT, [1, 1, 1])})
    first = line(task, "self._far = True")
    assert (first, first + 1) in [(gap.first, gap.last) for gap in reached.never()]
    assert f"adapter.py:{first}-{first + 1}" in lines_of(reached)[-1]
    [gap] = [each for each in reached.to_json()["never"] if each["first"] == first]
    assert gap["text"][0] == f"{first}:             self._far = True"
    assert (FILE, f"{first - 1}->{first}") in reached.untaken()


@pytest.mark.slow
def test_a_level_that_reaches_it_takes_it_off_and_only_that_level_is_credited(make: Make) -> None:
    task = make()
    first = line(task, "self._far = True")
    for order in ({1: walks(RIGHT), 2: walks(LEFT)}, {1: walks(LEFT), 2: walks(RIGHT)}):
        reached = measure(task, order)
        assert first not in [gap.first for gap in reached.never()]
        with_it = [level for level, found in reached.levels.items() if first in found.lines[FILE]]
        assert with_it == [level for level, questions in order.items() if "LEFT" in _named(questions)]
        described = {each["level"]: each for each in reached.to_json()["levels"]}
        assert described[2]["adds_lines"] == (2 if with_it == [2] else 0)


def _named(questions: Questions) -> str:
    [[(_, arguments)]] = list(questions.mixed())
    return "LEFT" if arguments["cases"][0]["actions"]["action"].tolist() == LEFT else "RIGHT"


@pytest.mark.slow
def test_only_the_lines_that_task_toml_names_count(make: Make) -> None:
    task = make(source='["reference/adapter.py:48-58"]')
    reached = measure(task, {1: walks(RIGHT)})
    assert reached.files[FILE].lines <= set(range(48, 59))
    lines, of_lines, _, _ = reached.levels[1].whole[FILE]
    assert reached.lines()[1] == len(reached.files[FILE].lines) < lines < of_lines
    assert reached.lines(None, "moving") == reached.lines()
    assert reached.lines(None, "ending") == (0, 0)


def test_a_line_that_its_author_excuses_from_coverage_counts_all_the_same(make: Make) -> None:
    task = make((FILE, "if self._place < -3.5:", "if self._place < -3.5:  # pragma: no cover"))
    first = line(task, "self._far = True")
    assert first in [gap.first for gap in measure(task, {1: walks(RIGHT)}).never()]


@pytest.mark.slow
def test_features_are_counted_at_every_level(make: Make) -> None:
    task = make()
    reached = measure(task, {1: walks(RIGHT), 2: walks([1] * 6)})
    assert reached.features([2])[0] > reached.features([1])[0]
    assert reached.features()[1] == len(reached.levels[1].features) > 0


def test_a_task_without_places_is_reported_so_and_nothing_is_run(make: Make) -> None:
    reached = measure(make(source=""), {1: walks(RIGHT)})
    assert reached.levels == {}
    assert "no module of task.toml names its `source`" in reached.not_measured[0]
    assert lines_of(reached) == [f"not measured: {reached.not_measured[0]}"]


def test_what_cannot_be_measured_is_named_beside_what_can(make: Make) -> None:
    task = make(source='["reference/adapter.py", "nowhere/to_be.py:1-3", "task.toml"]')
    reached = measure(task, {1: walks(RIGHT)})
    assert reached.lines()[0] > 0
    assert [each.partition(":")[0] for each in reached.not_measured] == ["nowhere/to_be.py", "task.toml"]


@pytest.mark.slow
def test_a_file_in_whose_place_a_compiled_module_runs_is_not_taken_for_unreached(make: Make) -> None:
    task = make(source='["reference/fast.py"]')
    (task.directory / "reference" / "fast.py").write_text("PLACE = 1\n")
    assert measure(task, {1: walks(RIGHT)}).lines() == (0, 1)
    (task.directory / "reference" / "fast.cpython-312.so").write_bytes(b"")
    reached = measure(task, {1: walks([1] * 6)})
    assert reached.not_measured == (
        "reference/fast.py: fast.cpython-312.so runs in its place, and no lines of that can be counted",
    )
    assert reached.lines() == (0, 0) and reached.features()[0] > 0


def test_a_reference_that_fails_where_it_is_watched_is_an_error_of_that_level(make: Make) -> None:
    refuses = (
        "import sys\n\nimport numpy as np\n\nif 'coverage' in sys.modules:\n    raise ImportError('I am watched')\n"
    )
    reached = measure(make((FILE, "import numpy as np\n", refuses)), {1: walks(RIGHT)})
    assert "the process" in reached.levels[1].error
    assert reached.files == {}
    assert lines_of(reached)[0].startswith("level 1: not measured: ")


def test_what_the_reference_refuses_is_passed_over(make: Make) -> None:
    questions = walks(LEFT)
    questions.add("worker", "probe", {"name": "nothing of the kind", "inputs": {}})
    reached = measure(make(), {1: questions})
    assert (reached.levels[1].error, reached.levels[1].repeated) == ("", 2)


def test_a_level_of_which_not_all_was_asked_again_says_so(make: Make) -> None:
    reached = measure(make(), {1: walks(RIGHT, RIGHT, LEFT)}, seconds=0.0)
    assert (reached.levels[1].repeated, reached.levels[1].asked) == (1, 3)
    assert "(by 1 of 3 questions)" in lines_of(reached)[0]


def test_the_judged_environment_is_another_one_and_has_no_coverage(make: Make) -> None:
    task = make()
    ordinary = setup(task)
    measure(task, {1: walks(RIGHT)})
    watched = setup(task, coverage=True)
    assert ordinary.prefix != watched.prefix
    assert installed(task) == ordinary
    assert (_has(watched), _has(ordinary)) == (True, False)


def _has(environment: Installed) -> bool:
    return any(environment.prefix.glob("lib/python*/site-packages/coverage"))


@pytest.mark.slow
def test_a_result_is_read_back_as_it_was_written(make: Make) -> None:
    reached = measure(make(), {1: walks(RIGHT), 2: walks(LEFT)})
    written = json.loads(json.dumps(reached.to_json()))
    assert Coverage.from_json(written).to_json(text=False) == reached.to_json(text=False)


def test_the_newest_pin_of_coverage_is_that_of_the_constraints() -> None:
    root = ROOT
    pins = (root / "constraints.txt").read_text().splitlines()
    assert f"coverage=={COVERAGE_PINS[0][1]}" in pins
    oldest = tomllib.loads((root / "pyproject.toml").read_text())["project"]["requires-python"]
    assert oldest.removeprefix(">=") == ".".join(map(str, COVERAGE_PINS[0][0]))


@pytest.mark.parametrize(("oldest", "pin"), COVERAGE_PINS)
def test_pins_are_ordered_by_the_python_that_they_support(oldest: tuple[int, int], pin: str) -> None:
    newer = [other for version, other in COVERAGE_PINS if version > oldest]
    assert all(tuple(map(int, pin.split("."))) < tuple(map(int, other.split("."))) for other in newer)
