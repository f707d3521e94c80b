"""Mounts, permissions, and the files that the harness reads and writes for a command."""

from __future__ import annotations

import contextlib
import os
import socket
from dataclasses import replace
from pathlib import Path

import pytest
from bench import ROOMY, WORK, Bench, behaviour, isolating, python, said

from sandboxes import Limits, Mount, PathMissing, PathRefused, SpecRefused

LITTER = """
import os
os.chdir(os.environ["HOME"])
os.mkdir("locked")
open("locked/file", "w").close()
os.chmod("locked", 0)
for _ in range(1200):
    os.mkdir("deep")
    os.chdir("deep")
"""


@behaviour
def files_pass_both_ways_through_a_writable_mount(bench: Bench) -> None:
    (bench.work / "in").write_bytes(b"from outside\n")
    with bench.open() as sandbox:
        assert sandbox.run(["sh", "-c", "cat in > out"]).exit_code == 0
    assert (bench.work / "out").read_bytes() == b"from outside\n"


@behaviour
def what_a_command_writes_belongs_to_the_person_outside(bench: Bench) -> None:
    with bench.open() as sandbox:
        assert sandbox.run(["sh", "-c", "mkdir d; echo 1 > d/f"]).exit_code == 0
    written = bench.work / "d" / "f"
    assert (written.stat().st_uid, written.stat().st_gid) == (os.getuid(), os.getgid())
    written.write_text("2")
    written.unlink()


@behaviour
def the_executable_bit_is_kept_both_ways(bench: Bench) -> None:
    script = bench.work / "script"
    script.write_text("#!/bin/sh\necho ran\n")
    script.chmod(0o755)
    with bench.open() as sandbox:
        assert sandbox.run(["./script"]).stdout == b"ran\n"
        assert sandbox.run(["sh", "-c", "cp script copy && chmod 750 copy"]).exit_code == 0
    assert (bench.work / "copy").stat().st_mode & 0o777 == 0o750


@behaviour
def names_with_spaces_and_unicode_can_be_mounted_and_used(bench: Bench) -> None:
    source = bench.directory / "ein Ordner 🎲"
    source.mkdir()
    (source / "eine Datei").write_text("content")
    with bench.open(mounts=[Mount(source, "/mit Leerzeichen ü")]) as sandbox:
        path = sandbox.inside("/mit Leerzeichen ü/eine Datei")
        assert sandbox.run(["cat", path]).stdout == b"content"
        assert sandbox.read_file("/mit Leerzeichen ü/eine Datei") == b"content"


@behaviour
def a_single_file_can_be_mounted(bench: Bench) -> None:
    (bench.directory / "one").write_text("1")
    with bench.open(mounts=[Mount(bench.directory / "one", "/given/one")]) as sandbox:
        assert sandbox.run(["cat", sandbox.inside("/given/one")]).stdout == b"1"
        assert sandbox.read_file("/given/one") == b"1"


@behaviour
def a_mount_below_a_mount_is_seen_in_its_place(bench: Bench) -> None:
    for name in ("upper", "lower"):
        (bench.directory / name).mkdir()
        (bench.directory / name / "name").write_text(name)
    (bench.directory / "upper" / "inner").mkdir()
    mounts = [Mount(bench.directory / "lower", "/up/inner"), Mount(bench.directory / "upper", "/up")]
    with bench.open(mounts=mounts) as sandbox:
        assert sandbox.run(["cat", sandbox.inside("/up/name")]).stdout == b"upper"
        assert sandbox.run(["cat", sandbox.inside("/up/inner/name")]).stdout == b"lower"
        assert sandbox.read_file("/up/inner/name") == b"lower"


@behaviour
def the_temporary_directory_is_kept_between_commands_and_private(bench: Bench) -> None:
    with bench.open() as first, bench.open() as second:
        path = first.inside("/tmp/note")
        assert first.run(["sh", "-c", 'echo mine > "$1"', "sh", path]).exit_code == 0
        assert first.run(["cat", path]).stdout == b"mine\n"
        assert first.read_file("/tmp/note") == b"mine\n"
        with pytest.raises(PathMissing):
            second.read_file("/tmp/note")
    assert not Path("/tmp/note").exists()


@behaviour
def the_temporary_directory_is_removed_however_it_was_left(bench: Bench) -> None:
    with pytest.MonkeyPatch.context() as patch:
        place = bench.directory / "temporary"
        place.mkdir()
        patch.setattr("tempfile.tempdir", str(place))
        with bench.open() as sandbox:
            assert said(python(sandbox, LITTER)) == ""
        assert list(place.iterdir()) == []


