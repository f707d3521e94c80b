"""An engine that ends in the middle, or that sees other files: a second one of the test's own shows both."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import subprocess
import tarfile
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from bench import SPAN, WORK

from sandboxes import DockerDriver, Mount, SandboxFailed, SandboxSpec, SandboxUnavailable

pytestmark = [pytest.mark.docker, pytest.mark.slow]
IMAGE = "lockstep-test:small"
START_SECONDS = 60

# Lists what the small image needs of the large one: Python, a few programs, and their libraries.
COLLECT = """
import glob, os, subprocess, sys, tarfile
programs = [os.path.realpath("/usr/bin/" + name) for name in ("python3", "sh", "nice", "cat", "sleep", "true")]
modules = glob.glob("/usr/lib/python3*/lib-dynload/*.so")
libraries = set()
for line in subprocess.run(["ldd", *programs, *modules], capture_output=True, text=True).stdout.splitlines():
    path = next((word for word in line.split() if word.startswith("/") and not word.endswith(":")), None)
    if path:
        libraries.add(path)
def plain(path):
    return os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
with tarfile.open("root.tar", "w", dereference=False) as archive:
    for name in ("bin", "lib", "lib64", "sbin"):
        if os.path.islink("/" + name):
            archive.add("/" + name)
    for path in ("/usr/bin/python3", "/usr/bin/sh"):
        archive.add(path)
    archive.dereference = True
    for path in [*programs, *sorted(map(plain, libraries)), *glob.glob("/usr/lib/python3.*")]:
        archive.add(path, filter=lambda entry: None if "__pycache__" in entry.name or "-packages" in entry.name else entry)
"""


@dataclass(frozen=True)
class Second:
    """An engine of the test's own, and a driver for it."""

    process: subprocess.Popen[bytes]
    driver: DockerDriver

    def end(self, number: int) -> None:
        """Send it a signal and wait for its end."""
        self.process.send_signal(number)
        self.process.wait(START_SECONDS)


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A root file system of some tens of megabytes, cut out of the image that is tested elsewhere."""
    first = DockerDriver()
    reason = first.unavailable()
    if reason is not None:
        pytest.skip(reason)
    work = tmp_path_factory.mktemp("image")
    with first.open(SandboxSpec(mounts=(Mount(work, WORK, writable=True),), workdir=WORK)) as sandbox:
        finished = sandbox.run(["python3", "-I", "-c", COLLECT])
    assert finished.exit_code == 0, finished
    assert tarfile.is_tarfile(work / "root.tar")
    return work / "root.tar"


@contextlib.contextmanager
def _engine(image: Path, *around: str) -> Iterator[Second]:
    program = shutil.which("dockerd")
    if program is None or os.getuid() != 0:
        pytest.skip("starts a second engine: run as root, with dockerd (Debian: `apt-get install docker.io`)")
    # Short, as the addresses of its sockets have to be.
    place = Path(tempfile.mkdtemp(prefix="engine-", dir="/tmp"))
    url = f"unix://{place}/socket"
    command = [program, "--host", url, "--data-root", f"{place}/data", "--exec-root", f"{place}/run"]
    command += ["--pidfile", f"{place}/pid", "--bridge=none", "--iptables=false", "--ip6tables=false"]
    with (place / "log").open("wb") as log:
        process = subprocess.Popen([*around, *command], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        driver = DockerDriver(image=IMAGE, url=url)
        _until_ready(process, driver, place / "log")
        with driver.engine.client(START_SECONDS) as client:
            client.api.import_image_from_file(str(image), *IMAGE.split(":"))
        yield Second(process, driver)
    finally:
        process.terminate()
        process.wait(START_SECONDS)
        _end_containerd(place)
        shutil.rmtree(place, ignore_errors=True)


def _until_ready(process: subprocess.Popen[bytes], driver: DockerDriver, log: Path) -> None:
    ended = os.pidfd_open(process.pid)
    try:
        for _ in range(START_SECONDS * 10):
            if driver.engine.unavailable() is None:
                return
            assert not select.select([ended], [], [], 0.1)[0], log.read_text()[-2000:]
    finally:
        os.close(ended)
    pytest.fail(f"the second engine did not start: {log.read_text()[-2000:]}")


def _end_containerd(place: Path) -> None:
    """An engine that was killed leaves its containerd, and that its shims; all name the test's own directory."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with contextlib.suppress(OSError):
                if f"{place}/run".encode() in (entry / "cmdline").read_bytes():
                    os.kill(int(entry.name), signal.SIGKILL)
    mounts = [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()]
    for mount in sorted((mount for mount in mounts if mount.startswith(str(place))), reverse=True):
        subprocess.run(["umount", "-l", mount], check=False)


def test_an_engine_that_is_stopped_fails_what_runs_by_name_and_the_next_opening(image: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    spec = SandboxSpec(mounts=(Mount(work, WORK, writable=True),), workdir=WORK)
    failures: list[Exception] = []

    def run() -> None:
        try:
            sandbox.run(["sh", "-c", "echo begun > begun; exec sleep 600"])
        except SandboxFailed as error:
            failures.append(error)

    with _engine(image) as second, second.driver.open(spec) as sandbox:
        worker = sandbox.spawn(["cat"])
        worker.stdin.write(b"x")
        assert worker.stdout.read(1) == b"x"
        thread = threading.Thread(target=run)
        thread.start()
        second.end(signal.SIGTERM)
        thread.join(SPAN)
        assert ["ended from outside" in str(failure) for failure in failures] == [True]
        with pytest.raises(SandboxFailed, match="ended from outside"):
            worker.wait(SPAN)
        with pytest.raises(SandboxUnavailable, match="no Docker engine answers"):
            second.driver.open(spec)
        sandbox.close()


def test_a_command_survives_the_sudden_death_of_its_engine_and_still_ends_with_its_sandbox(image: Path) -> None:
    with _engine(image) as second, second.driver.open(SandboxSpec()) as sandbox:
        worker = sandbox.spawn(["cat"])
        second.end(signal.SIGKILL)
        worker.stdin.write(b"still here")
        assert worker.stdout.read(10) == b"still here"
        assert sandbox.run(["sh", "-c", "exit 7"]).exit_code == 7
        inside = os.pidfd_open(worker.pid)
        try:
            sandbox.close()
            assert select.select([inside], [], [], SPAN)[0], "the worker outlived its sandbox"
        finally:
            os.close(inside)


def test_an_engine_that_sees_other_files_is_refused_by_the_path(image: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    # An own namespace of mounts, in which the test's directory is hidden.
    script = 'mount --make-rprivate / && mount -t tmpfs none "$1" && shift && exec "$@"'
    hidden = ("unshare", "--mount", "sh", "-c", script, "sh", str(work))
    (work / "project").mkdir()
    spec = SandboxSpec(mounts=(Mount(work / "project", WORK, writable=True),), workdir=WORK)
    with (
        _engine(image, *hidden) as second,
        pytest.raises(SandboxUnavailable, match=f"does not see {work}/project, which is there on this machine"),
    ):
        second.driver.open(spec)
