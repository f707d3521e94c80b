"""The trading card game, first reading: the rules played from their tables, slowly and plainly."""

from pathlib import Path

import numpy as np
from cards import Catalogue
from generator import Generator
from legal import legal
from match import Match
from policies import POLICIES
from questions import ACTIONS
from state import OVER, SHAPES, State
from view import SIZE, seen_by

HERE = Path(__file__).parent
LINES = 24  # 13
DRAWS = {
    "first": {"dtype": "int32", "at": "reset"},
    "source": {"dtype": "int32", "shape": [2], "at": "reset"},
    "archetype": {"dtype": "int32", "shape": [2], "at": "reset"},
    "base": {"dtype": "int32", "shape": [2], "at": "reset"},
    "line": {"dtype": "int32", "shape": [2, LINES], "at": "reset"},
    "shuffle": {"dtype": "int32", "shape": [20], "at": "both"},
    "energy": {"dtype": "int32", "at": "both"},
    "coin": {"dtype": "int32", "at": "step"},
    "pick": {"dtype": "int32", "at": "step"},
}


class Game:
    """One game behind the protocol. A step is one action of whoever is asked.

    Args:
        tables: the directory of `cards.toml` and `decks.toml`; by default they lie beside this file.
    """

    def __init__(self, tables=None):
        self.catalogue = Catalogue(HERE if tables is None else Path(tables))
        self.policies = POLICIES
        beyond = {"first": 2, "source": 2, "coin": 2, "energy": 6, "pick": 1 << 16, "shuffle": 1 << 31}
        beyond.update(
            archetype=len(self.catalogue.archetypes), base=len(self.catalogue.basics), line=len(self.catalogue.in_order)
        )
        self._beyond = beyond
        self._generator, self._drawn, self._forced = Generator(0), [], None

    def spec(self):
        leaves = {"state/" + name: {"dtype": "uint8", "shape": list(shape)} for name, shape in SHAPES.items()}
        for player in ("p1", "p2"):
            leaves["observation/" + player] = {"dtype": "uint8", "shape": [SIZE]}
            leaves["reward/" + player] = {"dtype": "float32"}
        leaves["to_move"] = {"dtype": "int32", "low": 0, "high": 1}
        leaves["legal_actions"] = {"dtype": "bool", "shape": [ACTIONS]}
        leaves["terminated"] = leaves["truncated"] = {"dtype": "bool"}
        leaves["action"] = {"dtype": "int32", "low": 0, "high": ACTIONS - 1}
        return {"leaves": leaves, "draws": DRAWS, "capabilities": ["restore", "draws", "force_draws"]}

    def reset(self, seed, draws=None):
        self._generator = Generator(seed)
        self._begin(draws)
        self.match = Match.begin(self.catalogue, self._chance)
        self._end()
        return self._row()

    def restore(self, state):
        self._begin(None)
        found = State.of_leaves(state)
        numbers = {
            number for rows in (found.deck, found.hand, found.discard, found.card) for row in rows for number in row
        }
        unknown = (numbers | {found.run[0], found.supporter}) - self.catalogue.by_id.keys() - {0}
        if unknown:
            raise ValueError(f"there are no cards {sorted(unknown)}")
        self.match = Match(self.catalogue, self._chance, found)
        return self._row(restored=True)

    def step(self, action, draws=None):
        self._begin(draws)
        self.match.act(int(action))
        self._end()
        return self._row()

    def take_draws(self):
        drawn, self._drawn = self._drawn, []
        return drawn

    def _row(self, restored=False):
        match, state = self.match, self.match.state
        paid = [0.0, 0.0] if match.won is None else [1.0 - 2.0 * match.won, 2.0 * match.won - 1.0]  # 56
        row = state.leaves()
        for player, name in enumerate(("p1", "p2")):
            row["observation/" + name] = seen_by(player, state)
            row["reward/" + name] = paid[player]
        row["to_move"] = state.asked
        row["legal_actions"] = np.array(legal(match), bool)
        row["terminated"] = state.phase == OVER and not restored
        row["truncated"] = False
        return row

    # --- draws ---

    def _begin(self, draws):
        self._drawn, self._forced = [], None if draws is None else list(draws)

    def _end(self):
        if self._forced:
            raise ValueError("the tape has draws that are not needed")

    def _chance(self, name):
        """The next draw of a name: a number, or nested lists."""
        if self._forced is None:
            value = self._generator.uniform(self._beyond[name], DRAWS[name].get("shape", []))
        else:
            found = next((draw for draw in self._forced if draw[0] == name), None)
            if found is None:
                raise ValueError("the tape has no " + name)
            self._forced.remove(found)
            value = found[1]
        value = np.asarray(value, np.int32)
        self._drawn.append((name, value))
        return value.tolist()
