//! A turn: what was chosen, one after the other, until something is to be chosen again.

use std::cmp::Ordering;

use lockstep_env::Draws;

use crate::chance;
use crate::choice;
use crate::data::{FROZEN, GHOST, METRONOME, POISONED, SPEED, TOXIC, TRANSFORM};
use crate::queue::{Action, Kind, Queue};
use crate::state::{Active, Battle, MOVES, REPLACES, WAITS};

const LAST_TURN: u16 = 1000;

/// How a battle ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Won(usize),
    Tied,
}

/// A battle while it goes on.
#[derive(Debug)]
pub struct Play<'a, D> {
    pub battle: &'a mut Battle,
    pub draws: &'a mut D,
    pub queue: Queue,
    /// Whose active one fainted, and is done with.
    down: [bool; 2],
    /// Who lost one in this turn: whoever comes in for it is spared what its status does.
    lost: [bool; 2],
}

/// Go on by the actions of both players, of whom those who are not asked are not heard.
pub fn step<D: Draws>(battle: &mut Battle, actions: [i32; 2], draws: &mut D) -> Option<End> {
    let down = [0, 1].map(|side| battle.sides[side].member().hp == 0);
    let mut play = Play { battle, draws, queue: Queue::default(), down, lost: down };
    let end = play.go(actions);
    if end.is_some() {
        battle.sides[0].request = WAITS;
        battle.sides[1].request = WAITS;
    }
    end
}

