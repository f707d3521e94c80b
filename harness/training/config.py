"""How to train: the hyper-parameters of PPO, checked. Without JAX, so that reading a task file does not import it."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

NETWORKS = ("mlp", "cnn", "gru")
ACTIVATIONS = ("tanh", "relu", "swish")


@dataclass(frozen=True)
class PpoConfig:
    """PPO's hyper-parameters. How long to train is not one of them.

    Attributes:
        num_envs: environments that are stepped together.
        rollout_steps: steps in each of them between two updates.
        epochs, minibatches: passes over a rollout in one update, and the parts that each pass is cut into.
        learning_rate: of Adam; with `anneal` it falls in a straight line to zero over the whole training.
        discount, gae_lambda: of the advantage estimate.
        clip: how far the probability of an action may move in one update.
        value_coefficient, entropy_coefficient: weights of the two other losses.
        max_gradient_norm: longer gradients are shortened to this.
        network: `mlp`, `cnn` (leaves of rank 3 go through convolutions) or `gru` (remembers within an episode).
        hidden: sizes of the hidden layers; for a `gru` the last one is the size of its memory.
        activation: between layers.
        normalise_observations: whether observations are centred and scaled by running statistics.
        segment_updates: updates in a segment. Environments begin anew with each segment, and it is the unit of
            checkpoints and progress.

    Raises:
        ValueError: a value is not allowed; the message names every one.
    """

    num_envs: int = 64
    rollout_steps: int = 64
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
    normalise_observations: bool = True
    segment_updates: int = 8

    def __post_init__(self) -> None:
        object.__setattr__(self, "hidden", tuple(self.hidden) if isinstance(self.hidden, list) else self.hidden)
        mistakes = list(_mistakes(self))
        if mistakes:
            raise ValueError("; ".join(mistakes))

    @property
    def steps_per_update(self) -> int:
        """Environment steps that one update learns from."""
        return self.num_envs * self.rollout_steps

    def updates(self, steps: int) -> int:
        """How many updates take at least `steps` environment steps."""
        return max(1, math.ceil(steps / self.steps_per_update))

    def segments(self, steps: int) -> int:
        """How many segments these updates are; the last one may be shorter."""
        return math.ceil(self.updates(steps) / self.segment_updates)

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description from which `from_json` makes an equal config."""
        return dataclasses.asdict(self) | {"hidden": list(self.hidden)}

    @staticmethod
    def from_json(described: Mapping[str, Any]) -> PpoConfig:
        """The config that a mapping (of `to_json`, or `[transfer.ppo]` in task.toml) describes; the rest are defaults.

        Raises:
            ValueError: it has a name that is none of the attributes, or a value that is not allowed.
        """
        unknown = sorted(set(described) - {field.name for field in dataclasses.fields(PpoConfig)})
        if unknown:
            known = ", ".join(field.name for field in dataclasses.fields(PpoConfig))
            raise ValueError(f"there is no {', '.join(unknown)}; expected some of {known}")
        return PpoConfig(**described)

    @property
    def digest(self) -> str:
        """SHA-256 of all values."""
        return hashlib.sha256(json.dumps(self.to_json(), sort_keys=True).encode()).hexdigest()


def _mistakes(config: PpoConfig) -> list[str]:
    mistakes = []

    def demand(name: str, holds: bool, expected: str) -> None:
        if not holds:
            mistakes.append(f"{name} is {getattr(config, name)!r}, expected {expected}")

    for name in ("num_envs", "rollout_steps", "epochs", "minibatches", "segment_updates"):
        demand(name, _whole(getattr(config, name)), "a whole number from 1 on")
    for name in ("learning_rate", "clip", "max_gradient_norm"):
        demand(name, _number(getattr(config, name)) and getattr(config, name) > 0, "a number over 0")
    for name in ("value_coefficient", "entropy_coefficient"):
        demand(name, _number(getattr(config, name)) and getattr(config, name) >= 0, "a number from 0 on")
    for name in ("discount", "gae_lambda"):
        demand(name, _number(getattr(config, name)) and 0 <= getattr(config, name) <= 1, "a number from 0 to 1")
    for name in ("anneal", "normalise_observations"):
        demand(name, isinstance(getattr(config, name), bool), "true or false")
    demand("network", config.network in NETWORKS, f"one of {', '.join(NETWORKS)}")
    demand("activation", config.activation in ACTIVATIONS, f"one of {', '.join(ACTIVATIONS)}")
    sizes = config.hidden
    demand("hidden", isinstance(sizes, tuple) and bool(sizes) and all(map(_whole, sizes)), "a list of sizes from 1 on")
    if not mistakes:
        # A network with memory learns from whole sequences, so its minibatches are cut between environments.
        items = config.num_envs if config.network == "gru" else config.steps_per_update
        what = "num_envs" if config.network == "gru" else "num_envs x rollout_steps"
        demand("minibatches", items % config.minibatches == 0, f"a divisor of {what} = {items}")
    return mistakes


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
