"""The tables of the rules as plain dictionaries, and decks made of them."""

import shlex
import tomllib

LETTERS = "GRWLPFDM"  # 6


def load(directory):
    """All cards in the order of the table (Pokémon before trainers, 13), and the table of decks."""
    cards = tomllib.loads((directory / "cards.toml").read_text(encoding="utf-8"))
    decks = tomllib.loads((directory / "decks.toml").read_text(encoding="utf-8"))
    listed = [completed(row, "pokemon") for row in cards["pokemon"]]
    listed += [completed(row, row["kind"]) for row in cards["trainers"]]
    return listed, decks


def completed(row, kind):
    """A card with every key: what a fossil is in play (8), and attacks and abilities as words (7, 65)."""
    card = {"hp": 40, "type": "C", "weak": None, "retreat": 0, "from": None, **row, "kind": kind}
    card["attacks"] = []
    for text in row.get("attacks", []):
        cost, effect = text.split(":")
        card["attacks"].append((cost, sentence(effect)))
    card["effect"] = sentence(row.get("effect", ""))
    card["when"], card["ability"], card["always"] = "", [], []
    if "ability" in row and ":" in row["ability"]:
        when, effect = row["ability"].split(":")
        card["when"], card["ability"] = when, sentence(effect)  # 39
    elif "ability" in row:
        card["always"] = row["ability"].split()  # 90
    return card


def sentence(effect):
    """The words of an effect, each a list; names in quotation marks are one argument, as `=A|B` (65)."""
    words = []
    for part in filter(None, (part.strip() for part in effect.split(";"))):
        lexer = shlex.shlex(part, posix=False)
        lexer.whitespace_split = True
        words.append(["=" + token[1:-1] if token[0] == '"' else token for token in lexer])
    return words


def basic(card):
    return card["kind"] == "pokemon" and card["from"] is None  # 4


def named_by(word, card):
    """Whether one filter word names a Pokémon: names, `basic`, or a type (77)."""
    if word[0] == "=":
        return card["name"] in word[1:].split("|")
    if word == "basic":
        return basic(card) or card["kind"] == "fossil"  # 8
    return card["type"] == word


def attack_types(cards):
    """Numbers of the types in the costs of attacks; grass if there are none (14)."""
    costs = "".join(cost for card in cards for cost, _ in card["attacks"])
    return [at + 1 for at, letter in enumerate(LETTERS) if letter in costs] or [1]


def archetype_deck(decks, place):
    """11: the cards, sorted by id (17), and the numbers of the types."""
    deck = decks["archetypes"][place]
    cards = [card for card, copies in deck["cards"] for _ in range(copies)]
    return sorted(cards), sorted(LETTERS.index(letter) + 1 for letter in deck["types"])


def free_deck(listed, decks, base, lines):
    """12 to 15: how many copies of each card, filled up; sorted by id (17)."""
    by_name = {card["name"]: card for card in listed}
    by_id = {card["id"]: card for card in listed}
    copies = {[card for card in listed if basic(card)][base]["id"]: 2}  # 12

    def size(counts):
        return sum(counts.values())

    for place in lines:  # 13
        card = listed[place]
        if card["kind"] in ("supporter", "item"):
            if size(copies) < 20 and copies.get(card["id"], 0) < 2:
                copies[card["id"]] = copies.get(card["id"], 0) + 1
            continue
        wanted = dict(copies)
        while card is not None:
            wanted[card["id"]] = 2
            card = by_name[card["from"]] if card["from"] else None
        if size(wanted) <= 20 and len(attack_types([by_id[number] for number in wanted])) <= 2:
            copies = wanted
    types = attack_types([by_id[number] for number in copies])
    for number in decks["fill"]:  # 15
        while size(copies) < 20 and copies.get(number, 0) < 2:
            copies[number] = copies.get(number, 0) + 1
    return sorted(number for number, count in copies.items() for _ in range(count)), types
