"""What an error says is for its reader. Code decides by an error's class and its fields."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.paths import ROOT

WORDS = frozenset({"what", "where", "expected", "next_step", "detail", "cause", "because"})
"""The fields of errors, checks and divergences that hold text; an error's document calls its next step `next`."""
TESTS = frozenset({"startswith", "endswith", "find", "count"})
PATTERNS = frozenset({"match", "search", "fullmatch"})
PLACES = ("harness", "mcp_server", "sandboxes")


def readings(source: str) -> Iterator[int]:
    """The lines that ask what stands in the text of an error."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in TESTS:
            if _is_prose(node.func.value):
                yield node.lineno
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in PATTERNS:
            # What a library's error says of a place in a file is no field of it, so `search(str(error))` may be.
            if any(isinstance(each, ast.Attribute) and _is_prose(each) for each in node.args):
                yield node.lineno
        elif isinstance(node, ast.Compare):
            holds = any(isinstance(op, ast.In | ast.NotIn | ast.Eq | ast.NotEq) for op in node.ops)
            if holds and any(map(_is_prose, (node.left, *node.comparators))):
                yield node.lineno


def _is_prose(node: ast.expr) -> bool:
    match node:
        case ast.Attribute(value=ast.Name(id="self")):
            return False
        case ast.Attribute(attr=attr):
            return attr in WORDS
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
    assert found == set()


@pytest.mark.parametrize(
    "line",
    [
        'if refused.where.startswith("the reference"): pass',
        'if "bug of Lockstep" in answer["next"]: pass',
        'if "no such" in str(error): pass',
        'if error.what == "it is gone": pass',
        'if "exit status 0" not in ended.what: pass',
        'if "law" in check.result.detail: pass',
        "if any(NEVER_RAN.match(divergence.cause) for divergence in report.divergences): pass",
    ],
)
def test_code_that_does_is_found(line: str) -> None:
    assert list(readings(line)) == [1]
