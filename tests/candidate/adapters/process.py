"""A candidate's worker as a process of its own."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.candidate.jax_process import jax_environment
from harness.candidate.start import JAX_ADAPTER, lay_trusted
from harness.protocol.worker import decode, encode


class Worker:
    """A candidate's worker with no more of the harness around it than a sandbox has, asked over its pipes."""

    def __init__(self, directory: Path, xla_flags: Sequence[str] = ()) -> None:
        lay_trusted(directory)
        self.process = subprocess.Popen(
            [
                sys.executable, "-I", directory / "worker.py",
                "--path", directory, JAX_ADAPTER,
            ],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={"PATH": os.defpath} | jax_environment(xla_flags),
        )  # fmt: skip

    def ask(self, call: str, **arguments: Any) -> Any:
        assert self.process.stdin is not None and self.process.stdout is not None
        request = encode({"id": "1", "call": call, "with": arguments})
        self.process.stdin.write(struct.pack(">I", len(request)) + request)
        self.process.stdin.flush()
        size = struct.unpack(">I", self.process.stdout.read(4))[0]
        return decode(self.process.stdout.read(size))

    def close(self) -> None:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
