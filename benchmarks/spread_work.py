"""What spreading work costs and gains: levels and mutants on Ray beside processes of this machine, and sixteen workers.

On one machine Ray can only cost. What many workers gain is measured with references that sleep: one machine
then stands in for sixteen.
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

import sandboxes
from benchmarks.common import ENVIRONMENTS, candidate_tree, must_pass, report, spread
from harness.farm.engine import Engine
from harness.farm.processes import Processes
from harness.measure.strength.run import Settings, measure
from harness.model import Case
from harness.operations.spreading import engine_on
from harness.reference.elsewhere import FarPool, reference_recipe
from harness.task.load import load_task
from harness.verify.request import LevelsRequest
from harness.verify.verifier import Verifier

ROUNDS = 5
MUTANTS = 50
WORKERS = 16
EPISODES, STEPS = 320, 100
SEED = 7


def main() -> None:
    """Measure and report."""
    import ray

    ray.init(num_cpus=WORKERS, log_to_driver=False, include_dashboard=False)
    with engine_on("ray") as engine:
        assert engine is not None
        rows = [level_3(engine), mutants(engine), sleeping(engine)]
    ray.shutdown()
    report("spread_work", "Work on Ray beside processes of this machine (seconds)", rows)


def level_3(engine: Engine) -> dict[str, Any]:
    """Level 3 of Pong with two references, one round here and one there in turns."""
    task, driver = load_task(ENVIRONMENTS / "pong"), sandboxes.choose(None)
    seconds: dict[str, list[float]] = {"here": [], "ray": []}
    with tempfile.TemporaryDirectory() as scratch, ExitStack() as stack:
        tree = candidate_tree(task.directory, Path(scratch))
        verifiers = {
            name: stack.enter_context(Verifier(task, driver, workers=2, engine=chosen))
            for name, chosen in (("here", None), ("ray", engine))
        }
        for number in range(ROUNDS + 1):
            for name, verifier in verifiers.items():
                began = time.perf_counter()
                must_pass(verifier.verify(tree, LevelsRequest((3,), SEED + number)))
                if number:  # the first round starts the workers
                    seconds[name].append(time.perf_counter() - began)
    return _row("level 3 of Pong, two workers", seconds)


def mutants(engine: Engine) -> dict[str, Any]:
    """Mutants of Pong before levels 1 to 3, two at once, from nothing kept."""
    task, driver = load_task(ENVIRONMENTS / "pong"), sandboxes.choose(None)
    seconds: dict[str, list[float]] = {"here": [], "ray": []}
    with Processes(2) as here:
        for name, chosen in (("here", here), ("ray", engine)):
            with tempfile.TemporaryDirectory() as journals:
                began = time.perf_counter()
                settings = Settings(sample=MUTANTS, jobs=2)
                measure(task, task.directory, driver, settings, seed=SEED, journals=Path(journals), engine=chosen)
                seconds[name].append(time.perf_counter() - began)
    return _row(f"{MUTANTS} mutants of Pong, two at once", seconds)


def sleeping(engine: Engine) -> dict[str, Any]:
    """Episodes of a reference that sleeps a millisecond in each step, by one worker and by sixteen."""
    cases = [Case(seed, {"action": np.zeros(STEPS, np.int32)}) for seed in range(EPISODES)]
    seconds: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        copied = shutil.copytree(Path(__file__).parent / "slow_reference", Path(scratch) / "slow_reference")
        adapter = copied / "reference" / "adapter.py"
        busy = "        while time.process_time() < end:\n            pass\n"
        text = adapter.read_text()
        assert busy in text
        adapter.write_text(text.replace(busy, "        time.sleep(STEP_SECONDS)\n"))
        task = load_task(copied)
        for count in (1, WORKERS):
            pool = FarPool(task, engine, reference_recipe(task), count)
            pool.rollout(cases[:count])
            began = time.perf_counter()
            pool.rollout(cases)
            seconds[str(count)] = [time.perf_counter() - began]
            pool.close()
    one, many = seconds["1"][0], seconds[str(WORKERS)][0]
    return {
        "what": f"{EPISODES} episodes that sleep, 1 and {WORKERS} workers", "here": f"{one:.3g}", "ray": f"{many:.3g}",
        "ratio": f"{one / many / WORKERS:.2f} of linear",
    }  # fmt: skip


def _row(what: str, seconds: Mapping[str, list[float]]) -> dict[str, Any]:
    ratio = statistics.median(seconds["ray"]) / statistics.median(seconds["here"])
    return {"what": what, "here": spread(seconds["here"]), "ray": spread(seconds["ray"]), "ratio": f"{ratio:.2f}"}


if __name__ == "__main__":
    main()
