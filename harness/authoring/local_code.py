"""Copies the code that a person named from the current directory into a task, with what it imports from beside it.

It is read, never imported: an environment's code runs in the reference's sandbox only.
"""

from __future__ import annotations

import ast
import shutil
from pathlib import Path

from harness.errors import SetupError

LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.pyc", ".*")
MOST_BYTES = 64 << 20
"""Of a package that is copied; beside that, what is named is hardly the package of an environment."""


def take_module(named: str, target: Path, option: str, what: str) -> str:
    """Copy a module and what it imports from beside it, and return `module:name` as it is called there.

    Args:
        named: `module:name`, or `path/to/file.py:name`. A module that does not lie in the current directory is an
            installed one: nothing is copied.
        target: the directory to copy to.
        option, what: what messages call this and its second part.

    Raises:
        SetupError: it is neither form, or there is no such file, or the package is too large to be one.
    """
    module, _, name = named.rpartition(":")
    if not module or not name:
        form = f"`module:{what}` or `path/to/file.py:{what}`"
        raise SetupError(f"`{named}` is not a {option}", where=option, expected=form)
    if module.endswith(".py"):
        file = Path(module)
        if not file.is_file():
            raise SetupError(f"there is no file `{module}`", where=option, expected=f"`path/to/file.py:{what}`")
        _take(file.stem, file.parent, target, set())
        return f"{file.stem}:{name}"
    _take(module.partition(".")[0], Path(), target, set())
    return named


def _take(root: str, beside: Path, target: Path, taken: set[str]) -> None:
    """Copy the module or package `root` that lies in a directory, and all that it imports from there."""
    if root in taken:
        return
    taken.add(root)
    file, package = beside / f"{root}.py", beside / root
    if (package / "__init__.py").is_file() or (not file.is_file() and any(package.glob("*.py"))):
        _demand_small(package)
        shutil.copytree(package, target / root, ignore=LEFT_OUT, dirs_exist_ok=True)
        sources = sorted(package.rglob("*.py"))
    elif file.is_file():
        shutil.copyfile(file, target / file.name)
        sources = [file]
    else:
        return
    for source in sources:
        for imported in _imported_by(source):
            _take(imported, beside, target, taken)


def _demand_small(package: Path) -> None:
    size = sum(file.stat().st_size for file in package.rglob("*") if file.is_file())
    if size > MOST_BYTES:
        raise SetupError(
            f"the package `{package}` has {size >> 20} MiB",
            where="what is to be copied into the task",
            expected=f"at most {MOST_BYTES >> 20} MiB",
            next_step="name a smaller module beside it, or install the package by `--require`",
        )


def _imported_by(source: Path) -> list[str]:
    """The roots of the modules that a file imports; none where it cannot be read as Python."""
    try:
        tree = ast.parse(source.read_bytes())
    except (SyntaxError, ValueError, RecursionError, MemoryError, OSError):
        return []
    roots: dict[str, None] = {}
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and not node.level and node.module:
            names = [node.module]
        roots.update(dict.fromkeys(name.partition(".")[0] for name in names))
    return list(roots)
