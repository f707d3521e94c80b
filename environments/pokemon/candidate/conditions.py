"""What moves do beside damage: stages, status, confusion, and what a move does to its user or to both."""

import jax.numpy as jnp
from damage import at_least_one, boosted
from rules import (
    ATTACK,
    BIDE,
    BURN,
    CANNOT_MOVE,
    CONVERSION,
    DISABLE,
    FOCUS_ENERGY,
    FREEZE,
    HAZE,
    LEECH_SEED,
    LIGHT_SCREEN,
    MIMIC,
    MIST,
    PARALYSIS,
    POISON,
    PP,
    RECOVER,
    REFLECT,
    REST,
    SLEEP,
    SOFTBOILED,
    SPEED,
    SUBSTITUTE,
    TOXIC,
    TRANSFORM,
    look,
)
from scene import NO_DISABLE, at_slot, known, slots

POISON_TYPE = 4
REST_TURNS = 2
COPIED_PP = 5
UNCHANGING = 100
"""Accuracy and evasion have no stat, so no stat of theirs stands at 1 or at 999."""


def affect(scene, move, plain, beside):
    """All of it, of a move that is `plain` of this kind, or that does it `beside` its damage. Whether such a move fails."""
    fails = _raises_or_lowers(scene, move, plain, beside)
    _troubles(scene, move, plain, beside)
    _confuses(scene, (plain & move.of("confuses")) | (beside & (move.secondary_confusion == 1)))
    return fails | _own_effects(scene, move, plain)


def _raises_or_lowers(scene, move, plain, beside):
    """Stages of the user or of the foe. Whether a move fails that does nothing else."""
    own, foe = scene.own, scene.foe
    stat = jnp.where(plain, move.boost_stat, move.secondary_boost_stat)
    delta = jnp.where(plain, move.boost_stages, move.secondary_boost_stages)
    on = (plain | beside) & (delta != 0)
    on_self = plain & move.on_self
    misted = plain & ~move.on_self & foe.mist & (delta < 0)
    boosts, stored, modified = (
        jnp.where(on_self, getattr(own, name), getattr(foe, name)) for name in ("boosts", "stored", "modified")
    )
    is_stat = stat < 4
    stage, value, result = boosted(
        jnp.where(is_stat, at_slot(stored, stat), UNCHANGING),
        jnp.where(is_stat, at_slot(modified, stat), UNCHANGING),
        jnp.sum(jnp.where(jnp.arange(6) == stat, boosts, 0), dtype=jnp.int32),
        delta,
    )
    on &= ~misted
    boosts = jnp.where(jnp.arange(6) == stat, stage, boosts)
    modified = jnp.where(slots() == stat, value, modified)
    scene.change(on & on_self, boosts=boosts, modified=modified)
    scene.change_foe(on & ~on_self, boosts=boosts, modified=modified)
    changed = on & (result == 1)
    # Whoever's stages change: the foe's paralysis or burn lowers its stats once more.
    _drop(scene, changed & (foe.status == PARALYSIS), SPEED, 2)
    _drop(scene, changed & (foe.status == BURN), ATTACK, 1)
    return plain & (delta != 0) & ~changed


def _drop(scene, on, stat, shift):
    modified = scene.foe.modified
    lowered = at_least_one(modified >> shift)
    scene.change_foe(on, modified=jnp.where(slots() == stat, lowered, modified))


def _troubles(scene, move, plain, beside):
    """Status of the foe, and flinching."""
    foe = scene.foe
    status = jnp.where(plain, move.status, move.secondary_status)
    # Who has to recharge is put to sleep whatever it has.
    open_ = jnp.where((status == SLEEP) & foe.recharge, foe.status != SLEEP, foe.status == 0)
    on = (plain | beside) & (status > 0) & open_ & (foe.hp > 0)
    on &= ~(((status == POISON) | (status == TOXIC)) & jnp.any(foe.types == POISON_TYPE))
    on &= ~((status == SLEEP) & foe.bench_slept) & ~((status == FREEZE) & foe.bench_frozen)
    asleep = on & (status == SLEEP)
    rests = plain & (move.number == REST) & _may_rest(scene.own)
    turns = scene.rolls.take("sleep_turns", asleep | rests)
    scene.change_foe(on, status=status, sleep=0, slept_by_foe=False)
    scene.change_foe(asleep, sleep=turns, slept_by_foe=True, recharge=False)
    scene.change_foe(on & (status == TOXIC), toxic=0)
    _drop(scene, on & (status == BURN), ATTACK, 1)
    _drop(scene, on & (status == PARALYSIS), SPEED, 2)
    flinches = beside & (move.secondary_flinch == 1) & (foe.hp > 0) & ~foe.flinch
    scene.change_foe(flinches, flinch=True, recharge=False)


