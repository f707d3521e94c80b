"""Trajectories on their way to a task's own code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.model import Case, Draw, Tape, Trajectory
from harness.protocol.spec import tape_to_wire


def trajectory_to_wire(trajectory: Trajectory) -> dict[str, Any]:
    """All of a trajectory, as a message holds it."""
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
        "leaves": dict(trajectory.leaves),
        "draws": _tape(trajectory.draws),
    }


def trajectory_from_wire(described: Mapping[str, Any]) -> Trajectory:
    """The inverse of `trajectory_to_wire`, for messages of the harness."""
    case = dict(described["case"])
    case["draws"] = _from_tape(case["draws"])
    return Trajectory(Case(**case), described["leaves"], _from_tape(described["draws"]))


def _tape(tape: Tape | None) -> list[list[list[Any]]] | None:
    return None if tape is None else tape_to_wire(tape, whole=True)


def _from_tape(tape: Sequence[Sequence[Sequence[Any]]] | None) -> Tape | None:
    return None if tape is None else tuple(tuple(Draw(name, value) for name, value in draws) for draws in tape)
