"""Files of the agent's sandbox: what it shows can be read, its own part written, and nothing leads out of it."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import pytest

import sandboxes
from harness.agent_sandbox import AgentSandbox, edit_file, list_files, read_file, write_file
from harness.agent_sandbox.files import MAX_ENTRIES, MAX_TEXT_BYTES
from harness.errors import SessionError
from harness.session.session import Session
from harness.task.load import load_task
from sandboxes import PathMissing, PathRefused
from tests.session.standin import factory, make_task

SECRET = "the content of a key\n"


@pytest.fixture(params=["bubblewrap", "process"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[AgentSandbox]:
    """The agent's sandbox of a new session, with a secret beside the workspace."""
    driver = sandboxes.drivers()[request.param]
    if driver.unavailable():
        pytest.skip(f"{driver.name} does not work here")
    (tmp_path / "secret").write_text(SECRET)
    with Session.start(
        make_task(tmp_path / "task"), tmp_path / "workspace", tmp_path / "home", verifier=factory([])
    ) as session:
        (session.workspace / ".settings").write_text(SECRET)
        with AgentSandbox(session, load_task(session.task_directory), driver) as made:
            yield made


def digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


# Reading


def test_lines_are_read_from_anywhere(place: AgentSandbox) -> None:
    write_file(place, "candidate/long.txt", "".join(f"line {n}\n" for n in range(1, 101)))
    read = read_file(place, "candidate/long.txt", offset_line=10, max_lines=2)
    assert (read["text"], read["first_line"], read["lines"], read["total_lines"]) == ("line 10\nline 11\n", 10, 2, 100)
    assert read["truncated"]
    whole = read_file(place, "candidate/long.txt")
    assert not whole["truncated"] and whole["sha256"] == digest(whole["text"])
    assert read_file(place, "candidate/long.txt", offset_line=101)["text"] == ""
    few = read_file(place, "candidate/long.txt", max_characters=20)
    assert few["text"] == "line 1\nline 2\n" and few["truncated"]
    with pytest.raises(SessionError, match="not positive"):
        read_file(place, "candidate/long.txt", offset_line=0)


def test_a_line_longer_than_what_is_shown_is_cut_and_not_hidden(place: AgentSandbox) -> None:
    write_file(place, "candidate/wide.txt", "x" * 1000)
    assert read_file(place, "candidate/wide.txt", max_characters=10)["text"] == "x" * 10


def test_a_file_that_is_no_text_is_reported_by_its_size_and_digest(place: AgentSandbox) -> None:
    for content in (b"\x00\x01", b"\xff\xfe"):
        (place.workspace / "candidate" / "data.bin").write_bytes(content)
        read = read_file(place, "candidate/data.bin")
        assert read["binary"] and read["text"] == "" and read["bytes"] == 2
        assert read["sha256"] == sha256(content).hexdigest()


def test_a_file_has_one_name_whether_it_is_given_from_inside_or_outside(place: AgentSandbox) -> None:
    for path in (
        "candidate/env.py",
        "./candidate//env.py",
        "/workspace/candidate/env.py",
        f"{place.workspace}/candidate/env.py",
    ):
        assert read_file(place, path)["path"] == "candidate/env.py"


def test_the_trusted_files_are_read_and_never_written(place: AgentSandbox) -> None:
    assert read_file(place, "task.toml")["text"].startswith("name")
    for path in ("task.toml", "properties.py", "cases/new.json", "other.txt", "/workspace/task.toml"):
        with pytest.raises(SessionError, match=r"belongs to the verifier|there is no other.txt"):
            write_file(place, path, "x")
    with pytest.raises(SessionError, match="belongs to the verifier"):
        edit_file(place, "task.toml", "walk", "run")
    assert (place.workspace / "task.toml").read_text() == read_file(place, "task.toml")["text"]


