//! Damage (50 to 52).

use crate::cards::card;
use crate::data::{ALL, Word};
use crate::effect::Effect;
use crate::state::{ACTIVE, Game};

/// What a weakness adds.
const WEAKNESS: u32 = 20;

/// Damage of an attack to a Pokémon of the other player; how much was added.
pub fn attack(game: &mut Game, effect: &Effect, place: usize, amount: u32) -> u8 {
    let (own, other) = (&game.sides[effect.player], &game.sides[effect.other]);
    let (attacker, target) = (own.active().card(), other.places[place].card());
    let boost = if amount > 0 && place == ACTIVE { boost(game, own.active().card) } else { 0 };
    let mut amount = (amount + boost).saturating_sub(u32::from(own.on_active.weakened));
    if amount == 0 {
        return 0;
    }
    if place == ACTIVE && target.weakness == attacker.element {
        amount += WEAKNESS;
    }
    amount = amount.saturating_sub(u32::from(target.armour));
    if place == ACTIVE {
        let shield = other.on_active.shield;
        amount = if shield == ALL { 0 } else { amount.saturating_sub(u32::from(shield)) };
    }
    let added = game.sides[effect.other].places[place].suffer(amount);
    if place == ACTIVE && added > 0 {
        game.sides[effect.player].active_mut().suffer(u32::from(target.counter));
    }
    added
}

/// What the supporter of this turn adds to an attack of a Pokémon (87).
fn boost(game: &Game, attacker: u8) -> u32 {
    let found = card(game.supporter).effect.iter().find_map(|word| match word {
        Word::Boost(amount, filter) if filter.fits(attacker) => Some(u32::from(*amount)),
        _ => None,
    });
    found.unwrap_or(0)
}
