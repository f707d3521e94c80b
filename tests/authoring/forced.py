"""What every generator that `lockstep new` watches has to give: an episode again, from its draws alone."""

from __future__ import annotations

from harness.model import Case
from harness.reference.install import Installed
from harness.reference.start import start_reference
from harness.task.contract import Task


def assert_forced(task: Task, installed: Installed) -> None:
    """An episode whose draws are forced under another seed is the same bit by bit."""
    reference = start_reference(task, installed)
    try:
        [episode] = reference.drive("random", [3], 20)
        [forced] = reference.rollout([Case(99, episode.case.actions, draws=episode.draws)])
        assert forced.digest == episode.digest
    finally:
        reference.close()
