"""Writes `tables.py` from the tables of the rules: `python make_tables.py ../specification/data`.

An effect becomes rows. A row carries out several words at once, as long as they stand in the order in which a row does
what it does (SLOTS); a word that asks somebody ends its row, as the effect goes on behind it only in a later step.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

TYPES = "GRWLPFDMNC"
ENERGIES = TYPES[:8]
FOSSIL_HP = 40
MOST_FILTERS = 32
KINDS = ("none", "basic", "evolution", "fossil", "item", "supporter")
CARD_FIELDS = (
    "kind", "hp", "type", "weak", "retreat", "points", "evolves_from", "armour", "counter", "silence", "first", "uses",
    "uses_first", "attack_1", "attack_2", "ability", "effect", "boost", "boost_filter",
)  # fmt: skip
FIRST_FIELDS = ("side", "where", "filter", "hurt", "besides", "type")
SIDES, WHERE = ("none", "own", "foe"), ("any", "bench", "active")
BESIDES = ("nothing", "bench", "energy", "deck", "hand")
"""What the first word of an effect needs beside a Pokémon (38)."""

SLOTS = (
    "exchange", "flip", "need", "more", "strike", "bench", "hurt", "heal", "charge", "mark", "ease", "cards", "question",
)  # fmt: skip
ROW_FIELDS = (
    "exchange", "flip", "need", "more", "counts", "count_filter", "count_type", "least", "strike", "damage", "times",
    "bench", "hurt", "heal", "healed", "charge", "charge_type", "charged", "mark", "mark_side", "marked", "ease",
    "cards", "cards_number", "cards_filter", "question", "side", "where", "filter", "wounded", "type", "word", "last",
)  # fmt: skip
NEEDS = ("none", "heads", "tails", "all")
COUNTS = ("none", "heads", "all", "bench", "foe-energy", "extra", "hurt self", "hurt foe", "poisoned")
STRIKES = ("none", "hit", "chosen", "scatter")
HEALS = ("none", "self", "chosen", "own")
CHARGES = ("none", "self", "chosen", "active", "discard", "discard all", "strip", "gather")
MARKS = ("mind", "poisoned", "burned", "shield", "no_attack", "no_retreat", "weakened", "gagged")
MINDS = {"asleep": 1, "paralysed": 2, "confused": 3}
CARDS = ("none", "draw", "find", "call", "toss", "return", "show", "look", "lift", "redraw")
QUESTIONS = ("none", "choose", "spread", "push", "copy", "pay", "evolve", "promote")
RUN = ALL = DEALT = HEADS = 255
"""`flip run`, `shield all`, `heal self dealt` and `charge TARGET X heads`: no number in these places is so large."""
RETREAT, EVOLVE, PROMOTE = [["pay"], ["choose", "own", "bench"], ["swap"]], [["evolve"]], [["promote"]]
_WORD = re.compile(r'"[^"]*"|\S+')
Row = dict[str, int]


def words_of(effect: str) -> list[list[str]]:
    return [_WORD.findall(part) for part in effect.split(";") if part.strip()]


class Filters:
    """The different filters, each of which is one bit of what a card fits. `pokemon` leaves out fossils (82)."""

    def __init__(self) -> None:
        self.found: list[tuple[str, ...]] = []

    def number(self, *parts: str) -> int:
        parts = tuple(sorted(part for part in parts if part != "hurt"))
        if parts not in self.found:
            self.found.append(parts)
        if len(self.found) > MOST_FILTERS:
            raise ValueError(f"there are more than {MOST_FILTERS} filters of cards")
        return self.found.index(parts)

    def fits(self, card: Mapping[str, Any]) -> int:
        """Those that a card fits, as bits."""
        return sum(1 << at for at, parts in enumerate(self.found) if all(_fits(card, part) for part in parts))


def _fits(card: Mapping[str, Any], part: str) -> bool:
    if part == "pokemon":
        return "hp" in card
    if part == "basic":
        return ("hp" in card or card["kind"] == "fossil") and "from" not in card  # 8
    if part == "attacks":
        return bool(card.get("attacks"))
    if part.startswith('"'):
        return card["name"] in part.strip('"').split("|")
    return card.get("type", "C") == part


class Effects:
    """All rows, and of each word of all effects the row in which it is."""

    def __init__(self, filters: Filters) -> None:
        self.filters = filters
        self.rows: list[Row] = []
        self.row_of_word: list[int] = []

    def add(self, words: Sequence[Sequence[str]], cost: str = "") -> int:
        """Returns the place of the effect's first word."""
        begin, taken, full = len(self.row_of_word), 0, True
        pushed = False
        for at, (name, *arguments) in enumerate(words):
            slot, fields = self._word(name, arguments, cost)
            place = SLOTS.index(slot)
            after_strike = slot == "bench" and self.rows[-1]["strike"] > STRIKES.index("hit") if self.rows else False
            if full or place < taken or after_strike:
                self.rows.append(dict.fromkeys(ROW_FIELDS, 0))
                if pushed and slot == "exchange":  # the row that follows changes places by the answer
                    self.rows.append(dict.fromkeys(ROW_FIELDS, 0))
            self.rows[-1] |= {**fields, "word": at}
            taken, full, pushed = place + 1, slot == "question", name == "push"
            self.row_of_word.append(len(self.rows) - 1)
        if full:
            self.rows.append(dict.fromkeys(ROW_FIELDS, 0))
        self.rows[-1]["last"] = 1
        return begin

    def _word(self, name: str, arguments: Sequence[str], cost: str) -> tuple[str, Row]:
        """The slot of a word, and what stands in it."""
        if name in QUESTIONS:
            return "question", self._question(name, arguments)
        if name in CARDS:
            return "cards", self._cards(name, arguments)
        return {
            "flip": lambda number: ("flip", {"flip": RUN if number == "run" else int(number)}),
            "need": lambda what: ("need", {"need": NEEDS.index(what)}),
            "more": lambda number, *count: ("more", {"more": int(number), **self._count(count, cost)}),
            "hit": lambda number: ("strike", {"strike": 1, "damage": int(number)}),
            "strike": _strike,
            "hurt": lambda number: ("hurt", {"hurt": int(number)}),
            "scatter": lambda times, number: ("strike", {"strike": 3, "damage": int(number), "times": int(times)}),
            "heal": lambda target, number: (
                "heal",
                {"heal": HEALS.index(target), "healed": DEALT if number == "dealt" else int(number)},
            ),
            "inflict": lambda what: _mark("mind" if what in MINDS else what, MINDS.get(what, 1)),
            "shield": lambda number: _mark("shield", ALL if number == "all" else int(number), side=0),
            "bar": lambda what: _mark("no_" + what, 1),
            "weaken": lambda number: _mark("weakened", int(number)),
            "gag": lambda: _mark("gagged", 1),
            "charge": _charge,
            "discard": lambda letter, number="0": (
                _charge("discard", letter, number) if letter != "all" else _charge("discard all")
            ),
            "strip": lambda: _charge("strip"),
            "gather": lambda letter, names: _charge("gather", letter),
            "swap": lambda: ("exchange", {"exchange": 1}),
            "drag": lambda: ("exchange", {"exchange": 1}),
            "ease": lambda number: ("ease", {"ease": int(number)}),
            "boost": lambda *_: ("ease", {}),  # nothing now: attacks ask for it (87)
        }[name](*arguments)

    def _count(self, count: Sequence[str], cost: str) -> Row:
        what, *arguments = count
        if what == "extra":
            letter, least = arguments
            row = {"count_type": ENERGIES.index(letter), "least": cost.count(letter) + int(least)}
            return {"counts": COUNTS.index(what), **row}
        if what == "hurt":
            return {"counts": COUNTS.index(f"hurt {arguments[0]}")}
        return {"counts": COUNTS.index(what), "count_filter": self.filters.number(*arguments)}

    def _cards(self, name: str, arguments: Sequence[str]) -> Row:
        row = {"cards": CARDS.index(name)}
        if name in ("find", "call"):
            return row | {"cards_filter": self.filters.number("pokemon", *arguments)}
        return row | ({"cards_number": int(arguments[0])} if name in ("draw", "look", "redraw") else {})

    def _question(self, name: str, arguments: Sequence[str]) -> Row:
        """Of which Pokémon one is to be answered: of all questions but `pay`, and the second half of `copy`."""
        side, where, *filters = {
            "choose": arguments,
            "spread": ("own", "bench", *arguments),
            "push": ("foe", "bench"),
            "copy": ("foe", "any", "attacks"),
            "pay": ("none", "any"),
            "evolve": ("own", "any"),
            "promote": ("own", "bench"),
        }[name]
        row = {"question": QUESTIONS.index(name), "side": SIDES.index(side), "where": WHERE.index(where)}
        row |= {"filter": self.filters.number(*filters), "wounded": int("hurt" in filters)}
        return row | ({"type": ENERGIES.index(arguments[0])} if name == "spread" else {})


