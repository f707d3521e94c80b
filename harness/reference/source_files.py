"""The files in which a reference's rules are, as whoever translates it reads them: by name, with their digest.

A name is a path below the task's `reference/`, or a path in the reference's own environment as the `source` of a module in
task.toml writes it (`gymnasium/envs/classic_control/cartpole.py`). All of a package can be read, not only the files that are
named: the rules that a named file calls lie beside it.
"""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import islice
from pathlib import Path

from harness.calls import reference_uri
from harness.errors import LockstepError
from harness.reference.sandbox import Installed
from harness.task.contract import REFERENCE_DIRECTORY, Task

MAX_BYTES = 4 << 20
"""A larger file holds no rules that anybody reads."""
LOOKED_AT_MOST = 20_000
"""So many entries of an environment are looked at for one listing."""
_DEPTHS = ("", "*/", "*/*/", "*/*/*/")
"""How deep below an environment's root a source may lie that is not an installed package: what a build script unpacked."""
_PACKAGES = "lib/python*/site-packages/"
_INSTALLERS = frozenset({"pip", "setuptools", "pkg_resources", "_distutils_hack", "wheel"})


@dataclass(frozen=True)
class SourceFile:
    """One file or directory of a reference.

    Attributes:
        name: what it is asked for by; `path` is where it lies.
        rules: the modules that name it in task.toml, each with its lines: `moves: 199-227`.
    """

    name: str
    path: Path
    rules: tuple[str, ...] = ()

    @property
    def is_directory(self) -> bool:
        """Whether it is a directory."""
        return self.path.is_dir()

    @property
    def bytes(self) -> int:
        """Its size; 0 for a directory."""
        return 0 if self.is_directory else self.path.stat().st_size

    @property
    def sha256(self) -> str:
        """The digest of its content; empty for a directory, and for a file larger than MAX_BYTES."""
        return "" if self.is_directory or self.bytes > MAX_BYTES else sha256(self.path.read_bytes()).hexdigest()


def candidates(name: str, task: Task, environment: Installed | None) -> Iterator[Path]:
    """Where a source may be. Names are the task's and trusted, but one that leads out of these places is no source."""
    if Path(name).is_absolute() or ".." in Path(name).parts:
        return
    yield task.directory / name
    if environment is not None:
        yield from sorted(environment.prefix.glob(f"{_PACKAGES}{name}"))
        for depth in _DEPTHS:
            yield from sorted(environment.prefix.glob(f"{depth}{name}"))


