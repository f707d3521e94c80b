"""Writes src/tables.rs: the cards and decks of specification/data, their effects compiled to words of src/data.rs.

    python environments/tcg/candidate/rust/tables.py [FILE]

A word that is not known here is a mistake. Numbers in brackets are statements of specification/RULES.md.
"""

from __future__ import annotations

import re
import sys
import textwrap
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
DATA = HERE.parent.parent / "specification" / "data"
TABLES = HERE / "src" / "tables.rs"
ENERGY = "GRWLPFDM"  # 6
WIDTH = 120
USED = (
    "ALL, ANYBODY, Archetype, Attack, C, Card, Condition, Count, D, F, Filter, G, Kind, L, M, N, NO_CARD, P, R, "
    "Target, W, Where, Whose, Word,"
)
"""What of src/data.rs the table names; some words need more of it than the first set has."""
_PART = re.compile(r'"[^"]*"|\S+')

Card = Mapping[str, Any]


class Compiler:
    """Words of effects as values of Rust, and the sets of cards that their filters name.

    Args:
        cards: all cards, in the order of cards.toml.
    """

    def __init__(self, cards: Sequence[Card]) -> None:
        self._in_play = [card for card in cards if card.get("kind", "fossil") == "fossil"]  # 8
        self.sets: list[tuple[int, ...]] = []
        self._set([])

    def effect(self, text: str) -> str:
        """`hit 80; heal self 30` as `&[Word::Hit(80), Word::HealSelf(30)]` (65)."""
        words = [self._word(*_PART.findall(part)) for part in text.split(";") if part.strip()]
        return "&[" + ", ".join("Word::" + word for word in words) + "]"

    def _word(self, name: str, *arguments: str) -> str:
        match name, arguments:
            case ("flip", ("run",)):
                return "FlipRun"
            case ("need" | "bar", (what,)) | ("discard", ("all" as what,)):
                return name.capitalize() + what.capitalize()
            case ("more", (amount, *what)):
                return f"More({amount}, Count::{self._count(*what)})"
            case ("heal", ("self", "dealt")):
                return "HealDealt"
            case ("heal" | "strike", (whom, amount)):
                return f"{name.capitalize()}{whom.capitalize()}({amount})"
            case ("inflict", (condition,)):
                return f"Inflict(Condition::{condition.capitalize()})"
            case ("shield", ("all",)):
                return "Shield(ALL)"
            case ("choose", (whose, where, *filters)):
                return f"Choose(Whose::{whose.capitalize()}, Where::{where.capitalize()}, {self._filter(filters)})"
            case ("charge", (target, kind, amount)):
                target = "Target::" + ("Own" if target == "self" else target.capitalize())
                return f"ChargeHeads({target}, {kind})" if amount == "heads" else f"Charge({target}, {kind}, {amount})"
            case ("find" | "call" | "lift", filters):
                return f"{name.capitalize()}({self._filter(filters)})"
            case ("gather" | "boost", (first, *filters)):
                return f"{name.capitalize()}({first}, {self._filter(filters)})"
            case ("drag", ()):
                return "Swap"
            case ("gag" | "strip" | "swap" | "push" | "toss" | "return" | "show" | "copy", ()):
                return name.capitalize()
            case ("flip" | "hit" | "hurt" | "weaken" | "shield" | "draw" | "look" | "redraw" | "ease", (number,)):
                return f"{name.capitalize()}({number})"
            case ("spread", (kind,)):
                return f"Spread({kind})"
            case ("scatter" | "discard", (first, second)):
                return f"{name.capitalize()}({first}, {second})"
        raise ValueError(f"there is no word {name} of {arguments}")

    def _count(self, what: str, *arguments: str) -> str:
        match what, arguments:
            case ("heads" | "all" | "poisoned", ()):
                return what.capitalize()
            case ("foe-energy", ()):
                return "FoeEnergy"
            case ("bench", filters):
                return f"Bench({self._filter(filters)})"
            case ("extra", (kind, least)):
                return f"Extra({kind}, {least})"
            case ("hurt", (whom,)):
                return "Hurt" + whom.capitalize()
        raise ValueError(f"there is no count {what} of {arguments}")

    def _filter(self, filters: Sequence[str]) -> str:
        number = self._set([one for one in filters if one != "hurt"])
        if number == 0 and "hurt" not in filters:
            return "ANYBODY"
        return f"Filter {{ set: {number}, hurt: {str('hurt' in filters).lower()} }}"

    def _set(self, filters: Sequence[str]) -> int:
        """The number of the set of cards that filters name, damage apart (77)."""
        found = tuple(card["id"] for card in self._in_play if all(_fits(card, one) for one in filters))
        if found not in self.sets:
            self.sets.append(found)
        return self.sets.index(found)


def _fits(card: Card, one: str) -> bool:
    if one == "basic":
        return "from" not in card
    if one.startswith('"'):
        return card["name"] in one.strip('"').split("|")
    return one == card.get("type", "C")


