"""The turn of one Pokémon: whether it moves, which move that becomes, whether it hits, and what follows."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from before import after_move, before_move
from conditions import affect
from damage import accuracy_of, div
from effects import rage_builds, strike
from rules import (
    BIDE,
    BURN,
    CANNOT_MOVE,
    DISABLE,
    DREAM_EATER,
    FREEZE,
    GRASS,
    IS_ON_SELF,
    IS_TWO_TURN,
    LEECH_SEED,
    METRONOME_MOVE,
    MIRROR_MOVE,
    SLEEP,
    SPEED,
    STRUGGLE,
    effect_of,
    look,
    move_of,
)
from scene import NO_THRASH, NO_TRAP, at_slot, locked, slots

MOST_CALLS = 9
"""Metronome and Mirror Move may call each other: as often as a step's four rolls of Metronome last."""
FULL_ACCURACY, LONGEST_TRAP = 255, 5


class Aim(NamedTuple):
    """What one stage of a turn leaves to the next: whether there is a move, which, and how far it came.

    `released` is what Bide lets loose; `gone` and `barred` are moves that never came to a roll, as nobody was there to hit,
    or for other reasons; `plain` is a move that does something else than damage, `beside` what a move does beside it.
    """

    moves: jax.Array
    released: jax.Array
    number: jax.Array
    goes: jax.Array
    lands: jax.Array
    missed: jax.Array
    gone: jax.Array
    barred: jax.Array
    fails: jax.Array
    plain: jax.Array
    beside: jax.Array


NUMBERS = ("released", "number")
NO_AIM = Aim(**{name: jnp.int32(0) if name in NUMBERS else jnp.bool(False) for name in Aim._fields})


def _begin(scene, on, aim):
    moves = on & (scene.own.queued != CANNOT_MOVE)
    on_self = look(IS_ON_SELF, scene.own.queued)
    scene.change(moves & on_self, sub_fainted=False)
    scene.change_foe(moves & ~on_self, sub_fainted=False)
    moves, released = before_move(scene, moves, on_self)
    return aim._replace(moves=moves, released=released)


def _call(scene, on, aim):
    moves = _pays(scene, aim.moves)
    number = _called(scene, moves)
    return aim._replace(moves=moves, number=jnp.where(aim.released > 0, BIDE, number))


def _take_aim(scene, on, aim):
    move = move_of(aim.number)
    goes = _goes(scene, move, aim.moves)
    lands, missed, gone, barred = _aims(scene, move, goes)
    return aim._replace(goes=goes, lands=lands, missed=missed, gone=gone, barred=barred)


def _strike(scene, on, aim):
    fails, plain, beside = strike(scene, move_of(aim.number), aim.lands, aim.released)
    return aim._replace(fails=fails, plain=plain, beside=beside)


def _affect(scene, on, aim):
    return aim._replace(fails=aim.fails | affect(scene, move_of(aim.number), aim.plain, aim.beside))


def _finish(scene, on, aim):
    move = move_of(aim.number)
    _settle(scene, move, aim)
    reached = jnp.where(move.on_self, scene.own.hp, scene.foe.hp) > 0
    scene.change(aim.moves, side_last=move.number)
    _goes_on(scene, aim.moves, reached)
    after_move(scene, on & (~aim.moves | reached))
    return aim


STAGES = (_begin, _call, _take_aim, _strike, _affect, _finish)
"""A turn of one Pokémon: functions of a scene, of whether it has a turn at all, and of what the stage before left."""


def _pays(scene, on):
    """Takes PP from the slot that was chosen last; a move that is not in that slot fails."""
    own = scene.own
    goes_on, ordinary = locked(own), own.queued != STRUGGLE
    # Two-turn moves pay on their second turn.
    pays = (~goes_on & ~look(IS_TWO_TURN, own.queued)) | (own.two_turn > 0)
    _spend(scene, on & ordinary & pays, 1)
    in_slot = at_slot(own.act_moves, own.slot)
    return on & ~(ordinary & ~goes_on & ((own.queued != in_slot) | (in_slot == 0)))


def _spend(scene, on, points):
    """PP go round below 0 and at 64. The member's own are the same unless it has transformed."""
    own = scene.own
    here = on & (slots() == own.slot) & (own.act_moves > 0)
    left = own.act_pp - points & 63
    scene.own = own._replace(
        act_pp=jnp.where(here, left, own.act_pp), pp=jnp.where(here & ~own.transformed, left, own.pp)
    )


def _called(scene, on):
    """The move that is made in the end, where Metronome and Mirror Move call others."""
    own, foe = scene.own, scene.foe
    mirrored = (foe.last_move > 0) & (foe.last_move != MIRROR_MOVE)
    choices, start = scene.rolls.draws["metronome"], scene.rolls.used["metronome"]
    move, caller, calls, rolled = own.queued, own.last_move, jnp.int32(0), jnp.int32(0)
    for _ in range(MOST_CALLS):
        waves = on & (move == METRONOME_MOVE)
        calling = waves | (on & (move == MIRROR_MOVE) & mirrored)
        caller = jnp.where(calling, move, caller)
        move = jnp.where(waves, at_slot(choices, start + rolled), jnp.where(calling, foe.last_move, move))
        rolled, calls = rolled + waves.astype(jnp.int32), calls + calling.astype(jnp.int32)
    scene.rolls.count("metronome", rolled)
    called = calls > 0
    scene.did_damage(called, 0)
    # A first of two turns is no last move.
    charges = look(IS_TWO_TURN, move) & (own.two_turn == 0)
    scene.change(on, last_move=jnp.where(charges, caller, move))
    scene.change(called, selected=move)
    # Who has transformed gets a point for each call, which it never paid.
    slot = (slots() == own.slot) & own.transformed & (own.moves > 0)
    scene.own = scene.own._replace(pp=jnp.where(slot, scene.own.pp + calls & 63, scene.own.pp))
    _spend(scene, called & look(IS_TWO_TURN, move), -1)
    return move


