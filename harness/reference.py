"""Starting references: workers in an environment of their own, several of them where they step in parallel."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from harness.channel import Channel
from harness.environment import Environment, Pool
from harness.setup import Installed, reference_command
from harness.task import Task
from sandboxes import Limits, Mount, Sandbox, SandboxSpec, choose

MEMORY_BYTES = 8 << 30


class ReferenceWorker(Environment):
    """A reference in a sandbox of its own, which ends with it."""

    def __init__(self, channel: Channel, sandbox: Sandbox, options: Mapping[str, Any]) -> None:
        self._sandbox = sandbox
        super().__init__(channel, options)

    def close(self) -> None:
        super().close()
        self._sandbox.close()


def start_reference(task: Task, installed: Installed) -> Environment:
    """One worker of a task's reference.

    The reference is trusted, so it runs without isolation; its limits and its process group keep a broken one from
    taking the machine with it.

    Raises:
        EnvironmentFailure: it does not start, or does not describe itself.
    """
    command, environment = reference_command(task, installed)
    sandbox = choose("process").open(
        SandboxSpec(
            mounts=(Mount(task.directory, "/task", writable=True),),
            workdir="/task",
            environment=_with_path(environment),
            limits=Limits(memory_bytes=MEMORY_BYTES, processes=1024, wall_seconds=24 * 3600.0, file_bytes=8 << 30),
        )
    )
    try:
        channel = Channel(sandbox.spawn(command), "the reference", task.reference.timeout_s)
        return ReferenceWorker(channel, sandbox, task.reference.options)
    except BaseException:
        sandbox.close()
        raise


def start_references(task: Task, installed: Installed, count: int = 0) -> Pool:
    """Several workers of a task's reference; `count` 0 takes what the task says, or one for each processor."""
    count = count or task.reference.workers or len(os.sched_getaffinity(0))
    started: list[Environment] = []
    try:
        for _ in range(count):
            started.append(start_reference(task, installed))
    except BaseException:
        for environment in started:
            environment.close()
        raise
    return Pool(started)


def _with_path(environment: Mapping[str, str]) -> dict[str, str]:
    """A reference given as a command is found as the user's shell would find it."""
    return {"PATH": os.environ.get("PATH", os.defpath), **environment}
