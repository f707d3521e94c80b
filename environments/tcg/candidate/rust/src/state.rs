//! Where a game is, as small as it goes: 304 bytes.

use crate::cards::card;
use crate::data::{Card, DECK, TYPES};

pub const PLACES: usize = 4;
/// The active spot; the other places are the bench (25).
pub const ACTIVE: usize = 0;
pub const BENCH: std::ops::Range<usize> = 1..PLACES;

/// What is asked for: the first Pokémon, further ones, anything of a turn, an answer; or nothing any more.
pub const PLACE_ACTIVE: u8 = 0;
pub const PLACE_BENCH: u8 = 1;
pub const MAIN: u8 = 2;
pub const ASKED: u8 = 3;
pub const OVER: u8 = 4;

/// How far a turn is.
pub const IN_TURN: u8 = 0;
pub const TURN_ENDED: u8 = 1;
pub const CHECKED: u8 = 2;

/// Of these an active Pokémon has one (59).
pub const AWAKE: u8 = 0;
pub const ASLEEP: u8 = 1;
pub const PARALYSED: u8 = 2;
pub const CONFUSED: u8 = 3;

/// Who has so many cards in the hand does not draw (31).
pub const FULL_HAND: usize = 10;

/// Cards in an order: a deck from its top, or sorted ones. Zeros fill the end.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pile {
    pub cards: [u8; DECK],
    count: u8,
}

/// A hand, sorted: of equal cards those that the other player knows are last (28, 84).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Hand {
    pub pile: Pile,
    /// A bit for each card: whether the other player knows it.
    pub known: u32,
}

/// A Pokémon or fossil in play, or a free place: then everything is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pokemon {
    pub card: u8,
    /// From which cards it evolved, the first one first.
    pub under: [u8; 2],
    pub damage: u8,
    pub energy: [u8; TYPES],
    /// Came into play or evolved in this turn.
    pub fresh: u8,
    /// Its ability was used in this turn.
    pub used: u8,
}

/// What lies on an active Pokémon (61, 70).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OnActive {
    pub mind: u8,
    pub poisoned: u8,
    pub burned: u8,
    pub shield: u8,
    pub no_attack: u8,
    pub no_retreat: u8,
    pub weakened: u8,
}

/// A player.
#[derive(Clone, Copy, Debug, Default)]
pub struct Side {
    pub hand: Hand,
    pub deck: Pile,
    pub discard: Pile,
    pub places: [Pokemon; PLACES],
    pub on_active: OnActive,
    pub gagged: u8,
    pub points: u8,
    /// The energy of this turn and the next one; 0 is none (43).
    pub zone: [u8; 2],
    /// Of the deck; zeros fill the end.
    pub types: [u8; 3],
    /// So many cards at the top of the deck its player knows.
    pub looked: u8,
}

/// The effect that is carried out: its card, which part of that, the word at which it stands, and where self is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Run {
    pub card: u8,
    pub part: u8,
    pub word: u8,
    pub place: u8,
}

/// A game.
#[derive(Clone, Copy, Debug, Default)]
pub struct Game {
    pub sides: [Side; 2],
    pub run: Run,
    pub turn: u8,
    pub phase: u8,
    /// Who is in turn, and who is asked.
    pub player: u8,
    pub asked: u8,
    pub stage: u8,
    pub supporter: u8,
    pub retreated: u8,
    pub eased: u8,
    /// Who was chosen, counted from 1: own places, then the other player's.
    pub chosen: u8,
    /// How often the same is still asked.
    pub left: u8,
}

impl Pile {
    /// Cards of which none stands behind a zero.
    pub fn of(cards: [u8; DECK]) -> Option<Self> {
        let count = cards.iter().filter(|number| **number != 0).count();
        cards[count..].iter().all(|number| *number == 0).then_some(Pile { cards, count: count as u8 })
    }

    #[inline]
    pub fn list(&self) -> &[u8] {
        &self.cards[..self.len()]
    }

    pub fn list_mut(&mut self) -> &mut [u8] {
        let count = self.len();
        &mut self.cards[..count]
    }

    #[inline]
    pub fn len(&self) -> usize {
        usize::from(self.count).min(DECK)
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Put a card below all others.
    pub fn push(&mut self, number: u8) {
        self.insert(self.len(), number);
    }

    /// Put a card where it belongs by its number.
    pub fn sort_in(&mut self, number: u8) {
        self.insert(self.up_to(number), number);
    }

    /// Take out the card at a place.
    pub fn remove(&mut self, at: usize) -> u8 {
        let number = self.cards[at];
        self.cards.copy_within(at + 1.., at);
        self.cards[DECK - 1] = 0;
        self.count -= 1;
        number
    }

    fn insert(&mut self, at: usize, number: u8) {
        if self.len() < DECK {
            self.cards.copy_within(at..DECK - 1, at + 1);
            self.cards[at] = number;
            self.count += 1;
        }
    }

    /// How many cards of a sorted pile have this number or a lower one.
    fn up_to(&self, number: u8) -> usize {
        self.cards.iter().filter(|other| **other != 0 && **other <= number).count()
    }
}

impl Hand {
    /// A card comes into the hand.
    pub fn take(&mut self, number: u8, known: bool) {
        let at = self.pile.up_to(if known { number } else { number - 1 });
        let below = self.known & ((1 << at) - 1);
        self.known = below | u32::from(known) << at | (self.known & !below) << 1;
        self.pile.insert(at, number);
    }

