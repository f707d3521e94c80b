"""Reading, writing and listing files as the agent's sandbox shows them.

Content goes through the sandbox's own file functions, which no link leads out of what is mounted. Every document names
the SHA-256 of what a file holds, and a change may state the one that it expects: then nobody's work is lost to
somebody else's.
"""

from __future__ import annotations

import difflib
import fnmatch
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from itertools import islice
from typing import Any

from harness.agent_sandbox.reference_files import listed, reference_name, source_files
from harness.agent_sandbox.sandbox import AgentSandbox
from harness.agent_sandbox.view import WORKSPACE, FileView
from harness.errors import SessionError
from harness.policy.quota import VARIABLE
from harness.record.bounds import MAX_DEPTH
from harness.record.names import objection_to_new
from harness.support.files import DIRECTORY
from harness.support.text import one_line
from harness.task.contract import COMPILED, PROPOSED_DIRECTORY, REFERENCE_DIRECTORY
from sandboxes import PathMissing, PathRefused, SpaceRefused

MAX_TEXT_BYTES = 8 << 20
MAX_LINES = 2000
MAX_CHARACTERS = 24_000
MAX_ENTRIES = 1000
LOOKED_AT_MOST = 100_000
"""So many entries are looked at for one listing, and so many names of one directory: there may be millions."""
MAX_DIFF = 20_000
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
ABSENT = "absent"
"""The `expected_sha256` of a file that must not be there yet."""


def read_file(
    agent_sandbox: FileView,
    path: str,
    *,
    offset_line: int = 1,
    max_lines: int = MAX_LINES,
    max_characters: int = MAX_CHARACTERS,
) -> dict[str, Any]:
    """Lines of a text file from line `offset_line` (counted from 1); for any other file its size and digest.

    Args:
        path: of the workspace, or of the reference (`reference_name`).

    Raises:
        SessionError: there is no such file, or it may not be read; LockstepError: so it is in the reference, whose
            environment is built when it is first needed (SetupError: it cannot be).
    """
    if offset_line < 1 or max_lines < 1 or max_characters < 1:
        raise SessionError("a number of lines or characters is not positive", expected="1 or more")
    named = reference_name(agent_sandbox, path) if isinstance(agent_sandbox, AgentSandbox) else None
    if named is None or not isinstance(agent_sandbox, AgentSandbox):
        target = agent_sandbox.target(path)
        shown_as, data = agent_sandbox.shown(target), _read(agent_sandbox, target)
    else:
        found, data = source_files(agent_sandbox, named).read(named)
        shown_as = f"{REFERENCE_DIRECTORY}/{found}"
    document = {"path": shown_as, "sha256": sha256(data).hexdigest(), "bytes": len(data)}
    text = _text(data)
    if text is None:
        return document | {"binary": True, "text": "", "first_line": 0, "lines": 0, "total_lines": 0, "truncated": True}
    lines = _LINE.findall(text)
    chosen: list[str] = []
    room = max_characters
    for line in islice(lines, offset_line - 1, offset_line - 1 + max_lines):
        if len(line) > room:
            # A line that is longer than all that may be shown would otherwise never be seen.
            chosen += [line[:room]] if not chosen else []
            break
        chosen.append(line)
        room -= len(line)
    shown = "".join(chosen)
    return document | {
        "binary": False,
        "text": shown,
        "first_line": offset_line,
        "lines": len(chosen),
        "total_lines": len(lines),
        "truncated": offset_line > 1 or shown != text,
    }


def write_file(agent_sandbox: FileView, path: str, text: str, *, expected_sha256: str | None = None) -> dict[str, Any]:
    """Replace or create a file of `candidate/` or `proposed/` (or /tmp).

    Raises:
        SessionError: it may not be written, or does not hold what was expected.
    """
    target = _writable(agent_sandbox, path)
    data = _encoded(text, target)
    before = _existing(agent_sandbox, target)
    _expect(agent_sandbox.shown(target), before, expected_sha256)
    _write(agent_sandbox, target, data)
    return {
        "path": agent_sandbox.shown(target),
        "sha256": sha256(data).hexdigest(),
        "bytes": len(data),
        "created": before is None,
    }


def edit_file(
    agent_sandbox: FileView, path: str, old: str, new: str, *, expected_sha256: str | None = None, all: bool = False
) -> dict[str, Any]:
    """Replace a text that stands exactly once in a file, or with `all` wherever it stands.

    Raises:
        SessionError: as `write_file`, or `old` does not stand there, or more than once.
    """
    target = _writable(agent_sandbox, path)
    shown = agent_sandbox.shown(target)
    before = _read(agent_sandbox, target)
    _expect(shown, before, expected_sha256)
    text = _text(before)
    if text is None:
        raise SessionError(f"{shown} is not text", expected="a file in UTF-8")
    if not old or old == new:
        raise SessionError(
            f"nothing would change in {shown}", expected="`old` that is not empty and differs from `new`"
        )
    count = text.count(old)
    if count == 0:
        raise SessionError(
            f"`old` does not stand in {shown}",
            expected="the text exactly as it is there, with its spaces",
            next_step=f"read {shown} again{_nearest(text, old)}",
        )
    if count > 1 and not all:
        raise SessionError(
            f"`old` stands {count} times in {shown}",
            expected="a text that stands there once",
            next_step="take more of the lines around it, or replace `all`",
        )
    edited = text.replace(old, new)
    data = _encoded(edited, target)
    _write(agent_sandbox, target, data)
    diff = "".join(
        line if line.endswith("\n") else f"{line}\n"
        for line in difflib.unified_diff(text.splitlines(True), edited.splitlines(True), shown, shown)
    )
    return {
        "path": shown,
        "sha256": sha256(data).hexdigest(),
        "bytes": len(data),
        "replacements": count,
        "diff": diff if len(diff) <= MAX_DIFF else f"{diff[:MAX_DIFF]}\n[cut: {len(diff)} characters]\n",
    }


