"""The table of the candidate in Rust is what its script makes of the cards and decks: nothing was changed in it by hand."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from functools import cache
from types import ModuleType
from typing import Any

import pytest

from tests.environments.tcg.test_tables import cards, decks
from tests.paths import ENVIRONMENTS

CRATE = ENVIRONMENTS / "tcg" / "candidate" / "rust"


@cache
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("tcg_rust_tables", CRATE / "tables.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def written(of_cards: Mapping[str, Any], of_decks: Mapping[str, Any]) -> str:
    return script().written(of_cards, of_decks)


def committed() -> str:
    return (CRATE / "src" / "tables.rs").read_text(encoding="utf-8")


def test_the_table_is_what_the_script_writes() -> None:
    assert committed() == written(cards(), decks())


@pytest.mark.parametrize(
    ("at", "key", "value"), [(0, "hp", 80), (4, "attacks", ["C: find W"]), (19, "ability", "silence")]
)
def test_another_card_is_another_table(at: int, key: str, value: object) -> None:
    changed = cards()
    changed["pokemon"][at][key] = value
    assert committed() != written(changed, decks())


def test_another_deck_is_another_table() -> None:
    changed = decks()
    changed["archetypes"][3]["cards"][0] = [53, 2]
    assert committed() != written(cards(), changed)


def test_words_become_values_of_rust() -> None:
    compiler = script().Compiler([*cards()["pokemon"], *cards()["trainers"]])
    assert (
        compiler.effect("flip 2; more 30 heads; hit 0")
        == "&[Word::Flip(2), Word::More(30, Count::Heads), Word::Hit(0)]"
    )
    assert compiler.effect("choose own any hurt; heal chosen 20") == (
        "&[Word::Choose(Whose::Own, Where::Any, Filter { set: 0, hurt: true }), Word::HealChosen(20)]"
    )
    assert compiler.effect("") == "&[]"


def test_filters_of_the_same_cards_are_one_set() -> None:
    compiler = script().Compiler([*cards()["pokemon"], *cards()["trainers"]])
    assert compiler.effect('call "Onix"') == "&[Word::Call(Filter { set: 1, hurt: false })]"
    compiler.effect('lift "Onix"; find R')
    assert [len(one) for one in compiler.sets] == [217, 1, sum(one["type"] == "R" for one in cards()["pokemon"])]


@pytest.mark.parametrize("word", ["fly 3", "flip", "hit self 3", "more 30 tails", "heal self 3 4"])
def test_an_unknown_word_is_a_mistake(word: str) -> None:
    with pytest.raises(ValueError, match="there is no"):
        script().Compiler(cards()["pokemon"]).effect(word)


def test_a_name_that_stands_twice_is_a_mistake() -> None:
    changed = cards()
    changed["pokemon"][7]["name"] = "Bulbasaur"
    with pytest.raises(ValueError, match="stands twice"):
        written(changed, decks())
