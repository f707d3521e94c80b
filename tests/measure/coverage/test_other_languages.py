"""Coverage of references in C and in JavaScript, and of the embedded Pong."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from harness.measure.coverage import reading
from harness.measure.coverage.measure import measure
from harness.measure.coverage.reading import Reach
from harness.model import Case
from harness.protocol.environment import Environment
from harness.reference.install import setup
from harness.reference.start import start_reference
from harness.support.embedded import find_task
from harness.task.contract import Task
from harness.task.load import load_task
from harness.verify.questions import Questions
from tests.paths import TESTS
from tests.tools import needs, node_of_a_wheel

HERE = Path(__file__).parent
COIN_RUN = TESTS / "protocol" / "node"
TALLY = HERE / "tally"
FAR, DOWN = 7, 2


def plays(*cases: tuple[int, list[int]], dtype: str = "int32") -> Questions:
    """The questions of a level that played these seeds and actions."""
    questions = Questions()
    for seed, actions in cases:
        wire = {"seed": seed, "actions": {"action": np.array(actions, dtype)}}
        questions.add("worker", "rollout", {"cases": [wire]})
    return questions


def line(path: Path, text: str) -> int:
    [found] = [number for number, each in enumerate(path.read_text().splitlines(), 1) if text in each]
    return found


needs_gcc = needs("gcc", "gcov", package="gcc")


@pytest.mark.slow
@needs_gcc
def test_in_c_a_branch_that_no_level_reaches_is_named_and_one_that_a_level_reaches_is_not() -> None:
    task, name = load_task(TALLY), "reference/tally.c"
    far = line(TALLY / name, "far away")
    reached = measure(task, {1: plays((0, [1, 1])), 2: plays((0, [1, FAR]))})
    assert (reached.not_measured, [found.error for found in reached.levels.values()]) == ((), ["", ""])
    assert far not in reached.levels[1].lines[name]
    assert far in reached.levels[2].lines[name]
    never = line(TALLY / name, "never done")
    assert [(gap.first, gap.last) for gap in reached.never()] == [(never, never)]
    done, total = reached.branches()
    assert 0 < done < total
    assert (name, f"{never - 1}/0") in reached.untaken()


@pytest.mark.slow
@needs_gcc
def test_without_gcov_one_line_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    task = load_task(TALLY)
    setup(task, coverage=True)
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "gcc").symlink_to(str(shutil.which("gcc")))
    monkeypatch.setenv("PATH", str(tools))
    [said] = measure(task, {1: plays((0, [1]))}).not_measured
    assert said == "reference/tally.c: there is no gcov on PATH; it comes with the compiler (`apt install gcc`)"


@pytest.mark.slow
@needs_gcc
def test_a_build_that_does_not_count_is_reported_how_to(tmp_path: Path) -> None:
    shutil.copytree(TALLY, tmp_path / "tally", ignore=shutil.ignore_patterns("__pycache__"))
    build = tmp_path / "tally" / "reference" / "build.py"
    build.write_text(build.read_text().replace("LOCKSTEP_COVERAGE", "NOTHING"))
    [said] = measure(load_task(tmp_path / "tally"), {1: plays((0, [1]))}).not_measured
    assert said.startswith("reference/tally.c: no lines of it were counted")
    assert "must compile with --coverage" in said


@pytest.fixture
def coin_run(tmp_path: Path) -> Task:
    """The walker in JavaScript with a branch that only a fifth step comes to, and all of its game as source."""
    shutil.copytree(COIN_RUN, tmp_path / "coin_run")
    server, toml = tmp_path / "coin_run" / "reference" / "server.mjs", tmp_path / "coin_run" / "task.toml"
    code = server.read_text()
    planted = (
        "    this.steps += 1;\n    if (this.steps > 4) {\n      // späte Schritte\n      this.late = true;\n    }\n"
    )
    server.write_text(code.replace("    this.steps += 1;\n", planted))
    first, last = line(server, "class CoinRun"), line(server, "const cell = {")
    toml.write_text(toml.read_text().replace("server.mjs:177-178", f"server.mjs:{first}-{last - 1}"))
    return load_task(tmp_path / "coin_run")


@pytest.mark.node
def test_in_javascript_a_branch_that_no_level_reaches_is_named_and_one_that_a_level_reaches_is_not(
    coin_run: Task, node: str
) -> None:
    name = "reference/server.mjs"
    path = coin_run.directory / name
    late, refused = line(path, "this.late = true"), line(path, "leads off the field")
    up_and_down = [DOWN, 0, DOWN, 0, DOWN, 0]
    reached = measure(coin_run, {1: plays((3, [DOWN])), 2: plays((3, up_and_down))})
    assert (reached.not_measured, [found.error for found in reached.levels.values()]) == ((), ["", ""])
    assert late not in reached.levels[1].lines[name]
    assert late in reached.levels[2].lines[name]
    assert late not in [gap.first for gap in reached.never()]
    assert late - 1 not in reached.files[name].lines, "a comment is no line of code"
    done, total = reached.branches()
    assert 0 < done <= total
    assert refused in reached.files[name].lines


def test_in_typescript_lines_are_counted_where_they_stand(coin_run: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    carried = node_of_a_wheel()  # one that takes types away, which not every Node.js on PATH does
    assert carried is not None, "run `make setup`"
    monkeypatch.setenv("PATH", os.path.dirname(carried), prepend=os.pathsep)
    reference, toml = coin_run.directory / "reference", coin_run.directory / "task.toml"
    code = (reference / "server.mjs").read_text()
    typed = code.replace("this.late = true", "const late: { is: boolean } = { is: true }; this.late = late.is")
    (reference / "server.mts").write_text(typed)
    (reference / "server.mjs").unlink()
    toml.write_text(toml.read_text().replace("server.mjs", "server.mts"))
    late = line(reference / "server.mts", "const late: ")
    reached = measure(
        load_task(coin_run.directory), {1: plays((3, [DOWN])), 2: plays((3, [DOWN, 0, DOWN, 0, DOWN, 0]))}
    )
    assert (reached.not_measured, [found.error for found in reached.levels.values()]) == ((), ["", ""])
    assert late not in reached.levels[1].lines["reference/server.mts"]
    assert late in reached.levels[2].lines["reference/server.mts"]


def test_of_what_v8_tells_a_line_is_reached_if_any_of_its_code_was() -> None:
    text = "f(); /* é😀 */ if (a) { g(); }\n// nothing\nh('// text');\n}\n"
    inner = text.index("{ g()")
    units = len(text[:inner].encode("utf-16-le")) // 2  # V8 counts UTF-16 units
    whole = len(text.encode("utf-16-le")) // 2
    ranges = [(0, whole, 1), (units, units + len("{ g(); }"), 0)]
    functions = [{"ranges": [{"startOffset": a, "endOffset": b, "count": c} for a, b, c in ranges]}]
    reach = reading._blocks(text, functions)
    assert (reach.lines, reach.reached) == (frozenset({1, 3}), frozenset({1, 3}))
    assert (len(reach.branches), reach.taken) == (1, frozenset())


def test_what_two_processes_reached_is_reached() -> None:
    one, other = Reach(frozenset({1, 2}), frozenset({1})), Reach(frozenset({1, 2}), frozenset({2}))
    assert (one | other).reached == {1, 2}


@pytest.mark.pong
@pytest.mark.slow
def test_of_pong_everything_is_reached_but_what_continuous_actions_need() -> None:
    task = load_task(find_task("pong"))
    heard = Questions()

    def listen(source: Environment, call: str, arguments: object) -> None:
        assert isinstance(arguments, dict)
        heard.add(source, call, arguments)

    worker = start_reference(task, setup(task))
    try:
        worker.listener = listen
        for policy in task.budgets.policies:
            worker.drive(policy, [1, 2, 3, 4], task.budgets.horizon)
        worker.rollout([Case(5, {"action": np.zeros(9, np.int64)})])
    finally:
        worker.close()
    reached = measure(task, {3: heard})
    name = "pufferlib/ocean/pong/pong.h"
    assert reached.not_measured == () and reached.levels[3].error == ""
    assert reached.levels[3].repeated == reached.levels[3].asked == heard.asked
    assert [str(gap) for gap in reached.never()] == ["pong.h:129"]
    assert {branch for _, branch in reached.untaken()} == {"128/0", "137/1"}
    assert reached.lines() == (len(reached.files[name].lines) - 1, len(reached.files[name].lines))
