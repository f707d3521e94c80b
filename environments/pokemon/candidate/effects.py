"""What a move does where it lands: damage, to whom it hits or to a substitute, and all that it does beside."""

import jax.numpy as jnp
from damage import at_least_one, boosted, critical_chance, damage_before_roll, div, rolled
from rules import (
    ATTACK,
    BURN,
    COUNTER,
    COUNTERABLE,
    DEFENSE,
    DISABLE,
    FREEZE,
    GHOST,
    HYPER_BEAM,
    LIGHT_SCREEN,
    MIRROR_MOVE,
    NORMAL,
    PARALYSIS,
    PHYSICAL,
    POISON,
    PSYWAVE,
    RAGE,
    REFLECT,
    SPECIAL,
    SUBSTITUTE,
    SUPER_FANG,
    TIMES,
    TOXIC,
    effect_of,
    look,
)

EVERYTHING = 65535
MOST_TIMES = 5


def strike(scene, move, lands, released):
    """The damage of a move that lands, or of Bide, which lets loose `released`.

    Whether the move fails after all, whether it does something else than damage, and something beside it.
    """
    unleashed = released > 0
    shielded = scene.foe.substitute > 0
    fails = lands & (_refuses(scene, move) | _is_shielded_from(move, shielded))
    attacks = (lands & ~fails & move.harms & ~move.on_self) | unleashed
    wanted = _times(scene, move, attacks)
    damage, works = _damage(scene, move, attacks & ~unleashed)
    fails |= attacks & ~unleashed & ~works
    damage = jnp.where(unleashed, released, damage)
    attacks &= works | unleashed
    # A substitute that broke some turns ago still ends a row of hits.
    times = jnp.where(scene.foe.sub_fainted, 1, wanted)
    _hits(scene, move, attacks, shielded, damage, times)
    hits_it = attacks & ~shielded
    scene.change_foe(hits_it & move.of("traps") & (scene.foe.hp > 0), trapped=2)
    rage_builds(scene, hits_it & ~move.of("explodes"), times, MOST_TIMES)
    stays = attacks & (~shielded | (scene.foe.substitute > 0))
    scene.change(stays & (move.number == HYPER_BEAM), recharge=True)
    scene.change(stays & (move.number == RAGE) & (scene.own.rage == 0), rage=255)
    _traps(scene, move, attacks & move.of("traps"))
    beside = _beside(scene, move, hits_it & (times == wanted), attacks & shielded)
    return fails, lands & ~fails & ~attacks, beside


def _refuses(scene, move):
    """Moves that find nothing to do."""
    own = scene.own
    refuses = (move.number == DISABLE) & ~jnp.any(scene.foe.act_pp > 0)
    refuses |= (move.number == REFLECT) & own.reflect
    refuses |= (move.number == LIGHT_SCREEN) & own.light_screen
    refuses |= (move.number == SUBSTITUTE) & ((own.substitute > 0) | (4 * own.hp < own.max_hp))
    return refuses | (move.number == MIRROR_MOVE)


def _is_shielded_from(move, shielded):
    """A substitute keeps off poison, confusion and lower stages; and nothing else that does no damage."""
    kept_off = (move.status == POISON) | (move.status == TOXIC) | (move.boost_stages != 0) | move.of("confuses")
    return shielded & ~move.on_self & ~move.harms & kept_off


def _times(scene, move, on):
    some = on & (move.hits == MOST_TIMES)
    varied = look(TIMES, scene.rolls.take("hits", some))
    return jnp.where(some, varied, jnp.where(move.hits == 2, 2, 1))


def _damage(scene, move, on):
    """Damage before it meets anybody's HP, and whether there is any: Counter and Psywave may fail."""
    own, foe = scene.own, scene.foe
    counters, waves = move.number == COUNTER, move.number == PSYWAVE
    answers = look(COUNTERABLE, foe.side_last) & look(COUNTERABLE, foe.selected) & (scene.last_damage > 0)
    wave = scene.rolls.share("psywave", on & waves & (own.level != 1), 3 * own.level >> 1)
    works = ~(counters & ~answers) & ~(waves & ((own.level == 1) | (wave == 0)))
    by_ghost = move.of("traps") & (move.type == NORMAL) & jnp.any(foe.types == GHOST)
    again = (own.trap_turns > 0) & (own.trap_target == foe.place)
    # The first that holds decides.
    given = [
        (move.of("one_hit"), EVERYTHING),
        (counters, 2 * scene.last_damage),
        (waves, wave),
        (move.number == SUPER_FANG, at_least_one(foe.hp >> 1)),
        (move.of("level_damage"), own.level),
        (move.fixed > 0, move.fixed),
        (by_ghost, 0),
        (again, own.trap_damage),
    ]
    plain = ~jnp.any(jnp.stack([holds for holds, _ in given]))
    damage = _plain_damage(scene, move, on & plain)
    for holds, amount in reversed(given):
        damage = jnp.where(holds, amount, damage)
    return damage, works


