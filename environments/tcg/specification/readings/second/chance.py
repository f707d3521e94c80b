"""The draws: from the seed, or as they are given."""

from typing import Any

import numpy as np

LAWS: dict[str, tuple[tuple[int, ...], int]] = {  # shape and highest value; the lowest is 0
    "first": ((), 1),
    "source": ((2,), 1),
    "archetype": ((2,), 15),
    "base": ((2,), 105),
    "line": ((2, 24), 231),
    "shuffle": ((20,), 2147483647),
    "energy": ((), 5),
    "coin": ((), 1),
    "pick": ((), 65535),
}


class Chance:
    """The draws of one timestep."""

    def __init__(self, rng: np.random.Generator, given: list | None) -> None:
        self.rng = rng
        self.given: dict[str, list] | None = None
        self.taken: list[tuple[str, np.ndarray]] = []
        if given is not None:
            self.given = {}
            for name, value in given:
                self.given.setdefault(name, []).append(value)

    def take(self, name: str) -> Any:
        """The next draw of that name: a number, or a list of numbers."""
        shape, high = LAWS[name]
        if self.given is None:
            value = self.rng.integers(0, high, size=shape, endpoint=True)
        elif self.given.get(name):
            value = self.given[name].pop(0)
        else:
            raise ValueError(f"a draw {name} is missing")
        array = np.array(value, dtype=np.int32).reshape(shape)
        self.taken.append((name, array))
        return array.tolist()

    def pick(self, count: int) -> int:
        """88: the place of one among so many things."""
        return self.take("pick") * count // 65536  # 88

    def finish(self) -> None:
        """Refuse draws that were given and not needed."""
        if self.given is not None:
            left = sorted(name for name, values in self.given.items() if values)
            if left:
                raise ValueError(f"draws are left over: {', '.join(left)}")