@behaviour
def written_files_are_seen_by_commands_and_read_back(bench: Bench) -> None:
    data = bytes(range(256))
    with bench.open() as sandbox:
        sandbox.write_file(f"{WORK}/new/deep/file", data)
        assert sandbox.run(["cat", "new/deep/file"]).stdout == data
        assert sandbox.read_file(f"{WORK}/new/deep/file") == data
        sandbox.write_file(f"{WORK}/new/deep/file", b"")
        assert sandbox.read_file(f"{WORK}/new/deep/file") == b""


@behaviour
def writing_a_file_keeps_its_mode(bench: Bench) -> None:
    with bench.open() as sandbox:
        assert sandbox.run(["sh", "-c", "echo old content > f; chmod 755 f"]).exit_code == 0
        sandbox.write_file(f"{WORK}/f", b"new")
    assert (bench.work / "f").read_bytes() == b"new"
    assert (bench.work / "f").stat().st_mode & 0o777 == 0o755


@behaviour
def a_link_inside_the_mounts_is_followed(bench: Bench) -> None:
    (bench.work / "d").mkdir()
    (bench.work / "d" / "f").write_text("content")
    with bench.open() as sandbox:
        top = sandbox.inside(WORK)
        script = 'ln -s d/../d e; ln -s f d/g; ln -s "$1/e/g" absolute'
        assert sandbox.run(["sh", "-c", script, "sh", top]).exit_code == 0
        for name in ("e/f", "d/g", "absolute"):
            assert sandbox.read_file(f"{WORK}/{name}") == b"content"


@behaviour
def a_link_that_leaves_the_mounts_is_refused(bench: Bench) -> None:
    secret = bench.directory / "secret"
    secret.write_text("key")
    (bench.work / "sub").mkdir()
    with bench.open() as sandbox:
        for name, to in (("b", "../secret"), ("sub/c", "../../secret"), ("d", "/etc/passwd")):
            assert sandbox.run(["ln", "-s", to, name]).exit_code == 0
            with pytest.raises(PathRefused, match="outside"):
                sandbox.read_file(f"{WORK}/{name}")
            with pytest.raises(PathRefused, match="outside"):
                sandbox.write_file(f"{WORK}/{name}", b"overwritten")
        # An absolute link may name a place below the sandbox's own /tmp: then it is that place, not ours.
        assert sandbox.run(["ln", "-s", str(secret), "a"]).exit_code == 0
        assert sandbox.run(["ln", "-s", str(bench.directory), "up"]).exit_code == 0
        with pytest.raises(PathRefused):
            sandbox.read_file(f"{WORK}/a")
        for name in ("a", "up/new"):
            with contextlib.suppress(PathRefused):
                sandbox.write_file(f"{WORK}/{name}", b"overwritten")
        assert sandbox.run(["ln", "-s", "loop", "loop"]).exit_code == 0
        with pytest.raises(PathRefused, match="links"):
            sandbox.read_file(f"{WORK}/loop")
    assert secret.read_text() == "key"
    assert not (bench.directory / "new").exists()


@behaviour
def paths_with_dots_relative_paths_and_paths_outside_are_refused(bench: Bench) -> None:
    with bench.open() as sandbox:
        for path in (f"{WORK}/../secret", "relative", "/etc/shadow", "/proc/self/environ", ""):
            with pytest.raises(PathRefused):
                sandbox.read_file(path)
            with pytest.raises(PathRefused):
                sandbox.write_file(path, b"x")
            with pytest.raises(PathRefused):
                sandbox.inside(path)


@behaviour
def only_regular_files_are_read_and_written(bench: Bench) -> None:
    os.mkfifo(bench.work / "fifo")
    (bench.work / "directory").mkdir()
    with socket.socket(socket.AF_UNIX) as server:
        place = os.open(bench.work, os.O_RDONLY)
        try:
            # Through the descriptor: a socket's address is short, the test's directory need not be.
            server.bind(f"/proc/self/fd/{place}/socket")
        finally:
            os.close(place)
        with bench.open() as sandbox:
            for name, kind in (("fifo", "FIFO"), ("directory", "directory"), ("socket", "socket")):
                with pytest.raises(PathRefused, match=kind):
                    sandbox.read_file(f"{WORK}/{name}")
                with pytest.raises(PathRefused, match=kind):
                    sandbox.write_file(f"{WORK}/{name}", b"x")


@behaviour
def a_missing_file_is_missing_and_not_a_crash(bench: Bench) -> None:
    (bench.work / "file").write_text("x")
    with bench.open() as sandbox:
        with pytest.raises(PathMissing, match="no such file"):
            sandbox.read_file(f"{WORK}/nothing/here")
        with pytest.raises(PathRefused):
            sandbox.read_file(f"{WORK}/file/below")


