"""Mutants of a crate are compiled, judged, and called equivalent where the compiler says so."""

from __future__ import annotations

from pathlib import Path

import pytest

import sandboxes
from harness.strength.equivalence import Programs
from harness.strength.mutants import enumerate_mutants
from harness.strength.run import Settings, measure
from harness.strength.statuses import COMPILED, KILLED, STILLBORN
from harness.task import Task
from harness.verify import copy_candidate

pytestmark = [pytest.mark.slow, pytest.mark.pong, pytest.mark.rust]


def test_a_mutant_is_killed_or_stillborn_by_what_becomes_of_its_crate(task: Task, tmp_path: Path) -> None:
    faults = {
        (mutant.function, mutant.before): mutant
        for mutant in enumerate_mutants(task.directory / "candidate", "rust")
        if mutant.after in ("7", "false, terminated: State::reward_of_rally(bounced)")
    }
    killed, stillborn = ("<module>", "8"), ("Pong.step", "State::reward_of_rally(bounced), terminated: false")
    wanted = tuple(faults[each].id for each in (killed, stillborn))
    found = measure(
        task, task.directory, sandboxes.choose(None), Settings(level=1, only=wanted, jobs=1), seed=3, journals=tmp_path
    )
    status = {judged.mutant.id: judged.status for judged in found.judged}
    assert [status[each] for each in wanted] == [KILLED, STILLBORN]


def test_the_same_module_is_a_proof_and_another_one_is_none(task: Task, tmp_path: Path) -> None:
    trees = {name: tmp_path / name for name in ("original", "same", "other")}
    for tree in trees.values():
        copy_candidate(task.directory, tree)
    crate = Path("candidate/rust/src")
    for name, file, old, new in (
        ("same", "rules.rs", "self.paddle_yr = self.paddle_yl;", "self.paddle_yr = {self.paddle_yl};"),
        ("other", "lib.rs", "const FRAMES: u32 = 8;", "const FRAMES: u32 = 7;"),
    ):
        path = trees[name] / crate / file
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))
    programs = Programs(task, sandboxes.choose(None), trees["original"])
    assert programs.proof(trees["same"])["proof"] == COMPILED
    assert programs.proof(trees["other"])["proof"] == ""
