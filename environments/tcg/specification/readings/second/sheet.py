"""The leaves: their form, and how a state is written in them and read from them."""

import numpy as np
from chance import LAWS
from state import Side, Spot, State

ACTIONS = 52  # 92
SEEN = 237

# Of the whole game, one number each.
GAME = ["turn", "phase", "player", "asked", "stage", "supporter", "retreated", "eased", "chosen", "left"]
# Of each player: numbers, and lists of a length.
SIDE = ["looked", "points", "mind", "poisoned", "burned", "shield", "no_attack", "no_retreat", "weakened", "gagged"]
SIDE_LISTS = {"zone": 2, "types": 3, "deck": 20, "discard": 20}
# Of each place.
SPOT = ["card", "damage", "fresh", "used"]
SPOT_LISTS = {"under": 2, "energy": 8}

STATE_SHAPES: dict[str, list[int]] = {
    **{name: [] for name in GAME},
    "run": [4],
    **{name: [2] for name in SIDE},
    **{name: [2, length] for name, length in SIDE_LISTS.items()},
    "hand": [2, 20],
    "known": [2, 20],
    **{name: [2, 4] for name in SPOT},
    **{name: [2, 4, length] for name, length in SPOT_LISTS.items()},
}


def make_spec() -> dict:
    leaves: dict[str, dict] = {
        "state/" + name: {"dtype": "uint8", "shape": shape} for name, shape in STATE_SHAPES.items()
    }
    leaves["terminated"] = leaves["truncated"] = {"dtype": "bool", "shape": []}
    leaves["reward/p1"] = leaves["reward/p2"] = {"dtype": "float32", "shape": []}
    leaves["to_move"] = {"dtype": "int32", "shape": [], "low": 0, "high": 1}
    leaves["legal_actions"] = {"dtype": "bool", "shape": [ACTIONS]}
    leaves["observation/p1"] = leaves["observation/p2"] = {"dtype": "uint8", "shape": [SEEN]}
    leaves["action"] = {"dtype": "int32", "shape": [], "low": 0, "high": ACTIONS - 1}
    moments = {"shuffle": "both", "energy": "both", "coin": "step", "pick": "step"}
    draws = {
        name: {"dtype": "int32", "shape": list(shape), "at": moments.get(name, "reset")}
        for name, (shape, _) in LAWS.items()
    }
    return {"leaves": leaves, "draws": draws, "capabilities": ["restore", "draws", "force_draws"]}


def padded(values: list[int], length: int) -> list[int]:
    """A list that is shorter than its leaf is filled up with zeros."""
    if len(values) > length:
        raise ValueError(f"{len(values)} numbers where there is room for {length}")
    return values + [0] * (length - len(values))


def without_zeros(values: list[int]) -> list[int]:
    return [value for value in values if value]


def write_state(state: State) -> dict[str, np.ndarray]:
    values: dict[str, object] = {name: getattr(state, name) for name in GAME}
    values["run"] = state.run
    sides = state.sides
    for name in SIDE:
        values[name] = [getattr(side, name) for side in sides]
    for name, length in SIDE_LISTS.items():
        values[name] = [padded(getattr(side, name), length) for side in sides]
    values["hand"] = [padded([card for card, _ in side.hand], 20) for side in sides]
    values["known"] = [padded([known for _, known in side.hand], 20) for side in sides]
    for name in SPOT:
        values[name] = [[getattr(spot, name) for spot in side.spots] for side in sides]
    for name, length in SPOT_LISTS.items():
        values[name] = [[padded(getattr(spot, name), length) for spot in side.spots] for side in sides]
    return {"state/" + name: np.array(value, dtype=np.uint8) for name, value in values.items()}


def read_state(leaves: dict) -> State:
    values = {name: np.asarray(leaves["state/" + name]).tolist() for name in STATE_SHAPES}
    state = State(**{name: values[name] for name in GAME}, run=values["run"])
    state.sides = [read_side(values, player) for player in range(2)]
    return state


def read_side(values: dict, player: int) -> Side:
    mine = {name: value[player] for name, value in values.items() if name not in GAME and name != "run"}
    side = Side(**{name: mine[name] for name in SIDE}, zone=mine["zone"])
    for name in ("types", "deck", "discard"):
        setattr(side, name, without_zeros(mine[name]))
    side.hand = [(card, known) for card, known in zip(mine["hand"], mine["known"], strict=True) if card]
    side.spots = [
        Spot(
            **{name: mine[name][place] for name in SPOT},
            under=without_zeros(mine["under"][place]),
            energy=mine["energy"][place],
        )
        for place in range(4)
    ]
    return side
