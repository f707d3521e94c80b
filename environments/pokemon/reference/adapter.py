"""Pokémon Showdown's first generation as a Lockstep reference: battles run in Node, this class is their other side.

All that decides a battle comes from the package `@pkmn/sim`, driven by `serve.mjs`. Here are the leaves, the draws by
name, the view of each player, and scripted policies.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import numpy as np
import policies
import view

PLAYERS = ("p1", "p2")
ACTIONS = 10
HERE = os.path.dirname(os.path.abspath(__file__))
NODE = os.path.join(sys.prefix, "bin", "node")
LAYOUT, RESET, STEP, RESTORE, PROBE, FORGET = range(6)
SHAPES = {"stats": (2, 6, 4), "moves": (2, 6, 4), "pp": (2, 6, 4), "types": (2, 2), "boosts": (2, 6)}
SHAPES.update(dict.fromkeys(("stored", "modified", "act_moves", "act_pp"), (2, 4)))
DRAWN = {"dv": (2, 6, 4), "effort": (2, 6, 5), "rank": (2, 6, 4)}
INT32 = ("last_damage", "trap_damage", "bide_damage")
UINT16 = ("turn", "max_hp", "hp", "stats", "stored", "modified", "substitute")
BOOL = ("slept_by_foe", "sub_fainted", "seen", "transformed", "flinch", "trapped_maybe", "recharge", "invulnerable")
BOOL += ("leech_seed", "focus_energy", "mist", "reflect", "light_screen")
SIGNED = {"boosts": "int8", "thrash_turns": "int8", "toxic": "int16"}


def dtype_of(name: str) -> str:
    if name in SIGNED:
        return SIGNED[name]
    return "int32" if name in INT32 else "uint16" if name in UINT16 else "bool" if name in BOOL else "uint8"


class Showdown:
    """The one Node process, which all battles of this process share."""

    started: Showdown | None = None

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [NODE, os.path.join(HERE, "serve.mjs")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._battles = 0
        self.layout = json.loads(bytes(self.call(LAYOUT, 0).tolist()))

    @classmethod
    def shared(cls) -> Showdown:
        """Started with the first battle. Node ends by itself when this process does, as its input ends then."""
        if cls.started is None:
            cls.started = cls()
        return cls.started

    def number(self) -> int:
        self._battles += 1
        return self._battles

    def call(self, call: int, battle: int, words: Any = ()) -> Any:
        request = np.concatenate([np.array([len(words) + 2, call, battle], np.int32), np.asarray(words, np.int32)])
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None
        try:
            stdin.write(request.tobytes())
            stdin.flush()
        except BrokenPipeError:
            self._ended()
        size = int(np.frombuffer(self._read(stdout, 4), np.int32)[0])
        answer = np.frombuffer(self._read(stdout, 4 * size), np.int32)
        if answer[0]:
            raise ValueError(bytes(answer[2:].tolist()).decode("utf-8", "replace"))
        return answer[1:]

    def _read(self, stdout: Any, size: int) -> bytes:
        data = stdout.read(size)
        if len(data) != size:
            self._ended()
        return data

    def _ended(self) -> None:
        """Nothing can be answered any more: this process ends, too. An error would be taken for a refusal."""
        raise SystemExit(f"Node, in which the battles are, has ended with status {self._process.wait()}")


class Pokemon:
    """One battle, six against six, by Showdown's rules of the first generation."""

    def __init__(self) -> None:
        self._node = Showdown.shared()
        self._battle = self._node.number()
        layout = self._node.layout
        self._names = layout["names"]
        self._codes = {name: code for code, name in enumerate(self._names)}
        self._draws = layout["draws"]
        self._fields = []
        start = 0
        for name, size in layout["fields"].items():
            shape = SHAPES.get(name) or {1: (), 2: (2,), 12: (2, 6)}[size]
            self._fields.append((name, slice(start, start + size), np.dtype(dtype_of(name)), shape))
            start += size
        self._size = start
        self._probes = {probe["name"]: (number, probe) for number, probe in enumerate(layout["probes"])}
        self._drawn: list[tuple[str, Any]] = []
        self.policies = policies.policies(layout["moves"], layout["effects"])

    def spec(self) -> dict[str, Any]:
        flag, number = {"dtype": "bool", "shape": []}, {"dtype": "float32", "shape": [], "low": -1, "high": 1}
        leaves: dict[str, Any] = {
            f"state/{name}": {"dtype": dtype.name, "shape": list(shape)} for name, _, dtype, shape in self._fields
        }
        for name in PLAYERS:
            leaves[f"observation/{name}"] = {"dtype": "int16", "shape": [view.SIZE]}
            leaves[f"legal_actions/{name}"] = {"dtype": "bool", "shape": [ACTIONS]}
            leaves[f"to_move/{name}"] = flag
            leaves[f"reward/{name}"] = number
            leaves[f"action/{name}"] = {"dtype": "int32", "shape": [], "low": 0, "high": ACTIONS - 1}
        leaves.update({"terminated": flag, "truncated": flag})
        return {
            "leaves": leaves,
            "capabilities": ["restore", "probe", "draws", "force_draws"],
            "draws": {name: self._declared(name) for name in self._names},
            "probes": {
                name: {"inputs": _leaves(probe["inputs"]), "outputs": _leaves(probe["outputs"])}
                for name, (_, probe) in self._probes.items()
            },
        }

    def reset(self, seed: int, draws: Any = None) -> dict[str, Any]:
        words = [*np.array([seed], np.int64).view(np.int32), int(draws is not None), *self._forced(draws)]
        return self._timestep(self._node.call(RESET, self._battle, words))

    def step(self, action: dict[str, Any], draws: Any = None) -> dict[str, Any]:
        words = [*(int(action[f"action/{name}"]) for name in PLAYERS), int(draws is not None), *self._forced(draws)]
        return self._timestep(self._node.call(STEP, self._battle, words))

    def restore(self, state: dict[str, Any]) -> dict[str, Any]:
        words = np.zeros(self._size, np.int32)
        for name, place, _, _ in self._fields:
            words[place] = np.asarray(state[f"state/{name}"], np.int32).reshape(-1)
        return self._timestep(self._node.call(RESTORE, self._battle, words))

    def probe(self, name: str, inputs: dict[str, Any]) -> dict[str, Any]:
        number, probe = self._probes[name]
        words = np.concatenate([[number], *(np.atleast_1d(inputs[each]) for each in probe["inputs"])])
        answer = self._node.call(PROBE, 0, words)
        outputs, start = {}, 0
        for each, size in probe["outputs"].items():
            values = answer[start : start + (size or 1)]
            outputs[each] = np.array(values) if size else np.int32(values[0])
            start += size or 1
        return outputs

    def take_draws(self) -> list[tuple[str, Any]]:
        drawn, self._drawn = self._drawn, []
        return drawn

    def close(self) -> None:
        self._node.call(FORGET, self._battle)

    def _declared(self, name: str) -> dict[str, Any]:
        return {
            "dtype": "int32",
            "shape": list(self._shape_of(name)),
            "at": "reset" if self._at_reset(name) else "step",
        }

    def _at_reset(self, name: str) -> bool:
        return self._draws[name][2] > 1

    def _shape_of(self, name: str) -> tuple[int, ...]:
        return DRAWN.get(name) or {1: (), 2: (2,), 12: (2, 6)}[self._draws[name][2]]

    def _forced(self, draws: Any) -> list[int]:
        words: list[int] = []
        for name, value in draws or ():
            if name not in self._codes:
                raise ValueError(f"there is no draw {name}")
            if np.shape(value) != self._shape_of(name):
                raise ValueError(f"the draw {name} has shape {np.shape(value)}, not {self._shape_of(name)}")
            words += [self._codes[name], *np.asarray(value, np.int64).reshape(-1).tolist()]
        return words

    def _timestep(self, answer: Any) -> dict[str, Any]:
        state = {
            name: answer[place].astype(dtype).reshape(shape) if shape else dtype.type(answer[place][0])
            for name, place, dtype, shape in self._fields
        }
        masks = answer[self._size : self._size + 2 * ACTIONS].astype(bool).reshape(2, ACTIONS)
        over, winner, *drawn = answer[self._size + 2 * ACTIONS :].tolist()
        self._drawn = list(self._named(drawn))
        timestep: dict[str, Any] = {f"state/{name}": value for name, value in state.items()}
        for player, name in enumerate(PLAYERS):
            timestep[f"observation/{name}"] = view.seen_by(player, state)
            timestep[f"legal_actions/{name}"] = masks[player]
            timestep[f"to_move/{name}"] = bool(masks[player].any())
            timestep[f"reward/{name}"] = 0.0 if not winner else 1.0 if winner == player + 1 else -1.0
        return dict(timestep, terminated=bool(over), truncated=False)

    def _named(self, drawn: list[int]) -> Any:
        at = 0
        while at < len(drawn):
            name = self._names[drawn[at]]
            shape, size = self._shape_of(name), self._draws[name][2]
            values = np.array(drawn[at + 1 : at + 1 + size], np.int32)
            yield name, values.reshape(shape) if shape else values[0]
            at += 1 + size


def _leaves(sizes: dict[str, int]) -> dict[str, Any]:
    return {name: {"dtype": "int32", "shape": [size] if size else []} for name, size in sizes.items()}
