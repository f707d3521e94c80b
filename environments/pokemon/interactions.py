"""Level 2 of the battles: short fights from states in which something rare is about to happen.

Battles come to most of these once in thousands of turns. Who plays has moves of any kind, and lasts as long as it takes.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import hypothesis.strategies as st

from lockstep import Task, sequence

State = dict[str, Any]
Change = Callable[[State, int, Random], None]
"""What is done to a state for one side."""

KINDS = {1: (11, 4), 6: (9, 3), 9: (10, 0), 15: (7, 4), 65: (13, 0), 68: (2, 0), 94: (8, 4), 95: (6, 5)}
KINDS |= {101: (12, 0), 131: (10, 14), 132: (1, 0), 143: (1, 0), 149: (15, 3), 151: (13, 0)}
"""Species and their types: one of each type at least."""
ASLEEP, POISONED, BURNED, FROZEN, PARALYSED, BADLY_POISONED = 1, 2, 3, 4, 5, 6
FLY, BIND, WRAP, THRASH, COUNTER, PETAL_DANCE, FIRE_SPIN, DIG, RAGE, MIMIC = 19, 20, 35, 37, 68, 80, 83, 91, 99, 102
HAZE, BIDE, METRONOME, MIRROR_MOVE, TRANSFORM, EXPLOSION, REST = 114, 117, 118, 119, 144, 153, 156
SUBSTITUTE, SOLAR_BEAM, DISABLE, RECOVER, LEECH_SEED, TOXIC = 164, 76, 50, 105, 73, 92
POUND, HYPER_BEAM, SWIFT, STRUGGLE = 1, 63, 129, 165
NOTHING = -1
"""Stands for a side that has chosen nothing, until a state is whole; 0 is what nobody has spoken of."""
ODD = (
    METRONOME,
    MIRROR_MOVE,
    MIMIC,
    TRANSFORM,
    COUNTER,
    BIDE,
    SUBSTITUTE,
    HAZE,
    DISABLE,
    RAGE,
    WRAP,
    DIG,
    THRASH,
    REST,
)
PER_SIDE = {
    "request": 1, "active": 0, "selected": 0, "slot": 0, "side_last": 0, "transformed": False, "last_move": 0,
    "confusion": 0, "flinch": False, "trapped": 0, "trapped_maybe": False, "fake_trapped": 0, "trap_turns": 0,
    "trap_total": 0, "trap_damage": 0, "trap_move": 0, "trap_target": 0, "recharge": False, "thrash_move": 0,
    "thrash_turns": 0, "thrash_accuracy": 0, "two_turn": 0, "invulnerable": False, "bide_turns": 0, "bide_damage": 0,
    "disable_turns": 0, "disable_slot": 0, "disable_move": 0, "substitute": 0, "leech_seed": False,
    "focus_energy": False, "mist": False, "reflect": False, "light_screen": False, "rage": 0, "toxic": -1,
}  # fmt: skip
ATTACKS = (29, 44, 23, 51, 132, 61, 94, 53, 87, 58, 34, 60, 138, 162, 3, 24, 41, 71, 38, 63, 120, 26, 149, 101, 12, 35)
"""Moves that make flinch, lower, burn, paralyse, freeze, confuse, drain, hit more than once, and others."""
HARD = ("recharge", "thrash_move", "two_turn", "rage")
"""Who has one of these may not leave either."""
DAMAGES = (0, 1, 37, 40, 200, 300, 65535)
"""What was done last; a move that takes all does the most."""
PER_PLACE = ("species", "level", "max_hp", "hp", "status", "sleep", "slept_by_foe", "sub_fainted", "seen")


def _battle(random: Random) -> State:
    """Two teams of strong and of weak Pokémon, the first of each in the battle and unhurt or nearly beaten."""
    state: State = {name: [value, value] for name, value in PER_SIDE.items()}
    state |= {name: [[0] * 6 for _ in range(2)] for name in PER_PLACE}
    state |= {name: [[[0] * 4 for _ in range(6)] for _ in range(2)] for name in ("stats", "moves", "pp")}
    state |= {"turn": random.choice([2, 40, 999, 1000]), "last_damage": random.choice(DAMAGES)}
    state |= {name: [[0] * 4, [0] * 4] for name in ("stored", "modified", "act_moves", "act_pp")}
    state |= {"types": [[0] * 2, [0] * 2], "boosts": [[0] * 6, [0] * 6]}
    for side in range(2):
        for place in range(6):
            _fill(state, side, place, random)
        _enter(state, side)
    return state


def _fill(state: State, side: int, place: int, random: Random) -> None:
    most = random.choice([3, 20, 150, 255, 300, 511, 703])
    values = {
        "species": random.choice(list(KINDS)),
        "level": random.choice([1, 2, 50, 74, 100]),
        "max_hp": most,
        "hp": random.choice([most, most, max(1, most // 16), 1, max(1, most - 255)]),
        "seen": place == 0,
    }
    if place and random.random() < 0.3:
        values["hp"] = 0
    for name, value in values.items():
        state[name][side][place] = value
    state["stats"][side][place] = [random.choice([1, 5, 80, 200, 256, 400, 999]) for _ in range(4)]
    some = random.sample(ODD, 2) + random.sample(range(1, 165), 2)
    random.shuffle(some)
    state["moves"][side][place] = some
    state["pp"][side][place] = [random.choice([0, 1, 5, 10, 63]) if random.random() < 0.2 else 8 for _ in range(4)]


def _enter(state: State, side: int) -> None:
    """The first of the team is the one who fights."""
    state["types"][side] = list(KINDS[state["species"][side][0]])
    state["stored"][side] = list(state["stats"][side][0])
    state["modified"][side] = list(state["stats"][side][0])
    state["act_moves"][side] = list(state["moves"][side][0])
    state["act_pp"][side] = list(state["pp"][side][0])


def _teach(state: State, side: int, slot: int, move: int) -> None:
    """The one who fights has this move in this slot, and chose it last."""
    for moves in (state["moves"][side][0], state["act_moves"][side]):
        if move in moves:
            moves[moves.index(move)] = moves[slot]
        moves[slot] = move
    for points in (state["pp"][side][0], state["act_pp"][side]):
        points[slot] = max(points[slot], 1)
    state["selected"][side], state["slot"][side] = move, slot


# --- what may be on a Pokémon -----------------------------------------------------------------------------------------


def _status(state: State, side: int, random: Random) -> None:
    status = random.choice([ASLEEP, POISONED, BURNED, FROZEN, PARALYSED, BADLY_POISONED])
    state["status"][side][0] = status
    if status == ASLEEP:
        state["sleep"][side][0] = random.randint(1, 7)
        state["slept_by_foe"][side][0] = random.random() < 0.7
    if status == BADLY_POISONED or random.random() < 0.3:
        state["toxic"][side] = random.choice([0, 1, 2, 15])


def _bench_asleep(state: State, side: int, random: Random) -> None:
    place = random.randint(1, 5)
    if state["hp"][side][place]:
        state["status"][side][place] = random.choice([ASLEEP, FROZEN, PARALYSED, POISONED, BADLY_POISONED])
        if state["status"][side][place] == ASLEEP:
            state["sleep"][side][place] = random.randint(1, 7)
            state["slept_by_foe"][side][place] = random.random() < 0.7


def _confused(state: State, side: int, random: Random) -> None:
    state["confusion"][side] = random.randint(1, 5)


def _substitute(state: State, side: int, random: Random) -> None:
    state["substitute"][side] = random.choice([1, 2, 30, 90])


def _seeded(state: State, side: int, random: Random) -> None:
    state["leech_seed"][side] = True
    if random.random() < 0.4:
        state["toxic"][side] = random.choice([0, 1, 3, 14])


def _screens(state: State, side: int, random: Random) -> None:
    for name in ("focus_energy", "mist", "reflect", "light_screen"):
        state[name][side] = random.random() < 0.5


def _stages(state: State, side: int, random: Random) -> None:
    state["boosts"][side] = [random.randint(-6, 6) for _ in range(6)]
    state["modified"][side] = [random.choice([1, 2, 150, 998, 999, value]) for value in state["modified"][side]]


def _recharging(state: State, side: int, random: Random) -> None:
    _teach(state, side, random.randrange(4), HYPER_BEAM)
    state["recharge"][side] = True


def _thrashing(state: State, side: int, random: Random) -> None:
    move = random.choice([THRASH, PETAL_DANCE])
    _teach(state, side, random.randrange(4), move)
    state["thrash_move"][side], state["thrash_turns"][side] = move, random.randint(1, 3)
    state["thrash_accuracy"][side] = random.choice([1, 84, 255])


def _charging(state: State, side: int, random: Random) -> None:
    move = random.choice([FLY, DIG, SOLAR_BEAM])
    _teach(state, side, random.randrange(4), move)
    state["two_turn"][side] = move
    state["invulnerable"][side] |= move != SOLAR_BEAM


def _left_hidden(state: State, side: int, random: Random) -> None:
    """Who was fully paralysed in the air or below the ground stays there."""
    state["invulnerable"][side] = True


def _biding(state: State, side: int, random: Random) -> None:
    _teach(state, side, random.randrange(4), BIDE)
    state["bide_turns"][side], state["bide_damage"][side] = random.randint(1, 3), random.choice([0, 1, 40, 300, 40000])
    if random.random() < 0.3:
        _called(state, side, random)


def _raging(state: State, side: int, random: Random) -> None:
    _teach(state, side, random.randrange(4), RAGE)
    state["rage"][side] = random.choice([1, 100, 255])


def _trapping(state: State, side: int, random: Random) -> None:
    move = random.choice([BIND, WRAP, FIRE_SPIN])
    _teach(state, side, random.randrange(4), move)
    total = random.randint(2, 5)
    left = random.randint(1, total)
    state["trap_turns"][side], state["trap_total"][side] = left, total
    state["trap_damage"][side], state["trap_move"][side] = random.choice([0, 1, 50]), move
    state["trapped"][1 - side], state["trapped_maybe"][1 - side] = random.randint(1, 2), left < total
    if random.random() < 0.4:
        _called(state, side, random)


def _called(state: State, side: int, random: Random) -> None:
    """What it is in the middle of was called: another move stands in its slot, perhaps without points."""
    slot = state["slot"][side]
    for moves in (state["moves"][side][0], state["act_moves"][side]):
        moves[slot] = random.choice([METRONOME, MIRROR_MOVE])
    for points in (state["pp"][side][0], state["act_pp"][side]):
        points[slot] = random.choice([0, 1, 8])


def _was_trapping(state: State, side: int, random: Random) -> None:
    state["fake_trapped"] = [random.randint(1, 2)] * 2


def _disabled(state: State, side: int, random: Random) -> None:
    slot = random.randrange(4)
    state["disable_turns"][side], state["disable_slot"][side] = random.randint(1, 8), slot
    state["disable_move"][side] = state["act_moves"][side][slot]
    if random.random() < 0.3:  # it is all that has points
        for points in (state["pp"][side][0], state["act_pp"][side]):
            points[:] = [left if place == slot else 0 for place, left in enumerate(points)]


def _flinching(state: State, side: int, random: Random) -> None:
    state["flinch"][side] = True


def _another(state: State, side: int, random: Random) -> None:
    """Transformed: other types, stats and moves than its own."""
    state["transformed"][side] = True
    state["types"][side] = list(random.choice(list(KINDS.values())))
    state["stored"][side] = [random.choice([1, 100, 400, 999]) for _ in range(4)]
    state["modified"][side] = list(state["stored"][side])
    state["act_moves"][side] = random.sample(range(1, 165), 4)
    state["act_pp"][side] = [random.choice([0, 1, 5]) for _ in range(4)]


def _remembers(state: State, side: int, random: Random) -> None:
    state["side_last"][side] = random.choice([0, 1, 34, COUNTER, METRONOME, SWIFT, 120])
    state["last_move"][side] = random.choice([0, 1, MIRROR_MOVE, METRONOME, SOLAR_BEAM, 34])
    state["sub_fainted"][side][0] = random.random() < 0.5


def _countering(state: State, side: int, random: Random) -> None:
    """It counters; the other may not come to move, and what it used and what it chose last are two moves."""
    _teach(state, side, random.randrange(4), COUNTER)
    state["last_damage"] = random.choice(DAMAGES)
    state["side_last"][1 - side] = random.choice([0, 1, 34, COUNTER, SWIFT, 120])
    state["selected"][1 - side] = random.choice([0, 1, 34, COUNTER, SWIFT, 85])
    if random.random() < 0.6:
        _status(state, 1 - side, random)
    if random.random() < 0.3:
        _substitute(state, 1 - side, random)


def _transforming(state: State, side: int, random: Random) -> None:
    _teach(state, side, random.randrange(4), TRANSFORM)
    if random.random() < 0.5:
        _another(state, 1 - side, random)


def _calling(state: State, side: int, random: Random) -> None:
    """It calls another move, perhaps as somebody else."""
    move = random.choice([METRONOME, MIRROR_MOVE, MIMIC])
    if random.random() < 0.3:
        _another(state, side, random)
    _teach(state, side, random.randrange(4), move)
    state["last_move"][1 - side] = random.choice(
        [0, 1, SOLAR_BEAM, FLY, WRAP, THRASH, METRONOME, EXPLOSION, HYPER_BEAM]
    )


def _attacking(state: State, side: int, random: Random) -> None:
    """It uses what does something beside its damage, or to who has something on it."""
    _teach(state, side, random.randrange(4), random.choice(ATTACKS))


def _healing(state: State, side: int, random: Random) -> None:
    """It heals itself where that may fail, or clears what is on both."""
    _teach(
        state, side, random.randrange(4), random.choice([RECOVER, 135, REST, HAZE, HAZE, SUBSTITUTE, LEECH_SEED, TOXIC])
    )
    most = random.choice([300, 511, 512, 703, 767])
    state["max_hp"][side][0] = most
    state["hp"][side][0] = max(1, most - random.choice([0, 1, 254, 255, 256, 510, 511, 512]))


def _interrupted(state: State, side: int, random: Random) -> None:
    """What it is in the middle of is disabled, or it is confused, asleep, paralysed or flinches."""
    random.choice(LOCKS)(state, side, random)
    state["disable_turns"][side] = random.choice([0, 2, 5])
    state["disable_slot"][side], state["disable_move"][side] = state["slot"][side], state["selected"][side]
    random.choice((_status, _confused, _flinching, _left_hidden))(state, side, random)


def _thrashing_confused(state: State, side: int, random: Random) -> None:
    _thrashing(state, side, random)
    state["thrash_turns"][side], state["confusion"][side] = 1, random.randint(0, 5)


def _ghost(state: State, side: int, random: Random) -> None:
    state["species"][side][0], state["types"][side] = 94, list(KINDS[94])


def _asleep(state: State, side: int, random: Random) -> None:
    state["status"][side][0], state["sleep"][side][0] = ASLEEP, random.randint(1, 7)
    state["slept_by_foe"][side][0] = random.random() < 0.5


def _frozen(state: State, side: int, random: Random) -> None:
    state["status"][side][0] = FROZEN


def _stale(state: State, side: int, random: Random) -> None:
    """It cannot choose, and its side chose last what another one knew, or nothing yet."""
    random.choice((_asleep, _frozen))(state, side, random)
    state["slot"][side], state["selected"][side] = 0, random.choice([NOTHING, 34, 85, HYPER_BEAM, 166])


def _few(state: State, side: int, random: Random) -> None:
    """Two of a team live, and what these can do may bring no battle to an end."""
    kind = random.choice(["transform", "ghosts", "spent", "frozen", "any"])
    state["hp"][side][2:] = [0] * 4
    for place in range(2):
        if kind == "transform":
            state["moves"][side][place], state["pp"][side][place] = [TRANSFORM, 0, 0, 0], [8, 0, 0, 0]
        if kind == "ghosts":
            state["species"][side][place] = 94
        if kind in ("spent", "ghosts") and random.random() < 0.8:
            state["pp"][side][place] = [0] * 4
        if kind == "frozen" and state["hp"][side][place]:
            state["status"][side][place] = FROZEN
    _enter(state, side)
    if random.random() < 0.3:
        _another(state, side, random)
        state["act_pp"][side] = random.choice([[0] * 4, state["act_pp"][side]])
        if random.random() < 0.3:
            state["act_moves"][side], state["act_pp"][side] = [TRANSFORM, 0, 0, 0], [5, 0, 0, 0]


def _telling(state: State, side: int, random: Random) -> None:
    """A move beside what on the other tells how it works."""
    move, conditions = random.choice(TELLING)
    _teach(state, side, random.randrange(4), move)
    for condition in conditions:
        if random.random() < 0.9:
            condition(state, 1 - side, random)


def _last_quarter(state: State, side: int, random: Random) -> None:
    """Its substitute may be its end, and somebody lives on what that costs."""
    _teach(state, side, random.randrange(4), SUBSTITUTE)
    state["max_hp"][side][0], state["hp"][side][0] = 300, random.choice([74, 75, 76])
    _seeded(state, side, random)
    state["hp"][1 - side][0] = max(1, state["max_hp"][1 - side][0] // 2)


ABOUT_TO: tuple[Change, ...] = (_countering, _transforming, _calling)
LOCKS: tuple[Change, ...] = (_recharging, _thrashing, _charging, _biding, _raging, _trapping)
TELLING: tuple[tuple[int, tuple[Change, ...]], ...] = (
    (138, (_asleep, _substitute)), (147, (_recharging,)), (79, (_substitute, _bench_asleep)), (29, (_recharging,)),
    (23, (_recharging, _substitute)), (51, (_screens,)), (132, (_screens,)), (45, (_screens, _substitute)),
    (53, (_frozen, _substitute)), (58, (_bench_asleep,)), (EXPLOSION, (_substitute, _raging)), (HYPER_BEAM, (_substitute,)),
    (LEECH_SEED, (_substitute,)), (TOXIC, (_substitute,)), (93, (_substitute, _confused)), (48, (_substitute, _confused)),
    (DISABLE, (_raging,)), (149, (_raging,)), (3, (_substitute, _raging)), (38, (_substitute,)), (71, (_substitute,)),
    (HAZE, (_status, _charging)), (WRAP, (_recharging, _substitute)), (162, (_substitute,)),
    (26, (_left_hidden, _substitute)), (147, (_recharging, _status)), (147, (_recharging, _confused)),
    (FIRE_SPIN, (_frozen,)), (LEECH_SEED, (_another,)), (TOXIC, (_another,)), (TOXIC, (_seeded,)), (SWIFT, (_left_hidden,)),
    (28, (_status,)), (149, (_raging, _substitute)), (EXPLOSION, (_left_hidden, _raging)), (RAGE, (_substitute,)),
    (53, (_stale,)), (126, (_stale,)), (HAZE, (_stale,)), (137, (_ghost,)), (49, (_ghost,)), (STRUGGLE, ()),
)  # fmt: skip
MIDDLES: tuple[Change, ...] = (*LOCKS, _interrupted, _thrashing_confused, _stale)
OTHERS: tuple[Change, ...] = (
    _status, _bench_asleep, _confused, _substitute, _seeded, _screens, _stages, _left_hidden, _disabled, _flinching,
    _another, _remembers, _was_trapping,
)  # fmt: skip


def _case(state: State, random: Random, steps: int) -> dict[str, Any]:
    def choice(side: int) -> int:
        if random.random() < 0.15 and not any(state[name][side] for name in HARD):
            return 4 + random.choice([place for place in range(1, 6) if state["hp"][side][place]] or [0])
        barred = state["disable_slot"][side] if state["disable_turns"][side] else -1
        usable = [
            slot
            for slot in range(4)
            if state["act_pp"][side][slot] and state["act_moves"][side][slot] and slot != barred
        ]
        if not usable or any(_locked(state, side)):
            return 0
        return state["slot"][side] if state["slot"][side] in usable and random.random() < 0.8 else random.choice(usable)

    actions = [{"action/p1": choice(0), "action/p2": choice(1)} for _ in range(steps)]
    return {"start": {f"state/{name}": value for name, value in state.items()}, "actions": actions}


def _locked(state: State, side: int) -> list[bool]:
    """Who has only one thing to choose."""
    names = (*HARD, "bide_turns", "trap_turns", "trapped")
    return [bool(state[name][side]) for name in names] + [state["status"][side][0] in (ASLEEP, FROZEN)]


def _finish(state: State, random: Random) -> State:
    """What goes with what: points of moves that are the own ones, and what the sides chose last."""
    for side in range(2):
        if not state["transformed"][side]:
            state["act_pp"][side] = list(state["pp"][side][0])
        if state["selected"][side] == NOTHING:
            state["selected"][side] = 0
        elif state["selected"][side] == 0 and random.random() < 0.9:
            state["slot"][side] = random.randrange(4)
            state["selected"][side] = state["act_moves"][side][state["slot"][side]]
        if not state["disable_turns"][side]:
            state["disable_slot"][side] = state["disable_move"][side] = 0
        elif random.random() < 0.5:  # what it is about to use
            state["disable_slot"][side], state["disable_move"][side] = state["slot"][side], state["selected"][side]
        for place in range(6):
            if state["status"][side][place] != ASLEEP:
                state["sleep"][side][place], state["slept_by_foe"][side][place] = 0, False
        if state["toxic"][side] < 0 and state["status"][side][0] == BADLY_POISONED:
            state["toxic"][side] = 0
    return state


SEEDS = st.integers(0, (1 << 32) - 1)
"""A battle has hundreds of numbers: they come from one that is small enough to search for."""


def _fight(*changes: tuple[Change, ...], other: tuple[Change, ...] | None = None) -> st.SearchStrategy[dict[str, Any]]:
    """A change of each kind on both sides; with `other`, one of these in place of the last on one side."""

    def build(seed: int, steps: int) -> dict[str, Any]:
        random = Random(seed)
        state = _battle(random)
        first = random.randrange(2)
        for side in (first, 1 - first):
            for pool in changes[:-1] if other and side != first else changes:
                random.choice(pool)(state, side, random)
            if other and side != first:
                random.choice(other)(state, side, random)
        return _case(_finish(state, random), random, steps)

    return st.builds(build, SEEDS, st.integers(1, 4))


@sequence("any two moves")
def any_moves(task: Task) -> st.SearchStrategy[dict[str, Any]]:
    return _fight()


@sequence("with something on both")
def something(task: Task) -> st.SearchStrategy[dict[str, Any]]:
    return _fight(OTHERS)


@sequence("with two things on both")
def two_things(task: Task) -> st.SearchStrategy[dict[str, Any]]:
    return _fight(OTHERS, OTHERS)


@sequence("who cannot choose")
def locked(task: Task) -> st.SearchStrategy[dict[str, Any]]:
    return _fight(LOCKS)


@sequence("who cannot choose, with something on both")
def locked_and_more(task: Task) -> st.SearchStrategy[dict[str, Any]]:
    return _fight(OTHERS, LOCKS)


@sequence("who counters, transforms or calls another move")
def about_to(task: Task) -> st.SearchStrategy[dict[str, Any]]:
    return _fight(OTHERS, ABOUT_TO)


@sequence("an attack on who cannot choose")
def attack_on_locked(task: Task) -> st.SearchStrategy[dict[str, Any]]:
    return _fight(OTHERS, (_attacking, _calling), other=MIDDLES)


@sequence("an attack on who has something on it")
def attack_on(task: Task) -> st.SearchStrategy[dict[str, Any]]:
    return _fight((_attacking,), other=OTHERS)


@sequence("healing, and what Haze takes away")
def healing(task: Task) -> st.SearchStrategy[dict[str, Any]]:
    return _fight(OTHERS, (_healing,))


@sequence("a move, and what tells how it works")
def telling(task: Task) -> st.SearchStrategy[dict[str, Any]]:
    return _fight((_telling, _telling, _telling, _last_quarter), other=(_remembers, _stages, _substitute))


@sequence("a replacement")
def replacement(task: Task) -> st.SearchStrategy[dict[str, Any]]:
    """One or both have fainted; who comes may be poisoned, or asleep."""

    def build(seed: int, which: int) -> dict[str, Any]:
        random = Random(seed)
        state = _battle(random)
        for side in range(2):
            _bench_asleep(state, side, random)
            if random.random() < 0.5:
                random.choice(OTHERS[:6])(state, side, random)
        state = _finish(state, random)
        for side in range(2):
            if not which >> side & 1:
                state["request"][side] = 0
                continue
            state["request"][side] = 2
            for name in ("status", "sleep", "hp"):
                state[name][side][0] = 0
            state["slept_by_foe"][side][0] = False
            for name, value in PER_SIDE.items():
                if name not in ("request", "active", "selected", "slot", "side_last"):
                    state[name][side] = value
            _enter(state, side)
            state["boosts"][side] = [0] * 6
            state["hp"][side][1] = state["max_hp"][side][1]
        case = _case(state, random, 1)
        case["actions"] = [{"action/p1": 5, "action/p2": 5}]
        return case

    return st.builds(build, SEEDS, st.integers(1, 3))


@sequence("who is held leaves")
def held_leaves(task: Task) -> st.SearchStrategy[dict[str, Any]]:
    """By choice; or it falls, and is replaced."""

    def build(seed: int) -> dict[str, Any]:
        random = Random(seed)
        state = _battle(random)
        side = random.randrange(2)
        _trapping(state, 1 - side, random)
        falls = random.random() < 0.5
        if falls:
            state["status"][side][0], state["hp"][side][0] = POISONED, 1
        state["hp"][side][1] = state["max_hp"][side][1]
        case = _case(_finish(state, random), random, 1 + falls)
        for action in case["actions"]:
            action |= {f"action/p{side + 1}": 0, f"action/p{2 - side}": 0}
        case["actions"][-1][f"action/p{side + 1}"] = 5
        return case

    return st.builds(build, SEEDS)


@sequence("few are left")
def few(task: Task) -> st.SearchStrategy[dict[str, Any]]:
    """One who fights can still hurt: Showdown takes no battle that is at its end already."""

    def build(seed: int, steps: int) -> dict[str, Any]:
        random = Random(seed)
        state = _battle(random)
        for side in range(2):
            _few(state, side, random)
        able = random.randrange(2)
        _teach(state, able, 0, random.choice([EXPLOSION, EXPLOSION, POUND]))
        return _case(_finish(state, random), random, steps)

    return st.builds(build, SEEDS, st.integers(1, 4))
