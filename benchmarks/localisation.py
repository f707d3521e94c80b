"""How long it takes to localise and shrink a divergence found at step 400, for a visible cause and for a hidden one."""

from __future__ import annotations

import secrets
import tempfile
import time
from pathlib import Path

import sandboxes
from benchmarks.common import ENVIRONMENTS, report
from harness.candidate.start import CandidateWorker
from harness.reference.install import setup
from harness.reference.start import start_references
from harness.support.progress import silent
from harness.task.load import load_task
from harness.verify.localise import localise
from harness.verify.pair import Pair
from harness.verify.suite.client import Suite
from tests.mutants.cartpole import STEP, hidden_counter
from tests.mutants.plant import Mutant, plant

VISIBLE = (
    (
        STEP,
        "    x, x_dot, theta, theta_dot = dynamics(*state[:4], action)\n"
        "    theta_dot = theta_dot + jnp.where(state.steps >= 399, 1e-3, 0.0)\n"
        "    state = State(x, x_dot, theta, theta_dot, state.steps + 1)\n",
    ),
)


def main() -> None:
    """Measure and report."""
    task = load_task(ENVIRONMENTS / "cartpole")
    pool = start_references(task, setup(task))
    rows = []
    for cause, edits in (("a wrong rule", VISIBLE), ("hidden state", hidden_counter(399))):
        with tempfile.TemporaryDirectory() as scratch:
            plant(task, Mutant(cause, edits, 3, ".*"), Path(scratch))
            worker = CandidateWorker(task, sandboxes.choose(None))
            candidate = worker.open(Path(scratch))
            pair = Pair(task, Suite(), pool, candidate, secrets.randbits(62), silent)
            expected = pool.drive("balance", pair.seeds("benchmark", 8), task.budgets.horizon)
            found = pair.differences(expected, pair.follow(expected))
            number = next(n for n, difference in enumerate(found) if difference is not None)
            difference = found[number]
            assert difference is not None and difference.step == 400, found
            began = time.perf_counter()
            divergence = localise(pair, expected[number], difference, level=3, check="benchmark")
            seconds = time.perf_counter() - began
            worker.close()
        assert divergence.case is not None
        rows.append(
            {
                "cause": cause,
                "found at step": difference.step,
                "seconds": seconds,
                "actions left": divergence.case.length,
                "module": str(divergence.module),
                "goal": "under 10 s",
            }
        )
    pool.close()
    report("localisation", "Localising and shrinking a divergence found at step 400", rows)
