"""The rules one by one, each asked about numbers."""

import jax.numpy as jnp
from damage import accuracy_of, boosted, critical_chance, damage_before_roll, div, rolled, stats_of
from rules import LEARNSET_BYTES, PP, PRIORITY, SPECIES_TABLE, TEAM_TABLE, effect_of, look, move_of


def _species_data(inputs):
    row = look(SPECIES_TABLE, inputs["number"])
    return {"types": row[:2], "base": row[2:], "learnset": look(LEARNSET_BYTES, inputs["number"])}


def _move_data(inputs):
    move, pp = move_of(inputs["number"]), look(PP, inputs["number"])
    numbers = {
        name: getattr(move, name)
        for name in ("type", "power", "accuracy", "category", "crit_ratio", "hits", "recoil", "drain", "status")
    }
    numbers |= {"pp": pp[0], "priority": look(PRIORITY, inputs["number"]), "max_pp": pp[1]}
    numbers |= {"own": move.self_target, "ignores_immunity": move.ignore_immunity}
    numbers |= {"boost": jnp.stack([move.boost_stat, move.boost_stages]), "chance": move.secondary_chance}
    numbers |= {f"also_{name}": getattr(move, f"secondary_{name}") for name in ("status", "flinch", "confusion")}
    return numbers | {"also_boost": jnp.stack([move.secondary_boost_stat, move.secondary_boost_stages])}


def _team_data(inputs):
    row = look(TEAM_TABLE, inputs["number"])[inputs["place"]]
    return {"species": row[0], "level": row[1], "moves": row[2:6], "dv": row[6:10], "effort": row[10:]}


def _stats(inputs):
    max_hp, stats = stats_of(inputs["kind"], inputs["grade"], inputs["dv"], inputs["effort"])
    return {"max_hp": max_hp, "stats": stats}


def _effectiveness(inputs):
    tenths = jnp.array([10, 5, 20, 0], jnp.int32)
    first, second = effect_of(inputs["type"], inputs["targets"])
    return {"first": tenths[first], "second": tenths[second]}


def _boost(inputs):
    stage, now, result = boosted(inputs["base"], inputs["now"], inputs["stage"], inputs["delta"])
    return {"stage": stage, "now": now, "result": result}


def _crit(inputs):
    ratio = move_of(inputs["move"]).crit_ratio
    return {"chance": critical_chance(inputs["kind"], ratio, inputs["focused"] == 1)}


def _accuracy(inputs):
    share = move_of(inputs["move"]).accuracy
    below = accuracy_of(div(share * 255, 100), inputs["stage"], inputs["evasion"])
    return {"threshold": jnp.where(share == 0, 0, below)}


def _damage(inputs):
    names = ("grade", "power", "attack", "defense")
    flags = [inputs[name] == 1 for name in ("critical", "stab", "explode")]
    codes = [jnp.where(inputs[name] == -1, 1, 2 * inputs[name]) for name in ("first", "second")]
    return {"damage": rolled(damage_before_roll(*(inputs[name] for name in names), *flags, *codes), inputs["roll"])}


probes = {
    "species_data": _species_data,
    "move_data": _move_data,
    "team_data": _team_data,
    "stats": _stats,
    "effectiveness": _effectiveness,
    "boost": _boost,
    "crit": _crit,
    "accuracy": _accuracy,
    "damage": _damage,
}
