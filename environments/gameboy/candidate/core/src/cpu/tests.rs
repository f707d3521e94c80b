use super::fetch::LENGTHS;
use super::flag::{CARRY, HALF, SUBTRACT, ZERO};
use super::run::DISPATCH_CLOCKS;
use super::*;
use crate::cartridge::tests::image;
use crate::{Cartridge, GameBoy, Options};
use std::sync::Arc;

/// Where the programs of these tests stand.
const START: u16 = 0xC000;

/// A console with the screen off, whose program is `code` in work memory.
fn console(code: &[u8]) -> GameBoy {
    let cartridge = Cartridge::parse(image(0, 2, 0)).unwrap();
    let mut console = GameBoy::new(Arc::new(cartridge), Options::default());
    console.write(0xFF40, 0);
    console.cpu.requested = 0;
    console.wram[..code.len()].copy_from_slice(code);
    console.cpu.set_registers(Registers { sp: 0xDFF0, pc: START, ..Registers::default() });
    console
}

/// Runs `code` as one instruction and returns its clocks with the console.
fn run(code: &[u8], prepare: impl FnOnce(&mut GameBoy)) -> (u64, GameBoy) {
    let mut console = console(code);
    prepare(&mut console);
    let before = console.cpu.clock;
    console.step();
    (console.cpu.clock - before, console)
}

/// The clocks of the instructions that are not jumps, by rows of sixteen; 0 where there is none or it is tested apart.
#[rustfmt::skip]
const CLOCKS: [u64; 256] = [
    4, 12, 8, 8, 4, 4, 8, 4, 20, 8, 8, 8, 4, 4, 8, 4,
    4, 12, 8, 8, 4, 4, 8, 4, 0, 8, 8, 8, 4, 4, 8, 4,
    0, 12, 8, 8, 4, 4, 8, 4, 0, 8, 8, 8, 4, 4, 8, 4,
    0, 12, 8, 8, 12, 12, 12, 4, 0, 8, 8, 8, 4, 4, 8, 4,
    4, 4, 4, 4, 4, 4, 8, 4, 4, 4, 4, 4, 4, 4, 8, 4,
    4, 4, 4, 4, 4, 4, 8, 4, 4, 4, 4, 4, 4, 4, 8, 4,
    4, 4, 4, 4, 4, 4, 8, 4, 4, 4, 4, 4, 4, 4, 8, 4,
    8, 8, 8, 8, 8, 8, 0, 8, 4, 4, 4, 4, 4, 4, 8, 4,
    4, 4, 4, 4, 4, 4, 8, 4, 4, 4, 4, 4, 4, 4, 8, 4,
    4, 4, 4, 4, 4, 4, 8, 4, 4, 4, 4, 4, 4, 4, 8, 4,
    4, 4, 4, 4, 4, 4, 8, 4, 4, 4, 4, 4, 4, 4, 8, 4,
    4, 4, 4, 4, 4, 4, 8, 4, 4, 4, 4, 4, 4, 4, 8, 4,
    0, 12, 0, 0, 0, 16, 8, 0, 0, 0, 0, 0, 0, 0, 8, 0,
    0, 12, 0, 0, 0, 16, 8, 0, 0, 0, 0, 0, 0, 0, 8, 0,
    12, 12, 8, 0, 0, 16, 8, 0, 16, 0, 16, 0, 0, 0, 8, 0,
    12, 12, 8, 4, 0, 16, 8, 0, 12, 8, 16, 4, 0, 0, 8, 0,
];

#[test]
fn every_instruction_takes_its_clocks_and_passes_its_bytes() {
    for (opcode, &expected) in (0..=255u8).zip(&CLOCKS) {
        if expected == 0 {
            continue;
        }
        let (clocks, console) = run(&[opcode, 0x80, 0xC1], |c| {
            for high in [B, D, H] {
                c.cpu.set_pair(high, 0xC180);
            }
        });
        assert_eq!(clocks, expected, "opcode {opcode:02X}");
        let length = u16::from(LENGTHS[usize::from(opcode)]);
        assert_eq!(console.cpu.pc, START + length, "opcode {opcode:02X}");
    }
}

#[test]
fn prefixed_instructions_take_8_12_or_16_clocks() {
    for opcode in 0..=255u8 {
        let expected = match (opcode & 7, opcode >> 6) {
            (6, 1) => 12,
            (6, _) => 16,
            _ => 8,
        };
        let (clocks, console) = run(&[0xCB, opcode], |c| c.cpu.set_pair(H, 0xC180));
        assert_eq!((clocks, console.cpu.pc), (expected, START + 2), "CB {opcode:02X}");
    }
}

