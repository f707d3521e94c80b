"""What instances of a batch did, noted row by row: what a verifier holds against single instances and the reference."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from harness.candidate.faces.rust_batch import BASIC, SAME_STEP, STATE, RustBatch
from harness.protocol.worker import Leaf

Array = np.ndarray[Any, Any]
Answer = dict[str, Any]
Tape = list[tuple[str, Array]]


class Player:
    """One case in a lane of a batch, noted row by row."""

    def __init__(
        self, leaves: Sequence[Leaf], state: Mapping[str, Leaf], batch: RustBatch, lane: int, case: Mapping[str, Any]
    ) -> None:
        self._leaves, self._batch, self._lane = leaves, batch, lane
        self._length = len(next(iter(case["actions"].values())))
        self._state = [STATE + path for path in batch.state_paths]
        self._rows: list[Answer] = []
        self._draws: list[Any] = []
        self.over = False
        tape, start = case.get("draws"), case.get("start")
        rows = [as_taken(row) for row in tape or ()]
        lanes = batch.lanes
        if start is None:
            lanes.watch(lane, rows)
            lanes.reset_lane(lane, case["seed"], batch.seen_arrays)
        else:
            lanes.reset_lane(lane, case.get("seed", 0), batch.seen_arrays)
            lanes.watch(lane, rows[1:])
            given = [state[path].one(start[path])[None] for path in self._state]
            lanes.restore_lane(lane, given, None, batch.seen_arrays)
        _, begun, _ = lanes.told(lane)
        self._add(dict.fromkeys(BASIC, 0), batch.seen, lanes.state(lane), begun)

    def look(self) -> None:
        """Note the row that the last step led to."""
        batch, lane = self._batch, self._lane
        drawn, _, last = batch.lanes.told(lane) if not self.over else ([], [], None)
        if self.over or len(self._rows) > self._length:
            return
        basic = {name: getattr(batch, name)[lane] for name in BASIC}
        self.over = bool(basic["terminated"] or basic["truncated"])
        seen = batch.last if self.over and batch.mode == SAME_STEP else batch.seen
        self._add(basic, seen, batch.lanes.state(lane) if last is None else last, drawn)

    def answer(self) -> Answer:
        """The case's rows."""
        return {"leaves": {leaf.path: leaf.stack([row[leaf.path] for row in self._rows]) for leaf in self._leaves},
                "draws": self._draws}  # fmt: skip

    def _add(self, basic: Mapping[str, Any], seen: Mapping[str, Array], state: Sequence[Array], drawn: Tape) -> None:
        types = {leaf.path: leaf.dtype for leaf in self._leaves}
        row = {path: np.asarray(value).astype(types[path]) for path, value in basic.items()}
        row |= {path: array[self._lane].copy() for path, array in seen.items()}
        row |= dict(zip(self._state, state, strict=True))
        self._rows.append(row)
        self._draws.append([[name, value] for name, value in drawn])


class Told:
    """What some lanes of an auto-resetting batch did, in the form of the call `autoreset`."""

    def __init__(self, contract: Mapping[str, Any], shown: Sequence[int], steps: int) -> None:
        self._lanes, self._shown, self._steps = shown, len(shown), steps
        self._draws = {
            at: {n: d for n, d in contract["draws"].items() if d["at"] in ("both", at)} for at in ("reset", "step")
        }
        self._rows: list[list[Answer]] = [[{} for _ in shown] for _ in range(steps + 1)]
        self._drawn, self._used = self._arrays("reset", steps + 1), self._counts("reset", steps + 1)
        self._step_drawn, self._step_used = self._arrays("step", steps), self._counts("step", steps)

    def look(self, row: int, batch: RustBatch) -> None:
        """Note the newest row of each of the lanes."""
        for place, lane in enumerate(self._lanes):
            self._add(row, place, batch, lane)

    def _add(self, row: int, place: int, batch: RustBatch, lane: int) -> None:
        stepped, begun, last = batch.lanes.told(lane)
        state = batch.lanes.state(lane)
        ended = last is not None
        leaves: Answer = {name: np.array(getattr(batch, name)[lane]) for name in BASIC}
        for path, array in batch.seen.items():
            leaves[path] = array[lane].copy()
            leaves[f"final/{path}"] = (batch.last[path] if ended else array)[lane].copy()
        for path, now, then in zip(batch.state_paths, state, last if ended else state, strict=True):
            leaves[STATE + path], leaves[f"final/{STATE}{path}"] = now, then
        self._rows[row][place] = leaves
        _note(begun, self._drawn, self._used, self._draws["reset"], (row, place))
        if row:
            _note(stepped, self._step_drawn, self._step_used, self._draws["step"], (row - 1, place))

    def answer(self, leaves: Sequence[Leaf]) -> Answer:
        """All of it, stacked."""
        declared = {leaf.path: leaf for leaf in leaves}
        stacked = {
            path: declared[path.removeprefix("final/")]
            .stack([row[path] for rows in self._rows for row in rows])
            .reshape((self._steps + 1, self._shown, *declared[path.removeprefix("final/")].shape))
            for path in self._rows[0][0]
        }
        return {
            "leaves": stacked, "reset_draws": self._drawn, "reset_used": self._used,
            "step_draws": self._step_drawn, "step_used": self._step_used,
        }  # fmt: skip

    def _arrays(self, at: str, rows: int) -> dict[str, Array]:
        return {
            name: np.zeros((rows, self._shown, *_slots(draw)), draw["dtype"]) for name, draw in self._draws[at].items()
        }

    def _counts(self, at: str, rows: int) -> dict[str, Array]:
        return {name: np.zeros((rows, self._shown), np.int32) for name in self._draws[at]}


def _slots(draw: Mapping[str, Any]) -> tuple[int, ...]:
    shape = tuple(draw["shape"])
    return (draw["capacity"], *shape) if draw["capacity"] > 1 else shape


def _note(
    drawn: Tape, values: dict[str, Array], used: dict[str, Array], draws: Mapping[str, Any], at: tuple[int, int]
) -> None:
    for name, value in drawn:
        if name not in draws:
            raise ValueError(f"a draw {name!r} was made where the task has only {sorted(draws)}")
        count = int(used[name][at])
        if count == draws[name]["capacity"]:
            raise ValueError(f"{name!r} was drawn more than {count} times in a row, which is its capacity")
        values[name][(*at, count) if draws[name]["capacity"] > 1 else at] = value
        used[name][at] = count + 1


def as_taken(draws: Iterable[Any] | None) -> Tape:
    """Draws from the wire as a module takes them."""
    return [(name, np.asarray(value, order="C")) for name, value in draws or ()]