class SourceFiles:
    """The files of one reference.

    Args:
        task: as the session, or the server, holds it.
        environment: the reference's own; None while it is not built: then there is only what the task brings.
        holder: the session or the task as its resource, for messages (`harness.calls.reference_uri`).
    """

    def __init__(self, task: Task, environment: Installed | None, holder: str) -> None:
        self._holder = holder
        self.is_built = environment is not None
        """Whether there is an environment."""
        self.absent: list[str] = []
        """The names in task.toml that are found nowhere."""
        self._own = (task.directory / REFERENCE_DIRECTORY).resolve()
        self._named: dict[str, SourceFile] = {}
        # The environment that the harness itself runs in is not the reference's, whatever it also holds.
        own = environment is not None and environment.prefix != Path(sys.prefix)
        prefix = environment.prefix.resolve() if environment is not None and own else None
        packages = [] if prefix is None else sorted(prefix.glob(_PACKAGES))
        roots = dict.fromkeys([self._own, *(place.resolve() for place in packages)])
        for module, source in ((each.name, source) for each in task.modules for source in each.source):
            name, _, lines = source.partition(":")
            path = next((path for path in candidates(name, task, environment) if path.is_file()), None)
            if path is None:
                self.absent += [self._short(name)] if self._short(name) not in self.absent else []
                continue
            root = self._name_rules(name, path, f"{module}: {lines or 'all'}")
            if prefix is not None and root != prefix and root.is_relative_to(prefix):
                roots[root] = None
        self._roots = tuple(roots)

    def uri(self, name: str = "") -> str:
        """The resource of a file or a directory of it, or of the list of what there is."""
        return reference_uri(self._holder, name)

    def main(self) -> list[SourceFile]:
        """What a translation begins with: files that task.toml names, files of `reference/`, then packages."""
        own = {file.name: file for file in _below(self._own, "") if not file.is_directory}
        packages = {
            file.name: file
            for root in self._roots[1:]
            for file in _level(root, "")
            if (file.is_directory or file.path.suffix == ".py")
            and not file.name.endswith((".dist-info", ".egg-info"))
            and file.name not in _INSTALLERS
        }
        return list((self._named | {name: own[name] for name in own if name not in self._named} | packages).values())

    def brings(self, name: str) -> bool:
        """Whether the task itself brings a file or a directory of this name, for which no environment is needed."""
        return bool(name) and self._found(self._short(name)) is not None

    def below(self, name: str) -> Iterator[SourceFile]:
        """What lies in a directory of it and below, in the order of a walk.

        Raises:
            LockstepError: there is no such directory.
        """
        found = self.find(name)
        if not found.is_directory:
            raise LockstepError(f"{self._where(name)} is not a directory", next_step="read it with read_file")
        return (self._named.get(entry.name, entry) for entry in _below(found.path, f"{found.name}/"))

    def find(self, name: str) -> SourceFile:
        """A file or a directory by its name; a `reference/` before it may be left out.

        Raises:
            LockstepError: there is none.
        """
        short = self._short(name)
        found = self._found(short)
        if found is not None:
            return found
        known = [file.name for file in self.main()]
        near = difflib.get_close_matches(short, known, n=3, cutoff=0.5) or known[:5]
        near += [one for one in known if Path(one).name == Path(short).name and one not in near]
        raise LockstepError(
            f"there is no file {self._where(short)[:300]}",
            expected=f"one of the reference's files, such as {', '.join(map(self._where, near)) or 'none'}",
            next_step=f"list_files and {self.uri()} name them"
            + ("" if self.is_built else "; its packages are not installed yet: list_files of `reference` does that"),
        )

    def read(self, name: str) -> tuple[str, bytes]:
        """The name of a file as it is listed, and what it holds.

        Raises:
            LockstepError: there is none, it is a directory, or too large.
        """
        file = self.find(name)
        if file.is_directory:
            raise LockstepError(
                f"{self._where(file.name)} is a directory",
                expected="a file",
                next_step=f"list_files or {self.uri(file.name)} names what is in it",
            )
        if file.bytes > MAX_BYTES:
            raise LockstepError(f"{self._where(file.name)} has {file.bytes} bytes", expected=f"at most {MAX_BYTES}")
        return file.name, file.path.read_bytes()

    def _name_rules(self, name: str, path: Path, rules: str) -> Path:
        """Note that a module has rules in a file; gives the directory below which the file has its name."""
        known = self._named.get(self._short(name), SourceFile(self._short(name), path))
        self._named[known.name] = replace(known, rules=(*known.rules, rules))
        return path.resolve().parents[len(Path(name).parts) - 1]

    def _found(self, short: str) -> SourceFile | None:
        if short in self._named:
            return self._named[short]
        parts = Path(short).parts
        if parts and "\0" not in short and all(map(_is_shown, parts)):
            for root in self._roots:
                path = (root / short).resolve()
                # A link may lead elsewhere in the same place, and no further.
                if path.is_relative_to(root) and (path.is_file() or path.is_dir()):
                    return SourceFile("/".join(parts), path)
        return None

    @staticmethod
    def _short(name: str) -> str:
        return name.strip("/").removeprefix(f"{REFERENCE_DIRECTORY}/")

    @staticmethod
    def _where(name: str) -> str:
        return f"{REFERENCE_DIRECTORY}/{name}"


def _is_shown(name: str) -> bool:
    return not name.startswith(".") and name != "__pycache__"


def _level(directory: Path, prefix: str) -> list[SourceFile]:
    """The entries of a directory in order; neither what is hidden nor what links lead to."""
    with os.scandir(directory) as found:
        entries = sorted(
            (entry for entry in islice(found, LOOKED_AT_MOST) if _is_shown(entry.name) and not entry.is_symlink()),
            key=lambda entry: entry.name,
        )
    real = [entry for entry in entries if entry.is_dir() or entry.is_file()]
    return [SourceFile(f"{prefix}{entry.name}", Path(entry.path)) for entry in real]


def _below(directory: Path, prefix: str) -> Iterator[SourceFile]:
    pending = _level(directory, prefix) if directory.is_dir() else []
    looked_at = 0
    while pending and looked_at < LOOKED_AT_MOST:
        looked_at += 1
        entry = pending.pop(0)
        yield entry
        if entry.is_directory:
            pending = [*_level(entry.path, f"{entry.name}/"), *pending]
