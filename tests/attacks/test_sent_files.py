"""The attack: a git directory or a bundle that makes its reader wait, write, fetch, or read something else."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.record.log import EVENTS, MAIN
from tests.paths import ROOT
from tests.session.standin import Agent

WAITS_S = 60
AUDIT = """
import sys
from pathlib import Path
from harness.assurance.audit import audit
from harness.errors import LockstepError
try:
    report = audit(Path(sys.argv[1]))
except LockstepError as error:
    print(error)
else:
    print("holds" if report.ok else [problem.what for problem in report.problems])
"""


def audited(path: Path) -> str:
    """What an audit says of a path, in a process of its own that must end and write nothing."""
    before = contents(path)
    ended = subprocess.run(
        [sys.executable, "-c", AUDIT, str(path)],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=WAITS_S,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    assert contents(path) == before
    return ended.stdout


def contents(path: Path) -> dict[Path, bytes | None]:
    return {each: each.read_bytes() if each.is_file() else None for each in sorted(path.rglob("*"))}


@pytest.fixture
def record(agent: Agent, tmp_path: Path) -> Path:
    """A git directory of a session, as somebody may send it."""
    agent.get_right("start")
    agent.session.verify(message="Start")
    return Path(shutil.copytree(agent.session.directory.repository, tmp_path / "sent.git"))


@pytest.fixture
def bundle(record: Path, tmp_path: Path) -> Path:
    file = tmp_path / "sent.bundle"
    subprocess.run(["git", "-C", record, "bundle", "create", "--quiet", file, "--all"], check=True)
    return file


def pipe(place: Path) -> None:
    place.unlink(missing_ok=True)
    subprocess.run(["mkfifo", place], check=True)


def pipe_as_a_ref(record: Path) -> None:
    pipe(record / "refs" / "heads" / "other")


def pipe_as_packed_refs(record: Path) -> None:
    pipe(record / "packed-refs")


def link_out_of_the_record(record: Path) -> None:
    (record / "refs" / "heads" / "other").symlink_to("/proc/version")


def objects_elsewhere(record: Path) -> None:
    shutil.move(record / "objects", record.parent / "elsewhere")
    (record / "objects" / "info").mkdir(parents=True)
    (record / "objects" / "info" / "alternates").write_text(f"{record.parent / 'elsewhere'}\n")


REFUSED: dict[str, tuple[Callable[[Path], None], str]] = {
    "a pipe as a ref": (pipe_as_a_ref, "a link, a pipe or a device"),
    "a pipe as packed refs": (pipe_as_packed_refs, "a link, a pipe or a device"),
    "a link out of the record": (link_out_of_the_record, "a link, a pipe or a device"),
    "objects that lie elsewhere": (objects_elsewhere, "has its objects elsewhere"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_no_record_holds_is_refused_by_name(what: str, record: Path) -> None:
    plant, named = REFUSED[what]
    plant(record)
    assert named in audited(record)


def test_settings_of_a_record_are_not_read(record: Path) -> None:
    """They include a pipe that nobody writes."""
    pipe(record / "never")
    with (record / "config").open("a") as file:
        file.write("[include]\n\tpath = never\n")
    assert audited(record) == "holds\n"


def test_nothing_that_a_record_lacks_is_fetched(record: Path) -> None:
    """The settings of a partial clone let git fetch what is missing, with a program that they name."""
    head = subprocess.run(["git", "-C", record, "rev-parse", EVENTS], capture_output=True, text=True, check=True)
    (record / "objects" / head.stdout[:2] / head.stdout[2:].strip()).unlink()
    (record / "config").write_text(
        "[core]\n\trepositoryFormatVersion = 0\n\tbare = true\n[extensions]\n\tpartialClone = x\n"
        '[remote "x"]\n\turl = /nowhere\n\tuploadpack = false\n\tpromisor = true\n'
    )
    assert "cannot be followed to its start" in audited(record)


def test_a_bundle_with_a_name_of_many_parts_is_refused(record: Path, bundle: Path) -> None:
    """Its directories were deeper than Python removes, so that all of it stayed on the disk."""
    name = "refs/heads/" + "y/" * 1500 + "y"
    first, rest = bundle.read_bytes().split(b"\n", 1)
    head = subprocess.run(["git", "-C", record, "rev-parse", MAIN], capture_output=True, text=True, check=True)
    bundle.write_bytes(first + f"\n{head.stdout.strip()} {name}\n".encode() + rest)
    assert "too long a name" in audited(bundle)


def test_a_file_that_points_to_a_directory_is_no_bundle(record: Path, tmp_path: Path) -> None:
    """Git takes such a file for the directory, wherever that is: also one of its reader's."""
    file = tmp_path / "some.bundle"
    file.write_text(f"gitdir: {record}\n")
    assert "neither a git directory nor a bundle" in audited(file)
