//! Arithmetic on the accumulator and on HL, and its flags.

use super::flag::{CARRY, HALF, SUBTRACT, ZERO};
use super::{A, Cpu, F, H};

fn if_set(condition: bool, flag: u8) -> u8 {
    if condition { flag } else { 0 }
}

impl Cpu {
    pub(super) fn carry(&self) -> bool {
        self.r[F] & CARRY != 0
    }

    /// One of the eight operations on the accumulator, in the order of opcodes.
    #[inline]
    pub(super) fn accumulate(&mut self, operation: u8, value: u8) {
        match operation & 7 {
            0 => self.add(value, false),
            1 => self.add(value, self.carry()),
            2 => self.r[A] = self.subtract(value, false),
            3 => self.r[A] = self.subtract(value, self.carry()),
            4 => self.logic(self.r[A] & value, HALF),
            5 => self.logic(self.r[A] ^ value, 0),
            6 => self.logic(self.r[A] | value, 0),
            _ => {
                self.subtract(value, false);
            }
        }
    }

    fn add(&mut self, value: u8, carry: bool) {
        let (a, c) = (self.r[A], u8::from(carry));
        let sum = u16::from(a) + u16::from(value) + u16::from(c);
        self.r[A] = sum as u8;
        self.r[F] = if_set(sum as u8 == 0, ZERO)
            | if_set((a & 0xF) + (value & 0xF) + c > 0xF, HALF)
            | if_set(sum > 0xFF, CARRY);
    }

    /// The difference, with its flags set.
    fn subtract(&mut self, value: u8, borrow: bool) -> u8 {
        let (a, b) = (self.r[A], u8::from(borrow));
        let result = a.wrapping_sub(value).wrapping_sub(b);
        self.r[F] = SUBTRACT
            | if_set(result == 0, ZERO)
            | if_set(a & 0xF < (value & 0xF) + b, HALF)
            | if_set(u16::from(a) < u16::from(value) + u16::from(b), CARRY);
        result
    }

    fn logic(&mut self, result: u8, half: u8) {
        self.r[A] = result;
        self.r[F] = half | if_set(result == 0, ZERO);
    }

    pub(super) fn increment(&mut self, value: u8) -> u8 {
        let result = value.wrapping_add(1);
        self.r[F] = self.r[F] & CARRY | if_set(result == 0, ZERO) | if_set(value & 0xF == 0xF, HALF);
        result
    }

    pub(super) fn decrement(&mut self, value: u8) -> u8 {
        let result = value.wrapping_sub(1);
        self.r[F] = self.r[F] & CARRY | SUBTRACT | if_set(result == 0, ZERO) | if_set(value & 0xF == 0, HALF);
        result
    }

    pub(super) fn add_to_hl(&mut self, value: u16) {
        let hl = self.hl();
        let (sum, carry) = hl.overflowing_add(value);
        self.r[F] = self.r[F] & ZERO | if_set((hl & 0xFFF) + (value & 0xFFF) > 0xFFF, HALF) | if_set(carry, CARRY);
        self.set_pair(H, sum);
    }

    /// SP and a signed offset. The flags are those of the unsigned sum of the low bytes.
    pub(super) fn sp_plus(&mut self, offset: u8) -> u16 {
        let low = self.sp as u8;
        self.r[F] = if_set((low & 0xF) + (offset & 0xF) > 0xF, HALF) | if_set(low.overflowing_add(offset).1, CARRY);
        self.sp.wrapping_add_signed(i16::from(offset as i8))
    }

    /// Makes the accumulator decimal after an addition or a subtraction of decimals.
    pub(super) fn decimal_adjust(&mut self) {
        let (a, f) = (self.r[A], self.r[F]);
        let subtracted = f & SUBTRACT != 0;
        let low = f & HALF != 0 || !subtracted && a & 0xF > 0x09;
        let high = f & CARRY != 0 || !subtracted && a > 0x99;
        let correction = if_set(low, 0x06) | if_set(high, 0x60);
        let result = if subtracted { a.wrapping_sub(correction) } else { a.wrapping_add(correction) };
        self.r[A] = result;
        self.r[F] = f & SUBTRACT | if_set(result == 0, ZERO) | if_set(high, CARRY);
    }

    pub(super) fn complement(&mut self) {
        self.r[A] = !self.r[A];
        self.r[F] |= SUBTRACT | HALF;
    }

    pub(super) fn set_carry(&mut self, carry: bool) {
        self.r[F] = self.r[F] & ZERO | if_set(carry, CARRY);
    }
}
