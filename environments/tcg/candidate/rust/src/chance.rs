//! All that is drawn: names as task.toml has them, and laws. Every law is uniform.

use lockstep_env::{Draw, Draws, Random, Rng};

use crate::data::DECK;

/// How many places of cards a free deck draws (13).
pub const LINES: usize = 24;
/// So many values a `pick` has (88).
const PICKS: i32 = 1 << 16;

/// What decks are made of (10 to 13), of both players.
#[derive(Debug)]
pub struct Origins {
    pub source: [i32; 2],
    pub archetype: [i32; 2],
    pub base: [i32; 2],
    pub line: [[i32; LINES]; 2],
}

/// Who goes first (20).
pub fn first<D: Draws>(draws: &mut D) -> i32 {
    draws.draw(&Draw::new("first"), |random| below(random, 2))
}

/// All draws of both decks, whether they are needed or not (10).
pub fn origins<D: Draws>(draws: &mut D, counts: [usize; 3]) -> Origins {
    let [archetypes, basics, cards] = counts.map(|count| count as u64);
    Origins {
        source: draws.draw(&Draw::new("source"), |random| std::array::from_fn(|_| below(random, 2))),
        archetype: draws.draw(&Draw::new("archetype"), |random| std::array::from_fn(|_| below(random, archetypes))),
        base: draws.draw(&Draw::new("base"), |random| std::array::from_fn(|_| below(random, basics))),
        line: draws
            .draw(&Draw::new("line"), |random| std::array::from_fn(|_| std::array::from_fn(|_| below(random, cards)))),
    }
}

/// The numbers by which a deck is sorted (16).
pub fn shuffle<D: Draws>(draws: &mut D) -> [i32; DECK] {
    draws.draw(&Draw::new("shuffle"), |random| std::array::from_fn(|_| (random.next_u32() >> 1) as i32))
}

/// A number that names a type of the deck (45).
pub fn energy<D: Draws>(draws: &mut D) -> i32 {
    draws.draw(&Draw::new("energy"), |random| below(random, 6))
}

/// Whether a coin shows heads (66).
#[inline]
pub fn coin<D: Draws>(draws: &mut D) -> bool {
    draws.draw(&Draw::<i32>::new("coin"), |random| below(random, 2)) != 0
}

/// The place of one of so many things (88).
pub fn pick<D: Draws>(draws: &mut D, things: usize) -> usize {
    let drawn = draws.draw(&Draw::<i32>::new("pick"), |random| below(random, PICKS as u64));
    (drawn.clamp(0, PICKS - 1) as usize * things) >> 16
}

/// From 0, each as likely as the others by less than one in ten million.
fn below(random: &mut Random, count: u64) -> i32 {
    ((u64::from(random.next_u32()) * count) >> 32) as i32
}
