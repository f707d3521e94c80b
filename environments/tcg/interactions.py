"""Level 2 of the card game: short sequences from turns in which every card is met with what its words look at.

Random games come to most cards in some of their situations only: a card whose words ask something has to be drawn, paid for,
and find somebody to choose. Here the card is there, and so is what it asks for. States are made of a seed, card by card.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import hypothesis.strategies as st

from lockstep import Task, sequence

State = dict[str, Any]
Card = dict[str, Any]
Prepare = Callable[[State, int, Random], tuple[list[int], list[int]]]
"""Changes a state for who is in turn, and answers with cards that this player holds, and the actions to begin with; if a
card is held, the first one is played before these.
"""

DECK, PLACES, STACK, ENERGIES = 20, 4, 2, 8
FOSSIL_HP, SHIELD_AGAINST_ALL = 40, 255
LAST_TURN = 30
END, HAND, OWN, OTHER, ATTACK, USE, RETREAT, CHARGE, SCRAP, ENERGY = 0, 1, 21, 25, 29, 31, 35, 36, 40, 44
"""Where the actions of each kind begin (statement 92)."""
TYPES = "GRWLPFDM"

_tables = tomllib.loads((Path(__file__).parent / "specification" / "data" / "cards.toml").read_text(encoding="utf-8"))
POKEMON: list[Card] = _tables["pokemon"]
TRAINERS: list[Card] = _tables["trainers"]
FOSSILS = [card for card in TRAINERS if card["kind"] == "fossil"]
PLAYED = [card for card in TRAINERS if card["kind"] != "fossil"]
EVOLUTIONS = [card for card in POKEMON if "from" in card]
ABLE = [card for card in POKEMON if card.get("ability", "").startswith("turn")]
BY_ITSELF = [card for card in POKEMON if "ability" in card and not card["ability"].startswith("turn")]
TAKEN = r"\b(look|find|call|draw|redraw)\b"
OF_DECK = [
    card
    for card in [*POKEMON, *PLAYED]
    if re.search(TAKEN, " ".join([card.get("effect", ""), card.get("ability", ""), *card.get("attacks", ())]))
]
"""Cards that do something with a deck."""
CARDS = {card["id"]: card for card in [*POKEMON, *TRAINERS]}
NAMED = {card["name"]: card for card in CARDS.values()}
_BY_WORD: dict[str, list[tuple[Card, int]]] = {}
for _card in POKEMON:
    for _at, _attack in enumerate(_card["attacks"]):
        for _word in re.findall(r"[:;] (\w+(?: own| foe| self| bench| chosen| all| run)?)", _attack):
            _BY_WORD.setdefault(_word, []).append((_card, _at))
WORDS = sorted(_BY_WORD)
"""The words of attacks, some of them with their first argument: each comes as often as any other."""
ELSEWHERE = [word for word in WORDS if word.startswith(("choose", "scatter", "spread", "strike"))]
UNCERTAIN = [(card, at) for card in POKEMON for at, attack in enumerate(card["attacks"]) if attack.endswith("hit 0")]
"""Attacks that may do no damage at all."""
ON_ACTIVE = ("mind", "poisoned", "burned", "shield", "no_attack", "no_retreat", "weakened")


# --- a turn of somebody -----------------------------------------------------------------------------------------------


def _turn(random: Random) -> State:
    """The middle of a turn of either player: both sides in play, cards in all piles, twenty of each player."""
    mover = random.randrange(2)
    state: State = {
        "turn": random.choice([1, 2, 3, 8, 15, 28, LAST_TURN - 1, LAST_TURN]),
        "phase": 2, "player": mover, "asked": mover, "stage": 0, "run": [0] * 4, "chosen": 0, "left": 0,
        "supporter": random.choice([0, 0, 0, 221, 223]),
        "retreated": random.randrange(4) // 3,
        "eased": random.choice([0, 0, 1, 2]),
        "points": [random.choice([0, 1, 2]) for _ in range(2)],
        "gagged": [random.randrange(8) // 7 for _ in range(2)],
        "looked": [0, 0],
    }  # fmt: skip
    for name in ("card", "damage", "fresh", "used"):
        state[name] = [[0] * PLACES for _ in range(2)]
    state["under"] = [[[0] * STACK for _ in range(PLACES)] for _ in range(2)]
    state["energy"] = [[[0] * ENERGIES for _ in range(PLACES)] for _ in range(2)]
    state["types"], state["zone"] = [[], []], [[], []]
    state |= {name: [0, 0] for name in ON_ACTIVE}
    for side in range(2):
        types = sorted(random.sample(range(1, ENERGIES + 1), random.choice([1, 1, 2, 3])))
        state["types"][side] = types + [0] * (3 - len(types))
        state["zone"][side] = [random.choice([0, *types]) if side == mover else 0, random.choice(types)]
        for place in range(PLACES):
            if place == 0 or random.random() < 0.7:
                _put(state, side, place, random.choice(POKEMON if random.random() < 0.9 else FOSSILS), random)
        _lie_on(state, side, random)
    return state


def _put(state: State, side: int, place: int, card: Card, random: Random) -> None:
    """A Pokémon at a place, on those from which it evolved, with some damage, and energy for one of its attacks or more."""
    line: list[int] = []
    while (
        "from" in card
        and len(line) < STACK
        and (below := NAMED.get((CARDS[line[0]] if line else card).get("from", "")))
    ):
        line.insert(0, below["id"])
    hp = card.get("hp", FOSSIL_HP)
    state["card"][side][place] = card["id"]
    state["under"][side][place] = line + [0] * (STACK - len(line))
    state["damage"][side][place] = min(hp - 10, random.choice([0, 0, 10, 30, hp - 10, hp - 20, hp // 20 * 10]))
    state["fresh"][side][place] = int(side == state["player"] and random.random() < 0.2)
    state["used"][side][place] = int(side == state["player"] and random.random() < 0.1)
    energy = [random.choice([0, 0, 0, 0, 1, 3]) for _ in range(ENERGIES)]
    for letter in random.choice(card.get("attacks", [":"])).partition(":")[0] if random.random() < 0.8 else "":
        energy[TYPES.find(letter) if letter in TYPES else random.randrange(ENERGIES)] += 1
    state["energy"][side][place] = energy


def _lie_on(state: State, side: int, random: Random) -> None:
    """Conditions and lasting effects on an active Pokémon, each now and then."""
    for name, values in {
        "mind": (1, 2, 3), "poisoned": (1,), "burned": (1,), "shield": (20, SHIELD_AGAINST_ALL), "no_attack": (1,),
        "no_retreat": (1,), "weakened": (20,),
    }.items():  # fmt: skip
        state[name][side] = random.choice(values) if random.random() < 0.12 else 0


def _deal(state: State, random: Random, hands: dict[int, list[int]], looked: bool) -> State:
    """Fill hand, deck and discard pile of both, and give leaves their fixed lengths. Cards on top of the decks may be known,
    and are if they have been `looked` at.
    """
    for name in ("hand", "known", "deck", "discard"):
        state[name] = []
    for side in range(2):
        in_play = sum(map(bool, state["card"][side])) + sum(
            bool(card) for under in state["under"][side] for card in under
        )
        left = DECK - in_play - len(hands.get(side, []))
        held = random.randint(0, min(left, random.choice([1, 4, 10])))
        undrawn = min(left - held, random.randint(3, 8) if looked else random.randint(0, random.choice([0, 2, 10])))
        likely = [random.choice(list(CARDS)) for _ in range(4)]
        cards = [random.choice(likely if random.random() < 0.4 else list(CARDS)) for _ in range(left)]
        hand = sorted((card, random.random() < 0.3) for card in [*hands.get(side, []), *cards[:held]])
        state["hand"].append(_filled([card for card, _ in hand]))
        state["known"].append(_filled([int(known) for _, known in hand]))
        state["deck"].append(_filled(cards[held : held + undrawn]))
        state["discard"].append(_filled(sorted(cards[held + undrawn :])))
        state["looked"][side] = min(undrawn, random.choice([1, 2, 3] if looked else [0, 0, 0, 3]))
    return state


def _filled(cards: list[int]) -> list[int]:
    return cards + [0] * (DECK - len(cards))


def _answers(random: Random) -> list[int]:
    """What may be answered to whatever is asked; what is not legal changes nothing."""
    some = random.choice([
        range(OWN, OTHER + PLACES), range(OWN, OTHER + PLACES), range(ENERGY, ENERGY + ENERGIES), range(ATTACK, ATTACK + 2),
        range(HAND + DECK), range(ENERGY + ENERGIES),
    ])  # fmt: skip
    return random.choices(some, k=random.randint(1, 5))


def _some(prepare: Prepare, *, looked: bool = False) -> st.SearchStrategy[dict[str, Any]]:
    """Sequences of a turn that was prepared; then what is asked is answered."""

    def build(seed: int, rounds: int) -> dict[str, Any]:
        random = Random(seed)
        state = _turn(random)
        mover = state["player"]
        held, first = prepare(state, mover, random)
        _deal(state, random, {mover: held}, looked)
        if held:
            first = [HAND + state["hand"][mover].index(held[0]), *first]
        actions = first + [action for _ in range(rounds) for action in _answers(random)]
        return {"start": {f"state/{name}": value for name, value in state.items()}, "actions": actions}

    return st.builds(build, SEEDS, st.integers(1, 4))


SEEDS = st.integers(0, (1 << 32) - 1)
"""A state has hundreds of numbers: they come from one that is small enough to search for."""


def _able_to_act(state: State, side: int) -> None:
    state["mind"][side] = state["mind"][side] // 3 * 3  # confused at most
    state["no_attack"][side] = 0


# --- sequences --------------------------------------------------------------------------------------------------------


@sequence("an attack that does more than its damage")
def attacks(task: Task) -> st.SearchStrategy[dict[str, Any]]:
    def prepare(state: State, mover: int, random: Random) -> tuple[list[int], list[int]]:
        card, at = random.choice(_BY_WORD[random.choice(WORDS)])
        _put(state, mover, 0, card, random)
        for letter in card["attacks"][at].partition(":")[0]:
            state["energy"][mover][0][TYPES.find(letter) if letter in TYPES else random.randrange(ENERGIES)] += 1
        _able_to_act(state, mover)
        return [], [ATTACK + at]

    return _some(prepare)


@sequence("any attack on who does something by itself")
def attacks_on(task: Task) -> st.SearchStrategy[dict[str, Any]]:
    """Armour, counters, shields, weaknesses and boosts, and an attacker who may not live on."""

    def prepare(state: State, mover: int, random: Random) -> tuple[list[int], list[int]]:
        card = random.choice(POKEMON)
        _put(state, mover, 0, card, random)
        state["energy"][mover][0] = [3] * ENERGIES
        _able_to_act(state, mover)
        weak = [other for other in POKEMON if other.get("weak") == card["type"]] or POKEMON
        _put(state, 1 - mover, 0, random.choice(random.choice([BY_ITSELF, weak])), random)
        state["supporter"] = random.choice([0, 221, 223])
        return [], [ATTACK + random.randrange(len(card["attacks"]))]

    return _some(prepare)


@sequence("what changes the damage of an attack")
def changed(task: Task) -> st.SearchStrategy[dict[str, Any]]:
    """Boosts, weakness, armour, shields and counters, several at once, on all who may be hit and may fall, and attacks that
    reach the bench or may do no damage.
    """

    def prepare(state: State, mover: int, random: Random) -> tuple[list[int], list[int]]:
        card, at = random.choice(random.choice([_BY_WORD[random.choice(ELSEWHERE)], UNCERTAIN, _BY_WORD["hit"]]))
        _put(state, mover, 0, card, random)
        state["energy"][mover][0] = [random.choice([1, 3])] * ENERGIES
        _able_to_act(state, mover)
        state["mind"][mover], state["weakened"][mover] = 0, random.choice([0, 0, 20])
        state["supporter"] = random.choice([0, 221, 223, 223])
        state["shield"][1 - mover] = random.choice([0, 0, 20, SHIELD_AGAINST_ALL])
        weak = [other for other in POKEMON if other.get("weak") == card["type"]] or POKEMON
        for place in range(PLACES):
            if place:
                _put(state, mover, place, random.choice(random.choice([BY_ITSELF, POKEMON])), random)
            target = random.choice(random.choice([BY_ITSELF, weak]))
            _put(state, 1 - mover, place, target, random)
            if random.random() < 0.5:
                state["damage"][1 - mover][place] = max(0, target["hp"] - random.choice([10, 20, 40, 60]))
        return [], [ATTACK + at, *random.choices([*range(OWN, OTHER + PLACES), ENERGY], k=3)]

    return _some(prepare)


@sequence("a copied attack")
def copies(task: Task) -> st.SearchStrategy[dict[str, Any]]:
    def prepare(state: State, mover: int, random: Random) -> tuple[list[int], list[int]]:
        card, at = random.choice(_BY_WORD["copy"])
        _put(state, mover, 0, card, random)
        state["energy"][mover][0] = [random.choice([0, 1, 3, 3, 3]) for _ in range(ENERGIES)]
        _able_to_act(state, mover)
        place = random.randrange(PLACES)
        copied, other = random.choice(_BY_WORD[random.choice(WORDS)])
        _put(state, 1 - mover, place, copied, random)
        return [], [ATTACK + at, OTHER + place, ATTACK + other]

    return _some(prepare)


@sequence("a supporter or an item")
def trainers(task: Task) -> st.SearchStrategy[dict[str, Any]]:
    def prepare(state: State, mover: int, random: Random) -> tuple[list[int], list[int]]:
        trainer = random.choice(PLAYED)
        named = [card for card in POKEMON if card["name"] in trainer["effect"]]
        if named and random.random() < 0.8:
            _put(state, mover, random.choice([0, 0, 1]), random.choice(named), random)
        state["supporter"], state["gagged"][mover] = random.choice([0, 0, 0, 0, 223]), random.randrange(8) // 7
        return [trainer["id"]], []

    return _some(prepare)


@sequence("what is known of a deck, and what is done with it")
def decks(task: Task) -> st.SearchStrategy[dict[str, Any]]:
    """Looking at it, drawing, taking a card out, shuffling, one after another."""

    def prepare(state: State, mover: int, random: Random) -> tuple[list[int], list[int]]:
        card = random.choice(OF_DECK)
        attack = next((at for at, effect in enumerate(card.get("attacks", ())) if re.search(TAKEN, effect)), 0)
        if card.get("hp") is None:
            state["supporter"] = 0
            return [card["id"]], [HAND + random.randrange(4), END]
        _put(state, mover, 0, card, random)
        _able_to_act(state, mover)
        state["mind"][mover], state["used"][mover][0], state["energy"][mover][0] = 0, 0, [1] * ENERGIES
        return [], [USE, ATTACK + attack, END]

    return _some(prepare, looked=True)


@sequence("an ability")
def abilities(task: Task) -> st.SearchStrategy[dict[str, Any]]:
    def prepare(state: State, mover: int, random: Random) -> tuple[list[int], list[int]]:
        place = random.choice([0, 0, 1, 2, 3])
        _put(state, mover, place, random.choice(ABLE), random)
        state["used"][mover][place] = random.randrange(8) // 7
        return [], [USE + place, *_answers(random), USE + random.randrange(PLACES)]

    return _some(prepare)


@sequence("an evolution")
def evolutions(task: Task) -> st.SearchStrategy[dict[str, Any]]:
    def prepare(state: State, mover: int, random: Random) -> tuple[list[int], list[int]]:
        evolution = random.choice(EVOLUTIONS)
        places = random.sample(range(PLACES), random.choice([1, 1, 2]))
        for place in places:
            _put(state, mover, place, NAMED[evolution["from"]], random)
            state["fresh"][mover][place] = random.randrange(5) // 4
        return [evolution["id"]], [OWN + random.choice(places), ATTACK, USE + places[0]]

    return _some(prepare)


@sequence("a retreat, and what may be done besides")
def retreats(task: Task) -> st.SearchStrategy[dict[str, Any]]:
    def prepare(state: State, mover: int, random: Random) -> tuple[list[int], list[int]]:
        state["retreated"], state["mind"][mover], state["no_retreat"][mover] = 0, random.choice([0, 0, 3]), 0
        _put(state, mover, random.choice([1, 2, 3]), random.choice(POKEMON), random)
        besides = [
            random.choice([CHARGE, SCRAP, HAND, USE]) + random.randrange(PLACES) for _ in range(random.randint(0, 3))
        ]
        energies = random.choices(range(ENERGY, ENERGY + ENERGIES), k=8)
        return [], [*besides, RETREAT, *energies, OWN + random.randrange(PLACES), RETREAT, ATTACK]

    return _some(prepare)


@sequence("what decides a game")
def decisions(task: Task) -> st.SearchStrategy[dict[str, Any]]:
    """Who is about to fall, perhaps the last one, perhaps with two points or in the last turn, perhaps by the checkup."""

    def prepare(state: State, mover: int, random: Random) -> tuple[list[int], list[int]]:
        state["turn"] = random.choice([3, LAST_TURN - 1, LAST_TURN])
        state["points"] = [random.choice([1, 2]) for _ in range(2)]
        for side in range(2):
            for place in range(PLACES):
                if place and random.random() < 0.6:
                    state["card"][side][place] = state["damage"][side][place] = state["fresh"][side][place] = 0
                    state["used"][side][place], state["under"][side][place] = 0, [0] * STACK
                    state["energy"][side][place] = [0] * ENERGIES
                elif card := state["card"][side][place]:
                    state["damage"][side][place] = CARDS[card].get("hp", FOSSIL_HP) - random.choice([10, 10, 20])
            state["poisoned"][side], state["burned"][side] = random.randrange(2), random.randrange(2)
        state["energy"][mover][0] = [2] * ENERGIES
        return [], [
            random.choice([END, ATTACK, ATTACK + 1, SCRAP]),
            *random.choices(range(OWN, OWN + PLACES), k=4),
            END,
        ]

    return _some(prepare)


@sequence("the beginning of a game")
def beginnings(task: Task) -> st.SearchStrategy[dict[str, Any]]:
    placed = st.lists(st.integers(END, HAND + 5), min_size=4, max_size=12)
    then = st.lists(st.sampled_from([END, HAND, HAND + 1, HAND + 2, CHARGE, ATTACK, RETREAT, OWN]), max_size=12)
    return st.builds(lambda first, after: {"seed": 0, "actions": first + after}, placed, then)
