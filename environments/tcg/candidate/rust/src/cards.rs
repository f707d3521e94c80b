//! Cards looked up by their numbers.

use crate::data::{Card, Filter, NO_CARD};
use crate::tables::{CARDS, SETS};

/// A card by its number.
#[inline]
pub fn card(number: u8) -> &'static Card {
    CARDS.get(usize::from(number)).unwrap_or(&NO_CARD)
}

impl Filter {
    /// Whether a card is one of them, damage apart.
    #[inline]
    pub fn fits(self, number: u8) -> bool {
        let bits = SETS[usize::from(self.set)][usize::from(number >> 6)];
        bits >> (number & 63) & 1 == 1
    }
}
