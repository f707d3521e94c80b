"""Which faults lie in code of a crate that a verification never runs: none of its answers shows them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.errors import SetupError
from harness.measure.coverage.result import Coverage
from harness.measure.strength.mutants import Mutant
from harness.support.document import Document
from harness.task.contract import CANDIDATE_DIRECTORY

_REGION = re.compile(r"(\d+):(\d+)-(\d+):(\d+)")
_CONST_FN = re.compile(r'\bconst\s+(?:unsafe\s+)?(?:extern\s+(?:"[^"]*"\s+)?)?fn\b')

Place = tuple[int, int]
"""A line and a column, both from 1, as the compiler counts them."""
Region = tuple[Place, Place, bool]
"""Its begin, the first place after it, and whether it ran."""


@dataclass(frozen=True)
class Regions:
    """The stretches of a crate's code that run as a whole, and whether a verification ran them.

    Attributes:
        by_file: of each file below `candidate/`, in order. One may lie in another: the innermost one says what holds.
    """

    by_file: Mapping[str, tuple[Region, ...]]

    @staticmethod
    def of(coverage: Coverage, tree: Path) -> Regions:
        """What was counted of the crate in a tree, all levels together.

        Functions that the compiler itself may run (`const fn`) are left out: it does not count.

        Raises:
            SetupError: it could not be counted, or not all that the candidate was asked was asked again.
        """
        lacks = list(coverage.not_measured)
        for number, level in coverage.levels.items():
            if level.error or level.repeated < level.asked:
                lacks.append(
                    f"level {number}: {level.error or f'{level.repeated} of {level.asked} questions asked again'}"
                )
        if lacks or not coverage.levels:
            raise SetupError(
                f"what the candidate runs cannot be counted ({'; '.join(lacks) or 'no level was measured'})",
                where=f"{CANDIDATE_DIRECTORY}/",
                next_step="leave --by-coverage out: then each mutant is run",
            )
        found = {}
        for name, file in coverage.files.items():
            ran = frozenset().union(*(level.branches.get(name, frozenset()) for level in coverage.levels.values()))
            text = (tree / name).read_text(encoding="utf-8", errors="replace").split("\n")
            spans = {span for spans in coverage.modules.values() for span in spans if span[0] == name}
            const = [(first, last) for _, first, last in spans if _CONST_FN.search(text[first - 1])]
            regions = sorted((*_places(region), region in ran) for region in file.branches)
            found[name.removeprefix(f"{CANDIDATE_DIRECTORY}/")] = tuple(
                each for each in regions if not any(first <= each[0][0] <= last for first, last in const)
            )
        return Regions(found)

    def leave_out(self, mutant: Mutant, source: bytes) -> bool:
        """Whether all that a mutant changes of its file's text lies in code that was never run.

        What no region holds (constants, tables, types) counts as run, and so does a line that is not ASCII, of which
        columns are counted in more than one way.
        """
        regions = self.by_file.get(mutant.file, ())
        return all(
            _is_unreached(regions, _place(source, begin), _place(source, max(begin, end - 1)))
            for begin, end, _ in mutant.edits
        )

    def to_json(self) -> dict[str, Any]:
        """As it stands in a journal."""
        return {file: [[*begin, *end, ran] for begin, end, ran in found] for file, found in self.by_file.items()}

    @staticmethod
    def from_json(described: object) -> Regions:
        """The inverse of `to_json`."""
        content = Document(described, "regions").content
        return Regions(
            {file: tuple(((a, b), (c, d), ran) for a, b, c, d, ran in found) for file, found in content.items()}
        )


def _is_unreached(regions: Sequence[Region], first: Place | None, last: Place | None) -> bool:
    """Whether none of the code between two places was run."""
    if first is None or last is None:
        return False
    begun = [region for region in regions if region[0] <= first]
    around = [region for region in begun if first < region[1]]
    if not around or max(around, key=lambda region: (region[0], (-region[1][0], -region[1][1])))[2]:
        return False
    return not any(ran for begin, _, ran in regions[len(begun) :] if begin <= last)


def _places(region: str) -> tuple[Place, Place]:
    match = _REGION.fullmatch(region)
    if match is None:
        raise ValueError(f"{region[:40]} is not a region of code")
    line, column, last_line, last_column = map(int, match.groups())
    return (line, column), (last_line, last_column)


def _place(source: bytes, offset: int) -> Place | None:
    """The line and column of a byte; None in a line that is not ASCII."""
    start = source.rfind(b"\n", 0, offset) + 1
    end = source.find(b"\n", offset)
    if not source[start : end if end >= 0 else None].isascii():
        return None
    return source.count(b"\n", 0, offset) + 1, offset - start + 1
