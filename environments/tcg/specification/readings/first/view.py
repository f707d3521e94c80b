"""What a player sees of a game: nothing that is hidden (96, 97)."""

import numpy as np
from state import DECK, ON_ACTIVE, PER_CARD, PLACES, SHAPES, TYPES_IN_DECK

MOST_LOOKED = 3
NUMBERS_OF_TURN = ("turn", "phase", "supporter", "retreated", "eased", "chosen", "left")


def seen_by(player, state):
    """The observation of a player, uint8 [237]. Lists are filled up with zeros."""
    own, other = player, 1 - player
    known = [card for card, seen in zip(state.hand[other], state.known[other], strict=True) if seen]
    parts = [
        _filled(state.hand[own], DECK),
        _filled(known, DECK),
        _filled(state.deck[own][: state.looked[own]], MOST_LOOKED),
        _filled(state.types[own], TYPES_IN_DECK),
        [len(state.deck[own]), len(state.deck[other]), len(state.hand[own]), len(state.hand[other])],
        _filled(state.discard[own], DECK),
        _filled(state.discard[other], DECK),
        state.zone[own] + state.zone[other],
        [state.points[own], state.points[other]],
        [getattr(state, name) for name in NUMBERS_OF_TURN],
        [state.player == own, state.asked == own],
        state.run,
        _in_play(own, state),
        _in_play(other, state) if state.turn else np.zeros(_SIZE_IN_PLAY, int),  # 23
    ]
    return np.concatenate([np.asarray(part, np.int64).reshape(-1) for part in parts]).astype(np.uint8)


def _filled(numbers, size):
    return list(numbers) + [0] * (size - len(numbers))


def _in_play(player, state):
    """Of each place what belongs to its card, as PER_CARD names it; then what lies on the active Pokémon."""
    rows = [np.asarray(getattr(state, name)[player]).reshape(PLACES, -1) for name in PER_CARD]
    on_active = [getattr(state, name)[player] for name in (*ON_ACTIVE, "gagged")]
    return np.concatenate([np.concatenate(rows, axis=1).reshape(-1), on_active])


_SIZE_IN_PLAY = sum(int(np.prod(SHAPES[name][1:])) for name in PER_CARD) + len(ON_ACTIVE) + 1
SIZE = 4 * DECK + MOST_LOOKED + TYPES_IN_DECK + 4 + 4 + 2 + len(NUMBERS_OF_TURN) + 2 + 4 + 2 * _SIZE_IN_PLAY
