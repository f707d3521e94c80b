"""Contracts of the candidates in `candidates/`, and the games once more in numpy, to judge them by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent / "candidates"


def leaf(dtype: str, *shape: int, low: Any = None, high: Any = None) -> dict[str, Any]:
    return {"dtype": dtype, "shape": list(shape), "low": low, "high": high}


DICE: dict[str, Any] = {
    "entry": str(HERE / "dice.py"),
    "x64": False,
    "mode": "tape",
    "leaves": {
        "observation/board": leaf("float32", 3),
        "observation/hand/total": leaf("int16", low=0, high=60),
        "action/bet": leaf("int64", low=0, high=3),
        "action/push": leaf("float32", 2, low=-1.0, high=1.0),
        "reward": leaf("float32"),
        "terminated": leaf("bool"),
        "truncated": leaf("bool"),
        "legal_actions": leaf("bool", 4),
        "state/board": leaf("float32", 3),
        "state/total": leaf("int32"),
        "state/turn": leaf("int32"),
    },
    "draws": {
        "deck": {"dtype": "int32", "shape": [2], "at": "reset", "capacity": 1},
        "roll": {"dtype": "int32", "shape": [], "at": "step", "capacity": 3},
        "wind": {"dtype": "float32", "shape": [3], "at": "both", "capacity": 1},
    },
    "probes": {"rules": {"inputs": {"total": leaf("int32")}, "outputs": {"legal": leaf("bool", 4)}}},
}

LCG: dict[str, Any] = {
    "entry": str(HERE / "lcg.py"),
    "x64": False,
    "mode": "shared",
    "leaves": {
        "observation": leaf("int32"),
        "action": leaf("int64", low=0, high=1),
        "reward": leaf("float32"),
        "terminated": leaf("bool"),
        "truncated": leaf("bool"),
        "state/place": leaf("int32"),
        "state/chance": leaf("uint32"),
    },
    "draws": {},
    "probes": {},
}


def dice_case(
    rng: np.random.Generator, length: int, seed: int = 0, start: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """A random case with a tape that holds exactly what its steps take."""
    bets = rng.integers(0, 4, length)

    def wind() -> list[Any]:
        return ["wind", rng.normal(size=3).astype(np.float32)]

    first = [["deck", rng.integers(1, 7, 2, dtype=np.int32)], wind()]
    # The wind comes before the dice, which is not the order in which the task names them.
    steps = [[wind(), *(["roll", np.int32(rng.integers(1, 7))] for _ in range(bet))] for bet in bets]
    case: dict[str, Any] = {
        "seed": seed,
        "actions": {"action/bet": bets, "action/push": rng.uniform(-1, 1, (length, 2)).astype(np.float32)},
        "draws": [[] if start else first, *steps],
    }
    return case | ({"start": start} if start else {})


def dice_expected(case: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The leaves of a case of the dice game, by its rules in numpy."""
    if "start" in case:
        board, total, turn = (case["start"][f"state/{name}"] for name in ("board", "total", "turn"))
    else:
        (_, deck), (_, board) = case["draws"][0]
        total, turn = deck.sum(), 0
    timesteps = [_dice_timestep(board, total, turn, 0.0)]
    for index, bet in enumerate(case["actions"]["action/bet"]):
        (_, wind), *rolls = case["draws"][index + 1]
        assert len(rolls) == bet
        won = sum(int(value) for _, value in rolls)
        push = case["actions"]["action/push"][index]
        board, total, turn = board + wind * (push[0] + push[1]), total + won, turn + 1
        timesteps.append(_dice_timestep(board, total, turn, won) | {"terminated": total > 30, "truncated": turn >= 8})
        if total > 30 or turn >= 8:
            break
    return stacked(timesteps, DICE)


def lcg_expected(seed: int, actions: Sequence[int]) -> dict[str, np.ndarray]:
    """The leaves of a case of the walk, by its rules in Python."""
    place, chance = 0, (seed >> 32) ^ (seed & 0xFFFFFFFF)
    timesteps: list[dict[str, Any]] = []
    for action in [None, *actions]:
        if action is not None:
            chance = (chance * 1664525 + 1013904223) % (1 << 32)
            place += int(action) + (chance >> 31)
        ended = place >= 5 and action is not None
        timesteps.append(
            {
                "observation": place, "reward": 0 if action is None else -1, "terminated": ended, "truncated": False,
                "state/place": place, "state/chance": chance,
            }
        )  # fmt: skip
        if ended:
            break
    return stacked(timesteps, LCG)


def stacked(timesteps: Sequence[Mapping[str, Any]], contract: Mapping[str, Any]) -> dict[str, np.ndarray]:
    return {
        path: np.array([timestep[path] for timestep in timesteps], contract["leaves"][path]["dtype"])
        for path in timesteps[0]
    }


def _dice_timestep(board: Any, total: Any, turn: Any, reward: float) -> dict[str, Any]:
    return {
        "observation/board": board,
        "observation/hand/total": total,
        "reward": reward,
        "terminated": False,
        "truncated": False,
        "legal_actions": [True, True, total <= 20, total <= 20],
        "state/board": board,
        "state/total": total,
        "state/turn": turn,
    }


def assert_equal(actual: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    """Equal leaves: paths, dtypes, shapes and values, floats within the rounding of one multiplication."""
    assert sorted(actual) == sorted(expected)
    for path, array in expected.items():
        assert (actual[path].dtype, actual[path].shape) == (array.dtype, array.shape), path
        np.testing.assert_allclose(actual[path], array, rtol=1e-5, atol=1e-6, err_msg=path)
