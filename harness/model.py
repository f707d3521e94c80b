"""The nouns: what a leaf, a case and a trajectory are.

Everything here is a frozen dataclass over numpy arrays and plain values. Values are addressed by *leaf path*
(`observation/board`, `state/x`, `reward`), so that comparison needs no recursion, a difference has an address and every
serialisation is the same. Arrays are treated as immutable once they are part of a noun.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Leaves = Mapping[str, Array]

DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
)  # fmt: skip
"""What a value may be made of."""
STATE = "state/"
"""Prefix of the leaves of the canonical state."""
ENDINGS = ("terminated", "truncated")
"""The leaves that end an episode when one of them is true."""
REWARD = "reward"
"""The leaf of what a step earned; with several players each has one below it, `reward/<player>`."""


def is_reward(path: str) -> bool:
    """Whether a leaf path names what a step earned, for the only player or one of several."""
    return path == REWARD or path.startswith(f"{REWARD}/")


def is_observed(path: str) -> bool:
    """Whether a leaf is of the observation, of some player's too."""
    return path.split("/", maxsplit=1)[0] == "observation"


def is_of_step(path: str) -> bool:
    """Whether a leaf tells of a step and not of the state after it, so that it is zero at a reset: rewards and ends."""
    return path in ENDINGS or is_reward(path)


@dataclass(frozen=True)
class Leaf:
    """What a task declares about one leaf: its path, dtype name (`float32`), shape, and optional closed bounds."""

    path: str
    dtype: str
    shape: tuple[int, ...] = ()
    low: Any = None
    high: Any = None

    def zeros(self, timesteps: int) -> Array:
        """An array of zeros of shape `[timesteps, *shape]`."""
        return np.zeros((timesteps, *self.shape), dtype=self.dtype)


@dataclass(frozen=True)
class Draw:
    """One named chance event: what it decided on (`name`) and the value that chance gave it."""

    name: str
    value: Array


Tape = tuple[tuple[Draw, ...], ...]
"""The draws of a trajectory, timestep by timestep and in order; timestep 0 belongs to the reset."""


