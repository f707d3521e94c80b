"""What must hold of the tables of cards and decks, whoever reads them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

Table = Mapping[str, Any]
ENERGY = "GRWLPFDM"
TYPES = ENERGY + "NC"
_NUMBER, _TYPE, _NAMES = r"\d+", f"[{TYPES}]", r'"[^"]+"'
_COUNT = rf"heads|all|bench(?: {_TYPE}| {_NAMES})?|foe-energy|extra [{ENERGY}] {_NUMBER}|hurt (?:self|foe)|poisoned"
FORMS = {
    "flip": rf"{_NUMBER}|run",
    "need": "heads|tails|all",
    "more": rf"{_NUMBER} (?:{_COUNT})",
    "hit": _NUMBER,
    "strike": rf"(?:chosen|bench) {_NUMBER}",
    "hurt": _NUMBER,
    "scatter": rf"{_NUMBER} {_NUMBER}",
    "heal": rf"(?:self|chosen|own) {_NUMBER}|self dealt",
    "inflict": "asleep|paralysed|confused|poisoned|burned",
    "shield": rf"{_NUMBER}|all",
    "bar": "attack|retreat",
    "weaken": _NUMBER,
    "gag": "",
    "choose": rf"(?:own|foe) (?:any|bench|active)(?: {_TYPE}| basic| {_NAMES}| hurt)*",
    "charge": rf"(?:self|chosen|active) [{ENERGY}] (?:{_NUMBER}|heads)",
    "spread": f"[{ENERGY}]",
    "discard": rf"[{ENERGY}] {_NUMBER}|all",
    "strip": "",
    "swap": "",
    "drag": "",
    "push": "",
    "draw": _NUMBER,
    "find": f"{_TYPE}|basic",
    "call": _NAMES,
    "toss": "",
    "return": "",
    "show": "",
    "look": "[123]",
    "lift": _NAMES,
    "gather": rf"[{ENERGY}] {_NAMES}",
    "redraw": _NUMBER,
    "boost": rf"{_NUMBER}(?: {_NAMES})?",
    "ease": _NUMBER,
    "copy": "",
}
"""Every word of an effect, and the form of its arguments."""
PASSIVE = {"armour": _NUMBER, "counter": _NUMBER, "silence": ""}
ASKING = {"choose", "spread", "push", "copy"}
PRINTS = range(1, 287)
"""The numbers of the set."""


def mistakes(cards: Table, decks: Table) -> list[str]:
    """Everything that is wrong with the two tables, in words."""
    found = [*_of_ids(cards), *_of_prints(cards)]
    for one in cards["pokemon"]:
        found += [f"{one['name']}: {mistake}" for mistake in _of_pokemon(one, cards)]
    for one in cards["trainers"]:
        found += [f"{one['name']}: {mistake}" for mistake in _of_trainer(one)]
    for one in decks["archetypes"]:
        found += [f"{one['name']}: {mistake}" for mistake in _of_deck(one, cards)]
    return found


def _all(cards: Table) -> list[Table]:
    return [*cards["pokemon"], *cards["trainers"]]


def _of_ids(cards: Table) -> Iterator[str]:
    ids, names = [one["id"] for one in _all(cards)], [one["name"] for one in _all(cards)]
    yield from (f"id {number} stands twice" for number in sorted(ids) if ids.count(number) > 1)
    yield from (f"id {number} is no byte above 0" for number in ids if not 0 < number < 256)
    yield from (f"{name} stands twice" for name in names if names.count(name) > 1)


def _of_prints(cards: Table) -> Iterator[str]:
    """Each number of the set is one card: by its own number, or in the table of prints."""
    ids = {one["id"] for one in _all(cards)}
    others = [print_ for prints in cards["prints"].values() for print_ in prints]
    yield from (f"print {number} stands twice" for number in others if others.count(number) > 1)
    own = {number for number in ids if number < 227} - {207}
    yield from (f"print {number} has no card" for number in PRINTS if number not in own and number not in others)
    yield from (f"there is no card {number} of prints" for number in cards["prints"] if int(number) not in ids)


def _of_pokemon(one: Table, cards: Table) -> Iterator[str]:
    yield from (f"no key {key}" for key in ("id", "name", "hp", "type", "retreat", "attacks") if key not in one)
    known = {"id", "name", "from", "hp", "type", "weak", "retreat", "ability", "attacks"}
    yield from (f"unknown key {key}" for key in one if key not in known)
    if one["hp"] % 10 or not 0 < one["hp"] < 255:
        yield f"hit points {one['hp']}"
    if one["type"] not in TYPES or one.get("weak", "G") not in ENERGY:
        yield "an unknown type"
    if not 0 <= one["retreat"] <= 4:
        yield f"retreat cost {one['retreat']}"
    if not 1 <= len(one["attacks"]) <= 2:
        yield f"{len(one['attacks'])} attacks"
    yield from _of_line(one, cards)
    for attack in one["attacks"]:
        cost, colon, effect = attack.partition(":")
        if not colon or not cost or not set(cost) <= set(ENERGY + "C") or len(cost) > 4:
            yield f"cost {cost}"
        yield from _of_effect(effect)
    ability = one.get("ability")
    if ability is None:
        return
    head, colon, effect = ability.partition(":")
    if colon:
        yield from (f"an ability {head}",) if head not in ("turn", "turn active") else _of_effect(effect)
    else:
        word, _, rest = ability.partition(" ")
        if word not in PASSIVE or not re.fullmatch(PASSIVE[word], rest):
            yield f"an ability {ability}"


def _of_line(one: Table, cards: Table) -> Iterator[str]:
    """What it evolves from is there, and the line has three cards at most."""
    by_name = {other["name"]: other for other in _all(cards)}
    line, below = [one["name"]], one.get("from")
    while below is not None:
        if below not in by_name or by_name[below].get("kind", "fossil") != "fossil":
            yield f"there is no {below}"
            return
        line.append(below)
        if len(line) > 3:
            yield f"a line of more than three: {', '.join(line)}"
            return
        below = by_name[below].get("from")


def _of_trainer(one: Table) -> Iterator[str]:
    if one["kind"] not in ("supporter", "item", "fossil"):
        yield f"kind {one['kind']}"
    if (one["kind"] == "fossil") == ("effect" in one):
        yield "a fossil has no effect, and every other trainer has one"
    yield from _of_effect(one.get("effect", "show"))


def _of_effect(effect: str) -> Iterator[str]:
    words = [part.strip() for part in effect.split(";")]
    forgotten: set[str] = set()
    flipped = False
    for word in words:
        name, _, rest = word.partition(" ")
        if name not in FORMS or not re.fullmatch(FORMS[name], rest):
            yield f"no word `{word}`"
        needs_coins = name == "need" or rest.endswith(" heads") or rest.endswith(" all") or name == "spread"
        if needs_coins and not flipped:
            yield f"`{word}` without coins since somebody was asked"
        if rest.endswith("dealt") and "dealt" in forgotten:
            yield f"`{word}` after somebody was asked"
        flipped = name == "flip" or (flipped and name not in ASKING)
        forgotten = {"dealt"} if name in ASKING else forgotten - ({"dealt"} if name == "hit" else set())
        of_chosen = name in ("swap", "drag") or re.match(r"(?:strike|heal|charge) chosen", word)
        if of_chosen and not any(earlier.startswith("choose") for earlier in words[: words.index(word)]):
            yield f"`{word}` without a choice"


def _of_deck(deck: Table, cards: Table) -> Iterator[str]:
    by_id = {one["id"]: one for one in _all(cards)}
    held = [by_id[number] for number, copies in deck["cards"] for _ in range(copies) if number in by_id]
    if len(held) != 20:
        yield f"{len(held)} cards"
    names = [one["name"] for one in held]
    yield from (f"more than two {name}" for name in sorted(set(names)) if names.count(name) > 2)
    if not any("hp" in one and "from" not in one for one in held):
        yield "no basic Pokémon"
    if not 1 <= len(deck["types"]) <= 3 or not set(deck["types"]) <= set(ENERGY):
        yield f"types {deck['types']}"
    yield from (
        f"{one['name']} evolves from {one['from']}, which is not in it"
        for one in held
        if one.get("from", names[0]) not in names
    )
