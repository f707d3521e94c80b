"""Where the files that come with Lockstep are: the embedded tasks, the prompt templates and the Rust runtime.

In a checkout they lie beside the packages; a wheel carries them inside `harness`.
"""

from __future__ import annotations

import difflib
import os
from pathlib import Path

from harness.errors import LockstepError, NoSuchTask

TASK_FILE = "task.toml"  # as in harness.task.contract, which would load numpy to find a file
_PACKAGE = Path(__file__).resolve().parents[1]
_ROOT = _PACKAGE / "_data" if (_PACKAGE / "_data").is_dir() else _PACKAGE.parent


def embedded_tasks() -> dict[str, Path]:
    """The directories of the tasks that come with Lockstep, by name."""
    found = sorted((_ROOT / "environments").glob(f"*/{TASK_FILE}"))
    return {path.parent.name: path.parent for path in found}


def find_task(named: str) -> Path:
    """The directory of a task, given its path or the name of an embedded one. A path that is a task goes first.

    Raises:
        NoSuchTask: there is no such task; the message lists the embedded ones.
    """
    path = Path(named).expanduser()
    if (path / TASK_FILE).is_file():
        return path.resolve()
    embedded = embedded_tasks()
    if named in embedded:
        return embedded[named]
    if path.is_dir() or os.sep in named:
        what = f"{named} has no {TASK_FILE}" if path.is_dir() else f"there is no directory {named}"
    else:
        near = difflib.get_close_matches(named, embedded, n=1)
        what = f"there is no task {named!r}" + (f"; did you mean {near[0]!r}?" if near else "")
    raise NoSuchTask(
        what,
        next_step=f"name a task directory, or one that comes with Lockstep: {', '.join(embedded) or 'none here'}; "
        "`lockstep new` makes a new one",
    )


def rust_sources() -> Path:
    """The cargo workspace of the Rust runtime.

    Raises:
        LockstepError: it is not there.
    """
    location = _ROOT / "rust"
    if not (location / "Cargo.lock").is_file():
        raise LockstepError(
            "the Rust runtime is missing",
            where=str(location),
            next_step="install Lockstep again: its data files are missing",
        )
    return location


def prompt_text(name: str) -> str:
    """The text of the template `prompts/<name>.md`.

    Raises:
        LockstepError: there is no such template.
    """
    path = _ROOT / "prompts" / f"{name}.md"
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        known = ", ".join(sorted(found.stem for found in path.parent.glob("*.md"))) or "none"
        raise LockstepError(
            f"there is no prompt template {name!r} ({error.strerror})",
            where=str(path),
            expected=f"one of: {known}",
            next_step="install Lockstep again: its data files are missing",
        ) from error