#[test]
fn jumps_take_more_clocks_when_they_are_taken() {
    // Opcode, the flags with which it jumps, where it goes, and the clocks with and without the jump.
    let jumps: [(u8, u8, u16, u64, u64); 16] = [
        (0x20, 0, START + 2 + 0x10, 12, 8),
        (0x28, ZERO, START + 2 + 0x10, 12, 8),
        (0x30, 0, START + 2 + 0x10, 12, 8),
        (0x38, CARRY, START + 2 + 0x10, 12, 8),
        (0xC2, 0, 0x4510, 16, 12),
        (0xCA, ZERO, 0x4510, 16, 12),
        (0xD2, 0, 0x4510, 16, 12),
        (0xDA, CARRY, 0x4510, 16, 12),
        (0xC4, 0, 0x4510, 24, 12),
        (0xCC, ZERO, 0x4510, 24, 12),
        (0xD4, 0, 0x4510, 24, 12),
        (0xDC, CARRY, 0x4510, 24, 12),
        (0xC0, 0, 0x1234, 20, 8),
        (0xC8, ZERO, 0x1234, 20, 8),
        (0xD0, 0, 0x1234, 20, 8),
        (0xD8, CARRY, 0x1234, 20, 8),
    ];
    for (opcode, flags, target, taken, not) in jumps {
        let at = |flags: u8| {
            run(&[opcode, 0x10, 0x45], |c| {
                c.cpu.r[F] = flags;
                c.wram[0x1FF0..0x1FF2].copy_from_slice(&[0x34, 0x12]);
            })
        };
        let (clocks, console) = at(flags);
        assert_eq!((clocks, console.cpu.pc), (taken, target), "opcode {opcode:02X}");
        let (clocks, console) =
            at(flags ^ if opcode & 0x10 == 0x10 && opcode < 0x40 || opcode >= 0xD0 { CARRY } else { ZERO });
        let next = START + u16::from(LENGTHS[usize::from(opcode)]);
        assert_eq!((clocks, console.cpu.pc), (not, next), "opcode {opcode:02X}");
    }
}

#[test]
fn calls_push_the_next_address_and_returns_pop_it() {
    let (clocks, mut console) = run(&[0xCD, 0x00, 0xC1], |_| {});
    assert_eq!((clocks, console.cpu.pc, console.cpu.sp), (24, 0xC100, 0xDFEE));
    assert_eq!(console.wram[0x1FEE..0x1FF0], [0x03, 0xC0]);
    console.wram[0x100] = 0xC9;
    console.step();
    assert_eq!((console.cpu.pc, console.cpu.sp), (START + 3, 0xDFF0));
    let (clocks, console) = run(&[0xEF], |_| {});
    assert_eq!((clocks, console.cpu.pc, console.cpu.sp), (16, 0x28, 0xDFEE));
}

/// An independent model of the eight accumulator operations: the result and the flags.
fn model(operation: u8, a: u8, b: u8, carry: bool) -> (u8, u8) {
    let (x, y, c) = (i32::from(a), i32::from(b), i32::from(carry && matches!(operation, 1 | 3)));
    let bits = |result: i32, subtract: bool, half: bool| {
        let mut flags = 0;
        if result & 0xFF == 0 {
            flags |= ZERO;
        }
        if subtract {
            flags |= SUBTRACT;
        }
        if half {
            flags |= HALF;
        }
        if !(0..=0xFF).contains(&result) {
            flags |= CARRY;
        }
        flags
    };
    match operation {
        0 | 1 => {
            let result = x + y + c;
            (result as u8, bits(result, false, x % 16 + y % 16 + c > 15))
        }
        4 => (a & b, bits(x & y, false, true)),
        5 => (a ^ b, bits(x ^ y, false, false)),
        6 => (a | b, bits(x | y, false, false)),
        _ => {
            let result = x - y - c;
            let flags = bits(result, true, x % 16 - y % 16 - c < 0);
            (if operation == 7 { a } else { result as u8 }, flags)
        }
    }
}

#[test]
fn accumulator_arithmetic_is_right_for_all_operands() {
    let mut cpu = Cpu::default();
    for operation in 0..8 {
        for operands in 0..=0xFFFFu16 {
            let [a, b] = operands.to_be_bytes();
            for flags in [0, CARRY] {
                cpu.r[A] = a;
                cpu.r[F] = flags;
                cpu.accumulate(operation, b);
                let expected = model(operation, a, b, flags != 0);
                assert_eq!((cpu.r[A], cpu.r[F]), expected, "{operation}: {a:02X} {b:02X}");
            }
        }
    }
}

