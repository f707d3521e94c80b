"""Each limit is enforced and named, and nothing outlives a command."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from bench import DAEMON, LIVE, PYTHON, PYTHON_MOUNTS, ROOMY, SPAN, WORK, Bench, behaviour, python

import sandboxes

MEBIBYTE = 1 << 20

# Four times the limit at most, so that a driver without limits fails here instead of exhausting the machine.
GROW = """
import signal
kept = []
for _ in range(64):
    kept.append(b"x" * (8 << 20))
print("unlimited", flush=True)
signal.pause()
"""
GROW_TOGETHER = """
import os, signal
for _ in range(6):
    if os.fork() == 0:
        kept = b"x" * (48 << 20)
        signal.pause()
signal.pause()
"""
FORK = """
import os, signal
for _ in range(40):
    if os.fork() == 0:
        signal.pause()
print("unlimited", flush=True)
signal.pause()
"""
THREADS = """
import _thread, os
stop = _thread.allocate_lock()
stop.acquire()
for _ in range(60):
    _thread.start_new_thread(stop.acquire, ())
os.write(1, b"up\\n")
os.read(0, 1)
os._exit(0)
"""
BOMB = """
import os
for _ in range(12):
    os.fork()
while True:
    os.getpid()
"""
BURN = """
import os
for _ in range(2):
    os.fork()
while True:
    pass
"""


@behaviour
def a_tree_that_takes_too_much_memory_is_killed_and_the_limit_named(bench: Bench) -> None:
    with bench.open(limits=replace(ROOMY, memory_bytes=128 * MEBIBYTE)) as sandbox:
        finished = python(sandbox, GROW, timeout=bench.patience)
    assert (finished.killed_by, finished.exit_code) == ("memory_bytes", None)


@behaviour
def memory_is_counted_over_all_processes_together(bench: Bench) -> None:
    with bench.open(limits=replace(ROOMY, memory_bytes=160 * MEBIBYTE)) as sandbox:
        finished = python(sandbox, GROW_TOGETHER, timeout=bench.patience)
    assert finished.killed_by == "memory_bytes"


@behaviour
def reserved_but_unused_memory_does_not_count(bench: Bench) -> None:
    code = "import mmap; mmap.mmap(-1, 8 << 30); print('fine')"
    with bench.open(limits=replace(ROOMY, memory_bytes=128 * MEBIBYTE)) as sandbox:
        assert python(sandbox, code).stdout == b"fine\n"


@behaviour
def too_many_processes_are_killed_and_the_limit_named(bench: Bench) -> None:
    with bench.open(limits=replace(ROOMY, processes=16)) as sandbox:
        finished = python(sandbox, FORK, timeout=bench.patience)
    assert (finished.killed_by, finished.exit_code) == ("processes", None)


@behaviour
def a_fork_bomb_ends(bench: Bench) -> None:
    with bench.open(limits=replace(ROOMY, processes=32)) as sandbox:
        assert python(sandbox, BOMB, timeout=bench.patience).killed_by == "processes"


@behaviour
def threads_are_not_counted_as_processes(bench: Bench) -> None:
    with bench.open(limits=replace(ROOMY, processes=4)) as sandbox:
        worker = sandbox.spawn([PYTHON, "-I", "-S", "-c", THREADS])
        assert worker.stdout.read(10) == b"up\n"
        # Long enough for several looks of a watchdog.
        assert worker.wait(0.3) is None
        worker.stdin.close()
        assert (worker.wait(SPAN), worker.killed_by) == (0, None)


@behaviour
def processor_time_of_the_whole_tree_is_limited_and_named(bench: Bench) -> None:
    with bench.open(limits=replace(ROOMY, cpu_seconds=0.3)) as sandbox:
        finished = python(sandbox, BURN, timeout=bench.patience)
    assert (finished.killed_by, finished.exit_code) == ("cpu_seconds", None)


@behaviour
def a_file_that_grows_too_large_ends_its_writer_and_the_limit_is_named(bench: Bench) -> None:
    with bench.open(limits=replace(ROOMY, file_bytes=MEBIBYTE)) as sandbox:
        finished = sandbox.run(["sh", "-c", "exec head -c 4194304 /dev/zero > big"])
    assert (finished.killed_by, finished.exit_code) == ("file_bytes", None)
    assert (bench.work / "big").stat().st_size <= MEBIBYTE


@behaviour
def a_full_disk_is_not_waited_for(bench: Bench) -> None:
    state = os.statvfs(bench.work)
    floor = state.f_bavail * state.f_frsize + (1 << 40)
    with bench.open(limits=replace(ROOMY, free_disk_bytes=floor)) as sandbox:
        finished = python(sandbox, "import signal; signal.pause()", timeout=bench.patience)
    assert finished.killed_by == "free_disk_bytes"


# Each ends by itself at some times the limit, so that a driver without one fails here and fills no disk.
FILL = """
import os, signal, sys
place, how = sys.argv[1:]
for number in range(48):
    with open(os.path.join(place, f"part{number}"), "wb") as file:
        if how == "nameless":
            kept = globals().setdefault("kept", [])
            kept.append(os.dup(file.fileno()))
            os.unlink(file.name)
        elif how == "hidden" and number == 0:
            os.mkdir(os.path.join(place, "closed"))
            kept = open(os.path.join(place, "closed", "file"), "wb")
            os.chmod(os.path.join(place, "closed"), 0)
        (kept if how == "hidden" else file).write(bytes(1 << 20))
