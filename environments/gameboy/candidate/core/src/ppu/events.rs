//! The picture unit in time: one event after the other, and how long a line's mode 3 is.

use super::stat::{Mode, SCAN_ENABLE};
use super::{Event, HEIGHT, LAST_LINE, LINE_OBJECTS, Ppu, lcdc};
use crate::FRAME_CLOCKS;
use crate::interrupt;

const LINES: u8 = HEIGHT as u8;
pub(super) const LINE_CLOCKS: u64 = 456;
const SCAN_CLOCKS: u64 = 80;
/// Transfer without objects and scrolling.
const TRANSFER_CLOCKS: u64 = 172;
/// From the end of horizontal blank, when LY counts, to mode 2.
const NEXT_LINE_CLOCKS: u64 = 4;
/// From the end of the boot ROM of the console to line 0.
const WRAP_CLOCKS: u64 = 56;
/// The first line after the screen was switched on has no mode 2 and is four clocks short.
const FIRST_LINE_CLOCKS: u64 = 76;

impl Ppu {
    /// Runs to clock `now`, through at most one event, and returns the interrupts to request.
    ///
    /// A fetch from video memory can have run the unit ahead of the processor, and PyBoy then runs it *back*: its clock
    /// is unsigned and wraps.
    pub(crate) fn tick(&mut self, now: u64) -> u8 {
        let elapsed = now.wrapping_sub(self.seen);
        if elapsed == 0 {
            return 0;
        }
        self.seen = now;
        self.clock = self.clock.wrapping_add(elapsed);
        let interrupts = if self.clock >= self.target { self.advance() } else { 0 };
        self.until_event = self.target.wrapping_sub(self.clock) as i64;
        self.until_frame = FRAME_CLOCKS.wrapping_sub(self.clock) as i64;
        interrupts
    }

    /// Whether running to clock `now` goes through an event.
    pub(crate) fn is_due(&self, now: u64) -> bool {
        self.clock.wrapping_add(now.wrapping_sub(self.seen)) >= self.target
    }

    fn advance(&mut self) -> u8 {
        if !self.enabled(lcdc::ENABLE) {
            self.frame_done = true;
            self.clock %= FRAME_CLOCKS;
            self.target = FRAME_CLOCKS;
            self.blank();
            return 0;
        }
        if self.starting {
            return self.start();
        }
        if self.ly == LAST_LINE {
            return self.end_frame();
        }
        match self.event {
            Event::NextLine => {
                self.ly += 1;
                self.target += NEXT_LINE_CLOCKS;
                self.event = Event::Scan;
                if self.first_frame { self.stat.set_coincidence(false) } else { self.compare() }
            }
            Event::Scan => {
                let mut interrupts = self.stat.set_mode(Mode::Scan);
                if self.first_frame {
                    interrupts |= self.compare();
                }
                self.target += SCAN_CLOCKS;
                self.event = Event::Transfer;
                self.window_reached |= self.wy == self.ly;
                interrupts
            }
            Event::Transfer => {
                let interrupts = self.stat.set_mode(Mode::Transfer);
                self.stretch = self.transfer_stretch();
                self.target = self.target.wrapping_add_signed(TRANSFER_CLOCKS as i64 + self.stretch);
                self.event = Event::HBlank;
                interrupts
            }
            Event::HBlank => self.begin_hblank(),
            Event::VBlank => self.next_vblank_line(),
            Event::Wrap => self.end_frame(),
        }
    }

    /// What the console's own boot ROM leaves: the screen is on, and a frame is about to end.
    pub(crate) fn begin_after_boot(&mut self, lcdc: u8) {
        self.lcdc = lcdc;
        self.stat.set_mode(Mode::VBlank);
        self.stat.set_coincidence(true);
        self.event = Event::Wrap;
        self.target = FRAME_CLOCKS;
        self.clock = FRAME_CLOCKS - WRAP_CLOCKS;
        self.until_event = WRAP_CLOCKS as i64;
        self.until_frame = WRAP_CLOCKS as i64;
    }

    /// The first event after switching on: a line without mode 2.
    fn start(&mut self) -> u8 {
        self.starting = false;
        self.frame_done = true;
        self.ly = 0;
        self.clock = 0;
        self.target = FIRST_LINE_CLOCKS;
        self.event = Event::Transfer;
        self.window_reached = self.wy == 0;
        self.stat.set_mode(Mode::HBlank) | self.compare()
    }

    fn end_frame(&mut self) -> u8 {
        if self.first_frame && self.target < FRAME_CLOCKS {
            // The short first line is made up for here, so that the frame has its length.
            self.target = FRAME_CLOCKS;
            return 0;
        }
        self.frame_done = true;
        self.first_frame = false;
        self.ly = 0;
        self.clock %= FRAME_CLOCKS;
        self.target = self.target % FRAME_CLOCKS + SCAN_CLOCKS;
        self.event = Event::Transfer;
        self.window_reached = self.wy == 0;
        self.stat.set_mode(Mode::Scan) | self.compare()
    }

    fn begin_hblank(&mut self) -> u8 {
        let interrupts = self.stat.set_mode(Mode::HBlank);
        let last = self.ly + 1 >= LINES;
        let next_line = if last && !self.first_frame { 0 } else { NEXT_LINE_CLOCKS };
        let clocks = LINE_CLOCKS - SCAN_CLOCKS - TRANSFER_CLOCKS - next_line;
        self.target = self.target.wrapping_add_signed(clocks as i64 - self.stretch);
        self.event = if last { Event::VBlank } else { Event::NextLine };
        if self.drawing {
            self.draw_line();
        }
        interrupts
    }

    fn next_vblank_line(&mut self) -> u8 {
        let mut interrupts = self.stat.set_mode(Mode::VBlank);
        self.target += LINE_CLOCKS;
        self.ly += 1;
        interrupts |= self.compare();
        if self.ly == LINES {
            // Mode 2's interrupt comes with the blank too.
            if self.stat.enabled(SCAN_ENABLE) && !self.stat.line() {
                interrupts |= interrupt::STAT;
            }
            interrupts |= interrupt::VBLANK;
            self.window_reached = false;
            if self.first_frame {
                self.blank();
            }
        }
        interrupts
    }

    /// Clocks by which this line's mode 3 is longer than 172; -4 where it has only objects beyond its right end.
    fn transfer_stretch(&self) -> i64 {
        let scroll = if self.first_frame { 0 } else { i64::from((self.scx & 7).div_ceil(4) * 4) };
        scroll + self.object_stretch()
    }

    fn object_stretch(&self) -> i64 {
        if !self.enabled(lcdc::OBJECTS) {
            return 0;
        }
        let mut found = 0;
        let mut penalty = 0;
        // One bit for each left edge at which an object was fetched: only the first there waits for its tile.
        let mut columns = [0u64; 3];
        for object in self.oam.chunks_exact(4) {
            if !self.covers_line(object[0]) {
                continue;
            }
            found += 1;
            let x = object[1];
            if x < 168 {
                penalty += 6;
                let (word, bit) = (usize::from(x >> 6), 1 << (x & 63));
                if columns[word] & bit == 0 {
                    columns[word] |= bit;
                    penalty += (5 - i64::from(x.wrapping_add(self.scx) & 7)).max(0);
                }
            }
            if found == LINE_OBJECTS {
                break;
            }
        }
        match (found, penalty) {
            (0, _) => 0,
            (_, 0) => -4,
            // The first seven clocks of fetching overlap those with which mode 3 begins.
            _ => (penalty - 7).max(0),
        }
    }
}
