"""A Gymnasium environment as a Lockstep reference.

`environment.json` beside this file says which environment it is, and what `lockstep new` found out about it: the leaves of
its spaces, the attributes that hold its state, and the draws that it asks of its random generator. Correct what is wrong
there, or write a shorter adapter for this one environment in place of this general one.
"""

# It runs under the reference's own Python, which may be as old as 3.8.

from __future__ import annotations

import contextlib
import importlib
import json
import os
from collections.abc import Iterator
from typing import Any

import gymnasium
import gymnasium_chance
import gymnasium_state
import numpy as np
from gymnasium import spaces
from gymnasium_chance import Log

FOUND = os.path.join(os.path.dirname(os.path.abspath(__file__)), "environment.json")


class Reference:
    """The environment behind the protocol. Options of the task go to the environment's constructor."""

    def __init__(self, **options: Any) -> None:
        with open(FOUND, encoding="utf-8") as file:
            self._found = json.load(file)
        self._options = options
        gymnasium_chance.install()
        self.log = Log(self._found["names"])
        with self.log.building():
            self.env = make(self._found, options)
        self.core = ([self.env] + [wrapper.env for wrapper in _wrappers(self.env)])[-1]
        self._leaves = self._found["leaves"]
        self._state = self._found["state"]
        self._drawn = None  # type: gymnasium.Env[Any, Any] | None
        self._fresh = []  # type: list[tuple[Any, Any]]
        for place in self._found["leaks"]:
            with contextlib.suppress(AttributeError, LookupError):  # what a new environment does not have yet
                self._fresh.append((place, gymnasium_state.copied(gymnasium_state.at(self.env, place))))
        self._info = {}  # type: dict[str, Any]

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
        """Start an episode; draws take the place of what the generators would decide."""
        seed = seed if self._found["seeds"] is None else seed % self._found["seeds"]
        for place, value in self._fresh:
            gymnasium_state.put(self.env, place, gymnasium_state.copied(value))
        if self._found["reseed"]:
            self.log.reseed(seed)
        with self.log.timestep(draws):
            observation, self._info = self.env.reset(seed=seed)
        return self._timestep(observation, None, False, False)

    def step(self, action: Any, draws: list[Any] | None = None) -> dict[str, Any]:
        """Take one step."""
        with self.log.timestep(draws):
            observation, reward, terminated, truncated, self._info = self.env.step(self.as_action(action))
        return self._timestep(observation, reward, terminated, truncated)

    def restore(self, state: dict[str, Any]) -> dict[str, Any]:
        """Put a state into a fresh episode."""
        self.reset(0)
        with self.log.timestep():
            for path, described in self._state.items():
                gymnasium_state.write(self.env, path, described, state)
            return self._timestep(self.observe(), None, False, False)

    def observe(self) -> Any:
        """The observation of the state as it is now, without a step: what the environment shows, through its wrappers."""
        how = self._found["observe"]
        value = getattr(gymnasium_state.at(self.env, how["place"]), how["name"])
        if how["arguments"] is not None:
            value = value(*(gymnasium_state.at(self.env, place) for place in how["arguments"]))
        for wrapper in reversed(list(_wrappers(self.env))):
            if isinstance(wrapper, gymnasium.ObservationWrapper):
                value = wrapper.observation(value)
        return value

    def mask(self) -> Any:
        """Which actions the environment says are legal now."""
        how = self._found["mask"]
        if how["method"] is None:
            return self._info["action_mask"]
        method = getattr(gymnasium_state.at(self.env, how["place"]), how["method"])
        return method(*(getattr(self.core, name) for name in how["arguments"]))

    def render(self) -> np.ndarray:
        """A picture of the state that it is in, drawn by an environment apart, which is made when it is first asked for."""
        if self._drawn is None:
            self._drawn = self.drawing()
            self._drawn.reset(seed=0)
        for path, described in self._state.items():
            state = {}  # type: dict[str, Any]
            gymnasium_state.read(self.env, path, described, state, self._leaves)
            gymnasium_state.write(self._drawn, path, described, state)
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
        if self._found["mask"] is not None:
            within = self._found["mask"]["leaf"]
            timestep["legal_actions"] = self.mask() if within is None else timestep[within]
        if self._found["players"] is not None:
            timestep.update(self._of_players())
        timestep.update(as_rewards(reward, self._leaves))
        for path, value in timestep.items():
            if path in self._found["texts"]:
                timestep[path] = as_numbers(value, self._leaves[path]["shape"][0], self._found["texts"][path])
            else:
                timestep[path] = np.array(value, dtype=self._leaves[path]["dtype"])
        timestep["terminated"], timestep["truncated"] = bool(terminated), bool(truncated)
        for path, described in self._state.items():
            gymnasium_state.read(self.env, path, described, timestep, self._leaves)
        return timestep

    def _of_players(self) -> dict[str, Any]:
        """What there is to say of each player; whether it is alive only where players drop out."""
        alive, told = self.env.alive(), self.env.of_players()
        if any(alive.values()) and not all("alive/" + name in self._leaves or alive[name] for name in alive):
            raise ValueError(f"some dropped out, {alive}, as nobody did when `lockstep new` looked: run it again")
        return {path: value for path, value in told.items() if path in self._leaves}


