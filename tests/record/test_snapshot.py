"""From a workspace to a tree and back: everything plain is taken exactly, everything else is refused by name."""

from __future__ import annotations

import os
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness.errors import RecordError, SessionError, TrustedFileChanged
from harness.record import snapshot as module
from harness.record.export import check_out, discard, export, exported
from harness.record.objects import EXECUTABLE, FILE, Entry
from harness.record.snapshot import (
    directory_hash,
    refuse_changes,
    snapshot,
    task_digest,
    trusted_changes,
    trusted_part,
)
from harness.record.store import Store
from harness.support.files import write_below, write_durably
from harness.task.contract import Candidate, Reference, Task

NOBODY = 65534


def refusal(workspace: Path, store: Store) -> str:
    with pytest.raises(SessionError) as caught:
        snapshot(workspace, store)
    return caught.value.what


def test_every_plain_file_is_taken_with_its_bytes_and_exec_bit(store: Store, workspace: Path) -> None:
    (workspace / "candidate" / "run").write_bytes(b"\0\r\n\xff")
    (workspace / "candidate" / "run").chmod(0o755)
    taken = snapshot(workspace, store)
    assert set(taken.files) == {"candidate/env.py", "candidate/run", "task.toml"}
    assert taken.files["candidate/run"].mode == EXECUTABLE
    assert store.blob(taken.files["candidate/run"].id) == b"\0\r\n\xff"
    assert store.files(taken.tree) == taken.files


def test_ignore_files_and_attributes_mean_nothing(store: Store, workspace: Path) -> None:
    (workspace / "candidate" / ".gitignore").write_text("*\n")
    (workspace / "candidate" / ".gitattributes").write_text("* text eol=crlf export-ignore filter=evil ident\n")
    (workspace / "candidate" / "env.py").write_text("# $Id$\nx = 1\n")
    taken = snapshot(workspace, store)
    assert set(taken.files) >= {"candidate/.gitignore", "candidate/.gitattributes", "candidate/env.py"}
    assert store.blob(taken.files["candidate/env.py"].id) == b"# $Id$\nx = 1\n"


def test_caches_and_hidden_entries_at_the_top_are_left_out(store: Store, workspace: Path) -> None:
    before = snapshot(workspace, store)
    for left_out in ("candidate/__pycache__/env.pyc", ".venv/lib/x.py", ".settings/local.json", ".mcp.json"):
        (workspace / left_out).parent.mkdir(parents=True, exist_ok=True)
        (workspace / left_out).write_text("x")
    (workspace / ".venv" / "link").symlink_to("/")
    assert snapshot(workspace, store) == before


def test_links_are_refused_whether_or_not_they_leave_the_tree(store: Store, workspace: Path) -> None:
    (workspace / "candidate" / "out").symlink_to("/etc/passwd")
    (workspace / "candidate" / "inside").symlink_to("env.py")
    (workspace / "linked").symlink_to("candidate")
    said = refusal(workspace, store)
    for name in ("'candidate/out'", "'candidate/inside'", "'linked'"):
        assert f"{name} is a symbolic link" in said


