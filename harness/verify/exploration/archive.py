"""The archive: how often each cell was seen, and states that were in rare ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.model import Array, Trajectory
from harness.verify.exploration.cells import Timesteps
from harness.verify.exploration.entry import FAR, Entry, entry_at

MOST_ENTRIES = 512
"""Few, so that what is rare is not one of many."""
MOST_BYTES = 64 << 20
"""Of all states, or actions that lead to them, that are kept."""
ADMITTED = 64
"""At most so many states are kept of what is added at once, each for another cell."""
LATE_SHARE = 2
"""Of so many states that are chosen, one is by its age alone: ends, and what comes before them, are late."""
OLDEST = 1 << 16
"""Ages from here on are one."""
RAREST = 4
"""A state is kept for so many of its cells."""


class Archive:
    """Keeps states by how rare their cells are.

    Args:
        cells: how many cells there can be.
        restores: whether a state is kept as itself; otherwise by the actions that lead there from a reset.
    """

    def __init__(self, cells: int, *, restores: bool) -> None:
        self._counts = np.zeros(cells, np.int64)
        self._ages = np.zeros(OLDEST + 1, np.int64)
        self._restores = restores
        self._entries: list[Entry] = []
        # Of each entry: its rarest cells when it came; how often it was gone on from, actions that lead there, bytes, age.
        self._cells = np.zeros((0, RAREST), np.int64)
        self._numbers = np.zeros((0, 4), np.int64)

    @property
    def known(self) -> int:
        """How many cells were seen."""
        return int(np.count_nonzero(self._counts))

    @property
    def entries(self) -> Sequence[Entry]:
        """The states that are kept."""
        return self._entries

    @property
    def bytes(self) -> int:
        """What the states, or the actions that lead there, hold in memory."""
        return int(self._numbers[:, 2].sum())

    def add(self, trajectories: Sequence[Trajectory], ages: Sequence[int], seen: Timesteps) -> None:
        """Count the cells of timesteps, and keep the states of the rarest; each trajectory began at its age."""
        if not len(seen.cells):
            return
        np.add.at(self._counts, seen.cells.reshape(-1), 1)  # of a few hundred thousand cells a wave sees a few
        reached = np.asarray(ages)[seen.trajectory] + seen.timestep
        np.add.at(self._ages, reached.clip(max=OLDEST), 1)
        counts = self._counts[seen.cells]
        rarest = counts.argmin(axis=1)
        rows = np.arange(len(counts))
        order = np.argsort(counts[rows, rarest], kind="stable")
        _, firsts = np.unique(seen.cells[rows, rarest][order], return_index=True)
        admitted = order[np.sort(firsts)[:ADMITTED]]
        rarest = np.argsort(counts[admitted], axis=1, kind="stable")[:, :RAREST]
        cells = np.take_along_axis(seen.cells[admitted], rarest, axis=1)
        kept, numbers = [], []
        for place, row in enumerate(admitted.tolist()):
            number = int(seen.trajectory[row])
            entry = entry_at(trajectories[number], int(seen.timestep[row]), ages[number], restores=self._restores)
            if entry is not None:
                self._entries.append(entry)
                kept.append(place)
                numbers.append((0, entry.case.length, entry.bytes, min(entry.age, OLDEST)))
        if kept:
            self._cells = np.concatenate([self._cells, cells[kept]])
            self._numbers = np.concatenate([self._numbers, np.array(numbers)])
        self._make_room()

    def choose(self, rng: np.random.Generator, count: int) -> list[Entry]:
        """`count` states to go on from, one perhaps several times: the rarer and the less often chosen, the likelier."""
        used, length, _, age = self._numbers.T
        late = 1.0 / (self._ages[age] * (1 + used) * (1 + length / FAR))
        picked = np.concatenate(
            [_picked(late, rng, count // LATE_SHARE), _picked(self._weights(), rng, count - count // LATE_SHARE)]
        )
        np.add.at(self._numbers[:, 0], picked, 1)
        return [self._entries[pick] for pick in picked]

    def _weights(self) -> Array:
        used, length, _, _ = self._numbers.T
        return (1.0 / self._counts[self._cells]).sum(axis=1) / ((1 + used) * (1 + length / FAR))

    def _make_room(self) -> None:
        if len(self._entries) <= MOST_ENTRIES and self.bytes <= MOST_BYTES:
            return
        kept = np.argsort(-self._weights(), kind="stable")[:MOST_ENTRIES]
        kept = np.sort(kept[np.cumsum(self._numbers[kept, 2]) <= MOST_BYTES])
        self._entries = [self._entries[index] for index in kept]
        self._cells, self._numbers = self._cells[kept], self._numbers[kept]


def _picked(weights: Array, rng: np.random.Generator, count: int) -> Array:
    reach = np.cumsum(weights)
    return np.searchsorted(reach, rng.random(count) * reach[-1], side="right").clip(max=len(reach) - 1)