signal.pause()
"""
MANY = """
import os, signal, sys
for number in range(4000):
    os.close(os.open(os.path.join(sys.argv[1], str(number)), os.O_CREAT))
signal.pause()
"""
SMALL = replace(ROOMY, tmp_bytes=12 * MEBIBYTE, disk_bytes=12 * MEBIBYTE, disk_files=1000)


@behaviour
def what_fills_the_temporary_directory_is_killed_and_the_limit_named(bench: Bench) -> None:
    with bench.open(limits=SMALL) as sandbox:
        finished = python(sandbox, FILL, sandbox.inside("/tmp"), "plainly", timeout=bench.patience)
    assert (finished.killed_by, finished.exit_code) == ("tmp_bytes", None)


@behaviour
def what_fills_its_mounts_in_parts_is_killed_and_the_limit_named(bench: Bench) -> None:
    for how in ("plainly", "nameless", "hidden"):
        with bench.open(limits=SMALL) as sandbox:
            finished = python(sandbox, FILL, sandbox.inside(WORK), how, timeout=bench.patience)
        assert (finished.killed_by, finished.exit_code) == ("disk_bytes", None), how
        for part in bench.work.glob("part*"):
            part.unlink()


@behaviour
def too_many_files_are_killed_and_the_limit_named(bench: Bench) -> None:
    with bench.open(limits=SMALL) as sandbox:
        for place in ("/tmp", WORK):
            finished = python(sandbox, MANY, sandbox.inside(place), timeout=bench.patience)
            assert (finished.killed_by, finished.exit_code) == ("disk_files", None)
            remove = "find . -type f -delete"
            assert sandbox.run(["sh", "-c", f'cd "$1" && {remove}', "sh", sandbox.inside(place)]).exit_code == 0


@behaviour
def what_begins_over_a_limit_can_remove_and_not_write(bench: Bench) -> None:
    (bench.work / "large").write_bytes(bytes(16 * MEBIBYTE))
    with bench.open(limits=SMALL) as sandbox:
        finished = sandbox.run(["sh", "-c", "echo more > more"])
        assert (finished.killed_by, finished.exit_code) == ("disk_bytes", None)
        assert sandbox.run(["rm", "large"]).exit_code == 0
        assert sandbox.run(["sh", "-c", "echo more > more"]).exit_code == 0
    assert (bench.work / "more").read_text() == "more\n"


@behaviour
def holes_and_second_names_take_no_room(bench: Bench) -> None:
    make = "truncate -s 64M holes && head -c 8M /dev/zero > first && ln first second && sleep 0.5"
    with bench.open(limits=SMALL) as sandbox:
        assert sandbox.run(["sh", "-c", make]).exit_code == 0
        assert sandbox.run(["sh", "-c", "echo more > more"]).exit_code == 0


@behaviour
def a_file_that_leaves_no_room_is_not_written_from_outside(bench: Bench) -> None:
    with bench.open(limits=SMALL) as sandbox:
        for target, name in ((f"{WORK}/large", "disk_bytes"), ("/tmp/large", "tmp_bytes")):
            sandbox.write_file(target, bytes(8 * MEBIBYTE))
            with pytest.raises(sandboxes.SpaceRefused, match=name):
                sandbox.write_file(f"{target}r", bytes(8 * MEBIBYTE))
            sandbox.write_file(target, b"small")
            sandbox.write_file(f"{target}r", bytes(8 * MEBIBYTE))


@behaviour
def a_timeout_keeps_what_was_written_until_then(bench: Bench) -> None:
    code = (
        "import os, signal\nos.write(1, b'half of the answ')\nos.write(2, b'warned\\n')\n"
        "os.write(1, b'x' * 100)\nsignal.pause()"
    )
    with bench.open(limits=replace(ROOMY, output_bytes=16)) as sandbox:
        finished = python(sandbox, code, timeout=1.5)
    assert (finished.timed_out, finished.killed_by, finished.exit_code) == (True, "wall_seconds", None)
    assert (finished.stdout, finished.stdout_truncated) == (b"half of the answ", True)
    assert (finished.stderr, finished.stderr_truncated) == (b"warned\n", False)


@behaviour
def no_timeout_exceeds_the_wall_clock_of_the_specification(bench: Bench) -> None:
    with bench.open(limits=replace(ROOMY, wall_seconds=0.2)) as sandbox:
        assert sandbox.run(["sleep", "600"], timeout=600).killed_by == "wall_seconds"
        assert sandbox.run(["sleep", "600"]).timed_out


@behaviour
def a_timeout_ends_while_the_command_floods_its_output(bench: Bench) -> None:
    with bench.open() as sandbox:
        finished = sandbox.run(["cat", "/dev/zero"], timeout=0.3)
    assert finished.timed_out
    assert finished.stdout_truncated


@behaviour
def a_timeout_ends_while_the_command_ignores_its_input(bench: Bench) -> None:
    with bench.open() as sandbox:
        assert sandbox.run(["sleep", "600"], stdin=bytes(8 << 20), timeout=0.3).timed_out


@behaviour
def a_daemon_does_not_outlive_a_command_that_finished(bench: Bench) -> None:
    with bench.open() as sandbox, bench.pulse() as pulse:
        assert python(sandbox, DAEMON, pulse.name, "leave").exit_code == 0
        assert pulse.begun()
        assert pulse.stopped()


@behaviour
def a_daemon_does_not_outlive_a_timeout(bench: Bench) -> None:
    with bench.open() as sandbox, bench.pulse() as pulse:
        finished = python(sandbox, DAEMON, pulse.name, "stay", timeout=1.5)
        assert (finished.timed_out, finished.stdout) == (True, b"staying\n")
        assert pulse.begun()
        assert pulse.stopped()


@behaviour
def a_child_that_keeps_the_output_open_does_not_delay_the_end(bench: Bench) -> None:
    with bench.open() as sandbox:
        finished = sandbox.run(["sh", "-c", "sleep 600 & echo done"])
    assert (finished.exit_code, finished.stdout) == (0, b"done\n")


@behaviour
def closing_ends_a_command_that_runs_in_another_thread(bench: Bench) -> None:
    results = []
    with bench.open() as sandbox, bench.pulse() as pulse:
        thread = threading.Thread(target=lambda: results.append(python(sandbox, LIVE, pulse.name)))
        thread.start()
        assert pulse.begun()
        sandbox.close()
        thread.join()
        assert pulse.stopped()
    assert [(finished.killed_by, finished.exit_code) for finished in results] == [("caller", None)]


@behaviour
def nothing_outlives_the_death_of_the_harness(bench: Bench) -> None:
    harness = f"""
import signal, sys
from pathlib import Path
import sandboxes
from sandboxes import Mount, SandboxSpec
prefix, work, python, code = sys.argv[1:]
mounts = [Mount(Path(prefix), prefix)] if prefix else []
spec = SandboxSpec(mounts=(*mounts, Mount(Path(work), {WORK!r}, writable=True)), workdir={WORK!r})
sandbox = {bench.source}.open(spec)
worker = sandbox.spawn([python, "-I", "-S", "-c", code, "pulse", "stay"])
signal.pause()
"""
    prefix = str(PYTHON_MOUNTS[0].source) if PYTHON_MOUNTS else ""
    root = str(Path(sandboxes.__file__).parents[1])
    with bench.pulse() as pulse:
        process = subprocess.Popen(
            [sys.executable, "-c", harness, prefix, str(bench.work), PYTHON, DAEMON],
            env={**os.environ, "PYTHONPATH": root, "TMPDIR": str(bench.directory)},
        )
        try:
            assert pulse.begun()
        finally:
            process.kill()
            process.wait()
        assert pulse.stopped()
