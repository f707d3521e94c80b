"""The texts that people and agents read: pages, and the strings of the code."""

from __future__ import annotations

import ast
import functools
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.paths import ROOT

ROOMS = ("harness", "mcp_server", "sandboxes", "lockstep", "rust/gameboy/tools")
"""Where the code lies whose strings are read."""
PAGES = ("prompts", "docs", "examples", ".github")
PAGE_NAMES = (".md", ".yml", ".j2", ".js", ".toml", ".ipynb", "Dockerfile")
VALUE = "\0"
"""Stands for what is put into a text: a value of an f-string, or the slot of a template."""
_SLOT = re.compile(r"\{\{.*?\}\}")
_STRINGS = (ast.Constant, ast.JoinedStr, ast.BinOp, ast.Call)
_FORMATTED = re.compile(r"\{[^{}]*\}|%[sdr]")


@dataclass(frozen=True)
class Text:
    """One text.

    Attributes:
        path, line: where it begins.
        content: with VALUE for each value that is put in.
        page: whether it is a whole file, not a string of the code.
        docstring: whether it documents code.
        function: the name of the function that a docstring belongs to.
    """

    path: str
    line: int
    content: str
    page: bool = False
    docstring: bool = False
    function: str = ""


def files() -> Iterator[Path]:
    """Every file whose texts are read."""
    for room in ROOMS:
        yield from (path for path in sorted((ROOT / room).rglob("*")) if path.name.endswith((".py", *PAGE_NAMES)))
    for room in PAGES:
        yield from (path for path in sorted((ROOT / room).rglob("*")) if path.name.endswith((".py", *PAGE_NAMES)))
    yield from sorted(ROOT.glob("*.md"))
    yield from sorted((ROOT / "rust").rglob("README.md"))
    for task in sorted((ROOT / "environments").iterdir()):
        yield from (path for path in sorted(task.glob("*")) if path.name.endswith((".py", ".md", ".toml")))


def texts(path: str, content: str) -> Iterator[Text]:
    """The texts of one file."""
    if path.endswith(".py"):
        yield from _strings(path, nodes(content))
    elif path.endswith(".ipynb"):
        for number, cell in enumerate(json.loads(content)["cells"], 1):
            yield Text(path, number, "".join(cell["source"]), page=True)
    else:
        yield Text(path, 1, _SLOT.sub(VALUE, content), page=True)


@functools.lru_cache(maxsize=1)
def nodes(source: str) -> tuple[ast.AST, ...]:
    """Every node of code; those that hold others come before them."""
    return tuple(ast.walk(ast.parse(source)))


def _strings(path: str, code: tuple[ast.AST, ...]) -> Iterator[Text]:
    documented = {
        node.body[0].value: getattr(node, "name", "")
        for node in code
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        if node.body and isinstance(node.body[0], ast.Expr)
    }
    inner: set[ast.AST] = set()
    for node in code:
        if not isinstance(node, _STRINGS) or node in inner:
            continue
        content = _content(node)
        if content is None or not content.strip(VALUE):
            continue
        inner |= set(ast.walk(node))
        yield Text(path, node.lineno, content, docstring=node in documented, function=documented.get(node, ""))
        # What is put in may hold texts of its own.
        for put_in in _put_in(node):
            yield from _strings(path, tuple(ast.walk(put_in)))


def _content(node: ast.expr) -> str | None:
    """What a string says, however it is put together; None for what is not a string."""
    match node:
        case ast.Constant(value=str() as text):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(_content(part) or VALUE for part in parts)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            sides = _content(left), _content(right)
            return None if sides == (None, None) else "".join(VALUE if side is None else side for side in sides)
        case ast.BinOp(left=ast.Constant(value=str() as text), op=ast.Mod()):
            return _FORMATTED.sub(VALUE, text)
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str() as text), attr="format")):
            return _FORMATTED.sub(VALUE, text)
    return None


def _put_in(node: ast.expr) -> Iterator[ast.expr]:
    match node:
        case ast.FormattedValue(value=value):
            yield value
        case ast.JoinedStr(values=parts):
            for part in parts:
                yield from _put_in(part)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            for side in (left, right):
                yield from _put_in(side) if _content(side) is not None else (side,)
        case ast.BinOp(op=ast.Mod(), right=right):
            yield right
        case ast.Call(args=arguments, keywords=keywords):
            yield from arguments
            yield from (each.value for each in keywords)
