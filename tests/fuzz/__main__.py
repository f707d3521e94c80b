"""Fuzz every target, or some, each in a process of its own.

    python -m tests.fuzz [--target NAME]... [--seconds 3600] [--seed 0] [--workers 2] [--out DIRECTORY]

Prints a line for each running target every ten seconds, and a table at the end; exits with 1 if anything was found. Inputs
that showed something lie in DIRECTORY/findings, with what they showed beside them; DIRECTORY/result.json holds the table.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tests.fuzz.child import INPUT, LOG

TELL_S = 10.0
GRACE_S = 180.0
"""How long after its time a target may take to be made, to measure and to end."""
NAMES = (
    "frames", "batches", "requests", "task", "cases", "policy", "home", "objects", "envelope", "record",
    "bundle", "refs", "manifest", "compiler", "counted", "module", "settings", "transcripts", "prices", "host", "mcp",
    "stdio", "gameboy-rom", "gameboy-state", "gameboy-program",
)  # fmt: skip
RUST = ("gameboy-rom", "gameboy-state", "gameboy-program")
"""Targets that are compiled before they can be fuzzed."""
SHARES = {"record": 2.0, "mcp": 2.0, "frames": 2.0}


@dataclass
class Row:
    """What came of one target."""

    target: str
    inputs: int = 0
    refused: int = 0
    kept: int = 0
    seconds: float = 0.0
    memory: int = 0
    growth: int = 0
    findings: list[dict[str, str]] = field(default_factory=list)
    state: str = "waits"


class Fuzzing:
    """All targets, as many at a time as there are workers."""

    def __init__(self, names: Sequence[str], seconds: float, seed: int, workers: int, out: Path) -> None:
        self.rows = [Row(name) for name in names]
        shares = {name: SHARES.get(name, 1.0) for name in names}
        self._seconds = {name: seconds * workers * share / sum(shares.values()) for name, share in shares.items()}
        self._seed, self._workers, self._out = seed, workers, out
        self._processes: set[subprocess.Popen[str]] = set()
        self._ended = threading.Event()

    def run(self) -> None:
        """Run to the end, or until Ctrl-C, after which every target tells how far it came."""
        with ThreadPoolExecutor(self._workers) as threads:
            running = [threads.submit(self._target, row) for row in self.rows]
            try:
                while not all(each.done() for each in running):
                    wait(running, timeout=TELL_S)
                    for row in self.rows:
                        if row.state == "runs":
                            print(line(row), flush=True)
            except KeyboardInterrupt:
                self._ended.set()
                for process in list(self._processes):
                    process.terminate()
        for each in running:
            each.result()

    def _target(self, row: Row) -> None:
        if self._ended.is_set():
            return
        row.state, seconds = "runs", self._seconds[row.target]
        with tempfile.TemporaryDirectory(prefix="lockstep-fuzz-child-") as place:
            directory = Path(place)
            (directory / "stderr").touch()
            with (directory / "stderr").open("w") as log:
                arguments = [row.target, place, str(seconds), str(self._seed)]
                process = subprocess.Popen(
                    [sys.executable, "-m", "tests.fuzz.child", *arguments],
                    stdout=subprocess.PIPE, stderr=log, text=True, start_new_session=True,
                )  # fmt: skip
            self._processes.add(process)
            timer = threading.Timer(seconds + GRACE_S, process.kill)
            timer.start()
            ended = False
            for reported in _lines(process):
                ended = bool(reported.pop("ended"))
                self._keep(row, reported.pop("findings"))
                for name, value in reported.items():
                    setattr(row, name, value)
            timer.cancel()
            status = process.wait()
            self._processes.discard(process)
            if not ended and not self._ended.is_set():
                self._keep(row, [_death(directory, status)])
            row.state = "ended" if ended else "interrupted" if self._ended.is_set() else "died"
        print(line(row), flush=True)

    def _keep(self, row: Row, findings: Sequence[dict[str, str]]) -> None:
        for found in findings:
            file = self._out / "findings" / f"{row.target}-{found['mark']}"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(base64.b64decode(found["data"]))
            file.with_suffix(".txt").write_text(
                f"{found['kind']}: {found['what']}\n\n{found['trace']}\n", errors="replace"
            )
            row.findings.append({"kind": found["kind"], "what": found["what"], "input": str(file)})
            print(f"{row.target}: {found['kind']}: {found['what']}\n  input: {file}", flush=True)


def _lines(process: subprocess.Popen[str]) -> Iterator[dict[str, Any]]:
    assert process.stdout is not None
    with process.stdout:
        for text in process.stdout:
            yield json.loads(text)


def _death(directory: Path, status: int) -> dict[str, str]:
    """What can be said of a process that ended before its time: its last input, its stacks, its last words."""
    held = (directory / INPUT).read_bytes() if (directory / INPUT).exists() else b""
    data = held[8 : 8 + int.from_bytes(held[:8], "big")]
    stacks = (directory / LOG).read_text() if (directory / LOG).exists() else ""
    words = (directory / "stderr").read_text(errors="replace")[-3_000:]
    how = signal.Signals(-status).name if status < 0 else f"status {status}"
    what = "an input never came back" if stacks else f"the process ended with {how}"
    return {
        "kind": "hang" if stacks else "died",
        "what": what,
        "trace": stacks + words,
        "mark": f"{'hang' if stacks else 'died'}-{status}",
        "data": base64.b64encode(data).decode(),
    }


def line(row: Row) -> str:
    """How far a target is."""
    pace = row.inputs / row.seconds if row.seconds else 0.0
    done = f"{row.target:<12} {row.state:<11} {row.seconds:6.0f} s {row.inputs:9d} inputs {pace:7.0f}/s"
    held = f"memory {row.memory >> 20:4d} MiB, grown {row.growth / (1 << 20):+6.1f} MiB"
    return f"{done}  refused {row.refused:9d}  corpus {row.kept:3d}  {held}  findings {len(row.findings)}"


def _possible(names: Sequence[str]) -> list[str]:
    """The names of targets that this machine can make; says which it cannot."""
    if shutil.which("cargo"):
        return list(names)
    if left_out := [name for name in names if name in RUST]:
        print(f"left out, for there is no cargo here: {', '.join(left_out)}; install Rust 1.85 or newer", flush=True)
    return [name for name in names if name not in RUST]


def main(given: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--target", action="append", choices=NAMES, help="may be given several times; default: all")
    parser.add_argument("--seconds", type=float, default=3600.0, help="of all targets together")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--out", type=Path, help="default: a new temporary directory, which is named")
    asked = parser.parse_args(given)
    out = asked.out or Path(tempfile.mkdtemp(prefix="lockstep-fuzzed-"))
    out.mkdir(parents=True, exist_ok=True)
    fuzzing = Fuzzing(_possible(asked.target or NAMES), asked.seconds, asked.seed, asked.workers, out)
    began = time.monotonic()
    fuzzing.run()
    found = sum(len(row.findings) for row in fuzzing.rows)
    document = {
        "seed": asked.seed,
        "seconds": round(time.monotonic() - began, 1),
        "inputs": sum(row.inputs for row in fuzzing.rows),
        "findings": found,
        "targets": [asdict(row) for row in fuzzing.rows],
    }
    (out / "result.json").write_text(json.dumps(document, indent=1) + "\n")
    print("", *map(line, fuzzing.rows), sep="\n")
    print(f"{document['inputs']} inputs in {document['seconds']} s, {found} findings; {out / 'result.json'}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
