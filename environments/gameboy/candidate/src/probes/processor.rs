//! One instruction, and one slice of the processor.

use gameboy_core::{GameBoy, Parts, probe};
use lockstep_env::leaves;

use super::{CODE, HIGH_PAGE, started, tell_addresses};

const HIGH_HALF: u16 = 0x80;
const STACK: u16 = CODE + 0x1000;
const PREFIX: u8 = 0xCB;
const NOP: u8 = 0x00;
/// The prefix and the opcodes that are none.
const NO_INSTRUCTION: [u8; 12] = [PREFIX, 0xD3, 0xDB, 0xDD, 0xE3, 0xE4, 0xEB, 0xEC, 0xED, 0xF4, 0xFC, 0xFD];

leaves! {
    pub struct BetweenRegisters {
        a: u8, f: u8, b: u8, c: u8, d: u8, e: u8, opcode: u8, prefixed: bool, operand: u16, hl: u16, sp: u16,
        master: bool,
    }
}
leaves! {
    pub struct Executed {
        a: u8, f: u8, b: u8, c: u8, d: u8, e: u8, hl: u16, sp: u16, pc: u16, master: bool, master_delay: u8,
        halted: bool, clocks: i64,
    }
}
leaves! {
    pub struct AtPointers {
        a: u8, f: u8, opcode: u8, prefixed: bool, operand: u16, bc: u16, de: u16, hl: u16, sp: u16, fill: u8,
    }
}
leaves! {
    pub struct ExecutedOnMemory {
        a: u8, f: u8, b: u8, c: u8, d: u8, e: u8, hl: u16, sp: u16, pc: u16, master: bool, master_delay: u8,
        halted: bool, clocks: i64, bytes: [u8; 9],
    }
}
leaves! {
    pub struct Waiting {
        requested: u8, master: bool, master_delay: u8, halted: bool, halted_after_ei: bool, enabled: u8, clocks: i64,
    }
}
leaves! {
    pub struct Interrupted {
        requested: u8, master: bool, master_delay: u8, halted: bool, halted_after_ei: bool, pc: u16, sp: u16,
        pushed: [u8; 2], clocks: i64,
    }
}

/// Whether an instruction reads or writes memory, besides its own bytes. By the fields of the opcode's bits.
fn accesses_memory(opcode: u8) -> bool {
    let (y, z) = (opcode >> 3 & 7, opcode & 7);
    match opcode >> 6 {
        0 => z == 2 || matches!(opcode, 0x08 | 0x34..=0x36),
        1 => (y == 6) != (z == 6),
        2 => z == 6,
        _ if z == 2 => y >= 4,
        _ => matches!(z, 0 | 1 | 4 | 5 | 7) && !matches!(opcode, 0xE8 | 0xE9 | 0xF8 | 0xF9),
    }
}

/// An instruction's bytes; one of the other kind, and one that is none, becomes NOP.
fn instruction(opcode: u8, prefixed: bool, operand: u16, memory: bool) -> [u8; 3] {
    let [low, high] = operand.to_le_bytes();
    match prefixed {
        true if (opcode & 7 == 6) == memory => [PREFIX, opcode, 0],
        false if accesses_memory(opcode) == memory && !NO_INSTRUCTION.contains(&opcode) => [opcode, low, high],
        _ => [NOP, 0, 0],
    }
}

fn executed(console: &mut GameBoy) -> Executed {
    probe::run_processor(console, 1);
    let Parts { a, f, b, c, d, e, hl, sp, pc, master, master_delay, halted, clock, .. } = console.parts();
    Executed { a, f, b, c, d, e, hl, sp, pc, master, master_delay, halted, clocks: clock as i64 }
}

pub fn arithmetic(given: BetweenRegisters) -> Executed {
    let BetweenRegisters { a, f, b, c, d, e, opcode, prefixed, operand, hl, sp, master } = given;
    let code = instruction(opcode, prefixed, operand, false);
    let mut console = started(&code, |parts| {
        *parts = Parts { a, f: f & 0xF0, b, c, d, e, hl, sp, master, ..*parts };
    });
    executed(&mut console)
}

/// The high page is memory in its upper half only; below are the registers of units.
pub fn memory(given: AtPointers) -> ExecutedOnMemory {
    let AtPointers { a, f, opcode, prefixed, mut operand, mut bc, de, hl, sp, fill } = given;
    match (prefixed, opcode) {
        (false, 0xE0 | 0xF0) => operand |= HIGH_HALF,
        (false, 0xE2 | 0xF2) => bc |= HIGH_HALF,
        _ => {}
    }
    let ([b, c], [d, e]) = (bc.to_be_bytes(), de.to_be_bytes());
    let mut console = started(&[], |parts| *parts = Parts { a, f: f & 0xF0, b, c, d, e, hl, sp, ..*parts });
    let code = instruction(opcode, prefixed, operand, true);
    let memories = console.memories();
    tell_addresses(memories.wram, CODE, fill);
    tell_addresses(memories.hram, HIGH_PAGE | HIGH_HALF, fill);
    memories.wram[..code.len()].copy_from_slice(&code);
    let Executed { a, f, b, c, d, e, hl: hl_after, sp: sp_after, pc, master, master_delay, halted, clocks } =
        executed(&mut console);
    let pages = [operand, bc].map(|low| HIGH_PAGE | HIGH_HALF | low & 0xFF);
    let below = [sp.wrapping_sub(2), sp.wrapping_sub(1)];
    let places = [hl, bc, de, operand, operand.wrapping_add(1), below[0], below[1], pages[0], pages[1]];
    let bytes = places.map(|place| console.read(place));
    let (hl, sp) = (hl_after, sp_after);
    ExecutedOnMemory { a, f, b, c, d, e, hl, sp, pc, master, master_delay, halted, clocks, bytes }
}

pub fn interrupt(given: Waiting) -> Interrupted {
    let Waiting { requested, master, master_delay, halted, halted_after_ei, enabled, clocks } = given;
    let mut console = started(&[], |parts| {
        let before = Parts { requested, master, master_delay, halted, halted_after_ei, enabled, ..*parts };
        *parts = Parts { sp: STACK, ..before };
    });
    probe::run_processor(&mut console, clocks as u64);
    let pushed = [STACK - 2, STACK - 1].map(|place| console.read(place));
    let Parts { requested, master, master_delay, halted, halted_after_ei, pc, sp, clock, .. } = console.parts();
    let clocks = clock as i64;
    Interrupted { requested, master, master_delay, halted, halted_after_ei, pc, sp, pushed, clocks }
}
