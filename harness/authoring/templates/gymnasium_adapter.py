"""A Gymnasium environment as a Lockstep reference.

`environment.json` beside this file says which environment it is, and what `lockstep new` found out about it: the leaves of
its spaces, the attributes that hold its state, and the draws that it asks of its random generator. Correct what is wrong
there, or write a shorter adapter for this one environment in place of this general one.
"""

# It runs under the reference's own Python, which may be as old as 3.8.
# ruff: noqa: SIM905

from __future__ import annotations

import contextlib
import copy
import importlib
import json
import os
from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import seeding

FOUND = os.path.join(os.path.dirname(os.path.abspath(__file__)), "environment.json")

# What a generator decides with. Anything else that an environment asks of it passes through and is not recorded.
DECISIONS = frozenset(
    "random uniform integers normal standard_normal choice permutation permuted shuffle exponential standard_exponential "
    "poisson binomial geometric beta gamma standard_gamma laplace logistic lognormal triangular vonmises weibull "
    "rayleigh gumbel chisquare f dirichlet multinomial multivariate_normal negative_binomial hypergeometric pareto power "
    "standard_t standard_cauchy wald zipf logseries noncentral_chisquare noncentral_f multivariate_hypergeometric".split()
)
ELAPSED = "elapsed_steps"


class Reference:
    """The environment behind the protocol. Options of the task go to the environment's constructor."""

    def __init__(self, **options: Any) -> None:
        with open(FOUND, encoding="utf-8") as file:
            self._found = json.load(file)
        self._options = options
        self.env = make(self._found, options)
        self.core = self.env.unwrapped
        self._limit = _time_limit(self.env)
        self._leaves = self._found["leaves"]
        self._state = self._found["state"]
        self._drawn = None  # type: gymnasium.Env[Any, Any] | None
        self.log = Log()
        self._taped = self._found["draws"] is not None

    def spec(self) -> dict[str, Any]:
        """What was found, as the protocol says it."""
        capabilities = [name for name in ("restore", "render") if self._found[name]]
        if self._found["draws"]:
            capabilities += ["draws", "force_draws"]
        return {
            "leaves": {path: _without_infinities(leaf) for path, leaf in self._leaves.items()},
            "capabilities": capabilities,
            "draws": self._found["draws"] or {},
        }

    def reset(self, seed: int, draws: list[Any] | None = None) -> dict[str, Any]:
        """Start an episode; draws take the place of what the generator would decide."""
        self.log.begin(draws)
        with _recorded(self.log) if self._taped else contextlib.nullcontext():
            observation, _ = self.env.reset(seed=seed)
        self.log.end()
        return self._timestep(observation, 0.0, False, False)

    def step(self, action: Any, draws: list[Any] | None = None) -> dict[str, Any]:
        """Take one step."""
        self.log.begin(draws)
        observation, reward, terminated, truncated, _ = self.env.step(self.as_action(action))
        self.log.end()
        return self._timestep(observation, reward, terminated, truncated)

    def restore(self, state: dict[str, Any]) -> dict[str, Any]:
        """Put the attributes of a state into a fresh episode."""
        self.reset(0)
        self.log.begin(None)
        for path, described in self._state.items():
            value = np.asarray(state[path])
            if described["attribute"] == ELAPSED:
                self._limit._elapsed_steps = int(value)
            else:
                setattr(self.core, described["attribute"], _as_kind(described["kind"], value))
        return self._timestep(self.observe(), 0.0, False, False)

    def observe(self) -> Any:
        """The observation of the state as it is now, without a step."""
        how = self._found["observe"]
        value = getattr(self.core, how["name"])
        return value() if how["is_method"] else value

    def render(self) -> np.ndarray:
        """A picture of the state that it is in, drawn by an environment apart, which is made when it is first asked for."""
        if self._drawn is None:
            self._drawn = self.drawing()
            self._drawn.reset(seed=0)
        for described in self._state.values():
            name = described["attribute"]
            if name != ELAPSED:
                setattr(self._drawn.unwrapped, name, copy.deepcopy(getattr(self.core, name)))
        return np.asarray(self._drawn.render())

    def drawing(self) -> gymnasium.Env[Any, Any]:
        """The same environment once more, one that draws."""
        return make(self._found, {**self._options, "render_mode": "rgb_array"})

    def take_draws(self) -> list[tuple[str, np.ndarray]]:
        """The draws since the last call."""
        return self.log.taken()

    def close(self) -> None:
        """Release the environment, and the one that draws."""
        self.env.close()
        if self._drawn is not None:
            self._drawn.close()

    def as_action(self, action: Any) -> Any:
        """Action leaves as a point of the environment's action space."""
        return _gather(self.env.action_space, "action", action if isinstance(action, dict) else {"action": action})

    def _timestep(self, observation: Any, reward: Any, terminated: Any, truncated: Any) -> dict[str, Any]:
        timestep = {}  # type: dict[str, Any]
        scatter(self.env.observation_space, "observation", observation, timestep)
        timestep["reward"] = reward
        for path, value in timestep.items():
            timestep[path] = np.array(value, dtype=self._leaves[path]["dtype"])
        timestep["terminated"], timestep["truncated"] = bool(terminated), bool(truncated)
        for path, described in self._state.items():
            name = described["attribute"]
            value = self._limit._elapsed_steps if name == ELAPSED else getattr(self.core, name)
            timestep[path] = np.array(value, dtype=self._leaves[path]["dtype"])
        return timestep


