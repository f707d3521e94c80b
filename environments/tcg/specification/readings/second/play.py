"""What an action does (statements 32 to 49, 92 to 95)."""

from answers import answer_choose, answer_copy_which, answer_copy_whom, answer_push, answer_spread
from beginning import end_placing, place_active, place_bench
from board import add_to_discard, change_active, evolve, put_on_bench, take_from_hand, take_out
from cards import CARDS
from chance import Chance
from effect import Effect, running_words
from legal import (
    ATTACH,
    ATTACK,
    CHOSEN,
    DISCARD_FOSSIL,
    ENERGY,
    GO_BACK,
    HAND,
    OTHER,
    OWN,
    STOP,
    USE_ABILITY,
    legal_numbers,
    retreat_cost,
)
from state import (
    ABILITY,
    ASK_ACTIVE,
    ASK_ANSWER,
    ASK_BENCH,
    CONFUSED,
    EVOLUTION,
    FILLING,
    RETREAT,
    TRAINER,
    State,
)
from turns import after_attack, answer_fill, go_on_in_turn, pass_turn, settle
from words import carry_on


def act(state: State, action: int, chance: Chance) -> None:
    """93: an action that is not legal changes nothing."""
    if action not in legal_numbers(state):
        return  # 93, 58
    if state.phase in (ASK_ACTIVE, ASK_BENCH):
        act_placing(state, action, chance)
    elif state.phase == ASK_ANSWER:
        act_answer(state, action, chance)
    else:
        act_in_turn(state, action, chance)


def act_placing(state: State, action: int, chance: Chance) -> None:
    """22: before turn 1."""
    if action == STOP:
        end_placing(state, chance)  # 22
        return
    card, _ = state.sides[state.asked].hand[action - HAND]
    if state.phase == ASK_ACTIVE:
        place_active(state, card)
    else:
        place_bench(state, card)


def act_in_turn(state: State, action: int, chance: Chance) -> None:
    """32: what a player does in the turn, by its number (92)."""
    if action == STOP:
        pass_turn(state, chance)  # 32
    elif action < OWN:
        card, _ = state.me.hand[action - HAND]
        play_card(state, card, chance)
    elif action < USE_ABILITY:
        attack(state, action - ATTACK, chance)
    elif action < GO_BACK:
        use_ability(state, action - USE_ABILITY, chance)
    elif action == GO_BACK:
        begin_retreat(state)
    elif action < DISCARD_FOSSIL:
        attach(state, action - ATTACH)
    else:
        discard_fossil(state, action - DISCARD_FOSSIL, chance)


def play_card(state: State, number: int, chance: Chance) -> None:
    """33 to 37: a card of the hand is played."""
    card = CARDS[number]
    take_from_hand(state.me, number)  # 37, 103
    if card.is_pokemon and not card.is_basic:
        state.run = [number, EVOLUTION, 0, 0]  # 95
        state.ask(state.player)  # 95
        return
    if card.is_pokemon or card.kind == "fossil":
        put_on_bench(state.me, number, 1)  # 33, 34
        return
    if card.kind == "supporter":
        state.supporter = number  # 36
    add_to_discard(state.me, [number])  # 37
    state.run = [number, TRAINER, 0, 0]
    finish(state, carry_on(Effect(state, chance)), chance)  # 37


def attach(state: State, place: int) -> None:
    """46: the energy of this turn is attached."""
    me = state.me
    me.spots[place].energy[me.zone[0] - 1] += 1  # 46
    me.zone[0] = 0  # 43


def use_ability(state: State, place: int, chance: Chance) -> None:
    """39: an ability is used."""
    spot = state.me.spots[place]
    spot.used = 1  # 39, 109
    state.run = [spot.card, ABILITY, 0, place]
    finish(state, carry_on(Effect(state, chance)), chance)


def discard_fossil(state: State, place: int, chance: Chance) -> None:
    """40: a fossil in play is discarded."""
    add_to_discard(state.me, take_out(state.me, place))  # 40, 27
    settle(state, chance)  # 54, 55


def begin_retreat(state: State) -> None:
    """41, 95: the energy is asked for first, then the benched Pokémon."""
    cost = retreat_cost(state)
    state.run = [state.me.active.card, RETREAT, 0 if cost else 1, 0]  # 95
    state.left = cost  # 41
    state.retreated = 1  # 42, 104
    state.ask(state.player)


def answer_retreat_energy(state: State, kind: int) -> None:
    """41: one energy after another."""
    state.me.active.energy[kind] -= 1  # 41
    state.left -= 1
    if state.left == 0:
        state.run[2] = 1  # 95


def answer_retreat(state: State, place: int) -> None:
    """41: the active Pokémon changes places with a benched one."""
    change_active(state.me, place)  # 41
    go_on_in_turn(state)


def answer_evolution(state: State, place: int) -> None:
    """34, 35, 95: the evolution is played on that Pokémon."""
    evolve(state.me, place, state.run[0])  # 35
    go_on_in_turn(state)


def attack(state: State, number: int, chance: Chance) -> None:
    """47 to 49: the active Pokémon attacks."""
    if state.me.mind == CONFUSED and not chance.take("coin"):  # 48
        after_attack(state, chance)  # 48, 49
        return
    state.run = [state.me.active.card, number + 1, 0, 0]
    finish(state, carry_on(Effect(state, chance)), chance)  # 49


def finish(state: State, ended: bool, chance: Chance) -> None:
    """49, 53: what follows an effect, if it has ended and nobody is asked."""
    if not ended:
        return
    if state.run[1] in (ABILITY, TRAINER):
        settle(state, chance)  # 53
    else:
        after_attack(state, chance)  # 49


def act_answer(state: State, action: int, chance: Chance) -> None:
    """An answer to the word at which the effect stands."""
    _, part, word, _ = state.run
    if part == FILLING:
        answer_fill(state, action - OWN, chance)
    elif part == EVOLUTION:
        answer_evolution(state, action - OWN)
    elif part == RETREAT and word == 0:
        answer_retreat_energy(state, action - ENERGY)
    elif part == RETREAT:
        answer_retreat(state, action - OWN)
    else:
        finish(state, answer_word(state, action, chance), chance)


def answer_word(state: State, action: int, chance: Chance) -> bool:
    """Returns whether the effect has ended."""
    effect = Effect(state, chance)  # 91: what the words before it counted is forgotten
    name = running_words(state)[state.run[2]][0]
    if name == "choose":
        return answer_choose(effect, action - CHOSEN)
    if name == "spread":
        return answer_spread(effect, action - OWN)
    if name == "push":
        return answer_push(effect, action - OWN)
    if state.chosen == 0:
        return answer_copy_whom(effect, action - OTHER)
    return answer_copy_which(effect, action - ATTACK)
