"""Starting references: workers in an environment of their own, several of them where they step in parallel."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.errors import Side
from harness.model import Case, Trajectory
from harness.protocol.channel import Channel
from harness.protocol.environment import Environment, Pool
from harness.protocol.link import Pipes
from harness.reference.install import reference_command
from harness.reference.sandbox import WORKER, Installed, open_sandbox
from harness.task.contract import Task
from sandboxes import Running, Sandbox

Command = tuple[list[str], dict[str, str]]
"""The command line of a worker, and the variables to start it with."""


class ReferenceWorker(Environment):
    """A reference in a sandbox of its own, which ends with it."""

    def __init__(self, channel: Channel, running: Running, sandbox: Sandbox, options: Mapping[str, Any]) -> None:
        self._running = running
        self._sandbox = sandbox
        super().__init__(channel, options)

    def rollout(
        self, cases: Sequence[Case], mode: str | None = None, room: tuple[int, int] | None = None
    ) -> list[Trajectory]:
        """`Environment.rollout`; it compiles nothing, so that it needs no `room` beforehand."""
        return super().rollout(cases, mode)

    def finish(self, seconds: float) -> int | None:
        """Ask it to end, and wait until it has, at most so long: `close` does not wait for what it still has to write.

        Returns its exit status, None where it had to be killed.
        """
        self._channel.ask("close")
        return self._running.wait(seconds)

    def close(self) -> None:
        super().close()
        self._sandbox.close()


def start_reference(
    task: Task,
    installed: Installed,
    *,
    command: Command | None = None,
    out: Path | None = None,
    shown: tuple[Path, ...] = (),
    timeout_s: float | None = None,
    side: Side = Side.REFERENCE,
    kind: type[ReferenceWorker] = ReferenceWorker,
) -> ReferenceWorker:
    """One worker of a task's reference.

    Args:
        command: another way to start it than `reference_command`.
        out: a directory in which it may write.
        shown: what of this machine that command needs to see besides.
        timeout_s: seconds that one answer may take; by default what the task says.
        side, kind: on which side it stands, and as what: one reference can be held against another.

    Raises:
        EnvironmentFailure: it does not start, or does not describe itself.
    """
    running, sandbox = start_process(task, installed, command or reference_command(task, installed), out, shown)
    try:
        channel = Channel(Pipes(running), side, timeout_s or task.reference.timeout_s)
        return kind(channel, running, sandbox, task.reference.options)
    except BaseException:
        sandbox.close()
        raise


def start_process(
    task: Task, installed: Installed, command: Command, out: Path | None = None, shown: tuple[Path, ...] = ()
) -> tuple[Running, Sandbox]:
    """The process of a worker in a sandbox of its own, to which nothing was said yet."""
    line, environment = command
    writable = () if out is None else (out,)
    sandbox = open_sandbox(
        task, installed, line, _with_path(environment), "reference", *writable, shown=(WORKER, *shown)
    )
    try:
        return sandbox.spawn(line), sandbox
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
