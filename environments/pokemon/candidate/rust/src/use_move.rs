//! A move that is used, from what may keep it from being used to what comes after it.

use lockstep_env::Draws;

use crate::data::{
    ASLEEP, ATTACK, BURNED, CANNOT_MOVE, DISABLE, Effect, METRONOME, MIRROR_MOVE, POISONED, STRUGGLE, TOXIC,
};
use crate::moves::lookup;
use crate::state::{Active, Member};
use crate::turn::Play;

impl<D: Draws> Play<'_, D> {
    pub fn active(&mut self, side: usize) -> &mut Active {
        &mut self.battle.sides[side].active
    }

    pub fn member(&self, side: usize) -> &Member {
        self.battle.sides[side].member()
    }

    pub fn member_mut(&mut self, side: usize) -> &mut Member {
        self.battle.sides[side].member_mut()
    }

    pub fn lives(&self, side: usize) -> bool {
        self.member(side).hp > 0
    }

    /// A side's turn to use a move.
    pub fn run_move(&mut self, side: usize, number: u8) {
        if number == CANNOT_MOVE {
            return self.after_turn(side);
        }
        let target = target(side, number);
        self.member_mut(target).sub_fainted = false;
        if !self.may_move(side, target, number) {
            return self.after_turn(side);
        }
        let mut locked = false;
        if number != STRUGGLE {
            let who = &mut self.battle.sides[side];
            locked = who.active.is_locked() || who.active.is_bound();
            if (!locked && !lookup(number).charges()) || who.active.two_turn > 0 {
                who.spend();
            }
            // What was selected may be no move of the slot any more. The games would disagree here, so it fails.
            if !locked && (number == 0 || who.active.moves.get(usize::from(who.slot)) != Some(&number)) {
                return self.after_turn(side);
            }
        }
        self.use_move(side, number, if locked { number } else { 0 });
    }

    /// Use a move; `caller` is the move that calls it, or this one if it goes on.
    pub fn use_move(&mut self, side: usize, number: u8, caller: u8) {
        let target = target(side, number);
        if matches!(caller, METRONOME | MIRROR_MOVE) {
            self.battle.sides[side].repay(number);
        }
        let active = self.active(side);
        if !lookup(number).charges() || active.two_turn > 0 {
            active.last_move = number;
        }
        self.carry_out(side, target, number);
        let foe = self.battle.sides[1 - side].active.last_move;
        if number == METRONOME || (number == MIRROR_MOVE && foe != 0 && foe != MIRROR_MOVE) {
            return;
        }
        self.battle.sides[side].last_move = number;
        self.after_move(side, target);
        if self.lives(target) {
            self.after_turn(side);
        }
    }

    fn carry_out(&mut self, side: usize, target: usize, number: u8) {
        let it = lookup(number);
        match it.effect {
            Effect::Charge | Effect::Vanish => {
                let active = self.active(side);
                if active.two_turn == 0 {
                    active.two_turn = number;
                    active.invulnerable |= it.effect == Effect::Vanish;
                    return;
                }
                active.two_turn = 0;
                active.invulnerable = false;
            }
            Effect::Trap => self.active(target).recharge = false,
            _ => {}
        }
        if !it.keeps_damage {
            self.battle.last_damage = 0;
        }
        let landed = self.try_hit(side, target, number);
        if (it.effect == Effect::Explode || number == DISABLE) && self.active(target).rage > 0 {
            self.raise(target, ATTACK, 1);
        }
        if landed.is_none() && it.effect == Effect::Crash {
            self.hurt_itself(side, 1);
        }
    }

    /// What a used move leaves behind, whether it hit or not.
    fn after_move(&mut self, side: usize, target: usize) {
        let lives = self.lives(target);
        let user_lives = self.lives(side);
        let active = self.active(side);
        active.recharge &= lives;
        if active.thrash_move > 0 && active.thrash_turns <= 0 && user_lives {
            active.end_thrash();
        }
        if active.trap_turns == 0 {
            return;
        }
        if !lives {
            return active.end_lock();
        }
        let (turns, total) = (active.trap_turns, active.trap_total);
        if turns > 1 {
            let target = self.active(target);
            target.trapped = 2;
            target.trapped_maybe |= total > turns;
        } else if total != 5 {
            for side in [side, target] {
                let active = self.active(side);
                if active.fake_trapped == 0 {
                    active.fake_trapped = 2;
                }
            }
        }
    }

    /// What status and Leech Seed do after each turn of their victim.
    fn after_turn(&mut self, side: usize) {
        let who = &mut self.battle.sides[side];
        let status = who.member().status;
        let counts = who.active.toxic >= 0;
        if counts && matches!(status, POISONED | BURNED | TOXIC) {
            who.active.toxic += 1;
        }
        if status == ASLEEP && who.member().sleep == 0 && who.member().hp > 0 {
            who.member_mut().cure();
        }
        let sixteenth = i32::from((who.member().max_hp / 16).max(1));
        if matches!(status, POISONED | BURNED | TOXIC) {
            let factor = if counts { i32::from(who.active.toxic) } else { 1 };
            self.take(side, sixteenth * factor);
        }
        if self.active(side).leech_seed && self.lives(1 - side) {
            let active = self.active(side);
            active.toxic += i16::from(counts);
            let factor = if counts { i32::from(active.toxic) } else { 1 };
            self.take(side, sixteenth * factor);
            self.heal(1 - side, sixteenth * factor);
        }
    }

    /// What status does to who comes in.
    pub fn suffer_entering(&mut self, side: usize) {
        if matches!(self.member(side).status, POISONED | BURNED | TOXIC) {
            self.take(side, i32::from((self.member(side).max_hp / 16).max(1)));
        }
    }

    /// Lose HP, and say how much that was.
    pub fn take(&mut self, side: usize, damage: i32) -> i32 {
        let member = self.member_mut(side);
        let taken = damage.clamp(0, i32::from(member.hp));
        member.hp -= taken as u16;
        taken
    }

    pub fn heal(&mut self, side: usize, amount: i32) {
        let member = self.member_mut(side);
        if member.hp > 0 {
            member.hp = (i32::from(member.hp) + amount).min(i32::from(member.max_hp)) as u16;
        }
    }

    /// Hurt oneself by confusion or a crash. One's substitute passes it to that of the other, if there is one.
    pub fn hurt_itself(&mut self, side: usize, damage: i32) {
        if !self.lives(side) {
            return;
        }
        self.battle.last_damage = damage;
        if self.active(side).substitute == 0 {
            self.take(side, damage);
        } else if self.active(1 - side).substitute > 0 {
            self.wear_substitute(1 - side, damage);
        }
    }

    /// Damage a substitute; whether it still stands.
    pub fn wear_substitute(&mut self, side: usize, damage: i32) -> bool {
        let active = self.active(side);
        active.substitute = (i32::from(active.substitute) - damage).max(0) as u16;
        let stands = active.substitute > 0;
        if !stands {
            self.member_mut(side).sub_fainted = true;
        }
        stands
    }
}

/// On whom a move is used.
fn target(side: usize, number: u8) -> usize {
    if lookup(number).own { side } else { 1 - side }
}
