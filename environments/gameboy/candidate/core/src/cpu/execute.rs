//! The 256 opcodes without a prefix.
//!
//! `clock` moves in two parts where PyBoy's does: what is added before an access decides what the access sees, and the
//! rest is added after it. An access that moves nothing before it happens at the clock at which the instruction began.

use super::fetch::LENGTHS;
use super::flag::{CARRY, ZERO};
use super::opcodes::by_opcode;
use super::{A, B, C, D, E, F, H, L};
use crate::console::GameBoy;

/// The clocks by which three of PyBoy's instructions look ahead in their one access.
const LOOK_AHEAD: u8 = 4;

impl GameBoy {
    /// Executes the opcode at `pc`, and returns where the next one is. `operand` holds the bytes after it.
    #[inline(always)]
    pub(super) fn execute(&mut self, opcode: u8, operand: u16, pc: u16) -> u16 {
        by_opcode!(opcode, OPCODE => self.execute_one(OPCODE, operand, pc))
    }

    /// [`GameBoy::execute`], which is compiled for each opcode: what it means is known then.
    #[inline(always)]
    fn execute_one(&mut self, opcode: u8, operand: u16, pc: u16) -> u16 {
        let mut next = pc.wrapping_add(u16::from(LENGTHS[usize::from(opcode)]));
        let low = operand as u8;
        match opcode {
            0x00 => self.cpu.clock += 4,
            // STOP on a monochrome console is a short no-operation in PyBoy.
            0x10 => self.cpu.clock += 4,
            0x76 => {
                // PC stays on HALT; who wakes the processor moves it on.
                next = pc;
                self.halt();
            }
            0xF3 => {
                self.cpu.idle.disturb();
                self.cpu.master = false;
                self.cpu.master_delay = 0;
                self.cpu.clock += 4;
            }
            0xFB => {
                self.cpu.idle.disturb();
                if self.cpu.master_delay == 0 {
                    self.cpu.master_delay = 1;
                    // The instruction after it is one to look behind.
                    self.cpu.until = 0;
                }
                self.cpu.clock += 4;
            }

            // Loads of eight bits.
            0x46 | 0x4E | 0x56 | 0x5E | 0x66 | 0x6E => {
                self.cpu.r[usize::from(opcode >> 3 & 7)] = self.load8(self.cpu.hl());
                self.cpu.clock += 8;
            }
            0x7E => self.load_ahead(self.cpu.hl()),
            0x70..=0x75 | 0x77 => {
                self.store8(self.cpu.hl(), self.cpu.r[usize::from(opcode & 7)]);
                self.cpu.clock += 8;
            }
            0x40 => {
                self.cpu.pc = next;
                self.cpu.mark = Some(self.cpu.registers());
                self.cpu.clock += 4;
            }
            0x41..=0x7F => {
                self.cpu.r[usize::from(opcode >> 3 & 7)] = self.cpu.r[usize::from(opcode & 7)];
                self.cpu.clock += 4;
            }
            0x36 => {
                self.cpu.clock += 4;
                self.store8(self.cpu.hl(), low);
                self.cpu.clock += 8;
            }
            0x06 | 0x0E | 0x16 | 0x1E | 0x26 | 0x2E | 0x3E => {
                self.cpu.r[usize::from(opcode >> 3)] = low;
                self.cpu.clock += 8;
            }
            0x02 => {
                self.store8(self.cpu.pair(B), self.cpu.r[A]);
                self.cpu.clock += 8;
            }
            0x12 => {
                self.cpu.lead = LOOK_AHEAD;
                self.store8(self.cpu.pair(D), self.cpu.r[A]);
                self.cpu.lead = 0;
                self.cpu.clock += 8;
            }
            0x22 | 0x32 => {
                let hl = self.cpu.hl();
                self.store8(hl, self.cpu.r[A]);
                self.cpu.set_pair(H, stepped(opcode, hl));
                self.cpu.clock += 8;
            }
            0x0A => {
                self.cpu.r[A] = self.load8(self.cpu.pair(B));
                self.cpu.clock += 8;
            }
            0x1A => self.load_ahead(self.cpu.pair(D)),
            0x2A | 0x3A => {
                let hl = self.cpu.hl();
                self.cpu.r[A] = self.load8(hl);
                self.cpu.set_pair(H, stepped(opcode, hl));
                self.cpu.clock += 8;
            }
            0xE0 => {
                self.cpu.clock += 4;
                self.store_io(low, self.cpu.r[A]);
                self.cpu.clock += 8;
            }
            0xF0 => {
                self.cpu.clock += 4;
                self.cpu.r[A] = self.load_io(low);
                self.cpu.clock += 8;
            }
            0xE2 => {
                self.store_io(self.cpu.r[C], self.cpu.r[A]);
                self.cpu.clock += 8;
            }
            0xF2 => {
                self.cpu.r[A] = self.load_io(self.cpu.r[C]);
                self.cpu.clock += 8;
            }
            0xEA => {
                self.cpu.clock += 8;
                self.store8(operand, self.cpu.r[A]);
                self.cpu.clock += 8;
            }
            0xFA => {
                self.cpu.clock += 8;
                self.cpu.r[A] = self.load8(operand);
                self.cpu.clock += 8;
            }

            // Loads of sixteen bits, and the stack.
            0x01 => self.load_pair(B, operand),
            0x11 => self.load_pair(D, operand),
            0x21 => self.load_pair(H, operand),
            0x31 => {
                self.cpu.sp = operand;
                self.cpu.clock += 12;
            }
            0x08 => {
                let [high, low] = self.cpu.sp.to_be_bytes();
                self.store8(operand, low);
                self.store8(operand.wrapping_add(1), high);
                self.cpu.clock += 20;
            }
            0xF8 => {
                let sum = self.cpu.sp_plus(low);
                self.cpu.set_pair(H, sum);
                self.cpu.clock += 12;
            }
            0xF9 => {
                self.cpu.sp = self.cpu.hl();
                self.cpu.clock += 8;
            }
            0xC5 => self.push_after(8, self.cpu.pair(B)),
            0xD5 => self.push_after(8, self.cpu.pair(D)),
            0xE5 => self.push_after(8, self.cpu.hl()),
            0xF5 => {
                let af = u16::from_be_bytes([self.cpu.r[A], self.cpu.r[F]]);
                self.push_after(8, af);
            }
            0xC1 => self.pop_pair(B),
            0xD1 => self.pop_pair(D),
            0xE1 => self.pop_pair(H),
            0xF1 => {
                let [a, f] = self.pop().to_be_bytes();
                self.cpu.r[A] = a;
                self.cpu.r[F] = f & 0xF0;
            }

            // Arithmetic.
            0x86 | 0x8E | 0x96 | 0x9E | 0xA6 | 0xAE | 0xB6 | 0xBE => {
                let value = self.load8(self.cpu.hl());
                self.cpu.accumulate(opcode >> 3, value);
                self.cpu.clock += 8;
            }
            0x80..=0xBF => {
                let value = self.cpu.r[usize::from(opcode & 7)];
                self.cpu.accumulate(opcode >> 3, value);
                self.cpu.clock += 4;
            }
            0xC6 | 0xCE | 0xD6 | 0xDE | 0xE6 | 0xEE | 0xF6 | 0xFE => {
                self.cpu.accumulate(opcode >> 3, low);
                self.cpu.clock += 8;
            }
            0x34 => self.modify_at_hl(true),
            0x35 => self.modify_at_hl(false),
            0x04 | 0x0C | 0x14 | 0x1C | 0x24 | 0x2C | 0x3C => {
                let register = usize::from(opcode >> 3);
                self.cpu.r[register] = self.cpu.increment(self.cpu.r[register]);
                self.cpu.clock += 4;
            }
            0x05 | 0x0D | 0x15 | 0x1D | 0x25 | 0x2D | 0x3D => {
                let register = usize::from(opcode >> 3);
                self.cpu.r[register] = self.cpu.decrement(self.cpu.r[register]);
                self.cpu.clock += 4;
            }
            0x03 | 0x13 | 0x23 => self.step_pair(opcode, 1),
            0x0B | 0x1B | 0x2B => self.step_pair(opcode, -1),
            0x33 => {
                self.cpu.sp = self.cpu.sp.wrapping_add(1);
                self.cpu.clock += 8;
            }
            0x3B => {
                self.cpu.sp = self.cpu.sp.wrapping_sub(1);
                self.cpu.clock += 8;
            }
            0x09 => self.add_to_hl(self.cpu.pair(B)),
            0x19 => self.add_to_hl(self.cpu.pair(D)),
            0x29 => self.add_to_hl(self.cpu.hl()),
            0x39 => self.add_to_hl(self.cpu.sp),
            0xE8 => {
                self.cpu.sp = self.cpu.sp_plus(low);
                self.cpu.clock += 16;
            }
            0x07 | 0x0F | 0x17 | 0x1F => {
                self.cpu.rotate_accumulator(opcode >> 3);
                self.cpu.clock += 4;
            }
            0x27 => {
                self.cpu.decimal_adjust();
                self.cpu.clock += 4;
            }
            0x2F => {
                self.cpu.complement();
                self.cpu.clock += 4;
            }
            0x37 => {
                self.cpu.set_carry(true);
                self.cpu.clock += 4;
            }
            0x3F => {
                self.cpu.set_carry(!self.cpu.carry());
                self.cpu.clock += 4;
            }
            0xCB => self.execute_prefixed(low),

            // Jumps.
            0x18 => next = self.jump_relative(true, low, next),
            0x20 | 0x28 | 0x30 | 0x38 => next = self.jump_relative(self.condition(opcode), low, next),
            0xC3 => next = self.jump(true, operand, next),
            0xC2 | 0xCA | 0xD2 | 0xDA => next = self.jump(self.condition(opcode), operand, next),
            0xE9 => {
                next = self.cpu.hl();
                self.cpu.clock += 4;
            }
            0xCD => next = self.call(true, operand, next),
            0xC4 | 0xCC | 0xD4 | 0xDC => next = self.call(self.condition(opcode), operand, next),
            0xC9 => {
                self.cpu.clock += 4;
                next = self.pop();
            }
            0xC0 | 0xC8 | 0xD0 | 0xD8 => {
                self.cpu.clock += 8;
                if self.condition(opcode) {
                    next = self.pop();
                }
            }
            0xD9 => {
                self.cpu.master = true;
                self.cpu.master_delay = 0;
                if self.cpu.pending() != 0 {
                    self.cpu.bail();
                }
                self.cpu.clock += 4;
                next = self.pop();
            }
            0xC7 | 0xCF | 0xD7 | 0xDF | 0xE7 | 0xEF | 0xF7 | 0xFF => {
                self.push_after(8, next);
                next = u16::from(opcode & 0x38);
            }

            // No such opcode: PC stays, and no time passes.
            0xD3 | 0xDB | 0xDD | 0xE3 | 0xE4 | 0xEB | 0xEC | 0xED | 0xF4 | 0xFC | 0xFD => {
                next = pc;
                self.cpu.locked = true;
                self.cpu.bail();
            }
        }
        next
    }