impl<D: Draws> Play<'_, D> {
    fn go(&mut self, actions: [i32; 2]) -> Option<End> {
        let new_turn = self.battle.sides.iter().all(|side| side.request == MOVES);
        if self.battle.sides.iter().all(|side| side.request == WAITS) {
            return None;
        }
        let chosen = [0, 1].map(|side| choice::act(self.battle, side, actions[side]));
        self.order(chosen);
        if new_turn {
            self.begin_turn();
            self.queue.push(Action { kind: Kind::Residual, ..Action::default() });
        }
        while let Some(action) = self.queue.shift() {
            self.run(action);
            if let Some(end) = self.bury() {
                return Some(end);
            }
            if self.queue.list().is_empty() && self.down.contains(&true) {
                for (side, down) in self.battle.sides.iter_mut().zip(self.down) {
                    side.request = if down { REPLACES } else { WAITS };
                }
                return None;
            }
        }
        self.end_turn()
    }

    fn order(&mut self, chosen: [Option<Action>; 2]) {
        let (first, second) = match chosen {
            [Some(first), Some(second)] => match first.compare(&second) {
                Ordering::Less => (first, second),
                Ordering::Greater => (second, first),
                Ordering::Equal if chance::speed_tie(self.draws) == 0 => (first, second),
                Ordering::Equal => (second, first),
            },
            [Some(only), None] | [None, Some(only)] => return self.queue.push(only),
            [None, None] => return,
        };
        self.queue.push(first);
        self.queue.push(second);
    }

    /// Whoever thrashes about does so, whatever was selected. The faster one comes first.
    fn begin_turn(&mut self) {
        let speed = |side: usize| self.battle.sides[side].active.modified[SPEED];
        let order = if speed(1) > speed(0) { [1, 0] } else { [0, 1] };
        for side in order {
            let number = self.battle.sides[side].active.thrash_move;
            if number > 0 {
                self.change(side, number);
            }
        }
    }

    /// Let a side use another move than it was going to.
    pub fn change(&mut self, side: usize, number: u8) {
        self.queue.cancel(side);
        let speed = self.battle.sides[side].active.modified[SPEED];
        self.insert(Action::of_move(side, number, speed));
    }

    /// Put an action where it belongs; beside one that is equal to it chance decides.
    fn insert(&mut self, action: Action) {
        let mut place = self.queue.list().len();
        for (at, other) in self.queue.list().iter().enumerate() {
            match action.compare(other) {
                Ordering::Greater => continue,
                Ordering::Less => place = at,
                Ordering::Equal => place = at + chance::speed_tie(self.draws) as usize,
            }
            break;
        }
        self.queue.insert(place, action);
    }

    fn run(&mut self, action: Action) {
        let side = usize::from(action.side);
        match action.kind {
            Kind::Replace | Kind::Switch => self.switch(side, action.place),
            Kind::Enter => self.enter(side),
            Kind::Move => self.run_move(side, action.number),
            Kind::Residual => self.residual(),
        }
    }

    fn switch(&mut self, side: usize, place: u8) {
        self.queue.cancel(side);
        let who = &mut self.battle.sides[side];
        who.place = place.min(5);
        who.member_mut().seen = true;
        who.active = Active::of(who.member());
        let speed = who.active.modified[SPEED];
        self.down[side] = false;
        self.insert(Action { kind: Kind::Enter, side: side as u8, speed, ..Action::default() });
    }

    fn enter(&mut self, side: usize) {
        let member = self.battle.sides[side].member_mut();
        if member.status == TOXIC {
            member.status = POISONED;
        }
        self.battle.sides.iter_mut().for_each(|side| side.active.last_move = 0);
        self.battle.sides[side].slot = 0;
        let foe = &mut self.battle.sides[1 - side];
        let traps = foe.active.trap_turns > 0 && foe.member().hp > 0;
        if traps && foe.active.moves[usize::from(foe.slot & 3)] == METRONOME {
            foe.selected = METRONOME;
            if self.queue.will_move(1 - side) {
                self.change(1 - side, METRONOME);
            }
        }
        if !self.lost[side] {
            self.suffer_entering(side);
        }
    }

    /// Count down what lasts for turns.
    fn residual(&mut self) {
        for side in &mut self.battle.sides {
            let active = &mut side.active;
            active.flinch = false;
            active.fake_trapped = active.fake_trapped.saturating_sub(1);
            match active.trapped {
                1 => active.end_trapped(),
                turns => active.trapped = turns.saturating_sub(1),
            }
            match active.trap_turns {
                1 => active.end_lock(),
                turns => active.trap_turns = turns.saturating_sub(1),
            }
        }
    }

    /// Take away who fainted. This ends the turn, and perhaps the battle.
    fn bury(&mut self) -> Option<End> {
        let gone = [0, 1].map(|side| self.battle.sides[side].member().hp == 0 && !self.down[side]);
        if gone == [false, false] {
            return None;
        }
        for (side, gone) in gone.into_iter().enumerate() {
            let who = &mut self.battle.sides[side];
            if gone {
                who.active = Active::of(who.member());
                who.member_mut().cure();
                self.down[side] = true;
                self.lost[side] = true;
            } else {
                who.active.bide_damage = 0;
            }
        }
        self.queue.clear();
        match [0, 1].map(|side| self.battle.sides[side].living() > 0) {
            [false, false] => Some(End::Tied),
            [true, false] => Some(End::Won(0)),
            [false, true] => Some(End::Won(1)),
            [true, true] => None,
        }
    }

    fn end_turn(&mut self) -> Option<End> {
        self.battle.turn += 1;
        self.free(0);
        self.free(1);
        if (is_stuck(self.battle, 0) && is_stuck(self.battle, 1)) || self.battle.turn > LAST_TURN {
            return Some(End::Tied);
        }
        self.battle.sides.iter_mut().for_each(|side| side.request = MOVES);
        None
    }

    /// Traps end with either of the two.
    fn free(&mut self, side: usize) {
        let foe = &self.battle.sides[1 - side];
        let (lives, place, other) = (foe.member().hp > 0, foe.place, foe.active);
        let active = &mut self.battle.sides[side].active;
        if active.trap_turns > 0 && !(lives && other.trapped > 0 && active.trap_target == place) {
            active.end_lock();
        }
        if active.trapped > 0 && !(lives && other.trap_turns > 0) {
            active.end_trapped();
        }
        if active.fake_trapped > 0 && !(lives && other.fake_trapped > 0) {
            active.fake_trapped = 0;
        }
    }
}

/// Whether nothing that a side can do would ever bring the battle on.
fn is_stuck(battle: &Battle, side: usize) -> bool {
    let (mine, foe) = (&battle.sides[side], &battle.sides[1 - side]);
    mine.every(|member, moves, pp, _| {
        member.status == FROZEN
            || (only_transforms(moves) && foe.every(|_, moves, _, _| only_transforms(moves)))
            || (pp == [0; 4] && foe.every(|_, _, _, types| types.contains(&GHOST)))
    })
}

fn only_transforms(moves: [u8; 4]) -> bool {
    moves.iter().all(|number| matches!(*number, 0 | TRANSFORM))
}
