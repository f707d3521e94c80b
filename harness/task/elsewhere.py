"""A task as it is taken to another process or node: what was read of it, and its files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.farm.parcel import Parcel
from harness.task.contract import Task, caches

TASK, FILES = "task", "files"


def task_parts(task: Task) -> tuple[dict[str, Any], dict[str, Parcel]]:
    """The argument and the parcel of a recipe whose factory takes `task` and `files`, and begins with `task_there`."""
    return {TASK: task}, {FILES: Parcel.of(task.directory, caches)}


def task_there(task: Task, files: Path) -> Task:
    """The task over its files as they were unpacked."""
    return replace(task, directory=files)