def _plain_damage(scene, move, on):
    own, foe = scene.own, scene.foe
    chance = critical_chance(own.species, move.crit_ratio, own.focus_energy)
    critical = on & (chance > 0) & (scene.rolls.take("crit", on & (chance > 0)) < chance)
    physical = move.category == PHYSICAL
    screened = jnp.where(physical, foe.reflect, foe.light_screen)
    attack = jnp.where(critical, own.stats, own.modified)
    defense = jnp.where(critical, foe.stats, jnp.where(screened, 2 * foe.modified, foe.modified))
    first, second = effect_of(move.type, foe.types)
    damage = damage_before_roll(
        own.level,
        move.power,
        jnp.where(physical, attack[ATTACK], attack[SPECIAL]),
        jnp.where(physical, defense[DEFENSE], defense[SPECIAL]),
        critical,
        (move.type > 0) & jnp.any(own.types == move.type),
        move.of("explodes") & physical,
        first,
        second,
    )
    return rolled(damage, scene.rolls.take("damage", on & (damage > 1)))


def _hits(scene, move, on, shielded, damage, times):
    """Damage to the foe or to its substitute, and what of it comes back to the user."""
    foe = scene.foe
    into, onto = on & shielded, on & ~shielded
    each = jnp.minimum(damage, foe.hp)
    total = each * times
    last = jnp.where(total > foe.hp, foe.hp - each * div(foe.hp - 1, at_least_one(each)), each)
    scene.did_damage(on, jnp.where(shielded, damage, last))
    scene.hit_substitute(into, damage * times)
    scene.change_foe(onto, hp=jnp.maximum(foe.hp - total, 0))
    # A substitute that breaks gives nothing back; neither does no damage, except that of a substitute.
    back = (into & (scene.foe.substitute > 0)) | (onto & (last > 0))
    done = jnp.where(shielded, damage, last)
    scene.hurt(back & (move.recoil > 0), at_least_one(div(done, at_least_one(move.recoil))))
    drained = at_least_one(done >> 1)
    scene.did_damage(back & (move.drain > 0), drained)
    scene.heal(back & (move.drain > 0), drained)


def rage_builds(scene, on, times=1, most=1):
    """Attack rises by a stage for each hit that a raging foe takes, if it is still there."""
    foe = scene.foe
    on = on & (foe.rage > 0) & (foe.hp > 0)
    stage, attack = foe.boosts[0], foe.modified[ATTACK]
    for hit in range(most):
        raised, higher, _ = boosted(foe.stored[ATTACK], attack, stage, 1)
        stage, attack = (jnp.where(times > hit, new, old) for new, old in ((raised, stage), (higher, attack)))
    scene.change_foe(on, boosts=foe.boosts.at[0].set(stage), modified=foe.modified.at[ATTACK].set(attack))


def _traps(scene, move, on):
    """The trap's length is rolled even for who has fainted by its first hit."""
    begins = on & (scene.own.trap_turns == 0)
    length = look(TIMES, scene.rolls.take("trap_turns", begins))
    held = begins & (scene.foe.hp > 0)
    scene.change(
        held,
        trap_turns=length,
        trap_total=length,
        trap_damage=scene.last_damage,
        trap_move=move.number,
        trap_target=scene.foe.place,
    )
    scene.change_foe(held, trapped=2)


def _beside(scene, move, hits_it, into):
    """Whether what a move does beside its damage comes about. A substitute that held lets through confusion alone."""
    foe = scene.foe
    status = move.secondary_status
    shares_type = jnp.any(foe.types == move.type) & ((status == PARALYSIS) | (status == BURN) | (status == FREEZE))
    through = into & (foe.substitute > 0) & (move.secondary_confusion == 1)
    on = ((hits_it & ~shares_type) | through) & (foe.hp > 0) & (move.secondary_chance > 0)
    return on & (scene.rolls.take("secondary", on) < move.secondary_chance)
