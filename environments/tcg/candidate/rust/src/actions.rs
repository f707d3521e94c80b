//! What the numbers of actions mean (92), and sets of them.

pub const ACTIONS: usize = 52;
pub const END_OR_DONE: usize = 0;
pub const HAND: usize = 1;
pub const OWN: usize = 21;
pub const OTHERS: usize = 25;
pub const ATTACK: usize = 29;
pub const USE: usize = 31;
pub const LEAVE: usize = 35;
pub const CHARGE: usize = 36;
pub const SCRAP: usize = 40;
pub const ENERGY: usize = 44;

/// A bit for each action.
pub type Actions = u64;

/// As the mask that is shown.
pub fn mask(actions: Actions) -> [bool; ACTIONS] {
    std::array::from_fn(|action| actions >> action & 1 == 1)
}
