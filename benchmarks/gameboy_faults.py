"""Every fault of the Game Boy's emulator planted: what a verification says of it, and after how long."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import sandboxes
from benchmarks.common import ENVIRONMENTS, report
from harness.task.load import load_task
from harness.verdict import Divergence
from harness.verify.verifier import Verifier
from tests.mutants.gameboy import FAULTS, catch

SHOWN = ("kind", "opcode", "prefixed", "register", "page")
"""The inputs of probes that say which instruction or register it was."""


def main() -> None:
    """Plant them one after the other and report; one that is missed ends the run with an error."""
    task = load_task(ENVIRONMENTS / "gameboy")
    rows = []
    with Verifier(task, sandboxes.choose(None)) as verifier:
        for fault in FAULTS:
            began = time.perf_counter()
            with tempfile.TemporaryDirectory() as scratch:
                found = catch(fault, task, verifier, Path(scratch))
            rows.append(
                {
                    "fault": fault.name,
                    "module": str(found.module),
                    "leaf": found.path,
                    "inputs": said_of(found),
                    "seconds": time.perf_counter() - began,
                }
            )
    report("gameboy_faults", f"{len(rows)} faults planted in the Game Boy's emulator, all caught", rows)


def said_of(found: Divergence) -> str:
    """The inputs that name an instruction or a register."""
    inputs = found.inputs or {}
    return ", ".join(f"{name} {int(inputs[name][0]):#x}" for name in SHOWN if name in inputs)
