//! Where a battle is, as small as it goes.

use crate::data::{ASLEEP, ATTACK, BURNED, FROZEN, PARALYSED, SPEED};
use crate::moves::lookup;
use crate::stats::lowered;
use crate::tables::SPECIES;

/// What a side is asked for.
pub const WAITS: u8 = 0;
pub const MOVES: u8 = 1;
pub const REPLACES: u8 = 2;

/// One of a team, in whatever place.
#[derive(Clone, Copy, Debug, Default)]
pub struct Member {
    pub max_hp: u16,
    pub hp: u16,
    /// Attack, defence, speed and special.
    pub stats: [u16; 4],
    pub species: u8,
    pub level: u8,
    /// None once it fainted.
    pub status: u8,
    /// Turns that it still sleeps.
    pub sleep: u8,
    /// Fell asleep by the other side: this counts for the clause.
    pub slept_by_foe: bool,
    /// Its substitute broke, and nothing was aimed at it since.
    pub sub_fainted: bool,
    /// Was in battle.
    pub seen: bool,
    /// Those that it has come first.
    pub moves: [u8; 4],
    pub pp: [u8; 4],
}

/// What only who is in battle has.
#[derive(Clone, Copy, Debug, Default)]
pub struct Active {
    pub trap_damage: i32,
    pub bide_damage: i32,
    /// Stats without stages, and with them and what paralysis and burns take.
    pub stored: [u16; 4],
    pub modified: [u16; 4],
    /// HP of the substitute.
    pub substitute: u16,
    /// Toxic's counter; -1 while nothing counts.
    pub toxic: i16,
    pub boosts: [i8; 6],
    pub types: [u8; 2],
    pub moves: [u8; 4],
    pub pp: [u8; 4],
    pub last_move: u8,
    pub confusion: u8,
    /// Turns that it is trapped if nothing renews the trap.
    pub trapped: u8,
    /// The trap just ended, and neither player can know.
    pub fake_trapped: u8,
    /// Turns that it still traps, of how many, by what, and whom.
    pub trap_turns: u8,
    pub trap_total: u8,
    pub trap_move: u8,
    pub trap_target: u8,
    pub thrash_move: u8,
    pub thrash_turns: i8,
    pub thrash_accuracy: u8,
    pub two_turn: u8,
    pub bide_turns: u8,
    pub disable_turns: u8,
    pub disable_slot: u8,
    pub disable_move: u8,
    /// Accuracy while it rages; 0 while it does not.
    pub rage: u8,
    pub transformed: bool,
    pub flinch: bool,
    pub trapped_maybe: bool,
    pub recharge: bool,
    pub invulnerable: bool,
    pub leech_seed: bool,
    pub focus_energy: bool,
    pub mist: bool,
    pub reflect: bool,
    pub light_screen: bool,
}

/// A player's team, and whom of it fights.
#[derive(Clone, Copy, Debug, Default)]
pub struct Side {
    pub active: Active,
    pub team: [Member; 6],
    /// Who is in battle.
    pub place: u8,
    /// The move that was last selected, and where it stood.
    pub selected: u8,
    pub slot: u8,
    /// The move that was last used, by whomever.
    pub last_move: u8,
    pub request: u8,
}

/// A battle.
#[derive(Clone, Copy, Debug, Default)]
pub struct Battle {
    pub sides: [Side; 2],
    pub last_damage: i32,
    pub turn: u16,
}

impl Member {
    pub fn sleeps_or_is_frozen(&self) -> bool {
        (self.status == ASLEEP) | (self.status == FROZEN)
    }

    pub fn cure(&mut self) {
        self.status = 0;
        self.sleep = 0;
        self.slept_by_foe = false;
    }
}

impl Active {
    /// How a member stands when it comes into battle, and when it has fainted.
    pub fn of(member: &Member) -> Self {
        let mut active = Active {
            stored: member.stats,
            modified: member.stats,
            types: SPECIES[usize::from(member.species.max(1) - 1)].types,
            moves: member.moves,
            pp: member.pp,
            toxic: -1,
            ..Active::default()
        };
        active.weaken(member.status);
        active
    }

