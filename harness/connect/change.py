"""Changing a client's settings: planned first, shown, then written at once, and undone exactly.

What a file was before is kept in `<home>/connections/`. So a removal brings it back byte for byte where nobody else has
changed it since; where somebody has, only the entry is taken out.
"""

from __future__ import annotations

import contextlib
import difflib
import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.connect.clients import YAML, Client
from harness.connect.serve import NAME, Server
from harness.connect.settings import Settings
from harness.connect.yaml_lines import YamlSettings
from harness.errors import LockstepError
from harness.support.foreign import json_of
from harness.support.home import lockstep_home

CONNECTIONS = "connections"
MAX_BYTES = 4 << 20
_BOM = "\ufeff"


@dataclass(frozen=True)
class Change:
    """What is to become of one file: its text before and after, None for no file; `original` is what a removal restores."""

    path: Path
    before: str | None
    after: str | None
    original: str | None
    home: Path
    removes: bool
    made: tuple[str, ...] = ()

    @property
    def needed(self) -> bool:
        """Whether anything changes."""
        return self.before != self.after

    @property
    def diff(self) -> str:
        """The change as a unified diff; empty where there is none."""
        lines = difflib.unified_diff(
            (self.before or "").splitlines(keepends=True),
            (self.after or "").splitlines(keepends=True),
            "/dev/null" if self.before is None else str(self.path),
            "/dev/null" if self.after is None else str(self.path),
            n=2,
        )
        return "".join(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in lines)

    def apply(self) -> None:
        """Write the file, or remove it; then note what it was.

        Raises:
            LockstepError: it was changed since it was planned, or cannot be written.
        """
        if not self.needed:
            return
        if _read(self.path) != self.before:
            raise LockstepError(
                "the file was changed in the meantime", where=str(self.path), next_step="repeat the command"
            )
        note = _note(self.home, self.path)
        try:
            if not self.removes:
                # The note first: a process that ends between the two leaves a note that fits no file, which is ignored.
                made = self.made or _missing(self.path.parent)
                _write(note, json.dumps(self._noted(made), indent=1) + "\n", 0o600)
            if self.after is None:
                self.path.unlink()
                for directory in map(Path, reversed(self.made)):
                    with contextlib.suppress(OSError):  # something else lies there by now
                        directory.rmdir()
            else:
                _write(self.path, self.after, None)
            if self.removes:
                note.unlink(missing_ok=True)
        except OSError as error:
            raise LockstepError(
                f"the file cannot be written ({error.strerror})",
                where=str(self.path),
                next_step="give access, then repeat the command",
            ) from error

    def _noted(self, made: tuple[str, ...]) -> dict[str, Any]:
        assert self.after is not None
        return {"path": str(self.path), "original": self.original, "written": _digest(self.after), "made": list(made)}


def plan_connection(client: Client, server: Server, path: Path, home: Path | None = None) -> Change:
    """Write a server into a client's file.

    Raises:
        LockstepError: the file is malformed (the line is named) or cannot be read.
    """
    home, path = home or lockstep_home(), _resolved(path)
    before, noted = _read(path), _noted(home, path)
    bom, text = _split(before or "")
    settings = _settings(client, path, text)
    after = bom + settings.put(client.entry(server))
    if before is not None and after == before:
        return Change(path, before, before, before, home, False)
    original, made = before, ()
    if noted and before is not None and _digest(before) == noted["written"]:
        original, made = noted["original"], tuple(noted["made"])
    elif settings.entry is not None:
        original = bom + settings.without()
    return Change(path, before, after, original, home, False, made)


def plan_removal(client: Client, path: Path, home: Path | None = None) -> Change:
    """Take the server out of a client's file; the file goes too if it came with it and holds nothing else.

    Raises:
        LockstepError: the file is malformed (the line is named) or cannot be read.
    """
    home, path = home or lockstep_home(), _resolved(path)
    before, noted = _read(path), _noted(home, path)
    made = tuple(noted["made"]) if noted else ()
    if before is None:
        return Change(path, None, None, None, home, True)
    if noted and _digest(before) == noted["written"]:
        return Change(path, before, noted["original"], None, home, True, made)
    bom, text = _split(before)
    settings = _settings(client, path, text)
    after: str | None = bom + settings.without()
    if settings.entry is not None and noted and noted["original"] is None:
        rest = _settings(client, path, _split(after or "")[1])
        after = None if rest.empty and not rest.text.strip("{} \t\r\n") else after
    return Change(path, before, after, None, home, True, made)


def _settings(client: Client, path: Path, text: str) -> Settings | YamlSettings:
    if client.form == YAML:
        return YamlSettings(path, text, section=client.section, name=NAME)
    return Settings(path, text, toml=client.toml, section=client.section, name=NAME)


def _resolved(path: Path) -> Path:
    """Where the file really is: a link into somebody's dotfiles stays a link."""
    return path.expanduser().resolve()


def _split(text: str) -> tuple[str, str]:
    return (_BOM, text[1:]) if text.startswith(_BOM) else ("", text)


def _read(path: Path) -> str | None:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise LockstepError(f"the file is larger than {MAX_BYTES >> 20} MiB", where=str(path))
        return path.read_bytes().decode()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise LockstepError(
            f"the file cannot be read ({getattr(error, 'strerror', None) or error})",
            where=str(path),
            expected="a text file in UTF-8",
            next_step="correct that, then repeat the command; nothing was written",
        ) from error


def _write(path: Path, text: str, mode: int | None) -> None:
    """Replace a file at once, keeping its mode where it has one; an OSError leaves the old one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if mode is None:
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o644
    descriptor, temporary = tempfile.mkstemp(prefix=".lockstep-new-", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode())
            os.fchmod(file.fileno(), mode)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def _missing(directory: Path) -> tuple[str, ...]:
    """The directories that writing into this one makes, outermost first."""
    missing = [location for location in (directory, *directory.parents) if not location.exists()]
    return tuple(str(location) for location in reversed(missing))


def _note(home: Path, path: Path) -> Path:
    return home / CONNECTIONS / f"{hashlib.sha256(str(path).encode()).hexdigest()[:16]}.json"


def _noted(home: Path, path: Path) -> Mapping[str, Any] | None:
    try:
        noted = json_of(_note(home, path).read_text(encoding="utf-8"))
        original, written, made = noted["original"], noted["written"], noted["made"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    fits = isinstance(original, str | None) and isinstance(written, str) and isinstance(made, list)
    return noted if fits and all(isinstance(location, str) for location in made) else None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
