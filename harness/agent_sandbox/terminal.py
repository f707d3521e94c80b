"""A terminal in the agent's sandbox: what a person types goes in, what is printed comes out.

A sandbox gives pipes, and a shell wants a terminal. So a relay inside makes one and starts the shell on it, while
outside the person's own terminal passes every key on as it is.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import shutil
import termios
import tty
from collections.abc import Iterator, Sequence

from harness.agent_sandbox.sandbox import AgentSandbox
from sandboxes.base import Running

_CHUNK = 1 << 16
# Inside: `pty.spawn` copies between its own pipes and the terminal that it makes for the command.
_RELAY = """\
import fcntl, os, pty, struct, sys, termios
rows, columns, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
child, terminal = pty.fork()
if child == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    try:
        os.execvp(command[0], command)
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", flush=True)
        os._exit(127 if isinstance(error, FileNotFoundError) else 126)
import select
watched = [0, terminal]
while True:
    ready, _, _ = select.select(watched, [], [])
    if terminal in ready:
        try:
            data = os.read(terminal, 65536)
        except OSError:
            data = b""
        if not data:
            break
        while data:
            data = data[os.write(1, data):]
    if 0 in ready:
        data = os.read(0, 65536)
        if not data:
            watched.remove(0)
            data = b"\\x04"
        while data:
            data = data[os.write(terminal, data):]
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) & 255)
"""


def converse(agent_sandbox: AgentSandbox, command: Sequence[str], read_from: int = 0, write_to: int = 1) -> int:
    """Run a command on a terminal in the sandbox until it ends; returns its exit code (137 where it was killed).

    Args:
        read_from, write_to: descriptors of the person's terminal, or of anything else.

    Raises:
        SandboxError: the sandbox failed.
    """
    size = shutil.get_terminal_size()
    terminal = os.environ.get("TERM", "dumb")
    environment = agent_sandbox.environment | {"TERM": terminal}
    relay = ["python3", "-I", "-S", "-c", _RELAY, str(size.lines), str(size.columns), *command]
    running = agent_sandbox.sandbox.spawn(relay, environment=environment)
    try:
        with _raw(read_from):
            _relay(running, read_from, write_to)
            exit_code = running.wait()
    finally:
        running.kill()
    return 137 if exit_code is None else exit_code


@contextlib.contextmanager
def _raw(descriptor: int) -> Iterator[None]:
    """The person's terminal hands every key on, also Ctrl-C; afterwards it is as it was."""
    if not os.isatty(descriptor):
        yield
        return
    before = termios.tcgetattr(descriptor)
    tty.setraw(descriptor)
    try:
        yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


def _relay(running: Running, read_from: int, write_to: int) -> None:
    with selectors.PollSelector() as selector:  # poll, unlike epoll, takes files and /dev/null too
        selector.register(running.stdout.fileno(), selectors.EVENT_READ, "inside")
        selector.register(read_from, selectors.EVENT_READ, "person")
        while True:
            for key, _ in selector.select():
                if key.data == "inside":
                    data = running.stdout.read(_CHUNK)
                    if not data:
                        return
                    _write(write_to, data)
                else:
                    data = os.read(read_from, _CHUNK)
                    with contextlib.suppress(OSError):
                        if data:
                            _write(running.stdin.fileno(), data)
                        else:
                            selector.unregister(read_from)
                            running.stdin.close()


def _write(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
