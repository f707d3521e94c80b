//! What may keep one from using a move.

use lockstep_env::Draws;

use crate::chance;
use crate::data::{ASLEEP, ATTACK, BIDE, DEFENCE, FROZEN, PARALYSED};
use crate::turn::Play;

/// Of 256, how often paralysis keeps one from moving, and confusion lets one move.
const PARALYSIS: i32 = 63;
const CLEAR: i32 = 128;

impl<D: Draws> Play<'_, D> {
    /// Whether a move can be used; what keeps it takes its turn.
    pub fn may_move(&mut self, side: usize, target: usize, number: u8) -> bool {
        let place = self.battle.sides[target].place;
        let who = &mut self.battle.sides[side];
        let (status, active) = (who.member().status, &mut who.active);
        if status == FROZEN || status == ASLEEP {
            active.last_move = 0;
            let member = who.member_mut();
            member.sleep = member.sleep.saturating_sub(1);
            return false;
        }
        if active.trapped > 0 || active.flinch {
            return false;
        }
        if active.recharge {
            active.recharge = false;
            return false;
        }
        if self.is_disabled(side, number) || self.is_confused(side) {
            return false;
        }
        if status == PARALYSED && chance::paralysed(self.draws) < PARALYSIS {
            self.active(side).interrupt();
            return false;
        }
        let active = self.active(side);
        if active.trap_turns > 0 && (target == side || place != active.trap_target) {
            active.end_lock();
        }
        if active.bide_turns > 0 {
            self.bide(side);
            return false;
        }
        true
    }

    fn is_disabled(&mut self, side: usize, number: u8) -> bool {
        let active = self.active(side);
        if active.disable_turns == 0 {
            return false;
        }
        active.disable_turns -= 1;
        if active.disable_turns == 0 {
            active.end_disable();
            return false;
        }
        let number = if active.bide_turns > 0 { BIDE } else { number };
        if number != active.disable_move {
            return false;
        }
        active.two_turn = 0;
        true
    }

    fn is_confused(&mut self, side: usize) -> bool {
        let active = self.active(side);
        if active.confusion == 0 {
            return false;
        }
        active.confusion -= 1;
        if active.confusion == 0 || chance::confused(self.draws) < CLEAR {
            return false;
        }
        let level = i32::from(self.member(side).level);
        let [attack, defence] = [ATTACK, DEFENCE].map(|stat| i32::from(self.active(side).modified[stat]));
        let damage = (2 * level / 5 + 2) * attack * 40 / defence.max(1) / 50 + 2;
        self.hurt_itself(side, damage);
        let active = self.active(side);
        active.interrupt();
        active.invulnerable = false;
        true
    }

    /// Store what damage was done last, and at the end give it back twice.
    fn bide(&mut self, side: usize) {
        let damage = self.battle.last_damage;
        let active = self.active(side);
        active.bide_damage += damage;
        active.bide_turns -= 1;
        if active.bide_turns == 0 {
            let damage = 2 * active.bide_damage;
            if damage != 0 {
                self.unleash(side, damage);
            }
            self.active(side).end_bide();
        }
    }
}
