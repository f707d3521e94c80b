//! The leaves of the canonical state, and the console that they tell of.

use std::fmt::Display;
use std::ops::RangeInclusive;

use gameboy_core::{Cartridge, FRAME_CLOCKS, GameBoy, HEIGHT, Memories, Parts, RAM_BANK, WIDTH};
use lockstep_env::{Refused, leaves};

const LAST_CLOCK: i64 = 1 << 62;
const TWO_FRAMES: i64 = 2 * FRAME_CLOCKS as i64;
/// Banks of the cartridge's RAM that a row shows.
const RAM_SHOWN: usize = 4 * RAM_BANK;
const FOURS: usize = WIDTH / 4;

/// A row is `field: type => path, limits;`: a field of [`Parts`] of the same name, and which of its values are taken.
macro_rules! state {
    ($($field:ident: $kind:ty => $path:literal $(, $limits:expr)?;)*) => {
        leaves! {
            /// Everything that decides the future; README.md of the task says what each leaf means.
            pub struct State {
                pub inserted: i32 => "cartridge/inserted",
                $(pub $field: $kind => $path,)*
                pub advanced: u8 => "cartridge/mode",
                pub oam: [u8; 0xA0] => "lcd/oam",
                pub vram: [u8; 0x2000] => "lcd/vram",
                pub hram: [u8; 0x7F] => "memory/hram",
                pub unusable: [u8; 0x60] => "memory/unusable",
                pub wram: [u8; 0x2000] => "memory/wram",
                pub ram: [u8; RAM_SHOWN] => "cartridge/ram",
                /// Four pixels to a byte, the left one in the upper bits.
                pub screen: [[u8; FOURS]; HEIGHT] => "lcd/screen",
            }
        }

        impl State {
            /// The state of a console with a cartridge of this number in it, between two frames.
            pub fn of(number: usize, console: &GameBoy) -> Self {
                let parts = console.parts();
                State {
                    inserted: number as i32,
                    $($field: parts.$field as $kind,)*
                    advanced: u8::from(parts.advanced),
                    oam: *console.oam(),
                    vram: *console.vram(),
                    hram: *console.hram(),
                    unusable: *console.unusable(),
                    wram: *console.wram(),
                    ram: shown(console.cartridge_ram()),
                    screen: packed(console.screen()),
                }
            }

            fn parts(&self) -> Parts {
                Parts { advanced: self.advanced != 0, $($field: self.$field as _,)* }
            }

            fn within_limits(&self) -> Result<(), Refused> {
                $($(demand($path, self.$field, $limits)?;)?)*
                demand("cartridge/mode", self.advanced, 0..=1)
            }
        }
    };
}

state! {
    booting: bool => "booting";
    pc: u16 => "cpu/pc";
    sp: u16 => "cpu/sp";
    a: u8 => "cpu/a";
    f: u8 => "cpu/f";
    b: u8 => "cpu/b";
    c: u8 => "cpu/c";
    d: u8 => "cpu/d";
    e: u8 => "cpu/e";
    hl: u16 => "cpu/hl";
    clock: i64 => "cpu/clock", 0..=LAST_CLOCK;
    halted: bool => "cpu/halted";
    halted_after_ei: bool => "cpu/halted_after_ei";
    master: bool => "cpu/master";
    master_delay: u8 => "cpu/master_delay", 0..=2;
    enabled: u8 => "cpu/enabled";
    requested: u8 => "cpu/requested", 0..=0x1F;
    counter: u16 => "timer/counter";
    tima: u8 => "timer/tima";
    tma: u8 => "timer/tma";
    tac: u8 => "timer/tac", 0..=7;
    reload: u8 => "timer/reload", 0..=2;
    reload_left: u8 => "timer/reload_left", 0..=4;
    timer_until_event: i64 => "timer/until_event", 0..=1 << 31;
    serial_control: u8 => "serial/control";
    sending: bool => "serial/sending";
    sent_at: i64 => "serial/done_at", 0..=LAST_CLOCK;
    held: u8 => "joypad/held";
    p1: u8 => "joypad/p1";
    dma_active: bool => "dma/active";
    dma_source: u8 => "dma/source";
    dma_done: u8 => "dma/done", 0..=0xA0;
    dma_start: i64 => "dma/start", 0..=LAST_CLOCK;
    lcdc: u8 => "lcd/lcdc";
    stat: u8 => "lcd/stat";
    line_high: bool => "lcd/line_high";
    lyc: u8 => "lcd/lyc";
    scy: u8 => "lcd/scy";
    scx: u8 => "lcd/scx";
    wy: u8 => "lcd/wy";
    wx: u8 => "lcd/wx";
    bgp: u8 => "lcd/bgp";
    obp0: u8 => "lcd/obp0";
    obp1: u8 => "lcd/obp1";
    screen_clock: i64 => "lcd/clock", 0..=TWO_FRAMES;
    screen_target: i64 => "lcd/target", 0..=TWO_FRAMES;
    first_frame: bool => "lcd/first_frame";
    mode_hidden: bool => "lcd/mode_hidden";
    lyc_changed_while_off: bool => "lcd/lyc_changed_while_off";
    window_line: i16 => "lcd/window_line", -1..=i16::MAX;
    window_reached: bool => "lcd/window_reached";
    rom_bank: u16 => "cartridge/rom_bank";
    low_bank: u16 => "cartridge/low_bank";
    ram_bank: u8 => "cartridge/ram_bank", 0..=15;
    ram_enabled: bool => "cartridge/ram_enabled";
    lower: u8 => "cartridge/lower", 1..=0x1F;
    upper: u8 => "cartridge/upper", 0..=3;
    seconds: u8 => "clock/seconds", 0..=0x3F;
    minutes: u8 => "clock/minutes", 0..=0x3F;
    hours: u8 => "clock/hours", 0..=0x1F;
    days: u16 => "clock/days", 0..=0x1FF;
    day_carry: bool => "clock/day_carry";
    stopped: bool => "clock/halted";
    latched: bool => "clock/latched";
    latched_seconds: u8 => "clock/latched_seconds", 0..=0x3F;
    latched_minutes: u8 => "clock/latched_minutes", 0..=0x3F;
    latched_hours: u8 => "clock/latched_hours", 0..=0x1F;
    latched_days: u16 => "clock/latched_days", 0..=0x1FF;
    fraction: i64 => "clock/fraction", 0..=(1 << 22) - 1;
    seen: i64 => "clock/seen", 0..=LAST_CLOCK;
}