def list_files(agent_sandbox: FileView, path: str = ".", *, pattern: str = "") -> dict[str, Any]:
    """What lies below a directory of the workspace, by path; links are named and not followed.

    A name is shown by `harness.support.text`, and an entry that the workspace could not be recorded with says why
    (`objection`). `count` is how many entries there are, as far as they were looked at.

    Args:
        pattern: only entries whose path, or whose name, fits it (`*.py`).

    Raises:
        SessionError: there is no such directory; LockstepError: there is none in the reference.
    """
    if isinstance(agent_sandbox, AgentSandbox) and (named := reference_name(agent_sandbox, path)) is not None:
        shown, found = f"{REFERENCE_DIRECTORY}/{named}", listed(agent_sandbox, named)
    else:
        shown, found = _of_workspace(agent_sandbox, path)
    entries: list[dict[str, Any]] = []
    count = looked_at = 0
    for entry in islice(found, LOOKED_AT_MOST):
        looked_at += 1
        if pattern and not any(
            fnmatch.fnmatchcase(text, pattern) for text in (entry["path"], entry["path"].split("/")[-1])
        ):
            continue
        count += 1
        if count <= MAX_ENTRIES:
            entries.append(entry)
    truncated = count > MAX_ENTRIES or looked_at == LOOKED_AT_MOST
    return {"path": shown, "entries": entries, "count": count, "truncated": truncated}


def _of_workspace(agent_sandbox: FileView, path: str) -> tuple[str, Iterator[dict[str, Any]]]:
    """A directory of the workspace as documents name it, and its entries."""
    target = agent_sandbox.target(path)
    if target != WORKSPACE and not target.startswith(f"{WORKSPACE}/"):
        raise SessionError(
            f"{path!r} is outside the workspace",
            expected="a directory of the workspace",
            next_step="use run_command: ls",
        )
    names = [name for name in target.split("/")[2:] if name]
    return agent_sandbox.shown(target), _entries(agent_sandbox, names, path)


def _entries(agent_sandbox: FileView, names: list[str], asked: str) -> Iterator[dict[str, Any]]:
    agent_sandbox.prepare()
    roots = agent_sandbox.roots()
    if not names:
        for name in sorted(roots):
            source = roots[name].source
            if not os.path.lexists(source):
                continue
            kind = "directory" if source.is_dir() else "file"
            yield _entry(name, kind, source.stat().st_size, roots[name].writable)
            if kind == "directory":
                yield from _below(os.open(source, DIRECTORY), name, roots[name].writable)
        return
    root = roots.get(names[0])
    if root is None:
        raise SessionError(f"there is no {asked!r} in the workspace", expected=f"one of {', '.join(sorted(roots))}")
    try:
        descriptor = os.open(root.source, DIRECTORY)
        for name in names[1:]:
            above = descriptor
            try:
                descriptor = os.open(name, DIRECTORY, dir_fd=above)
            finally:
                os.close(above)
    except OSError as error:
        raise SessionError(
            f"{asked!r} cannot be listed: {error.strerror}", expected="a directory, reached by no link"
        ) from error
    yield from _below(descriptor, "/".join(names), root.writable)


def _below(directory: int, prefix: str, writable: bool) -> Iterator[dict[str, Any]]:
    """Everything below an open directory, which is closed at the end. No link is ever followed.

    Neither calls of Python's nor descriptors are used up by depth: directories that lie deeper than any that is recorded
    are named and not entered.
    """
    open_ones: list[tuple[int, str, list[str]]] = [(directory, prefix, [])]
    try:
        yield from _level(open_ones[-1], writable)
        while open_ones:
            above, path, pending = open_ones[-1]
            if not pending:
                os.close(open_ones.pop()[0])
            elif path.count("/") < MAX_DEPTH:
                name = pending.pop()
                with suppress(OSError):  # removed meanwhile, or not to be read
                    open_ones.append((os.open(name, DIRECTORY, dir_fd=above), f"{path}/{name}", []))
                    yield from _level(open_ones[-1], writable)
            else:
                pending.clear()
    finally:
        for descriptor, _, _ in open_ones:
            os.close(descriptor)


