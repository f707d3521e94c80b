"""The attack: files with any name that a file system allows, in trees of any depth and width, until somebody crashes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import sandboxes
from harness.agent_sandbox import AgentSandbox, list_files, read_file, write_file
from harness.agent_sandbox.files import MAX_ENTRIES
from harness.errors import SessionError
from harness.record.bounds import MAX_DEPTH
from harness.record.export import discard
from harness.support.text import visible
from harness.task.load import load_task
from sandboxes.removal import remove_tree, scratch_directory
from tests.mcp_server.conftest import Place as Server
from tests.mcp_server.conftest import anyio_backend, begun, call, place, refused
from tests.session.standin import Agent

__all__ = ["anyio_backend", "place"]

UNSEEN = {
    b"not-utf8-\xff": "not-utf8-\\xff",
    b"escape-\x1b]0;title\x07": "escape-\\x1b]0;title\\x07",
    b"new\nline": "new\\nline",
    "right\u202eto-left".encode(): "right\\u202eto-left",
    "zero\u200bwidth".encode(): "zero\\u200bwidth",
    "filler\u3164".encode(): "filler\\u3164",
    "variant\ufe0f".encode(): "variant\\ufe0f",
    "tag\U000e0041".encode(): "tag\\U000e0041",
}
"""Names that a reader would not see as they are, and how they are shown."""
LIKE_GIT = [b".git", b".GIT", b"git~1", b".git.", ".g\u200cit".encode()]
SEEN = [
    b"-rf",
    b"--help",
    b"trailing ",
    b" leading",
    b"CON",
    b"aux.txt",
    b"a:b",
    b"x" * 255,
    "\u00e9".encode(),
    b"$(id)",
]
"""Odd names that are recorded as they are: they are arguments to nobody, and everybody sees them."""
DEEP, WIDE = 1_200, 3 * MAX_ENTRIES
"""Deeper than calls of Python go, and with names of four letters deeper than the longest path of the kernel."""


def nest(top: Path, levels: int, name: str = "deep") -> None:
    """Make directories in directories, far beyond the longest path that the kernel takes."""
    descriptor = os.open(top, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir(name, dir_fd=descriptor)
        below = os.open(name, os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = below
    os.close(descriptor)


@pytest.fixture
def candidate(agent: Agent) -> Iterator[Path]:
    """The candidate of a session; what is left of it no other clean-up could remove."""
    yield agent.session.workspace / "candidate"
    remove_tree(agent.session.workspace)


@pytest.fixture
def files(agent: Agent, candidate: Path) -> Iterator[AgentSandbox]:
    """The agent's view of its workspace."""
    driver = sandboxes.drivers()["process"]
    with AgentSandbox(agent.session, load_task(agent.session.task_directory), driver) as made:
        yield made


def put(directory: Path, name: bytes) -> None:
    (directory / os.fsdecode(name)).write_bytes(b"content")


# In a listing


def test_every_name_is_listed_and_seen(files: AgentSandbox, candidate: Path) -> None:
    for name in [*UNSEEN, *SEEN]:
        put(candidate, name)
    entries = {entry["path"]: entry for entry in list_files(files, "candidate")["entries"]}
    for name in UNSEEN.values():
        assert entries[f"candidate/{name}"]["objection"], name
        assert visible(name) == name
    for name in SEEN:
        assert entries[f"candidate/{os.fsdecode(name)}"]["objection"] == "", name


def test_a_deep_tree_is_listed_as_far_as_anything_is_recorded(files: AgentSandbox, candidate: Path) -> None:
    nest(candidate, DEEP)
    (candidate / "z.txt").write_text("beside it")
    entries = list_files(files, "candidate")["entries"]
    deepest = max(entries, key=lambda entry: entry["path"].count("/"))
    assert deepest["path"].count("/") == MAX_DEPTH + 1
    assert "directories deep" in deepest["objection"]
    assert "candidate/z.txt" in [entry["path"] for entry in entries]


def test_a_wide_tree_is_counted(files: AgentSandbox, candidate: Path) -> None:
    for number in range(WIDE):
        (candidate / f"{number:05}").touch()
    listed = list_files(files, "candidate")
    assert listed["truncated"] and len(listed["entries"]) == MAX_ENTRIES and listed["count"] > WIDE
    chosen = list_files(files, "candidate", pattern="0299*")
    assert not chosen["truncated"] and chosen["count"] == 10


# In calls


@pytest.mark.parametrize("name", ["half\ud800", "a\x1b", "a\nb", ".GIT", "filler\u3164", "e\ufe0f", "x" * 256])
def test_a_file_of_such_a_name_is_not_written(files: AgentSandbox, name: str) -> None:
    with pytest.raises(SessionError):
        write_file(files, f"candidate/{name}", "text")


@pytest.mark.parametrize("name", ["half\ud800", "byte\udcff", "a" * 300, "/".join("a" * 1000)])
def test_reading_what_cannot_be_there_is_refused(files: AgentSandbox, name: str) -> None:
    with pytest.raises(SessionError):
        read_file(files, f"candidate/{name}")
    with pytest.raises(SessionError):
        list_files(files, f"candidate/{name}")


