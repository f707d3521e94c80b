"""What an error says is for its reader. Code decides by an error's class and its fields."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.paths import ROOT

WORDS = frozenset({"what", "where", "expected", "next_step"})
"""The fields of an error that hold text; its document calls the last one `next`."""
TESTS = frozenset({"startswith", "endswith", "find", "count"})
PLACES = ("harness", "mcp_server", "sandboxes")
REWORDED = frozenset({"harness/measure/coverage/crate.py"})
"""Where what a compiler wrote is put into plainer words, and nothing else depends on it."""


def readings(source: str) -> Iterator[int]:
    """The lines that ask what stands in the text of an error."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in TESTS:
            if _is_prose(node.func.value):
                yield node.lineno
        elif isinstance(node, ast.Compare):
            holds = any(isinstance(op, ast.In | ast.NotIn | ast.Eq | ast.NotEq) for op in node.ops)
            if holds and any(map(_is_prose, (node.left, *node.comparators))):
                yield node.lineno


def _is_prose(node: ast.expr) -> bool:
    match node:
        case ast.Attribute(value=ast.Name(id=name), attr=attr):
            return attr in WORDS and _is_error(name)
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=key)):
            return key in {*WORDS, "next"} and (_is_error(name) or name == "answer")
        case ast.Call(func=ast.Name(id="str"), args=[ast.Name(id=name)]):
            return _is_error(name)
    return False


def _is_error(name: str) -> bool:
    return name in {"error", "refused", "failure", "caught", "e", "err", "exc"}


@pytest.mark.parametrize("place", PLACES)
def test_no_code_decides_by_the_text_of_an_error(place: str) -> None:
    found = {
        path.relative_to(ROOT).as_posix() for path in (ROOT / place).rglob("*.py") if any(readings(path.read_text()))
    }
    assert found - REWORDED == set()


@pytest.mark.parametrize(
    "line",
    [
        'if refused.where.startswith("the reference"): pass',
        'if "bug of Lockstep" in answer["next"]: pass',
        'if "no such" in str(error): pass',
        'if error.what == "it is gone": pass',
    ],
)
def test_code_that_does_is_found(line: str) -> None:
    assert list(readings(line)) == [1]
