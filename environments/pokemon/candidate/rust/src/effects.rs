//! What moves do beside damage.

use lockstep_env::Draws;

use crate::chance;
use crate::data::{
    ASLEEP, BIDE, BURNED, CANNOT_MOVE, Category, Effect, FROZEN, MIRROR_MOVE, PARALYSED, POISON, POISONED, TOXIC,
    TWO_TO_FIVE,
};
use crate::moves::lookup;
use crate::stats::{self, Change};
use crate::tables::METRONOME;
use crate::turn::Play;

impl<D: Draws> Play<'_, D> {
    /// What a move that hit its target does by its own rule; whether it did not fail.
    pub fn take_effect(&mut self, side: usize, target: usize, number: u8) -> bool {
        match lookup(number).effect {
            Effect::Bide => self.begin_bide(side),
            Effect::Confuse => self.confuse(target),
            Effect::Conversion => self.active(side).types = self.active(target).types,
            Effect::Disable => self.disable(target),
            Effect::FocusEnergy => self.active(side).focus_energy = true,
            Effect::Haze => self.haze(side),
            Effect::Heal => return self.recover(side),
            Effect::LeechSeed => self.active(target).leech_seed = true,
            Effect::LightScreen => self.active(side).light_screen = true,
            Effect::Metronome => {
                let called = METRONOME[(chance::metronome(self.draws) as usize).min(METRONOME.len() - 1)];
                self.call(side, called, number);
            }
            Effect::Mimic => self.mimic(side, target),
            Effect::MirrorMove => {
                let called = self.active(1 - side).last_move;
                if called == 0 || called == MIRROR_MOVE {
                    return false;
                }
                self.call(side, called, number);
            }
            Effect::Mist => self.active(side).mist = true,
            Effect::Reflect => self.active(side).reflect = true,
            Effect::Rest => return self.rest(side),
            Effect::Substitute => self.make_substitute(side),
            Effect::Transform => self.transform(side, target),
            Effect::Trap => self.trap(target),
            _ => {}
        }
        true
    }

    fn call(&mut self, side: usize, called: u8, caller: u8) {
        self.battle.sides[side].selected = called;
        self.use_move(side, called, caller);
    }

    /// Change a stage by a move, and take again what the other's status takes; whether that changed anything.
    pub fn boost(&mut self, side: usize, target: usize, (stat, stages): (u8, i8), category: Category) -> bool {
        let mist = self.active(target).mist && category == Category::Status;
        if mist && side != target && stages < 0 {
            return false;
        }
        if !self.raise(target, usize::from(stat), stages) {
            return false;
        }
        let status = self.member(1 - side).status;
        self.active(1 - side).weaken(status);
        true
    }

    /// Change a stage; whether that changed anything.
    pub fn raise(&mut self, target: usize, stat: usize, stages: i8) -> bool {
        if !self.lives(target) {
            return false;
        }
        let active = self.active(target);
        let stage = &mut active.boosts[stat];
        let change = if stats::is_chance(stat) {
            stats::change_chance(stage, stages)
        } else {
            stats::change(active.stored[stat], &mut active.modified[stat], stage, stages)
        };
        change == Change::Changed
    }

    /// Give a status, with what it takes of the stats at once.
    pub fn inflict(&mut self, side: usize, target: usize, status: u8) {
        if status == ASLEEP && self.active(target).recharge {
            // Sleep comes over whoever has to recharge, whatever it suffers from.
            if self.set_status(side, target, status) {
                self.active(target).recharge = false;
            }
        } else if self.member(target).status == 0
            && self.set_status(side, target, status)
            && matches!(status, PARALYSED | BURNED)
        {
            self.active(target).weaken(status);
        }
    }

    fn set_status(&mut self, side: usize, target: usize, status: u8) -> bool {
        let who = &self.battle.sides[target];
        let immune = matches!(status, POISONED | TOXIC) && who.active.has_type(POISON);
        if who.member().hp == 0 || who.member().status == status || immune {
            return false;
        }
        // One of a team at a time may be put to sleep, and one frozen, by the other side.
        let claimed = who.team.iter().any(|member| match status {
            ASLEEP => member.hp > 0 && member.status == ASLEEP && member.slept_by_foe,
            FROZEN => member.status == FROZEN,
            _ => false,
        });
        if claimed && side != target {
            return false;
        }
        let sleep = if status == ASLEEP { chance::sleep_turns(self.draws) as u8 } else { 0 };
        let member = self.member_mut(target);
        member.status = status;
        member.sleep = sleep;
        member.slept_by_foe = status == ASLEEP && side != target;
        if status == TOXIC {
            self.active(target).toxic = 0;
        }
        true
    }

    pub fn confuse(&mut self, target: usize) {
        if self.lives(target) && self.active(target).confusion == 0 {
            self.active(target).confusion = chance::confusion_turns(self.draws) as u8;
        }
    }

    /// Go on thrashing, or begin to. The end is confusion, anew if it is there already.
    pub fn thrash(&mut self, side: usize, number: u8) {
        let active = self.active(side);
        if active.thrash_move > 0 {
            active.thrash_turns -= 1;
            if active.thrash_turns == 0 {
                active.confusion = 0;
                self.confuse(side);
            }
        } else {
            active.thrash_move = number;
            active.thrash_accuracy = 255;
            self.active(side).thrash_turns = chance::thrash_turns(self.draws) as i8;
        }
    }

    fn trap(&mut self, target: usize) {
        if self.lives(target) {
            self.active(target).trapped = 2;
        }
    }

    /// Hold on to the other for some turns, with the damage that was done first.
    pub fn begin_trap(&mut self, side: usize, number: u8) {
        if self.active(side).trap_turns > 0 {
            return;
        }
        let turns = TWO_TO_FIVE[chance::trap_turns(self.draws) as usize & 7];
        if !self.lives(1 - side) {
            return;
        }
        let (damage, place) = (self.battle.last_damage, self.battle.sides[1 - side].place);
        let active = self.active(side);
        active.trap_turns = turns;
        active.trap_total = turns;
        active.trap_damage = damage;
        active.trap_move = number;
        active.trap_target = place;
        self.trap(1 - side);
    }

    fn begin_bide(&mut self, side: usize) {
        if self.active(side).bide_turns == 0 {
            self.active(side).bide_turns = chance::bide_turns(self.draws) as u8;
        }
    }

    /// Give back what was stored. It reaches whoever is in battle, wherever that is.
    pub fn unleash(&mut self, side: usize, damage: i32) {
        let foe = 1 - side;
        if self.active(foe).substitute > 0 {
            self.strike_substitute(side, foe, damage, lookup(BIDE));
        } else {
            self.deal(side, foe, damage, lookup(BIDE));
            self.enrage(foe, lookup(BIDE));
        }
    }

    fn disable(&mut self, target: usize) {
        let active = self.active(target);
        if active.disable_turns > 0 {
            return;
        }
        let (moves, pp) = (active.moves, active.pp);
        let slots = (0..4).filter(|slot| moves[*slot] != 0 && pp[*slot] > 0);
        let slot = slots.clone().nth(chance::among(chance::disable_slot(self.draws), slots.count())).unwrap_or(0);
        let turns = chance::disable_turns(self.draws) as u8;
        let active = self.active(target);
        active.disable_turns = turns;
        active.disable_slot = slot as u8;
        active.disable_move = moves[slot];
    }

    fn haze(&mut self, side: usize) {
        for who in 0..2 {
            self.active(who).clear_boosts();
            if who != side {
                if self.member(who).sleeps_or_is_frozen() {
                    // It is cured, and yet has lost its turn.
                    self.battle.sides[who].selected = CANNOT_MOVE;
                    if self.queue.will_move(who) {
                        self.change(who, CANNOT_MOVE);
                    }
                }
                if self.lives(who) {
                    self.member_mut(who).cure();
                }
            }
            if self.member(who).status == TOXIC {
                self.member_mut(who).status = POISONED;
            }
            let active = self.active(who);
            active.end_disable();
            active.confusion = 0;
            active.mist = false;
            active.focus_energy = false;
            active.leech_seed = false;
            active.light_screen = false;
            active.reflect = false;
            active.toxic = -1;
        }
    }

    /// Whether healing works. At some amounts of HP it does not, by an overflow in the games.
    fn can_heal(&self, side: usize) -> bool {
        let member = self.member(side);
        let missing = member.max_hp - member.hp;
        missing != 0 && !(matches!(missing, 255 | 511) && member.hp & 255 != 0)
    }

    fn recover(&mut self, side: usize) -> bool {
        let heals = self.can_heal(side);
        if heals {
            self.heal(side, i32::from(self.member(side).max_hp / 2));
        }
        heals
    }

    fn rest(&mut self, side: usize) -> bool {
        if !self.can_heal(side) || !self.set_status(side, side, ASLEEP) {
            return false;
        }
        let member = self.member_mut(side);
        member.sleep = 2;
        member.hp = member.max_hp;
        true
    }

    fn make_substitute(&mut self, side: usize) {
        let whole = self.member(side).max_hp;
        let active = self.active(side);
        active.substitute = whole / 4 + 1;
        active.end_trapped();
        if whole > 3 {
            self.take(side, i32::from(whole / 4));
        }
    }

    fn mimic(&mut self, side: usize, target: usize) {
        let foe = &self.battle.sides[target].active;
        let (moves, count) = (foe.moves, foe.knows());
        let number = moves[chance::among(chance::mimic(self.draws), count).min(3)];
        let slot = usize::from(self.battle.sides[side].slot);
        if let Some(known) = self.active(side).moves.get_mut(slot) {
            *known = number;
        }
    }

    fn transform(&mut self, side: usize, target: usize) {
        let other = *self.active(target);
        let active = self.active(side);
        active.transformed = true;
        active.types = other.types;
        active.stored = other.stored;
        active.modified = other.modified;
        active.boosts = other.boosts;
        active.moves = other.moves;
        active.pp = other.moves.map(|number| lookup(number).pp.min(5));
    }
}