def test_the_reference_is_read_but_lies_outside_of_the_sandbox_and_is_never_written(place: AgentSandbox) -> None:
    for path in ("reference/adapter.py", "/workspace/reference/adapter.py", f"{place.workspace}/reference/adapter.py"):
        read = read_file(place, path)
        assert read["text"] == (place.workspace / "reference" / "adapter.py").read_text()
        assert (read["path"], read["sha256"]) == ("reference/adapter.py", digest(read["text"]))
        with pytest.raises(SessionError, match="belongs to the reference") as refused:
            write_file(place, path, "")
        assert f"{place.uri}/reference/adapter.py" in str(refused.value)
    assert not [e for e in list_files(place)["entries"] if e["path"].startswith(("reference", "."))]
    with pytest.raises((PathMissing, PathRefused)):
        place.sandbox.read_file("/workspace/reference/adapter.py")


@pytest.mark.parametrize(
    "path",
    ["../secret", "candidate/../../secret", "/etc/../secret", "", "a\0b", "x" * 5000, ".settings", "/lockstep/x"],
)
def test_a_path_that_leads_out_is_refused(place: AgentSandbox, path: str) -> None:
    with pytest.raises(SessionError):
        read_file(place, path)
    with pytest.raises(SessionError):
        write_file(place, path, "overwritten")
    assert (place.workspace.parent / "secret").read_text() == SECRET
    assert (place.workspace / ".settings").read_text() == SECRET


def test_a_link_leads_nowhere_outside(place: AgentSandbox) -> None:
    candidate, secret = place.workspace / "candidate", place.workspace.parent / "secret"
    (candidate / "link").symlink_to(secret)
    (candidate / "up").symlink_to(place.workspace.parent)
    (candidate / "out").symlink_to("../../secret")
    (candidate / "reference").symlink_to("../reference")
    for path in ("candidate/link", "candidate/up/secret", "candidate/out", "candidate/reference/adapter.py"):
        with suppress(SessionError):
            assert read_file(place, path)["text"] == "overwritten"
        # Inside, a link to the host's /tmp means the sandbox's own, which may be written.
        with suppress(SessionError):
            write_file(place, path, "overwritten")
        with suppress(SessionError):
            edit_file(place, path, "key", "lock")
    assert secret.read_text() == SECRET
    listed = {entry["path"]: entry["kind"] for entry in list_files(place, "candidate")["entries"]}
    assert listed["candidate/up"] == "link" and "candidate/up/secret" not in listed
    with pytest.raises(SessionError, match="reached by no link"):
        list_files(place, "candidate/up")


def test_a_link_within_the_candidate_is_followed(place: AgentSandbox) -> None:
    (place.workspace / "candidate" / "same.py").symlink_to("env.py")
    assert read_file(place, "candidate/same.py")["text"] == "x = 1\n"


def test_pipes_and_directories_are_no_files(place: AgentSandbox) -> None:
    os.mkfifo(place.workspace / "candidate" / "pipe")
    for path in ("candidate/pipe", "candidate"):
        with pytest.raises(SessionError):
            read_file(place, path)
        with pytest.raises(SessionError):
            write_file(place, path, "x")


def test_a_candidate_directory_that_is_a_link_is_not_mounted(place: AgentSandbox) -> None:
    candidate = place.workspace / "candidate"
    candidate.rename(place.workspace.parent / "moved")
    candidate.symlink_to(place.workspace.parent)
    with pytest.raises(SessionError, match="candidate of the workspace is not a directory"):
        read_file(place, "candidate/secret")


def test_a_removed_candidate_directory_is_made_again(place: AgentSandbox) -> None:
    for path in (place.workspace / "candidate").iterdir():
        path.unlink()
    (place.workspace / "candidate").rmdir()
    assert write_file(place, "candidate/deep/new.py", "x")["created"]
    assert (place.workspace / "candidate" / "deep" / "new.py").read_text() == "x"


# Changing


def test_a_change_that_expects_other_content_is_refused_and_names_what_is_there(place: AgentSandbox) -> None:
    first = read_file(place, "candidate/env.py")["sha256"]
    second = write_file(place, "candidate/env.py", "x = 2\n", expected_sha256=first)
    assert not second["created"]
    with pytest.raises(SessionError, match=f"its SHA-256 is {second['sha256']}"):
        write_file(place, "candidate/env.py", "x = 3\n", expected_sha256=first)
    with pytest.raises(SessionError, match=second["sha256"]):
        edit_file(place, "candidate/env.py", "2", "3", expected_sha256=first)
    with pytest.raises(SessionError, match="not what was expected"):
        write_file(place, "candidate/env.py", "x = 3\n", expected_sha256="absent")
    with pytest.raises(SessionError, match="is absent"):
        write_file(place, "candidate/new.py", "x", expected_sha256=first)
    assert write_file(place, "candidate/new.py", "x", expected_sha256="absent")["created"]
    assert (place.workspace / "candidate" / "env.py").read_text() == "x = 2\n"


