"""What the border costs: verifications and warm feedback by this tree and by an earlier revision, in turns on one machine.

    python -m benchmarks.border_cost [--revision 0e64cd6] [--rounds 5] [--task cartpole]... [--warm-rounds 8]

The earlier revision is unpacked beside this one and run by the same interpreter, with the packages that are installed here.
Each tree has a home of its own, and whatever is built or cached lies ready before the clock runs. Round by round both
judge with the same seed, each as often before the other as behind it, so that what else goes on hits both. A verification
is a process of its own, as `lockstep verify` is. Processor time counts all processes that a judgement started, those that
were killed too.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.common import report, spread
from harness.record.machine import conditions

BEFORE, AFTER = "before", "after"
REVISION = "0e64cd6"
"""The last commit without the border."""
ROOT = Path(__file__).parents[1]
SEED = 20_261_124
LEVELS = (1, 2, 3)
MODULES = {"cartpole": "dynamics", "pong": "ball"}
THINKING_S = 4.0
"""An agent takes longer than this between two runs; in it the next worker gets ready."""
JUDGE = r"""
import ctypes, json, os, resource, shutil, sys, tempfile, time
from pathlib import Path
began = time.perf_counter()
import sandboxes
from harness.reference.install import setup
from harness.task.load import load_task
from harness.verdict import Outcome
from harness.verify.request import LevelsRequest
from harness.verify.verifier import Verifier

ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER: what a killed sandbox leaves is waited for here
name, what = sys.argv[1:]
task = load_task(Path("environments") / name)
driver = sandboxes.choose(None)

def tree_in(scratch):
    tree = Path(scratch)
    shutil.copytree(task.directory / "candidate", tree / "candidate", ignore=shutil.ignore_patterns("__pycache__"))
    return tree

def judged(verifier, tree, levels, seed, module=None):
    verdict = verifier.verify(tree, LevelsRequest(tuple(levels), seed, module))
    assert verdict.outcome is Outcome.PASS, (verdict.error, verdict.to_json())

def used():
    try:
        while True:
            os.waitpid(-1, 0)
    except ChildProcessError:
        pass
    each = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return {"cpu": sum(one.ru_utime + one.ru_stime for one in each), "peak_mb": max(one.ru_maxrss for one in each) / 1024}

with tempfile.TemporaryDirectory() as scratch:
    tree = tree_in(scratch)
    if what == "warm":
        setup(task)
        with Verifier(task, driver, prepare=True) as verifier:
            verifier.reference()
            for line in sys.stdin:
                asked = json.loads(line)
                start = time.perf_counter()
                judged(verifier, tree, [1], asked["seed"], asked["module"])
                print(json.dumps({"seconds": time.perf_counter() - start}), flush=True)
        print(json.dumps(used()), flush=True)
    else:
        asked = json.loads(what)
        setup(task)
        with Verifier(task, driver) as verifier:
            judged(verifier, tree, asked["levels"], asked["seed"])
        print(json.dumps({"seconds": time.perf_counter() - began} | used()))
"""


class Side:
    """One of the two trees, with a home of its own."""

    def __init__(self, tree: Path, home: Path) -> None:
        home.mkdir(mode=0o700)
        self._tree = tree
        self._environment = os.environ | {"PYTHONPATH": str(tree), "LOCKSTEP_HOME": str(home)}

    def verify(self, task: str, seed: int, levels: Sequence[int]) -> dict[str, float]:
        """Seconds, processor seconds and peak memory of one verification in a process of its own.

        Raises:
            RuntimeError: it did not pass.
        """
        asked = json.dumps({"seed": seed, "levels": list(levels)})
        done = subprocess.run(
            self._command(task, asked),
            cwd=self._tree, env=self._environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(f"a verification of {task} in {self._tree} did not pass: {done.stderr[-3_000:]}")
        return json.loads(done.stdout.splitlines()[-1])

    def warm(self, task: str) -> subprocess.Popen[str]:
        """A process that gives feedback for one module each time it is asked."""
        return subprocess.Popen(
            self._command(task, "warm"),
            cwd=self._tree, env=self._environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def _command(self, task: str, what: str) -> list[str]:
        return [sys.executable, "-c", JUDGE, task, what]


def main(given: Sequence[str] = ()) -> None:
    """Measure and report."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.border_cost", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--revision", default=REVISION, help="the tree to compare with")
    parser.add_argument("--rounds", type=int, default=5, help="verifications by each tree")
    parser.add_argument("--warm-rounds", type=int, default=8, help="warm feedbacks by each tree")
    parser.add_argument("--levels", type=int, nargs="+", default=list(LEVELS))
    parser.add_argument("--task", action="append", choices=MODULES, help="default: all that can be built here")
    asked = parser.parse_args(given)
    possible = [name for name in MODULES if name != "pong" or shutil.which("cc")]
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="lockstep-border-cost-")))
        unpack(asked.revision, scratch / BEFORE)
        sides = {BEFORE: Side(scratch / BEFORE, scratch / "home-before"), AFTER: Side(ROOT, scratch / "home-after")}
        rows: list[dict[str, Any]] = []
        for task in asked.task or possible:
            rows += verifications(sides, task, asked.rounds, asked.levels)
            rows += feedback(sides, task, asked.warm_rounds)
            report("border_cost", f"Cost of the border: {asked.revision} before, {_head()} after; {_software()}", rows)


