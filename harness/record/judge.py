"""What decides a verdict, and its digest: files found by following imports, for a list made by hand forgets some.

From a few roots, each import of each file is followed, also those inside functions, and each module that a file names in a
string (an adapter, a worker that is started with `-m`). Whatever else lies beside those files belongs to them: images,
stubs. Nothing is imported for it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path

from harness.support.embedded import rust_sources

ROOTS = (
    "harness.verify.directory",
    "harness.verify.verifier",
    "harness.candidate.start",
    "harness.reference.start",
    "harness.task.load",
    "harness.task.suite",
)
"""What a verification calls."""
WHOLE = ("harness.candidate.adapters", "harness.candidate.faces", "harness.farm", "harness.training", "sandboxes")
"""Packages of which every file counts: they run in sandboxes or on other nodes, where imports cannot be followed, or are
chosen by name."""
TEMPLATES = "authoring/templates"
"""Inside `harness`: the general adapters, of which every task has a copy."""
FACE = "lockstep/__init__.py"
"""Where the files of a task import from: it decides which decorators they get, and what else it names decides nothing."""
NOT_COUNTED = ("__pycache__", "target", "tools")
"""Folders of what was made from the others, and of commands that lie beside crates."""
MODULE = re.compile(r"(?:harness|sandboxes)(?:\.\w+)+(?=:\w+$|$)")
"""A string that names one of our modules, maybe with something in it: `harness.training.in_sandbox`."""


@cache
def judge_digest() -> str:
    """SHA-256 over all files that decide a verdict: the tests' own, the sandboxes', the Rust runtime's, the templates'.

    Raises:
        LockstepError: the Rust runtime is missing.
    """
    return _digest(judge_files())


@cache
def source_digest(*roots: str) -> str:
    """SHA-256 over the files that these modules are made of, with all that they import, and over what decides a verdict."""
    return _digest(judge_files() | _closure(roots, _home()))


def judge_files(home: Path | None = None, rust: Path | None = None) -> dict[str, Path]:
    """The files that decide a verdict, by the name that stands for each in the digest.

    Args:
        home: the directory that holds the packages; by default the one of this installation.
        rust: the cargo workspace of the Rust runtime; by default the one of this installation.
    """
    home, rust = home or _home(), rust or rust_sources()
    whole = [path for name in WHOLE for path in _all(home.joinpath(*name.split(".")))]
    modules = [path.relative_to(home).with_suffix("") for path in whole if path.suffix == ".py"]
    files = _closure([*ROOTS, *(".".join(path.parts) for path in modules)], home)
    whole += [*_all(home / "harness" / TEMPLATES), home / FACE]
    files |= {path.relative_to(home).as_posix(): path for path in whole}
    return files | {f"rust/{path.relative_to(rust).as_posix()}": path for path in _all(rust)}


def _home() -> Path:
    return Path(__file__).resolve().parents[2]


def _digest(files: dict[str, Path]) -> str:
    digest = sha256()
    for name in sorted(files):
        digest.update(f"{name}\0{sha256(files[name].read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()


def _closure(roots: Iterable[str], home: Path) -> dict[str, Path]:
    """The files of modules and of all that they import, with what lies beside them and is no Python."""
    seen: set[Path] = set()
    left = list(roots)
    while left:
        for path in _files(left.pop(), home):
            if path not in seen:
                seen.add(path)
                left += _named(path, home)
    beside = {path for directory in {each.parent for each in seen} for path in directory.iterdir() if _is_data(path)}
    return {path.relative_to(home).as_posix(): path for path in seen | beside}


def _files(module: str, home: Path) -> Iterator[Path]:
    """The file of a module, and of each package around it. What comes after the last module is a name in it."""
    location = home
    for part in module.split("."):
        location = location / part
        if (location / "__init__.py").is_file():
            yield location / "__init__.py"
        elif location.with_suffix(".py").is_file():
            yield location.with_suffix(".py")


def _named(path: Path, home: Path) -> tuple[str, ...]:
    """The modules that a file imports or names."""
    return _named_in(path.read_bytes(), path.relative_to(home).parts[:-1])


@cache
def _named_in(source: bytes, around: tuple[str, ...]) -> tuple[str, ...]:
    """The same of a text in the package `around`. Kept: several digests of one process are over the same files."""
    return tuple(_modules(source, around))


def _modules(source: bytes, around: tuple[str, ...]) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = ".".join((*around[: len(around) - node.level + 1], *filter(None, [node.module])))
            yield from (f"{package if node.level else node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and (found := MODULE.match(node.value)):
            yield found[0]


def _is_data(path: Path) -> bool:
    return path.is_file() and path.suffix not in (".py", ".pyc", ".md")


def _all(location: Path) -> Iterator[Path]:
    """The files of a directory, but for what was made from them and what only people read."""
    for path in sorted(location.rglob("*")):
        parts = path.relative_to(location).parts
        if (
            path.is_file()
            and path.suffix not in (".pyc", ".md")
            and not set(parts) & set(NOT_COUNTED)
            and parts[-1][0] != "."
        ):
            yield path
