//! The picture unit: LCDC to WX, the modes in time, video memory and object memory.
//!
//! Time is PyBoy's: one event at a time, each at `target` on a clock that begins again with every frame. A line is
//! drawn whole at the moment at which horizontal blank begins, from the registers as they are then.

mod events;
mod render;
pub(crate) mod stat;

use crate::FRAME_CLOCKS;
use crate::in_place::clone_in_place;
use crate::state::{Reader, StateError, Writer, require};
use stat::{Mode, Stat};

/// Pixels of the screen, from left to right.
pub const WIDTH: usize = 160;
/// Lines of the screen, from top to bottom.
pub const HEIGHT: usize = 144;

/// LCDC's bits.
pub(super) mod lcdc {
    pub(crate) const ENABLE: u8 = 0x80;
    pub(crate) const WINDOW_MAP: u8 = 0x40;
    pub(crate) const WINDOW: u8 = 0x20;
    pub(crate) const TILE_DATA: u8 = 0x10;
    pub(crate) const BACKGROUND_MAP: u8 = 0x08;
    pub(crate) const TALL_OBJECTS: u8 = 0x04;
    pub(crate) const OBJECTS: u8 = 0x02;
    pub(crate) const BACKGROUND: u8 = 0x01;
}

const LAST_LINE: u8 = 153;
/// Objects that one line can show.
const LINE_OBJECTS: usize = 10;
const OBJECTS: usize = 40;

/// What happens when the clock reaches `target`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// Mode 3 begins.
    Transfer,
    /// Mode 0 begins, and the line is drawn.
    HBlank,
    /// Mode 1 begins, or goes on with the next of its lines.
    VBlank,
    /// LY counts, still in mode 0.
    NextLine,
    /// Mode 2 begins.
    Scan,
    /// Line 0 begins where LY is 0 already: what a console without a boot ROM begins with.
    Wrap,
}

#[derive(Debug)]
pub(crate) struct Ppu {
    pub(crate) vram: Box<[u8; 0x2000]>,
    pub(crate) oam: [u8; 0xA0],
    /// Shades 0 (white) to 3 (black), line by line.
    pub(crate) screen: Box<[u8; WIDTH * HEIGHT]>,
    /// Whether lines are drawn. A blank screen is drawn always.
    pub(crate) drawing: bool,
    pub(crate) frame_done: bool,
    pub(crate) scy: u8,
    pub(crate) scx: u8,
    pub(crate) wy: u8,
    pub(crate) wx: u8,
    pub(crate) bgp: u8,
    pub(crate) obp0: u8,
    pub(crate) obp1: u8,
    pub(crate) lcdc: u8,
    pub(crate) ly: u8,
    pub(crate) lyc: u8,
    pub(crate) stat: Stat,
    /// Clocks of the frame, and when the next event is.
    pub(crate) clock: u64,
    pub(crate) target: u64,
    pub(crate) event: Event,
    pub(crate) seen: u64,
    /// Clocks until the next event and until the clock has run a whole frame; either can have passed.
    pub(crate) until_event: i64,
    pub(crate) until_frame: i64,
    /// What objects and scrolling added to this line's mode 3 and take from its mode 0.
    pub(crate) stretch: i64,
    /// The screen was switched on and the first frame has not ended.
    pub(crate) first_frame: bool,
    /// The screen was switched on and nothing has happened since.
    pub(crate) starting: bool,
    /// The next read of STAT shows mode 0.
    pub(crate) mode_hidden: bool,
    pub(crate) lyc_changed_while_off: bool,
    /// WY was LY in some line of this frame.
    pub(crate) window_reached: bool,
    /// The window's own line that was drawn last; PyBoy counts on where line 143 is not drawn.
    pub(crate) window_line: i16,
}

clone_in_place!(Ppu {
    vram,
    oam,
    screen,
    drawing,
    frame_done,
    scy,
    scx,
    wy,
    wx,
    bgp,
    obp0,
    obp1,
    lcdc,
    ly,
    lyc,
    stat,
    clock,
    target,
    event,
    seen,
    until_event,
    until_frame,
    stretch,
    first_frame,
    starting,
    mode_hidden,
    lyc_changed_while_off,
    window_reached,
    window_line,
});