    #[inline(never)]
    fn halt(&mut self) {
        self.cpu.halted = true;
        self.cpu.halted_after_ei = self.cpu.master_delay == 1;
        self.cpu.bail();
        self.cpu.clock += 4;
    }

    fn load_ahead(&mut self, address: u16) {
        self.cpu.lead = LOOK_AHEAD;
        self.cpu.r[A] = self.load8(address);
        self.cpu.lead = 0;
        self.cpu.clock += 8;
    }

    fn load_pair(&mut self, high: usize, value: u16) {
        self.cpu.set_pair(high, value);
        self.cpu.clock += 12;
    }

    fn step_pair(&mut self, opcode: u8, by: i16) {
        let high = usize::from(opcode >> 4) * 2;
        debug_assert!([(B, C), (D, E), (H, L)].contains(&(high, high + 1)));
        let value = self.cpu.pair(high).wrapping_add_signed(by);
        self.cpu.set_pair(high, value);
        self.cpu.clock += 8;
    }

    fn add_to_hl(&mut self, value: u16) {
        self.cpu.add_to_hl(value);
        self.cpu.clock += 8;
    }

    fn modify_at_hl(&mut self, up: bool) {
        let hl = self.cpu.hl();
        let value = self.load8(hl);
        let result = if up { self.cpu.increment(value) } else { self.cpu.decrement(value) };
        self.cpu.clock += 4;
        self.store8(hl, result);
        self.cpu.clock += 8;
    }

