"""The face that code written for pgx 2 knows: `init(key)`, `step(state, action, key)`, one state with all that is seen.

As there, nothing is reset: a step after the end changes nothing and pays nothing, and at the end all actions are legal.
What an illegal action does is what the environment itself says. pgx itself is not needed.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import jax
import jax.numpy as jnp
import numpy as np

from .jax_env import JaxEnv
from .leaves import bounds
from .restarts import select
from .seats import TO_MOVE, Seats, of_player


@dataclasses.dataclass(frozen=True)
class PgxState:
    """A position, and what is seen of it.

    Attributes:
        current_player: who is to move, by its place among the players (int32).
        observation: what that player sees.
        rewards: of the last step, for each player (float32).
        terminated, truncated: whether the episode has ended.
        legal_action_mask: which actions are legal (bool `[num_actions]`).
    """

    current_player: Any
    observation: Any
    rewards: Any
    terminated: Any
    truncated: Any
    legal_action_mask: Any
    _step_count: Any
    _state: Any
    _seen: Any
    _env_id: str = ""

    @property
    def env_id(self) -> str:
        """The environment's name."""
        return self._env_id

    def replace(self, **changes: Any) -> PgxState:
        """The same state but for these attributes."""
        return dataclasses.replace(self, **changes)

    def to_svg(self) -> str:
        """The public attributes as a picture of text."""
        public = [field.name for field in dataclasses.fields(self) if not field.name.startswith("_")]
        lines = [
            line for name in public for line in f"{name}: {np.asarray(getattr(self, name))}".splitlines()
        ]  # fmt: skip
        rows = "".join(f'<text x="8" y="{16 * (n + 1)}">{escape(line)}</text>' for n, line in enumerate(lines))
        size = f'width="720" height="{16 * len(lines) + 16}"'
        style = 'font-family="monospace" font-size="12" xml:space="preserve"'
        return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {style}>{rows}</svg>'

    def save_svg(self, filename: str) -> None:
        """Write `to_svg` to a file."""
        Path(filename).write_text(self.to_svg(), encoding="utf-8")


jax.tree_util.register_dataclass(
    PgxState,
    [field.name for field in dataclasses.fields(PgxState) if field.name != "_env_id"],
    ["_env_id"],
)


class PgxEnv:
    """A verified game of turns in pgx's shape, all of it free to be vmapped, jitted and scanned.

    Raises:
        TypeError: its players do not act in turns, do not choose one whole number, or see arrays of different shapes.
    """

    version = "v0"

    def __init__(self, env: JaxEnv) -> None:
        self.env = env
        self.seats = Seats(env.leaves, env.players)
        paths = set(self.seats.actions.values())
        leaf = env.leaves[next(iter(paths))]
        low, high = bounds(leaf)
        whole = np.dtype(leaf["dtype"]).kind in "iu" and not leaf["shape"] and paths == {"action"}
        if not self.seats.turns or not whole:
            raise TypeError("pgx's games are played in turns, each move one whole number: this one is not")
        self._low, self.num_actions = int(low), int(high) - int(low) + 1
        self._masked = "legal_actions" in env.leaves

    @property
    def id(self) -> str:
        """The environment's name."""
        return str(self.env.contract.get("name", ""))

    @property
    def num_players(self) -> int:
        """How many players there are."""
        return len(self.seats.players)

    @property
    def observation_shape(self) -> Any:
        """The shape of what a player sees; of several arrays as they are nested."""
        seen = jax.eval_shape(self.init, jax.random.key(0)).observation
        return jax.tree.map(lambda leaf: leaf.shape, seen)

    def init(self, key: jax.Array) -> PgxState:
        """Begin an episode."""
        return self._shown(*self.env.reset(key), jnp.int32(0))

    def step(self, state: PgxState, action: Any, key: jax.Array | None = None) -> PgxState:
        """One move of `current_player`.

        Args:
            action: from 0 to `num_actions - 1`.
            key: of the step's chance.

        Raises:
            TypeError: the game has chance in its steps, and no key was given.
        """
        if key is None:
            if self.env.step_draws:
                raise TypeError("this game draws in its steps: give `step` a key")
            key = jax.random.key(0)
        taken = action + self._low if self._low else action
        after = self._shown(*self.env.step(key, state._state, taken), state._step_count + 1)
        over = state.terminated | state.truncated
        return select(over, state.replace(rewards=jnp.zeros_like(state.rewards)), after)

    def observe(self, state: PgxState, player_id: Any = None) -> Any:
        """What a player sees, by default the one that is to move."""
        wanted = state.current_player if player_id is None else player_id
        own = [of_player(state._seen, player) for player in self.seats.players]
        try:
            return jax.tree.map(lambda *parts: jnp.stack(parts)[wanted], *own)
        except ValueError as error:
            raise TypeError("players see arrays of different shapes, which pgx's states cannot hold") from error

    def _shown(self, inner: Any, outputs: dict[str, Any], count: Any) -> PgxState:
        terminated, truncated = outputs["terminated"], outputs["truncated"]
        legal = outputs["legal_actions"] if self._masked else jnp.ones(self.num_actions, bool)
        state = PgxState(
            current_player=outputs[TO_MOVE].astype(jnp.int32),
            observation=None,
            rewards=jnp.stack([outputs["reward"][player].astype(jnp.float32) for player in self.seats.players]),
            terminated=terminated,
            truncated=truncated,
            legal_action_mask=legal | terminated | truncated,
            _step_count=count,
            _state=inner,
            _seen=outputs["observation"],
            _env_id=self.id,
        )
        return state.replace(observation=self.observe(state))