#[test]
fn decimal_sums_and_differences_are_decimal() {
    let decimal = |n: u32| (n / 10 % 10 * 16 + n % 10) as u8;
    let mut cpu = Cpu::default();
    for x in 0..100 {
        for y in 0..100 {
            cpu.r[A] = decimal(x);
            cpu.accumulate(0, decimal(y));
            cpu.decimal_adjust();
            assert_eq!((cpu.r[A], cpu.carry()), (decimal(x + y), x + y > 99), "{x} + {y}");
            cpu.r[A] = decimal(x);
            cpu.accumulate(2, decimal(y));
            cpu.decimal_adjust();
            assert_eq!((cpu.r[A], cpu.carry()), (decimal(x + 100 - y), x < y), "{x} - {y}");
        }
    }
}

#[test]
fn rotations_and_shifts_move_the_carry() {
    let cases: [(u8, u8, bool, u8, bool); 10] = [
        (0, 0x81, false, 0x03, true),
        (1, 0x01, false, 0x80, true),
        (2, 0x80, true, 0x01, true),
        (2, 0x80, false, 0x00, true),
        (3, 0x02, true, 0x81, false),
        (4, 0xFF, true, 0xFE, true),
        (5, 0x81, false, 0xC0, true),
        (6, 0xA5, true, 0x5A, false),
        (7, 0x81, true, 0x40, true),
        (7, 0x01, false, 0x00, true),
    ];
    for (operation, value, carry_in, result, carry) in cases {
        let mut cpu = Cpu::default();
        cpu.set_carry(carry_in);
        assert_eq!(cpu.rotate(operation, value), result, "operation {operation} of {value:02X}");
        assert_eq!(cpu.carry(), carry, "operation {operation} of {value:02X}");
        assert_eq!(cpu.r[F] & ZERO != 0, result == 0);
    }
    let mut cpu = Cpu::default();
    cpu.rotate_accumulator(0);
    assert_eq!(cpu.r[F], 0, "without a prefix zero is not flagged");
}

#[test]
fn stack_pointer_sums_flag_their_low_byte() {
    let (_, console) = run(&[0xF8, 0xFF], |c| c.cpu.sp = 0x0001);
    assert_eq!((console.cpu.hl(), console.cpu.r[F]), (0, HALF | CARRY));
    let (_, console) = run(&[0xE8, 0x7F], |c| c.cpu.sp = 0xFFF0);
    assert_eq!((console.cpu.sp, console.cpu.r[F]), (0x006F, CARRY));
    let (_, console) = run(&[0x39], |c| {
        c.cpu.sp = 0x0FFF;
        c.cpu.set_pair(H, 0xF001);
        c.cpu.r[F] = ZERO;
    });
    assert_eq!((console.cpu.hl(), console.cpu.r[F]), (0, ZERO | HALF | CARRY));
}

#[test]
fn popping_af_leaves_the_lower_half_of_f_clear() {
    let (_, console) = run(&[0xF1], |c| {
        c.wram[0x1FF0..0x1FF2].copy_from_slice(&[0xFF, 0x12]);
    });
    assert_eq!((console.cpu.r[A], console.cpu.r[F]), (0x12, 0xF0));
}

#[test]
fn ei_takes_effect_after_the_instruction_that_follows() {
    let mut console = console(&[0xFB, 0x00, 0x00]);
    (console.cpu.requested, console.cpu.enabled) = (4, 4);
    console.step();
    assert!(!console.cpu.master);
    console.step();
    console.count_delay();
    assert!(console.cpu.master && console.cpu.until == 0);
    console.run_slice(4);
    assert_eq!((console.cpu.pc, console.cpu.requested), (0x50, 0));
    assert_eq!(console.wram[0x1FEE..0x1FF0], [0x02, 0xC0]);
}

#[test]
fn di_takes_back_an_ei() {
    let mut console = console(&[0xFB, 0xF3, 0x00]);
    (0..3).for_each(|_| console.step());
    assert!(!console.cpu.master);
}

#[test]
fn the_lowest_interrupt_is_entered_first() {
    for (pending, address) in [(0x1F, 0x40), (0x1E, 0x48), (0x1C, 0x50), (0x18, 0x58), (0x10, 0x60)] {
        let mut console = console(&[]);
        (console.cpu.requested, console.cpu.enabled) = (pending, 0xFF);
        console.cpu.master = true;
        let before = console.cpu.clock;
        console.run_slice(4);
        assert_eq!(console.cpu.pc, address);
        assert_eq!(console.cpu.clock - before, DISPATCH_CLOCKS);
        assert_eq!(console.cpu.requested, pending & (pending - 1));
    }
}