impl State {
    /// Which of so many cartridges is inserted.
    ///
    /// # Errors
    /// There is no such cartridge.
    pub fn number(&self, cartridges: usize) -> Result<usize, Refused> {
        demand("cartridge/inserted", self.inserted, 0..=cartridges as i32 - 1)?;
        Ok(self.inserted as usize)
    }

    /// Sees that a console with this cartridge can be in the state.
    ///
    /// # Errors
    /// It cannot; the message names the leaf.
    pub fn fits(&self, cartridge: &Cartridge) -> Result<(), Refused> {
        self.within_limits()?;
        if (self.reload == 0) != (self.reload_left == 0) {
            return Err(Refused("state/timer/reload_left is not zero exactly where state/timer/reload is".into()));
        }
        let last = cartridge.rom_banks() as u16 - 1;
        demand("cartridge/rom_bank", self.rom_bank, 0..=last)?;
        demand("cartridge/low_bank", self.low_bank, 0..=last)?;
        if !cartridge.has_clock() && !self.clock_is_blank() {
            return Err(Refused("state/clock/... has values, but the cartridge has no clock".into()));
        }
        Ok(())
    }

    fn clock_is_blank(&self) -> bool {
        let bytes =
            [self.seconds, self.minutes, self.hours, self.latched_seconds, self.latched_minutes, self.latched_hours];
        let flags = [self.day_carry, self.stopped, self.latched];
        bytes == [0; 6]
            && (self.days, self.latched_days, self.fraction, self.seen) == (0, 0, 0, 0)
            && flags == [false; 3]
    }

    /// Brings a console with the state's cartridge into it.
    pub fn put(&self, console: &mut GameBoy) {
        console.set_parts(&self.parts());
        console.set_cartridge_ram(&self.ram);
        let Memories { vram, oam, wram, hram, unusable, screen } = console.memories();
        (*vram, *oam, *wram, *hram, *unusable) = (self.vram, self.oam, self.wram, self.hram, self.unusable);
        for (shades, fours) in screen.chunks_exact_mut(4).zip(self.screen.as_flattened()) {
            shades.copy_from_slice(&[6, 4, 2, 0].map(|shift| fours >> shift & 3));
        }
    }
}

fn demand<T: PartialOrd + Display>(path: &str, value: T, limits: RangeInclusive<T>) -> Result<(), Refused> {
    if limits.contains(&value) {
        return Ok(());
    }
    Err(Refused(format!("state/{path} is {value}: expected {} to {}", limits.start(), limits.end())))
}

fn shown(ram: &[u8]) -> [u8; RAM_SHOWN] {
    let mut shown = [0; RAM_SHOWN];
    let size = ram.len().min(RAM_SHOWN);
    shown[..size].copy_from_slice(&ram[..size]);
    shown
}

fn packed(shades: &[u8; WIDTH * HEIGHT]) -> [[u8; FOURS]; HEIGHT] {
    let mut packed = [[0; FOURS]; HEIGHT];
    for (fours, four) in packed.as_flattened_mut().iter_mut().zip(shades.chunks_exact(4)) {
        *fours = four.iter().fold(0, |byte, shade| byte << 2 | shade);
    }
    packed
}
