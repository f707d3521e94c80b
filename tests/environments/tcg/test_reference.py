"""The card game's readings: they do as the scenarios say, agree with each other, and show nothing that is hidden."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.cards import all_uses, uses
from harness.authoring.conformance import check_reference
from harness.errors import Raised
from harness.model import Array, Case, Trajectory
from harness.protocol.environment import Environment
from harness.reference.start import start_reference
from harness.specification.contradictions import contradictions
from harness.specification.place import READINGS, find, read
from harness.specification.readings import laid, play_reading
from harness.task.suite import load_suite
from harness.verdict import Outcome
from tests.environments.tcg.conftest import TASK
from tests.environments.tcg.test_tables import cards
from tests.specification.conftest import HERE

SPECIFICATION = read(find(TASK.directory))
SUITE = load_suite(TASK)
SHEET, SCENARIOS = SPECIFICATION.demanded()
State = dict[str, Array]
NOTHING = {"action": np.zeros(0, np.int32)}
DECK = 20
FIRST_TRAINER, LAST_CARD = 219, 233
"""Trainers that are no fossils."""


@pytest.fixture(scope="module")
def games(reference: Environment) -> list[Trajectory]:
    """Some games of scripted and of random play."""
    seeds = {"rival": range(130, 162), "busy": range(8), "random": range(2)}
    return [game for name, each in seeds.items() for game in reference.drive(name, list(each), 400)]


def test_every_statement_has_a_scenario_and_none_contradicts_another() -> None:
    assert SCENARIOS.uncovered([one.number for one in SPECIFICATION.statements]) == []
    state = [path for path in SHEET.leaves if path.startswith("state/")]
    assert contradictions(SCENARIOS.scenarios, state) == []


@pytest.mark.parametrize("which", READINGS)
def test_a_reading_does_as_every_scenario_says(which: str) -> None:
    played = play_reading(SPECIFICATION.place, SHEET, which, SCENARIOS.scenarios, HERE)
    assert [(one.scenario.where, str(one.misses[0])) for one in played if not one.passed] == []


def differing(games: list[Trajectory], plant: Callable[[Path], None] | None = None) -> set[str]:
    """The leaves in which the second reading plays games of the first otherwise, under the same draws.

    Args:
        plant: puts a fault into a copy of the second reading.
    """
    with ExitStack() as stack:
        task = laid(SPECIFICATION.place, SHEET, "second", stack)
        if plant is not None:
            plant(task.directory / "reference")
        other = stack.enter_context(closing(start_reference(task, HERE)))
        answers = other.rollout([replace(game.case, draws=game.draws) for game in games])
    return {
        path
        for game, answer in zip(games, answers, strict=True)
        for path, leaf in game.leaves.items()
        if not np.array_equal(leaf, answer.leaves[path])
    }


def test_both_readings_play_the_same_games(games: list[Trajectory]) -> None:
    assert differing(games) == set()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "before", "after"),
    [
        ("damage.py", "WEAKNESS = 20", "WEAKNESS = 30"),
        ("turns.py", "if state.turn > 1:  # 44", "if state.turn > 2:  # 44"),
        ("board.py", "FULL_HAND = 10", "FULL_HAND = 9"),
        ("view.py", "for card, known in other.hand if known", "for card, known in other.hand"),
    ],
)
def test_a_planted_misreading_shows_in_games(games: list[Trajectory], file: str, before: str, after: str) -> None:
    def plant(reading: Path) -> None:
        source = (reading / file).read_text()
        assert source.count(before) == 1
        (reading / file).write_text(source.replace(before, after))

    try:
        assert differing(games, plant)
    except Raised as refused:  # by then another die is rolled
        assert "draw" in str(refused)


def test_the_task_declares_what_the_sheet_does() -> None:
    assert TASK.leaves == SHEET.leaves
    assert TASK.draws == SHEET.draws
    assert TASK.players == SHEET.players


def test_draws_reach_every_card_and_every_deck() -> None:
    laws = {name: TASK.draws[name].law for name in ("line", "base", "archetype")}
    tables = cards()
    basics = [one for one in tables["pokemon"] if "from" not in one]
    counts = {"line": len(tables["pokemon"]) + len(tables["trainers"]), "base": len(basics), "archetype": 16}
    assert {name: (law.low, law.high) for name, law in laws.items() if law is not None} == {
        name: (0, count - 1) for name, count in counts.items()
    }


def test_a_state_is_under_one_kibibyte() -> None:
    assert sum(np.dtype(leaf.dtype).itemsize * int(np.prod(leaf.shape)) for leaf in TASK.state.values()) < 1024


def test_games_keep_every_property_and_come_to_their_end(games: list[Trajectory]) -> None:
    broken = {(rule.name, game.case.seed) for game in games for rule in SUITE.invariants if len(rule.violations(game))}
    assert broken == set()
    assert all(game.leaves["terminated"][-1] and game.steps < TASK.budgets.horizon for game in games)


def _last(change: Callable[[Array], object]) -> Callable[[Array], Array]:
    """A fault in the last row alone."""

    def faulty(values: Array) -> Array:
        values = values.copy()
        values[-1] = change(values[-1])
        return values

    return faulty


FAULTS: dict[str, tuple[str, Callable[[Array], Array]]] = {
    "every card of a deck is in one place": ("state/deck", _last(np.zeros_like)),
    "hands and discard piles are sorted": ("state/discard", _last(lambda cards: cards[:, ::-1])),
    "a free place has nothing": ("state/energy", _last(lambda energy: energy + 1)),
    "nothing is left of an effect that does not run": ("state/chosen", _last(lambda chosen: chosen + 1)),
    "something is legal until the game is over": ("legal_actions", _last(np.logical_not)),
    "one player wins what the other loses and only at the end": ("reward/p1", lambda paid: paid + 1),
    "points are never lost": ("state/points", lambda points: 3 - points),
    "who is asked is to move": ("to_move", _last(lambda mover: 1 - mover)),
    "of the other hand only known cards are seen": ("state/known", _last(lambda known: 1 - known)),
    "before the first turn nobody sees what the other placed": ("state/turn", np.zeros_like),
}


def test_every_property_is_broken_by_a_fault_of_its_kind(games: list[Trajectory]) -> None:
    assert {rule.name for rule in SUITE.invariants} == FAULTS.keys()
    for rule in SUITE.invariants:
        path, fault = FAULTS[rule.name]
        leaves = {**games[0].leaves, path: fault(games[0].leaves[path])}
        assert len(rule.violations(Trajectory(games[0].case, leaves, games[0].draws))), rule.name


def test_scripted_play_reaches_every_feature(games: list[Trajectory]) -> None:
    shown = {one.name: sum(len(one.shown(game)) for game in games) for one in SUITE.features}
    assert [name for name, count in shown.items() if not count] == []


def _more_than_were_discarded(game: Trajectory) -> bool:
    """Whether more of a supporter or an item is counted as played than lies on the discard piles at the end."""
    played, _ = uses(game)
    discarded = np.bincount(game.leaves["state/discard"][-1].ravel(), minlength=LAST_CARD + 1)
    return any(played[str(card)] > discarded[card] for card in range(FIRST_TRAINER, LAST_CARD + 1))


def test_what_the_benchmark_counts_as_played_was_played(games: list[Trajectory]) -> None:
    assert not any(map(_more_than_were_discarded, games))
    moved = [
        replace(game, leaves={**game.leaves, "state/hand": np.roll(game.leaves["state/hand"], 1, -1)}) for game in games
    ]
    assert any(map(_more_than_were_discarded, moved))  # planted: the card beside the one that was played
    cards, effects = all_uses()
    assert len(cards) == len(set(cards)) == LAST_CARD - 1 and len(effects) == len(set(effects))


@pytest.mark.slow
def test_the_adapter_passes_the_kit() -> None:
    results = check_reference(lambda: start_reference(TASK, HERE), TASK)
    assert not [(each.name, each.detail) for each in results if each.outcome is Outcome.FAIL]


# --- hidden information -----------------------------------------------------------------------------------------------


def _states(games: list[Trajectory]) -> list[State]:
    """Every state before the first turn, and one of twelve of the others."""
    return [
        {path: leaf[row] for path, leaf in game.leaves.items() if path.startswith("state/")}
        for game in games
        for row in range(game.steps)
        if row % 24 == 0 or game.leaves["state/turn"][row] == 0
    ]


def with_other_secrets(state: State, player: int, random: np.random.Generator) -> State:
    """The same game as a player sees it, with everything anew that is hidden from this player."""
    changed = {path: np.array(value) for path, value in state.items()}
    other = 1 - player
    deck, hand, known, card = (changed[f"state/{name}"] for name in ("deck", "hand", "known", "card"))
    placed = np.flatnonzero(card[other]) if state["state/turn"] == 0 else np.array([], int)
    held = hand[other] > 0
    unknown = np.flatnonzero(held & (known[other] == 0))
    pool = random.permutation(np.concatenate([deck[other][deck[other] > 0], hand[other][unknown], card[other][placed]]))
    size = int(np.count_nonzero(deck[other]))
    deck[other][:size] = pool[:size]
    hand[other][unknown] = pool[size : size + len(unknown)]
    card[other][placed] = pool[size + len(unknown) :]
    pairs = sorted(zip(hand[other][held].tolist(), known[other][held].tolist(), strict=True))
    for place, (number, flag) in enumerate(pairs):
        hand[other][place], known[other][place] = number, flag
    changed["state/types"][other] = [*sorted(random.choice(np.arange(1, 9), 2, replace=False)), 0]
    changed["state/looked"][other] = min(size, int(random.integers(0, 4)))
    own = int(np.count_nonzero(deck[player]))
    seen = int(state["state/looked"][player])
    deck[player][seen:own] = random.permutation(deck[player][seen:own])
    return changed


def leaks(reference: Environment, states: list[State], tell: Callable[[Trajectory], Array] | None = None) -> int:
    """In how many states a player sees something else once hidden things are others.

    Args:
        tell: what a planted view shows besides.
    """
    random = np.random.default_rng(4)
    found = 0
    for player, name in enumerate(("p1", "p2")):
        pairs = [(state, with_other_secrets(state, player, random)) for state in states]
        one, other = (reference.rollout([Case(0, NOTHING, start=pair[side]) for pair in pairs]) for side in range(2))
        for before, after in zip(one, other, strict=True):
            shown = [f"observation/{name}"] + ["legal_actions"] * (int(before.leaves["to_move"][0]) == player)
            same = all(np.array_equal(before.leaves[path], after.leaves[path]) for path in shown)
            told = tell is None or np.array_equal(tell(before), tell(after))
            found += not (same and told)
    return found


def test_what_is_hidden_changes_nothing_that_a_player_sees(reference: Environment, games: list[Trajectory]) -> None:
    states = _states(games)
    assert len(states) > 200
    assert leaks(reference, states) == 0


@pytest.mark.parametrize("name", ["deck", "hand", "types", "looked"])
def test_a_planted_view_that_tells_is_found(reference: Environment, games: list[Trajectory], name: str) -> None:
    assert leaks(reference, _states(games[:4])[:40], lambda seen: seen.leaves[f"state/{name}"]) > 0


def test_a_planted_view_before_the_first_turn_is_found(reference: Environment, games: list[Trajectory]) -> None:
    first = [state for state in _states(games[:4]) if state["state/turn"] == 0]
    assert leaks(reference, first, lambda seen: seen.leaves["state/card"]) > 0
