"""The candidate's tables are what its script makes of the cards and decks, and nothing was changed in them by hand."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.paths import ENVIRONMENTS

TCG = ENVIRONMENTS / "tcg"
DATA = TCG / "specification" / "data"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("tcg_make_tables", TCG / "candidate" / "make_tables.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def committed() -> str:
    return (TCG / "candidate" / "tables.py").read_text(encoding="utf-8")


def changed(directory: Path, name: str, old: str, new: str) -> Path:
    """The tables of the rules with something else in one place."""
    for file in DATA.glob("*.toml"):
        text = file.read_text(encoding="utf-8")
        if file.name == name:
            assert text.count(old) == 1
            text = text.replace(old, new)
        (directory / file.name).write_text(text, encoding="utf-8")
    return directory


def test_the_committed_tables_are_those_of_the_data(script: ModuleType) -> None:
    assert script.tables(DATA).text() + "\n" == committed()


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("cards.toml", "GGCC: hit 80; heal self 30", "GGCC: hit 80; heal self 20"),
        ("cards.toml", '"choose own any hurt; heal chosen 20"', '"choose own bench hurt; heal chosen 20"'),
        ("cards.toml", 'name = "Bulbasaur", hp = 70', 'name = "Bulbasaur", hp = 80'),
        ("decks.toml", "[96, 2], [104, 2], [99, 2]", "[96, 2], [104, 2], [97, 2]"),
    ],
)
def test_a_change_of_the_data_shows(script: ModuleType, tmp_path: Path, name: str, old: str, new: str) -> None:
    assert script.tables(changed(tmp_path, name, old, new)).text() + "\n" != committed()


def test_words_share_a_row_in_the_order_in_which_a_row_does_them(script: ModuleType) -> None:
    def rows(effect: str) -> list[list[str]]:
        made = script.Effects(script.Filters())
        made.add(script.words_of(effect))
        return [[name for name in script.SLOTS if row[name]] for row in made.rows]

    assert rows("flip 1; more 30 heads; hit 30") == [["flip", "more", "strike"]]
    assert rows("hit 60; flip 1; need heads; inflict paralysed") == [["strike"], ["flip", "need", "mark"]]
    assert rows("choose own bench; swap") == [["question"], ["exchange"]]
    assert rows("hit 80; strike bench 10") == [["strike", "bench"]]
    assert rows("choose foe any; strike chosen 10; strike bench 10") == [["question"], ["strike"], ["bench"]]
    assert rows("push; choose own bench; swap") == [["question"], ["question"], ["exchange"]]
    assert rows("push; swap") == [["question"], [], ["exchange"]], "the answer takes the place of the exchange"
    assert rows("hit 70; push") == [["strike", "question"], []], "an effect goes on behind its question"
