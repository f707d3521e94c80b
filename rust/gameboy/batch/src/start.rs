//! How an episode begins, so that no two begin alike: from which state, and after what.

use crate::frames::run;
use gameboy_core::GameBoy;
use lockstep_batch::Stop;

/// What happens before the first observation of an episode. All of it follows from the episode's seed.
#[derive(Clone, Debug, Default)]
pub struct Start {
    /// States of which one is drawn. None: a console that was just switched on.
    pub pool: Vec<GameBoy>,
    /// At most so many frames pass with no button held, each number equally likely.
    pub idle_frames: u32,
    /// At most so many frames pass after them with buttons at random, each number equally likely.
    pub random_frames: u32,
}

/// Frames for which random buttons are held.
const HOLD: u32 = 4;

impl Start {
    /// Brings a console to the begin of an episode. The last frame is drawn, where there is one.
    pub(crate) fn begin(&self, console: &mut GameBoy, fresh: &GameBoy, seed: u64, stop: &Stop<'_>) {
        let mut chance = Chance(seed);
        let pool = if self.pool.is_empty() { std::slice::from_ref(fresh) } else { &self.pool };
        console.clone_from(&pool[chance.below(pool.len() as u64) as usize]);
        let idle = chance.below(u64::from(self.idle_frames) + 1) as u32;
        let random = chance.below(u64::from(self.random_frames) + 1) as u32;
        console.set_buttons(0);
        run(console, idle, random == 0, stop);
        let mut left = random;
        while left > 0 && !stop.now() {
            let frames = left.min(HOLD);
            left -= frames;
            console.set_buttons(1 << chance.below(8));
            console.tick(frames, left == 0, false);
        }
        console.set_buttons(0);
    }
}

/// SplitMix64 (Steele, Lea and Flood, 2014).
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`, by multiplication: its bias is below 2^-32 for the bounds here.
    fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }
}