def _strike(target: str, number: str) -> tuple[str, Row]:
    if target == "bench":
        return "bench", {"bench": int(number)}
    return "strike", {"strike": STRIKES.index("chosen"), "damage": int(number)}


def _mark(name: str, value: int, side: int = 1) -> tuple[str, Row]:
    return "mark", {"mark": MARKS.index(name) + 1, "mark_side": side, "marked": value}


def _charge(what: str, letter: str = "G", number: str = "0") -> tuple[str, Row]:
    row = {"charge": CHARGES.index(what), "charge_type": ENERGIES.index(letter)}
    return "charge", row | {"charged": HEADS if number == "heads" else int(number)}


class Tables:
    """All that a candidate needs of the cards and decks."""

    def __init__(self, cards: Mapping[str, Any], decks: Mapping[str, Any]) -> None:
        self.cards = [*cards["pokemon"], *cards["trainers"]]
        self.by_name = {card["name"]: card for card in self.cards}
        self.filters = Filters()
        self.filters.number()  # nothing is asked of a card
        self.effects = Effects(self.filters)
        self.firsts: list[Row] = [dict.fromkeys(FIRST_FIELDS, 0)]
        self.builtin = [self.effects.add(words) for words in (RETREAT, EVOLVE, PROMOTE)]
        rows = {card["id"]: self._card(card) for card in self.cards}
        size = max(rows) + 1
        empty = dict.fromkeys(CARD_FIELDS, 0)
        self.rows = [tuple((empty | rows.get(at, {}))[name] for name in CARD_FIELDS) for at in range(size)]
        by_id = {card["id"]: card for card in self.cards}
        self.attacks = [tuple(map(_attack, _attacks(by_id.get(at, {})))) for at in range(size)]
        self.fits = tuple(self.filters.fits(by_id[at]) if at in by_id else 0 for at in range(size))
        self.in_order = tuple(card["id"] for card in self.cards)
        self.basics = tuple(card["id"] for card in self.cards if rows[card["id"]]["kind"] == KINDS.index("basic"))
        self.fill = tuple(decks["fill"])
        self.decks = [
            tuple(sorted(number for number, copies in deck["cards"] for _ in range(copies)))
            for deck in decks["archetypes"]
        ]
        self.deck_types = [_types(deck["types"]) for deck in decks["archetypes"]]

    def _card(self, card: Mapping[str, Any]) -> Row:
        row: Row = {}
        if "hp" in card:
            row |= {"kind": KINDS.index("evolution" if "from" in card else "basic"), "hp": card["hp"]}
            row |= {"type": TYPES.index(card["type"]) + 1, "retreat": card["retreat"]}
            row |= {"weak": TYPES.index(card["weak"]) + 1 if "weak" in card else 0}
        else:
            row |= {"kind": KINDS.index(card["kind"]), "hp": FOSSIL_HP, "type": TYPES.index("C") + 1}
        row |= {"points": 2 if card["name"].endswith(" ex") else 1}
        row |= {"evolves_from": self.by_name[card["from"]]["id"] if "from" in card else 0}
        for at, text in enumerate(card.get("attacks", ()), 1):
            cost, _, effect = text.partition(":")
            row[f"attack_{at}"] = self.effects.add(words_of(effect), cost)
        head, colon, effect = card.get("ability", "").partition(":")
        if colon:
            words = words_of(effect)
            row |= {"ability": self.effects.add(words), "uses": 2 if head == "turn active" else 1}
            row |= {"uses_first": self._first(words[0])}
        for name, *arguments in [] if colon else words_of(head):
            row[name] = int(arguments[0]) if arguments else 1
        if "effect" in card:
            words = words_of(card["effect"])
            row |= {"effect": self.effects.add(words), "first": self._first(words[0]), **self._boost(words)}
        return row

    def _boost(self, words: Sequence[Sequence[str]]) -> Row:
        boosts = [arguments for name, *arguments in words if name == "boost"]
        if len(boosts) > 1:
            raise ValueError("a supporter has the word `boost` twice")
        return {"boost": int(boosts[0][0]), "boost_filter": self.filters.number(*boosts[0][1:])} if boosts else {}

    def _first(self, word: Sequence[str]) -> int:
        """The number of what must be there for an effect that begins so (38)."""
        name, *arguments = word
        if name == "choose":
            row = self._need(*arguments)
        elif name == "heal" and arguments[0] == "own":
            row = self._need("own", "any", "hurt")
        elif name == "push":
            row = self._need("foe", "bench")
        elif name in ("draw", "look", "find"):
            row = {"besides": BESIDES.index("deck")}
        elif name in ("show", "redraw"):
            row = {"besides": BESIDES.index("hand")}
        elif name == "lift":
            row = {**self._need("own", "active", *arguments), "besides": BESIDES.index("bench")}
        elif name == "gather":
            letter, *names = arguments
            besides = {"besides": BESIDES.index("energy"), "type": ENERGIES.index(letter)}
            row = {**self._need("own", "active", *names), **besides}
        elif name == "charge" and arguments[0] == "active":
            row = self._need("own", "active", arguments[1])
        else:
            row = {}
        row = dict.fromkeys(FIRST_FIELDS, 0) | row
        if row not in self.firsts:
            self.firsts.append(row)
        return self.firsts.index(row)

    def _need(self, side: str, where: str, *filters: str) -> Row:
        row = {"side": SIDES.index(side), "where": WHERE.index(where)}
        return row | {"filter": self.filters.number(*filters), "hurt": int("hurt" in filters)}

    def text(self) -> str:
        """The module `tables.py`."""
        rows = [tuple(row[name] for name in ROW_FIELDS) for row in self.effects.rows]
        firsts = [tuple(row[name] for name in FIRST_FIELDS) for row in self.firsts]
        parts = [
            '"""Cards, decks, and effects as rows, written by make_tables.py from the tables of the rules."""\n',
            _wrapped("CARD_FIELDS", CARD_FIELDS),
            "# By id; 0 is no card.",
            _rows("CARDS", self.rows),
            "# By id: which filters a card fits, as bits.",
            _wrapped("FITS", self.fits),
            "# By id, of both attacks: how many letters of each type the cost has, how many in all, and whether it copies.",
            _rows("ATTACKS", [first + second for first, second in self.attacks]),
            _wrapped("ROW_FIELDS", ROW_FIELDS),
            _rows("ROWS", rows),
            "# Of the words of all effects, one effect behind the other: the row in which a word is.",
            _wrapped("ROW_OF_WORD", tuple(self.effects.row_of_word)),
            "# Where the words of a retreat, an evolution and a promotion begin.",
            _wrapped("BUILT_IN", tuple(self.builtin)),
            _wrapped("FIRST_FIELDS", FIRST_FIELDS),
            "# What must be there for the first word of an effect.",
            _rows("FIRSTS", firsts),
            "# Pokémon before trainers; the basic Pokémon among them; what fills a free deck.",
            _wrapped("IN_ORDER", self.in_order),
            _wrapped("BASICS", self.basics),
            _wrapped("FILL", self.fill),
            _rows("DECKS", self.decks),
            _rows("DECK_TYPES", self.deck_types),
        ]
        return "\n".join(parts)