def written(cards: Mapping[str, Any], decks: Mapping[str, Any]) -> str:
    """src/tables.rs of the tables cards.toml and decks.toml."""
    everything = [*cards["pokemon"], *cards["trainers"]]
    by_id = {card["id"]: card for card in everything}
    by_name = {card["name"]: card["id"] for card in everything}
    if len(by_name) < len(everything):
        raise ValueError("the number of a card stands for its name, and a name stands twice")
    compiler = Compiler(everything)
    rows = [
        _card(by_id[number], by_name, compiler) if number in by_id else ["NO_CARD,"] for number in range(max(by_id) + 1)
    ]
    basics = [card["id"] for card in cards["pokemon"] if "from" not in card]  # 4
    head = [
        "//! Cards and decks, written by tables.py of specification/data.",
        "",
        "use crate::data::{",
        *_list(USED),
        "};",
        "",
        "/// By number.",
        "#[rustfmt::skip]",
        f"pub static CARDS: [Card; {len(rows)}] = [",
    ]
    return "\n".join(
        [
            *head,
            *(line for row in rows for text in row for line in _wrapped(text)),
            "];",
            "",
            "/// The cards that filters name: a bit for each number.",
            *_sets(compiler.sets),
            "",
            "/// All cards in their order (13).",
            *_numbers("IN_ORDER", list(by_id)),
            "",
            "/// The basic Pokémon in that order (12).",
            *_numbers("BASICS", basics),
            "",
            "/// What fills a free deck (15).",
            *_numbers("FILL", decks["fill"]),
            "",
            "/// Decks that have a name (11).",
            "#[rustfmt::skip]",
            f"pub static ARCHETYPES: [Archetype; {len(decks['archetypes'])}] = [",
            *(line for deck in decks["archetypes"] for text in _archetype(deck) for line in _wrapped(text)),
            "];",
            "",
        ]
    )


def _card(card: Card, by_name: Mapping[str, int], compiler: Compiler) -> list[str]:
    """The lines of a card."""
    if "hp" not in card and card["kind"] == "fossil":
        return [f"// {card['name']}", "Card { kind: Kind::Fossil, hp: 40, ..NO_CARD },"]  # 8
    if "hp" not in card:
        kind, effect = card["kind"].capitalize(), compiler.effect(card["effect"])
        return [f"// {card['name']}", f"Card {{ kind: Kind::{kind}, effect: {effect}, ..NO_CARD }},"]
    costs = "".join(attack.partition(":")[0] for attack in card["attacks"])
    fields = {
        "kind": "Kind::Evolution" if "from" in card else "Kind::Basic",
        "hp": card["hp"],
        "element": card["type"],
        "weakness": card.get("weak"),
        "retreat": card["retreat"],
        "points": 2 if card["name"].endswith(" ex") else None,  # 5, 53
        "from": by_name[card["from"]] if "from" in card else None,
        **_ability(card.get("ability", ""), compiler),
        "costs": bin(sum(1 << at for at, letter in enumerate(ENERGY) if letter in costs)),
    }
    stated = ", ".join(f"{name}: {value}" for name, value in fields.items() if value is not None)
    attacks = [_attack(attack, compiler) for attack in card["attacks"]]
    return [f"// {card['name']}", f"Card {{ {stated}, attacks: &[", *attacks, "], ..NO_CARD },"]


def _attack(attack: str, compiler: Compiler) -> str:
    cost, _, effect = attack.partition(":")  # 7
    counts = ", ".join(str(cost.count(letter)) for letter in ENERGY)
    return f"    Attack {{ cost: [{counts}], letters: {len(cost)}, words: {compiler.effect(effect)} }},"


def _ability(ability: str, compiler: Compiler) -> dict[str, Any]:
    """Fields of an ability: one that works by itself (90), or one that is used (39)."""
    head, colon, effect = ability.partition(":")
    if colon:
        only = "true" if {"turn": False, "turn active": True}[head] else None
        return {"only_active": only, "effect": compiler.effect(effect)}
    match ability.split():
        case []:
            return {}
        case ["silence"]:
            return {"silence": "true"}
        case ["armour" | "counter" as name, number]:
            return {name: number}
    raise ValueError(f"there is no ability {ability}")


def _archetype(deck: Mapping[str, Any]) -> list[str]:
    cards = sorted(number for number, copies in deck["cards"] for _ in range(copies))
    types = [letter for letter in ENERGY if letter in deck["types"]] + ["0"] * (3 - len(deck["types"]))
    rows = f"cards: [{', '.join(map(str, cards))}], types: [{', '.join(types)}]"
    return [f"// {deck['name']}", f"Archetype {{ {rows} }},"]


def _wrapped(line: str) -> list[str]:
    """A line of a list, as several where it is long."""
    indent = "    " + " " * (len(line) - len(line.lstrip()))
    return textwrap.wrap(
        line.strip(),
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent + "    ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _sets(sets: Sequence[Sequence[int]]) -> list[str]:
    rows = []
    for one in sets:
        bits = sum(1 << number for number in one)
        words = ", ".join(f"{bits >> shift & (1 << 64) - 1:#x}" for shift in range(0, 256, 64))
        rows.append(f"    [{words}],")
    return ["#[rustfmt::skip]", f"pub static SETS: [[u64; 4]; {len(sets)}] = [", *rows, "];"]


def _numbers(name: str, numbers: Sequence[int]) -> list[str]:
    rows = _list("".join(f"{number}, " for number in numbers))
    return ["#[rustfmt::skip]", f"pub static {name}: [u8; {len(numbers)}] = [", *rows, "];"]


def _list(items: str) -> list[str]:
    """Short items in rows, as rustfmt has them."""
    return textwrap.wrap(items, WIDTH, initial_indent="    ", subsequent_indent="    ")


def main(arguments: Sequence[str]) -> None:
    """Write the table, to its place or to a file."""
    cards, decks = (tomllib.loads((DATA / name).read_text(encoding="utf-8")) for name in ("cards.toml", "decks.toml"))
    file = Path(arguments[0]) if arguments else TABLES
    file.write_text(written(cards, decks), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
