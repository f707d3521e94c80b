"""Planted faults: a verified candidate with one thing wrong, and what must catch it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from harness.task.contract import Task
from harness.verdict import Divergence, Outcome, Verdict
from harness.verify.verifier import CONTRACT


@dataclass(frozen=True)
class Mutant:
    """A fault as substitutions in the candidate's source, and the level, check and leaf that must catch it.

    Attributes:
        edits: pairs of a text, which must stand in the source exactly once, and what takes its place.
        level: the level that must fail.
        path: a regular expression that the whole leaf path must match.
        check: a regular expression for the check that finds it first.
        module: the module to which it must be traced, or None where none can be named.
        steps: the rows in which it may show, as the smallest and the largest.
        rule: a regular expression for the rule that is broken.
        file: the file with the fault, relative to the candidate's directory; None for the entry.
        others: edits of other files, by path relative to the candidate's directory.
    """

    name: str
    edits: tuple[tuple[str, str], ...]
    level: int
    path: str
    check: str = ".*"
    module: str | None = None
    steps: tuple[int, int] = (0, 10**9)
    rule: str = ".*"
    file: str | None = None
    others: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)


def in_crate(name: str, file: str, before: str, after: str, level: int = 2) -> Mutant:
    """A fault in one file of a crate that shows in a step, at any leaf that the step changes."""
    return Mutant(name, ((before, after),), level, ".*", file=f"rust/src/{file}.rs")


def plant(task: Task, mutant: Mutant, tree: Path) -> None:
    """Write a tree whose candidate has the fault."""
    shutil.copytree(task.directory / "candidate", tree / "candidate", ignore=shutil.ignore_patterns("__pycache__"))
    entry = task.candidate.entry if mutant.file is None else f"candidate/{mutant.file}"
    for name, edits in {entry: mutant.edits, **{f"candidate/{other}": e for other, e in mutant.others.items()}}.items():
        source = (tree / name).read_text()
        for old, new in edits:
            assert source.count(old) == 1, f"{mutant.name}: {old!r} stands {source.count(old)} times in {name}"
            source = source.replace(old, new)
        (tree / name).write_text(source)


def assert_found(verdict: Verdict) -> None:
    """A level found a difference: the mutant ran."""
    assert verdict.error == "" and verdict.outcome is Outcome.FAIL, verdict
    assert verdict.divergences and all(found.check != CONTRACT for found in verdict.divergences), verdict


def assert_caught(mutant: Mutant, verdict: Verdict) -> Divergence:
    """The verdict is FAIL, at the expected level, by the expected check, at the expected leaf and step."""
    assert verdict.error == "", verdict.error
    last = verdict.reports[-1]
    assert verdict.outcome is Outcome.FAIL, f"{mutant.name} got {verdict.outcome}: {last.to_json()}"
    assert last.level == mutant.level, f"{mutant.name}: caught at level {last.level}: {last.divergences}"
    fitting = [
        found
        for found in last.divergences
        if re.fullmatch(mutant.path, found.path)
        and re.fullmatch(mutant.check, found.check)
        and re.fullmatch(mutant.rule, found.rule)
        and mutant.steps[0] <= found.step <= mutant.steps[1]
        and (mutant.module is None or found.module == mutant.module)
    ]
    seen = [(d.check, d.path, d.step, d.rule, d.module) for d in last.divergences]
    assert fitting, f"{mutant.name}: found {seen}"
    return fitting[0]
