"""The faults of a Python file, by the operators for JAX code."""

from __future__ import annotations

from collections.abc import Iterator
from types import CodeType
from typing import Any

import libcst as cst
from libcst.metadata import ByteSpanPositionProvider, CodeSpan, MetadataWrapper

from harness.errors import SetupError
from harness.measure.strength.faults import MODULE, Edit, Fault
from harness.measure.strength.operators import Change, expression_changes, statement_changes


def python_faults(file: str, source: bytes) -> list[Fault]:
    """Every fault of a file, in the order in which its tree is walked.

    Raises:
        SetupError: it cannot be parsed.
    """
    try:
        wrapper = MetadataWrapper(cst.parse_module(source), unsafe_skip_copy=True)
    except (cst.ParserSyntaxError, UnicodeDecodeError, RecursionError) as error:
        raise SetupError(f"it cannot be parsed: {error}", where=file, expected="a Python file") from error
    spans = wrapper.resolve(ByteSpanPositionProvider)
    collector = _Collector(wrapper.module)
    wrapper.module.visit(collector)
    return [_fault(function, change, spans) for function, change in collector.found]


def is_python(source: bytes) -> bool:
    """Whether a text can be compiled."""
    try:
        compile(source, "", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


def same_bytecode(one: bytes, other: bytes) -> bool:
    """Whether Python compiles two texts to the same instructions and constants: its own proof that nothing changed."""
    return _instructions(compile(one, "", "exec", dont_inherit=True)) == _instructions(
        compile(other, "", "exec", dont_inherit=True)
    )


def _fault(function: str, change: Change, spans: Any) -> Fault:
    edits: list[Edit] = []
    for node, text in change.edits:
        span: CodeSpan = spans[node]
        edits.append((span.start, span.start + span.length, text.encode()))
    edits.sort()
    start, end = edits[0][0], edits[-1][1]
    if change.shown is not None:
        around: CodeSpan = spans[change.shown]
        start, end = min(start, around.start), max(end, around.start + around.length)
    return Fault(function, change.operator, tuple(edits), (start, end))


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


def _instructions(code: CodeType) -> tuple[Any, ...]:
    constants = tuple(
        _instructions(each) if isinstance(each, CodeType) else (type(each), repr(each)) for each in code.co_consts
    )
    return code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars, code.co_name
