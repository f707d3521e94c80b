"""The mutants of a candidate: which there are, in a fixed order, and the source of each."""

from __future__ import annotations

import hashlib
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness.measure.strength.faults import Edit, Fault, applied
from harness.measure.strength.python_faults import is_python, python_faults
from harness.measure.strength.rust_faults import rust_faults, rust_files
from harness.support.document import Document
from harness.task.contract import COMPILED


@dataclass(frozen=True)
class Mutant:
    """One fault in one file of a candidate.

    Attributes:
        id: a digest of the file's text, the place and the change.
        file: below `candidate/`.
        line, column: where the change begins; lines count from 1, columns from 0.
        function: the dotted name of the function or class around it, or `<module>`.
        operator: the kind of fault.
        before, after: the text that changes, on one line.
        occurrence: which it is, from 1, among those that agree in all of file, function, operator, before and after.
        edits: byte offsets in the file, from and to, and the new bytes; in the order of the file.
    """

    id: str
    file: str
    line: int
    column: int
    function: str
    operator: str
    before: str
    after: str
    occurrence: int
    edits: tuple[Edit, ...]

    def to_json(self) -> dict[str, Any]:
        """All of it but the edits."""
        return {
            "id": self.id,
            "file": self.file,
            "line": self.line,
            "column": self.column,
            "function": self.function,
            "operator": self.operator,
            "before": self.before,
            "after": self.after,
            "occurrence": self.occurrence,
        }

    @staticmethod
    def from_json(described: object, kind: str = "mutant") -> Mutant:
        """The inverse of `to_json`: a mutant without edits. Raises DocumentError if `described` has another form."""
        document = Document(described, kind)
        return Mutant(
            id=document.text("id"),
            file=document.text("file"),
            line=document.whole("line"),
            column=document.whole("column"),
            function=document.text("function"),
            operator=document.text("operator"),
            before=document.text("before"),
            after=document.text("after"),
            occurrence=document.whole("occurrence"),
            edits=(),
        )

    @property
    def name(self) -> str:
        """The fault in one line."""
        return f"{self.file}:{self.line} {self.function}: {self.before} -> {self.after}"

    def apply(self, source: bytes) -> bytes:
        """The file's text with the fault in it."""
        return applied(source, self.edits)


@dataclass(frozen=True)
class _Language:
    """How files of a candidate are found and changed: those below a directory that are part of it, the faults of one, and
    whether a changed one may be a program.
    """

    files: Callable[[Path], list[Path]]
    faults: Callable[[str, bytes], list[Fault]]
    is_program: Callable[[bytes], bool]


_LANGUAGES = {
    "jax": _Language(lambda candidate: sorted(candidate.rglob("*.py")), python_faults, is_python),
    "rust": _Language(rust_files, rust_faults, lambda source: True),  # only the compiler can tell
}


def enumerate_mutants(candidate: Path, kind: str = "jax") -> list[Mutant]:
    """Every mutant of the files of a candidate of a kind, below its directory, by file and place.

    Two changes that give the same text count once.

    Raises:
        SetupError: a file cannot be parsed.
    """
    language = _LANGUAGES[kind]
    mutants: list[Mutant] = []
    for path in language.files(candidate):
        if COMPILED not in path.parts:
            mutants += _of_file(language, path.relative_to(candidate).as_posix(), path.read_bytes())
    return mutants


def sampled(mutants: Sequence[Mutant], count: int | None, seed: int) -> list[Mutant]:
    """`count` of the mutants at random, from each operator as many as its share; all where there are no more.

    Args:
        count: None takes all.
        seed: makes the choice repeatable.
    """
    if count is None or count >= len(mutants):
        return list(mutants)
    rng = random.Random(seed)
    groups: dict[str, list[Mutant]] = defaultdict(list)
    for mutant in mutants:
        groups[mutant.operator].append(mutant)
    # One operator after the other on a line, each in random order: every k-th is a sample in which each has its share.
    line = [mutant for name in sorted(groups) for mutant in rng.sample(groups[name], len(groups[name]))]
    start, stride = rng.random(), len(line) / count
    chosen = {line[int((start + number) * stride)].id for number in range(count)}
    return [mutant for mutant in mutants if mutant.id in chosen]


def _of_file(language: _Language, file: str, source: bytes) -> list[Mutant]:
    base = hashlib.sha256(source).hexdigest()
    found: dict[bytes, Mutant] = {}
    for fault in language.faults(file, source):
        mutated = applied(source, fault.edits)
        if mutated != source and language.is_program(mutated):
            found.setdefault(mutated, _mutant(file, source, base, fault))
    counts: Counter[tuple[str, ...]] = Counter()
    ordered = []
    for mutant in sorted(found.values(), key=lambda each: each.edits):
        kind = (mutant.function, mutant.operator, mutant.before, mutant.after)
        counts[kind] += 1
        ordered.append(replace(mutant, occurrence=counts[kind]))
    return ordered


def _mutant(file: str, source: bytes, base: str, fault: Fault) -> Mutant:
    start, end = fault.shown
    before = source[start:end]
    after = applied(before, tuple((a - start, b - start, text) for a, b, text in fault.edits))
    line_start = source.rfind(b"\n", 0, start) + 1
    identity = repr((base, file, list(fault.edits))).encode()
    return Mutant(
        id=hashlib.sha256(identity).hexdigest()[:12],
        file=file,
        line=source.count(b"\n", 0, start) + 1,
        column=len(source[line_start:start].decode()),
        function=fault.function,
        operator=fault.operator,
        before=" ".join(before.decode().split()),
        after=" ".join(after.decode().split()),
        occurrence=1,
        edits=fault.edits,
    )
