"""The git directory: what is written is what git reads, and nothing from outside has a say in it."""

from __future__ import annotations

import os
import subprocess
import zlib
from pathlib import Path

import pytest

from harness.errors import RecordError
from harness.record.objects import EXECUTABLE, FILE, TREE, Commit, Entry, decode_tree, encode_tree, identity
from harness.record.received import opened
from harness.record.store import Store

WHO = identity("A Person <a@example.invalid>", 1_700_000_000)


def git(store: Store, *arguments: str) -> str:
    return subprocess.run(
        ["git", "--git-dir", str(store.path), *arguments], check=True, capture_output=True, text=True
    ).stdout


def commit_on_main(store: Store, text: str = "hello\n") -> str:
    tree = store.put_tree({"a/b.txt": Entry(FILE, store.put_file(text.encode()))})
    commit = store.put_commit(Commit(tree, (), WHO, WHO, "a message\n"))
    store.move_refs({"refs/heads/main": (commit, None)})
    return commit


def test_git_reads_the_objects_that_the_store_writes(store: Store) -> None:
    entries = {
        "a.txt": Entry(FILE, store.put_file(b"one\n")),
        "a/run.sh": Entry(EXECUTABLE, store.put_file(b"#!/bin/sh\n")),
        "a.b/c": Entry(FILE, store.put_file(b"")),
        "a0": Entry(FILE, store.put_file("ü".encode())),
    }
    tree = store.put_tree(entries)
    commit = store.put_commit(Commit(tree, (), WHO, WHO, "a message\n"))
    store.move_refs({"refs/heads/main": (commit, None)})
    assert git(store, "fsck", "--strict", "--full") == ""
    assert git(store, "log", "--format=%an %ae %at %s", "main") == "A Person a@example.invalid 1700000000 a message\n"
    assert git(store, "ls-tree", "-r", "--name-only", "main").split() == ["a.b/c", "a.txt", "a/run.sh", "a0"]
    assert store.files(tree) == entries


def test_a_tree_survives_encoding_and_decoding() -> None:
    entries = {"b": Entry(TREE, "1" * 40), "b.c": Entry(FILE, "2" * 40), "ä": Entry(EXECUTABLE, "3" * 40)}
    assert decode_tree(encode_tree(entries)) == entries


@pytest.mark.parametrize("content", [b"100644 a", b"100644 a\0short", encode_tree({"a": Entry(FILE, "1" * 40)}) * 2])
def test_a_malformed_tree_is_refused(content: bytes) -> None:
    with pytest.raises(RecordError, match="tree object is malformed"):
        decode_tree(content)


def test_a_commit_keeps_its_parents_and_message(store: Store) -> None:
    first = commit_on_main(store)
    commit = Commit(store.put_tree({}), (first, first), WHO, WHO, "several\n\nparagraphs\n")
    assert store.commit(store.put_commit(commit)) == commit


def test_a_ref_moves_only_from_where_it_was_expected(store: Store) -> None:
    first = commit_on_main(store)
    second = store.put_commit(Commit(store.put_tree({}), (first,), WHO, WHO, "second\n"))
    with pytest.raises(RecordError, match="git says"):
        store.move_refs({"refs/heads/main": (second, None)})
    assert store.refs().get("refs/heads/main") == first
    store.move_refs({"refs/heads/main": (second, first)})
    assert store.refs().get("refs/heads/main") == second


def test_a_ref_never_points_at_an_object_that_is_missing(store: Store) -> None:
    with pytest.raises(RecordError, match="nonexistent object"):
        store.move_refs({"refs/heads/main": ("1" * 40, None)})


def test_a_damaged_object_is_named(store: Store) -> None:
    identifier = store.put_file(b"the true content\n")
    path = store.path / "objects" / identifier[:2] / identifier[2:]
    path.chmod(0o644)
    path.write_bytes(zlib.compress(b"blob 17\0a false content!\n"))
    with pytest.raises(RecordError, match=f"the blob {identifier} is (missing or )?damaged"):
        store.blob(identifier)


def test_after_a_damaged_object_others_can_still_be_read(store: Store) -> None:
    good, bad = store.put_file(b"good"), store.put_file(b"bad")
    path = store.path / "objects" / bad[:2] / bad[2:]
    path.chmod(0o644)
    path.write_bytes(b"no zlib at all")
    with pytest.raises(RecordError):
        store.blob(bad)
    assert store.blob(good) == b"good"


def test_an_object_of_another_kind_is_refused(store: Store) -> None:
    with pytest.raises(RecordError, match="damaged or none"):
        store.tree(store.put_file(b"no tree"))


