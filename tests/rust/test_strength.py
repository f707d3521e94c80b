"""Mutants of a crate are compiled, judged, and called equivalent where the compiler says so."""

from __future__ import annotations

from pathlib import Path

import pytest

import sandboxes
from harness.measure.strength.equivalence import Programs
from harness.measure.strength.mutants import enumerate_mutants
from harness.measure.strength.run import Settings, measure
from harness.measure.strength.statuses import COMPILED, KILLED, PROVED, STILLBORN, SURVIVED
from harness.task.contract import Task
from harness.task.load import load_task
from harness.verify.directory import copy_candidate
from tests.rust.games import write_walk

pytestmark = [pytest.mark.slow, pytest.mark.pong, pytest.mark.rust]


def test_a_mutant_is_killed_or_stillborn_or_no_mutant_by_what_becomes_of_its_crate(task: Task, tmp_path: Path) -> None:
    copy_candidate(task.directory, tmp_path / "tree")
    source = tmp_path / "tree" / "candidate" / "rust" / "src" / "lib.rs"
    begin = "fn serve<D: Draws>(draws: &mut D) -> i32 {\n"
    assert begin in source.read_text()
    source.write_text(source.read_text().replace(begin, f"{begin}    let _ = 5;\n"))
    faults = {
        (mutant.function, mutant.before): mutant
        for mutant in enumerate_mutants(tmp_path / "tree" / "candidate", "rust")
        if mutant.after in ("6", "7", "false, terminated: State::reward_of_rally(bounced)")
    }
    stillborn = ("Pong.step_lanes", "State::reward_of_rally(bounced), terminated: false")
    wanted = tuple(faults[each].id for each in (("<module>", "8"), stillborn, ("serve", "5")))
    settings = Settings(level=1, only=wanted, jobs=1)
    found = measure(task, tmp_path / "tree", sandboxes.choose(None), settings, seed=3, journals=tmp_path / "journals")
    judged = {each.mutant.id: each for each in found.judged}
    assert [judged[each].status for each in wanted] == [KILLED, STILLBORN, PROVED]
    assert not judged[wanted[2]].findings, "a module that is the same was tested all the same"


def test_the_same_module_is_a_proof_and_another_one_is_none(task: Task, tmp_path: Path) -> None:
    trees = {name: tmp_path / name for name in ("original", "same", "other")}
    for tree in trees.values():
        copy_candidate(task.directory, tree)
    crate = Path("candidate/rust/src")
    for name, file, old, new in (
        ("same", "rules.rs", "self.paddle_yr = self.paddle_yl;", "self.paddle_yr = {self.paddle_yl};"),
        ("other", "rallies.rs", "const FRAMES: u32 = 8;", "const FRAMES: u32 = 7;"),
    ):
        path = trees[name] / crate / file
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))
    programs = Programs(task, sandboxes.choose(None), trees["original"])
    assert programs.proof(trees["same"])["proof"] == COMPILED
    assert programs.proof(trees["other"])["proof"] == ""


def test_by_coverage_what_no_level_runs_survives_and_is_not_run(readers: None, tmp_path: Path) -> None:
    """But what the compiler runs is no such code, and what does not compile is no mutant wherever it lies."""
    walk = write_walk(tmp_path / "walk")
    source = walk / "candidate" / "rust" / "src" / "lib.rs"
    changes = {
        "        self.0.steps += 1;\n": """        self.0.steps += 1;
        if self.0.steps > 50 {
            self.0.place -= pushed(2);
        }
""",
        "self.steps >= 40": "self.steps >= LIMIT",
        "/// One walker.\n": """const LIMIT: i32 = limit();

const fn limit() -> i32 {
    40
}

fn pushed(by: u8) -> f64 {
    let most: u8 = 255;
    match by {
        3..=9 => 7.0,
        by => f64::from(most - by),
    }
}

/// One walker.
""",
    }
    text = source.read_text()
    for old, new in changes.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    source.write_text(text)
    faults = {(each.before, each.after): each.id for each in enumerate_mutants(walk / "candidate", "rust")}
    expected = {
        ("255", "254"): (SURVIVED, True),
        ("most - by", "most + by"): (SURVIVED, True),
        ("3", "2"): (SURVIVED, True),
        ("50", "51"): (SURVIVED, False),
        ("self.0.place -= pushed(2)", "self.0.place += pushed(2)"): (SURVIVED, False),
        ("255", "256"): (STILLBORN, False),
        ("40", "41"): (KILLED, False),
    }
    wanted = {faults[change]: what for change, what in expected.items()}
    settings = Settings(level=2, only=tuple(wanted), jobs=1, by_coverage=True)
    found = measure(load_task(walk), walk, sandboxes.choose(None), settings, seed=3, journals=tmp_path / "journals")
    assert {each.mutant.id: (each.status, each.unreached) for each in found.judged} == wanted
