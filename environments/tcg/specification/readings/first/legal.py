"""Which actions are legal (92, 93)."""

from cards import fits
from questions import (
    ACTIONS,
    ATTACK,
    CHARGE,
    END_OR_DONE,
    HAND,
    LEAVE,
    QUESTIONS,
    SCRAP,
    USE,
    affordable,
    evolving,
    retreat_cost,
)
from state import ABILITY, ACTIVE, ASKED, ASLEEP, MAIN, OVER, PARALYSED, PLACE_ACTIVE, PLACE_BENCH, TRAINER
from words import TYPES, Effect


def legal(match):
    """A list of `ACTIONS` bools."""
    state = match.state
    if state.phase == OVER:
        actions = []
    elif state.phase == ASKED:
        effect, words = match.running()
        name, *arguments = words[state.run[2]]
        actions = QUESTIONS[name].answers(effect, arguments)
    elif state.phase == MAIN:
        actions = list(_in_turn(match))
    else:
        actions = list(_placing(match))
    return [action in actions for action in range(ACTIONS)]


def _placing(match):
    """Basic Pokémon of the hand; nothing more, once somebody is active (22)."""
    state = match.state
    if state.phase == PLACE_BENCH:
        yield END_OR_DONE
    if state.phase == PLACE_ACTIVE or state.room(state.asked) is not None:
        for at, number in enumerate(state.hand[state.asked]):
            if match.catalogue[number].is_basic:
                yield HAND + at


def _in_turn(match):
    state, player = match.state, match.state.player
    yield END_OR_DONE  # 32
    for at, number in enumerate(state.hand[player]):
        if _playable(match, match.catalogue[number]):
            yield HAND + at
    active = match.catalogue[state.card[player][ACTIVE]]
    if state.mind[player] not in (ASLEEP, PARALYSED):
        for at, attack in enumerate(active.attacks):
            if not state.no_attack[player] and affordable(attack.cost, state.energy[player][ACTIVE]):  # 47
                yield ATTACK + at
        if _may_retreat(state, player, active):
            yield LEAVE
    for place in state.in_play(player):
        card = match.catalogue[state.card[player][place]]
        if _may_use(match, card, place):
            yield USE + place
        if state.zone[player][0]:
            yield CHARGE + place  # 46
        if card.kind == "fossil" and len(state.in_play(player)) > 1:
            yield SCRAP + place  # 40


def _may_retreat(state, player, active):
    free = not state.retreated and not state.no_retreat[player] and active.kind != "fossil"  # 42
    enough = sum(state.energy[player][ACTIVE]) >= retreat_cost(state, active)
    return free and enough and bool(state.benched(player))


def _may_use(match, card, place):
    state, player = match.state, match.state.player
    if not card.ability or state.used[player][place] or (card.ability_of_active and place != ACTIVE):
        return False  # 39
    return _can_do(Effect(state, match.catalogue, match.chance, player, place, ABILITY), card.ability[0])


def _playable(match, card):
    state, player = match.state, match.state.player
    if card.is_basic or card.kind == "fossil":
        return state.room(player) is not None  # 33
    if card.kind == "pokemon":
        return bool(evolving(state, match.catalogue, player, card))
    if card.kind == "supporter" and not _supporters_allowed(match, player):
        return False
    return _can_do(Effect(state, match.catalogue, match.chance, player, ACTIVE, TRAINER), card.effect[0])


def _supporters_allowed(match, player):
    """One in a turn (36), unless the player is gagged (76) or silenced (90)."""
    state = match.state
    silenced = match.catalogue[state.card[1 - player][ACTIVE]].constant("silence")
    return not (state.supporter or state.gagged[player] or silenced)


def _can_do(effect, word):
    """Whether the first word of a trainer or an ability can do something (38)."""
    state, player, other = effect.state, effect.player, effect.other
    name, *arguments = word
    active = effect.card(player, ACTIVE)
    if name == "choose":
        return bool(QUESTIONS[name].answers(effect, arguments))
    if name == "heal":
        return any(state.damage[player])
    if name == "push":
        return bool(state.benched(other))
    if name in ("draw", "look", "find"):
        return bool(state.deck[player])
    if name in ("show", "redraw"):
        return bool(state.hand[other])
    if name == "lift":
        return fits(active, arguments) and bool(state.benched(player))
    if name == "gather":
        at = TYPES.index(arguments[0])
        return fits(active, arguments[1:]) and any(state.energy[player][place][at] for place in state.benched(player))
    if name == "charge" and arguments[0] == "active":
        return active.type == arguments[1]
    return True
