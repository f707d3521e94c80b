"""What questions reach of a candidate's crates: everything that ran counts, and nothing else does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import sandboxes
from harness.candidate.crates.counting import NO_RUNTIME
from harness.errors import BrokenContract, Lack
from harness.measure.coverage import crate
from harness.measure.coverage.crate import measure_crate
from harness.measure.coverage.result import Coverage
from harness.operations.coverage import coverage_directory
from harness.task.contract import Task
from harness.verify.questions import Questions
from tests.edits import edit_crate

pytestmark = [pytest.mark.slow, pytest.mark.pong, pytest.mark.rust]

NOBODY_CALLS_IT = "\npub fn forgotten(score: u32) -> u32 {\n    score + 1\n}\n"
CORE = '[package]\nname = "core-of-it"\nversion = "0.1.0"\nedition = "2024"\n'
HALF = "pub fn half(side: f32) -> f32 {\n    if side < 0.0 {\n        return 0.0;\n    }\n    side / 2.0\n}\n"


@pytest.fixture(scope="module", autouse=True)
def without_readers_nothing_here_can_run(readers: None) -> None:
    """See `readers`."""


def paddles() -> Questions:
    """A level that asked one probe."""
    questions, inputs = (
        Questions(),
        {name: np.array([9.0], np.float32) for name in ("paddle_yl", "paddle_yr", "ball_y")},
    )
    questions.add("worker", "probe", {"name": "paddles", "inputs": inputs | {"action": np.array([1])}})
    return questions


def episode() -> Questions:
    """A level that played one episode of a few steps."""
    questions = Questions()
    questions.add(
        "worker", "rollout", {"cases": [{"seed": 1, "actions": {"action": np.array([0, 1, 2])}}], "mode": "single"}
    )
    return questions


def measured(task: Task, tree: Path, *levels: Questions) -> Coverage:
    return measure_crate(task, sandboxes.choose(None), tree, dict(enumerate(levels, 1)))


def function(coverage: Coverage, name: str, level: int) -> tuple[int, int]:
    [title] = [each for each in coverage.modules if each.endswith(f" {name}")]
    return coverage.lines([level], title)


def test_each_level_is_credited_with_what_ran_for_it_and_nobody_with_what_nobody_calls(task: Task, tree: Path) -> None:
    edit_crate(tree, "src/rules.rs", "\nimpl State {\n", f"{NOBODY_CALLS_IT}\nimpl State {{\n")
    found = measured(task, tree, paddles(), episode())
    assert [level.error for level in found.levels.values()] == ["", ""]
    assert [function(found, "paddles", level) for level in (1, 2)] == [(6, 6), (0, 6)]
    assert [function(found, "play", level)[0] > 0 for level in (1, 2)] == [False, True]
    assert [function(found, "move_paddles", level) for level in (1, 2)] == [(5, 5), (5, 5)]
    assert function(found, "forgotten", 1) == function(found, "forgotten", 2) == (0, 3)
    [gap] = [each for each in found.to_json()["never"] if "forgotten" in each["text"][0]]
    assert (gap["file"], gap["last"] - gap["first"], len(gap["text"])) == ("candidate/rust/src/rules.rs", 2, 3)


def test_a_branch_that_was_not_taken_is_reported_on_a_line_that_was_reached(task: Task, tree: Path) -> None:
    # `?` would return where an option is refused, and no option is given.
    line = 1 + (tree / "candidate/rust/src/lib.rs").read_text().splitlines().index("        options.only(&[])?;")
    untaken = [branch for file, branch in measured(task, tree, episode()).untaken() if file.endswith("/lib.rs")]
    assert [branch for branch in untaken if branch.startswith(f"{line}:")]


def test_all_crates_of_a_candidate_count_and_no_others(task: Task, tree: Path) -> None:
    core = tree / "candidate" / "core"
    (core / "src").mkdir(parents=True)
    (core / "Cargo.toml").write_text(CORE)
    (core / "src" / "lib.rs").write_text(HALF)
    edit_crate(tree, "Cargo.toml", "[dependencies]\n", '[dependencies]\ncore-of-it = { path = "../core" }\n')
    edit_crate(
        tree,
        "src/rules.rs",
        "self.paddle_yl = (HEIGHT - PADDLE) / 2.0;",
        "self.paddle_yl = core_of_it::half(HEIGHT - PADDLE);",
    )
    found = measured(task, tree, episode())
    assert set(found.files) == {f"candidate/{each}" for each in (
        "core/src/lib.rs", *(f"rust/src/{name}.rs" for name in ("lib", "probes", "rallies", "rules")))}  # fmt: skip
    assert function(found, "half", 1) == (5, 6)


def test_a_crate_that_ends_its_process_is_an_error_of_that_level_alone(task: Task, tree: Path) -> None:
    edit_crate(
        tree, "src/probes.rs", "    state.move_paddles();\n", "    state.move_paddles();\n    std::process::abort();\n"
    )
    found = measured(task, tree, paddles(), episode())
    assert "the candidate" in found.levels[1].error
    assert (found.levels[2].error, function(found, "play", 2)[0] > 0) == ("", True)


def test_where_the_compiler_lacks_the_runtime_a_line_says_so(
    task: Task, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*arguments: object, **named: object) -> Iterator[None]:
        said = f"the crate does not compile: error[E0463]: can't find crate for `{NO_RUNTIME}`"
        raise BrokenContract(said, where="the candidate's crate", mistakes=(), lack=Lack.COUNTERS)

    monkeypatch.setattr(crate, "build", refused)
    found = measured(task, tree, episode())
    assert not found.levels
    [line] = found.not_measured
    assert "rustup" in line


def test_what_is_judged_never_counts(task: Task, tree: Path) -> None:
    driver = sandboxes.choose(None)
    counting, judged = (crate.build(task, driver, tree, counting=counting).read_bytes() for counting in (True, False))
    assert b"__llvm_profile" in counting
    assert b"__llvm_profile" not in judged


def test_levels_of_pong_reach_all_of_its_crate(task: Task) -> None:
    small = replace(task, budgets=replace(task.budgets, examples=40, samples=4000))
    report = coverage_directory(small, sandboxes.choose(None), [1], 5)
    own = report.candidate
    assert own is not None and str(report.outcome) == "PASS"
    assert (own.not_measured, own.never()) == ((), ())
    done, total = own.lines()
    assert done == total > 200
    assert [name.rpartition("/")[2] for name in own.files] == ["lib.rs", "probes.rs", "rallies.rs", "rules.rs"]
    summary = report.to_json()["candidate"]["summary"]
    assert any(line.startswith("level 1 reached of the candidate: lines ") for line in summary)
