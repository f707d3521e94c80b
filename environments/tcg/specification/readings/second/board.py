"""How cards move between the places (statements 16, 25 to 28, 31, 35, 61, 70, 81, 84)."""

from cards import CARDS
from chance import Chance
from state import BENCH, CLEAR, Side, Spot

FULL_HAND = 10  # 31


def shuffle(side: Side, chance: Chance) -> None:
    """16: the cards are sorted by the numbers of a draw; the numbers beyond the cards are not used (83)."""
    numbers = chance.take("shuffle")  # 16
    order = sorted(
        range(len(side.deck)), key=lambda place: numbers[place]
    )  # 16: cards with equal numbers keep their order
    side.deck = [side.deck[place] for place in order]
    side.looked = 0  # 97


def take_from_deck(side: Side, place: int) -> int:
    """A card leaves the deck, the others keep their order."""
    if place < side.looked:
        side.looked -= 1
    return side.deck.pop(place)


def add_to_hand(side: Side, card: int, known: int) -> None:
    side.hand = sorted([*side.hand, (card, known)])  # 28: by id; of equal cards the unknown ones first


def take_from_hand(side: Side, card: int) -> None:
    """84: if of equal cards one is known and one is not, the known one leaves first."""
    side.hand.remove((card, 1) if (card, 1) in side.hand else (card, 0))  # 84, 108


def add_to_discard(side: Side, cards: list[int]) -> None:
    side.discard = sorted(side.discard + cards)  # 28


def draw_card(side: Side) -> None:
    """31: take the top card of the deck into the hand."""
    if len(side.hand) < FULL_HAND and side.deck:  # 31
        add_to_hand(side, take_from_deck(side, 0), 0)  # 31


def free_place(side: Side) -> int:
    """25: the free place of the bench with the lowest number; 0 if there is none."""
    for place in BENCH:
        if not side.spots[place].card:
            return place  # 25
    return 0


def put_on_bench(side: Side, card: int, fresh: int) -> None:
    side.spots[free_place(side)] = Spot(card=card, fresh=fresh)  # 25


def evolve(side: Side, place: int, card: int) -> None:
    """35: damage and energy stay, and what lies on it by conditions and lasting effects ends."""
    spot = side.spots[place]
    spot.under.append(spot.card)  # 26
    spot.card = card
    spot.fresh = 1  # 34
    spot.used = 0  # 35
    if place == 0:
        end_effects(side)  # 35, 61, 70


def end_effects(side: Side) -> None:
    """61, 70: conditions and lasting effects of the active Pokémon end."""
    side.mind, side.poisoned, side.burned = CLEAR, 0, 0  # 61
    side.shield, side.no_attack, side.no_retreat, side.weakened = 0, 0, 0, 0  # 70


def change_active(side: Side, place: int) -> None:
    """The active Pokémon and the one at that place change places; so also where the active spot is empty."""
    side.spots[0], side.spots[place] = side.spots[place], side.spots[0]
    end_effects(side)  # 61, 70


def take_out(side: Side, place: int) -> list[int]:
    """A Pokémon leaves play, and its energy is gone (27). Returns its cards, the lowest first."""
    spot = side.spots[place]
    side.spots[place] = Spot()  # 27; 25: nobody moves up
    if place == 0:
        end_effects(side)  # 61, 70
    return [*spot.under, spot.card]


def add_damage(spot: Spot, damage: int) -> int:
    """51: damage adds up, and never counts more than the hit points. Returns what was added."""
    before = spot.damage
    spot.damage = min(CARDS[spot.card].hp, before + damage)  # 51
    return spot.damage - before


def heal(spot: Spot, amount: int) -> None:
    spot.damage = max(0, spot.damage - amount)  # 71