def test_fifos_sockets_and_device_nodes_are_refused(
    store: Store, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(workspace / "candidate" / "fifo")
    monkeypatch.chdir(workspace / "candidate")  # a socket's path is limited to about a hundred bytes
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket")
        said = refusal(workspace, store)
    assert "'candidate/fifo' is a FIFO" in said
    assert "'candidate/socket' is a socket" in said


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make device nodes")
def test_device_nodes_are_refused(store: Store, workspace: Path) -> None:
    os.mknod(workspace / "candidate" / "null", 0o600 | 0o020000, os.makedev(1, 3))
    assert "'candidate/null' is a device node" in refusal(workspace, store)


@pytest.mark.parametrize(
    "name",
    ["a\nb", "a\x07", "a\x7fb", ".git", ".GIT", ".git.", "git~1", ".g\u200cit", "right\u202eto-left", "a\\b", "\udcff"],
)
def test_names_that_git_or_a_reader_could_take_for_others_are_refused(store: Store, workspace: Path, name: str) -> None:
    (workspace / "candidate" / "deeper").mkdir()
    (workspace / "candidate" / "deeper" / name).write_text("x")
    assert "'candidate/deeper/" in refusal(workspace, store)


def test_a_git_directory_at_the_top_is_refused_except_in_a_task_that_is_a_checkout(
    store: Store, workspace: Path
) -> None:
    before = snapshot(workspace, store)
    (workspace / ".git" / "hooks").mkdir(parents=True)
    assert "'.git' is named like a git directory" in refusal(workspace, store)
    assert snapshot(workspace, store, may_be_checkout=True) == before


def test_everything_refused_is_reported_at_once(store: Store, workspace: Path) -> None:
    (workspace / "one").symlink_to("x")
    (workspace / "candidate" / ".git").write_text("x")
    os.mkfifo(workspace / "two")
    said = refusal(workspace, store)
    assert said.count("'") == 6


def test_a_file_that_is_too_large_is_refused_by_name(
    store: Store, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_FILE_BYTES", 10)
    (workspace / "candidate" / "big").write_bytes(b"x" * 11)
    assert "'candidate/big' is larger than" in refusal(workspace, store)


def test_too_many_files_and_too_many_bytes_are_refused(
    store: Store, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_FILES", 1)
    assert "more than 1 files" in refusal(workspace, store)
    monkeypatch.setattr(module, "MAX_FILES", 10)
    monkeypatch.setattr(module, "MAX_TOTAL_BYTES", 12)
    assert "MiB of files" in refusal(workspace, store)


def test_a_tree_nested_without_end_is_refused(store: Store, workspace: Path) -> None:
    (workspace / "candidate" / "/".join(["d"] * 80)).mkdir(parents=True)
    assert "directories deep" in refusal(workspace, store)


def test_a_workspace_that_is_gone_is_named(store: Store, tmp_path: Path) -> None:
    assert "cannot be read" in refusal(tmp_path / "nowhere", store)


def test_changes_deletions_and_additions_of_trusted_files_are_each_named(store: Store, workspace: Path) -> None:
    (workspace / "properties.py").write_text("a = 1\n")
    (workspace / "cases").mkdir()
    (workspace / "cases" / "one.json").write_text("{}")
    trusted = trusted_part(snapshot(workspace, store).files)
    assert not trusted_changes(snapshot(workspace, store).files, trusted)

    (workspace / "task.toml").write_text('name = "easier"\n')
    (workspace / "cases" / "one.json").unlink()
    (workspace / "conftest.py").write_text("")
    (workspace / "properties.py").chmod(0o755)
    (workspace / "candidate" / "env.py").write_text("x = 2\n")
    (workspace / "proposed").mkdir()
    (workspace / "proposed" / "properties.py").write_text("")
    changes = trusted_changes(snapshot(workspace, store).files, trusted)
    assert str(changes) == "changed properties.py, task.toml; deleted cases/one.json; added conftest.py"
    with pytest.raises(TrustedFileChanged, match=r"conftest\.py") as caught:
        refuse_changes(changes, workspace)
    assert "restore" in caught.value.next_step


def test_a_directory_named_like_a_writable_one_is_not_writable(store: Store, workspace: Path) -> None:
    (workspace / "candidate2").mkdir()
    (workspace / "candidate2" / "x").write_text("x")
    (workspace / "reference" / "candidate").mkdir(parents=True)
    (workspace / "reference" / "candidate" / "x").write_text("x")
    assert {"candidate2/x", "reference/candidate/x"} <= set(trusted_part(snapshot(workspace, store).files))


def test_the_digest_of_a_tree_is_what_anyone_computes_with_sha256sum(store: Store, workspace: Path) -> None:
    (workspace / "candidate" / "B.py").write_text("b\n")
    (workspace / "candidate" / "ä b.py").write_text("c\n")
    command = (
        "find . -type f | cut -c3- | LC_ALL=C sort | tr '\\n' '\\0' | xargs -0 sha256sum | sha256sum | cut -f1 -d' '"
    )
    shell = subprocess.run(["sh", "-c", command], cwd=workspace, check=True, capture_output=True, text=True)
    taken = snapshot(workspace, store)
    assert taken.digest == shell.stdout.strip() == directory_hash(store, store.files(taken.tree))


def test_the_task_digest_of_a_snapshot_is_the_task_s_own(store: Store, workspace: Path) -> None:
    (workspace / "cases").mkdir()
    (workspace / "cases" / "one.json").write_text("{}")
    (workspace / "reference").mkdir()
    (workspace / "reference" / "adapter.py").write_text("x = 1\n")
    task = Task("t", "", "translate", workspace, Reference("x"), Candidate("jax", "x"), {}, ())
    assert task_digest(store, trusted_part(snapshot(workspace, store).files)) == task.digest


def test_an_export_is_exact_and_read_only(store: Store, workspace: Path, tmp_path: Path) -> None:
    (workspace / "candidate" / "run").write_bytes(b"\r\n\0")
    (workspace / "candidate" / "run").chmod(0o755)
    (workspace / "candidate" / "a" / "b").mkdir(parents=True)
    (workspace / "candidate" / "a" / "b" / "c").write_text("c")
    taken = snapshot(workspace, store)
    place = tmp_path / "export"
    export(store, taken.tree, place)
    assert snapshot(place, store) == taken
    modes = {path.relative_to(tmp_path).as_posix(): path.stat().st_mode & 0o777 for path in [place, *place.rglob("*")]}
    assert modes == {
        "export": 0o555,
        "export/candidate": 0o555,
        "export/candidate/a": 0o555,
        "export/candidate/a/b": 0o555,
        "export/candidate/a/b/c": 0o444,
        "export/candidate/env.py": 0o444,
        "export/candidate/run": 0o555,
        "export/task.toml": 0o444,
    }
    with pytest.raises(RecordError, match="File exists"):
        export(store, taken.tree, place)
    discard(place)
    assert not place.exists()


def test_an_export_is_removed_when_its_user_fails(store: Store, workspace: Path, tmp_path: Path) -> None:
    tree = snapshot(workspace, store).tree
    with pytest.raises(ZeroDivisionError), exported(store, tree, tmp_path / "export"):
        raise ZeroDivisionError
    assert not (tmp_path / "export").exists()


def test_a_change_after_the_snapshot_does_not_reach_the_export(store: Store, workspace: Path, tmp_path: Path) -> None:
    tree = snapshot(workspace, store).tree
    (workspace / "candidate" / "env.py").write_text("x = 'swapped'\n")
    with exported(store, tree, tmp_path / "export") as place:
        assert (place / "candidate" / "env.py").read_text() == "x = 1\n"


def test_checking_out_replaces_what_was_there(store: Store, tmp_path: Path) -> None:
    place = tmp_path / "task"
    place.mkdir()
    (place / "old").write_text("old")
    check_out(store, {"a/b": Entry(FILE, store.put_file(b"new"))}, place)
    assert [path.relative_to(place).as_posix() for path in place.rglob("*") if path.is_file()] == ["a/b"]
    (place / "a" / "b").write_text("can be written")


def test_writing_below_a_directory_never_follows_a_link(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    root = tmp_path / "root"
    root.mkdir()
    (root / "cases").symlink_to(outside)
    with pytest.raises(RecordError, match="cannot be written"):
        write_below(root, "cases/one.json", b"{}")
    assert not any(outside.iterdir())
    (outside / "file").write_text("kept")
    (root / "link").symlink_to(outside / "file")
    write_below(root, "link", b"new")
    assert (outside / "file").read_text() == "kept"
    assert not (root / "link").is_symlink()


def test_a_durable_write_replaces_a_file_whole_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_durably(path, b"old", 0o600)
    write_durably(path, b"new", 0o640)
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o640
    assert [*tmp_path.iterdir()] == [path]


def test_a_directory_that_can_be_read_and_not_searched_is_refused_by_name(store: Store) -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as made:  # below nothing that only root can search
        workspace = Path(made)
        (workspace / "candidate" / "q").mkdir(parents=True)
        (workspace / "candidate" / "q" / "f").touch()
        with without_privileges(workspace):
            (workspace / "candidate" / "q").chmod(0o444)
            assert "'candidate/q' cannot be read (Permission denied)" in refusal(workspace, store)
            (workspace / "candidate" / "q").chmod(0o755)
            workspace.chmod(0o444)
            assert "the workspace cannot be read: Permission denied" in refusal(workspace, store)
            workspace.chmod(0o755)


@contextmanager
def without_privileges(directory: Path) -> Iterator[None]:
    """As somebody whom permissions bind, who owns a directory."""
    if os.geteuid() != 0:
        yield
        return
    for path in (directory, *directory.rglob("*")):
        os.chown(path, NOBODY, NOBODY)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
