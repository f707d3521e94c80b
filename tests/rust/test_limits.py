"""Nothing that a user gives ends the interpreter, hangs it, or is taken for something else in silence."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import sandboxes
from harness.candidate.crates.build import build
from harness.candidate.faces.rust_batch import RustBatch
from harness.candidate.faces.rust_pool import RustPool
from harness.candidate.faces.rust_vector import RustVectorEnv
from tests.candidate.adapters.contracts import DICE
from tests.paths import ROOT
from tests.rust.games import dice_task

pytestmark = [pytest.mark.slow, pytest.mark.rust]
LEAVES = DICE["leaves"]
HUGE = 10**9
WRONG_NUMBERS = [-1, 0, 2.5, True, "4", None, float("nan")]
WRONG_SEEDS: list[Any] = [
    -1,
    1 << 64,
    0.5,
    True,
    "4",
    [1, 2, 3],
    [1, 2, 3, -1],
    [1, 2, 3, 0.5],
    [1, 2, 3, float("nan")],
]
BEGIN = """
import os, signal, sys
import numpy as np
from pathlib import Path
from harness.candidate.faces.rust_batch import RustBatch, load_module
dice = load_module(Path(sys.argv[1]))

def bets(count, number):
    return {"action/bet": np.full(count, number), "action/push": np.zeros((count, 2), np.float32)}
"""
FORKED = """
batch = RustBatch(dice, 64, threads=2)
batch.reset(range(64))
if not (child := os.fork()):
    batch.step(bets(64, 1))
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
alone = RustBatch(dice, 64, threads=1)
alone.reset(range(64))
for each in (batch, alone):
    each.step(bets(64, 2))
assert all((batch.seen[path] == alone.seen[path]).all() for path in batch.seen)
"""
INTERRUPTED = """
class Stop(Exception):
    pass

def stop(*_):
    raise Stop

signal.signal(signal.SIGALRM, stop)
count = 20_000  # each rolls dice for milliseconds
batch = RustBatch(dice, count, threads=int(sys.argv[2]))
batch.reset(range(count))
signal.setitimer(signal.ITIMER_REAL, 0.2)
try:
    batch.step(bets(count, 1_000_000))
    raise SystemExit("it was not interrupted")
except Stop:
    pass
try:  # Python itself raises what the handler raises once a step is over: this step was not
    batch.step(bets(count, 1))
    raise SystemExit("the step was done to its end")
except RuntimeError as error:
    assert "reset all environments first" in str(error), error
batch.reset(range(count))
batch.step(bets(count, 1))
"""


CONFINED = """
import resource
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
try:
    RustBatch(dice, 40_000_000)
    raise SystemExit("it was not refused")
except MemoryError as error:
    assert "40000000 environments would take" in str(error), error
"""


@pytest.fixture
def compiled(tmp_path: Path) -> Path:
    """The dice game's module in a file that stays: of what is built, only the newest is kept."""
    task = dice_task()
    return Path(shutil.copy(build(task, sandboxes.choose(None), task.directory), tmp_path))


def ran(program: str, compiled: Path, *arguments: str) -> None:
    command = [sys.executable, "-c", BEGIN + program, str(compiled), *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])


def test_a_child_that_was_forked_steps(compiled: Path) -> None:
    ran(FORKED, compiled)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_long_step_is_interrupted_by_a_signal(compiled: Path, threads: int) -> None:
    ran(INTERRUPTED, compiled, str(threads))


def test_more_instances_than_there_is_memory_for_are_refused_in_bytes(dice: ModuleType) -> None:
    with pytest.raises(MemoryError, match=rf"{HUGE} environments would take \d+ bytes of memory; there are \d+"):
        RustBatch(dice, HUGE)
    with pytest.raises(MemoryError, match="would take"):
        RustPool(dice, LEAVES, HUGE)
    with pytest.raises(MemoryError):
        RustBatch(dice, 1 << 62)


def test_a_process_that_may_take_little_memory_is_refused_too(compiled: Path) -> None:
    ran(CONFINED, compiled)


def test_more_threads_than_help_are_left_out_and_told(dice: ModuleType) -> None:
    with pytest.warns(RuntimeWarning, match=r"100000 threads were asked for; .* so there are \d+"):
        batch = RustBatch(dice, 4, threads=10**5)
    assert batch.vector.threads < 10**5
    assert RustBatch(dice, 4, threads=3).vector.threads == 3


@pytest.mark.parametrize("wrong", WRONG_NUMBERS, ids=repr)
def test_numbers_of_instances_are_whole(dice: ModuleType, wrong: Any) -> None:
    for made in (
        lambda: RustBatch(dice, wrong),
        lambda: RustPool(dice, LEAVES, wrong),
        lambda: RustVectorEnv(dice, LEAVES, wrong),
    ):
        with pytest.raises((TypeError, ValueError), match=r"^(count|num_envs) is .*; expected"):
            made()


@pytest.mark.parametrize("wrong", [-1, 2.5, False, "2"], ids=repr)
def test_numbers_of_threads_are_whole(dice: ModuleType, wrong: Any) -> None:
    with pytest.raises((TypeError, ValueError), match=r"^threads is .*; expected"):
        RustVectorEnv(dice, LEAVES, 4, threads=wrong)


@pytest.mark.parametrize("wrong", WRONG_SEEDS, ids=repr)
def test_seeds_are_whole_and_as_many_as_instances(dice: ModuleType, wrong: Any) -> None:
    envs = RustVectorEnv(dice, LEAVES, 4)
    for asked in (lambda: envs.reset(seed=wrong), lambda: RustPool(dice, LEAVES, 4, seed=wrong)):
        with pytest.raises((TypeError, ValueError), match=r"seed(\[\d\])? is .*; expected|need as many seeds"):
            asked()


def test_numbers_of_numpy_are_numbers(dice: ModuleType) -> None:
    envs, again = (RustVectorEnv(dice, LEAVES, number) for number in (np.int64(4), 4))
    seeds = (np.arange(5, 9, dtype=np.uint32), np.int16(5))
    seen = [env.reset(seed=seed)[0]["board"] for env, seed in zip((envs, again), seeds, strict=True)]
    assert np.array_equal(*seen)


@pytest.mark.parametrize("wrong", [[4], [-1], [0.5], [True], ["0"]], ids=repr)
def test_a_pool_begins_nothing_where_an_instance_is_not_there(dice: ModuleType, wrong: list[Any]) -> None:
    pool = RustPool(dice, LEAVES, 4)
    with pytest.raises((TypeError, ValueError), match=r"^env_id is .*; expected"):
        pool.reset([0, *wrong])
    with pytest.raises(RuntimeError, match=r"instances \[0, 1, 2, 3\] have not begun"):
        pool.step({"bet": np.ones(4, int), "push": np.zeros((4, 2), np.float32)})
