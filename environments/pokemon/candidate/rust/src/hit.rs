//! Whether a move hits, and what happens when it does.

use lockstep_env::Draws;

use crate::chance;
use crate::damage::Damage;
use crate::data::{
    ACCURACY, ASLEEP, ATTACK, BURNED, Category, EVASION, Effect, FROZEN, GRASS, Move, PARALYSED, POISONED, SPEED, TOXIC,
};
use crate::moves::lookup;
use crate::stats::{staged, threshold};
use crate::turn::Play;

/// Which of the hits of a move this is.
#[derive(Clone, Copy, Debug)]
pub struct Hit {
    pub first: bool,
    pub last: bool,
    /// What the first one did.
    pub fixed: Option<i32>,
}

const ONCE: Hit = Hit { first: true, last: true, fixed: None };

impl<D: Draws> Play<'_, D> {
    /// Try to hit; the damage, or none if the move failed.
    pub fn try_hit(&mut self, side: usize, target: usize, number: u8) -> Option<i32> {
        let it = lookup(number);
        if it.effect == Effect::Thrash {
            self.thrash(side, number);
        }
        if !self.can_reach(side, target, it) {
            if it.effect == Effect::Explode {
                self.faint(side);
            }
            return None;
        }
        let foe = &self.battle.sides[target];
        let possible = match it.effect {
            Effect::LeechSeed => !foe.active.has_type(GRASS),
            Effect::DreamEater => foe.member().status == ASLEEP && foe.active.substitute == 0,
            Effect::OneHit => foe.active.modified[SPEED] <= self.battle.sides[side].active.modified[SPEED],
            _ => true,
        };
        if !possible {
            return None;
        }
        let damage = if !self.is_accurate(side, target, it) {
            self.battle.last_damage = 0;
            None
        } else if it.hits > 0 {
            match self.hit_often(side, target, number) {
                // A move of several hits that fails at the first one counts as one that did some damage.
                None => return Some(1),
                damage => damage,
            }
        } else {
            self.hit(side, target, number, ONCE)
        };
        if it.effect == Effect::Explode && !self.member(target).sub_fainted {
            self.faint(side);
        }
        if damage.is_none() {
            self.active(side).end_lock();
        } else if it.secondary.status == BURNED && self.member(target).status == FROZEN && self.lives(target) {
            self.member_mut(target).cure();
        }
        damage
    }

    pub fn faint(&mut self, side: usize) {
        self.member_mut(side).hp = 0;
    }

    fn can_reach(&mut self, side: usize, target: usize, it: &Move) -> bool {
        let foe = self.active(target);
        let hidden = foe.invulnerable && side != target && !matches!(it.effect, Effect::Swift | Effect::Transform);
        !hidden && !it.cannot_touch(foe.types)
    }

    fn is_accurate(&mut self, side: usize, target: usize, it: &Move) -> bool {
        let foe = &self.battle.sides[target].active;
        let (evasion, trapped) = (foe.boosts[EVASION], foe.trapped > 0 && side != target);
        if it.accuracy == 0 || (it.status == ASLEEP && foe.recharge) {
            return true;
        }
        let user = &mut self.battle.sides[side].active;
        let mut chance = threshold(it.accuracy);
        if user.thrash_move > 0 {
            chance = user.thrash_accuracy;
        }
        if user.rage > 0 {
            chance = user.rage;
        }
        chance = staged(chance, user.boosts[ACCURACY], evasion);
        // Stages count again each turn: what they left is kept.
        if user.thrash_move > 0 {
            user.thrash_accuracy = chance;
        }
        if user.rage > 0 {
            user.rage = chance;
        }
        trapped || chance::hit(self.draws) < i32::from(chance)
    }

    fn hit_often(&mut self, side: usize, target: usize, number: u8) -> Option<i32> {
        let count = self.count_hits(lookup(number));
        let (mut damage, mut fixed) = (None, None);
        for nth in 1..=count {
            if !self.lives(target) || !self.lives(side) {
                break;
            }
            let Some(done) = self.hit(side, target, number, Hit { first: nth == 1, last: nth == count, fixed }) else {
                break;
            };
            damage = Some(done);
            fixed = fixed.or(damage);
            if self.member(target).sub_fainted {
                break;
            }
        }
        damage
    }

    /// One hit; the damage, or none if it failed.
    pub fn hit(&mut self, side: usize, target: usize, number: u8, which: Hit) -> Option<i32> {
        let it = lookup(number);
        if !self.is_sensible(target, it) {
            return None;
        }
        let had_substitute = self.active(target).substitute > 0;
        let mut damage = 0;
        let direct = !had_substitute || it.effect == Effect::Bide || it.category == Category::Status;
        if direct {
            if had_substitute && self.is_blocked(side, target, it) {
                return None;
            }
            damage = self.hit_directly(side, target, number, which)?;
        } else {
            self.hit_substitute(side, target, number, which)?;
        }
        let unbroken = !had_substitute || self.active(target).substitute > 0;
        match it.effect {
            Effect::Recharge if unbroken => self.active(side).recharge = self.lives(side),
            Effect::Rage if unbroken && self.active(side).rage == 0 => self.active(side).rage = 255,
            Effect::Trap => self.begin_trap(side, number),
            _ => {}
        }
        if direct && it.secondary.chance > 0 && self.lives(target) && which.last {
            self.try_secondary(side, target, it);
        }
        Some(damage)
    }

    /// Whether there is anything for a move to do.
    fn is_sensible(&mut self, target: usize, it: &Move) -> bool {
        let foe = &self.battle.sides[target];
        let (hp, whole) = (u32::from(foe.member().hp), u32::from(foe.member().max_hp));
        match it.effect {
            Effect::Disable => (0..4).any(|slot| foe.active.moves[slot] != 0 && foe.active.pp[slot] > 0),
            Effect::LightScreen => !foe.active.light_screen,
            Effect::Reflect => !foe.active.reflect,
            Effect::Substitute => foe.active.substitute == 0 && 4 * hp >= whole,
            _ => true,
        }
    }

    /// Whether a substitute keeps off a move that does no damage.
    fn is_blocked(&self, side: usize, target: usize, it: &Move) -> bool {
        let lowers = it.boost.1 != 0 && side != target;
        it.category == Category::Status
            && (matches!(it.status, POISONED | TOXIC) || lowers || it.effect == Effect::Confuse)
    }

    fn hit_directly(&mut self, side: usize, target: usize, number: u8, which: Hit) -> Option<i32> {
        let it = lookup(number);
        let damage = match self.damage_of(side, target, number, which.fixed) {
            Damage::Fails => return None,
            Damage::No => 0,
            Damage::Of(damage) => self.deal(side, target, damage, it),
        };
        if it.boost.1 != 0 && self.lives(target) && !self.boost(side, target, it.boost, it.category) {
            return None;
        }
        if it.status > 0 {
            self.inflict(side, target, it.status);
        }
        if !self.take_effect(side, target, number) {
            return None;
        }
        self.enrage(target, it);
        Some(damage)
    }

    /// Rage builds with each hit.
    pub fn enrage(&mut self, target: usize, it: &Move) {
        if self.active(target).rage > 0 && it.category != Category::Status && it.effect != Effect::Explode {
            self.raise(target, ATTACK, 1);
        }
    }

    /// Do damage with what comes of it to the user; how much it was.
    pub fn deal(&mut self, side: usize, target: usize, damage: i32, it: &Move) -> i32 {
        let damage = damage.min(i32::from(self.member(target).hp));
        if !self.lives(target) {
            return 0;
        }
        self.battle.last_damage = damage;
        let taken = self.take(target, damage);
        if taken > 0 {
            self.repercuss(side, taken, it);
        }
        taken
    }

    fn repercuss(&mut self, side: usize, damage: i32, it: &Move) {
        if it.recoil > 0 {
            self.take(side, (damage / i32::from(it.recoil)).max(1));
        }
        if it.drain > 0 {
            let amount = (damage / i32::from(it.drain)).max(1);
            self.battle.last_damage = amount;
            self.heal(side, amount);
        }
    }

    fn hit_substitute(&mut self, side: usize, target: usize, number: u8, which: Hit) -> Option<()> {
        let it = lookup(number);
        let damage = if which.first {
            match self.damage_of(side, target, number, None) {
                Damage::Of(damage) => damage,
                Damage::No | Damage::Fails => return None,
            }
        } else {
            self.battle.last_damage
        };
        self.strike_substitute(side, target, damage, it);
        Some(())
    }

    /// Damage a substitute. All of the damage counts, however little was left.
    pub fn strike_substitute(&mut self, side: usize, target: usize, damage: i32, it: &Move) {
        self.battle.last_damage = damage;
        if self.wear_substitute(target, damage) {
            self.repercuss(side, damage, it);
            if it.secondary.confusion && chance::secondary(self.draws) < i32::from(it.secondary.chance) {
                self.confuse(target);
            }
        }
    }

    fn try_secondary(&mut self, side: usize, target: usize, it: &Move) {
        let also = &it.secondary;
        let immune = matches!(also.status, PARALYSED | BURNED | FROZEN) && self.active(target).has_type(it.kind);
        if immune || chance::secondary(self.draws) >= i32::from(also.chance) {
            return;
        }
        if also.boost.1 != 0 {
            self.boost(side, target, also.boost, it.category);
        }
        if also.status > 0 {
            self.inflict(side, target, also.status);
        }
        if also.flinch && !self.active(target).flinch {
            self.active(target).flinch = true;
            self.active(target).recharge = false;
        }
        if also.confusion {
            self.confuse(target);
        }
    }
}