#[test]
fn a_push_that_clears_ie_cancels_the_interrupt() {
    let mut console = console(&[]);
    (console.cpu.requested, console.cpu.enabled) = (1, 1);
    console.cpu.master = true;
    (console.cpu.pc, console.cpu.sp) = (0x0200, 0x0000);
    assert!(console.take_interrupt());
    assert_eq!((console.cpu.pc, console.cpu.sp, console.cpu.requested), (0, 0, 1));
    assert!(!console.cpu.master);
}

#[test]
fn halt_waits_and_goes_on_behind_itself_without_ime() {
    let mut console = console(&[0x76, 0x3C]);
    console.run_slice(100);
    assert_eq!((console.cpu.halted, console.cpu.pc), (true, START));
    let before = console.cpu.clock;
    console.run_slice(100);
    assert_eq!(console.cpu.clock - before, 100);
    (console.cpu.requested, console.cpu.enabled) = (8, 8);
    console.run_slice(4);
    assert_eq!((console.cpu.pc, console.cpu.r[A], console.cpu.requested), (START + 2, 1, 8));
}

#[test]
fn halt_after_ei_is_returned_to_if_its_slice_ends_with_it() {
    // PyBoy executes the HALT a second time where the slice goes on, and forgets then that it followed EI.
    for (budget, back) in [(8, START + 1), (12, START + 2)] {
        let mut console = console(&[0xFB, 0x76, 0x00]);
        console.run_slice(budget);
        assert!(console.cpu.halted && console.cpu.master);
        (console.cpu.requested, console.cpu.enabled) = (1, 1);
        console.run_slice(4);
        assert_eq!(console.wram[0x1FEE..0x1FF0], back.to_le_bytes());
    }
}

#[test]
fn an_opcode_that_does_not_exist_stops_the_processor_and_not_the_time() {
    for opcode in [0xD3, 0xDB, 0xDD, 0xE3, 0xE4, 0xEB, 0xEC, 0xED, 0xF4, 0xFC, 0xFD] {
        let mut console = console(&[0x00, opcode]);
        (console.cpu.requested, console.cpu.enabled) = (1, 1);
        for _ in 0..3 {
            let before = console.cpu.clock;
            console.run_slice(100);
            assert_eq!(console.cpu.clock - before, 100, "opcode {opcode:02X}");
        }
        assert!(console.is_locked());
        assert_eq!(console.cpu.pc, START + 1);
    }
}

#[test]
fn an_instruction_across_the_bank_border_is_fetched_from_one_side() {
    let mut rom = image(0x01, 4, 0);
    // JP at the end of bank 0; the operand's upper byte is the first of bank 3. Bank 2 ends with a NOP.
    rom[0x3FFE..0x4000].copy_from_slice(&[0xC3, 0x34]);
    rom[0xC000] = 0x12;
    let cartridge = Arc::new(Cartridge::parse(rom).unwrap());
    let mut console = GameBoy::new(cartridge, Options::default());
    console.write(0x2000, 3);
    console.cpu.pc = 0x3FFE;
    console.step();
    assert_eq!(console.cpu.pc, 0x3FFF, "PyBoy reads bank 2's last bytes here");
    console.write(0x2000, 1);
    console.cpu.pc = 0x3FFE;
    console.step();
    assert_eq!(console.cpu.pc, 0x0034);
}

#[test]
fn code_that_switches_its_own_bank_goes_on_in_the_other() {
    let mut rom = image(0x01, 4, 0);
    rom[0x4000..0x4006].copy_from_slice(&[0x3E, 0x02, 0xEA, 0x00, 0x20, 0x04]); // ld a, 2; ld [$2000], a; inc b
    rom[0x8005] = 0x0C; // inc c
    let mut console = GameBoy::new(Arc::new(Cartridge::parse(rom).unwrap()), Options::default());
    console.set_registers(Registers { pc: 0x4000, ..Registers::default() });
    (0..3).for_each(|_| console.step());
    assert_eq!((console.cpu.r[B], console.cpu.r[C]), (0, 1));
}

#[test]
fn a_bank_that_a_made_up_state_had_is_left_where_the_controller_works_it_out() {
    let mut rom = image(0x03, 4, 2);
    rom[0x8000..0x8004].copy_from_slice(&[0xEA, 0x00, 0xA0, 0x04]); // bank 2: ld [$A000], a; inc b
    rom[0x4003] = 0x0C; // bank 1: inc c
    let mut console = GameBoy::new(Arc::new(Cartridge::parse(rom).unwrap()), Options::default());
    (console.mapper.rom_bank, console.mapper.lower) = (2, 1);
    console.set_registers(Registers { pc: 0x4000, ..Registers::default() });
    (0..2).for_each(|_| console.step());
    assert_eq!((console.mapper.rom_bank, console.cpu.r[B], console.cpu.r[C]), (1, 0, 1));
}
