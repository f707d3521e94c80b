"""A game of OpenSpiel's as a game of PettingZoo's kind: players by name, masks, rewards as they come.

Beside `adapter.py` of a task that `lockstep new --openspiel` made. OpenSpiel keeps a position where nothing of Python can
see or set it. So the state here is the history, every move and every outcome of chance so far: from it the position is
reached again.
"""

# It runs under the reference's own Python, which may be as old as 3.8.

from __future__ import annotations

import difflib
from typing import Any

import numpy as np
import pyspiel
from gymnasium import spaces
from gymnasium.utils import seeding

GAME = ""
"""OpenSpiel's name of the game, as `connect_four` or `hex(board_size=5)`."""
MOST_MOVES = 2048
NOTHING = -1
Kinds = pyspiel.GameType.Dynamics


def make() -> Spiel:
    """The game that this task is of."""
    named, known = GAME.partition("(")[0], pyspiel.registered_names()
    if named not in known:
        near = difflib.get_close_matches(named, known)
        raise TypeError("OpenSpiel has no game {}{}".format(named, "; did you mean " + ", ".join(near) if near else ""))
    try:
        game = pyspiel.load_game(GAME)
    except pyspiel.SpielError as error:
        raise TypeError(f"OpenSpiel refuses {GAME}: {error}") from error
    if game.get_type().chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC:
        raise TypeError(f"{GAME} draws its chance where nobody sees it: its history does not say how it stands")
    turns, together = Kinds.SEQUENTIAL, Kinds.SIMULTANEOUS
    if game.get_type().dynamics not in (turns, together):
        raise TypeError(f"{GAME} is played neither in turns nor at once")
    if game.num_players() < 2:
        raise TypeError(f"{GAME} has {game.num_players()} player: two or more are needed")
    return Spiel(game, "turns" if game.get_type().dynamics == turns else "simultaneous")


