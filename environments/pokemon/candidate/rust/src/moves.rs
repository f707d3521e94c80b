//! Moves and types as they stand in the tables.

use crate::data::Move;
use crate::tables::{CHART, MOVES};

impl Move {
    /// Whether its type cannot touch any of some types.
    pub fn cannot_touch(&self, types: [u8; 2]) -> bool {
        let row = &CHART[usize::from(self.kind & 15)];
        !self.ignores_immunity && types.iter().any(|kind| row[usize::from(kind & 15)] == 0)
    }
}

/// A move by its number; none stands for numbers that no move has.
pub fn lookup(number: u8) -> &'static Move {
    MOVES.get(usize::from(number)).unwrap_or(&MOVES[0])
}
