"""The cards and decks of the rules, read from their tables."""

import re
import tomllib

TYPES = "GRWLPFDM"  # 6
FOSSIL_HP = 40  # 8
_WORD = re.compile(r'"[^"]*"|\S+')


class Attack:
    """A cost, as letters, and what it does, as words."""

    def __init__(self, text):
        self.cost, _, effect = text.partition(":")  # 7
        self.words = words_of(effect)


class Card:
    """One card. `kind` is pokemon, supporter, item or fossil (2)."""

    def __init__(self, row, kind):
        self.id, self.name, self.kind = row["id"], row["name"], kind
        self.effect = words_of(row.get("effect", ""))
        self.evolves_from = row.get("from")
        self.hp = row.get("hp", FOSSIL_HP)
        self.type = row.get("type", "C")
        self.weakness = row.get("weak")  # 3
        self.retreat = row.get("retreat", 0)
        self.attacks = [Attack(text) for text in row.get("attacks", ())]
        ability = row.get("ability", "")
        head, colon, effect = ability.partition(":")
        self.ability = words_of(effect) if colon else []
        self.ability_of_active = head == "turn active"  # 39
        self.passive = words_of("" if colon else ability)  # 90

    @property
    def is_basic(self):
        return self.kind == "pokemon" and self.evolves_from is None  # 4

    @property
    def points(self):
        return 2 if self.name.endswith(" ex") else 1  # 5, 53

    def constant(self, name):
        """The number of an ability that works by itself; 0 where the card has no such ability."""
        for word in self.passive:
            if word[0] == name:
                return int(word[1]) if len(word) > 1 else 1
        return 0


class Catalogue:
    """All cards by id, and what decks are made of."""

    def __init__(self, directory):
        with open(directory / "cards.toml", "rb") as file:
            tables = tomllib.load(file)
        with open(directory / "decks.toml", "rb") as file:
            decks = tomllib.load(file)
        rows = [(row, "pokemon") for row in tables["pokemon"]] + [(row, row["kind"]) for row in tables["trainers"]]
        self.in_order = [Card(row, kind) for row, kind in rows]
        self.by_id = {card.id: card for card in self.in_order}
        self.by_name = {card.name: card for card in self.in_order}
        self.basics = [card for card in self.in_order if card.is_basic]
        self.archetypes, self.fill = decks["archetypes"], decks["fill"]

    def __getitem__(self, number):
        return self.by_id[number]

    def line(self, card):
        """The card and all from which it evolves, one after another (13)."""
        found = [card]
        while found[-1].evolves_from is not None:
            found.append(self.by_name[found[-1].evolves_from])
        return found


def words_of(effect):
    """`hit 40; heal self 30` as a list of words, each a list of its name and its arguments (65)."""
    return [_WORD.findall(part) for part in effect.split(";") if part.strip()]


def energy_types(cards):
    """The types in the costs of attacks, as their letters in order; grass where there are none (14)."""
    letters = {letter for card in cards for attack in card.attacks for letter in attack.cost} - {"C"}
    return [letter for letter in TYPES if letter in letters] or ["G"]


def fits(card, filters):
    """Whether a Pokémon is one of those that a filter names (77), damage apart."""
    for one in filters:
        if one == "basic":
            if not card.is_basic and card.kind != "fossil":  # 8
                return False
        elif one.startswith('"'):
            if card.name not in one.strip('"').split("|"):
                return False
        elif one not in ("hurt", card.type):
            return False
    return True
