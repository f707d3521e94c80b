"""The words of effects, carried out from left to right (statements 65 to 91)."""

from collections.abc import Callable

from board import (
    FULL_HAND,
    add_damage,
    add_to_discard,
    add_to_hand,
    change_active,
    draw_card,
    free_place,
    heal,
    put_on_bench,
    shuffle,
    take_from_deck,
    take_from_hand,
    take_out,
)
from cards import CARDS, TYPES, Word
from damage import hit, scatter, strike_bench, strike_chosen
from effect import (
    Effect,
    candidates,
    copy_places,
    energy_of,
    fits_deck_filter,
    running_words,
    spread_places,
)
from state import ASLEEP, CONFUSED, PARALYSED, SHIELD_ALL

ASKED = "asked"  # a player is asked, and the effect stands at this word
ENDS = "ends"  # the rest of the effect is left out
Outcome = str | None
MINDS = {"asleep": ASLEEP, "paralysed": PARALYSED, "confused": CONFUSED}  # 59
LONGEST_RUN = 16  # 66


def carry_on(effect: Effect) -> bool:
    """65: carry out the words from the one at which the effect stands. False if a player is asked."""
    state = effect.state
    while True:
        words = running_words(state)
        if state.run[2] >= len(words):
            return True
        name, *arguments = words[state.run[2]]
        outcome = WORDS[name](effect, tuple(arguments))
        if outcome == ASKED:
            return False
        if outcome == ENDS:
            return True
        state.run[2] += 1  # 65


def flip(effect: Effect, arguments: Word) -> None:
    """66: coins."""
    effect.heads = effect.tails = 0  # 66: the last `flip` counts
    if arguments[0] == "run":
        while effect.tails == 0 and effect.heads < LONGEST_RUN:  # 66
            flip_coin(effect)
    else:
        for _ in range(int(arguments[0])):
            flip_coin(effect)  # 66


def flip_coin(effect: Effect) -> None:
    if effect.chance.take("coin"):
        effect.heads += 1  # 66
    else:
        effect.tails += 1  # 66


def need(effect: Effect, arguments: Word) -> Outcome:
    """67: the effect ends without what it needs."""
    if arguments[0] == "heads":
        met = effect.heads > 0  # 67
    elif arguments[0] == "tails":
        met = effect.tails > 0  # 67
    else:
        met = effect.tails == 0  # 67
    return None if met else ENDS


def more(effect: Effect, arguments: Word) -> None:
    """67: N times a count is added to the damage of the next `hit`."""
    effect.more += int(arguments[0]) * count(effect, arguments[1:])  # 67


def count(effect: Effect, arguments: Word) -> int:
    """67: the counts."""
    name, *rest = arguments
    if name == "heads":
        return effect.heads
    if name == "all":
        return int(effect.tails == 0)
    if name == "bench":
        return len(candidates(effect.state, ("own", "bench", *rest)))  # 67: with a type or a name, like the filter
    if name == "foe-energy":
        return sum(effect.foe.energy)
    if name == "extra":
        letter, extra = rest
        return int(energy_of(effect.self_spot, letter) >= effect.attack.cost.count(letter) + int(extra))
    if name == "hurt":
        spot = effect.self_spot if rest[0] == "self" else effect.foe
        return int(spot.damage > 0)
    if name == "poisoned":
        return effect.other.poisoned
    raise ValueError(f"no count {name}")


def do_hit(effect: Effect, arguments: Word) -> None:
    hit(effect, int(arguments[0]))  # 68


def do_strike(effect: Effect, arguments: Word) -> None:
    if arguments[0] == "chosen":
        strike_chosen(effect, int(arguments[1]))  # 68
    else:
        strike_bench(effect, int(arguments[1]))  # 68


def do_scatter(effect: Effect, arguments: Word) -> None:
    scatter(effect, int(arguments[0]), int(arguments[1]))  # 69


def hurt(effect: Effect, arguments: Word) -> None:
    add_damage(effect.self_spot, int(arguments[0]))  # 68


