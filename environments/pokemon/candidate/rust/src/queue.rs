//! Actions of a turn, in their order.

use std::cmp::Ordering;

/// What is to be done. The order of the kinds is that in which they are done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Someone comes in for one who fainted.
    #[default]
    Replace,
    /// Who came in takes effect.
    Enter,
    Switch,
    Move,
    /// The end of the turn.
    Residual,
}

/// One action.
#[derive(Clone, Copy, Debug, Default)]
pub struct Action {
    pub kind: Kind,
    pub side: u8,
    pub number: u8,
    pub place: u8,
    pub priority: i8,
    pub speed: u16,
}

impl Action {
    /// Less is earlier; equal is decided by chance.
    pub fn compare(&self, other: &Action) -> Ordering {
        let kinds = self.kind.cmp(&other.kind);
        kinds.then(other.priority.cmp(&self.priority)).then(other.speed.cmp(&self.speed))
    }
}

const ROOM: usize = 6;

/// What is still to be done in a turn.
#[derive(Debug, Default)]
pub struct Queue {
    actions: [Action; ROOM],
    length: usize,
}

impl Queue {
    pub fn push(&mut self, action: Action) {
        self.insert(self.length, action);
    }

    /// Put an action before those at a place and after it.
    pub fn insert(&mut self, place: usize, action: Action) {
        if self.length < ROOM && place <= self.length {
            self.actions.copy_within(place..self.length, place + 1);
            self.actions[place] = action;
            self.length += 1;
        }
    }

    pub fn shift(&mut self) -> Option<Action> {
        let first = *self.list().first()?;
        self.actions.copy_within(1..self.length, 0);
        self.length -= 1;
        Some(first)
    }

    pub fn list(&self) -> &[Action] {
        &self.actions[..self.length]
    }

    /// Forget what a side was going to do.
    pub fn cancel(&mut self, side: usize) {
        let mut kept = 0;
        for at in 0..self.length {
            let action = self.actions[at];
            if usize::from(action.side) != side || action.kind == Kind::Residual {
                self.actions[kept] = action;
                kept += 1;
            }
        }
        self.length = kept;
    }

    pub fn clear(&mut self) {
        self.length = 0;
    }

    /// Whether a side is still to use a move.
    pub fn will_move(&self, side: usize) -> bool {
        self.list().iter().any(|action| action.kind == Kind::Move && usize::from(action.side) == side)
    }
}