def test_arguments_that_are_no_unicode_can_be_recorded(agent: Agent) -> None:
    event = agent.session.record("run_command", arguments={"command": "ls \udcff \ud800"})
    assert event.arguments["command"] == "ls \udcff \ud800"
    identifier = agent.session.directory.id
    agent.session.close()
    from harness.session.view import SessionView

    with SessionView(identifier, agent.session.directory.path.parent.parent) as view:
        assert view.events[-1].arguments["command"] == r"ls \xff \ud800"


# In a snapshot


@pytest.mark.parametrize("name", [*UNSEEN, *LIKE_GIT])
def test_a_snapshot_names_what_it_refuses(agent: Agent, candidate: Path, name: bytes) -> None:
    put(candidate, name)
    with pytest.raises(SessionError, match="cannot be recorded") as error:
        agent.session.verify()
    assert ascii(visible(str(error.value))).isprintable()
    assert "candidate/" in error.value.what


def test_odd_names_that_can_be_seen_are_recorded(agent: Agent, candidate: Path) -> None:
    for name in SEEN:
        put(candidate, name)
    agent.session.verify()
    assert all(f"candidate/{os.fsdecode(name)}" in agent.verifier.trees[-1] for name in SEEN)


@pytest.mark.parametrize(
    ("one", "other"), [("Env.py", "env.py"), ("e\u0301.py", "\u00e9.py"), ("STRASSE", "stra\u00dfe"), ("a", "a.")]
)
def test_names_that_are_one_file_elsewhere_are_refused(agent: Agent, candidate: Path, one: str, other: str) -> None:
    (candidate / "deep").mkdir()
    for name in (one, other):
        (candidate / "deep" / name).write_text("content")
    with pytest.raises(SessionError, match="is the same name as"):
        agent.session.verify()
    (candidate / "deep" / other).unlink()
    agent.session.verify()  # the check can fail


def test_a_snapshot_of_a_deep_tree_is_refused_by_name(agent: Agent, candidate: Path) -> None:
    nest(candidate, DEEP)
    with pytest.raises(SessionError, match="more than 64 directories deep"):
        agent.session.verify()


@pytest.mark.parametrize("kind", ["files", "directories"])
def test_a_snapshot_of_a_wide_tree_is_refused_early(
    agent: Agent, candidate: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    most = 300
    monkeypatch.setattr("harness.record.snapshot.MAX_FILES", most)
    halves = [candidate / "a", candidate / "b"]
    for half in halves:
        half.mkdir()
    for number in range(most + 1):
        if kind == "files":  # each of which is refused for itself, so that no count of what is taken ever grows
            (halves[0] / str(number)).symlink_to("nowhere")
        else:
            (halves[number % 2] / str(number)).mkdir()
    with pytest.raises(SessionError, match=f"more than {most} {kind}"):
        agent.session.verify()


# Clean-up


@pytest.mark.slow
def test_what_is_deep_or_locked_is_removed(tmp_path: Path) -> None:
    for name, remove in (("exported", discard), ("tree", remove_tree)):
        top = tmp_path / name
        (top / "locked" / "inside").mkdir(parents=True)
        (top / "locked").chmod(0)
        (top / os.fsdecode(b"\xff\n-rf")).touch()
        nest(top, DEEP)
        try:
            remove(top)
            assert not top.exists()
        finally:
            remove_tree(top)  # or no test after this one could clean up


def test_a_scratch_directory_goes_whatever_a_build_made_in_it(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    with scratch_directory("lockstep-test-") as scratch:
        nest(scratch, DEEP)
        (scratch / "link").symlink_to(outside)
    assert not scratch.exists() and outside.is_dir()


# Over the server


@pytest.mark.slow
@pytest.mark.anyio
@pytest.mark.parametrize("over", ["stdio", "http"])
async def test_a_server_lists_and_refuses_and_lives(place: Server, over: str) -> None:
    async with place.connect(over, "auto") as client:
        session = await begun(client)
        candidate = Path((await call(client, "session_status", session=session))["workspace"]) / "candidate"
        try:
            for name in [*UNSEEN, *SEEN]:
                put(candidate, name)
            nest(candidate, DEEP)
            for number in range(WIDE):
                (candidate / f"wide-{number}").touch()
            listed = await call(client, "list_files", session=session, path="candidate", pattern="*-*")
            assert listed["truncated"] and listed["count"] > WIDE
            for pattern, shown in (
                ("not*", "not-utf8-\\xff"),
                ("new*", "new\\nline"),
                ("escape*", UNSEEN[[*UNSEEN][1]]),
            ):
                [entry] = (await call(client, "list_files", session=session, pattern=pattern))["entries"]
                assert entry["path"] == f"candidate/{shown}" and entry["objection"]
            assert "cannot be recorded" in await refused(client, "run_level_tests", session=session)
            for path in ("candidate/half\\ud800", "candidate/" + "d/" * 500, "candidate/\x1b[2J"):
                said = await refused(client, "read_file", session=session, path=path)
                assert visible(said) == said
            ran = await call(
                client, "run_command", session=session, command="ls candidate | head -c 100000; printf '\\377\\033[2J'"
            )
            assert "\\x1b[2J" in ran["stdout"]
            assert (await call(client, "history", session=session))["events"]
        finally:
            remove_tree(candidate)
