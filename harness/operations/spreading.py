"""The engine that a user names: `--on`, or `LOCKSTEP_ON` for a process and what it starts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from harness.errors import SetupError
from harness.farm.engine import Alike, Engine
from harness.record.machine import conditions

HERE, RAY = "here", "ray"
JUDGE = frozenset(("judge", "lockstep"))


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
    if name != RAY and not name.rpartition(":")[2].isdigit():
        raise SetupError(
            f"there is no engine {name!r}",
            where="--on",
            expected=f"`{HERE}`, `{RAY}`, or the address of a Ray cluster (ray://host:port, host:port)",
        )
    from harness.farm.cluster import Cluster

    # A node that judges otherwise would give other verdicts.
    same = {fact: value for fact, value in conditions().items() if fact in JUDGE}
    alike = Alike(f"{conditions.__module__}:{conditions.__name__}", same)
    with Cluster("" if name == RAY else name, alike) as engine:
        yield engine
