"""Serves properties that an agent proposes. They are the agent's code, so they run in a sandbox, never in the harness.

Every public function of `proposed/properties.py` that takes one trajectory is an invariant. A trajectory has `leaves`
(arrays over timesteps by path), `actions` (over steps by path) and `timesteps`; the answer is one bool for each timestep, or
one for all.
"""

from __future__ import annotations

import importlib.util
import inspect
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class ProposedTrajectory:
    """What a proposed property may look at."""

    leaves: dict[str, Any]
    actions: dict[str, Any]

    @property
    def timesteps(self) -> int:
        """1 + the number of steps."""
        return len(next(iter(self.leaves.values())))

    rows = timesteps
    """The former name, by which properties of earlier records ask."""


class Judge:
    """The worker's side: loads the file once, judges trajectories in batches."""

    answers_batches = True

    def open(self, options: dict[str, Any]) -> dict[str, Any]:
        """Load the file `options["file"]`; answers the names of its properties."""
        spec = importlib.util.spec_from_file_location("proposed_properties", options["file"])
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        self._properties = {
            name: function
            for name, function in vars(module).items()
            if inspect.isfunction(function) and function.__module__ == module.__name__ and not name.startswith("_")
        }
        return {"properties": sorted(self._properties)}

    def judge(self, trajectories: list[dict[str, Any]]) -> dict[str, Any]:
        """For each property the first timestep that breaks it in each trajectory, -1 where it holds; or what it raised."""
        answers: dict[str, Any] = {}
        for name, check in sorted(self._properties.items()):
            try:
                answers[name] = [self._first_violation(check, described) for described in trajectories]
            except Exception as error:  # whatever an agent's code raises is an answer about that property alone
                answers[name] = f"{type(error).__name__}: {error}"
        return answers

    @staticmethod
    def _first_violation(check: Any, described: dict[str, Any]) -> int:
        trajectory = ProposedTrajectory(described["leaves"], described["actions"])
        holds = np.broadcast_to(np.asarray(check(trajectory), dtype=bool), (trajectory.timesteps,))
        broken = np.flatnonzero(~holds)
        return int(broken[0]) if len(broken) else -1
