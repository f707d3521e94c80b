"""The answers to the words that ask (statements 77, 79, 81, 89). Each returns whether the effect has ended."""

from board import change_active
from cards import CARDS, TYPES
from effect import Effect, has_energy_for, running_words
from state import State
from words import carry_on


def next_word(state: State) -> None:
    state.run[2] += 1  # 65


def answer_choose(effect: Effect, chosen: int) -> bool:
    """77: that Pokémon is chosen."""
    effect.state.chosen = chosen  # 77
    next_word(effect.state)
    return carry_on(effect)


def answer_spread(effect: Effect, place: int) -> bool:
    """79: one energy is attached to the Pokémon at the place."""
    state = effect.state
    letter = running_words(state)[state.run[2]][1]
    effect.me.spots[place].energy[TYPES.index(letter)] += 1  # 79
    state.left -= 1
    if state.left:
        return False  # 79
    next_word(state)
    return carry_on(effect)


def answer_push(effect: Effect, place: int) -> bool:
    """81: the benched Pokémon that the other player chose changes places with the foe."""
    change_active(effect.other, place)  # 81
    next_word(effect.state)
    return carry_on(effect)


def answer_copy_whom(effect: Effect, place: int) -> bool:
    """89: then one of its attacks is asked for."""
    effect.state.chosen = 5 + place  # 89
    return False


def answer_copy_which(effect: Effect, number: int) -> bool:
    """89: the words of that attack are carried out as those of self."""
    state = effect.state
    card = effect.chosen_spot.card
    attack = CARDS[card].attacks[number]
    copies = any(word[0] == "copy" for word in attack.words)  # 89
    if copies or not has_energy_for(effect.self_spot, attack.cost):
        next_word(state)  # 89: nothing happens
    else:
        state.run, state.chosen = [card, number + 1, 0, state.run[3]], 0  # 89, 91, 110
    return carry_on(effect)
