"""The attack: a record that is small to send and huge to read. Its audit ends with the name of a limit, in little memory."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.record.bounds import MAX_EVENTS, MAX_FILE_BYTES, MAX_REFS
from harness.record.log import EVENTS
from tests.paths import ROOT
from tests.session.standin import Agent

MEMORY_BYTES = 256 << 20
AUDIT = """
import resource, sys
from pathlib import Path
import harness.assurance.audit as audits
from harness.errors import LockstepError
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    said = [problem.what for problem in audits.audit(Path(sys.argv[1])).problems]
except LockstepError as error:
    said = [str(error)]
own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
print(max(own, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss) << 10)
print(*said[:20], sep="\\n")
"""


def git(repository: Path, *arguments: str, given: bytes = b"") -> str:
    answer = subprocess.run(["git", "-C", str(repository), *arguments], input=given, capture_output=True, check=True)
    return answer.stdout.decode().strip()


def commit(repository: Path, tree: str, place: str = "workspace") -> None:
    """Put a tree in the place of one that the log's newest event holds, or of the whole event."""
    head = git(repository, "rev-parse", EVENTS)
    if place:
        others = [line for line in git(repository, "ls-tree", head).splitlines() if not line.endswith(f"\t{place}")]
        tree = git(
            repository, "mktree", "--missing", given="\n".join([*others, f"040000 tree {tree}\t{place}\n"]).encode()
        )
    who = ("-c", "user.name=x", "-c", "user.email=x@x")
    made = git(repository, *who, "commit-tree", tree, "-p", f"{head}^", "-m", "1 verdict")
    git(repository, "update-ref", EVENTS, made)


def tree_of(repository: Path, *entries: tuple[str, str, str]) -> str:
    lines = "".join(f"{mode} {'tree' if mode == '040000' else 'blob'} {name}\t{path}\n" for mode, name, path in entries)
    return git(repository, "mktree", "--missing", given=lines.encode())


def blob(repository: Path, size_bytes: int) -> str:
    return git(repository, "hash-object", "-w", "--stdin", given=bytes(size_bytes))


def nested(repository: Path) -> None:
    """Ten names for each directory, ten levels: 10^10 paths from eleven objects."""
    tree = tree_of(repository, ("100644", blob(repository, 1), "file"))
    for _ in range(10):
        tree = tree_of(repository, *(("040000", tree, f"d{number}") for number in range(10)))
    commit(repository, tree)


def wide(repository: Path) -> None:
    """A directory of many files under many names."""
    empty = blob(repository, 0)
    tree = tree_of(repository, *(("100644", empty, f"f{number:05}") for number in range(5000)))
    commit(repository, tree_of(repository, *(("040000", tree, f"d{number}") for number in range(20))))


def deep(repository: Path) -> None:
    tree = tree_of(repository, ("100644", blob(repository, 1), "file"))
    for _ in range(3000):
        tree = tree_of(repository, ("040000", tree, "d"))
    commit(repository, tree)


def large(repository: Path) -> None:
    """An event of zeros, which is small as git stores it."""
    name = blob(repository, 10 * MAX_FILE_BYTES)
    commit(repository, tree_of(repository, ("100644", name, "event.json")), "")


def long(repository: Path) -> None:
    tree = git(repository, "rev-parse", f"{EVENTS}^{{tree}}")
    stream = b"".join(
        b"commit refs/heads/long\ncommitter x <x@x> 1 +0000\ndata 1\nx\nM 040000 %s \n" % tree.encode()
        for _ in range(MAX_EVENTS + 1)
    )
    git(repository, "fast-import", "--quiet", given=stream)
    git(repository, "update-ref", EVENTS, "refs/heads/long")
    git(repository, "update-ref", "-d", "refs/heads/long")


def many(repository: Path) -> None:
    head = git(repository, "rev-parse", EVENTS)
    git(repository, "pack-refs", "--all")
    more = "".join(f"{head} refs/lockstep/more/{number:06}\n" for number in range(MAX_REFS + 1))
    with (repository / "packed-refs").open("a") as file:
        file.write(more)


BOMBS: dict[str, tuple[Callable[[Path], None], str]] = {
    "a tree of ten levels with ten names each": (nested, "too many directories"),
    "a directory of many files under many names": (wide, "too many files"),
    "a deep tree": (deep, "nested more than 64 deep"),
    "a large event": (large, "is too large: more than"),
    "a long log": (long, "the log is too long"),
    "many refs": (many, "too many refs"),
}


def audited(path: Path) -> tuple[int, str]:
    """The memory that an audit took beyond what it began with, or the largest git of it, and what it said."""
    ended = subprocess.run(
        [sys.executable, "-c", AUDIT, str(path)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    memory, _, said = ended.stdout.partition("\n")
    return int(memory), said


@pytest.mark.slow
@pytest.mark.parametrize("bomb", BOMBS)
def test_an_audit_of_a_bomb_ends_with_the_name_of_a_limit(bomb: str, agent: Agent) -> None:
    agent.get_right("start")
    agent.session.verify(message="Start")
    repository = agent.session.directory.repository
    build, named = BOMBS[bomb]
    build(repository)
    memory, said = audited(repository)
    assert named in said
    assert memory < MEMORY_BYTES


@pytest.mark.slow
def test_a_bundle_that_takes_long_to_unpack_for_its_size_is_given_up(agent: Agent, tmp_path: Path) -> None:
    agent.get_right("start")
    agent.session.verify(message="Start")
    repository = agent.session.directory.repository
    zeros = tmp_path / "zeros"
    with zeros.open("wb") as file:
        file.truncate(2 << 30)
    name = git(repository, "-c", "core.bigFileThreshold=1m", "hash-object", "-w", str(zeros))
    commit(repository, tree_of(repository, ("100644", name, "event.json")), "")
    bundle = tmp_path / "session.bundle"
    git(repository, "-c", "core.bigFileThreshold=1m", "bundle", "create", "--quiet", str(bundle), "--all")
    assert bundle.stat().st_size < 50 << 20
    memory, said = audited(bundle)
    assert "git says" in said
    assert memory < MEMORY_BYTES
