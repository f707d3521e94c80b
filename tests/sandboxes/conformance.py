"""The promises of `sandboxes.Sandbox`, as behaviours that every driver must show.

To put a driver through it, parametrise a test over `BEHAVIOURS` and call `verify(behaviour, Bench(...))`.
What only isolation can give is not skipped for a driver without it: that driver must then declare, by
`isolated` and `warning`, that it gives none. What takes Landlock is asked of a driver that says it has it.
"""

from __future__ import annotations

import behaviours_commands
import behaviours_files
import behaviours_isolation
import behaviours_limits
import behaviours_workers
from bench import BEHAVIOURS, Behaviour, Bench

__all__ = ["BEHAVIOURS", "PARTS", "Behaviour", "Bench", "named", "verify"]

PARTS = (
    behaviours_commands,
    behaviours_files,
    behaviours_isolation,
    behaviours_limits,
    behaviours_workers,
)


def verify(behaviour: Behaviour, bench: Bench) -> None:
    """Raises AssertionError unless the driver keeps this promise, or honestly does not make it."""
    if behaviour.isolating and not bench.driver.isolated:
        warning = bench.driver.warning
        assert warning is not None, "an unisolated driver must say what it does not promise"
        assert "unisolated" in warning, warning
        return
    if behaviour.guarding and bench.driver.exposes() is not None:
        assert not bench.driver.isolated, "what isolates exposes nothing"
        return
    behaviour.check(bench)


def named(name: str) -> Behaviour:
    """The behaviour called `name`."""
    return next(behaviour for behaviour in BEHAVIOURS if behaviour.name == name)
