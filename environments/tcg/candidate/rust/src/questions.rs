//! Words that ask somebody: what may be answered, and what an answer does.
//!
//! A question is open while the phase is ASKED. It is the word at which the running effect stands, so that the state alone
//! says what may be answered.

use crate::actions::{ATTACK, Actions, ENERGY, OTHERS, OWN};
use crate::cards::card;
use crate::data::{Card, Filter, Where, Whose, Word};
use crate::effect::{ATTACK_1, Effect};
use crate::state::{ACTIVE, BENCH, Game, OnActive, PLACES, Pokemon, Run, Side};

/// Whether a word asks somebody.
pub fn asks(word: Word) -> bool {
    matches!(
        word,
        Word::Choose(..) | Word::Spread(_) | Word::Push | Word::Copy | Word::Pay | Word::Evolve | Word::Promote
    )
}

/// Set what is counted down; whether anything is to be asked at all.
pub fn begin(game: &mut Game, effect: &Effect, word: Word) -> bool {
    let left = match word {
        Word::Spread(_) => effect.heads,
        Word::Pay => retreat_cost(game, game.sides[effect.player].active().card()),
        _ => return true,
    };
    game.left = left;
    left > 0
}

/// What may be answered.
pub fn answers(game: &Game, effect: &Effect, word: Word) -> Actions {
    let (own, other) = (&game.sides[effect.player], &game.sides[effect.other]);
    match word {
        Word::Choose(Whose::Own, places, filter) => choice(own, places, filter) << OWN,
        Word::Choose(Whose::Foe, places, filter) => choice(other, places, filter) << OTHERS,
        Word::Spread(kind) => where_is(own, BENCH, |pokemon| pokemon.card().element == kind) << OWN,
        Word::Push => where_is(other, BENCH, |_| true) << OWN,
        Word::Promote => where_is(own, BENCH, |_| true) << OWN,
        Word::Copy if game.chosen == 0 => {
            where_is(other, 0..PLACES, |pokemon| !pokemon.card().attacks.is_empty()) << OTHERS
        }
        Word::Copy => ((1 << copied(game, effect).attacks.len()) - 1) << ATTACK,
        Word::Pay => {
            let types = own.active().energy.iter().enumerate();
            types.fold(0, |all, (at, count)| all | u64::from(*count > 0) << (ENERGY + at))
        }
        Word::Evolve => evolving(game, effect.player, card(game.run.card)) << OWN,
        _ => 0,
    }
}

/// Do what an answer says; whether the same is asked again, as far as it can be answered.
pub fn take(game: &mut Game, effect: &Effect, word: Word, action: usize) -> bool {
    let own = &mut game.sides[effect.player];
    match word {
        Word::Choose(..) => game.chosen = (action + 1 - OWN) as u8,
        Word::Spread(kind) => {
            *own.places[action - OWN].energy_mut(kind) += 1;
            game.left = game.left.saturating_sub(1);
            return game.left > 0;
        }
        Word::Push => game.sides[effect.other].exchange(action - OWN),
        Word::Promote => own.exchange(action - OWN),
        Word::Copy if game.chosen == 0 => {
            game.chosen = (action + 1 - OWN) as u8;
            return true;
        }
        Word::Copy => copy(game, effect, action - ATTACK),
        Word::Pay => {
            own.active_mut().energy[action - ENERGY] -= 1;
            game.left = game.left.saturating_sub(1);
            return game.left > 0;
        }
        Word::Evolve => evolve(own, action - OWN, game.run.card),
        _ => {}
    }
    false
}

/// How much energy a retreat costs in this turn (41).
pub fn retreat_cost(game: &Game, active: &Card) -> u8 {
    active.retreat.saturating_sub(game.eased)
}

/// The places of Pokémon on which an evolution can be played, as bits (34).
pub fn evolving(game: &Game, player: usize, evolution: &Card) -> Actions {
    if game.turn <= 2 || evolution.from == 0 {
        return 0;
    }
    where_is(&game.sides[player], 0..PLACES, |pokemon| pokemon.card == evolution.from && pokemon.fresh == 0)
}

/// The chosen ones of a side by place, as bits (77).
fn choice(side: &Side, places: Where, filter: Filter) -> Actions {
    let range = match places {
        Where::Any => 0..PLACES,
        Where::Bench => BENCH,
        Where::Active => ACTIVE..ACTIVE + 1,
    };
    where_is(side, range, |pokemon| filter.fits(pokemon.card) && (!filter.hurt || pokemon.damage > 0))
}

fn where_is(side: &Side, places: std::ops::Range<usize>, is_one: impl Fn(&Pokemon) -> bool) -> Actions {
    places.fold(0, |all, place| {
        let pokemon = &side.places[place];
        all | u64::from(pokemon.is_there() && is_one(pokemon)) << place
    })
}

fn copied(game: &Game, effect: &Effect) -> &'static Card {
    let (player, place) = game.chosen(effect.player);
    game.sides[player].places[place].card()
}

/// Go on with another Pokémon's attack as one of self, from its first word (89).
fn copy(game: &mut Game, effect: &Effect, at: usize) {
    let (player, place) = game.chosen(effect.player);
    let number = game.sides[player].places[place].card;
    let Some(attack) = card(number).attacks.get(at) else { return };
    if attack.is_affordable(&game.sides[effect.player].active().energy) && !attack.copies() {
        game.run = Run { card: number, part: ATTACK_1 + at as u8, word: 0, place: ACTIVE as u8 };
        game.chosen = 0;
    }
}

/// Put an evolution on a Pokémon (34, 35).
fn evolve(side: &mut Side, place: usize, number: u8) {
    let pokemon = &mut side.places[place];
    let below = pokemon.card;
    if let Some(free) = pokemon.under.iter_mut().find(|card| **card == 0) {
        *free = below;
    }
    pokemon.used = 0;
    side.put(place, number);
    if place == ACTIVE {
        side.on_active = OnActive::default();
    }
}
