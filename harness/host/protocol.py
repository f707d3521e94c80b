"""How a client and a host talk: one connection for each call, one line of JSON each way.

The socket lies in the session's directory, which only its owner may enter. Its path may be longer than the 107 bytes
that a socket's address holds, so it is always named through a descriptor of that directory.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
from collections.abc import Iterator, Mapping
from typing import Any

from harness import __version__, errors
from harness.errors import EnvironmentFailure, LockstepError, SessionError, TaskError
from harness.record.directory import SessionDirectory
from harness.support.foreign import json_of

SOCKET = "host.sock"
RELEASE = "release"
"""The one call that a host of any version understands."""
MAX_LINE = 64 << 20
_CHUNK = 1 << 16


class OtherVersion(LockstepError):
    """The host belongs to another version of Lockstep than the client."""


def request(call: str, arguments: Mapping[str, Any], client: str) -> dict[str, Any]:
    """What a client sends."""
    return {"version": __version__, "call": call, "arguments": dict(arguments), "client": client}


@contextlib.contextmanager
def address(found: SessionDirectory) -> Iterator[str]:
    """A short path of the session's socket, valid inside the `with`."""
    directory = os.open(found.path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{directory}/{SOCKET}"
    finally:
        os.close(directory)


def send(connection: socket.socket, message: Mapping[str, Any]) -> None:
    """Send one line.

    Raises:
        SessionError: the message is too long, or not JSON.
        OSError: the other side has gone.
    """
    try:
        line = json.dumps(message, allow_nan=False).encode() + b"\n"
    except (TypeError, ValueError) as error:
        raise SessionError(f"the call cannot be sent: {error}", expected="values of JSON") from error
    if len(line) > MAX_LINE:
        raise SessionError(f"the call has {len(line)} bytes", expected=f"at most {MAX_LINE}")
    connection.sendall(line)


def receive(connection: socket.socket) -> dict[str, Any] | None:
    """One line, or None where the other side went without one.

    Raises:
        SessionError: the line is too long, or no object.
        OSError: the connection broke.
    """
    line = bytearray()
    while not line.endswith(b"\n"):
        chunk = connection.recv(_CHUNK)
        if not chunk:
            return None
        line += chunk
        if len(line) > MAX_LINE:
            raise SessionError("the message is too long", expected=f"at most {MAX_LINE} bytes")
    try:
        message = json_of(bytes(line))
    except ValueError as error:
        raise SessionError(f"the message is not JSON: {error}") from error
    if not isinstance(message, dict):
        raise SessionError(f"the message is a {type(message).__name__}", expected="an object")
    return message


def is_bug(error: Exception) -> bool:
    """Whether neither Lockstep nor a sandbox raised this error on purpose."""
    return _foreseen(error) is None


def described(error: Exception) -> dict[str, str]:
    """An error for the other side; what nobody raised on purpose is called a bug."""
    found = _foreseen(error) or LockstepError(
        f"the session's host failed: {type(error).__name__}: {error}",
        next_step="this is a bug of Lockstep: report it with host.log of the session",
    )
    return found.as_json()


def _foreseen(error: Exception) -> LockstepError | None:
    from sandboxes import PathRefused, SandboxError, SpecRefused

    if isinstance(error, LockstepError):
        return error
    if isinstance(error, PathRefused | SpecRefused):
        return SessionError(str(error))
    if isinstance(error, SandboxError):
        return EnvironmentFailure(str(error), where="the agent's sandbox")
    return None


def rebuilt(document: Mapping[str, Any]) -> LockstepError:
    """The error that `described` describes: of the same class, with the same words."""
    name = str(document.get("error", ""))
    kind = getattr(errors, name, None)
    if not (isinstance(kind, type) and issubclass(kind, LockstepError)):
        kind = OtherVersion if name == OtherVersion.__name__ else LockstepError
    # Some have constructors of their own; all have the same four words.
    error = kind.__new__(kind)
    LockstepError.__init__(
        error,
        str(document.get("what", "")),
        where=str(document.get("where", "")),
        expected=str(document.get("expected", "")),
        next_step=str(document.get("next", "")),
    )
    if isinstance(error, TaskError):
        error.mistakes = tuple(str(document.get("mistakes", "")).splitlines())
    elif isinstance(error, errors.BrokenContract):
        error.mistakes = ()
    return error
