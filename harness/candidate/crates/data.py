"""What a task prepares for a candidate in Rust: files that a crate takes in while it is compiled, such as cartridges.

They are made by a script of the task with the reference's Python, so they are as trusted as the reference; the candidate
gets them to read and cannot change what the reference uses.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from harness.candidate.crates.runtime import Progress, made, silent
from harness.reference.install import run_script, setup
from harness.support.contents import contents_key
from harness.support.home import KEY_DIGITS, lockstep_home
from harness.task.contract import CANDIDATE_DIRECTORY, CASES_DIRECTORY, Task, left_out
from sandboxes import Mount

SHOWN = "/lockstep/data"
VARIABLE = "LOCKSTEP_DATA"
"""Names the directory of the files in every environment in which a crate is compiled: `env!("LOCKSTEP_DATA")`."""
_OTHERS = (CANDIDATE_DIRECTORY, CASES_DIRECTORY)


def prepared(task: Task, progress: Progress = silent) -> Path | None:
    """The directory of the files that a task prepares for its candidate; None where it prepares none.

    They are made once, and again when anything of the task but its candidate and its cases changes.

    Raises:
        SetupError: the reference's environment cannot be built, or the script failed.
    """
    script = task.candidate.data
    if script is None:
        return None
    reference = setup(task, progress)
    about = [reference.prefix.name, script]
    for entry in sorted(task.directory.iterdir()):
        if entry.is_dir() and entry.name not in _OTHERS and not left_out(entry.name):
            about += [entry.name, contents_key(entry)]
    key = hashlib.sha256(repr(about).encode()).hexdigest()[:KEY_DIGITS]
    location = lockstep_home() / "data" / f"{task.name}-{key}"

    def fill(fresh: Path) -> None:
        fresh.mkdir()
        run_script(task, reference, script, fresh)

    return made(location, f"running {script}", fill, progress)


def mounts(data: Path | None) -> tuple[Mount, ...]:
    """How an agent's sandbox shows the files."""
    return () if data is None else (Mount(data, SHOWN),)
