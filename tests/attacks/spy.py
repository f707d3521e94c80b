"""Run where a candidate is: every known way to a key of this machine. It prints, for each way, what was reached by it."""

from __future__ import annotations

import ctypes
import json
import os
import socket
import sys
from collections.abc import Callable

WAYS = 19
PRIVATE = b"PRIVATE KEY"


def main(told: dict) -> None:
    """Try each way; an empty answer says that it leads nowhere."""
    key, holder, libc = told["key"], told["holder"], ctypes.CDLL(None, use_errno=True)
    found: dict[str, str] = {}

    def attempt(name: str, way: Callable[[], object]) -> None:
        try:
            reached = way()
        except (OSError, ValueError) as error:
            found[name] = ""
            del error
            return
        held = reached if isinstance(reached, bytes) else b""
        found[name] = "the key" if PRIVATE in held else "" if isinstance(reached, bytes) else str(reached)

    def read(path: str) -> bytes:
        with open(path, "rb") as file:
            return file.read(1 << 20)

    def through(make: Callable[[str, str], None], name: str) -> bytes:
        make(key, name)
        return read(name)

    def memory() -> bytes:
        with open(f"/proc/{holder}/mem", "rb", 0) as file:
            file.seek(told["address"])
            return file.read(512)

    def traced() -> str:
        return "traced" if libc.ptrace(0x4206, holder, None, None) == 0 else ""

    def vector() -> str:
        local, remote = (ctypes.c_size_t * 2)(), (ctypes.c_size_t * 2)(told["address"], 64)
        room = ctypes.create_string_buffer(64)
        local[0], local[1] = ctypes.addressof(room), 64
        count = libc.process_vm_readv(holder, local, ctypes.c_ulong(1), remote, ctypes.c_ulong(1), ctypes.c_ulong(0))
        return "" if count <= 0 else "its memory"

    def opened() -> bytes:
        return b"".join(read(f"/proc/{holder}/fd/{number}") for number in range(3, 6))

    def given() -> bytes:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(5)
            connection.connect(told["giver"])
            return connection.recv(4096)

    def signalled(pid: int) -> str:
        os.kill(pid, 0)
        return "signalled"

    def disk() -> str:
        device = os.stat(os.path.dirname(sys.executable)).st_dev
        os.mknod("disk", 0o060600, device)
        return "a device"

    def removed() -> str:
        os.truncate(key, os.stat(key).st_size)
        return "truncated"

    def renamed() -> str:
        os.rename(os.path.dirname(key), "taken")
        return "renamed"

    attempt("path", lambda: read(key))
    attempt("root", lambda: read(f"/proc/{holder}/root{key}"))
    attempt("root of the parent", lambda: read(f"/proc/{os.getppid()}/root{key}"))
    attempt("directory", lambda: read(f"/proc/{holder}/cwd/{os.path.relpath(key, '/')}"))
    attempt("symbolic link", lambda: through(os.symlink, "symbolic"))
    attempt("hard link", lambda: through(os.link, "hard"))
    attempt("link to a directory", lambda: (os.symlink(os.path.dirname(key), "d"), read("d/ed25519.pem"))[1])
    attempt("memory", memory)
    attempt("memory of the parent", lambda: open(f"/proc/{os.getppid()}/mem", "rb", 0).close() or "opened")
    attempt("environment", lambda: read(f"/proc/{holder}/environ"))
    attempt("descriptor", opened)
    attempt("tracing", traced)
    attempt("vector", vector)
    attempt("server", given)
    attempt("signal to the holder", lambda: signalled(holder))
    attempt("signal to the supervisor", lambda: signalled(os.getppid()))
    attempt("disk", disk)
    attempt("truncating", removed)
    attempt("renaming", renamed)
    print(json.dumps(found))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
