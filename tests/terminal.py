"""A program in a real terminal."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys

PATIENCE_S = 60.0
_PROGRAM = """
import fcntl, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # makes this its terminal: only then does Ctrl-C reach it as a signal
from harness.cli import main
raise SystemExit(main())
"""


class Terminal:
    """`lockstep` in a pseudo-terminal: what it shows, and keys for it."""

    def __init__(self, *arguments: str) -> None:
        self._side, inner = pty.openpty()
        environment = os.environ | {"TERM": "xterm", "COLUMNS": "120", "LINES": "50"}
        command = [sys.executable, "-c", _PROGRAM, *arguments]
        streams = {"stdin": inner, "stdout": inner, "stderr": inner}
        self.process = subprocess.Popen(command, **streams, env=environment, start_new_session=True)
        os.close(inner)

    def until(self, text: str) -> str:
        """All that is shown until `text` appears, without control sequences."""
        shown = b""
        while text not in (plain := re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode(errors="replace"))):
            ready, _, _ = select.select([self._side], [], [], PATIENCE_S)
            assert ready, f"{text!r} did not appear in {plain!r}"
            shown += os.read(self._side, 65536)
        return plain

    def type(self, keys: str) -> None:
        """Press keys."""
        os.write(self._side, keys.encode())

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._side)
