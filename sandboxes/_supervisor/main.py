"""Start the command, watch it, end it with everything that it started, and say how it ended."""

from __future__ import annotations

import ctypes
import os
import resource
import select
import sys

from . import confine, tree
from .job import ARGUMENTS_FD, FILTER_FD, OWNER, STATUS_FD, Job, receive
from .watch import Watch

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_CHILD_SUBREAPER = 36
_SIG_SETMASK = 2
_SIGNALS = 64
_SIGXCPU = 24
_SIGXFSZ = 25
_SIGNAL_BASE = 128
_LIMIT_OF_SIGNAL = {_SIGNAL_BASE + _SIGXCPU: "cpu_seconds", _SIGNAL_BASE + _SIGXFSZ: "file_bytes"}
_OOM_SCORE = "500"
_KILL_PAUSE_MS = 2

_libc = ctypes.CDLL(None, use_errno=True)


def main(control: int, report: int) -> None:
    """Run the job that comes over `control`; lines on `report`: `started PID`, then the end.

    The end is `exit CODE`, `killed NAME` or `failed TEXT`. A report that stops before it means that this
    process was itself killed.
    """
    os.set_inheritable(control, False)
    os.set_inheritable(report, False)
    job = receive(control)
    _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    watch = Watch(job)
    full = watch.full()
    if full is not None:
        job.file_bytes = 0
    status, status_writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    faults, fault_writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    gate, gate_writer = os.pipe2(os.O_CLOEXEC)
    pid = os.fork()
    if pid == 0:
        _become_command(job, gate, status_writer, fault_writer)
    for fd in (status_writer, fault_writer, gate):
        os.close(fd)
    watch.adopt(pid)
    os.write(gate_writer, b"+")
    os.close(gate_writer)
    # The pipes must reach their end when the command's tree is gone, so no copy may stay here.
    nothing = os.open("/dev/null", os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nothing, fd)
    _say(report, f"started {pid}")
    try:
        ended, cause = _follow(pid, control, watch)
    finally:
        # Also when this program is at fault: nothing that it started may outlive it.
        _end_tree(watch)
        watch.close()
    limits = {**_LIMIT_OF_SIGNAL, **({} if full is None else {_SIGNAL_BASE + _SIGXFSZ: full})}
    _say(report, _verdict(job, ended, cause, _read_all(status), _read_all(faults), limits))


def _become_command(job: Job, gate: int, status_writer: int, fault_writer: int) -> None:
    """In the child: take on the limits and become the command. Never returns; a failure goes to
    `fault_writer`."""
    try:
        os.read(gate, 1)  # Nothing may be started before it is counted.
        os.setsid()
        _libc.prctl(_PR_SET_PDEATHSIG, tree.SIGKILL, 0, 0, 0)
        # A supervisor in a container is not dumpable, and while that is inherited /proc/self belongs to root.
        _libc.prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)
        if job.arguments is not None:
            _install_descriptors(job.arguments, job.filter, status_writer)
        _set_limits(job)
        os.nice(job.nice)
        for number in range(1, _SIGNALS + 1):
            _libc.signal(number, None)
        _libc.sigprocmask(_SIG_SETMASK, ctypes.create_string_buffer(128), None)
        os.chdir(job.workdir)
        if job.keyctl is not None:
            confine.leave_keyring(job.keyctl)
        if job.domain is not None:
            confine.enclose(*job.domain)
        if job.filter is not None and job.arguments is None:
            confine.install(job.filter)
        os.execve(job.command[0], job.command, job.environment)
    except OSError as error:
        os.write(fault_writer, f"cannot start {job.command[0]} in {job.workdir}: {error}".encode())
    finally:
        os._exit(127)


def _install_descriptors(arguments: bytes, instructions: bytes | None, status_writer: int) -> None:
    wanted = {ARGUMENTS_FD: _file(arguments), STATUS_FD: status_writer}
    if instructions is not None:
        wanted[FILTER_FD] = _file(instructions)
    # Clear of the numbers first, or one dup2 could close what the next one needs.
    high = [os.dup(fd) for fd in wanted.values()]
    while min(high) <= max(wanted):
        high = [os.dup(fd) for fd in high]
    for target, fd in zip(wanted, high, strict=True):
        os.dup2(fd, target)


def _file(data: bytes) -> int:
    file = os.memfd_create("arguments")
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]
    os.lseek(file, 0, os.SEEK_SET)
    return file


def _set_limits(job: Job) -> None:
    _lower(resource.RLIMIT_CORE, 0, 0)
    _lower(resource.RLIMIT_FSIZE, job.file_bytes, job.file_bytes)
    if job.cpu_seconds is not None:
        # Per process, so only a second line: it still holds for a child that its parent never waits for.
        seconds = int(job.cpu_seconds) + 2
        _lower(resource.RLIMIT_CPU, seconds, seconds + 1)
    try:
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write(_OOM_SCORE)
    except OSError:
        pass  # Only a preference for whom the kernel ends first; already set higher is as good.


def _lower(kind: int, soft: int, hard: int) -> None:
    ceiling = resource.getrlimit(kind)[1]
    if ceiling != resource.RLIM_INFINITY:
        soft, hard = min(soft, ceiling), min(hard, ceiling)
    resource.setrlimit(kind, (soft, hard))


def _follow(pid: int, control: int, watch: Watch) -> tuple[int | None, str | None]:
    """Wait until the command ends or must be ended: its wait status or None, and the cause or None."""
    poller = select.poll()
    poller.register(control, select.POLLIN)
    poller.register(os.pidfd_open(pid), select.POLLIN)
    while True:
        ready = poller.poll(watch.pause_s * 1000)
        ended = _reap(pid)[0]
        if ended is not None:
            # A limit may have been what ended it, between two looks.
            return ended, watch.broken()
        if any(fd == control for fd, _ in ready):
            return None, OWNER
        cause = watch.broken()
        if cause is not None:
            return None, cause


def _reap(pid: int) -> tuple[int | None, bool]:
    """Collect the dead: the wait status of `pid` if it is among them, and whether any child is left."""
    ended = None
    while True:
        try:
            found, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended, False
        if found == 0:
            return ended, True
        if found == pid:
            ended = status


def _end_tree(watch: Watch) -> None:
    """Kill until the kernel says that no child is left: daemons fall to us, so none can be missed."""
    pause = select.poll()
    while _reap(0)[1]:
        tree.kill(watch.pids())
        pause.poll(_KILL_PAUSE_MS)


def _verdict(
    job: Job, ended: int | None, cause: str | None, status: bytes, fault: bytes, limits: dict[int, str]
) -> str:
    if fault:
        return f"failed {fault.decode(errors='replace')}"
    if cause is not None:
        return f"killed {cause}"
    assert ended is not None
    code = os.waitstatus_to_exitcode(ended)
    if job.arguments is not None and b'"exit-code"' not in status:
        return f"failed {job.command[0]} ended with {code} before the command ran to its end"
    code = _SIGNAL_BASE - code if code < 0 else code
    limit = limits.get(code)
    return f"exit {code}" if limit is None else f"killed {limit}"


def _read_all(fd: int) -> bytes:
    data = b""
    try:
        while chunk := os.read(fd, 4096):
            data += chunk
    except BlockingIOError:
        pass
    return data


def _say(report: int, line: str) -> None:
    try:
        os.write(report, line.encode() + b"\n")
    except BrokenPipeError:
        sys.exit(0)  # The harness is gone; the tree is too.
