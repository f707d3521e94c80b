"""States in which the features that a task declares show: what its author says is worth reaching, whatever its cells."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.model import Array, Trajectory
from harness.verify.exploration.entry import FAR, Entry, entry_at

FOR_EACH = 4
"""So many states are kept for each feature."""
MOST_BYTES = 32 << 20
"""Of all states that are kept; where they do not fit, those of the features that were seen least often are."""


class Declared:
    """Keeps states by the declared features that show there.

    Args:
        restores: whether a state is kept as itself; otherwise by the actions that lead there from a reset.
    """

    def __init__(self, *, restores: bool) -> None:
        self._restores = restores
        self._counts: dict[int, int] = {}  # by feature, in how many trajectories it came to show
        self._kept: dict[int, list[tuple[Entry, int]]] = {}  # and states, each with how often it was gone on from

    @property
    def entries(self) -> Sequence[Entry]:
        """The states that are kept."""
        return [entry for kept in self._kept.values() for entry, _ in kept]

    def add(
        self, trajectories: Sequence[Trajectory], new_from: Sequence[int], ages: Sequence[int], first: Array
    ) -> None:
        """Take in where each feature shows first, `[features, trajectories]`; before `new_from` nothing is new."""
        for feature, number in np.argwhere(first >= np.asarray(new_from).clip(min=0)).tolist():
            self._counts[feature] = self._counts.get(feature, 0) + 1
            kept = self._kept.get(feature, [])
            worn = max(range(len(kept)), key=lambda place: kept[place][1], default=0)
            if len(kept) == FOR_EACH and not kept[worn][1]:
                continue
            entry = entry_at(trajectories[number], int(first[feature, number]), ages[number], restores=self._restores)
            if entry is not None:
                others = kept if len(kept) < FOR_EACH else kept[:worn] + kept[worn + 1 :]
                self._kept[feature] = [*others, (entry, 0)]
        while sum(entry.bytes for entry in self.entries) > MOST_BYTES and len(self._kept) > 1:
            del self._kept[max(self._kept, key=lambda feature: self._counts[feature])]

    def choose(self, rng: np.random.Generator) -> Entry:
        """A state to go on from: the rarer its feature and the less often the feature was chosen, the likelier."""
        features = list(self._kept)
        weights = [1.0 / (self._counts[each] * (1 + sum(used for _, used in self._kept[each]))) for each in features]
        reach = np.cumsum(weights)
        feature = features[min(int(np.searchsorted(reach, rng.random() * reach[-1], side="right")), len(reach) - 1)]
        kept = self._kept[feature]
        place = min(range(len(kept)), key=lambda each: (1 + kept[each][1]) * (1 + kept[each][0].case.length / FAR))
        entry, used = kept[place]
        kept[place] = (entry, used + 1)
        return entry