def make(found: dict[str, Any], options: dict[str, Any]) -> gymnasium.Env[Any, Any]:
    """The environment: by its id in Gymnasium's registry, or from a factory `module:function`."""
    for imported in found["imports"]:
        registers = _named(imported)
        if ":" in imported and found["id"] not in gymnasium.registry:
            registers()
    if found["factory"] is None:
        return gymnasium.make(found["id"], disable_env_checker=True, **options)
    made = _named(found["factory"])(**options)
    if found["players"] is None:
        return made
    import gymnasium_players

    return gymnasium_players.players_of(made, found["players"].get("asks", False))


def _named(name: str) -> Any:
    """A module, or what `module:function` names in it."""
    module, _, function = name.partition(":")
    found = importlib.import_module(module)
    for part in filter(None, function.split(".")):
        found = getattr(found, part)
    return found


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
        return [(key, leaf_name(key), part) for key, part in space.spaces.items()]
    if isinstance(space, spaces.Tuple):
        return [(index, str(index), part) for index, part in enumerate(space.spaces)]
    return None


def leaf_name(key: Any) -> str:
    """What a part is called in the path of a leaf."""
    return "".join(c if c.isalnum() else "_" for c in str(key))


def as_rewards(reward: Any, leaves: dict[str, Any]) -> dict[str, Any]:
    """What was paid, by the paths of leaves; nothing yet where it is None."""
    if isinstance(reward, dict):
        return {"reward/" + name: value for name, value in reward.items()}
    if reward is not None:
        return {"reward": reward}
    return {path: 0.0 for path in leaves if is_reward(path)}


def is_reward(path: str) -> bool:
    """Whether a leaf is what a player is paid, or the only one."""
    return path == "reward" or path.startswith("reward/")


def as_numbers(text: str, most: int, characters: str) -> np.ndarray:
    """A text as the numbers of its characters, from 1 on, or as Unicode's where none are given; 0 beyond its end."""
    if len(text) > most:
        raise ValueError(f"a text has {len(text)} characters and its leaf room for {most}: {text!r:.60}")
    numbers = [characters.index(each) + 1 if characters else ord(each) for each in text]
    return np.array(numbers + [0] * (most - len(text)), "int64")


def _wrappers(env: Any) -> Iterator[Any]:
    """From the outermost wrapper inwards; `unwrapped` may be what is no Gymnasium environment any more."""
    while isinstance(env, gymnasium.Wrapper):
        yield env
        env = env.env


def _gather(space: Any, path: str, leaves: dict[str, Any]) -> Any:
    parts = parts_of(space)
    if parts is None:
        value = leaves[path]
        if isinstance(space, spaces.Text):
            return "".join(space.character_list[int(index) - 1] for index in value if index)
        return int(value) if isinstance(space, spaces.Discrete) else np.asarray(value, dtype=space.dtype)
    gathered = {key: _gather(part, path + "/" + name, leaves) for key, name, part in parts}
    return gathered if isinstance(space, spaces.Dict) else tuple(gathered.values())


def _without_infinities(leaf: dict[str, Any]) -> dict[str, Any]:
    return json.loads(json.dumps(leaf), object_hook=lambda d: {k: _numbers(v) for k, v in d.items()})


def _numbers(value: Any) -> Any:
    if isinstance(value, list):
        return [_numbers(item) for item in value]
    return float(value) if value in ("inf", "-inf") else value