def _confuses(scene, on):
    on = on & (scene.foe.confusion == 0) & (scene.foe.hp > 0)
    scene.change_foe(on, confusion=scene.rolls.take("confusion_turns", on))


def _may_heal(own):
    """Not where exactly 255 or 511 are missing, unless what is left is divisible by 256."""
    missing = own.max_hp - own.hp
    return (missing != 0) & ~(((missing == 255) | (missing == 511)) & (own.hp & 255 != 0))


def _may_rest(own):
    return _may_heal(own) & (own.status != SLEEP)


def _own_effects(scene, move, on):
    """What only single moves do. Whether such a move fails."""
    own, foe = scene.own, scene.foe
    number = move.number

    def is_(which):
        return on & (number == which)

    heals = is_(RECOVER) | is_(SOFTBOILED)
    rests = is_(REST) & _may_rest(own)
    fails = (heals & ~_may_heal(own)) | (is_(REST) & ~rests)
    scene.heal(heals & ~fails, own.max_hp >> 1)
    scene.change(rests, hp=own.max_hp, status=SLEEP, sleep=REST_TURNS, slept_by_foe=False)
    scene.change(is_(MIST), mist=True)
    scene.change(is_(FOCUS_ENERGY), focus_energy=True)
    scene.change(is_(REFLECT), reflect=True)
    scene.change(is_(LIGHT_SCREEN), light_screen=True)
    quarter = own.max_hp >> 2
    scene.change(
        is_(SUBSTITUTE),
        substitute=quarter + 1,
        hp=jnp.maximum(own.hp - quarter, 0),
        trapped=0,
        trapped_maybe=False,
    )
    begins = is_(BIDE) & (own.bide_turns == 0)
    scene.change(begins, bide_turns=scene.rolls.take("bide_turns", begins), bide_damage=0)
    scene.change(is_(CONVERSION), types=foe.types)
    scene.change_foe(is_(LEECH_SEED), leech_seed=True)
    _disables(scene, is_(DISABLE) & (foe.disable_turns == 0))
    _mimics(scene, is_(MIMIC))
    _transforms(scene, is_(TRANSFORM))
    _clears(scene, is_(HAZE))
    return fails


def _disables(scene, on):
    foe = scene.foe
    usable = foe.act_pp > 0
    place = scene.rolls.share("disable_slot", on, jnp.sum(usable, dtype=jnp.int32))
    chosen = usable & (jnp.cumsum(usable, dtype=jnp.int32) == place + 1)
    scene.change_foe(
        on,
        disable_turns=scene.rolls.take("disable_turns", on),
        disable_slot=jnp.sum(jnp.where(chosen, slots(), 0), dtype=jnp.int32),
        disable_move=jnp.sum(jnp.where(chosen, foe.act_moves, 0), dtype=jnp.int32),
    )


def _mimics(scene, on):
    own, foe = scene.own, scene.foe
    copied = at_slot(foe.act_moves, scene.rolls.share("mimic", on, known(foe)))
    scene.change(on, act_moves=jnp.where(slots() == own.slot, copied, own.act_moves))


def _transforms(scene, on):
    foe = scene.foe
    pp = jnp.minimum(look(PP, foe.act_moves)[:, 0], COPIED_PP)
    scene.change(
        on,
        transformed=True,
        types=foe.types,
        stored=foe.stored,
        modified=foe.modified,
        boosts=foe.boosts,
        act_moves=foe.act_moves,
        act_pp=pp,
    )


def _clears(scene, on):
    """Haze: stages and much else of both are gone, and the foe's status with it."""
    own, foe = scene.own, scene.foe
    gone = {"mist": False, "focus_energy": False, "leech_seed": False, "light_screen": False, "reflect": False}
    gone |= {"confusion": 0, "toxic": -1, "boosts": 0, **NO_DISABLE}
    scene.change(on, modified=own.stored, status=jnp.where(own.status == TOXIC, POISON, own.status), **gone)
    # Who is cured of sleep or ice does not move in this turn.
    frozen = on & ((foe.status == FREEZE) | (foe.status == SLEEP))
    scene.change_foe(frozen, selected=CANNOT_MOVE, queued=CANNOT_MOVE)
    scene.change_foe(on, modified=foe.stored, status=0, sleep=0, slept_by_foe=False, **gone)
