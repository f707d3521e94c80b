"""What instances of a batch did, noted timestep by timestep: what a verifier holds against single instances and the
reference.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from harness.candidate.faces.rust_batch import SAME_STEP, STATE, RustBatch
from harness.protocol.worker import Leaf

Array = np.ndarray[Any, Any]
Answer = dict[str, Any]
Tape = list[tuple[str, Array]]


class Player:
    """One case in a sub-environment of a batch, noted timestep by timestep."""

    def __init__(
        self,
        leaves: Sequence[Leaf],
        state: Mapping[str, Leaf],
        batch: RustBatch,
        env_index: int,
        case: Mapping[str, Any],
    ) -> None:
        self._leaves, self._batch, self._env_index = leaves, batch, env_index
        self._length = len(next(iter(case["actions"].values())))
        self._state = [STATE + path for path in batch.state_paths]
        self._timesteps: list[Answer] = []
        self._draws: list[Any] = []
        self.over = False
        tape, start = case.get("draws"), case.get("start")
        timesteps = [as_taken(timestep) for timestep in tape or ()]
        vector = batch.vector
        if start is None:
            vector.watch(env_index, timesteps)
            vector.reset_env(env_index, case["seed"], batch.seen_arrays)
        else:
            vector.reset_env(env_index, case.get("seed", 0), batch.seen_arrays)
            vector.watch(env_index, timesteps[1:])
            given = [state[path].one(start[path])[None] for path in self._state]
            vector.restore_env(env_index, given, None, batch.seen_arrays)
        _, begun, _ = vector.report(env_index)
        self._add(dict.fromkeys(batch.outcome, 0), batch.seen, vector.state(env_index), begun)

    def look(self) -> None:
        """Note the timestep that the last step led to."""
        batch, env_index = self._batch, self._env_index
        drawn, _, last = batch.vector.report(env_index) if not self.over else ([], [], None)
        if self.over or len(self._timesteps) > self._length:
            return
        outcome = {path: array[env_index] for path, array in batch.outcome.items()}
        self.over = bool(outcome["terminated"] or outcome["truncated"])
        seen = batch.last if self.over and batch.mode == SAME_STEP else batch.seen
        self._add(outcome, seen, batch.vector.state(env_index) if last is None else last, drawn)

    def answer(self) -> Answer:
        """The case's timesteps."""
        return {
            "leaves": {
                leaf.path: leaf.stack([timestep[leaf.path] for timestep in self._timesteps]) for leaf in self._leaves
            },
            "draws": self._draws,
        }

    def _add(self, outcome: Mapping[str, Any], seen: Mapping[str, Array], state: Sequence[Array], drawn: Tape) -> None:
        types = {leaf.path: leaf.dtype for leaf in self._leaves}
        timestep = {path: np.asarray(value).astype(types[path]) for path, value in outcome.items()}
        timestep |= {path: array[self._env_index].copy() for path, array in seen.items()}
        timestep |= dict(zip(self._state, state, strict=True))
        self._timesteps.append(timestep)
        self._draws.append([[name, value] for name, value in drawn])


