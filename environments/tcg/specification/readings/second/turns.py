"""How turns begin and end, and what lies between them (statements 30, 43 to 45, 53 to 58, 62 to 64)."""

from board import add_damage, add_to_discard, change_active, draw_card, take_out
from chance import Chance
from state import ASLEEP, CLEAR, FILLING, IN_TURN, OVER, PARALYSED, PLACES, State

LAST_TURN = 30  # 57
POINTS_TO_WIN = 3  # 54


def draw_energy(state: State, player: int, chance: Chance) -> int:
    """45: the number of a type of the deck."""
    types = state.sides[player].types
    return types[chance.take("energy") % len(types)]  # 45


def begin_turn(state: State, chance: Chance) -> None:
    """30: the next turn begins; the first is of who goes first (24)."""
    if state.turn > 0:
        state.player = 1 - state.player  # 29
    state.turn += 1  # 29
    state.stage = 0
    if state.turn > 1:  # 44
        state.me.zone = [state.me.zone[1], draw_energy(state, state.player, chance)]  # 44
    draw_card(state.me)  # 30
    go_on_in_turn(state)


def go_on_in_turn(state: State) -> None:
    """32: who is in turn is asked what to do."""
    state.run_nothing()
    state.phase, state.asked = IN_TURN, state.player  # 32, 93


def end_turn(state: State) -> None:
    """What lasts until the end of the turn ends: 36, 39, 42, 46, 73 to 76, 87."""
    state.run_nothing()
    state.stage = 1  # 49, 106
    state.me.zone[0] = 0  # 46, 106
    state.supporter, state.retreated, state.eased = 0, 0, 0  # 36, 42, 87, 106
    for side in state.sides:
        for spot in side.spots:
            spot.fresh, spot.used = 0, 0  # 34, 39, 106
    state.me.no_attack, state.me.no_retreat = 0, 0  # 74
    state.me.weakened = 0  # 75
    state.me.gagged = 0  # 76
    state.other.shield = 0  # 73


def after_attack(state: State, chance: Chance) -> None:
    """49: the turn ends."""
    end_turn(state)
    settle(state, chance)  # 53


def pass_turn(state: State, chance: Chance) -> None:
    """32: action 0 ends the turn."""
    end_turn(state)
    after_turn(state, chance)


def settle(state: State, chance: Chance) -> None:
    """53 to 57: knockouts, the end of the game, and empty active spots."""
    knock_out(state)  # 53
    reasons = [reasons_to_win(state, player) for player in range(2)]  # 54
    if any(reasons):
        end_game(state, reasons)  # 54
    elif state.stage == 2 and state.turn == LAST_TURN:
        end_game(state, [0, 0])  # 57, 105
    else:
        fill(state, chance)  # 55


def knock_out(state: State) -> None:
    """53: Pokémon whose damage is their hit points."""
    for player, side in enumerate(state.sides):
        for place in PLACES:
            spot = side.spots[place]
            if spot.card and spot.damage >= spot.pokemon.hp:  # 53
                state.sides[1 - player].points += 2 if spot.pokemon.is_ex else 1  # 53
                add_to_discard(side, take_out(side, place))  # 53


def reasons_to_win(state: State, player: int) -> int:
    """54: how many reasons a player has."""
    points = state.sides[player].points >= POINTS_TO_WIN  # 54
    alone = not state.sides[1 - player].in_play()  # 54
    return int(points) + int(alone)


def end_game(state: State, reasons: list[int]) -> None:
    """54, 56: who has more reasons wins."""
    state.run_nothing()
    state.phase, state.asked = OVER, state.player  # ? 54: `stage` stays as it was when the game ended
    if reasons[0] != reasons[1]:
        winner = 0 if reasons[0] > reasons[1] else 1  # 54
        state.paid[winner], state.paid[1 - winner] = 1, -1  # 56


def fill(state: State, chance: Chance) -> None:
    """55: empty active spots are filled, first that of who is not in turn; then what follows."""
    for player in (1 - state.player, state.player):  # 55
        if not state.sides[player].active.card:
            state.run_nothing()
            state.run = [0, FILLING, 0, 0]
            state.ask(player)  # 55, 94
            return
    if state.stage == 0:
        go_on_in_turn(state)
    elif state.stage == 1:
        after_turn(state, chance)
    else:
        begin_turn(state, chance)  # 64


def answer_fill(state: State, place: int, chance: Chance) -> None:
    """55: a benched Pokémon moves to the active spot."""
    change_active(state.sides[state.asked], place)  # 55
    fill(state, chance)


def after_turn(state: State, chance: Chance) -> None:
    """62, 64: the checkup follows each turn, then its knockouts."""
    for player in (state.player, 1 - state.player):  # 62
        checkup(state, player, chance)
    state.stage = 2
    settle(state, chance)  # 64, 101


def checkup(state: State, player: int, chance: Chance) -> None:
    """62, 63: what conditions do to a player's active Pokémon."""
    side = state.sides[player]
    if side.poisoned:
        add_damage(side.active, 10)  # 62
    if side.burned:
        add_damage(side.active, 20)  # 62
        if chance.take("coin"):
            side.burned = 0  # 62
    if side.mind == ASLEEP and chance.take("coin"):
        side.mind = CLEAR  # 62
    if side.mind == PARALYSED and player == state.player:
        side.mind = CLEAR  # 63
