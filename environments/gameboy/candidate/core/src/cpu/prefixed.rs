//! The 256 opcodes behind 0xCB: rotations, shifts, and single bits.

use super::flag::{CARRY, HALF, ZERO};
use super::opcodes::by_opcode;
use super::{A, Cpu, F};
use crate::console::GameBoy;

const AT_HL: usize = 6;

impl Cpu {
    /// One of the eight rotations and shifts, in the order of opcodes.
    pub(super) fn rotate(&mut self, operation: u8, value: u8) -> u8 {
        let carry_in = u8::from(self.carry());
        let (result, carry) = match operation & 7 {
            0 => (value.rotate_left(1), value & 0x80),
            1 => (value.rotate_right(1), value & 0x01),
            2 => (value << 1 | carry_in, value & 0x80),
            3 => (value >> 1 | carry_in << 7, value & 0x01),
            4 => (value << 1, value & 0x80),
            5 => ((value as i8 >> 1) as u8, value & 0x01),
            6 => (value.rotate_left(4), 0),
            _ => (value >> 1, value & 0x01),
        };
        self.r[F] = if result == 0 { ZERO } else { 0 } | if carry != 0 { CARRY } else { 0 };
        result
    }

    /// The four rotations of the accumulator that need no prefix clear the zero flag.
    pub(super) fn rotate_accumulator(&mut self, operation: u8) {
        self.r[A] = self.rotate(operation, self.r[A]);
        self.r[F] &= CARRY;
    }

    fn test_bit(&mut self, bit: u8, value: u8) {
        let zero = if value >> bit & 1 == 0 { ZERO } else { 0 };
        self.r[F] = self.r[F] & CARRY | HALF | zero;
    }

    /// What a prefixed opcode other than BIT makes of a value.
    fn modify(&mut self, opcode: u8, value: u8) -> u8 {
        let bit = 1 << (opcode >> 3 & 7);
        match opcode >> 6 {
            0 => self.rotate(opcode >> 3, value),
            2 => value & !bit,
            _ => value | bit,
        }
    }
}

impl GameBoy {
    pub(super) fn execute_prefixed(&mut self, opcode: u8) {
        by_opcode!(opcode, OPCODE => self.execute_one_prefixed(OPCODE));
    }

    /// [`GameBoy::execute_prefixed`], which is compiled for each opcode.
    #[inline(always)]
    fn execute_one_prefixed(&mut self, opcode: u8) {
        let register = usize::from(opcode & 7);
        let tests = opcode >> 6 == 1;
        if register != AT_HL {
            let value = self.cpu.r[register];
            if tests {
                self.cpu.test_bit(opcode >> 3 & 7, value);
            } else {
                self.cpu.r[register] = self.cpu.modify(opcode, value);
            }
            self.cpu.clock += 8;
            return;
        }
        self.cpu.clock += 4;
        let hl = self.cpu.hl();
        let value = self.load8(hl);
        if tests {
            self.cpu.test_bit(opcode >> 3 & 7, value);
        } else {
            let result = self.cpu.modify(opcode, value);
            self.cpu.clock += 4;
            self.store8(hl, result);
        }
        self.cpu.clock += 8;
    }
}
