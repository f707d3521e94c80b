"""How to train: the hyper-parameters of PPO, checked. Without JAX, so that reading a task file does not import it."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

NETWORKS = ("mlp", "cnn", "gru")
ACTIVATIONS = ("tanh", "relu", "swish")
SHARED, SEPARATE = "shared", "separate"
SEATS = (SHARED, SEPARATE)


@dataclass(frozen=True)
class PpoConfig:
    """PPO's hyper-parameters. How long to train is not one of them.

    Attributes:
        num_envs: environments that are stepped together.
        rollout_steps: decisions in each of them between two updates.
        hold: steps for which an action is held: a decision is paid for all of them. Where an episode ends on the way the
            next one begins under the same action, and what it pays before its first decision is not learned from.
        epochs, minibatches: passes over a rollout in one update, and the parts that each pass is cut into.
        learning_rate: of Adam; with `anneal` it falls in a straight line to zero over the whole training.
        discount, gae_lambda: of the advantage estimate.
        clip: how far the probability of an action may move in one update.
        value_coefficient, entropy_coefficient: weights of the two other losses.
        max_gradient_norm: longer gradients are shortened to this.
        network: `mlp`, `cnn` (leaves of rank 3 go through convolutions) or `gru` (remembers within an episode).
        hidden: sizes of the hidden layers; for a `gru` the last one is the size of its memory.
        activation: between layers.
        pool: leaves of two or three axes are averaged over squares of so many rows and columns before anything else.
        normalise_observations: whether observations are centred and scaled by running statistics.
        segment_updates: updates in a segment. Environments restart with each segment, and it is the unit of
            checkpoints and progress.
        seats: of several players, whether one network plays all seats (`shared`) or each has its own (`separate`).
        past: earlier policies of the training that are kept, drawn from all segments so far. Where there are some, one seat
            in half of the environments is the learner's, and they play the others.
        keep_best: whether the policy is the one with which the best segment began (of equally good ones the last), and not
            the last one, of which no segment tells how good it is. Learning goes on from the last one in any case.

    Raises:
        ValueError: a value is not allowed; the message names every one.
    """

    num_envs: int = 64
    rollout_steps: int = 64
    hold: int = 1
    epochs: int = 4
    minibatches: int = 4
    learning_rate: float = 1e-3
    anneal: bool = True
    discount: float = 0.99
    gae_lambda: float = 0.95
    clip: float = 0.2
    value_coefficient: float = 0.5
    entropy_coefficient: float = 0.01
    max_gradient_norm: float = 0.5
    network: str = "mlp"
    hidden: tuple[int, ...] = (64, 64)
    activation: str = "tanh"
    pool: int = 1
    normalise_observations: bool = True
    segment_updates: int = 8
    keep_best: bool = False
    seats: str = SHARED
    past: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "hidden", tuple(self.hidden) if isinstance(self.hidden, list) else self.hidden)
        mistakes = mistakes_in(vars(self))
        if mistakes:
            raise ValueError("; ".join(map(str, mistakes)))

    @property
    def decisions_per_update(self) -> int:
        """Actions that one update learns from."""
        return self.num_envs * self.rollout_steps

    @property
    def steps_per_update(self) -> int:
        """Environment steps that one update learns from."""
        return self.decisions_per_update * self.hold

    def updates(self, steps: int) -> int:
        """How many updates take at least `steps` environment steps."""
        return max(1, math.ceil(steps / self.steps_per_update))

    def segments(self, steps: int) -> int:
        """How many segments these updates are; the last one may be shorter."""
        return math.ceil(self.updates(steps) / self.segment_updates)

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description from which `from_json` makes an equal config.

        What only several players need is left out where it is the default, so that the digest of a config for one player
        is what it was before there were several.
        """
        whole = dataclasses.asdict(self) | {"hidden": list(self.hidden)}
        return {name: value for name, value in whole.items() if name not in _OF_SEVERAL or value != DEFAULTS[name]}

    @staticmethod
    def from_json(described: Mapping[str, Any]) -> PpoConfig:
        """The config that a mapping (of `to_json`, or `[transfer.ppo]` in task.toml) describes; the rest are defaults.

        Raises:
            ValueError: it has a name that is no attribute, or a value that is not allowed.
        """
        unknown = sorted(set(described) - set(DEFAULTS))
        if unknown:
            raise ValueError(f"there is no {', '.join(unknown)}; expected some of {', '.join(DEFAULTS)}")
        return PpoConfig(**described)

    @property
    def digest(self) -> str:
        """SHA-256 of all values."""
        return hashlib.sha256(json.dumps(self.to_json(), sort_keys=True).encode()).hexdigest()


DEFAULTS: Mapping[str, Any] = {field.name: field.default for field in dataclasses.fields(PpoConfig)}
"""Every hyper-parameter with its default."""

_OF_SEVERAL = ("seats", "past")


class Mistake(NamedTuple):
    """A hyper-parameter whose value is not allowed.

    Attributes:
        name, value: which one, and what it is.
        expected: what is allowed, in words; `choices`: all that is allowed, where that is a few words.
        beside: the others on which it depends whether the value is allowed.
    """

    name: str
    value: Any
    expected: str
    choices: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.name} is {self.value!r}, expected {self.expected}"


def mistakes_in(described: Mapping[str, Any]) -> list[Mistake]:
    """What is not allowed among values of hyper-parameters by name; those that are not named have their defaults."""
    values = {**DEFAULTS, **described}
    found = []

    def demand(name: str, holds: bool, expected: str, **more: tuple[str, ...]) -> None:
        if not holds:
            found.append(Mistake(name, values[name], expected, **more))

    for name in ("num_envs", "rollout_steps", "hold", "epochs", "minibatches", "pool", "segment_updates"):
        demand(name, _whole(values[name]), "a whole number from 1 on")
    for name in ("learning_rate", "clip", "max_gradient_norm"):
        demand(name, _number(values[name]) and values[name] > 0, "a number over 0")
    for name in ("value_coefficient", "entropy_coefficient"):
        demand(name, _number(values[name]) and values[name] >= 0, "a number from 0 on")
    for name in ("discount", "gae_lambda"):
        demand(name, _number(values[name]) and 0 <= values[name] <= 1, "a number from 0 to 1")
    demand("past", values["past"] == 0 or _whole(values["past"]), "a whole number from 0 on")
    for name in ("anneal", "normalise_observations", "keep_best"):
        demand(name, isinstance(values[name], bool), "true or false")
    for name, choices in (("network", NETWORKS), ("activation", ACTIVATIONS), ("seats", SEATS)):
        demand(name, values[name] in choices, f"one of {', '.join(choices)}", choices=choices)
    sizes = values["hidden"]
    several = isinstance(sizes, (list, tuple)) and bool(sizes)
    demand("hidden", several and all(map(_whole, sizes)), "a list of sizes from 1 on")
    if not found:
        # A network with memory learns from whole sequences, so its minibatches are cut between environments.
        among = ("num_envs",) if values["network"] == "gru" else ("num_envs", "rollout_steps")
        items = math.prod(values[name] for name in among)
        expected = f"a divisor of {' x '.join(among)} = {items}"
        demand("minibatches", items % values["minibatches"] == 0, expected, beside=among)
        if values["past"]:
            half = f"a multiple of 2 x past = {2 * values['past']}"
            demand("num_envs", values["num_envs"] % (2 * values["past"]) == 0, half, beside=("past",))
    return found


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= sys.float_info.max
