"""Peers: other fast implementations of the task's environment, each in an environment of its own, measured beside it.

Their adapters (`[[peers]]` in task.toml, docs/profiling.md) are trusted files of the task, served by the
worker in `harness/protocol/worker.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from harness.candidate.jax_process import jax_environment
from harness.errors import BadAnswer
from harness.measure.profile.contenders import KINDS, PEER, TRAIN, Contender
from harness.policy.device import CPU
from harness.protocol.channel import Channel
from harness.protocol.link import Pipes
from harness.reference.install import Progress, reference_command, setup
from harness.reference.sandbox import WORKER, open_sandbox
from harness.task.contract import Peer, Reference, Task

TIMEOUT_S = 120.0


@contextmanager
def started_peer(task: Task, peer: Peer, progress: Progress = lambda line: None) -> Iterator[Contender]:
    """A peer's worker, in its environment, which is built when it is first needed. It has no GPU: that environment is made
    of pins for a CPU.

    Raises:
        SetupError: its environment cannot be built.
        EnvironmentFailure: it does not start, or does not say what it can do.
    """
    described, where = as_reference(task, peer)
    installed = setup(where, progress)
    command, environment = reference_command(described, installed)
    sandbox = open_sandbox(
        described, installed, command, jax_environment(device=CPU) | environment, "peer", shown=(WORKER,)
    )
    try:
        running = sandbox.spawn(command)
        channel = Channel(Pipes(running), f"the peer {peer.name}", TIMEOUT_S)
        answer = channel.ask("open", options={})
        kinds = answer.get("kinds") if isinstance(answer, dict) else None
        if not isinstance(kinds, list) or not set(kinds) <= {*KINDS, TRAIN}:
            raise BadAnswer(
                f"the peer answers `open` with kinds {kinds!r:.100}",
                where=peer.adapter,
                expected=f"a list of some of {', '.join((*KINDS, TRAIN))}",
            )
        fixed, cores = tuple(answer.get("fixed", ())), answer.get("cores")
        yield Contender(peer.name, PEER, channel, running.pid, tuple(kinds), fixed, cores)
    finally:
        sandbox.close()


def as_reference(task: Task, peer: Peer) -> tuple[Task, Task]:
    """The task with the peer as its reference, to be started, and the one whose environment it lives in.

    A peer without requirements of its own lives in that of the task's reference, without its variables: what a reference
    needs to be observed must not slow a peer down.
    """
    if not peer.requirements:
        return replace(task, reference=replace(task.reference, adapter=peer.adapter, environment={})), task
    name = f"{task.name}-{re.sub(r'[^a-z0-9]+', '-', peer.name.lower()).strip('-')}"
    reference = Reference(adapter=peer.adapter, python=peer.python, requirements=peer.requirements)
    described = replace(task, name=name, reference=reference)
    return described, described