class WatchedEnvs:
    """What some sub-environments of an auto-resetting batch did, in the form of the call `autoreset`.

    Of `lanes` only chance is noted, besides.
    """

    def __init__(
        self, contract: Mapping[str, Any], shown: Sequence[int], steps: int, lanes: Sequence[int] | None = None
    ) -> None:
        self._env_indices, self._shown, self._steps = shown, len(shown), steps
        self._timesteps: list[list[Answer]] = [[{} for _ in shown] for _ in range(steps + 1)]
        self._chance = _Chance(contract, len(shown), steps)
        self._lanes = None if lanes is None else np.asarray(lanes, np.intp)
        self._chance_of_lanes = _Chance(contract, len(lanes or ()), steps)
        self._index_of_lane = {int(lane): index for index, lane in enumerate(lanes or ())}
        self._others = sorted(self._index_of_lane.keys() - set(shown))
        self._ended = np.zeros((steps + 1, len(lanes or ())), bool)

    def look(self, timestep: int, batch: RustBatch) -> None:
        """Note the newest timestep of each of the sub-environments."""
        for index, env_index in enumerate(self._env_indices):
            stepped, begun, last = batch.vector.report(env_index)
            self._add(timestep, index, batch, env_index, last)
            self._chance.note(timestep, index, stepped, begun)
            if env_index in self._index_of_lane:
                self._chance_of_lanes.note(timestep, self._index_of_lane[env_index], stepped, begun)
        for env_index in self._others:
            stepped, begun, _ = batch.vector.report(env_index)
            self._chance_of_lanes.note(timestep, self._index_of_lane[env_index], stepped, begun)
        if self._lanes is not None:
            self._ended[timestep] = (batch.terminated | batch.truncated)[self._lanes]

    def _add(self, timestep: int, index: int, batch: RustBatch, env_index: int, last: Sequence[Array] | None) -> None:
        state = batch.vector.state(env_index)
        leaves: Answer = {path: np.array(array[env_index]) for path, array in batch.outcome.items()}
        for path, array in batch.seen.items():
            leaves[path] = array[env_index].copy()
            leaves[f"final/{path}"] = (array if last is None else batch.last[path])[env_index].copy()
        for path, now, then in zip(batch.state_paths, state, state if last is None else last, strict=True):
            leaves[STATE + path], leaves[f"final/{STATE}{path}"] = now, then
        self._timesteps[timestep][index] = leaves

    def answer(self, leaves: Sequence[Leaf]) -> Answer:
        """All of it, stacked."""
        declared = {leaf.path: leaf for leaf in leaves}
        stacked = {
            path: declared[path.removeprefix("final/")]
            .stack([timestep[path] for timesteps in self._timesteps for timestep in timesteps])
            .reshape((self._steps + 1, self._shown, *declared[path.removeprefix("final/")].shape))
            for path in self._timesteps[0][0]
        }
        lanes = {} if self._lanes is None else {"lanes": self._chance_of_lanes.parts | {"ended": self._ended}}
        return {"leaves": stacked, **self._chance.parts, **lanes}


class _Chance:
    """What some sub-environments drew, and how often: the parts `parts` of the answer to `autoreset`."""

    def __init__(self, contract: Mapping[str, Any], count: int, steps: int) -> None:
        self._draws = {
            at: {n: d for n, d in contract["draws"].items() if d["at"] in ("both", at)} for at in ("reset", "step")
        }
        self.parts: dict[str, dict[str, Array]] = {}
        for at, timesteps in (("reset", steps + 1), ("step", steps)):
            draws = self._draws[at].items()
            self.parts[f"{at}_draws"] = {
                name: np.zeros((timesteps, count, *_slots(draw)), draw["dtype"]) for name, draw in draws
            }
            self.parts[f"{at}_used"] = {name: np.zeros((timesteps, count), np.int32) for name, _ in draws}

    def note(self, timestep: int, index: int, stepped: Tape, begun: Tape) -> None:
        """What the sub-environment at this index drew in the step that led to this timestep, and in a reset after it."""
        self._note("reset", begun, (timestep, index))
        if timestep:
            self._note("step", stepped, (timestep - 1, index))

    def _note(self, moment: str, drawn: Tape, at: tuple[int, int]) -> None:
        draws = self._draws[moment]
        values, used = self.parts[f"{moment}_draws"], self.parts[f"{moment}_used"]
        for name, value in drawn:
            if name not in draws:
                raise ValueError(f"a draw {name!r} was made where the task has only {sorted(draws)}")
            count = int(used[name][at])
            if count == draws[name]["capacity"]:
                raise ValueError(f"{name!r} was drawn more than {count} times in one timestep, which is its capacity")
            values[name][(*at, count) if draws[name]["capacity"] > 1 else at] = value
            used[name][at] = count + 1


def _slots(draw: Mapping[str, Any]) -> tuple[int, ...]:
    shape = tuple(draw["shape"])
    return (draw["capacity"], *shape) if draw["capacity"] > 1 else shape


def as_taken(draws: Iterable[Any] | None) -> Tape:
    """Draws from the wire as a module takes them."""
    return [(name, np.asarray(value, order="C")) for name, value in draws or ()]
