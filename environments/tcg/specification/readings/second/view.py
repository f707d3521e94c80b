"""What a player sees (statements 96 and 97)."""

from sheet import padded
from state import Side, State


def observe(state: State, viewer: int) -> list[int]:
    own, other = state.sides[viewer], state.sides[1 - viewer]
    seen = padded([card for card, _ in own.hand], 20)  # 96
    seen += padded([card for card, known in other.hand if known], 20)  # 96
    seen += padded(own.deck[: own.looked], 3)  # 96
    seen += padded(own.types, 3)  # 96
    seen += [len(own.deck), len(other.deck), len(own.hand), len(other.hand)]  # 96
    seen += padded(own.discard, 20) + padded(other.discard, 20)  # 96
    seen += own.zone + other.zone  # 43, 96
    seen += [own.points, other.points]
    seen += [state.turn, state.phase, state.supporter, state.retreated, state.eased, state.chosen, state.left]
    seen += [int(state.player == viewer), int(state.asked == viewer)]
    seen += state.run
    seen += side_seen(own)
    seen += side_seen(other) if state.turn else [0] * 64  # 23, 96
    return seen


def side_seen(side: Side) -> list[int]:
    seen: list[int] = []
    for spot in side.spots:
        seen += [spot.card, *padded(spot.under, 2), spot.damage, *spot.energy, spot.fresh, spot.used]
    seen += [side.mind, side.poisoned, side.burned, side.shield]
    seen += [side.no_attack, side.no_retreat, side.weakened, side.gagged]
    return seen