def _level(opened: tuple[int, str, list[str]], writable: bool) -> Iterator[dict[str, Any]]:
    """The entries of one open directory; the names of directories in it are kept with it, the last of them first."""
    descriptor, above, pending = opened
    with os.scandir(descriptor) as found:
        names = sorted(entry.name for entry in islice(found, LOOKED_AT_MOST))
    for name in names:
        with suppress(OSError):
            status = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
            kind = _KINDS.get(status.st_mode & 0o170000, "other")
            if kind == "directory":
                if name == COMPILED:
                    continue
                pending.append(name)
            yield _entry(f"{above}/{name}", kind, status.st_size, writable)
    pending.reverse()


_KINDS = {0o040000: "directory", 0o100000: "file", 0o120000: "link"}


def _entry(path: str, kind: str, size: int, writable: bool) -> dict[str, Any]:
    depth, name = path.count("/"), path.rpartition("/")[2]
    reason = objection_to_new(name) or (f"lies more than {MAX_DEPTH} directories deep" if depth > MAX_DEPTH else "")
    about = {"kind": kind, "bytes": size if kind == "file" else 0, "writable": writable, "objection": reason}
    return {"path": one_line(path)} | about


def _read(agent_sandbox: FileView, target: str) -> bytes:
    try:
        return agent_sandbox.read(target)
    except PathMissing:
        raise SessionError(
            f"there is no file {agent_sandbox.shown(target)}", next_step="list_files shows what is there"
        ) from None
    except PathRefused as error:
        raise SessionError(
            f"{agent_sandbox.shown(target)} cannot be read: {_reason(error)}",
            expected="a file of the workspace, or of /tmp",
        ) from error


def _existing(agent_sandbox: FileView, target: str) -> bytes | None:
    try:
        return agent_sandbox.read(target)
    except PathMissing:
        return None
    except PathRefused as error:
        raise _unwritable(agent_sandbox, target, _reason(error)) from error


def _write(agent_sandbox: FileView, target: str, data: bytes) -> None:
    try:
        agent_sandbox.write(target, data)
    except SpaceRefused as error:
        raise SessionError(
            f"{agent_sandbox.shown(target)} cannot be written: {_reason(error)}",
            expected=f"room on the disk, of which a person allows a session so much ({VARIABLE})",
            next_step="remove what the candidate does not need: run_command can still remove files",
        ) from error
    except PathRefused as error:
        raise _unwritable(agent_sandbox, target, _reason(error)) from error
    except OSError as error:
        raise SessionError(f"{agent_sandbox.shown(target)} cannot be written: {error.strerror}") from error


def _writable(agent_sandbox: FileView, path: str) -> str:
    """The target of a path that is to be written; what a snapshot could not take is refused now, and not later."""
    target = agent_sandbox.target(path)
    for name in target.split("/")[1:]:
        if reason := objection_to_new(name):
            raise SessionError(f"{path!r} {reason}, so the workspace could not be recorded", expected="another name")
    inside = target.removeprefix(f"{WORKSPACE}/").split("/")
    if target.startswith(f"{WORKSPACE}/") and not agent_sandbox.roots()[inside[0]].writable:
        raise _unwritable(agent_sandbox, target, "it belongs to the verifier")
    return target


def _unwritable(agent_sandbox: FileView, target: str, reason: str) -> SessionError:
    roots = agent_sandbox.roots()
    writable = [name if root.source.is_file() else f"{name}/" for name, root in roots.items() if root.writable]
    return SessionError(
        f"{agent_sandbox.shown(target)} cannot be written: {reason}",
        expected=f"a file in {' or '.join(writable)}",
        next_step="put ideas for tests or tolerances into proposed/" if PROPOSED_DIRECTORY in roots else "",
    )


def _reason(error: Exception) -> str:
    """What a sandbox says of a path, without the path as only the sandbox knows it."""
    return str(error).split(": ", 1)[-1]


def _expect(shown: str, before: bytes | None, expected: str | None) -> None:
    if expected is None:
        return
    current = ABSENT if before is None else sha256(before).hexdigest()
    if current != expected.lower():
        raise SessionError(
            f"{shown} is not what was expected: its SHA-256 is {current}",
            expected=expected,
            next_step="somebody has changed it meanwhile: read it again, then repeat the change on what is there",
        )


def _encoded(text: str, target: str) -> bytes:
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        raise SessionError(f"the text for {target} is not Unicode text: {error.reason}") from error
    if len(data) > MAX_TEXT_BYTES:
        raise SessionError(f"the text for {target} has {len(data)} bytes", expected=f"at most {MAX_TEXT_BYTES}")
    return data


def _text(data: bytes) -> str | None:
    """The content of a text file; None for any other."""
    try:
        return None if b"\0" in data else data.decode()
    except UnicodeDecodeError:
        return None


def _nearest(text: str, old: str) -> str:
    """Where the first line of a text that was not found stands, as a help."""
    wanted = next((line.strip() for line in old.splitlines() if line.strip()), "")
    numbers = [number for number, line in enumerate(text.splitlines(), 1) if wanted and wanted in line]
    return f"; its first line stands at line {', '.join(map(str, numbers[:5]))}" if numbers else ""
