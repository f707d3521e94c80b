"""The tables of cards and effects, as arrays that are looked up by number."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import tables
from tables import ATTACKS, BUILT_IN, CARD_FIELDS, CARDS, FIRST_FIELDS, FIRSTS, FITS, ROW_FIELDS, ROW_OF_WORD, ROWS

BASIC, EVOLUTION, FOSSIL, ITEM, SUPPORTER = range(1, 6)
ATTACK_1, ATTACK_2, ABILITY, TRAINER, RETREAT, EVOLVE, PROMOTE = range(1, 8)
PARTS = 8
NO_QUESTION, CHOOSE, SPREAD, PUSH, COPY, PAY, ON_WHOM, PROMOTION = range(8)
"""What a row asks. ON_WHOM is on whom an evolution is played."""
ENERGIES = 8
ALL = 255
"""A shield that prevents everything (73); also `flip run`, `heal self dealt` and `charge TARGET X heads`."""


class Card(NamedTuple):
    """What is the same of a card in every game, int32; the axes are those of its ids."""

    kind: jax.Array
    hp: jax.Array
    type: jax.Array
    weak: jax.Array
    retreat: jax.Array
    points: jax.Array
    armour: jax.Array
    counter: jax.Array
    silence: jax.Array
    uses: jax.Array
    uses_first: jax.Array


class Row(NamedTuple):
    """Some words of an effect, which are carried out at once, in this order of what they do. int32 scalars."""

    exchange: jax.Array
    flip: jax.Array
    need: jax.Array
    more: jax.Array
    counts: jax.Array
    count_filter: jax.Array
    count_type: jax.Array
    least: jax.Array
    strike: jax.Array
    damage: jax.Array
    times: jax.Array
    bench: jax.Array
    hurt: jax.Array
    heal: jax.Array
    healed: jax.Array
    charge: jax.Array
    charge_type: jax.Array
    charged: jax.Array
    mark: jax.Array
    mark_side: jax.Array
    marked: jax.Array
    ease: jax.Array
    cards: jax.Array
    cards_number: jax.Array
    cards_filter: jax.Array
    question: jax.Array
    side: jax.Array
    where: jax.Array
    filter: jax.Array
    wounded: jax.Array
    type: jax.Array
    word: jax.Array
    last: jax.Array


def _of_cards(*names):
    return np.array(CARDS, np.int16)[:, [CARD_FIELDS.index(name) for name in names]]


def _effects():
    """By part and id: where the words of an effect begin. Those of a retreat and the like are the same of all cards."""
    parts = np.zeros((PARTS, len(CARDS)), np.int16)
    parts[[ATTACK_1, ATTACK_2, ABILITY, TRAINER]] = _of_cards("attack_1", "attack_2", "ability", "effect").T
    parts[[RETREAT, EVOLVE, PROMOTE]] = np.array(BUILT_IN, np.int16)[:, None]
    return parts.reshape(-1)


if Row._fields != ROW_FIELDS:
    raise ValueError("the rows of tables.py are not those that words.py carries out")
CARD_TABLE = _of_cards(*Card._fields).astype(np.uint8)
IN_HAND = _of_cards("kind", "first", "evolves_from").astype(np.uint8)
"""What decides whether a card can be played."""
EVOLVES_FROM = _of_cards("evolves_from")[:, 0].astype(np.uint8)
BOOST = _of_cards("boost", "boost_filter").astype(np.uint8)
FITS_TABLE = np.array(FITS, np.uint32)
COSTS = np.array(ATTACKS, np.uint8).reshape(len(CARDS), 2, -1)
"""By id and attack: letters of each type, letters in all (0 where there is no such attack), and whether it copies."""
EFFECTS = _effects()
ROW_OF = np.array(ROW_OF_WORD, np.int16)
ROW_TABLE = np.array(ROWS, np.uint8)
MOST_TIMES = max(1, *(row[ROW_FIELDS.index("times")] for row in ROWS))
FIRST = {name: np.array(FIRSTS, np.int32)[:, at] for at, name in enumerate(FIRST_FIELDS)}
DECKS, DECK_TYPES = np.array(tables.DECKS, np.uint8), np.array(tables.DECK_TYPES, np.uint8)


def look(table, index):
    """A table's rows, for indices that lie within it; small whole numbers as int32."""
    rows = jnp.asarray(table).at[index].get(mode="promise_in_bounds")
    return rows if rows.dtype == jnp.uint32 else rows.astype(jnp.int32)


def card_of(ids):
    rows = look(CARD_TABLE, ids.astype(jnp.int32))
    return Card(*(rows[..., at] for at in range(len(Card._fields))))


def fits_of(ids):
    """Which filters a card fits, as bits."""
    return look(FITS_TABLE, ids.astype(jnp.int32))


def has_bit(bits, number):
    """Whether bits have the one of a number."""
    return (bits >> jnp.asarray(number).astype(jnp.uint32) & jnp.uint32(1)) == 1


def row_at(part, number, word):
    """The row in which a word of an effect is."""
    return look(ROW_OF, look(EFFECTS, part * len(CARDS) + number) + word)


def row_of(number):
    fields = look(ROW_TABLE, number)
    return Row(*(fields[at] for at in range(len(Row._fields))))


def affordable(costs, energy):
    """Whether energy `[8]` suffices for costs `[..., 10]` (47)."""
    enough = jnp.all(energy.astype(jnp.int32) >= costs[..., :ENERGIES], axis=-1)
    return enough & (jnp.sum(energy, dtype=jnp.int32) >= costs[..., ENERGIES]) & (costs[..., ENERGIES] > 0)
