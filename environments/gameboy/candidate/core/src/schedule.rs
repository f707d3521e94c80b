//! When the units run: a frame is slices of the processor's time, and between two of them whoever has something to do does it.
//!
//! PyBoy runs every unit after every slice. What a unit does before its next event is only counting, so that it can be
//! left behind until then, and nothing differs: with `shortcuts` off all run each time, which tests hold the other way
//! against. Between frames all have run as far as the processor.

use crate::FRAME_CLOCKS;
use crate::console::GameBoy;

/// The least that the processor runs between two looks at the other units.
const LEAST_SLICE: i64 = 4;

impl GameBoy {
    /// A frame ends where the screen wraps to line 0, is switched on or off, or has been off for the clocks of a frame.
    pub(crate) fn run_frame_with(&mut self, render: bool, sound: bool) {
        self.hold_buttons();
        self.ppu.frame_done = false;
        self.ppu.drawing = render;
        self.apu.sampling = sound;
        self.cpu.idle.disturb();
        // Whoever holds the console can have written anything since the last frame.
        self.cpu.touched = true;
        while !self.ppu.frame_done {
            self.run_slice(self.slice_clocks());
            self.sync_dma(0);
            self.run_units();
        }
    }

    /// Clocks to the next event of any unit.
    fn slice_clocks(&self) -> u64 {
        let now = self.cpu.clock;
        let ppu = self.ppu.until_event.min(self.ppu.until_frame);
        let next = left(self.timer.until_event, self.timer.seen(), now)
            .min(left(ppu, self.ppu.seen(), now))
            .min(left(self.serial.until_event, self.serial.seen(), now))
            .min(self.apu.until_event);
        next.max(LEAST_SLICE) as u64
    }

    /// A slice has ended.
    fn run_units(&mut self) {
        let now = self.cpu.clock;
        let all = self.cpu.touched || !self.shortcuts;
        // The sound chip's distance to its next event is a clock, and later than any slice in all but the first frames.
        if all || self.apu.until_event < FRAME_CLOCKS as i64 {
            self.run_apu();
        }
        if all || left(self.serial.until_event, self.serial.seen(), now) <= 0 {
            self.run_serial();
        }
        if all || self.timer.is_reloading() || left(self.timer.until_event, self.timer.seen(), now) <= 0 {
            self.run_timer();
        }
        // An access can have run the picture unit ahead of the processor, from where it is run back.
        if all || now < self.ppu.seen() || self.ppu.is_due(now) {
            self.run_ppu(now);
        }
        if self.ppu.frame_done && !all {
            self.run_apu();
            self.run_serial();
            self.run_timer();
            self.run_ppu(now);
        }
        self.cpu.touched = false;
        self.slice_end = now;
    }

    /// Brings the timer to the end of the last slice. No event of it lies before that.
    pub(crate) fn settle_timer(&mut self) {
        if self.slice_end > self.timer.seen() {
            self.timer.tick(self.slice_end);
        }
    }

    /// Brings the sound chip up to date, over the end of the last slice: whether wave RAM answers depends on where the
    /// chip's time was cut last.
    pub(crate) fn run_apu(&mut self) {
        self.apu.catch_up(self.slice_end);
        self.apu.tick(self.cpu.clock);
    }
}

/// What is left at clock `now` of a distance that was `until` at clock `seen`.
fn left(until: i64, seen: u64, now: u64) -> i64 {
    until.wrapping_sub(now.wrapping_sub(seen) as i64)
}