    /// The condition that bits 3 and 4 of an opcode name: NZ, Z, NC, C.
    fn condition(&self, opcode: u8) -> bool {
        let flag = if opcode & 0x10 == 0 { ZERO } else { CARRY };
        (self.cpu.r[F] & flag != 0) == (opcode & 0x08 != 0)
    }

    #[inline(always)]
    fn jump_relative(&mut self, taken: bool, offset: u8, next: u16) -> u16 {
        if taken {
            self.cpu.clock += 12;
            self.jump_to(next.wrapping_add_signed(i16::from(offset as i8)), next)
        } else {
            self.cpu.clock += 8;
            next
        }
    }

    #[inline(always)]
    fn jump(&mut self, taken: bool, address: u16, next: u16) -> u16 {
        if taken {
            self.cpu.clock += 16;
            self.jump_to(address, next)
        } else {
            self.cpu.clock += 12;
            next
        }
    }

    /// Goes on at an address after the clocks of the jump.
    #[inline(always)]
    fn jump_to(&mut self, address: u16, next: u16) -> u16 {
        if address < next && self.shortcuts && !self.dma.active {
            self.cpu.jumped_back(address);
        }
        address
    }

    fn call(&mut self, taken: bool, address: u16, next: u16) -> u16 {
        if taken {
            self.push_after(16, next);
            address
        } else {
            self.cpu.clock += 12;
            next
        }
    }

