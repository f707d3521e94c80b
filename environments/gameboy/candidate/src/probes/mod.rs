//! Single parts of the console, asked alone: each probe brings a console into a state, does one thing and looks.
//!
//! The console is one that was just switched on, with a cartridge of zeros and no boot ROM; what a probe says of it is
//! changed, everything else stays.

mod cartridge;
mod dma;
mod processor;
mod screen;
mod units;

use std::sync::{Arc, LazyLock};

use gameboy_core::{Cartridge, GameBoy, Options, Parts, ROM_BANK, Sound};
use lockstep_env::{Probe, probe};

use cartridge::{Ran, Read, Time, Writes};
use dma::{Copied, Copy};
use processor::{AtPointers, BetweenRegisters, Executed, ExecutedOnMemory, Interrupted, Waiting};
use screen::{Drawn, Line, Passed, Registers};
use units::{Buttons, Counted, Heard, Note, Pressed, Sent, Serial, Timer};

pub const PROBES: &[Probe] = &[
    probe!("mapper", Writes => Read, cartridge::mapper),
    probe!("clock", Ran => Time, cartridge::clock),
    probe!("arithmetic", BetweenRegisters => Executed, processor::arithmetic),
    probe!("memory", AtPointers => ExecutedOnMemory, processor::memory),
    probe!("interrupt", Waiting => Interrupted, processor::interrupt),
    probe!("timer", Timer => Counted, units::timer),
    probe!("joypad", Buttons => Pressed, units::joypad),
    probe!("serial", Serial => Sent, units::serial),
    probe!("sound", Note => Heard, units::sound),
    probe!("screen", Registers => Passed, screen::screen),
    probe!("line", Line => Drawn, screen::line),
    probe!("dma", Copy => Copied, dma::dma),
];

/// Where programs of probes lie: at the beginning of work memory.
const CODE: u16 = 0xC000;
const HIGH_PAGE: u16 = 0xFF00;
const HEADER: usize = 0x134;
const CHECKSUM: usize = 0x14D;

/// A console that was just switched on, with a ROM in it that gets a header, and the boot ROM gone.
fn bare(rom: Vec<u8>, controller: u8, ram_size: u8) -> GameBoy {
    let cartridge = Cartridge::parse(with_header(rom, controller, ram_size)).expect("a header that was just made");
    // With a boot ROM a console begins as nothing has run; without one, as the boot ROM leaves it.
    let options = Options { boot_rom: Some(Arc::new([0; 256])), sound: Sound::Off, ..Options::default() };
    let mut console = GameBoy::new(Arc::new(cartridge), options);
    console.set_parts(&Parts { booting: false, ..console.parts() });
    console
}

fn with_header(mut rom: Vec<u8>, controller: u8, ram_size: u8) -> Vec<u8> {
    rom[HEADER..=CHECKSUM + 2].fill(0);
    let banks = rom.len() / ROM_BANK;
    (rom[0x147], rom[0x148], rom[0x149]) = (controller, (banks / 2).ilog2() as u8, ram_size);
    rom[CHECKSUM] = rom[HEADER..CHECKSUM].iter().fold(0, |sum: u8, byte| sum.wrapping_sub(*byte).wrapping_sub(1));
    rom
}

/// The console with its cartridge of zeros, some of its values changed, and the processor before some code in work memory.
fn started(code: &[u8], change: impl FnOnce(&mut Parts)) -> GameBoy {
    static CONSOLE: LazyLock<GameBoy> = LazyLock::new(|| bare(vec![0; 2 * ROM_BANK], 0x00, 0));
    let mut console = CONSOLE.clone();
    let mut parts = Parts { pc: CODE, ..console.parts() };
    change(&mut parts);
    console.set_parts(&parts);
    console.memories().wram[..code.len()].copy_from_slice(code);
    console
}

/// Memory from an address on in which each byte tells its address: both halves of it and `fill`, exclusively ored.
fn tell_addresses(memory: &mut [u8], start: u16, fill: u8) {
    for (address, byte) in (start..=u16::MAX).zip(memory) {
        let [high, low] = address.to_be_bytes();
        *byte = low ^ high ^ fill;
    }
}