def do_heal(effect: Effect, arguments: Word) -> None:
    """71: take damage off."""
    whom, amount = arguments
    if whom == "self":
        heal(effect.self_spot, effect.dealt if amount == "dealt" else int(amount))  # 71
    elif whom == "chosen":
        heal(effect.chosen_spot, int(amount))  # 71
    else:
        for spot in effect.me.in_play():
            heal(spot, int(amount))  # 71


def inflict(effect: Effect, arguments: Word) -> None:
    """72: the foe gets a condition."""
    if effect.foe_is_safe:
        return  # 73
    if arguments[0] == "poisoned":
        effect.other.poisoned = 1  # 59
    elif arguments[0] == "burned":
        effect.other.burned = 1  # 59
    else:
        effect.other.mind = MINDS[arguments[0]]  # 59: it takes the place of the old one


def shield(effect: Effect, arguments: Word) -> None:
    effect.me.shield = SHIELD_ALL if arguments[0] == "all" else int(arguments[0])  # 73


def bar(effect: Effect, arguments: Word) -> None:
    if effect.foe_is_safe:
        return  # 73
    if arguments[0] == "attack":
        effect.other.no_attack = 1  # 74
    else:
        effect.other.no_retreat = 1  # 74


def weaken(effect: Effect, arguments: Word) -> None:
    if not effect.foe_is_safe:  # 73
        effect.other.weakened = int(arguments[0])  # 75


def gag(effect: Effect, arguments: Word) -> None:
    effect.other.gagged = 1  # 76


def choose(effect: Effect, arguments: Word) -> Outcome:
    """77: the player is asked for a Pokémon."""
    if not candidates(effect.state, arguments):
        return ENDS  # 77
    effect.state.ask(effect.state.player)  # 77, 94
    return ASKED


def charge(effect: Effect, arguments: Word) -> None:
    """78: attach energy."""
    target, letter, amount = arguments
    if target == "self":
        spot = effect.self_spot  # 78
    elif target == "chosen":
        spot = effect.chosen_spot  # 78
    else:
        spot = effect.me.active  # 78
        if spot.pokemon.type != letter:
            return  # 78
    spot.energy[TYPES.index(letter)] += effect.heads if amount == "heads" else int(amount)  # 78


def spread(effect: Effect, arguments: Word) -> Outcome:
    """79: asks once for each heads."""
    if not effect.heads or not spread_places(effect.state, arguments[0]):
        return None  # 65
    effect.state.left = effect.heads  # 79
    effect.state.ask(effect.state.player)
    return ASKED


def discard(effect: Effect, arguments: Word) -> None:
    """80: energy of self is discarded."""
    energy = effect.self_spot.energy
    if arguments[0] == "all":
        energy[:] = [0] * len(TYPES)  # 80
    else:
        place = TYPES.index(arguments[0])
        energy[place] = max(0, energy[place] - int(arguments[1]))  # 80


def strip(effect: Effect, arguments: Word) -> None:
    """80: one energy of the foe is discarded."""
    energies = [place for place, amount in enumerate(effect.foe.energy) for _ in range(amount)]  # 80
    if energies and not effect.foe_is_safe:  # 65, 73, 107
        effect.foe.energy[energies[effect.chance.pick(len(energies))]] -= 1  # 80


def swap(effect: Effect, arguments: Word) -> None:
    change_active(effect.me, effect.chosen_place)  # 81  # ? 65: self would be on the bench now; no word comes after


def drag(effect: Effect, arguments: Word) -> None:
    change_active(effect.other, effect.chosen_place)  # 81


def push(effect: Effect, arguments: Word) -> Outcome:
    """81: the other player is asked who changes places with the foe."""
    if not effect.other.benched() or effect.foe_is_safe:
        return None  # 65, 73, 107
    effect.state.ask(1 - effect.state.player)  # 81
    return ASKED


def draw(effect: Effect, arguments: Word) -> None:
    for _ in range(int(arguments[0])):
        draw_card(effect.me)  # 82


