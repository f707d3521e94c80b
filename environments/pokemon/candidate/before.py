"""What may keep a Pokémon from its move, in the order in which it is asked; and what every move costs afterwards."""

import jax.numpy as jnp
from damage import div
from rules import ATTACK, BIDE, BURN, DEFENSE, FREEZE, PARALYSIS, POISON, SLEEP, TOXIC
from scene import NO_BIDE, NO_DISABLE, NO_THRASH, NO_TRAP, sixteenth

PARALYSED_BELOW, HURT_FROM = 63, 128
CONFUSION_POWER = 40


def before_move(scene, on, on_self):
    """Whether it may move, and how much damage Bide lets loose instead: 0 for none."""
    on = _lies_still(scene, on)
    on = _is_disabled(scene, on)
    on = _is_confused(scene, on)
    on = _is_paralysed(scene, on)
    # A trap holds whom it was laid for, and nobody else.
    own = scene.own
    scene.change(on & (own.trap_turns > 0) & (on_self | (scene.foe.place != own.trap_target)), **NO_TRAP)
    return _bides(scene, on)


def _lies_still(scene, on):
    own = scene.own
    frozen, asleep = on & (own.status == FREEZE), on & (own.status == SLEEP)
    scene.change(asleep, sleep=own.sleep - 1)
    scene.change(frozen | asleep, last_move=0)
    on &= ~frozen & ~asleep & (own.trapped == 0) & ~own.flinch
    scene.change(on, recharge=False)
    return on & ~own.recharge


def _is_disabled(scene, on):
    own = scene.own
    on_it = on & (own.disable_turns > 0)
    turns = own.disable_turns - 1
    move = jnp.where(own.bide_turns > 0, BIDE, own.queued)
    scene.change(on_it, disable_turns=turns)
    scene.change(on_it & (turns == 0), **NO_DISABLE)
    stopped = on_it & (turns > 0) & (move == own.disable_move)
    scene.change(stopped, two_turn=0)
    return on & ~stopped


def _is_confused(scene, on):
    own = scene.own
    on_it = on & (own.confusion > 0)
    turns = own.confusion - 1
    scene.change(on_it, confusion=turns)
    on_it &= turns > 0
    hurts = on_it & (scene.rolls.take("confused", on_it) >= HURT_FROM)
    attack = (div(2 * own.level, 5) + 2) * own.modified[ATTACK] * CONFUSION_POWER
    scene.hurt_itself(hurts, div(div(attack, own.modified[DEFENSE]), 50) + 2)
    scene.change(hurts, two_turn=0, invulnerable=False, **NO_BIDE, **NO_TRAP, **NO_THRASH)
    return on & ~hurts


def _is_paralysed(scene, on):
    on_it = on & (scene.own.status == PARALYSIS)
    stopped = on_it & (scene.rolls.take("paralysed", on_it) < PARALYSED_BELOW)
    # Who was out of reach stays out of reach.
    scene.change(stopped, two_turn=0, **NO_BIDE, **NO_TRAP, **NO_THRASH)
    return on & ~stopped


def _bides(scene, on):
    own = scene.own
    on_it = on & (own.bide_turns > 0)
    turns, damage = own.bide_turns - 1, own.bide_damage + scene.last_damage
    ends = on_it & (turns == 0)
    scene.change(on_it, bide_turns=turns, bide_damage=damage)
    scene.change(ends, **NO_BIDE)
    return on & ~on_it, jnp.where(ends, 2 * damage, 0)


def after_move(scene, on):
    """What it costs to have moved, or to have failed to: waking, poison and burns, and a seed that feeds the foe."""
    own = scene.own
    sick = (own.status == POISON) | (own.status == BURN) | (own.status == TOXIC)
    scene.change(on & sick & (own.toxic >= 0), toxic=own.toxic + 1)
    wakes = on & (own.status == SLEEP) & (own.sleep <= 0) & (own.hp > 0)
    scene.change(wakes, status=0, sleep=0, slept_by_foe=False)
    # The counter of Toxic goes on after it, and multiplies what anything else takes.
    toll = sixteenth(own) * jnp.where(scene.own.toxic >= 0, scene.own.toxic, 1)
    scene.hurt(on & sick, toll)
    _feeds(scene, on & own.leech_seed & (scene.foe.hp > 0))


def _feeds(scene, on):
    own, foe = scene.own, scene.foe
    scene.change(on & (own.toxic >= 0), toxic=own.toxic + 1)
    toll = sixteenth(own) * jnp.where(own.toxic >= 0, own.toxic + 1, 1)
    scene.hurt(on, toll)
    scene.change_foe(on, hp=jnp.minimum(foe.hp + toll, foe.max_hp))
