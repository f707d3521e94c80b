"""The mutants of a candidate: which there are, in a fixed order, and the source of each."""

from __future__ import annotations

import hashlib
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import CodeType
from typing import Any

import libcst as cst
from libcst.metadata import ByteSpanPositionProvider, CodeSpan, MetadataWrapper

from harness.errors import SetupError
from harness.strength.operators import Change, expression_changes, statement_changes

MODULE = "<module>"
Edit = tuple[int, int, bytes]


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

    @property
    def name(self) -> str:
        """The fault in one line."""
        return f"{self.file}:{self.line} {self.function}: {self.before} -> {self.after}"

    def apply(self, source: bytes) -> bytes:
        """The file's text with the fault in it."""
        for start, end, text in reversed(self.edits):
            source = source[:start] + text + source[end:]
        return source


def enumerate_mutants(candidate: Path) -> list[Mutant]:
    """Every mutant of the Python files below a candidate's directory, by file and place.

    Two changes that give the same text count once.

    Raises:
        SetupError: a file cannot be parsed.
    """
    mutants: list[Mutant] = []
    for path in sorted(candidate.rglob("*.py")):
        if "__pycache__" not in path.parts:
            mutants += _of_file(path.relative_to(candidate).as_posix(), path.read_bytes())
    return mutants


def same_bytecode(one: bytes, other: bytes) -> bool:
    """Whether Python compiles two texts to the same instructions and constants: its own proof that nothing changed."""
    return _instructions(compile(one, "", "exec", dont_inherit=True)) == _instructions(
        compile(other, "", "exec", dont_inherit=True)
    )


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


def _of_file(file: str, source: bytes) -> list[Mutant]:
    try:
        wrapper = MetadataWrapper(cst.parse_module(source), unsafe_skip_copy=True)
    except (cst.ParserSyntaxError, UnicodeDecodeError, RecursionError) as error:
        raise SetupError(f"it cannot be parsed: {error}", where=file, expected="a Python file") from error
    spans = wrapper.resolve(ByteSpanPositionProvider)
    collector = _Collector(wrapper.module)
    wrapper.module.visit(collector)
    base = hashlib.sha256(source).hexdigest()
    found: dict[bytes, Mutant] = {}
    for function, change in collector.found:
        mutant = _mutant(file, source, base, function, change, spans)
        mutated = mutant.apply(source)
        if mutated != source and _is_python(mutated):
            found.setdefault(mutated, mutant)
    counts: Counter[tuple[str, ...]] = Counter()
    ordered = []
    for mutant in sorted(found.values(), key=lambda each: each.edits):
        kind = (mutant.function, mutant.operator, mutant.before, mutant.after)
        counts[kind] += 1
        ordered.append(replace(mutant, occurrence=counts[kind]))
    return ordered


def _mutant(file: str, source: bytes, base: str, function: str, change: Change, spans: Any) -> Mutant:
    edits = []
    for node, text in change.edits:
        span: CodeSpan = spans[node]
        edits.append((span.start, span.start + span.length, text.encode()))
    edits.sort()
    start, end = edits[0][0], edits[-1][1]
    if change.shown is not None:
        around: CodeSpan = spans[change.shown]
        start, end = min(start, around.start), max(end, around.start + around.length)
    shifted = tuple((a - start, b - start, text) for a, b, text in edits)
    before = source[start:end]
    after = before
    for a, b, text in reversed(shifted):
        after = after[:a] + text + after[b:]
    line_start = source.rfind(b"\n", 0, start) + 1
    identity = repr((base, file, edits)).encode()
    return Mutant(
        id=hashlib.sha256(identity).hexdigest()[:12],
        file=file,
        line=source.count(b"\n", 0, start) + 1,
        column=len(source[line_start:start].decode()),
        function=function,
        operator=change.operator,
        before=" ".join(before.decode().split()),
        after=" ".join(after.decode().split()),
        occurrence=1,
        edits=tuple(edits),
    )


class _Collector(cst.CSTVisitor):
    """Walks a module and collects changes with the function around each."""

    def __init__(self, module: cst.Module) -> None:
        super().__init__()
        self.found: list[tuple[str, Change]] = []
        self._code = module.code_for_node
        self._names: list[str] = []
        self._indices = 0

    def on_visit(self, node: cst.CSTNode) -> bool:
        # Types, decorators and imports are no rules of an environment; an assignment's targets change with its value.
        if isinstance(node, (cst.Annotation, cst.Decorator, cst.Import, cst.ImportFrom, cst.AssignTarget, cst.Param)):
            return False
        if isinstance(node, (cst.FunctionDef, cst.ClassDef)):
            self._names.append(node.name.value)
        self._indices += isinstance(node, cst.SubscriptElement)
        self._collect(expression_changes(node, self._code, self._indices > 0))
        if isinstance(node, cst.FunctionDef):
            parameters = (*node.params.posonly_params, *node.params.params, *node.params.kwonly_params)
            names = frozenset(parameter.name.value for parameter in parameters)
            self._collect(statement_changes(node.body.body, names, self._code))
        return True

    def on_leave(self, original_node: cst.CSTNode) -> None:
        if isinstance(original_node, (cst.FunctionDef, cst.ClassDef)):
            self._names.pop()
        self._indices -= isinstance(original_node, cst.SubscriptElement)

    def _collect(self, changes: Iterator[Change]) -> None:
        name = ".".join(self._names) or MODULE
        self.found.extend((name, change) for change in changes)


def _is_python(source: bytes) -> bool:
    try:
        compile(source, "", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


def _instructions(code: CodeType) -> tuple[Any, ...]:
    constants = tuple(
        _instructions(each) if isinstance(each, CodeType) else (type(each), repr(each)) for each in code.co_consts
    )
    return code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars, code.co_name
