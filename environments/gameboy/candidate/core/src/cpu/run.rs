//! The slices of time in which the processor runs, one instruction after another, and how it enters an interrupt.
//!
//! PyBoy looks for interrupts between slices and not between instructions. A slice ends where the next event is due,
//! or after an instruction that can change what is due ([`Cpu::bail`](super::Cpu::bail)). Which instruction is
//! interrupted depends on that, so that slices are kept exactly.

use crate::console::GameBoy;

/// Clocks from an interrupt to its first instruction.
pub(super) const DISPATCH_CLOCKS: u64 = 20;

/// Bytes of each instruction; a prefixed one is counted whole.
pub(super) const LENGTHS: [u8; 256] = lengths();

const fn lengths() -> [u8; 256] {
    let mut out = [1; 256];
    let mut opcode = 0;
    while opcode < 256 {
        out[opcode] = match opcode {
            0x01 | 0x11 | 0x21 | 0x31 | 0x08 => 3,
            0xC2 | 0xCA | 0xD2 | 0xDA | 0xC3 | 0xC4 | 0xCC | 0xD4 | 0xDC | 0xCD | 0xEA | 0xFA => 3,
            0x10 | 0x18 | 0x20 | 0x28 | 0x30 | 0x38 | 0xCB | 0xE0 | 0xE8 | 0xF0 | 0xF8 => 2,
            _ => match opcode & 0xC7 {
                0x06 | 0xC6 => 2,
                _ => 1,
            },
        };
        opcode += 1;
    }
    out
}

impl GameBoy {
    /// Lets the processor run for `budget` clocks, or to the end of the instruction that passes them or bails.
    pub(crate) fn run_slice(&mut self, budget: u64) {
        let end = self.cpu.clock + budget;
        if self.cpu.locked {
            self.cpu.clock = end;
            return;
        }
        if self.take_interrupt() {
            self.cpu.halted = false;
        } else if self.cpu.halted {
            self.cpu.clock = end;
            return;
        }
        self.cpu.bail = false;
        self.cpu.slice_until = end;
        self.cpu.idle.new_slice();
        while self.cpu.clock < end {
            self.step();
            if self.cpu.bail {
                break;
            }
        }
        if self.cpu.locked {
            self.cpu.clock = end;
        }
    }

    /// Wakes the processor where an interrupt is pending, and enters it where IME is set; true where one was pending.
    pub(super) fn take_interrupt(&mut self) -> bool {
        if self.cpu.master_delay != 0 || self.cpu.pending() == 0 {
            return false;
        }
        if self.cpu.halted && !self.cpu.halted_after_ei {
            // HALT leaves PC on itself.
            self.cpu.pc = self.cpu.pc.wrapping_add(1);
        }
        self.cpu.halted_after_ei = false;
        self.cpu.idle.disturb();
        if self.cpu.master {
            self.enter_interrupt();
        }
        true
    }

    fn enter_interrupt(&mut self) {
        let [high, low] = self.cpu.pc.to_be_bytes();
        self.store8(self.cpu.sp.wrapping_sub(1), high);
        self.cpu.master = false;
        // The push can have written IE or IF, and what is pending now decides.
        let pending = self.cpu.pending();
        if pending == 0 {
            self.cpu.pc = 0;
            return;
        }
        let number = pending.trailing_zeros();
        self.cpu.requested &= !(1 << number);
        self.store8(self.cpu.sp.wrapping_sub(2), low);
        self.cpu.sp = self.cpu.sp.wrapping_sub(2);
        self.cpu.pc = 0x40 + 8 * number as u16;
        self.cpu.clock += DISPATCH_CLOCKS;
    }

    /// One instruction, and what EI left to be done after it.
    #[inline(always)]
    pub(super) fn step(&mut self) {
        let (opcode, operand) = self.fetch();
        self.cpu.pc = self.cpu.pc.wrapping_add(u16::from(LENGTHS[usize::from(opcode)]));
        self.execute(opcode, operand);
        if self.cpu.master_delay != 0 {
            self.cpu.master_delay -= 1;
            if self.cpu.master_delay == 0 {
                self.cpu.master = true;
                // Whatever else the instruction wanted of the slice is forgotten.
                let pending = self.cpu.pending() != 0;
                self.cpu.locked &= !pending;
                self.cpu.bail = pending || self.cpu.locked;
            }
        }
    }

    /// The opcode at PC, and the two bytes after it, where it has them.
    #[inline(always)]
    fn fetch(&mut self) -> (u8, u16) {
        let pc = self.cpu.pc;
        if self.boot_mapped || pc >= 0x7FFE {
            return self.fetch_slowly();
        }
        // PyBoy takes all three bytes from one bank, and from 0x3FFE on from the switchable one: the bytes that precede
        // that bank in the ROM.
        let offset = if pc < 0x3FFE {
            self.mapper.low_base() + usize::from(pc)
        } else {
            (self.mapper.high_base() + usize::from(pc)).wrapping_sub(crate::ROM_BANK)
        };
        match self.rom.get(offset..offset.wrapping_add(3)) {
            Some(&[opcode, low, high]) => (opcode, u16::from_le_bytes([low, high])),
            _ => {
                let byte = |i: usize| self.rom_at(offset.wrapping_add(i));
                (byte(0), u16::from_le_bytes([byte(1), byte(2)]))
            }
        }
    }

    /// Through the bus, one machine cycle a byte.
    #[cold]
    #[inline(never)]
    fn fetch_slowly(&mut self) -> (u8, u16) {
        let pc = self.cpu.pc;
        let opcode = self.load8(pc);
        let length = LENGTHS[usize::from(opcode)];
        let mut operand = [0; 2];
        for (at, byte) in (1..length).zip(&mut operand) {
            self.cpu.lead = 4 * at;
            *byte = self.load8(pc.wrapping_add(u16::from(at)));
        }
        self.cpu.lead = 0;
        (opcode, u16::from_le_bytes(operand))
    }
}
