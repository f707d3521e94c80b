"""The tables of cards and decks: what is there, that it is consistent, and that planted mistakes are named."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from tests.environments.tcg.tables import ASKING, FORMS, PASSIVE, mistakes
from tests.paths import ENVIRONMENTS

DATA = ENVIRONMENTS / "tcg" / "specification" / "data"


def cards() -> dict[str, Any]:
    return tomllib.loads((DATA / "cards.toml").read_text(encoding="utf-8"))


def decks() -> dict[str, Any]:
    return tomllib.loads((DATA / "decks.toml").read_text(encoding="utf-8"))


def test_the_tables_are_consistent() -> None:
    assert mistakes(cards(), decks()) == []


def test_every_card_of_the_first_set_is_there() -> None:
    found = cards()
    assert len(found["pokemon"]) == 214
    kinds = [one["kind"] for one in found["trainers"]]
    assert {kind: kinds.count(kind) for kind in kinds} == {"fossil": 3, "supporter": 9, "item": 6}
    assert len(decks()["archetypes"]) == 16


def test_every_word_is_used_by_some_card() -> None:
    found = cards()
    texts = [text for one in found["pokemon"] for text in (*one["attacks"], one.get("ability", ""))]
    texts += [one.get("effect", "") for one in found["trainers"]]
    words = {word.split()[0] for text in texts for word in text.rpartition(":")[2].split(";") if word.strip()}
    assert words == FORMS.keys() | PASSIVE.keys()
    assert words > ASKING


def _changed(name: str, key: str, value: Any) -> list[str]:
    found = cards()
    one = next(one for one in (*found["pokemon"], *found["trainers"]) if one["name"] == name)
    one[key] = value
    return mistakes(found, decks())


@pytest.mark.parametrize(
    ("name", "key", "value", "said"),
    [
        ("Raichu", "from", "Pikchu", "Raichu: there is no Pikchu"),
        ("Raichu", "from", "Misty", "Raichu: there is no Misty"),
        ("Pikachu", "from", "Raichu", "a line of more than three"),
        ("Pikachu", "hp", 65, "Pikachu: hit points 65"),
        ("Pikachu", "attacks", ["LX: hit 20"], "Pikachu: cost LX"),
        ("Pikachu", "attacks", ["L: hti 20"], "Pikachu: no word `hti 20`"),
        ("Pikachu", "attacks", ["L: hit 20; need heads; strip"], "`need heads` without coins"),
        ("Pikachu", "attacks", ["L: flip 1; choose foe any; need heads"], "without coins since somebody was asked"),
        ("Pikachu", "attacks", ["L: hit 20; push; heal self dealt"], "`heal self dealt` after somebody was asked"),
        ("Pikachu", "attacks", ["L: strike chosen 20"], "`strike chosen 20` without a choice"),
        ("Pikachu", "attacks", [], "Pikachu: 0 attacks"),
        ("Pikachu", "type", "E", "Pikachu: an unknown type"),
        ("Pikachu", "retreat", 5, "Pikachu: retreat cost 5"),
        ("Pikachu", "id", 95, "id 95 stands twice"),
        ("Pikachu", "name", "Raichu", "Raichu stands twice"),
        ("Cloyster", "ability", "armor 10", "Cloyster: an ability armor 10"),
        ("Greninja", "ability", "turns: push", "Greninja: an ability turns"),
        ("Potion", "kind", "tool", "Potion: kind tool"),
        ("Old Amber", "effect", "show", "Old Amber: a fossil has no effect"),
    ],
)
def test_a_planted_mistake_of_a_card_is_named(name: str, key: str, value: Any, said: str) -> None:
    assert any(said in mistake for mistake in _changed(name, key, value))


def test_a_print_without_a_card_is_named() -> None:
    found = cards()
    found["prints"]["206"].remove(207)
    assert mistakes(found, decks()) == ["print 207 has no card"]


@pytest.mark.parametrize(
    ("cards_of_deck", "said"),
    [
        ([[94, 2], [95, 2], [227, 2]], "6 cards"),
        ([[94, 3], [95, 17]], "more than two Pikachu"),
        ([[95, 2], [227, 2]], "no basic Pokémon"),
        ([[95, 2], [227, 2]], "Raichu evolves from Pikachu, which is not in it"),
    ],
)
def test_a_planted_mistake_of_a_deck_is_named(cards_of_deck: list[list[int]], said: str) -> None:
    found = decks()
    found["archetypes"][0]["cards"] = cards_of_deck
    assert any(said in mistake for mistake in mistakes(cards(), found))