def find(effect: Effect, arguments: Word) -> None:
    """82: a random card of the own deck that fits goes into the hand."""
    places = [place for place, card in enumerate(effect.me.deck) if fits_deck_filter(CARDS[card], arguments[0])]  # 82
    if places and len(effect.me.hand) < FULL_HAND:  # 82, 107
        add_to_hand(effect.me, take_from_deck(effect.me, places[effect.chance.pick(len(places))]), 1)  # 82


def call(effect: Effect, arguments: Word) -> None:
    """82: a random card with the name goes from the own deck on the bench."""
    name = arguments[0].strip('"')
    places = [place for place, card in enumerate(effect.me.deck) if CARDS[card].name == name]  # 82
    if places and free_place(effect.me):  # 82
        put_on_bench(effect.me, take_from_deck(effect.me, places[effect.chance.pick(len(places))]), 1)  # 82, 34


def toss(effect: Effect, arguments: Word) -> None:
    """83: a random card of the other player's hand is discarded."""
    hand = effect.other.hand
    if hand:
        card, _ = hand[effect.chance.pick(len(hand))]  # 83
        take_from_hand(effect.other, card)  # 83, 84, 108
        add_to_discard(effect.other, [card])  # 83


def do_return(effect: Effect, arguments: Word) -> None:
    """83: the foe is shuffled into its owner's deck."""
    if effect.foe.card and not effect.foe_is_safe:  # 73
        effect.other.deck += take_out(effect.other, 0)  # 83  # ? 54: looked at after the attack, with its knockouts
        shuffle(effect.other, effect.chance)  # 83


def show(effect: Effect, arguments: Word) -> None:
    effect.other.hand = sorted((card, 1) for card, _ in effect.other.hand)  # 84


def look(effect: Effect, arguments: Word) -> None:
    seen = min(int(arguments[0]), len(effect.me.deck))
    effect.me.looked = max(effect.me.looked, seen)  # 84  # ? 84: what was seen deeper before stays known


def lift(effect: Effect, arguments: Word) -> None:
    """85: the own active Pokémon and the cards below it go into the hand."""
    for card in take_out(effect.me, 0):
        add_to_hand(effect.me, card, 1)  # 85


def gather(effect: Effect, arguments: Word) -> None:
    """85: all energy of the type moves from the own benched Pokémon to the active one."""
    place = TYPES.index(arguments[0])
    for bench in effect.me.benched():
        spot = effect.me.spots[bench]
        effect.me.active.energy[place] += spot.energy[place]  # 85
        spot.energy[place] = 0


def redraw(effect: Effect, arguments: Word) -> None:
    """86: the other player's hand is shuffled into the deck, then cards are drawn."""
    side = effect.other
    if side.hand:  # 65
        side.deck += [card for card, _ in side.hand]  # 86
        side.hand = []
        shuffle(side, effect.chance)  # 86
        for _ in range(int(arguments[0])):
            draw_card(side)  # 86


def boost(effect: Effect, arguments: Word) -> None:
    """87: nothing to do here; `damage.boost` looks at the supporter of the turn."""


def ease(effect: Effect, arguments: Word) -> None:
    effect.state.eased += int(arguments[0])  # 87


def copy(effect: Effect, arguments: Word) -> Outcome:
    """89: asks for a Pokémon of the other player that has an attack."""
    if not copy_places(effect.state):
        return None  # 65
    effect.state.ask(effect.state.player)  # 89
    return ASKED


WORDS: dict[str, Callable[[Effect, Word], Outcome]] = {
    "flip": flip,
    "need": need,
    "more": more,
    "hit": do_hit,
    "strike": do_strike,
    "scatter": do_scatter,
    "hurt": hurt,
    "heal": do_heal,
    "inflict": inflict,
    "shield": shield,
    "bar": bar,
    "weaken": weaken,
    "gag": gag,
    "choose": choose,
    "charge": charge,
    "spread": spread,
    "discard": discard,
    "strip": strip,
    "swap": swap,
    "drag": drag,
    "push": push,
    "draw": draw,
    "find": find,
    "call": call,
    "toss": toss,
    "return": do_return,
    "show": show,
    "look": look,
    "lift": lift,
    "gather": gather,
    "redraw": redraw,
    "boost": boost,
    "ease": ease,
    "copy": copy,
}