def _goes(scene, move, on):
    """Whether it goes beyond the first of two turns; what happens before it is aimed at anybody."""
    own = scene.own
    two, begun = on & move.of("two_turn"), own.two_turn > 0
    scene.change(two & ~begun, two_turn=move.number, invulnerable=own.invulnerable | move.of("hides"))
    scene.change(two & begun, two_turn=0, invulnerable=False)
    goes = on & ~(two & ~begun)
    # A trap frees whom it is laid for from having to recharge, even if it misses.
    scene.change_foe(goes & move.of("traps"), recharge=False)
    scene.did_damage(goes & ~move.of("keeps_damage"), 0)
    _thrashes(scene, goes & move.of("thrashes"), move)
    return goes


def _thrashes(scene, on, move):
    own = scene.own
    begins, turns = on & (own.thrash_move == 0), own.thrash_turns - 1
    scene.change(on & ~begins, thrash_turns=turns)
    ends = on & ~begins & (turns == 0)
    scene.change(ends, confusion=scene.rolls.take("confusion_turns", ends))
    length = scene.rolls.take("thrash_turns", begins)
    scene.change(begins, thrash_move=move.number, thrash_turns=length, thrash_accuracy=FULL_ACCURACY)


def _aims(scene, move, on):
    """Whether a move lands, whether it missed by its roll, or never came to a roll: as nobody was there, or else."""
    own, foe = scene.own, scene.foe
    away = on & ~move.on_self & foe.invulnerable & ~move.of("finds")
    first, second = effect_of(move.type, foe.types)
    immune = on & (move.ignore_immunity == 0) & ((first == 3) | (second == 3))
    barred = (move.number == LEECH_SEED) & jnp.any(foe.types == GRASS)
    barred |= (move.number == DREAM_EATER) & ((foe.status != SLEEP) | (foe.substitute > 0))
    barred |= move.of("one_hit") & (foe.modified[SPEED] > own.modified[SPEED])
    aimed = on & ~away & ~immune & ~barred
    sure = (move.accuracy == 0) | ((move.status == SLEEP) & foe.recharge)
    # Thrashing and raging go on with the accuracy that they had, and change it once more each time.
    share = jnp.where(own.thrash_move > 0, own.thrash_accuracy, div(move.accuracy * 255, 100))
    share = jnp.where(own.rage > 0, own.rage, share)
    below = accuracy_of(share, own.boosts[4], foe.boosts[5])
    scene.change(aimed & ~sure & (own.thrash_move > 0), thrash_accuracy=below)
    scene.change(aimed & ~sure & (own.rage > 0), rage=below)
    rolls = aimed & ~sure & (foe.trapped == 0)
    missed = rolls & (scene.rolls.take("hit", rolls) >= below)
    scene.did_damage(missed, 0)
    return aimed & ~missed, missed, away | immune, on & barred & ~away & ~immune


def _settle(scene, move, aim):
    """What a move leaves, whether it hit or not."""
    tried, failed = aim.lands | aim.missed, aim.missed | aim.fails
    explodes = move.of("explodes") & (aim.gone | (tried & ~scene.foe.sub_fainted))
    scene.change(explodes, hp=0)
    scene.change(failed, **NO_TRAP)
    foe = scene.foe
    thaws = tried & ~failed & (move.secondary_status == BURN) & (foe.status == FREEZE) & (foe.hp > 0)
    scene.change_foe(thaws, status=0)
    # Exploding and disabling build rage even if they fail.
    rage_builds(scene, aim.goes & (move.of("explodes") | (move.number == DISABLE)))
    scene.hurt_itself((failed | aim.gone | aim.barred) & move.of("crashes"), 1)


def _goes_on(scene, on, reached):
    """Moves that last: the trap that holds for another turn, the rest that is due or not, thrashing that ends."""
    own, foe = scene.own, scene.foe
    traps = on & (own.trap_turns > 0)
    scene.change(traps & ~reached, **NO_TRAP)
    last = traps & reached & (own.trap_turns == 1) & (own.trap_total != LONGEST_TRAP)
    scene.change(last & (own.fake_trapped == 0), fake_trapped=2)
    scene.change_foe(last & (foe.fake_trapped == 0), fake_trapped=2)
    holds = traps & reached & (own.trap_turns != 1)
    scene.change_foe(holds, trapped=2, trapped_maybe=foe.trapped_maybe | (own.trap_total > own.trap_turns))
    scene.change(on & ~reached, recharge=False)
    scene.change(on & (own.thrash_move > 0) & (own.thrash_turns <= 0) & (own.hp > 0), **NO_THRASH)