class Spiel:
    """One game.

    Attributes:
        players_act: `turns` or `simultaneous`.
        called: what the game is, for the task's summary.
        moves, count: the history, filled up with -1, and how long it is.
        np_random: what outcomes of chance are drawn with.
    """

    def __init__(self, game: Any, players_act: str) -> None:
        kind = game.get_type()
        self.players_act, self.called = players_act, f"OpenSpiel's {GAME}"
        self.possible_agents = [f"player_{n}" for n in range(game.num_players())]
        chance = kind.chance_mode != pyspiel.GameType.ChanceMode.DETERMINISTIC
        most = game.max_game_length() * (game.num_players() if players_act == "simultaneous" else 1)
        most += game.max_chance_nodes_in_history() if chance else 0
        if most > MOST_MOVES:
            raise TypeError(f"{GAME} may take {most} moves, and more than {MOST_MOVES} are no state to compare")
        if not (kind.provides_observation_tensor or kind.provides_information_state_tensor):
            raise TypeError(f"{GAME} shows its players no numbers: it has neither observation nor information tensor")
        self._informed = not kind.provides_observation_tensor
        shape = game.information_state_tensor_shape() if self._informed else game.observation_tensor_shape()
        self._shape, self._actions = tuple(shape), game.num_distinct_actions()
        self._position = _replaying(game)
        self.moves, self.count = np.full(most, NOTHING, np.int32), 0
        self.np_random, _ = seeding.np_random(0)

    @property
    def unwrapped(self) -> Spiel:
        """Itself: nothing is wrapped."""
        return self

    # --- what PettingZoo's have -----------------------------------------------------------------------------------------

    def observation_space(self, name: str) -> Any:
        """What a player sees, with its mask."""
        seen = spaces.Box(-np.inf, np.inf, self._shape, np.float32)
        return spaces.Dict({"observation": seen, "action_mask": spaces.MultiBinary(self._actions)})

    def action_space(self, name: str) -> Any:
        """OpenSpiel's numbers of actions."""
        return spaces.Discrete(self._actions)

    @property
    def agents(self) -> list[str]:
        """All players, to the end of the game."""
        return [] if self.players_act != "turns" and self._now().is_terminal() else self.possible_agents

    @property
    def agent_selection(self) -> str:
        """Who is to move; after the end the first player."""
        return self.possible_agents[max(0, self._now().current_player())]

    @property
    def terminations(self) -> dict[str, bool]:
        """Whether the game is over, for each player."""
        return dict.fromkeys(self.possible_agents, self._now().is_terminal())

    @property
    def truncations(self) -> dict[str, bool]:
        """A game is never cut off."""
        return dict.fromkeys(self.possible_agents, False)

    @property
    def infos(self) -> dict[str, Any]:
        """Nothing more is told."""
        return {name: {} for name in self.possible_agents}

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        """Begin a game; observations and infos by player."""
        if seed is not None:
            self.np_random, _ = seeding.np_random(seed)
        self.moves, self.count = np.full_like(self.moves, NOTHING), 0
        self._draw()
        self.rewards = dict.fromkeys(self.possible_agents, 0.0)
        return self._seen(), self.infos

    def step(self, action: Any) -> Any:
        """A move of who is to move, or of all by their names; then chance, as long as it is to move."""
        now = self._now()
        before = now.returns()
        given = [action] if self.players_act == "turns" else [action[name] for name in self.possible_agents]
        for player, chosen in enumerate(map(int, given)):
            if chosen not in now.legal_actions(now.current_player() if self.players_act == "turns" else player):
                raise ValueError(f"the action {chosen} is not legal now")
        self._note(*map(int, given))
        self._draw()
        after = self._now().returns()
        self.rewards = {name: after[n] - before[n] for n, name in enumerate(self.possible_agents)}
        return self._seen(), self.rewards, self.terminations, self.truncations, self.infos

    def observe(self, name: str) -> Any:
        """What a player sees, and which actions are legal for it now."""
        position, player = self._now(), self.possible_agents.index(name)
        numbers = position.information_state_tensor(player) if self._informed else position.observation_tensor(player)
        over = position.is_terminal()
        legal = [] if over else position.legal_actions(player)
        mask = np.zeros(self._actions, np.int8)
        mask[legal] = 1
        return {"observation": np.array(numbers, np.float32).reshape(self._shape), "action_mask": mask}

    def close(self) -> None:
        """Nothing is held."""

    # --- the history ----------------------------------------------------------------------------------------------------

    def _now(self) -> Any:
        return self._position(self.moves[: self.count].tolist())

    def _seen(self) -> dict[str, Any]:
        # In turns the game is asked what its players see; only a step of all tells it.
        return {} if self.players_act == "turns" else {name: self.observe(name) for name in self.possible_agents}

    def _note(self, *moves: int) -> None:
        if self.count + len(moves) > len(self.moves):
            raise TypeError(f"{GAME} took more than the {len(self.moves)} moves that OpenSpiel says it may take")
        self.moves[self.count : self.count + len(moves)] = moves
        self.count += len(moves)

    def _draw(self) -> None:
        while self._now().is_chance_node():
            outcomes = self._now().chance_outcomes()
            whole = np.cumsum([chance for _, chance in outcomes])
            drawn = self.np_random.random() * whole[-1]
            self._note(outcomes[min(int(np.searchsorted(whole, drawn, side="right")), len(outcomes) - 1)][0])


def _replaying(game: Any) -> Any:
    """From a history to its position. The last one is kept, and gone on from where the history begins with its moves."""
    last = {"moves": [], "position": game.new_initial_state()}  # type: dict[str, Any]

    def position(moves: list[int]) -> Any:
        if last["moves"] != moves:
            begun = len(last["moves"]) <= len(moves) and last["moves"] == moves[: len(last["moves"])]
            now = last["position"] if begun else game.new_initial_state()
            rest = moves[len(last["moves"]) :] if begun else moves
            last.update(moves=[], position=game.new_initial_state())  # should a move be refused on the way
            while rest:
                together = now.is_simultaneous_node()
                count = game.num_players() if together else 1
                now.apply_actions(rest[:count]) if together else now.apply_action(rest[0])
                rest = rest[count:]
            last.update(moves=list(moves), position=now)
        return last["position"]

    return position
