//! All that is drawn: names as task.toml has them, and laws. Every law is uniform.

use lockstep_env::{Draw, Draws, Random, Rng};

macro_rules! draws {
    ($($name:ident: $low:literal..=$high:literal),* $(,)?) => {
        $(
            /// One draw.
            #[inline]
            pub fn $name<D: Draws>(draws: &mut D) -> i32 {
                const DRAW: Draw<i32> = Draw::new(stringify!($name));
                draws.draw(&DRAW, |random| uniform(random, $low, $high))
            }
        )*
    };
}

draws! {
    speed_tie: 0..=1,
    paralysed: 0..=255,
    confused: 0..=255,
    hit: 0..=255,
    crit: 0..=255,
    damage: 217..=255,
    secondary: 0..=255,
    sleep_turns: 1..=7,
    confusion_turns: 2..=5,
    thrash_turns: 2..=3,
    bide_turns: 2..=3,
    trap_turns: 0..=7,
    hits: 0..=7,
    disable_slot: 0..=65535,
    disable_turns: 1..=8,
    mimic: 0..=65535,
    metronome: 0..=162,
    psywave: 0..=65535,
}

/// What a battle begins with: of both sides, of six members.
#[derive(Debug)]
pub struct Beginning {
    pub source: [i32; 2],
    pub pool: [i32; 2],
    pub species: [[i32; 6]; 2],
    pub level: [[i32; 6]; 2],
    pub dv: [[[i32; 4]; 6]; 2],
    pub effort: [[[i32; 5]; 6]; 2],
    pub rank: [[[i32; 4]; 6]; 2],
}

/// All draws of a reset, each of them once.
pub fn beginning<D: Draws>(draws: &mut D) -> Beginning {
    Beginning {
        source: draws.draw(&Draw::new("source"), |random| std::array::from_fn(|_| uniform(random, 0, 1))),
        pool: draws.draw(&Draw::new("pool"), |random| std::array::from_fn(|_| uniform(random, 0, 255))),
        species: draws.draw(&Draw::new("species"), |random| sixes(random, 1, 151)),
        level: draws.draw(&Draw::new("level"), |random| sixes(random, 1, 100)),
        dv: draws.draw(&Draw::new("dv"), |random| tables(random, 0, 15)),
        effort: draws.draw(&Draw::new("effort"), |random| tables(random, 0, 255)),
        rank: draws.draw(&Draw::new("rank"), |random| tables(random, 0, 65535)),
    }
}

/// The place that a wide draw names among some.
pub fn among(draw: i32, count: usize) -> usize {
    (draw.clamp(0, 65535) as usize * count) >> 16
}

fn sixes(random: &mut Random, low: i32, high: i32) -> [[i32; 6]; 2] {
    std::array::from_fn(|_| std::array::from_fn(|_| uniform(random, low, high)))
}

fn tables<const N: usize>(random: &mut Random, low: i32, high: i32) -> [[[i32; N]; 6]; 2] {
    std::array::from_fn(|_| std::array::from_fn(|_| std::array::from_fn(|_| uniform(random, low, high))))
}

/// From low to high, each as likely as the others by less than one in ten million.
fn uniform(random: &mut Random, low: i32, high: i32) -> i32 {
    let count = (high - low + 1) as u64;
    low + ((u64::from(random.next_u32()) * count) >> 32) as i32
}
