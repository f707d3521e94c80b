//! What a side may do, and what it does by what it chose.

use crate::data::{CANNOT_MOVE, SPEED, STRUGGLE};
use crate::moves::lookup;
use crate::queue::{Action, Kind};
use crate::state::{Battle, MOVES, REPLACES, Side};

/// Four moves, then who of the team comes in.
pub type Mask = [bool; 10];

/// Which actions are legal. Of what is random in a battle nothing branches here: it would be guessed wrong half the time.
pub fn legal(battle: &Battle, side: usize) -> Mask {
    let side = &battle.sides[side];
    let (moves, fights) = (moves(side), side.request == MOVES);
    let leaves = (side.request == REPLACES) | (fights & !side.active.is_locked());
    let mut mask = [false; 10];
    for (legal, usable) in mask.iter_mut().zip(moves) {
        *legal = fights & usable;
    }
    for (place, (legal, member)) in mask[4..].iter_mut().zip(&side.team).enumerate() {
        *legal = leaves & (member.hp > 0) & (place != usize::from(side.place));
    }
    mask
}

/// What a side's choice puts in the queue. A choice that is not legal counts as the first that is.
pub fn act(battle: &mut Battle, side: usize, action: i32) -> Option<Action> {
    let mask = legal(battle, side);
    let chosen = usize::try_from(action).ok().filter(|at| mask.get(*at).is_some_and(|legal| *legal));
    let chosen = chosen.or_else(|| mask.iter().position(|legal| *legal))?;
    let who = &mut battle.sides[side];
    let speed = who.active.modified[SPEED];
    if chosen >= 4 {
        let kind = if who.request == REPLACES { Kind::Replace } else { Kind::Switch };
        return Some(Action { kind, side: side as u8, speed, place: chosen as u8 - 4, ..Action::default() });
    }
    select(who, chosen);
    Some(Action::of_move(side, who.selected, speed))
}

/// The slots among which a move is chosen. Where there is nothing to choose the first one stands for it.
fn moves(side: &Side) -> [bool; 4] {
    let active = &side.active;
    let maybe = maybe_locked(side);
    let fights = side.member().sleeps_or_is_frozen() | ((active.trapped > 0) & !maybe);
    let usable = active.usable();
    let none = !usable.iter().fold(false, |any, usable| any | usable);
    let one = none | active.is_locked() | (!maybe & active.is_bound()) | fights;
    std::array::from_fn(|slot| (one & (slot == 0)) | (!one & usable[slot]))
}

/// Whether the player cannot know if a move can be chosen.
fn maybe_locked(side: &Side) -> bool {
    let active = &side.active;
    let mut maybe = ((active.trapped > 0) & active.trapped_maybe) | (active.fake_trapped > 0);
    maybe &= !side.member().sleeps_or_is_frozen();
    maybe |= (active.trap_turns > 0) & (active.trap_total > active.trap_turns.wrapping_add(1));
    maybe & (active.bide_turns == 0)
}

/// Select a move. Whoever is locked, asleep or frozen goes on with what was selected before.
fn select(side: &mut Side, slot: usize) {
    let active = &side.active;
    if active.is_locked() || active.is_bound() || side.member().sleeps_or_is_frozen() {
        return;
    }
    if active.trapped > 0 {
        side.selected = CANNOT_MOVE;
    } else if !active.usable().contains(&true) {
        side.selected = STRUGGLE;
    } else {
        side.selected = active.moves[slot];
        side.slot = slot as u8;
    }
}

impl Action {
    /// A move that is to be used.
    pub fn of_move(side: usize, number: u8, speed: u16) -> Self {
        Action { kind: Kind::Move, side: side as u8, number, priority: lookup(number).priority, speed, place: 0 }
    }
}
