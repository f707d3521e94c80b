"""Which Rust files of a crate import each other, directly or round about, read from their `use` lines.

A module and those inside it count as one: each sees what is private in the other, so that `use super::X` is no border
crossed. A name that a file passes on (`pub use console::GameBoy`) counts as the file that it comes from. Tests do not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

USE = re.compile(r"^[ \t]*(?:pub(?:\([a-z]+\))? )?use ([^;]+);", re.M)
PATH = re.compile(r"\b(crate(?:::\w+)+)")
TESTS = re.compile(r"#\[cfg\(test\)\]\s*(?:pub(?:\([a-z]+\))? )?mod \w+ \{.*", re.S)
COMMENT = re.compile(r"//.*")
Module = tuple[str, ...]


def circles(source: Path) -> list[str]:
    """The files below a crate's `src` that lie on a circle of imports, relative to it."""
    files = {_module(path.relative_to(source)): path for path in sorted(source.rglob("*.rs")) if path.stem != "tests"}
    texts = {module: TESTS.sub("", COMMENT.sub("", path.read_text())) for module, path in files.items()}
    names = {module: list(_names(module, text)) for module, text in texts.items()}
    imports = {
        module: {
            target
            for name in found
            if not _within(module, target := _home(name, names)) and not _within(target, module)
        }
        for module, found in names.items()
    }
    while free := [module for module, targets in imports.items() if not targets & imports.keys()]:
        for module in free:
            del imports[module]
    while free := imports.keys() - {target for targets in imports.values() for target in targets}:
        # What only imports a circle does not lie on it.
        for module in free:
            del imports[module]
    return [files[module].relative_to(source).as_posix() for module in imports]


def _module(path: Path) -> Module:
    parts = path.with_suffix("").parts
    return parts[:-1] if parts[-1] in ("mod", "lib", "main") else parts


def _within(module: Module, outer: Module) -> bool:
    return module[: len(outer)] == outer


def _names(module: Module, text: str) -> Iterator[Module]:
    """All names of the crate that a file uses, from the crate's root."""
    for found in USE.finditer(text):
        for path in _expanded(" ".join(found[1].split())):
            yield from _absolute(module, path.split(" as ")[0].split("::"))
    for found in PATH.finditer(text):
        yield from _absolute(module, found[1].split("::"))


def _expanded(tree: str) -> Iterator[str]:
    """The single paths of `a::{b, c::{d, e}}`."""
    head, brace, rest = tree.partition("{")
    if not brace:
        yield tree.strip()
        return
    depth, part = 0, ""
    for letter in rest.rpartition("}")[0] + ",":
        depth += (letter == "{") - (letter == "}")
        if letter == "," and depth == 0:
            if part.strip():
                for below in _expanded(part.strip()):
                    yield head.strip() + below
            part = ""
        else:
            part += letter


def _absolute(module: Module, path: list[str]) -> Iterator[Module]:
    if path[0] == "crate":
        yield tuple(path[1:])
        return
    above = 0
    while above < len(path) and path[above] in ("self", "super"):
        module = module[:-1] if path[above] == "super" else module
        above += 1
    # A path without `crate`, `self` or `super` is a module below, or another crate, which is found nowhere.
    yield module + tuple(path[above:])


def _home(name: Module, names: dict[Module, list[Module]]) -> Module:
    """The module that a name comes from: the longest that fits, and from there where it is passed on."""
    for _ in names:
        home = next(name[:end] for end in range(len(name), -1, -1) if name[:end] in names)
        rest = name[len(home) :]
        passed = [
            other for other in names[home] if rest and other[-1] == rest[0] and other != name and _known(other, names)
        ]
        if not passed or _within(home, passed[0][:-1]):
            return home
        name = passed[0]
    return home


def _known(name: Module, names: dict[Module, list[Module]]) -> bool:
    return len(name) > 1 and name[:1] in names
