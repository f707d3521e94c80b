"""Which faults lie in functions of a crate that a verification never runs: none of its answers shows them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.errors import SetupError
from harness.measure.coverage.reading import line_of
from harness.measure.coverage.result import Coverage
from harness.measure.strength.mutants import Mutant
from harness.measure.strength.rust_faults import rust_files, rust_functions
from harness.support.document import Document
from harness.support.foreign import toml_of
from harness.task.contract import CANDIDATE_DIRECTORY

_ENDS_OTHERWISE = re.compile(r"\bcatch_unwind\b|\bthread::")


@dataclass(frozen=True)
class RunLines:
    """Where a crate has code that is counted, and where a verification ran it.

    Whole functions are told apart, nothing smaller: within one, what the compiler counts as a region is not always what it
    looks like. That of a range in a pattern, or of the last word of a guard, counts what follows; and a branch that is
    never taken may give a number in another one its type.

    Attributes:
        by_file: below `candidate/`, each line on which code begins, and whether any of it ran.
    """

    by_file: Mapping[str, Mapping[int, bool]]

    @staticmethod
    def of(coverage: Coverage) -> RunLines:
        """What was counted of a crate, all levels together.

        Raises:
            SetupError: it could not be counted, or not all that the candidate was asked was asked again.
        """
        lacks = list(coverage.not_measured)
        for number, level in coverage.levels.items():
            if level.error or level.repeated < level.asked:
                lacks.append(
                    f"level {number}: {level.error or f'{level.repeated} of {level.asked} questions asked again'}"
                )
        if not coverage.levels:
            lacks.append("no level was measured")
        _demand_none(lacks)
        by_file = {}
        for name, file in coverage.files.items():
            lines = dict.fromkeys(file.lines | {line_of(region) for region in file.branches}, False)
            for level in coverage.levels.values():
                lines |= dict.fromkeys(level.lines.get(name, frozenset()), True)
                lines |= {line_of(region): True for region in level.branches.get(name, frozenset())}
            by_file[name.removeprefix(f"{CANDIDATE_DIRECTORY}/")] = lines
        return RunLines(by_file)

    def leave_out(self, mutant: Mutant, source: bytes) -> bool:
        """Whether all that a mutant changes of its file's text lies in one function that was counted and never ran.

        Functions in it count with it. What lies in none (constants, tables, types), or in one that the compiler may run
        (`const fn`), counts as run.
        """
        begin, end = min(edit[0] for edit in mutant.edits), max(edit[1] for edit in mutant.edits)
        first, last = source.count(b"\n", 0, begin) + 1, source.count(b"\n", 0, end) + 1
        around = next(((a, b) for a, b in rust_functions(source) if a <= first and last <= b), None)
        if around is None:
            return False
        ran = [ran for line, ran in self.by_file.get(mutant.file, {}).items() if around[0] <= line <= around[1]]
        return bool(ran) and not any(ran)

    def to_json(self) -> dict[str, Any]:
        """As it stands in a journal."""
        return {file: sorted(lines.items()) for file, lines in self.by_file.items()}

    @staticmethod
    def from_json(described: object) -> RunLines:
        """The inverse of `to_json`."""
        return RunLines({file: dict(map(tuple, lines)) for file, lines in Document(described, "lines").content.items()})


def demand_countable(candidate: Path) -> None:
    """Refuse a candidate whose crates have what makes counts say too little.

    Raises:
        SetupError: it names what, and in which file.
    """
    found = []
    for manifest in sorted(candidate.rglob("Cargo.toml")):
        described = toml_of(manifest.read_text(encoding="utf-8"))
        package, library = described.get("package", {}), described.get("lib", {})
        name = manifest.relative_to(candidate).as_posix()
        if package.get("build") or (manifest.parent / "build.rs").exists() or library.get("proc-macro"):
            found.append(f"{name} has a build script or procedural macros, which may run its code while it is compiled")
    for file in rust_files(candidate):
        if match := _ENDS_OTHERWISE.search(file.read_text(encoding="utf-8", errors="replace")):
            name = file.relative_to(candidate).as_posix()
            found.append(f"{name} has `{match[0]}`: functions that end by a panic, or not at all, are not counted well")
    _demand_none(found)


def _demand_none(lacks: Sequence[str]) -> None:
    if lacks:
        raise SetupError(
            f"what the candidate runs cannot be counted: {'; '.join(lacks)}",
            where=f"{CANDIDATE_DIRECTORY}/",
            next_step="leave --by-coverage out: then each mutant is run",
        )
