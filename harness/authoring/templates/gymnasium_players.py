"""An environment of PettingZoo's as one of Gymnasium's: a step takes what one player or all do, and shows what all see.

Beside `adapter.py` of a task that `lockstep new --pettingzoo` made. Spaces and rewards of several players are dictionaries
by their names, so that each has leaves of its own.
"""

# It runs under the reference's own Python, which may be as old as 3.8.

from __future__ import annotations

import abc
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

MASK = "action_mask"
TURNS, SIMULTANEOUS = "turns", "simultaneous"


class Answer:
    """What a game at once answered last, by players' names. It is no state: `gymnasium_state` does not look into it."""

    def __init__(self, observations: Any, infos: Any, terminations: Any, truncations: Any) -> None:
        self.observations, self.infos = observations, infos
        self.terminations, self.truncations = terminations, truncations


class Players(gymnasium.Env, abc.ABC):
    """What both kinds share.

    Attributes:
        env: PettingZoo's environment.
        names: its players, those that dropped out too.
        order: whose actions a step takes, as `[players]` of task.toml says it.
        alike: whether one action leaf serves whoever is to move.
        masks: whether actions are masked.
    """

    order = ""
    alike = False

    def __init__(self, game: Any) -> None:
        self.env = game
        self.names = list(game.possible_agents)
        whole = {name: game.observation_space(name) for name in self.names}
        self.masks = any(isinstance(space, spaces.Dict) and MASK in space.spaces for space in whole.values())
        self._shown = {name: _without_mask(space) for name, space in whole.items()}
        self.observation_space = spaces.Dict(self._shown)
        self.action_space = spaces.Dict({name: game.action_space(name) for name in self.names})

    def begun(self) -> Any:
        """What `reset` answers once the game has begun; some tell masks in their infos alone."""
        self.masks = self.masks or any(MASK in (self.info_of(name) or {}) for name in self.names)
        return self.get_obs(), self.get_info()

    def alive(self) -> dict[str, bool]:
        """Which players go on."""
        over = {name: self.env.terminations[name] or self.env.truncations[name] for name in self.env.agents}
        return {name: not over.get(name, True) for name in self.names}

    def ends(self) -> tuple[bool, bool]:
        """Whether the episode is over for all by its rules, and whether it was cut off."""
        if any(self.alive().values()):
            return False, False
        truncated = bool(self.env.agents) and all(self.env.truncations[name] for name in self.env.agents)
        terminated = all(self.env.terminations[name] for name in self.env.agents)
        return terminated or not truncated, truncated

    def answers(self) -> bool:
        """Whether what players see can be asked of the game at any time."""
        return True

    @abc.abstractmethod
    def seen_by(self, name: str) -> Any:
        """What PettingZoo shows one player now; None if nothing."""

    @abc.abstractmethod
    def info_of(self, name: str) -> Any:
        """The info of one player."""

    def get_obs(self) -> dict[str, Any]:
        """What each player sees; zeros where it sees nothing any more."""
        return {name: _split(self.seen_by(name), space)[0] for name, space in self._shown.items()}

    def mask_of(self, name: str) -> np.ndarray:
        """What one player may do; nothing where it is not told."""
        _, mask = _split(self.seen_by(name), self._shown[name])
        mask = mask if mask is not None else (self.info_of(name) or {}).get(MASK)
        return np.zeros(int(self.env.action_space(name).n), bool) if mask is None else np.asarray(mask).astype(bool)

    def of_players(self) -> dict[str, Any]:
        """What a timestep has beside observations and rewards, by the paths of its leaves."""
        leaves = {"alive/" + name: alive for name, alive in self.alive().items()}  # type: dict[str, Any]
        if self.masks:
            legal = self.legal()
            each = {"legal_actions/" + name: mask for name, mask in legal.items()} if isinstance(legal, dict) else None
            leaves.update({"legal_actions": legal} if each is None else each)
        return leaves

    def legal(self) -> Any:
        """The masks by players' names; where one action serves whoever is to move, that player's."""
        return {name: self.mask_of(name) for name in self.names}

    def get_info(self) -> dict[str, Any]:
        """The masks, where there are some, as Gymnasium's environments tell theirs."""
        return {MASK: self.legal()} if self.masks else {}

    def close(self) -> None:
        self.env.close()


