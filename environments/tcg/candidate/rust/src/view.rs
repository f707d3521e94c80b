//! What a player sees: nothing that is hidden (96, 97).

use crate::data::DECK;
use crate::state::{Game, Hand, Side};

pub const SIGHT: usize = 237;
/// So many cards at the top of a deck can be known.
const LOOKED: usize = 3;

/// A row of numbers that is filled from its beginning.
struct Page {
    numbers: [u8; SIGHT],
    at: usize,
}

impl Page {
    #[inline(always)]
    fn write<const N: usize>(&mut self, numbers: &[u8; N]) {
        self.numbers[self.at..self.at + N].copy_from_slice(numbers);
        self.at += N;
    }

    /// Of each place what belongs to its card, then what lies on the active Pokémon.
    #[inline(always)]
    fn write_in_play(&mut self, side: &Side) {
        for pokemon in &side.places {
            self.write(&[pokemon.card, pokemon.under[0], pokemon.under[1], pokemon.damage]);
            self.write(&pokemon.energy);
            self.write(&[pokemon.fresh, pokemon.used]);
        }
        let on_active = &side.on_active;
        self.write(&[on_active.mind, on_active.poisoned, on_active.burned, on_active.shield]);
        self.write(&[on_active.no_attack, on_active.no_retreat, on_active.weakened, side.gagged]);
    }
}

/// What a player sees of a game.
pub fn see(game: &Game, player: usize) -> [u8; SIGHT] {
    let (own, other) = (&game.sides[player], &game.sides[1 - player]);
    let mut page = Page { numbers: [0; SIGHT], at: 0 };
    page.write(&own.hand.pile.cards);
    page.write(&known(&other.hand));
    let looked = usize::from(own.looked);
    page.write::<LOOKED>(&std::array::from_fn(|at| if at < looked { own.deck.cards[at] } else { 0 }));
    page.write(&own.types);
    page.write(&[own.deck.len() as u8, other.deck.len() as u8]);
    page.write(&[own.hand.pile.len() as u8, other.hand.pile.len() as u8]);
    page.write(&own.discard.cards);
    page.write(&other.discard.cards);
    page.write(&own.zone);
    page.write(&other.zone);
    page.write(&[own.points, other.points]);
    page.write(&[game.turn, game.phase, game.supporter, game.retreated, game.eased, game.chosen, game.left]);
    page.write(&[u8::from(usize::from(game.player) == player), u8::from(usize::from(game.asked) == player)]);
    page.write(&[game.run.card, game.run.part, game.run.word, game.run.place]);
    page.write_in_play(own);
    // What is placed stays hidden until both have ended that (23).
    if game.turn > 0 {
        page.write_in_play(other);
    }
    page.numbers
}

/// The cards of a hand that the other player knows; zeros fill the end.
fn known(hand: &Hand) -> [u8; DECK] {
    let mut cards = [0; DECK];
    let mut bits = hand.known;
    for place in &mut cards {
        if bits == 0 {
            break;
        }
        *place = hand.pile.cards[bits.trailing_zeros() as usize];
        bits &= bits - 1;
    }
    cards
}
