"""The first tolerances of a new task: how far rounding alone carries one step of its reference.

No two mathematical libraries round `sin` alike, and a compiler fuses a product with a sum where the reference rounds twice.
A faithful translation is then a few units in the last place off, and nobody but the reference can tell how few. So each of
many steps is repeated with its functions and sums moved by as much (`disturbed_worker`), and what comes of it is measured.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

import harness.protocol.worker
from harness.model import Trajectory
from harness.protocol.environment import Environment, Pool
from harness.reference.install import START, reference_command
from harness.reference.sandbox import Installed
from harness.reference.start import start_reference
from harness.support.files import write_durably
from harness.task.contract import STANDARD_POLICIES, TASK_FILE, Mode, Task
from harness.verify.resynchronised import spread_steps, step_of
from harness.verify.rounding.tolerances import MARGIN, moved, table_lines, tolerances

SEED = 7
EPISODES = 16
HORIZON = 400
STEPS = 512
"""Steps that are repeated, from all over the episodes."""
REPEATS = 8
SECONDS = 20.0
HEAD = """
# Rounding. {steps} steps of this reference were repeated with what `sin`, `**` and the like return off by two units in the
# last place, and each sum, product and quotient by one: so other mathematical libraries, fused multiply-adds or sums in
# another order round. A leaf may be {margin} times as far off as it moved. Where a leaf of the state may be off, each step
# is compared from the reference's own state, and limits beside them, not to the last bit (docs/levels.md). A leaf without a
# line has to be equal in every bit: take away the lines that a candidate does without.
[tolerance]
"""


def write_first_tolerances(task: Task, environment: Installed, reference: Pool) -> tuple[str, ...]:
    """Measure, and add what follows to the task's file.

    Where states can be restored single steps are measured, as they are compared then; otherwise whole episodes.

    Returns:
        The leaves that were given a tolerance; none where nothing moves, or nothing can be measured: a program of its own,
        or chance that cannot be forced.

    Raises:
        EnvironmentFailure: the reference could not answer; nothing was written.
    """
    floats = [leaf for leaf in task.outputs.values() if np.dtype(leaf.dtype).kind == "f"]
    if task.reference.adapter is None or task.mode not in (Mode.TAPE, Mode.NONE) or not floats:
        return ()
    forced = task.mode is Mode.TAPE
    played = [one for policy in STANDARD_POLICIES for one in reference.drive(policy, range(EPISODES // 2), HORIZON)]
    if "restore" in reference.spec.capabilities:
        steps = spread_steps(played, STEPS)
        expected = reference.rollout([step_of(one, step, forced=forced) for one, step in steps])
    else:
        expected = [replace(one, case=replace(one.case, draws=one.draws if forced else None)) for one in played]
    disturbed = start_reference(task, environment, command=_command(task, environment), shown=(_worker_file(),))
    try:
        repeats = _repeated(disturbed, expected)
    finally:
        disturbed.close()
    found = tolerances(task, moved(task, expected, repeats))
    if found:
        file = task.directory / TASK_FILE
        head = HEAD.format(steps=f"{sum(one.steps for one in expected):,}", margin=MARGIN)
        write_durably(file, (file.read_text(encoding="utf-8") + head + "\n".join(table_lines(found)) + "\n").encode())
    return tuple(found)


def _repeated(disturbed: Environment, expected: Sequence[Trajectory]) -> list[list[Trajectory]]:
    began, repeats = time.monotonic(), []
    cases = [one.case for one in expected]
    while len(repeats) < REPEATS and (not repeats or time.monotonic() - began < SECONDS):
        repeats.append(disturbed.rollout(cases))
    return repeats


def _command(task: Task, environment: Installed) -> tuple[list[str], dict[str, str]]:
    """How the reference's worker is started so that its steps are disturbed."""
    _, variables = reference_command(task, environment)
    assert task.reference.adapter is not None
    leaves = task.state if any(np.dtype(leaf.dtype).kind == "f" for leaf in task.state.values()) else task.outputs
    widest = max(np.dtype(leaf.dtype).itemsize for leaf in leaves.values() if np.dtype(leaf.dtype).kind == "f")
    worker, adapter = str(harness.protocol.worker.__file__), str(task.directory / task.reference.adapter)
    given = [str(SEED), str(widest), worker, adapter]
    return [str(environment.python), "-c", START, str(_worker_file()), *given], variables


def _worker_file() -> Path:
    return Path(__file__).with_name("disturbed_worker.py")
