"""When the sandbox itself fails, that is an error of its own and never a result of the command."""

from __future__ import annotations

import errno
import os
import resource
import secrets
import signal
import subprocess
from pathlib import Path

import pytest
from bench import DAEMON, LIVE, PYTHON, Bench, python

from sandboxes import BubblewrapDriver, ProcessDriver, SandboxFailed, SandboxUnavailable
from sandboxes import bubblewrap as bubblewrap_module
from sandboxes._supervisor import cgroup, watch
from sandboxes._supervisor.job import Job
from sandboxes.paths import View, Views

SOURCE = "sandboxes.ProcessDriver()"


@pytest.fixture
def bubblewrap() -> BubblewrapDriver:
    driver = BubblewrapDriver()
    reason = driver.unavailable()
    if reason is not None:
        pytest.skip(reason)
    return driver


def test_a_mount_that_vanishes_after_opening_is_the_sandboxs_failure(
    bubblewrap: BubblewrapDriver, tmp_path: Path
) -> None:
    bench = Bench(bubblewrap, SOURCE, tmp_path)
    with bench.open() as sandbox:
        bench.work.rename(tmp_path / "elsewhere")
        with pytest.raises(SandboxFailed, match=r"before the command ran.*bwrap: .*work"):
            sandbox.run(["true"])
        worker = sandbox.spawn(["cat"])
        with pytest.raises(SandboxFailed, match="bwrap: "):
            worker.wait(20)


def test_a_workdir_that_vanishes_after_opening_is_the_sandboxs_failure(tmp_path: Path) -> None:
    bench = Bench(ProcessDriver(), SOURCE, tmp_path)
    with bench.open() as sandbox:
        bench.work.rename(tmp_path / "elsewhere")
        with pytest.raises(SandboxFailed, match=r"cannot start .*work"):
            sandbox.run(["true"])


def test_a_command_cannot_pass_for_a_failed_sandbox_by_its_exit_code(
    bubblewrap: BubblewrapDriver, tmp_path: Path
) -> None:
    with Bench(bubblewrap, SOURCE, tmp_path).open() as sandbox:
        finished = sandbox.run(["sh", "-c", "echo 'bwrap: no' >&2; exit 1"])
    assert (finished.exit_code, finished.stderr) == (1, b"bwrap: no\n")


@pytest.mark.parametrize("driver", [BubblewrapDriver(), ProcessDriver(), ProcessDriver(cgroups=False)])
def test_a_killed_supervisor_is_a_failure_and_leaves_nothing_behind(
    driver: BubblewrapDriver | ProcessDriver, tmp_path: Path
) -> None:
    reason = driver.unavailable()
    if reason is not None:
        pytest.skip(reason)
    bench = Bench(driver, SOURCE, tmp_path)
    with bench.open() as sandbox, bench.pulse() as pulse:
        worker = sandbox.spawn([PYTHON, "-I", "-S", "-c", LIVE, pulse.name])
        assert pulse.begun()
        os.kill(os.getpgid(_parent(worker.pid)), signal.SIGKILL)
        with pytest.raises(SandboxFailed, match="supervisor was lost"):
            worker.wait(20)
        assert pulse.stopped()


def test_a_command_that_kills_its_supervisor_is_a_failure_and_its_daemon_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it can where Landlock refuses no signals, before Linux 6.12."""
    monkeypatch.setattr(ProcessDriver, "_domain", lambda *_: None)
    bench = Bench(ProcessDriver(), SOURCE, tmp_path)
    attack = DAEMON + "\nos.kill(os.getppid(), 9)\nsignal.pause()\n"
    with bench.open() as sandbox, bench.pulse() as pulse:
        with pytest.raises(SandboxFailed, match="supervisor was lost"):
            python(sandbox, attack, pulse.name, "leave")
        assert pulse.begun()
        assert pulse.stopped()


def test_a_control_group_that_takes_no_process_is_replaced_by_watching(monkeypatch: pytest.MonkeyPatch) -> None:
    group = cgroup.create(secrets.token_hex(8), 1 << 30, 100)
    if group is None:
        pytest.skip("makes a control group: run as root, or where this user may write to /sys/fs/cgroup")
    monkeypatch.setattr(cgroup, "create", lambda token, memory_bytes, tasks: group)
    with subprocess.Popen(["true"]) as gone:
        gone.wait()
        watching = watch.Watch(job(["true"]))
        watching.adopt(gone.pid)
    # Removed with the refusal, so it has nothing left to refuse.
    assert group.pids() == []
    assert not group.take(os.getpid())
    assert watching.broken() is None


def test_what_a_killed_supervisor_left_in_its_control_group_is_ended() -> None:
    token = secrets.token_hex(8)
    group = cgroup.create(token, 1 << 30, 100)
    if group is None:
        pytest.skip("makes a control group: run as root, or where this user may write to /sys/fs/cgroup")
    with subprocess.Popen(["sleep", "600"]) as left:
        assert group.take(left.pid)
        cgroup.sweep(token)
        assert left.wait(20) == -signal.SIGKILL
    assert not group.take(os.getpid())


def job(command: list[str]) -> Job:
    return Job(
        token=secrets.token_hex(8),
        command=command,
        environment={},
        workdir="/",
        memory_bytes=1 << 30,
        processes=1000,
        cpu_seconds=None,
        file_bytes=1 << 30,
        free_disk_bytes=0,
        tmp_bytes=1 << 30,
        disk_bytes=1 << 30,
        disk_files=1 << 20,
        temporary="/dev/shm",
        temporary_seen="/dev/shm",
        temporary_in_memory=True,
        writable=[],
    )


def test_a_machine_without_bwrap_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bubblewrap_module, "_programs", lambda: iter(()))
    driver = BubblewrapDriver()
    reason = driver.unavailable()
    assert reason is not None
    assert "install bubblewrap" in reason
    with pytest.raises(SandboxUnavailable, match="install bubblewrap"):
        Bench(driver, SOURCE, Path("/")).driver.open(bubblewrap_module.SandboxSpec())


def test_a_bwrap_that_may_not_make_namespaces_says_why_and_the_next_one_is_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'No permissions to create a new namespace' >&2\nexit 1\n")
    broken.chmod(0o755)
    every = list(bubblewrap_module._programs())
    monkeypatch.setattr(bubblewrap_module, "_programs", lambda: iter([str(broken)]))
    reason = BubblewrapDriver().unavailable()
    assert reason is not None
    assert "No permissions to create a new namespace" in reason
    assert "\n" not in reason
    if every:
        monkeypatch.setattr(bubblewrap_module, "_programs", lambda: iter([str(broken), *every]))
        assert BubblewrapDriver().unavailable() is None


def test_a_file_that_cannot_be_written_whole_keeps_what_it_held(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_text("before")
    views = Views([View(("seen",), tmp_path, writable=True)], masked=())
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))  # as good as a disk with no more room
    try:
        with pytest.raises(OSError, match="too large"):
            views.write("/seen/f", b"x" * 1000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert file.read_text() == "before"
    views.write("/seen/f", b"less")
    assert file.read_text() == "less"


def test_a_file_system_that_promises_no_room_is_written_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unable(fd: int, offset: int, size: int) -> None:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))

    monkeypatch.setattr(os, "posix_fallocate", unable)  # a fake: no such file system can be mounted here
    (tmp_path / "f").write_text("a longer text")
    Views([View(("seen",), tmp_path, writable=True)], masked=()).write("/seen/f", b"short")
    assert (tmp_path / "f").read_text() == "short"


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