def test_no_configuration_of_the_user_reaches_git(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = tmp_path / "a-hook-ran"
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    (hooks / "reference-transaction").write_text(f"#!/bin/sh\ntouch {ran}\n")
    (hooks / "reference-transaction").chmod(0o755)
    config = tmp_path / "config"
    config.write_text(f"[core]\n\thooksPath = {hooks}\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(tmp_path / "elsewhere"))
    # The planted fault works where the store is not asked: the same hook runs for an ordinary git.
    elsewhere = tmp_path / "plain.git"
    environment = {**os.environ, "GIT_DIR": str(elsewhere)}
    del environment["GIT_OBJECT_DIRECTORY"]
    subprocess.run(["git", "init", "-q", "--bare"], check=True, env=environment)
    subprocess.run(["git", "symbolic-ref", "refs/heads/x", "refs/heads/main"], check=True, env=environment)
    tree = subprocess.run(["git", "mktree"], check=True, env=environment, input=b"", capture_output=True).stdout.strip()
    subprocess.run(["git", "update-ref", "refs/trees/x", tree], check=True, env=environment)
    assert ran.exists()
    ran.unlink()

    (store.path / "hooks").mkdir()
    (store.path / "hooks" / "reference-transaction").write_text(f"#!/bin/sh\ntouch {ran}\n")
    (store.path / "hooks" / "reference-transaction").chmod(0o755)
    commit = commit_on_main(store)
    assert not ran.exists()
    assert store.refs().get("refs/heads/main") == commit


def test_a_replaced_object_is_read_as_it_was(store: Store) -> None:
    first = commit_on_main(store)
    other = store.put_commit(Commit(store.put_tree({}), (), WHO, WHO, "another\n"))
    store.move_refs({f"refs/replace/{first}": (other, None)})
    assert store.commit(first).message == "a message\n"


def test_leftovers_of_a_killed_process_are_removed(store: Store) -> None:
    first = commit_on_main(store)
    for leftover in ("HEAD.lock", "refs/heads/main.lock", "packed-refs.lock", "objects/tmp_obj_x"):
        (store.path / leftover).touch()
    second = store.put_commit(Commit(store.put_tree({}), (first,), WHO, WHO, "second\n"))
    with pytest.raises(RecordError, match=r"main\.lock"):
        store.move_refs({"refs/heads/main": (second, first)})
    store.clear_leftovers()
    store.move_refs({"refs/heads/main": (second, first)})
    assert not [*store.path.rglob("*.lock"), *store.path.rglob("tmp_obj_*")]


def test_objects_can_be_read_and_are_not_written_again_after_packing(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = commit_on_main(store)
    monkeypatch.setattr("harness.record.store.PACK_ABOVE", 0)
    store.pack()
    with Store(store.path) as packed:
        blob = packed.put_file(b"hello\n")
        assert not (store.path / "objects" / blob[:2] / blob[2:]).exists()
        assert packed.blob(blob) == b"hello\n"
        assert packed.refs()["refs/heads/main"] == commit
        assert packed.commit(commit).message == "a message\n"


def test_a_bundle_holds_every_ref(store: Store, tmp_path: Path) -> None:
    commit = commit_on_main(store)
    store.move_refs({"refs/lockstep/x": (commit, None)})
    store.bundle(tmp_path / "x.bundle")
    with opened(tmp_path / "x.bundle") as unpacked:
        assert unpacked.refs() == store.refs()
        assert unpacked.commit(commit) == store.commit(commit)


def test_a_path_without_a_git_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="not a git directory"), opened(tmp_path):
        pass
    (tmp_path / "x.bundle").write_text("no bundle")
    with pytest.raises(RecordError, match="neither a git directory nor a bundle"), opened(tmp_path / "x.bundle"):
        pass
    (tmp_path / "x.bundle").write_text(f"# v2 git bundle\n{'ab' * 20} refs/heads/x\n\nno pack")
    with pytest.raises(RecordError, match="git says"), opened(tmp_path / "x.bundle"):
        pass


@pytest.mark.parametrize(
    ("name", "mode"), [("..", FILE), (".git", FILE), ("a\nb", FILE), ("link", "120000"), ("module", "160000")]
)
def test_a_recorded_tree_with_anything_but_plain_files_is_refused(store: Store, name: str, mode: str) -> None:
    tree = store.put("tree", encode_tree({name: Entry(mode, store.put_file(b"x"))}))
    with pytest.raises(RecordError, match=r"a recorded (file|entry)"):
        store.files(tree)
