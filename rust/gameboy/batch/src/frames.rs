//! Frames of one console, in parts after which it can be stopped.

use gameboy_core::GameBoy;
use lockstep_batch::Stop;

/// After so many frames a console looks whether it is to stop.
const FRAMES_AT_ONCE: u32 = 32;

/// Runs so many frames, of which the last is drawn if `render`, unless it is to stop.
pub(crate) fn run(console: &mut GameBoy, frames: u32, render: bool, stop: &Stop<'_>) {
    let mut left = frames;
    while left > 0 && !stop.now() {
        let some = left.min(FRAMES_AT_ONCE);
        left -= some;
        console.tick(some, render && left == 0, false);
    }
}
