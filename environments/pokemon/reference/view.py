"""What a player sees of a battle: all of the own team, and of the other what has been in the battle."""

from __future__ import annotations

from typing import Any

import numpy as np

SIZE = 176
FLAGS = ("focus_energy", "mist", "reflect", "light_screen")


def seen_by(player: int, state: dict[str, Any]) -> np.ndarray:
    """The observation of a player, int16 of shape (176,): own team 84, who fights 36; other team 30, who fights 25; turn."""
    own, other = player, 1 - player
    return np.concatenate(
        [_team(own, state), _active(own, state), _others(other, state), _other_active(other, state), [state["turn"]]]
    ).astype(np.int16)


def _team(side: int, state: dict[str, Any]) -> np.ndarray:
    columns = [state[name][side] for name in ("species", "level", "hp", "max_hp", "status")]
    is_active = np.arange(6) == state["active"][side]
    return np.column_stack([*columns, is_active, state["moves"][side], state["pp"][side]]).astype(np.int32).reshape(-1)


def _active(side: int, state: dict[str, Any]) -> np.ndarray:
    numbers = [state[name][side] for name in ("boosts", "types", "modified", "act_moves", "act_pp")]
    disabled = int(state["disable_slot"][side]) + 1 if state["disable_turns"][side] else 0
    return np.concatenate([*numbers, _volatile(side, state, state["substitute"][side], disabled, "trapped")])


def _others(side: int, state: dict[str, Any]) -> np.ndarray:
    hp, most = state["hp"][side].astype(np.int32), state["max_hp"][side].astype(np.int32)
    percent = np.where((hp < most) & (100 * hp > 99 * most), 99, -(-100 * hp // np.maximum(most, 1)))
    is_active = np.arange(6) == state["active"][side]
    rows = np.column_stack([state["species"][side], state["level"][side], percent, state["status"][side], is_active])
    return (rows.astype(np.int32) * state["seen"][side][:, None]).reshape(-1)


def _other_active(side: int, state: dict[str, Any]) -> np.ndarray:
    numbers = [state["boosts"][side], state["types"][side], [state["last_move"][side]]]
    substitute, disabled = state["substitute"][side] > 0, state["disable_turns"][side] > 0
    return np.concatenate([*numbers, _volatile(side, state, substitute, disabled, "trap_turns")])


def _volatile(side: int, state: dict[str, Any], substitute: Any, disabled: Any, trap: str) -> list[int]:
    """16 numbers: what is on a Pokémon until it leaves."""

    def has(name: str) -> bool:
        return bool(state[name][side] > 0)

    numbers = [has("confusion"), substitute, state["leech_seed"][side], *(state[name][side] for name in FLAGS)]
    numbers += [state["recharge"][side], has("thrash_move"), has("two_turn"), state["invulnerable"][side]]
    numbers += [has("bide_turns"), has("rage"), disabled, state["toxic"][side] >= 0, has(trap)]
    return [int(number) for number in numbers]