class Log:
    """The draws of the timestep that is being made: those recorded, and those still to be forced."""

    def __init__(self) -> None:
        self._recorded = []  # type: list[tuple[str, np.ndarray]]
        self._forced = None  # type: list[Any] | None

    def begin(self, draws: list[Any] | None) -> None:
        """Begin a timestep; without draws the generator decides. What a timestep that was refused left behind is
        forgotten.
        """
        self._recorded = []
        self._forced = None if draws is None else list(draws)

    def end(self) -> None:
        """End a timestep. Raises ValueError if a draw is left over."""
        if self._forced:
            raise ValueError("draws are left over: {}".format(", ".join(name for name, _ in self._forced)))

    def taken(self) -> list[tuple[str, np.ndarray]]:
        """What was recorded since the last call."""
        recorded, self._recorded = self._recorded, []
        return recorded

    def decide(self, name: str, method: Any, arguments: Any, options: Any) -> Any:
        """One decision: recorded, and forced if there are draws to force."""
        # The generator always decides: its answer has the type and the shape that a forced one must have too.
        answer = method(*arguments, **options)
        in_place = name == "shuffle"
        value = np.array(arguments[0] if in_place else answer)
        if value.dtype.kind not in "biuf":
            return answer  # a choice between words, as for pictures, cannot be a draw; `lockstep new` saw it change nothing
        label = name + ("_" + "x".join(map(str, value.shape)) if value.shape else "")
        if self._forced is not None:
            value = self._next(label, value)
            if in_place:
                arguments[0][:] = list(value) if isinstance(arguments[0], list) else value
            else:
                answer = value.copy() if isinstance(answer, np.ndarray) else type(answer)(value[()])
        self._recorded.append((label, value))
        return answer

    def _next(self, label: str, like: np.ndarray) -> np.ndarray:
        if not self._forced:
            raise ValueError(f"the draw {label} is missing")
        name, value = self._forced.pop(0)
        value = np.asarray(value)
        if name != label or value.shape != like.shape or value.dtype != like.dtype:
            given = f"{name} ({value.dtype}, shape {value.shape})"
            raise ValueError(f"a draw {label} ({like.dtype}, shape {like.shape}) is due, {given} was given")
        return value


class Tape:
    """A random generator whose decisions go through a log."""

    def __init__(self, generator: np.random.Generator, log: Log) -> None:
        self._generator, self._log = generator, log

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        attribute = getattr(self._generator, name)
        if name not in DECISIONS:
            return attribute
        return lambda *arguments, **options: self._log.decide(name, attribute, arguments, options)


def make(found: dict[str, Any], options: dict[str, Any]) -> gymnasium.Env[Any, Any]:
    """The environment: by its id in Gymnasium's registry, or from a factory `module:function`."""
    if found["factory"] is None:
        return gymnasium.make(found["id"], disable_env_checker=True, **options)
    module, _, function = found["factory"].partition(":")
    return getattr(importlib.import_module(module), function)(**options)


def scatter(space: Any, path: str, value: Any, timestep: dict[str, Any]) -> None:
    """Put a point of a space into a timestep, one leaf for each part."""
    parts = parts_of(space)
    if parts is None:
        timestep[path] = value
    else:
        for key, name, part in parts:
            scatter(part, path + "/" + name, value[key], timestep)


def parts_of(space: Any) -> list[tuple[Any, str, Any]] | None:
    """Key, name in a leaf path, and space of each part of a Dict or a Tuple; None for any other space."""
    if isinstance(space, spaces.Dict):
        return [(key, "".join(c if c.isalnum() else "_" for c in str(key)), part) for key, part in space.spaces.items()]
    if isinstance(space, spaces.Tuple):
        return [(index, str(index), part) for index, part in enumerate(space.spaces)]
    return None


def _gather(space: Any, path: str, leaves: dict[str, Any]) -> Any:
    parts = parts_of(space)
    if parts is None:
        value = leaves[path]
        return int(value) if isinstance(space, spaces.Discrete) else np.asarray(value, dtype=space.dtype)
    gathered = {key: _gather(part, path + "/" + name, leaves) for key, name, part in parts}
    return gathered if isinstance(space, spaces.Dict) else tuple(gathered.values())


@contextlib.contextmanager
def _recorded(log: Log) -> Iterator[None]:
    """While it lasts, every generator that Gymnasium seeds goes through the log, and stays so afterwards."""
    plain = seeding.np_random

    def np_random(seed: int | None = None) -> Any:
        generator, used = plain(seed)
        return Tape(generator, log), used

    seeding.np_random = np_random  # type: ignore[assignment]
    try:
        yield
    finally:
        seeding.np_random = plain


def _time_limit(env: Any) -> Any:
    while env is not env.unwrapped:
        if isinstance(env, gymnasium.wrappers.TimeLimit):
            return env
        env = env.env
    return None


def _as_kind(kind: str, value: np.ndarray) -> Any:
    """A value of a state in the type that the environment itself keeps it in."""
    if kind in ("list", "tuple"):
        return value.tolist() if kind == "list" else tuple(value.tolist())
    return value.copy() if kind == "array" else value.item() if kind == "number" else value[()]


def _without_infinities(leaf: dict[str, Any]) -> dict[str, Any]:
    return json.loads(json.dumps(leaf), object_hook=lambda d: {k: _numbers(v) for k, v in d.items()})


def _numbers(value: Any) -> Any:
    if isinstance(value, list):
        return [_numbers(item) for item in value]
    return float(value) if value in ("inf", "-inf") else value