impl Ppu {
    pub(crate) fn new() -> Self {
        Self {
            vram: Box::new([0; 0x2000]),
            oam: [0; 0xA0],
            // PyBoy's buffer begins as zeros in red, green and blue, which is the darkest shade.
            screen: Box::new([3; WIDTH * HEIGHT]),
            drawing: true,
            frame_done: false,
            scy: 0,
            scx: 0,
            wy: 0,
            wx: 0,
            bgp: 0xFC,
            obp0: 0xFF,
            obp1: 0xFF,
            lcdc: 0,
            ly: 0,
            lyc: 0,
            stat: Stat::new(),
            clock: 0,
            target: FRAME_CLOCKS,
            event: Event::Transfer,
            seen: 0,
            until_event: 0,
            until_frame: FRAME_CLOCKS as i64,
            stretch: 0,
            first_frame: false,
            starting: false,
            mode_hidden: false,
            lyc_changed_while_off: false,
            window_reached: false,
            window_line: 0,
        }
    }

    pub(crate) fn lcdc(&self) -> u8 {
        self.lcdc
    }

    pub(crate) fn ly(&self) -> u8 {
        self.ly
    }

    pub(crate) fn lyc(&self) -> u8 {
        self.lyc
    }

    /// The clock up to which the unit has run.
    pub(crate) fn seen(&self) -> u64 {
        self.seen
    }

    fn enabled(&self, bit: u8) -> bool {
        self.lcdc & bit != 0
    }

    /// Reads STAT. The first read after the screen was switched on with a changed LYC shows mode 0.
    pub(crate) fn read_stat(&mut self) -> u8 {
        let hidden = std::mem::take(&mut self.mode_hidden);
        if hidden { self.stat.value() & !0b11 } else { self.stat.value() }
    }

    /// Whether the next read of STAT shows mode 0, and the one after it the mode.
    pub(crate) fn mode_is_hidden(&self) -> bool {
        self.mode_hidden
    }

    pub(crate) fn write_stat(&mut self, value: u8) -> u8 {
        self.stat.write(value)
    }

    /// Writes LYC and returns the interrupt that the comparison raises, or 0.
    pub(crate) fn write_lyc(&mut self, value: u8) -> u8 {
        self.lyc = value;
        if self.enabled(lcdc::ENABLE) {
            self.compare()
        } else {
            self.lyc_changed_while_off = true;
            0
        }
    }

    /// Writes LCDC and returns the interrupt that it raises, or 0.
    pub(crate) fn write_lcdc(&mut self, value: u8) -> u8 {
        let was = self.enabled(lcdc::ENABLE);
        self.lcdc = value;
        match (was, self.enabled(lcdc::ENABLE)) {
            (true, false) => {
                self.clock = 0;
                self.target = 0;
                self.until_frame = 0;
                // The line may rise here, and PyBoy requests no interrupt for it.
                self.stat.set_mode(Mode::HBlank);
                self.ly = 0;
                0
            }
            (false, true) => {
                self.target = 0;
                self.first_frame = true;
                self.starting = true;
                if std::mem::take(&mut self.lyc_changed_while_off) {
                    self.mode_hidden = true;
                }
                if self.stat.coincidence_enabled() { self.compare() } else { 0 }
            }
            _ => 0,
        }
    }

    fn compare(&mut self) -> u8 {
        self.stat.set_coincidence(self.ly == self.lyc)
    }

    /// Clocks to `target`, where it is not past.
    fn closing(&self) -> Option<u64> {
        self.target.checked_sub(self.clock)
    }

    /// Whether a read of video memory gives 0xFF now.
    pub(crate) fn vram_unreadable(&self) -> bool {
        self.enabled(lcdc::ENABLE)
            && match self.stat.mode() {
                Mode::Transfer => true,
                Mode::Scan => self.closing().is_some_and(|left| left <= 4),
                _ => false,
            }
    }

    /// Whether a write to video memory is lost now.
    pub(crate) fn vram_unwritable(&self) -> bool {
        self.enabled(lcdc::ENABLE) && self.stat.mode() == Mode::Transfer
    }

    /// Whether a read of object memory gives 0xFF now.
    pub(crate) fn oam_unreadable(&self) -> bool {
        self.enabled(lcdc::ENABLE) && (self.stat.mode() >= Mode::Scan || self.first_frame && self.event == Event::Scan)
    }

