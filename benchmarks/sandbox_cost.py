"""What a sandbox costs: its start, and the filter of the kernel's calls in a loop of calls and in a candidate's level 3.

With and without are taken in turns, in one run, and their ratio is that of each pair.
"""

from __future__ import annotations

import contextlib
import secrets
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import sandboxes
from benchmarks.common import ENVIRONMENTS, candidate_tree, must_pass, report, spread
from harness.reference.install import setup
from harness.task.load import load_task
from harness.verify.request import LevelsRequest
from harness.verify.verifier import Verifier
from sandboxes import Sandbox, SandboxSpec, kernel_files, local
from sandboxes._supervisor.job import FILTER_FD, Job

STARTS = 40
LOOPS = 8
LEVELS = 3
CALLS = 300_000

LOOP = f"""
import os, time
began = time.process_time()
for _ in range({CALLS}):
    os.getppid()
print(time.process_time() - began)
"""


@contextlib.contextmanager
def unfiltered() -> Iterator[None]:
    """Commands may make every call."""
    asks_for_it = f"--seccomp\0{FILTER_FD}\0".encode()

    def job(**fields: Any) -> Job:
        arguments = fields["arguments"]
        without = None if arguments is None else arguments.replace(asks_for_it, b"")
        return Job(**{**fields, "filter": None, "arguments": without})

    with patch.object(local, "Job", job):
        yield


@contextlib.contextmanager
def unmasked() -> Iterator[None]:
    """A sandbox hides nothing of /proc."""
    with patch.object(kernel_files, "hidden", lambda **_: iter(())):
        yield


def main() -> None:
    """Measure and report."""
    driver = sandboxes.choose(None)

    def start() -> float:
        began = time.perf_counter()
        with driver.open(SandboxSpec()) as sandbox:
            sandbox.run(["true"])
        return time.perf_counter() - began

    def loop() -> float:
        with driver.open(SandboxSpec()) as sandbox:
            return _number(sandbox, LOOP)

    rows = [
        row(f"{driver.name}: open, run `true`, close", "/proc hidden", start, unmasked, STARTS),
        row(f"{CALLS:,} calls of getppid", "filter", loop, unfiltered, LOOPS),
        *level3(driver),
    ]
    report("sandbox_cost", "What a sandbox costs (seconds)", rows)


def level3(driver: sandboxes.Driver) -> list[dict[str, object]]:
    """CartPole's level 3, with workers that are new in each round."""
    task = load_task(ENVIRONMENTS / "cartpole")
    setup(task)
    with tempfile.TemporaryDirectory() as scratch:
        tree = candidate_tree(task.directory, Path(scratch))

        def verify() -> float:
            began = time.perf_counter()
            with Verifier(task, driver) as verifier:
                must_pass(verifier.verify(tree, LevelsRequest((3,), secrets.randbits(62))))
            return time.perf_counter() - began

        return [row("level 3 of CartPole", "filter", verify, unfiltered, LEVELS)]


def row(
    what: str,
    confinement: str,
    measure: Callable[[], float],
    without: Callable[[], contextlib.AbstractContextManager[None]],
    rounds: int,
) -> dict[str, object]:
    """Medians with and without, in turns, and the median ratio of the pairs."""
    measure()  # files are read for the first time
    pairs = []
    for _ in range(rounds):
        bound = measure()
        with without():
            pairs.append((bound, measure()))
    return {
        "what": what,
        "with and without": confinement,
        "with": spread([bound for bound, _ in pairs]),
        "without": spread([free for _, free in pairs]),
        "ratio": statistics.median(bound / free for bound, free in pairs),
    }


def _number(sandbox: Sandbox, program: str) -> float:
    finished = sandbox.run(["python3", "-c", program])
    assert finished.exit_code == 0, finished
    return float(finished.stdout)
