"""Verifying a directory as it is, outside any session."""

from __future__ import annotations

import shutil
from contextlib import ExitStack
from pathlib import Path

from harness.candidate.start import demand_no_links
from harness.farm.engine import Engine
from harness.support.progress import Progress, silent
from harness.task.contract import Task, caches
from harness.verdict import Verdict
from harness.verify.request import LevelsRequest
from harness.verify.verifier import Verifier
from sandboxes import Driver
from sandboxes.removal import scratch_directory


def copy_candidate(source: Path, destination: Path) -> None:
    """Copy what a verification reads of a directory, for a run outside any session.

    Raises:
        SetupError: there is a link in it, which would show what lies outside.
    """
    for name in ("candidate", "proposed"):
        if (source / name).is_dir():
            demand_no_links(source / name)
            shutil.copytree(source / name, destination / name, ignore=caches)


def verify_directory(
    task: Task, driver: Driver, request: LevelsRequest, progress: Progress = silent, engine: Engine | None = None
) -> Verdict:
    """Verify a task directory as it is, outside any session: nothing is committed or recorded."""
    with ExitStack() as stack:
        tree = stack.enter_context(scratch_directory("lockstep-tree-"))
        copy_candidate(task.directory, tree)
        verifier = stack.enter_context(Verifier(task, driver, progress=progress, engine=engine))
        return verifier.verify(tree, request)
