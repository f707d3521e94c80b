"""How large the numbers of a reference get: what a tolerance relative to a scale is relative to.

The largest |value| of a leaf in episodes that the reference plays, before the candidate is asked anything; of a probe's
output, in its answers to inputs from all over their bounds. Their seeds are always the same, so that a tolerance is one in
every verification, comparison and measurement. Nothing that a candidate or its agent says takes part: neither known cases
nor start states, which an agent may propose.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from harness.errors import Raised
from harness.model import Array, Leaves
from harness.protocol.environment import Environment, Pool
from harness.task.contract import Task, TaskProbe
from harness.task.leaf_values import inputs_anywhere
from harness.verify.streams import Streams

SEED = 0
EPISODES = 4
"""Under each policy of the task."""
INPUTS = 256
"""For each probe."""
PROBE = "probe/"


def measured_scales(task: Task, reference: Pool) -> dict[str, float]:
    """The largest finite |value| of each leaf whose tolerance has a share of it, by path; 0.0 where there is none.

    Raises:
        EnvironmentFailure: the reference could not answer.
    """
    streams = Streams(SEED)
    wanted = [path for path, tolerance in task.tolerances.items() if tolerance.scale]
    largest = dict.fromkeys(wanted, 0.0)

    def look(path: str, values: Array) -> None:
        finite = np.abs(values[np.isfinite(values)])
        largest[path] = max(largest[path], float(finite.max(initial=0.0)))

    played = [path for path in wanted if not path.startswith(PROBE)]
    for policy in task.budgets.policies if played else ():
        for one in reference.drive(policy, streams.seeds(f"scale/{policy}", EPISODES), task.budgets.horizon):
            for path in played:
                look(path, one.leaves[path])
    for name, probe in task.probes.items():
        outputs = [path for path in probe.outputs if f"{PROBE}{name}/{path}" in largest]
        for answer in _answers(reference.first, probe, streams) if outputs else ():
            for path in outputs:
                look(f"{PROBE}{name}/{path}", answer[path])
    return largest


def at_scale(task: Task, scales: Mapping[str, float]) -> Task:
    """The task with absolute tolerances in the place of those that are shares of these scales."""
    if not scales:
        return task
    absolute = {
        path: replace(tolerance, atol=tolerance.atol + tolerance.scale * scales.get(path, 0.0), scale=0.0)
        for path, tolerance in task.tolerances.items()
    }
    return replace(task, tolerances=absolute)


def _answers(reference: Environment, probe: TaskProbe, streams: Streams) -> list[Leaves]:
    """What a probe answers to inputs from all over their bounds, but for those that it refuses."""
    if "probe" not in reference.spec.capabilities:
        return []
    rng = streams.random(f"scale/{PROBE}{probe.name}")
    inputs = inputs_anywhere(probe.inputs, rng, INPUTS)
    try:
        return [reference.probe(probe.name, inputs)]
    except Raised:
        pass
    found: list[Leaves] = []
    for row in range(INPUTS):
        try:
            found.append(reference.probe(probe.name, {name: array[row : row + 1] for name, array in inputs.items()}))
        except Raised:
            continue
    return found