@behaviour
def a_file_larger_than_the_limit_is_not_read_into_memory(bench: Bench) -> None:
    with bench.open(limits=replace(ROOMY, file_bytes=1 << 20)) as sandbox:
        os.truncate(os.open(bench.work / "big", os.O_CREAT | os.O_WRONLY), 1 << 34)
        with pytest.raises(PathRefused, match="file_bytes"):
            sandbox.read_file(f"{WORK}/big")


@behaviour
def a_read_only_mount_is_not_written_for_anyone(bench: Bench) -> None:
    given = bench.directory / "given"
    given.mkdir()
    (given / "f").write_text("as it was")
    with bench.open(mounts=[Mount(given, "/given")]) as sandbox:
        for path in ("/given/f", "/given/new"):
            with pytest.raises(PathRefused, match="read-only"):
                sandbox.write_file(path, b"x")
    assert (given / "f").read_text() == "as it was"


@behaviour
def a_masked_directory_is_not_read_for_anyone(bench: Bench) -> None:
    hidden = bench.work / "reference"
    hidden.mkdir()
    (hidden / "answer").write_text("42")
    with bench.open(masked=(hidden,)) as sandbox:
        assert sandbox.run(["ln", "-s", "reference/answer", "link"]).exit_code == 0
        for name in ("reference/answer", "link"):
            with pytest.raises(PathMissing):
                sandbox.read_file(f"{WORK}/{name}")
        with pytest.raises(PathRefused):
            sandbox.write_file(f"{WORK}/reference/new", b"x")
    assert [path.name for path in hidden.iterdir()] == ["answer"]


@behaviour
def a_specification_that_cannot_be_honoured_is_refused_by_field(bench: Bench) -> None:
    there = bench.work
    wrong = [
        ("mounts", bench.spec(mounts=[Mount(there / "absent", "/x")])),
        ("mounts", bench.spec(mounts=[Mount(there, "relative")])),
        ("mounts", bench.spec(mounts=[Mount(there, "/a/../b")])),
        ("mounts", bench.spec(mounts=[Mount(there, "/")])),
        ("mounts", bench.spec(mounts=[Mount(there, "/proc/x")])),
        ("mounts", bench.spec(mounts=[Mount(there, f"{WORK}/")])),
        ("masked", bench.spec(masked=(there / "absent",))),
        ("workdir", bench.spec(workdir="relative")),
        ("workdir", bench.spec(workdir=f"{WORK}/absent")),
        ("environment", bench.spec(environment={"A=B": "x"})),
        ("limits", bench.spec(limits=Limits(memory_bytes=0))),
        ("limits", bench.spec(limits=Limits(cpu_seconds=-1))),
    ]
    for field, spec in wrong:
        with pytest.raises(SpecRefused, match=field):
            bench.driver.open(spec)


@isolating
def commands_cannot_write_a_read_only_mount(bench: Bench) -> None:
    given = bench.directory / "given"
    given.mkdir()
    (given / "f").write_text("as it was")
    with bench.open(mounts=[Mount(given, "/given")]) as sandbox:
        top = sandbox.inside("/given")
        for script in ("echo x > f", "echo x > new", "rm -f f", "chmod 777 f", "mv f g"):
            finished = sandbox.run(["sh", "-c", f'cd "$1" && {script}', "sh", top])
            assert finished.exit_code != 0, script
    assert (given / "f").read_text() == "as it was"
    assert [path.name for path in given.iterdir()] == ["f"]


@isolating
def commands_see_a_masked_directory_empty_and_cannot_fill_it(bench: Bench) -> None:
    hidden = bench.work / "reference"
    (hidden / "deep").mkdir(parents=True)
    (hidden / "answer").write_text("42")
    (bench.directory / "link").symlink_to(hidden)
    with bench.open(masked=(bench.directory / "link",)) as sandbox:
        assert sandbox.run(["ls", "-A", sandbox.inside(f"{WORK}/reference")]).stdout == b""
        assert sandbox.run(["sh", "-c", "echo x > reference/x"]).exit_code != 0
        assert sandbox.run(["sh", "-c", "rmdir reference || mv reference away"]).exit_code != 0
    assert (hidden / "answer").read_text() == "42"


@isolating
def a_directory_of_the_system_can_be_masked(bench: Bench) -> None:
    with bench.open() as sandbox:
        assert sandbox.run(["ls", "-A", "/usr/share"]).stdout != b""
    with bench.open(masked=(Path("/usr/share"),)) as sandbox:
        assert sandbox.run(["ls", "-A", "/usr/share"]).stdout == b""
