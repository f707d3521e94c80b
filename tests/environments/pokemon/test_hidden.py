"""Nothing hidden is in what a player sees: what the other side alone knows is changed, and the view stays the same."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from harness.model import Array
from harness.reference.install import setup
from harness.reference.start import start_reference
from tests.environments.pokemon.battles import TASK

pytestmark = pytest.mark.slow
State = dict[str, Any]
View = Callable[[int, State], Array]
PRESENT = (
    "confusion",
    "substitute",
    "bide_turns",
    "rage",
    "thrash_move",
    "two_turn",
    "trap_turns",
    "disable_turns",
    "toxic",
)
"""Of these a player learns whether they are there, and not how much is left."""
HIDDEN = (
    "slot",
    "selected",
    "side_last",
    "sub_fainted",
    "slept_by_foe",
    "transformed",
    "flinch",
    "trapped",
    "trapped_maybe",
)
HIDDEN += ("fake_trapped", "trap_total", "trap_damage", "trap_move", "trap_target", "thrash_turns", "thrash_accuracy")
HIDDEN += (
    "bide_damage",
    "disable_slot",
    "disable_move",
    "stored",
    "modified",
    "act_moves",
    "act_pp",
    "sleep",
    "moves",
    "pp",
)
HIDDEN += ("stats",)
OF_A_MEMBER = ("species", "level", "status")


def _view() -> View:
    path = TASK.directory / "reference" / "view.py"
    spec = importlib.util.spec_from_file_location("pokemon_view", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module.seen_by


@pytest.fixture(scope="module")
def states() -> Iterator[list[State]]:
    """Every state of some battles."""
    reference = start_reference(TASK, setup(TASK))
    episodes = [
        each for name in ("stay", "change", "repeat") for each in reference.drive(name, list(range(12, 24)), 200)
    ]
    reference.close()
    yield [
        {path.removeprefix("state/"): episode.leaves[path][row] for path in episode.leaves if path.startswith("state/")}
        for episode in episodes
        for row in range(episode.steps + 1)
    ]


def _with_other_secrets(state: State, side: int, random: np.random.Generator) -> State:
    """The same battle, as the other player sees it, with everything else of this side anew."""
    changed = {name: np.array(value) for name, value in state.items()}
    for name in HIDDEN:
        value = changed[name]
        value[side] = random.integers(0, 2 if value.dtype == bool else 100, value[side].shape)
    for name in PRESENT:
        value = changed[name]
        least = 0 if name == "toxic" else 1
        value[side] = random.integers(least, 9) if value[side] >= least else value[side]
    unseen = ~changed["seen"][side]
    for name in OF_A_MEMBER:
        changed[name][side] = np.where(unseen, random.integers(0, 7, 6), changed[name][side])
    # Twice the points of twice as many are the same share.
    for name in ("hp", "max_hp"):
        changed[name][side] = np.where(unseen, random.integers(1, 700, 6), 2 * changed[name][side])
    return changed


def _leaks(view: View, states: list[State]) -> int:
    random = np.random.default_rng(4)
    return sum(
        not np.array_equal(view(1 - side, state), view(1 - side, _with_other_secrets(state, side, random)))
        for state in states
        for side in range(2)
    )


def test_what_the_other_side_alone_knows_changes_nothing_that_a_player_sees(states: list[State]) -> None:
    assert len(states) > 500
    assert _leaks(_view(), states) == 0


@pytest.mark.parametrize("name", ["hp", "species", "status", "substitute", "confusion", "modified", "sleep", "act_pp"])
def test_a_view_that_tells_is_found(states: list[State], name: str) -> None:
    """Planted: a view that ends with a number of the other side as it is."""

    def telling(player: int, state: State) -> Array:
        return np.append(_view()(player, state), np.asarray(state[name][1 - player]).reshape(-1).astype(np.int16))

    # What is hardly ever there is not in every hundred states.
    assert any(_leaks(telling, states[start : start + 100]) for start in range(0, len(states), 100))


def test_a_player_sees_all_that_is_the_own(states: list[State]) -> None:
    view = _view()
    for name in ("hp", "moves", "pp", "boosts", "modified", "act_pp"):
        state = {key: np.array(value) for key, value in states[3].items()}
        state[name][0] += 1
        assert not np.array_equal(view(0, states[3]), view(0, state)), name
