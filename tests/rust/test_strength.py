"""Mutants of a crate are compiled, judged, and called equivalent where the compiler says so."""

from __future__ import annotations

from pathlib import Path

import pytest

import sandboxes
from harness.measure.strength.equivalence import Programs
from harness.measure.strength.mutants import enumerate_mutants
from harness.measure.strength.run import Settings, measure
from harness.measure.strength.statuses import COMPILED, KILLED, PROVED, STILLBORN
from harness.task.contract import Task
from harness.verify.verifier import copy_candidate

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
