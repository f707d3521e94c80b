"""The attack: send a record as a git directory, with settings, hooks and special files in it that git obeys."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.assurance.audit import audit
from harness.errors import RecordError
from tests.session.standin import Agent

SETTINGS = """\
[core]
    repositoryformatversion = 1
    bare = true
    alternateRefsCommand = {program}
    sshCommand = {program}
    gitProxy = {program}
    askPass = {program}
    pager = {program}
    fsmonitor = {program}
    hooksPath = {hooks}
[extensions]
    partialClone = origin
[remote "origin"]
    url = ext::{program}
    promisor = true
    uploadpack = {program}
[uploadpack]
    packObjectsHook = {program}
[filter "x"]
    clean = {program}
    smudge = {program}
[pager]
    cat-file = {program}
[alias]
    cat-file = !{program}
    for-each-ref = !{program}
"""


@pytest.fixture
def sent(agent: Agent) -> Path:
    """The git directory of a session."""
    agent.get_right("start")
    agent.session.verify()
    return agent.session.directory.repository


@pytest.mark.parametrize("missing", [False, True])
def test_what_its_settings_name_is_not_run(missing: bool, sent: Path, tmp_path: Path) -> None:
    """Also where objects are missing, which git would fetch from a promisor."""
    program, hooks = tmp_path / "program", sent / "hooks"
    hooks.mkdir(exist_ok=True)
    for script in (program, *(hooks / name for name in ("reference-transaction", "post-checkout", "pre-auto-gc"))):
        script.write_text(f"#!/bin/sh\ntouch {tmp_path / 'mark'}\n")
        script.chmod(0o755)
    (sent / "config").write_text(SETTINGS.format(program=program, hooks=hooks))
    (sent / "info").mkdir(exist_ok=True)
    (sent / "info" / "attributes").write_text("* filter=x\n")
    if missing:
        lost = sorted(path for path in (sent / "objects").rglob("*") if path.is_file())[:3]
        for path in lost:
            path.unlink()
    assert audit(sent).ok is not missing
    assert not (tmp_path / "mark").exists()


def include(sent: Path, pipe: Path) -> None:
    with (sent / "config").open("a") as settings:
        settings.write(f"[ Include]\n    path = {pipe}\n")


def include_if(sent: Path, pipe: Path) -> None:
    with (sent / "config").open("a") as settings:
        settings.write(f'[includeIf "gitdir:/"]\n    path = {pipe}\n')


def reference(sent: Path, pipe: Path) -> None:
    (sent / "refs" / "heads").mkdir(exist_ok=True)
    os.mkfifo(sent / "refs" / "heads" / "waits")


def link(sent: Path, pipe: Path) -> None:
    (sent / "packed-refs").unlink(missing_ok=True)
    (sent / "packed-refs").symlink_to(pipe)


def stored(sent: Path, pipe: Path) -> None:
    (sent / "objects" / "00").mkdir(exist_ok=True)
    os.mkfifo(sent / "objects" / "00" / ("0" * 38))


def elsewhere(sent: Path, pipe: Path) -> None:
    (pipe.parent / "directory").mkdir()
    (sent / "objects" / "info").rmdir() if (sent / "objects" / "info").exists() else None
    (sent / "objects" / "info").symlink_to(pipe.parent / "directory")


def endless(sent: Path, pipe: Path) -> None:
    with (sent / "config").open("ab") as settings:
        settings.truncate(2 << 20)


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    """A git that opens it waits until somebody writes into it."""
    os.mkfifo(tmp_path / "pipe")
    return tmp_path / "pipe"


@pytest.mark.parametrize("trap", [reference, link, stored, elsewhere])
def test_what_nobody_would_read_to_its_end_is_refused(
    trap: Callable[[Path, Path], None], sent: Path, pipe: Path
) -> None:
    trap(sent, pipe)
    with pytest.raises(RecordError, match="a link, a pipe or a device where git reads"):
        audit(sent)


@pytest.mark.parametrize("trap", [include, include_if, endless])
def test_its_settings_are_not_read(trap: Callable[[Path, Path], None], sent: Path, pipe: Path) -> None:
    trap(sent, pipe)
    assert audit(sent).ok
