"""PufferLib's compiled Pong: importing it, and one game of it with its C structure laid open.

The package's Python binding hands out pointers. Fields are read and written through them, at offsets that are checked
against known values before anything else is done, so that a build with another layout is refused.
"""

from __future__ import annotations

import contextlib
import ctypes
import io
import os
import struct
import tempfile
from typing import Any

import numpy as np
from tape import RandTape

_FLOAT, _UINT, _INT, _POINTER = ctypes.c_float, ctypes.c_uint, ctypes.c_int, ctypes.c_void_p
# As in a game at frameskip 1, but no two alike, and every value below exact in float32.
PARAMETERS = {
    "width": 1024,
    "height": 640,
    "paddle_width": 24,
    "paddle_height": 72,
    "ball_width": 40,
    "ball_height": 32,
    "paddle_speed": 7,
    "ball_initial_speed_x": 11,
    "ball_initial_speed_y": 5,
    "ball_max_speed_y": 13,
    "ball_speed_y_increment": 3,
}
NUMBERS = ("paddle_yl", "paddle_yr", "ball_x", "ball_y", "ball_vx", "ball_vy")
SCORES = ("score_l", "score_r")
COUNTERS = ("tick", "n_bounces", "win")
STATE = (*NUMBERS, *SCORES, "paddle_dir", *COUNTERS)


class Fields(ctypes.Structure):
    """The C structure of one game."""

    _fields_ = [
        ("client", _POINTER),
        ("log", _FLOAT * 5),
        *[(name, _POINTER) for name in ("observations", "actions", "rewards", "terminals")],
        *[(name, _FLOAT) for name in NUMBERS],
        *[(name, _UINT) for name in SCORES],
        *[(name, _FLOAT) for name in PARAMETERS],
        ("max_score", _UINT),
        ("min_paddle_y", _FLOAT),
        ("max_paddle_y", _FLOAT),
        ("paddle_dir", _FLOAT),
        *[(name, _INT) for name in (*COUNTERS, "frameskip", "continuous")],
    ]


_UNPACK = struct.Struct("=6f2I{}xf3i".format(Fields.paddle_dir.offset - Fields.width.offset))
"""The fields of STATE in their order, from `paddle_yl` on; the parameters in between are skipped."""


class Library:
    """The package's class `Pong` and its binding. Importing is done in a folder of its own: the package links into it."""

    def __init__(self) -> None:
        here = os.getcwd()
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()):
            os.chdir(folder)
            try:
                from pufferlib.ocean.pong import binding
                from pufferlib.ocean.pong.pong import Pong
            finally:
                os.chdir(here)
        self.make, self.binding = Pong, binding
        try:
            self.compute_observations = ctypes.CDLL(binding.__file__).compute_observations
        except AttributeError:
            raise RuntimeError("{} hides `compute_observations`: another build of Pong".format(binding.__file__))
        self.compute_observations.argtypes = [_POINTER]
        self.compute_observations.restype = None


class Game:
    """One game in the library, made by the package's own class, with its parameters' own defaults.

    Args:
        library: the library.
        tape: notes what stood where when `rand()` was called; without one, `ended` cannot be asked.
        parameters: arguments of the package's class.
    """

    def __init__(self, library: Library, tape: RandTape | None = None, **parameters: Any) -> None:
        self.library = library
        self.environment = library.make(num_envs=1, **parameters)
        self.handle = self.environment.c_envs
        games = _POINTER.from_address(self.handle).value
        assert games is not None
        self.address = _POINTER.from_address(games).value
        assert self.address is not None
        self.fields = Fields.from_address(self.address)
        self.actions = self.environment.actions
        self.observation = self.environment.observations[0]
        self.rewards = memoryview(self.environment.rewards)
        self.terminals = memoryview(self.environment.terminals)
        start = self.address + Fields.paddle_yl.offset
        self._state = memoryview((ctypes.c_char * _UNPACK.size).from_address(start)).cast("B")
        if tape is not None:
            self._drawn_state = tape.watch(start, _UNPACK.size)
            self._drawn_observation = tape.watch(self.observation.ctypes.data, self.observation.nbytes)

    def state(self) -> tuple[Any, ...]:
        """The fields of STATE, in their order."""
        return _UNPACK.unpack(self._state)

    def step(self, action: int) -> None:
        """One `c_step` through the package's binding."""
        self.actions[0] = action
        self.library.binding.vec_step(self.handle)

    def put(self, **fields: Any) -> None:
        """Write fields."""
        for name, value in fields.items():
            setattr(self.fields, name, value)

    def look(self) -> None:
        """Let the library compute the observation of what is there."""
        self.library.compute_observations(self.address)

    def close(self) -> None:
        """Free it."""
        self.environment.close()

    def ended(self) -> tuple[dict[str, int], np.ndarray]:
        """The scores and the last observation of a game that ended, beyond which `c_step` has gone: it began the next.

        Both still stood there when the library drew the serve for that next game.
        """
        drawn = named(_UNPACK.unpack(self._drawn_state))
        observation = np.frombuffer(self._drawn_observation, dtype=np.float32).copy()
        return {name: drawn[name] for name in SCORES}, observation


def named(state: tuple[Any, ...]) -> dict[str, Any]:
    """What `Game.state` answers, by the names of STATE."""
    return dict(zip(STATE, state))  # noqa: B905 - Python 3.9 has no `strict`


def check_layout(library: Library) -> None:
    """Make a game whose parameters all differ, let it step, and look whether every field is where it should be.

    Raises:
        RuntimeError: one is not.
    """
    parameters = dict(PARAMETERS, max_score=21, frameskip=1)
    game = Game(library, **parameters)
    _expect(game.fields, observations=game.observation.ctypes.data, actions=game.actions.ctypes.data)
    rewards, terminals = game.environment.rewards.ctypes.data, game.environment.terminals.ctypes.data
    _expect(game.fields, rewards=rewards, terminals=terminals)
    _expect(game.fields, continuous=0, min_paddle_y=-36.0, max_paddle_y=604.0, **parameters)
    game.library.binding.vec_reset(game.handle, 0)
    _expect(game.fields, paddle_yl=284.0, paddle_yr=284.0, ball_x=_FLOAT(204.8).value, ball_y=304.0, ball_vx=11.0)
    # The ball is on its way, ...
    game.put(ball_y=300.0, tick=40, n_bounces=8)
    game.step(0)
    _expect(game.fields, ball_y=300.0 + game.fields.ball_vy, tick=41, n_bounces=8)
    # ... the agent meets it while it moves up, ...
    game.put(ball_x=980.0, ball_y=300.0, ball_vy=2.0, paddle_yl=100.0, score_l=2, score_r=5)
    game.step(1)
    _expect(game.fields, ball_x=984.0, ball_y=302.0, ball_vx=-11.0, ball_vy=5.0, paddle_yl=107.0, paddle_yr=291.0)
    _expect(game.fields, score_l=2, score_r=5, paddle_dir=1.0, tick=42, n_bounces=9, win=0)
    # ... and the opponent misses it.
    game.put(ball_x=3.0, ball_y=600.0, ball_vy=0.0)
    game.step(0)
    _expect(game.fields, score_l=2, score_r=6, paddle_dir=0.0, tick=0, n_bounces=0, win=1)
    game.close()


def _expect(fields: Fields, **values: Any) -> None:
    for name, expected in values.items():
        actual = getattr(fields, name)
        if actual != expected:
            raise RuntimeError(
                "this build of Pong is not the one that the adapter knows: `{}` is {!r} where {!r} was expected; "
                "build PufferLib 3.0.0 again with `lockstep setup pong`".format(name, actual, expected)
            )