    /// Whether a write to object memory is lost now. In the frame after switching on, the last four clocks of mode 2
    /// let it through.
    pub(crate) fn oam_unwritable(&self) -> bool {
        self.enabled(lcdc::ENABLE)
            && match self.stat.mode() {
                Mode::Transfer => true,
                Mode::Scan => !(self.first_frame && self.closing().is_some_and(|left| left <= 4)),
                _ => false,
            }
    }

    fn object_height(&self) -> u8 {
        if self.enabled(lcdc::TALL_OBJECTS) { 16 } else { 8 }
    }

    /// Whether an object at `y` of object memory has a row on this line of the screen.
    fn covers_line(&self, y: u8) -> bool {
        // A row above the object wraps to 17 at least.
        (self.ly + 16).wrapping_sub(y) < self.object_height()
    }

    pub(crate) fn save(&self, w: &mut Writer) {
        w.raw(&self.vram[..]);
        w.raw(&self.oam);
        w.raw(&self.screen[..]);
        w.bool(self.drawing);
        w.bool(self.frame_done);
        for byte in [
            self.scy,
            self.scx,
            self.wy,
            self.wx,
            self.bgp,
            self.obp0,
            self.obp1,
            self.lcdc,
            self.ly,
            self.lyc,
            self.event as u8,
        ] {
            w.u8(byte);
        }
        w.u16(self.window_line as u16);
        self.stat.save(w);
        w.u64(self.clock);
        w.u64(self.target);
        w.u64(self.seen);
        w.i64(self.until_event);
        w.i64(self.until_frame);
        w.i64(self.stretch);
        for flag in [self.first_frame, self.starting, self.mode_hidden, self.lyc_changed_while_off, self.window_reached]
        {
            w.bool(flag);
        }
    }

    pub(crate) fn load(&mut self, r: &mut Reader<'_>) -> Result<(), StateError> {
        r.fill(&mut self.vram[..])?;
        r.fill(&mut self.oam)?;
        r.fill(&mut self.screen[..])?;
        require(self.screen.iter().all(|&shade| shade < 4), "screen")?;
        self.drawing = r.bool("drawing")?;
        self.frame_done = r.bool("frame done")?;
        for byte in [
            &mut self.scy,
            &mut self.scx,
            &mut self.wy,
            &mut self.wx,
            &mut self.bgp,
            &mut self.obp0,
            &mut self.obp1,
            &mut self.lcdc,
        ] {
            *byte = r.u8()?;
        }
        self.ly = r.at_most(LAST_LINE, "LY")?;
        self.lyc = r.u8()?;
        self.event = match r.at_most(5, "picture event")? {
            0 => Event::Transfer,
            1 => Event::HBlank,
            2 => Event::VBlank,
            3 => Event::NextLine,
            4 => Event::Scan,
            _ => Event::Wrap,
        };
        // Below the screen there is nothing but blank lines to come.
        require(self.event == Event::VBlank || usize::from(self.ly) < HEIGHT, "picture event")?;
        self.window_line = r.u16()? as i16;
        self.stat.load(r)?;
        self.clock = r.u64()?;
        self.target = r.u64()?;
        // The unit waits for `target`, which therefore must come.
        require(self.target <= 2 * FRAME_CLOCKS, "picture target")?;
        self.seen = r.u64()?;
        self.until_event = r.i64()?;
        self.until_frame = r.i64()?;
        self.stretch = r.i64()?;
        require((-4..=120).contains(&self.stretch), "line stretch")?;
        self.first_frame = r.bool("first frame")?;
        self.starting = r.bool("screen starting")?;
        self.mode_hidden = r.bool("mode hidden")?;
        self.lyc_changed_while_off = r.bool("LYC changed")?;
        self.window_reached = r.bool("window reached")?;
        Ok(())
    }

    #[cfg(test)]
    fn run(&mut self, clocks: u64) -> u8 {
        let end = self.seen + clocks;
        let mut interrupts = 0;
        while self.seen < end {
            interrupts |= self.tick(self.seen + 1);
        }
        interrupts
    }
}

#[cfg(test)]
mod tests;
