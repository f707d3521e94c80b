//! A monochrome Game Boy that is equal to PyBoy 2.8.0 (`cgb=False`), frame by frame: memory, registers, clocks, screen.
//!
//! Equality with PyBoy is the aim, and not with the console. Where the two differ, PyBoy's way is taken and the place
//! says so.
//!
//! ```
//! use gameboy_core::{button, Cartridge, GameBoy, Options};
//! use std::sync::Arc;
//!
//! # let mut rom = vec![0; 0x8000];
//! # rom[0x14D] = 0xE7;
//! let cartridge = Arc::new(Cartridge::parse(rom)?);
//! let mut console = GameBoy::new(cartridge, Options::default());
//! console.set_buttons(button::START);
//! console.run_frame(true);
//! assert!(console.screen().iter().all(|&shade| shade < 4));
//! # Ok::<(), gameboy_core::RomError>(())
//! ```

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod apu;
mod bus;
mod cartridge;
mod console;
mod cpu;
mod dma;
mod in_place;
mod joypad;
mod mapper;
mod parts;
mod ppu;
pub mod probe;
mod rtc;
mod schedule;
mod serial;
mod state;
mod timer;

pub use cartridge::{Cartridge, Controller, LARGEST_ROM, RAM_BANK, ROM_BANK, RomError};
pub use console::{GameBoy, Options, Sound};
pub use cpu::Registers;
pub use joypad::button;
pub use parts::{Memories, Parts};
pub use ppu::{HEIGHT, WIDTH};
pub use state::{STATE_VERSION, StateError};

/// Clocks of a second.
pub const CLOCKS_PER_SECOND: u64 = 4_194_304;
/// Clocks of a frame.
pub const FRAME_CLOCKS: u64 = 70_224;

/// PyBoy's distance to an event that does not come.
const NEVER: i64 = 1 << 31;

/// The interrupts, by their bit in IF and IE.
pub(crate) mod interrupt {
    pub(crate) const VBLANK: u8 = 0x01;
    pub(crate) const STAT: u8 = 0x02;
    pub(crate) const TIMER: u8 = 0x04;
    pub(crate) const SERIAL: u8 = 0x08;
    pub(crate) const JOYPAD: u8 = 0x10;
    pub(crate) const ALL: u8 = 0x1F;
}