def unpack(revision: str, place: Path) -> None:
    """Put the files of a revision into a new directory.

    Raises:
        subprocess.CalledProcessError: there is no such revision.
    """
    archive = subprocess.run(["git", "archive", revision], cwd=ROOT, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as packed:
        packed.extractall(place, filter="tar")


def in_turns(number: int) -> tuple[str, str]:
    """Which tree comes first in a round."""
    return (BEFORE, AFTER) if number % 2 == 0 else (AFTER, BEFORE)


def verifications(sides: Mapping[str, Side], task: str, rounds: int, levels: Sequence[int]) -> list[dict[str, Any]]:
    """Rows for whole verifications of a task: seconds, processor seconds, peak memory."""
    for side in sides.values():
        side.verify(task, SEED, levels[:1])  # builds and caches what is built and cached
    found: dict[str, list[dict[str, float]]] = {name: [] for name in sides}
    for number in range(rounds):
        for name in in_turns(number):
            found[name].append(sides[name].verify(task, SEED + number, levels))
            print(f"{task}, round {number + 1}, {name}: {found[name][-1]['seconds']:.1f} s", flush=True)
    what = f"{task}, levels {' '.join(map(str, levels))}"
    units = {"seconds": "s", "cpu": "s of processor", "peak_mb": "MB, largest process"}
    return [
        compared(f"{what}: {words}", *([each[unit] for each in found[name]] for name in (BEFORE, AFTER)))
        for unit, words in units.items()
    ]


def feedback(sides: Mapping[str, Side], task: str, rounds: int) -> list[dict[str, Any]]:
    """Rows for level 1 of one module, warm; the first round is not counted."""
    processes = {name: side.warm(task) for name, side in sides.items()}
    found: dict[str, list[float]] = {name: [] for name in sides}
    for number in range(rounds + 1):
        for name in in_turns(number):
            time.sleep(THINKING_S)
            seconds = _asked(processes[name], {"seed": SEED + number, "module": MODULES[task]})["seconds"]
            if number:
                found[name].append(seconds)
    used = {name: _ended(process) for name, process in processes.items()}
    what = f"{task}, warm feedback on {MODULES[task]}"
    each = [[used[name]["cpu"] / (rounds + 1)] for name in (BEFORE, AFTER)]
    return [compared(f"{what}: s", found[BEFORE], found[AFTER]), compared(f"{what}: s of processor, mean", *each)]


def compared(what: str, before: Sequence[float], after: Sequence[float]) -> dict[str, Any]:
    """A row: both, and the ratio and the difference of their medians."""
    first, second = statistics.median(before), statistics.median(after)
    shown = {"measured": what, BEFORE: spread(before), AFTER: spread(after)}
    return shown | {"ratio": round(second / first, 3), "difference": round(second - first, 3)}


def _asked(process: subprocess.Popen[str], question: Mapping[str, Any]) -> dict[str, float]:
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(json.dumps(question) + "\n")
    process.stdin.flush()
    answer = process.stdout.readline()
    if not answer:
        raise RuntimeError("the process that gives feedback has ended; its error is above")
    return json.loads(answer)


def _ended(process: subprocess.Popen[str]) -> dict[str, float]:
    """What a process used, which it says at its end."""
    assert process.stdin is not None and process.stdout is not None
    process.stdin.close()
    with process.stdout:
        used = json.loads(process.stdout.readline())
    process.wait()
    return used


def _head() -> str:
    asked = ["git", "describe", "--always", "--dirty"]
    return subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def _software() -> str:
    found = conditions()
    return ", ".join(f"{name} {found[name]}" for name in ("python", "numpy", "jax", "lockstep"))


if __name__ == "__main__":
    main(sys.argv[1:])