def _attacks(card: Mapping[str, Any]) -> list[str]:
    return [*card.get("attacks", ()), "", ""][:2]


def _attack(text: str) -> tuple[int, ...]:
    cost, _, effect = text.partition(":")
    return (*(cost.count(letter) for letter in ENERGIES), len(cost), int(["copy"] in words_of(effect)))


def _types(letters: str) -> tuple[int, ...]:
    return tuple([TYPES.index(letter) + 1 for letter in ENERGIES if letter in letters] + [0, 0])[:3]


def _rows(name: str, rows: Sequence[Sequence[int]]) -> str:
    return "\n".join([f"{name} = (", *(f"    ({', '.join(map(str, row))})," for row in rows), ")"])


def _wrapped(name: str, values: Sequence[object]) -> str:
    """A tuple over several lines, as wide as they may be."""
    lines = ["   "]
    for value in values:
        piece = f' "{value}",' if isinstance(value, str) else f" {value},"
        if len(lines[-1]) + len(piece) > 118:
            lines.append("   ")
        lines[-1] += piece
    return "\n".join([f"{name} = (", *lines, ")  # fmt: skip"])


def tables(directory: Path) -> Tables:
    """What the tables of the rules in a directory say."""
    found = [tomllib.loads((directory / name).read_text(encoding="utf-8")) for name in ("cards.toml", "decks.toml")]
    return Tables(*found)


if __name__ == "__main__":
    Path(__file__).with_name("tables.py").write_text(tables(Path(sys.argv[1])).text() + "\n", encoding="utf-8")
