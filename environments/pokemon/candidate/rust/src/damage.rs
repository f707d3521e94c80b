//! How much damage a move does.

use lockstep_env::Draws;

use crate::chance;
use crate::data::{ATTACK, COUNTER, Category, DEFENCE, Effect, FIGHTING, GHOST, Move, NORMAL, SPECIAL, TWO_TO_FIVE};
use crate::moves::lookup;
use crate::tables::{CHART, SPECIES};
use crate::turn::Play;

const EVERYTHING: i32 = 65535;

/// What a move would do to who is hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    Of(i32),
    /// It does no damage, and goes on.
    No,
    Fails,
}

/// What damage is of, once stats are chosen.
#[derive(Clone, Copy, Debug)]
pub struct Blow {
    pub level: i32,
    pub power: i32,
    pub attack: i32,
    pub defence: i32,
    /// Of the user's type.
    pub own_type: bool,
    pub explodes: bool,
    /// Tenths by which the types that are hit multiply.
    pub tenths: [u8; 2],
}

impl Blow {
    /// The damage; `roll` is asked only where it counts.
    pub fn damage(self, roll: impl FnOnce() -> i32) -> i32 {
        let (mut attack, mut defence) = (self.attack, self.defence.max(1));
        if attack >= 256 || defence >= 256 {
            attack = ((attack / 4) % 256).max(1);
            defence = ((defence / 4) % 256).max(1);
        }
        if self.explodes {
            defence = (defence / 2).max(1);
        }
        let mut damage = (self.level * 2 / 5 + 2) * self.power.max(1) * attack / defence;
        damage = (damage / 50).clamp(0, 997) + 2;
        if self.own_type {
            damage += damage / 2;
        }
        for tenths in self.tenths {
            match tenths {
                20 => damage *= 2,
                5 => damage /= 2,
                _ => {}
            }
        }
        if damage > 1 { damage * roll() / 255 } else { damage }
    }
}

/// Of 256, how often a move hits critically.
pub fn critical_chance(species: u8, sharp: bool, focus_energy: bool) -> i32 {
    let mut chance = i32::from(SPECIES[usize::from(species.max(1) - 1)].base[3]) / 2;
    chance = if focus_energy { chance / 2 } else { (chance * 2).clamp(1, 255) };
    if sharp { (chance * 4).clamp(1, 255) } else { chance / 2 }
}

/// Tenths by which types multiply what a type does to them. Where it cannot touch them it would not get here.
pub fn effectiveness(kind: u8, types: [u8; 2]) -> [u8; 2] {
    types.map(|target| CHART[usize::from(kind & 15)][usize::from(target & 15)])
}

impl<D: Draws> Play<'_, D> {
    /// What a move does to a target; `fixed` is what the first of several hits did.
    pub fn damage_of(&mut self, side: usize, target: usize, number: u8, fixed: Option<i32>) -> Damage {
        let it = lookup(number);
        let types = self.active(target).types;
        if it.cannot_touch(types) {
            return Damage::Fails;
        }
        match it.effect {
            Effect::OneHit => return Damage::Of(EVERYTHING),
            Effect::Counter => return self.countered(target),
            Effect::Half => return Damage::Of(i32::from(self.member(target).hp / 2).max(1)),
            Effect::Psywave => return self.psywave(side),
            Effect::Level => return Damage::Of(i32::from(self.member(side).level)),
            Effect::Twenty => return Damage::Of(20),
            Effect::Forty => return Damage::Of(40),
            Effect::Trap if it.kind == NORMAL && types.contains(&GHOST) => return Damage::Of(0),
            _ => {}
        }
        if let Some(damage) = fixed {
            return Damage::Of(damage);
        }
        let place = self.battle.sides[target].place;
        let user = &self.battle.sides[side].active;
        if user.trap_turns > 0 && target != side && user.trap_target == place {
            return Damage::Of(user.trap_damage);
        }
        if it.power == 0 {
            return Damage::No;
        }
        Damage::Of(self.calculated(side, target, it))
    }

    fn calculated(&mut self, side: usize, target: usize, it: &Move) -> i32 {
        let chance = critical_chance(self.member(side).species, it.sharp, self.active(side).focus_energy);
        let critical = chance > 0 && chance::crit(self.draws) < chance;
        let (user, foe) = (&self.battle.sides[side], &self.battle.sides[target]);
        let physical = it.category == Category::Physical;
        let (attack, defence) = if physical { (ATTACK, DEFENCE) } else { (SPECIAL, SPECIAL) };
        let screen = if physical { foe.active.reflect } else { foe.active.light_screen };
        let mut level = i32::from(user.member().level);
        // A critical hit is by the stats that both were born with, whatever became of them.
        let (attack, defence) = if critical {
            level *= 2;
            (i32::from(user.member().stats[attack]), i32::from(foe.member().stats[defence]))
        } else {
            let doubled = i32::from(foe.active.modified[defence]) << u32::from(screen);
            (i32::from(user.active.modified[attack]), doubled)
        };
        let blow = Blow {
            level,
            power: i32::from(it.power),
            attack,
            defence,
            own_type: user.active.has_type(it.kind),
            explodes: it.effect == Effect::Explode,
            tenths: effectiveness(it.kind, foe.active.types),
        };
        blow.damage(|| chance::damage(self.draws))
    }

    /// Twice what was last done, if the other's last move and last choice both were such that it can be countered.
    fn countered(&self, target: usize) -> Damage {
        let foe = &self.battle.sides[target];
        let counts = |number: u8| {
            let it = lookup(number);
            it.power > 0 && matches!(it.kind, NORMAL | FIGHTING) && number != COUNTER
        };
        let damage = self.battle.last_damage;
        if damage > 0 && counts(foe.last_move) && counts(foe.selected) { Damage::Of(2 * damage) } else { Damage::Fails }
    }

    /// Up to half more than the level. Where the games would go on forever it fails.
    fn psywave(&mut self, side: usize) -> Damage {
        let level = usize::from(self.member(side).level);
        if level == 1 {
            return Damage::Fails;
        }
        match chance::among(chance::psywave(self.draws), level * 3 / 2) {
            0 => Damage::Fails,
            damage => Damage::Of(damage as i32),
        }
    }

    /// How often a move hits in one turn.
    pub fn count_hits(&mut self, it: &Move) -> u8 {
        if it.hits == 2 { 2 } else { TWO_TO_FIVE[chance::hits(self.draws) as usize & 7] }
    }
}
