"""One target in a process of its own, which may die: what it does, it tells line by line to the one that started it.

    python -m tests.fuzz.child TARGET DIRECTORY SECONDS SEED

Before each input is read it is written to `DIRECTORY/input`, where the parent finds it if the process does not survive it.
"""

from __future__ import annotations

import base64
import json
import mmap
import sys
import tempfile
from pathlib import Path

from tests.fuzz.mutate import MAX_INPUT
from tests.fuzz.runner import Finding, Run, fuzz, watched
from tests.fuzz.targets import TARGETS

INPUT, LOG = "input", "stacks.txt"
ROOM = 8 + 2 * MAX_INPUT


def main(name: str, directory: Path, seconds: float, seed: int) -> None:
    """Fuzz a target, telling how far it is on standard output."""
    reported: set[str] = set()
    answers, sys.stdout = sys.stdout, sys.stderr

    def tell(run: Run, *, ended: bool = False) -> None:
        fresh = [found for mark, found in run.findings.items() if mark not in reported]
        reported.update(run.findings)
        row = {
            "inputs": run.inputs,
            "refused": run.refused,
            "kept": run.kept,
            "seconds": round(run.seconds, 2),
            "memory": run.samples[-1][1] if run.samples else 0,
            "growth": run.growth,
            "ended": ended,
            "findings": [_described(found) for found in fresh],
        }
        print(json.dumps(row), file=answers, flush=True)

    with (directory / INPUT).open("w+b") as file, (directory / LOG).open("w") as log:
        file.truncate(ROOM)
        place = mmap.mmap(file.fileno(), ROOM)

        def remember(data: bytes) -> None:
            place[:8] = len(data).to_bytes(8, "big")
            place[8 : 8 + len(data)] = data[: ROOM - 8]

        with tempfile.TemporaryDirectory(prefix="lockstep-fuzz-") as scratch:
            target = TARGETS[name](Path(scratch))
            try:
                with watched(log) as begin:
                    tell(fuzz(target, seed, seconds=seconds, begin=begin, remember=remember, tell=tell), ended=True)
            finally:
                target.close()


def _described(found: Finding) -> dict[str, str]:
    data = base64.b64encode(found.data).decode()
    return {"kind": found.kind, "what": found.what, "trace": found.trace, "mark": found.mark, "data": data}


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]))