class Turns(Players):
    """One player after the other (`AECEnv`)."""

    order = TURNS

    def __init__(self, game: Any) -> None:
        super().__init__(game)
        first = self.action_space[self.names[0]]
        self.alike = all(space == first for space in self.action_space.spaces.values())
        if self.alike:
            self.action_space = first

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        self.env.reset(seed=seed)
        return self.begun()

    def step(self, action: Any) -> Any:
        self.env.step(action if self.alike else action[self.env.agent_selection])
        rewards = {name: float(self.env.rewards.get(name, 0.0)) for name in self.names}
        terminated, truncated = self.ends()
        while not (terminated or truncated) and not self.alive()[self.env.agent_selection]:
            self.env.step(None)  # which takes a player out that dropped out
        return self.get_obs(), rewards, terminated, truncated, self.get_info()

    def seen_by(self, name: str) -> Any:
        try:
            return self.env.observe(name)
        except KeyError:
            return None

    def info_of(self, name: str) -> Any:
        return self.env.infos.get(name)

    def of_players(self) -> dict[str, Any]:
        return {"to_move": np.int64(self.names.index(self.env.agent_selection)), **super().of_players()}

    def legal(self) -> Any:
        return self.mask_of(self.env.agent_selection) if self.alike else super().legal()


class Together(Players):
    """All at once (`ParallelEnv`).

    Attributes:
        asks: whether the game is asked what its players see, those that dropped out too; or else its last answer is shown.
    """

    order = SIMULTANEOUS
    asks = False

    def __init__(self, game: Any) -> None:
        super().__init__(game)
        self._last = Answer({}, {}, {}, {})

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        self._last = Answer(*self.env.reset(seed=seed), {}, {})
        return self.begun()

    def step(self, action: Any) -> Any:
        there = list(self.env.agents)
        observations, rewards, terminations, truncations, infos = self.env.step({name: action[name] for name in there})
        self._last = Answer(observations, infos, terminations, truncations)
        paid = {name: float(rewards.get(name, 0.0)) for name in self.names}
        return (self.get_obs(), paid, *self.ends(), self.get_info())

    def alive(self) -> dict[str, bool]:
        return {name: name in self.env.agents for name in self.names}

    def ends(self) -> tuple[bool, bool]:
        if self.env.agents:
            return False, False
        truncated = all(self._last.truncations.values())
        return all(self._last.terminations.values()) or not truncated, truncated

    def answers(self) -> bool:
        """Whether the game, if it is asked now, shows its players what it showed them last."""
        try:
            return all(repr(self.ask(name)) == repr(seen) for name, seen in self._last.observations.items())
        except Exception:  # it has no such method, or another one of that name
            return False

    def ask(self, name: str) -> Any:
        """What a player sees by the game's own method, which few of them lack."""
        return (getattr(self.env, "aec_env", None) or self.env.unwrapped).observe(name)

    def seen_by(self, name: str) -> Any:
        return self.ask(name) if self.asks else self._last.observations.get(name)

    def info_of(self, name: str) -> Any:
        return self._last.infos.get(name)


def players_of(game: Any, asks: bool) -> Players:
    """The environment around one of PettingZoo's, or one that says how its players act (`asks`: see `Together`).

    Raises:
        TypeError: it is neither.
    """
    acting = getattr(game, "players_act", None) or _as_pettingzoo_has_it(game)
    if acting == SIMULTANEOUS:
        together = Together(game)
        together.asks = asks
        return together
    if acting == TURNS:
        return Turns(game)
    raise TypeError(f"{type(game).__module__}.{type(game).__qualname__} is no environment of PettingZoo's")


def _as_pettingzoo_has_it(game: Any) -> Any:
    from pettingzoo import AECEnv, ParallelEnv

    return SIMULTANEOUS if isinstance(game, ParallelEnv) else TURNS if isinstance(game, AECEnv) else None


def _without_mask(space: Any) -> Any:
    if not isinstance(space, spaces.Dict) or MASK not in space.spaces:
        return space
    rest = {key: part for key, part in space.spaces.items() if key != MASK}
    return next(iter(rest.values())) if len(rest) == 1 else spaces.Dict(rest)


def _split(seen: Any, space: Any) -> tuple[Any, Any]:
    """An observation without its mask, and the mask; zeros where nothing is seen, and None where there is no mask."""
    if seen is None:
        return _nothing(space), None
    if not isinstance(seen, dict) or MASK not in seen:
        return seen, None
    rest = {key: part for key, part in seen.items() if key != MASK}
    return (next(iter(rest.values())) if len(rest) == 1 else rest), seen[MASK]


def _nothing(space: Any) -> Any:
    if isinstance(space, spaces.Dict):
        return {key: _nothing(part) for key, part in space.spaces.items()}
    if isinstance(space, spaces.Tuple):
        return tuple(map(_nothing, space.spaces))
    return np.zeros(space.shape, space.dtype)
