"""What a player sees of a game: nothing that is hidden (96, 97)."""

import jax.numpy as jnp
from piles import at_of, placed, size
from state import wide

PLAYERS = ("p1", "p2")
MOST_LOOKED = 3


def observe(state):
    return {
        "observation": {name: _seen_by(player, state) for player, name in enumerate(PLAYERS)},
        "legal_actions": state.legal,
        "to_move": wide(state.asked),
    }


def _seen_by(own, state):
    other = 1 - own
    looked = jnp.where(jnp.arange(MOST_LOOKED) < wide(state.looked[own]), state.deck[own][:MOST_LOOKED], jnp.uint8(0))
    sizes = [size(state.deck[own]), size(state.deck[other]), size(state.hand[own]), size(state.hand[other])]
    own_turn = [state.player == own, state.asked == own]
    numbers = [state.turn, state.phase, state.supporter, state.retreated, state.eased, state.chosen, state.left]
    theirs = jnp.concatenate([state.mons[other].reshape(-1), state.marks[other]])
    parts = [
        state.hand[own],
        _known(state.hand[other], state.known[other] != 0),
        looked,
        state.types[own],
        jnp.stack(sizes).astype(jnp.uint8),
        state.discard[own],
        state.discard[other],
        state.zone[own],
        state.zone[other],
        jnp.stack([state.points[own], state.points[other], *numbers]),
        jnp.stack(own_turn).astype(jnp.uint8),
        state.run,
        state.mons[own].reshape(-1),
        state.marks[own],
        jnp.where(state.turn > 0, theirs, jnp.uint8(0)),  # 23
    ]
    return jnp.concatenate(parts)


def _known(hand, known):
    """The known cards of a hand, without gaps."""
    before = jnp.sum((at_of()[:, None] < at_of()) & known[:, None], axis=0, dtype=jnp.int32)
    return placed(hand, before, known)
