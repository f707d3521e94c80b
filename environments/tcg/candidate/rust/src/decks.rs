//! Decks: those of the archetypes, and free ones made of draws; and the beginning of a game.

use lockstep_env::Draws;

use crate::cards::card;
use crate::chance::{self, LINES};
use crate::data::{DECK, Kind, TYPES};
use crate::state::{Game, PLACE_ACTIVE, Pile, Side};
use crate::tables::{ARCHETYPES, BASICS, FILL, IN_ORDER};
use crate::turn::energy;

const COPIES: usize = 2;
const FIRST_HAND: usize = 5;

/// A new game, up to the first question (16 to 22).
pub fn begin<D: Draws>(draws: &mut D) -> Game {
    let mut game = Game { phase: PLACE_ACTIVE, ..Game::default() };
    game.player = (chance::first(draws) & 1) as u8;
    game.asked = game.player;
    let origins = chance::origins(draws, [ARCHETYPES.len(), BASICS.len(), IN_ORDER.len()]);
    for (player, side) in game.sides.iter_mut().enumerate() {
        if origins.source[player] == 1 {
            let base = nth(&BASICS, origins.base[player]);
            (side.deck, side.types) = free(*base, &origins.line[player]);
        } else {
            let deck = nth(&ARCHETYPES, origins.archetype[player]);
            (side.deck, side.types) = (Pile::of(deck.cards).unwrap_or_default(), deck.types);
        }
    }
    for side in &mut game.sides {
        side.shuffle(&chance::shuffle(draws));
        deal(side);
    }
    for side in &mut game.sides {
        side.zone[1] = energy(side.types, draws);
    }
    game
}

/// The first hand: a basic Pokémon is among it (18, 19).
fn deal(side: &mut Side) {
    let basic = side.deck.list().iter().position(|number| card(*number).kind == Kind::Basic);
    if let Some(at) = basic.filter(|at| *at >= FIRST_HAND) {
        side.deck.list_mut().swap(FIRST_HAND - 1, at);
    }
    (0..FIRST_HAND).for_each(|_| side.draw());
}

/// A deck that grows.
struct Deck {
    cards: Pile,
    /// A bit for each type of energy in the costs of attacks.
    costs: u8,
}

/// The deck that draws make, and its types of energy (12 to 15).
fn free(base: u8, line: &[i32; LINES]) -> (Pile, [u8; 3]) {
    let mut deck = Deck { cards: Pile::default(), costs: card(base).costs };
    deck.bring_to(base, COPIES);
    for place in line {
        let number = *nth(&IN_ORDER, *place);
        match card(number).kind {
            Kind::Supporter | Kind::Item => deck.bring_to(number, (deck.copies(number) + 1).min(COPIES)),
            _ => deck.add_line(number),
        }
    }
    for number in FILL {
        deck.bring_to(number, COPIES);
    }
    deck.cards.list_mut().sort_unstable();
    (deck.cards, deck.types())
}

impl Deck {
    fn copies(&self, number: u8) -> usize {
        self.cards.cards.iter().filter(|other| **other == number).count()
    }

    /// Bring a card to so many copies, as long as there is room.
    fn bring_to(&mut self, number: u8, copies: usize) {
        for _ in self.copies(number)..copies {
            self.cards.push(number);
        }
    }

    /// Bring a card and all from which it evolves to two copies, if the deck then is still one (13).
    fn add_line(&mut self, last: u8) {
        let (mut size, mut costs) = (self.cards.len(), self.costs);
        for number in line(last) {
            size += COPIES.saturating_sub(self.copies(number));
            costs |= card(number).costs;
        }
        if size <= DECK && costs.count_ones() <= 2 {
            line(last).for_each(|number| self.bring_to(number, COPIES));
            self.costs = costs;
        }
    }

    /// Its types of energy in their order; grass where there are none (14).
    fn types(&self) -> [u8; 3] {
        let costs = if self.costs == 0 { 1 } else { self.costs };
        let mut types = (0..TYPES as u8).filter(|at| costs >> at & 1 == 1);
        std::array::from_fn(|_| types.next().map_or(0, |at| at + 1))
    }
}

/// A card and all from which it evolves, one after another.
fn line(last: u8) -> impl Iterator<Item = u8> {
    std::iter::successors(Some(last), |number| Some(card(*number).from).filter(|from| *from != 0))
}

/// What a draw names by its place; beyond the end it is the last one.
fn nth<T>(list: &[T], place: i32) -> &T {
    &list[(place.max(0) as usize).min(list.len() - 1)]
}
