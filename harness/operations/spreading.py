"""The engine that a user names: `--on`, or `LOCKSTEP_ON` for a process and what it starts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from harness.errors import SetupError
from harness.farm.engine import Alike, Engine, name_of
from harness.record.judge import source_digest
from harness.record.machine import conditions

HERE, RAY = "here", "ray"
MEMBERS = ("harness.operations.verify_all", "harness.measure.strength.worker")
"""What is made on nodes besides what decides a verdict."""
ALIKE = frozenset(("judge", "lockstep", "source"))


@contextmanager
def engine_on(name: str | None) -> Iterator[Engine | None]:
    """The engine called so, for as long as this lasts; None for this machine.

    Args:
        name: `here`, `ray`, or the address of a Ray cluster (`ray://host:port`, `host:port`).

    Raises:
        SetupError: there is no such engine, Ray is not installed, or there is no cluster at that address.
    """
    if name in (None, "", HERE):
        yield None
        return
    from harness.farm.cluster import Cluster
    from harness.farm.joining import host_and_port

    if name != RAY and host_and_port(name) is None:
        raise SetupError(
            f"there is no engine {name!r}",
            where="--on",
            expected=f"`{HERE}`, `{RAY}`, or the address of a Ray cluster (ray://host:port, host:port)",
        )
    # A node that judges otherwise would give other verdicts.
    same = {fact: value for fact, value in facts().items() if fact in ALIKE}
    alike = Alike(name_of(facts), same)
    with Cluster("" if name == RAY else name, alike) as engine:
        yield engine


def facts() -> dict[str, Any]:
    """What a node tells of itself: the conditions of a verdict, and `source`, SHA-256 over the files of all that is asked of
    nodes.
    """
    return conditions() | {"source": source_digest(*MEMBERS)}
