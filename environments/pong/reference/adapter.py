"""PufferLib 3.0.0's Pong as a Lockstep reference.

Every value of a trajectory comes from the package's compiled code, stepped through its own Python binding. The adapter
sets states, feeds and records `rand()`, and undoes one thing: at the end of a game `c_step` begins the next one, so the
final scores and the last observation are taken from the moment at which it draws the next serve, when they still stand.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import picture
import policies
from library import COUNTERS, NUMBERS, SCORES, STATE, Game, Library, check_layout, named
from tape import RandTape

SERVE = "serve"
_FLOAT, _BOOL = {"dtype": "float32", "shape": []}, {"dtype": "bool", "shape": []}
_INT, _UINT = {"dtype": "int32", "shape": []}, {"dtype": "uint32", "shape": []}
_ACTION = {"dtype": "int64", "shape": [], "low": 0, "high": 2}
_OBSERVATION = {"dtype": "float32", "shape": [8]}
_OF_STATE = {
    **dict.fromkeys(NUMBERS, _FLOAT),
    **dict.fromkeys(SCORES, _UINT),
    "paddle_dir": _FLOAT,
    **dict.fromkeys(COUNTERS, _INT),
}


def _some(*names: str, **others: Any) -> dict[str, Any]:
    return dict({name: _OF_STATE[name] for name in names}, **others)


_BALL = ("ball_x", "ball_y", "ball_vx", "ball_vy")
_PROBES = {
    "observation": {"inputs": _some(*NUMBERS, *SCORES), "outputs": {"observation": _OBSERVATION}},
    "serve": {"inputs": {SERVE: _INT}, "outputs": _some("paddle_yl", "paddle_yr", *_BALL)},
    "paddles": {
        "inputs": _some("paddle_yl", "paddle_yr", "ball_y", action=_ACTION),
        "outputs": _some("paddle_yl", "paddle_yr"),
    },
    "ball": {"inputs": _some(*_BALL), "outputs": _some(*_BALL)},
    "opponent": {
        "inputs": _some("ball_x", "ball_y", "ball_vy", "paddle_yl", serve=_INT),
        "outputs": _some(*_BALL, "n_bounces", reward=_FLOAT),
    },
    "agent": {
        "inputs": _some("ball_x", "ball_y", "ball_vy", "paddle_yr", action=_ACTION, serve=_INT),
        "outputs": _some(*_BALL, "n_bounces", reward=_FLOAT),
    },
    "scoring": {
        "inputs": _some("score_l", "score_r", agent_scores=_BOOL),
        "outputs": _some("score_l", "score_r", "win", reward=_FLOAT, terminated=_BOOL),
    },
}
# A probe changes what it is about; everything else of the state is this.
_QUIET = dict(dict.fromkeys(STATE, 0), paddle_yl=285.0, paddle_yr=285.0, ball_x=250.0, ball_y=304.0)


class Pong:
    """One game of Pong behind the protocol.

    Args:
        frameskip: sub-frames in a step, 8 in the package's configuration.
    """

    def __init__(self, frameskip: int = 8) -> None:
        self._tape = RandTape(SERVE)
        library = Library()
        check_layout(library)
        self._game = Game(library, self._tape, frameskip=frameskip)
        self._probed = Game(library, self._tape, frameskip=1)
        self._still = Game(library, frameskip=1, paddle_speed=0)
        self._vec_step, self._handle = library.binding.vec_step, self._game.handle
        self._actions, self._rewards, self._terminals = self._game.actions, self._game.rewards, self._game.terminals
        self._observation = self._game.observation
        self._state = self._game.state
        self.policies = {"track": policies.track, "dodge": policies.dodge}
        self.take_draws = self._tape.take

    def spec(self) -> dict[str, Any]:
        """What task.toml declares, as this adapter provides it."""
        leaves: dict[str, Any] = {"state/" + name: leaf for name, leaf in _OF_STATE.items()}
        leaves["state/observation"] = _OBSERVATION
        leaves.update(observation=_OBSERVATION, reward=_FLOAT, terminated=_BOOL, truncated=_BOOL, action=_ACTION)
        return {
            "leaves": leaves,
            "capabilities": ["restore", "probe", "draws", "force_draws", "render"],
            "probes": _PROBES,
            "draws": {SERVE: {"dtype": "int32", "shape": [], "at": "both"}},
            "policies": sorted(self.policies),
        }

    def reset(self, seed: int, draws: list[Any] | None = None) -> dict[str, Any]:
        """Begin a game as a freshly made environment does: the package's reset leaves `win` and `paddle_dir` alone."""
        self._tape.discard()  # what was drawn before, the check of the layout included, is no part of this game
        self._game.put(win=0, paddle_dir=0.0)
        if draws is not None:
            self._tape.force(draws)
        self._game.library.binding.vec_reset(self._handle, seed)
        if draws is not None:
            self._tape.settle()
        return self._row(0.0)

    def step(self, action: int, draws: list[Any] | None = None) -> dict[str, Any]:
        """One step of `frameskip` sub-frames, fewer when a point is scored."""
        if draws is not None:
            self._tape.force(draws)
        self._actions[0] = action
        self._vec_step(self._handle)
        if draws is not None:
            self._tape.settle()
        row = self._row(self._rewards[0])
        if self._terminals[0]:
            scores, observation = self._game.ended()
            row.update({"state/" + name: score for name, score in scores.items()})
            row.update({"state/observation": observation, "observation": observation, "terminated": True})
        return row

    def restore(self, state: dict[str, Any]) -> dict[str, Any]:
        """Go on from a canonical state; `rand()` goes on from where it was."""
        self._tape.discard()
        self._game.put(**{name: state["state/" + name].item() for name in STATE})
        self._observation[:] = state["state/observation"]
        return self._row(0.0)

    def probe(self, name: str, inputs: dict[str, Any]) -> dict[str, Any]:
        """Ask one rule: a single sub-frame of the real code, in a game apart, from a state that isolates the rule."""
        values = {path: value.item() for path, value in inputs.items()}
        action, serve = values.pop("action", 0), values.pop(SERVE, 0)
        with self._tape.aside(serve):
            row = self._ask(name, values, action)
        return {path: row[path] for path in _PROBES[name]["outputs"]}

    def render(self) -> np.ndarray:
        """The game as it stands, 620 wide and 640 high."""
        return picture.draw(named(self._state()))

    def close(self) -> None:
        """Free the games."""
        self._tape.unwatch()
        for game in (self._game, self._probed, self._still):
            game.close()

    def _ask(self, name: str, values: dict[str, Any], action: int) -> dict[str, Any]:
        # Where the paddles' own movement would blur the question, they stand still.
        game = self._still if name in ("opponent", "agent") else self._probed
        if name == "opponent":
            values.update(ball_vx=-10.0)
        elif name == "agent":
            values.update(ball_vx=10.0)
        elif name == "scoring":
            # A ball that passes above the one paddle or the other, in this sub-frame.
            left = values.pop("agent_scores")
            values.update(ball_y=600.0, ball_x=1.0 if left else 467.0, ball_vx=-10.0 if left else 10.0)
        game.put(**dict(_QUIET, **values))
        if name == "observation":
            game.look()
            return {"observation": game.observation.copy()}
        if name == "serve":
            game.library.binding.env_reset(game.address, 0)
            return named(game.state())
        game.step(action)
        row = dict(named(game.state()), reward=game.rewards[0], terminated=game.terminals[0])
        if row["terminated"]:
            row.update(game.ended()[0])
        return row

    # The hot path of every rollout, so it reads the memory by itself and all at once.
    def _row(self, reward: float) -> dict[str, Any]:
        yl, yr, x, y, vx, vy, score_l, score_r, direction, tick, bounces, win = self._state()
        observation = self._observation.copy()
        return {
            "state/paddle_yl": yl,
            "state/paddle_yr": yr,
            "state/ball_x": x,
            "state/ball_y": y,
            "state/ball_vx": vx,
            "state/ball_vy": vy,
            "state/score_l": score_l,
            "state/score_r": score_r,
            "state/paddle_dir": direction,
            "state/tick": tick,
            "state/n_bounces": bounces,
            "state/win": win,
            "state/observation": observation,
            "observation": observation,
            "reward": reward,
            "terminated": False,
            "truncated": False,
        }