@dataclass(frozen=True)
class Case:
    """A test case is data: it can be stored, shrunk, replayed and committed.

    Attributes:
        seed: seed of the reset (0 <= seed < 2**63).
        actions: action leaves stacked over time, each of shape `[T, *leaf shape]`.
        start: canonical state to start from instead of a reset (leaves with their `state/` prefix).
        draws: chance events to force, `T + 1` timesteps at most; None lets the environment draw from its seed.
        name: a name that people can use.
        origin: where the case comes from (`rollout/random`, `shrunk`, `user`, ...).
    """

    seed: int
    actions: Leaves
    start: Leaves | None = None
    draws: Tape | None = None
    name: str = ""
    origin: str = ""

    @property
    def length(self) -> int:
        """The number of actions."""
        return len(next(iter(self.actions.values())))

    def cut(self, length: int) -> Case:
        """The same case with only its first `length` actions (and their draws)."""
        return Case(
            seed=self.seed,
            actions={path: array[:length] for path, array in self.actions.items()},
            start=self.start,
            draws=None if self.draws is None else self.draws[: length + 1],
            name=self.name,
            origin=self.origin,
        )

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description from which `from_json` makes an equal case."""
        described: dict[str, Any] = {
            "name": self.name,
            "origin": self.origin,
            "seed": self.seed,
            "actions": leaves_to_json(self.actions),
        }
        if self.start is not None:
            described["start"] = leaves_to_json(self.start)
        if self.draws is not None:
            described["draws"] = [[[d.name, array_to_json(d.value)] for d in timestep] for timestep in self.draws]
        return described

    @staticmethod
    def from_json(described: Mapping[str, Any]) -> Case:
        """The inverse of `to_json`.

        Raises:
            KeyError, TypeError, ValueError: `described` is not the description of a case.
        """
        if not isinstance(described, Mapping) or not isinstance(described["seed"], int):
            raise TypeError("a case is an object with a whole number as its seed")
        draws = described.get("draws")
        start = described.get("start")
        actions = leaves_from_json(described["actions"])
        if len({array.shape[:1] for array in actions.values()} - {()}) != 1:
            raise ValueError("a case has actions, and of each leaf as many")
        return Case(
            seed=described["seed"],
            actions=actions,
            start=None if start is None else leaves_from_json(start),
            draws=None
            if draws is None
            else tuple(
                tuple(Draw(str(name), array_from_json(value)) for name, value in timestep) for timestep in draws
            ),
            name=str(described.get("name", "")),
            origin=str(described.get("origin", "")),
        )

    @property
    def digest(self) -> str:
        """SHA-256 over everything that decides what the case does (not over its name and origin)."""
        described = self.to_json()
        del described["name"], described["origin"]
        return hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class Transition:
    """One timestep of a trajectory: outputs, canonical state after it, and the draws that it consumed."""

    outputs: Leaves
    state: Leaves
    draws: tuple[Draw, ...] = ()


@dataclass(frozen=True)
class Trajectory:
    """A case and what an environment answered to it.

    Attributes:
        case: what was asked.
        leaves: outputs and `state/` leaves stacked over timesteps, each of shape `[timesteps, *leaf shape]`. Timestep 0 is
            the reset (reward 0, not ended), timestep `t` is what action `t - 1` led to. The last timestep is the first one
            that terminated or was truncated, or the one after the last action.
        draws: the draws consumed, one tuple for each timestep, or None where the environment cannot report them.
    """

    case: Case
    leaves: Leaves
    draws: Tape | None = None

    @property
    def timesteps(self) -> int:
        """The number of timesteps: 1 + the number of steps taken."""
        return len(next(iter(self.leaves.values())))

    rows = timesteps
    """The former name, by which properties of earlier records ask."""

    @property
    def steps(self) -> int:
        """The number of steps taken."""
        return self.timesteps - 1

    def transition(self, timestep: int) -> Transition:
        """Timestep `timestep`, with outputs and state apart."""
        outputs = {path: self.leaves[path][timestep] for path in self.leaves if not path.startswith(STATE)}
        return Transition(outputs, self.state(timestep), () if self.draws is None else self.draws[timestep])

    def state(self, timestep: int) -> Leaves:
        """The canonical state after timestep `timestep`, with its `state/` prefix; empty where none is reported."""
        return {path: self.leaves[path][timestep] for path in self.leaves if path.startswith(STATE)}

    def cut(self, steps: int) -> Trajectory:
        """Its first `steps` steps; itself where it has no more."""
        if steps >= self.steps:
            return self
        leaves = {path: array[: steps + 1] for path, array in self.leaves.items()}
        return Trajectory(self.case.cut(steps), leaves, None if self.draws is None else self.draws[: steps + 1])

    @property
    def digest(self) -> str:
        """SHA-256 over paths, dtypes, shapes and bytes of all leaves, and over the draws."""
        sha = hashlib.sha256()
        for path in sorted(self.leaves):
            feed_digest(sha, path, self.leaves[path])
        for timestep, draws in enumerate(self.draws or ()):
            for draw in draws:
                feed_digest(sha, f"draw/{timestep}/{draw.name}", draw.value)
        return sha.hexdigest()


def feed_digest(sha: Any, name: str, array: Array) -> None:
    """Feed one named array to a hash object so that no two different arrays feed the same bytes."""
    contiguous = np.ascontiguousarray(array)
    sha.update(f"{name}|{contiguous.dtype.str}|{array.shape}|".encode())
    sha.update(contiguous.tobytes())


def array_to_json(array: Array) -> dict[str, Any]:
    """An array as dtype name, shape and flat values; NaN and the infinities as strings, so that it is strict JSON."""
    array = np.asarray(array)
    values = array.ravel().tolist()
    if array.dtype.kind == "f":
        values = [value if math.isfinite(value) else repr(value) for value in values]
    return {"dtype": array.dtype.name, "shape": list(array.shape), "values": values}


def array_from_json(described: Mapping[str, Any]) -> Array:
    """The inverse of `array_to_json`.

    Raises:
        KeyError, TypeError, ValueError: `described` is not the description of an array.
    """
    # A name of the list, because numpy takes many more things for a dtype: of texts of two gigabytes, of objects.
    if not isinstance(described, Mapping) or described["dtype"] not in DTYPES:
        raise TypeError(f"an array is an object with a dtype of {', '.join(DTYPES)}")
    dtype = np.dtype(described["dtype"])
    try:
        values = described["values"]
        if dtype.kind == "f":
            values = [float(value) for value in values]
        return np.array(values, dtype=dtype).reshape(described["shape"])
    except OverflowError as error:
        raise ValueError(str(error)) from error


def leaves_to_json(leaves: Leaves) -> dict[str, Any]:
    """`array_to_json` for each leaf."""
    return {path: array_to_json(array) for path, array in sorted(leaves.items())}


def leaves_from_json(described: Mapping[str, Any]) -> dict[str, Array]:
    """`array_from_json` for each leaf."""
    if not isinstance(described, Mapping):
        raise TypeError("leaves are an object, from path to array")
    return {path: array_from_json(array) for path, array in described.items()}
