//! Bank controllers, and MBC3's clock.

use std::sync::LazyLock;

use gameboy_core::{GameBoy, Parts, ROM_BANK, probe};
use lockstep_env::leaves;

use super::bare;

/// Type, ROM banks and code of RAM size: MBC1, MBC2, MBC3 without its clock, MBC5.
const KINDS: [(u8, usize, u8); 4] = [(0x03, 128, 3), (0x06, 16, 0), (0x13, 128, 3), (0x1B, 512, 4)];
const WITH_CLOCK: (u8, usize, u8) = (0x10, 2, 3);
const CLOCK_REGISTERS: [u8; 5] = [0x08, 0x09, 0x0A, 0x0B, 0x0C];

leaves! { pub struct Writes { kind: i32, addresses: [u16; 4], values: [u8; 4], read: u16 } }
leaves! { pub struct Read { byte: u8, rom_bank: u16, low_bank: u16, ram_bank: u8, ram_enabled: bool } }
leaves! {
    pub struct Ran {
        seconds: u8, minutes: u8, hours: u8, days: u16, day_carry: bool, halted: bool, fraction: i64, latched: bool,
        clocks: i64, register: u8, value: u8, commands: [u8; 2],
    }
}
leaves! {
    pub struct Time {
        seconds: u8, minutes: u8, hours: u8, days: u16, day_carry: bool, halted: bool, fraction: i64, latched: bool,
        bytes: [u8; 5],
    }
}

/// A console with a ROM whose even bytes are the lower half of their bank's number, and its odd ones the upper.
fn telling((controller, banks, ram_size): (u8, usize, u8)) -> GameBoy {
    let rom = (0..banks).flat_map(|bank| (bank as u16).to_le_bytes().repeat(ROM_BANK / 2)).collect();
    bare(rom, controller, ram_size)
}

pub fn mapper(given: Writes) -> Read {
    static CONSOLES: LazyLock<[GameBoy; 4]> = LazyLock::new(|| KINDS.map(telling));
    let mut console = CONSOLES[given.kind as usize % KINDS.len()].clone();
    for (address, value) in given.addresses.into_iter().zip(given.values) {
        console.write(address, value);
    }
    let byte = console.read(given.read);
    let Parts { rom_bank, low_bank, ram_bank, ram_enabled, .. } = console.parts();
    Read { byte, rom_bank, low_bank, ram_bank: ram_bank as u8, ram_enabled }
}

/// A register is set, time passes, and what may latch it is written twice.
pub fn clock(given: Ran) -> Time {
    static CONSOLE: LazyLock<GameBoy> = LazyLock::new(|| telling(WITH_CLOCK));
    let mut console = CONSOLE.clone();
    let Ran { seconds, minutes, hours, days, day_carry, halted: stopped, latched, .. } = given;
    let fraction = given.fraction as u64;
    let parts = Parts { seconds, minutes, hours, days, day_carry, stopped, latched, fraction, ..console.parts() };
    console.set_parts(&parts);
    probe::set_clock(&mut console, given.register, given.value);
    probe::run_clock(&mut console, given.clocks as u64);
    for command in given.commands {
        probe::command_clock(&mut console, command);
    }
    let bytes = CLOCK_REGISTERS.map(|register| probe::read_clock(&console, register));
    let Parts { seconds, minutes, hours, days, day_carry, stopped, fraction, latched, .. } = console.parts();
    Time { seconds, minutes, hours, days, day_carry, halted: stopped, fraction: fraction as i64, latched, bytes }
}