    /// A card leaves the hand: of equal ones one that is known (84).
    pub fn give(&mut self, number: u8) {
        let Some(at) = self.pile.up_to(number).checked_sub(1) else { return };
        let below = self.known & ((1 << at) - 1);
        self.known = below | (self.known >> (at + 1)) << at;
        self.pile.remove(at);
    }

    /// The other player sees the hand (84).
    pub fn show(&mut self) {
        self.known = (1 << self.pile.len()) - 1;
    }
}

impl Pokemon {
    #[inline]
    pub fn card(&self) -> &'static Card {
        card(self.card)
    }

    #[inline]
    pub fn is_there(&self) -> bool {
        self.card != 0
    }

    /// The energy of a type.
    pub fn energy_mut(&mut self, kind: u8) -> &mut u8 {
        &mut self.energy[usize::from(kind.wrapping_sub(1)) & (TYPES - 1)]
    }

    pub fn all_energy(&self) -> u32 {
        self.energy.iter().map(|count| u32::from(*count)).sum()
    }

    /// Take damage, up to the hit points; how much that was (51).
    pub fn suffer(&mut self, amount: u32) -> u8 {
        let room = self.card().hp.saturating_sub(self.damage);
        let added = amount.min(u32::from(room)) as u8;
        self.damage += added;
        added
    }

    /// The cards that it consists of, the lowest first; zeros are none.
    pub fn cards(&self) -> [u8; 3] {
        [self.under[0], self.under[1], self.card]
    }
}

impl Side {
    #[inline]
    pub fn active(&self) -> &Pokemon {
        &self.places[ACTIVE]
    }

    pub fn active_mut(&mut self) -> &mut Pokemon {
        &mut self.places[ACTIVE]
    }

    pub fn has_bench(&self) -> bool {
        self.places[BENCH].iter().any(Pokemon::is_there)
    }

    pub fn in_play(&self) -> usize {
        self.places.iter().filter(|pokemon| pokemon.is_there()).count()
    }

    /// The free place of the bench with the lowest number (25).
    pub fn room(&self) -> Option<usize> {
        BENCH.into_iter().find(|place| !self.places[*place].is_there())
    }

    /// Take the top card of the deck, unless the hand is full or the deck is empty (31).
    pub fn draw(&mut self) {
        if self.hand.pile.len() < FULL_HAND && !self.deck.is_empty() {
            let number = self.deck.remove(0);
            self.hand.take(number, false);
            self.looked = self.looked.saturating_sub(1);
        }
    }

    /// Sort the deck by numbers; equal ones keep their order (16).
    pub fn shuffle(&mut self, numbers: &[i32; DECK]) {
        let deck = self.deck.cards;
        let mut order: [i64; DECK] = std::array::from_fn(|at| i64::from(numbers[at]) << 5 | at as i64);
        let count = self.deck.len();
        order[..count].sort_unstable();
        for (card, key) in self.deck.list_mut().iter_mut().zip(order) {
            *card = deck[(key & 31) as usize];
        }
        self.looked = 0;
    }

    /// A card comes into play on a free place, or onto another card.
    pub fn put(&mut self, place: usize, number: u8) {
        self.places[place].card = number;
        self.places[place].fresh = 1;
    }

    /// A Pokémon leaves play; its cards, the lowest first. Energy and all that lies on it are gone (27).
    pub fn clear(&mut self, place: usize) -> impl Iterator<Item = u8> + use<> {
        let gone = std::mem::take(&mut self.places[place]);
        if place == ACTIVE {
            self.on_active = OnActive::default();
        }
        gone.cards().into_iter().filter(|number| *number != 0)
    }

    /// A Pokémon goes to the discard pile.
    pub fn throw(&mut self, place: usize) {
        for number in self.clear(place) {
            self.discard.sort_in(number);
        }
    }

    /// The active Pokémon and the one at a place of the bench change places (81).
    pub fn exchange(&mut self, place: usize) {
        self.places.swap(ACTIVE, place);
        self.on_active = OnActive::default();
    }
}

impl Game {
    /// Who is in turn, as a place among the sides.
    #[inline]
    pub fn in_turn(&self) -> usize {
        usize::from(self.player & 1)
    }

    /// Whose Pokémon was chosen, seen from whose effect it is, and its place.
    pub fn chosen(&self, player: usize) -> (usize, usize) {
        let at = usize::from(self.chosen.saturating_sub(1));
        (if at < PLACES { player } else { 1 - player }, at % PLACES)
    }
}
