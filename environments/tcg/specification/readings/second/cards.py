"""The cards (statements 1 to 8), read from `cards.toml`."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

DATA = Path(__file__).parent
TYPES = "GRWLPFDM"  # 6: the type at place i has the number i + 1

Word = tuple[str, ...]  # a word and its arguments
Words = tuple[Word, ...]


@dataclass(frozen=True)
class Attack:
    """7: a cost and an effect."""

    cost: str
    words: Words


@dataclass(frozen=True)
class Card:
    """2, 3: a Pokémon or a trainer."""

    id: int
    name: str
    kind: str  # 2: pokemon, supporter, item or fossil
    below: str = ""  # 4: the name from which it evolves
    hp: int = 0
    type: str = ""
    weak: str = ""  # 3: empty for no weakness
    retreat: int = 0
    attacks: tuple[Attack, ...] = ()
    when: str = ""  # 39: `turn`, `turn active`, or empty for an ability that works by itself
    words: Words = ()  # of the ability, or of the supporter or item

    @property
    def is_pokemon(self) -> bool:
        return self.kind == "pokemon"  # 2

    @property
    def is_basic(self) -> bool:
        """4: a basic Pokémon card; a fossil is none before it is in play (8)."""
        return self.is_pokemon and not self.below  # 4

    @property
    def is_ex(self) -> bool:
        return self.is_pokemon and self.name.endswith("ex")  # 5


def parse_words(text: str) -> Words:
    """65: words with their arguments; a semicolon stands between two of them. Names keep their quotes."""
    return tuple(tuple(re.findall(r'"[^"]*"|\S+', word)) for word in text.split("; "))  # 65


def parse_attack(text: str) -> Attack:
    cost, _, effect = text.partition(": ")  # 7
    return Attack(cost, parse_words(effect))


def make_pokemon(entry: dict) -> Card:
    ability = entry.get("ability", "")
    when, colon, effect = ability.partition(": ")
    if not colon:  # 90: without a colon it works by itself
        when, effect = "", ability
    return Card(
        id=entry["id"],
        name=entry["name"],
        kind="pokemon",
        below=entry.get("from", ""),
        hp=entry["hp"],
        type=entry["type"],
        weak=entry.get("weak", ""),
        retreat=entry["retreat"],
        attacks=tuple(parse_attack(attack) for attack in entry["attacks"]),
        when=when,
        words=parse_words(effect) if effect else (),
    )


def make_trainer(entry: dict) -> Card:
    if entry["kind"] == "fossil":
        return Card(id=entry["id"], name=entry["name"], kind="fossil", hp=40, type="C")  # 8
    return Card(id=entry["id"], name=entry["name"], kind=entry["kind"], words=parse_words(entry["effect"]))


def read_cards() -> list[Card]:
    """13: in the order of `cards.toml`, Pokémon before trainers."""
    with open(DATA / "cards.toml", "rb") as file:
        table = tomllib.load(file)
    return [make_pokemon(entry) for entry in table["pokemon"]] + [make_trainer(entry) for entry in table["trainers"]]


ORDER = read_cards()
CARDS = {card.id: card for card in ORDER}  # 1
BY_NAME = {card.name: card for card in ORDER}
BASICS = [card for card in ORDER if card.is_basic]  # 12


def basic_in_play(card: Card) -> bool:
    return card.is_basic or card.kind == "fossil"  # 4, 8


def ability_value(card: Card, name: str) -> int:
    """The N of an ability `armour N` or `counter N`; 0 without it."""
    for word in card.words:
        if card.is_pokemon and not card.when and word[0] == name:  # 90
            return int(word[1])
    return 0


def has_silence(card: Card) -> bool:
    return card.is_pokemon and card.words == (("silence",),)  # 90


def boost_of(card: Card) -> tuple[int, str]:
    """87: the N and the names of the supporter's `boost`; 0 without one, and no names where it has no filter."""
    for word in card.words:
        if card.kind == "supporter" and word[0] == "boost":
            return int(word[1]), word[2] if len(word) > 2 else ""
    return 0, ""


def named(card: Card, names: str) -> bool:
    r"""77: whether the card has one of the names of `"X|Y"`."""
    return card.name in names.strip('"').split("|")
