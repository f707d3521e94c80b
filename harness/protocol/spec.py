"""What a worker declares about itself, read and checked (docs/protocol.md, "The spec")."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from harness.errors import BadAnswer
from harness.model import ENDINGS, REWARD, Array, Leaf, Tape, is_reward
from harness.protocol.worker import MAX_FRAME, PROTOCOL, WIRE_DTYPES

T = TypeVar("T")

MAX_RANK = 32

CAPABILITIES = ("restore", "probe", "draws", "force_draws", "vector", "columns", "after", "choose", "render")
MOMENTS = ("reset", "step", "both")


@dataclass(frozen=True)
class ProbeSpec:
    """A probe: a part of the environment that answers inputs with outputs, apart from any episode."""

    inputs: Mapping[str, Leaf]
    outputs: Mapping[str, Leaf]


@dataclass(frozen=True)
class DrawSpec:
    """A named chance event: dtype, shape, where it can occur (`reset`, `step`, `both`)."""

    dtype: str
    shape: tuple[int, ...] = ()
    at: str = "both"


@dataclass(frozen=True)
class Spec:
    """What a worker declares about itself.

    Attributes:
        leaves: all leaves by path: observation, reward, terminated, truncated, legal_actions, `state/`, and action leaves.
        capabilities: of `restore`, `probe`, `draws` (reports its draws), `force_draws` (takes draws), `vector` (steps many
            environments in one message), `render` (draws its state).
        policies: names of scripted policies that it can `drive`, besides `random` and `sticky`.
    """

    leaves: Mapping[str, Leaf]
    capabilities: frozenset[str] = frozenset()
    probes: Mapping[str, ProbeSpec] = field(default_factory=dict)
    draws: Mapping[str, DrawSpec] = field(default_factory=dict)
    policies: tuple[str, ...] = ()

    @property
    def outputs(self) -> dict[str, Leaf]:
        """Every leaf that a trajectory has: all but the actions."""
        return {path: leaf for path, leaf in self.leaves.items() if not is_action(path)}

    @property
    def actions(self) -> dict[str, Leaf]:
        """The action leaves."""
        return {path: leaf for path, leaf in self.leaves.items() if is_action(path)}


def is_action(path: str) -> bool:
    """Whether a leaf path names an action."""
    return path == "action" or path.startswith("action/")


def parse_spec(described: Any) -> Spec:
    """A worker's own description of itself, checked.

    Raises:
        BadAnswer: it is not a description of an environment.
    """
    try:
        if described.get("protocol") != PROTOCOL:
            raise BadAnswer(f"it speaks protocol {described.get('protocol')!r}", where="open", expected=str(PROTOCOL))
        spec = Spec(
            leaves=_each(described["leaves"], _leaf),
            capabilities=frozenset(_text(name) for name in described.get("capabilities", ())),
            probes=_each(described.get("probes", {}), _probe),
            draws=_each(described.get("draws", {}), _draw),
            policies=tuple(_text(name) for name in described.get("policies", ())),
        )
        _demand_basics(spec)
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise BadAnswer(
            f"its spec cannot be read ({type(error).__name__}: {error})",
            where="open",
            expected="`leaves`, and where it has them `capabilities`, `probes`, `draws`, `policies`",
            next_step="see docs/protocol.md, section The spec",
        ) from error
    return spec


def check_arrays(arrays: Any, declared: Mapping[str, Leaf], where: str, length: int | None = None) -> int:
    """Check that an answer has exactly the declared leaves, stacked to the same length; returns that length.

    Args:
        length: the length that each must have; None for that of the first leaf.

    Raises:
        BadAnswer: names the leaf and what was declared.
    """
    if not isinstance(arrays, dict) or arrays.keys() != declared.keys():
        given = sorted(map(str, arrays)) if isinstance(arrays, dict) else type(arrays).__name__
        raise BadAnswer(f"it answered with {given}", where=where, expected=f"the leaves {sorted(declared)}")
    for path, leaf in declared.items():
        array: Array = arrays[path]
        if not isinstance(array, np.ndarray) or array.ndim == 0:
            raise BadAnswer(f"leaf {path} is not a stacked array", where=where)
        if array.dtype != np.dtype(leaf.dtype) or array.shape[1:] != leaf.shape:
            raise BadAnswer(
                f"leaf {path} came as {array.dtype} {list(array.shape[1:])}",
                where=where,
                expected=f"{leaf.dtype} {list(leaf.shape)}, as its spec declares",
            )
        length = len(array) if length is None else length
        if len(array) != length:
            expected = f"{length}, the same for every leaf"
            raise BadAnswer(f"leaf {path} has length {len(array)}", where=where, expected=expected)
    return length or 0


def tape_to_wire(tape: Tape, *, whole: bool = False) -> list[list[list[Any]]]:
    """A tape as the wire carries it: for each timestep a list of `[name, array]`; `whole` keeps empty lists at the end."""
    count = len(tape)
    while count and not tape[count - 1] and not whole:
        count -= 1
    return [[[draw.name, draw.value] for draw in timestep] for timestep in tape[:count]]


def _demand_basics(spec: Spec) -> None:
    lacking = [path for path in ENDINGS if path not in spec.leaves]
    lacking += [] if any(map(is_reward, spec.leaves)) else [REWARD]
    lacking += [root for root in ("observation", "action") if not any(p.split("/")[0] == root for p in spec.leaves)]
    if lacking:
        raise ValueError(f"it declares no leaf {', '.join(lacking)}")
    for path in ENDINGS:
        if spec.leaves[path].dtype != "bool" or spec.leaves[path].shape:
            raise ValueError(f"leaf {path} must be a bool of shape []")


def _each(described: Mapping[str, Any], read: Callable[[str, Any], T]) -> dict[str, T]:
    return {_text(name): read(name, value) for name, value in described.items()}


def _leaf(path: str, described: Mapping[str, Any]) -> Leaf:
    low, high = described.get("low"), described.get("high")
    return Leaf(path, _dtype(described["dtype"]), _shape(described.get("shape", ())), low, high)


def _probe(name: str, described: Mapping[str, Any]) -> ProbeSpec:
    probe = ProbeSpec(_each(described["inputs"], _leaf), _each(described["outputs"], _leaf))
    if not probe.inputs or not probe.outputs:
        raise ValueError(f"probe {name} needs at least one input and one output")
    return probe


def _draw(name: str, described: Mapping[str, Any]) -> DrawSpec:
    at = described.get("at", "both")
    if at not in MOMENTS:
        raise ValueError(f"draw {name} occurs at {at!r}, not at one of {', '.join(MOMENTS)}")
    return DrawSpec(_dtype(described["dtype"]), _shape(described.get("shape", ())), at)


def _dtype(named: Any) -> str:
    dtype = np.dtype(named)
    if dtype.newbyteorder("<").str not in WIRE_DTYPES:
        raise ValueError(f"dtype {named!r} is not one that can be sent")
    return dtype.name


def _shape(sizes: Iterable[Any]) -> tuple[int, ...]:
    shape = tuple(sizes)
    if not all(isinstance(size, int) and size >= 0 for size in shape):
        raise ValueError(f"shape {shape!r:.200} is not a list of whole numbers")
    if len(shape) > MAX_RANK or math.prod(shape) > MAX_FRAME or max(shape, default=0) > MAX_FRAME:
        raise ValueError(f"shape {shape!r:.200} does not fit into a frame")
    return shape


def _text(name: Any) -> str:
    if not isinstance(name, str) or not name:
        raise TypeError(f"{name!r} is not a name")
    return name
