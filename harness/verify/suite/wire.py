"""Trajectories on their way to a task's own code.

A check reads a few leaves, and an environment may have megabytes of others. So a message holds those that checks have read
before, and where one reads another the message is sent again with it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.model import Array, Case, Draw, Tape, Trajectory
from harness.protocol.spec import tape_to_wire


class Unsent(BaseException):
    """A leaf was read that the message does not hold. No code of a task is to take it for a mistake of its own."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


class SentLeaves(Mapping[str, Array]):
    """All leaves of a trajectory by name, of which a message holds some.

    Args:
        names: of all leaves, in the trajectory's order.
        sent: those that the message holds.
    """

    def __init__(self, names: Sequence[str], sent: Mapping[str, Array]) -> None:
        self._names = dict.fromkeys(names)
        self._sent = sent

    def __getitem__(self, path: str) -> Array:
        if path in self._names and path not in self._sent:
            raise Unsent(path)
        return self._sent[path]

    def __contains__(self, path: object) -> bool:
        return path in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


@dataclass(frozen=True)
class SentTrajectory(Trajectory):
    """A trajectory whose leaves may be missing; how long it is, is known all the same."""

    length: int = 0

    @property
    def timesteps(self) -> int:
        """The number of timesteps: 1 + the number of steps taken."""
        return self.length

    rows = timesteps


def trajectory_to_wire(trajectory: Trajectory, paths: Collection[str]) -> dict[str, Any]:
    """A trajectory with the leaves at `paths`, as a message holds it."""
    case = trajectory.case
    return {
        "case": {
            "seed": int(case.seed),
            "actions": dict(case.actions),
            "start": None if case.start is None else dict(case.start),
            "draws": _tape(case.draws),
            "name": case.name,
            "origin": case.origin,
        },
        "names": list(trajectory.leaves),
        "leaves": {path: array for path, array in trajectory.leaves.items() if path in paths},
        "timesteps": trajectory.timesteps,
        "draws": _tape(trajectory.draws),
    }


def trajectory_from_wire(described: Mapping[str, Any]) -> Trajectory:
    """The inverse of `trajectory_to_wire`, for messages of the harness. Reading a leaf that was not sent raises `Unsent`."""
    case = dict(described["case"])
    case["draws"] = _from_tape(case["draws"])
    leaves = SentLeaves(described["names"], described["leaves"])
    return SentTrajectory(Case(**case), leaves, _from_tape(described["draws"]), described["timesteps"])


def _tape(tape: Tape | None) -> list[list[list[Any]]] | None:
    return None if tape is None else tape_to_wire(tape, whole=True)


def _from_tape(tape: Sequence[Sequence[Sequence[Any]]] | None) -> Tape | None:
    return None if tape is None else tuple(tuple(Draw(name, value) for name, value in draws) for draws in tape)