    /// What a status takes of the stats, once each time.
    pub fn weaken(&mut self, status: u8) {
        match status {
            PARALYSED => self.modified[SPEED] = lowered(self.modified[SPEED], 0.25),
            BURNED => self.modified[ATTACK] = lowered(self.modified[ATTACK], 0.5),
            _ => {}
        }
    }

    pub fn has_type(&self, kind: u8) -> bool {
        kind != 0 && self.types.contains(&kind)
    }

    pub fn knows(&self) -> usize {
        self.moves.iter().filter(|number| **number != 0).count()
    }

    /// Can neither choose a move nor leave.
    pub fn is_locked(&self) -> bool {
        self.recharge | (self.rage > 0) | (self.thrash_move > 0) | (self.two_turn > 0)
    }

    /// Cannot choose a move, but may leave.
    pub fn is_bound(&self) -> bool {
        (self.trap_turns > 0) | (self.bide_turns > 0)
    }

    pub fn clear_boosts(&mut self) {
        self.boosts = [0; 6];
        self.modified = self.stored;
    }

    /// Put an end to what a turn spent otherwise interrupts.
    pub fn interrupt(&mut self) {
        self.end_bide();
        self.two_turn = 0;
        self.end_lock();
        self.end_thrash();
    }

    pub fn end_bide(&mut self) {
        self.bide_turns = 0;
        self.bide_damage = 0;
    }

    pub fn end_lock(&mut self) {
        self.trap_turns = 0;
        self.trap_total = 0;
        self.trap_damage = 0;
        self.trap_move = 0;
        self.trap_target = 0;
    }

    pub fn end_thrash(&mut self) {
        self.thrash_move = 0;
        self.thrash_turns = 0;
        self.thrash_accuracy = 0;
    }

    pub fn end_trapped(&mut self) {
        self.trapped = 0;
        self.trapped_maybe = false;
    }

    pub fn end_disable(&mut self) {
        self.disable_turns = 0;
        self.disable_slot = 0;
        self.disable_move = 0;
    }

    /// Which slots hold a move that can be chosen.
    pub fn usable(&self) -> [bool; 4] {
        std::array::from_fn(|slot| {
            let disabled = (self.disable_turns > 0) & (usize::from(self.disable_slot) == slot);
            (self.moves[slot] != 0) & (self.pp[slot] > 0) & !disabled
        })
    }
}

impl Side {
    pub fn member(&self) -> &Member {
        &self.team[usize::from(self.place)]
    }

    pub fn member_mut(&mut self) -> &mut Member {
        &mut self.team[usize::from(self.place)]
    }

    pub fn living(&self) -> usize {
        self.team.iter().filter(|member| member.hp > 0).count()
    }

    /// Whether all who live pass a test of what they are, their moves, PP and types.
    pub fn every(&self, test: impl Fn(&Member, [u8; 4], [u8; 4], [u8; 2]) -> bool) -> bool {
        self.team.iter().enumerate().all(|(place, member)| {
            if member.hp == 0 {
                true
            } else if place == usize::from(self.place) {
                test(member, self.active.moves, self.active.pp, self.active.types)
            } else {
                test(member, member.moves, member.pp, SPECIES[usize::from(member.species.max(1) - 1)].types)
            }
        })
    }

    /// The active one's PP of a slot, and with it what its team keeps of it.
    pub fn set_pp(&mut self, slot: usize, pp: u8) {
        self.active.pp[slot] = pp;
        if !self.active.transformed {
            self.member_mut().pp[slot] = pp;
        }
    }

    /// Spend a point of the move that was last selected; below none there are 63.
    pub fn spend(&mut self) {
        let slot = usize::from(self.slot);
        if self.active.moves.get(slot).is_some_and(|number| *number != 0) {
            self.set_pp(slot, self.active.pp[slot].wrapping_sub(1) & 63);
        }
    }

    /// Moves that call others make up for points that these spend later.
    pub fn repay(&mut self, number: u8) {
        let slot = usize::from(self.slot);
        if lookup(number).charges() && self.active.moves.get(slot).is_some_and(|known| *known != 0) {
            self.set_pp(slot, (self.active.pp[slot] + 1) & 63);
        }
        if self.active.transformed && self.member().moves.get(slot).is_some_and(|known| *known != 0) {
            let base = &mut self.member_mut().pp[slot];
            *base = (*base + 1) & 63;
        }
    }
}