    /// Pushes after `clocks`: the upper byte then, the lower one four clocks later, and four clocks more.
    #[inline(always)]
    fn push_after(&mut self, clocks: u64, value: u16) {
        let [high, low] = value.to_be_bytes();
        self.cpu.clock += clocks;
        self.store8(self.cpu.sp.wrapping_sub(1), high);
        self.cpu.clock += 4;
        self.store8(self.cpu.sp.wrapping_sub(2), low);
        self.cpu.sp = self.cpu.sp.wrapping_sub(2);
        self.cpu.clock += 4;
    }

    /// Pops now: the lower byte, the upper one four clocks later, and eight clocks more.
    #[inline(always)]
    fn pop(&mut self) -> u16 {
        let low = self.load8(self.cpu.sp);
        self.cpu.clock += 4;
        let high = self.load8(self.cpu.sp.wrapping_add(1));
        self.cpu.sp = self.cpu.sp.wrapping_add(2);
        self.cpu.clock += 8;
        u16::from_be_bytes([high, low])
    }

    fn pop_pair(&mut self, high: usize) {
        let value = self.pop();
        self.cpu.set_pair(high, value);
    }
}

/// HL after an access through HL+ (0x22, 0x2A) or HL- (0x32, 0x3A).
fn stepped(opcode: u8, hl: u16) -> u16 {
    if opcode & 0x10 == 0 { hl.wrapping_add(1) } else { hl.wrapping_sub(1) }
}