def test_an_edit_replaces_what_stands_there_once(place: AgentSandbox) -> None:
    write_file(place, "candidate/two.py", "a = 1\r\nb = 1\n")
    done = edit_file(place, "candidate/two.py", "a = 1", "a = 2")
    assert done["replacements"] == 1 and "-a = 1" in done["diff"] and "+a = 2" in done["diff"]
    assert (place.workspace / "candidate" / "two.py").read_bytes() == b"a = 2\r\nb = 1\n"
    with pytest.raises(SessionError, match="stands 2 times"):
        edit_file(place, "candidate/two.py", " = ", " == ")
    assert edit_file(place, "candidate/two.py", " = ", " == ", all=True)["replacements"] == 2
    with pytest.raises(SessionError, match="does not stand in") as missed:
        edit_file(place, "candidate/two.py", "b == 1\nc == 2", "x")
    assert "its first line stands at line 2" in missed.value.next_step
    for old, new in (("", "x"), ("a", "a")):
        with pytest.raises(SessionError, match="nothing would change"):
            edit_file(place, "candidate/two.py", old, new)
    (place.workspace / "candidate" / "data.bin").write_bytes(b"\xff\x00")
    with pytest.raises(SessionError, match="is not text"):
        edit_file(place, "candidate/data.bin", "a", "b")


@pytest.mark.parametrize("name", [".git", ".GIT", "a\\b", "tab\t", "\u202eright"])
def test_a_name_that_no_record_could_hold_is_refused_before_it_is_written(place: AgentSandbox, name: str) -> None:
    with pytest.raises(SessionError, match="could not be recorded"):
        write_file(place, f"candidate/{name}/config", "x")


def test_a_huge_text_is_refused(place: AgentSandbox) -> None:
    with pytest.raises(SessionError, match="at most"):
        write_file(place, "candidate/huge.txt", "x" * (MAX_TEXT_BYTES + 1))
    with pytest.raises(SessionError, match="not Unicode text"):
        write_file(place, "candidate/odd.txt", "\ud800")


def test_of_edits_at_once_that_expect_the_same_content_one_wins(place: AgentSandbox) -> None:
    # The host makes changes one after another; what is tested here is that the loser is reported, and loses nothing.
    expected, one_at_a_time = read_file(place, "candidate/env.py")["sha256"], threading.Lock()
    won, lost = [], []

    def change(number: int) -> None:
        with one_at_a_time:
            try:
                won.append(write_file(place, "candidate/env.py", f"x = {number}\n", expected_sha256=expected)["sha256"])
            except SessionError as error:
                lost.append(error)

    writers = [threading.Thread(target=change, args=(number,)) for number in range(10, 16)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert len(won) == 1 and len(lost) == 5
    assert read_file(place, "candidate/env.py")["sha256"] == won[0]


# Listing


def test_a_listing_is_filtered_and_bounded(place: AgentSandbox) -> None:
    for number in range(MAX_ENTRIES):
        (place.workspace / "candidate" / f"{number}.txt").touch()
    (place.workspace / "candidate" / "__pycache__").mkdir()
    everything = list_files(place)
    assert everything["truncated"] and len(everything["entries"]) == MAX_ENTRIES
    assert [e["path"] for e in list_files(place, pattern="*.py")["entries"]] == ["candidate/env.py", "properties.py"]
    assert [e["path"] for e in list_files(place, "candidate", pattern="77.*")["entries"]] == ["candidate/77.txt"]
    assert {e["path"]: e["writable"] for e in list_files(place, pattern="*.toml")["entries"]} == {"task.toml": False}
    for path in ("nothing", "candidate/nothing", "/etc", "candidate/env.py"):
        with pytest.raises(SessionError):
            list_files(place, path)
