//! The slices of time in which the processor runs, one instruction after another, and how it enters an interrupt.
//!
//! PyBoy looks for interrupts between slices and not between instructions. A slice ends where the next event is due,
//! or after an instruction that can change what is due ([`Cpu::bail`](super::Cpu::bail)). Which instruction is
//! interrupted depends on that, so that slices are kept exactly.

use crate::console::GameBoy;

/// Clocks from an interrupt to its first instruction.
pub(super) const DISPATCH_CLOCKS: u64 = 20;

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
        self.cpu.until = end;
        self.cpu.slice_until = end;
        self.cpu.idle.new_slice();
        while self.cpu.clock < self.cpu.until {
            if self.cpu.master_delay == 0 {
                self.run_freely();
            } else {
                self.step();
                self.count_delay();
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

    /// Instructions until the slice is over or EI leaves something to be done after the next one.
    fn run_freely(&mut self) {
        let mut pc = self.cpu.pc;
        while self.cpu.clock < self.cpu.until {
            let (opcode, operand) = self.fetch(pc);
            pc = self.execute(opcode, operand, pc);
        }
        self.cpu.pc = pc;
        if self.cpu.master_delay != 0 {
            // EI ends this loop, and not the slice.
            self.cpu.until = self.cpu.slice_until;
        }
    }

    /// One instruction.
    #[inline(always)]
    pub(super) fn step(&mut self) {
        let (opcode, operand) = self.fetch(self.cpu.pc);
        self.cpu.pc = self.execute(opcode, operand, self.cpu.pc);
    }

    /// One instruction less until EI holds.
    pub(super) fn count_delay(&mut self) {
        if self.cpu.master_delay == 0 {
            return;
        }
        self.cpu.master_delay -= 1;
        if self.cpu.master_delay == 0 {
            self.cpu.master = true;
            // Whatever else the instruction wanted of the slice is forgotten.
            let pending = self.cpu.pending() != 0;
            self.cpu.locked &= !pending;
            self.cpu.until = self.cpu.slice_until;
            if pending || self.cpu.locked {
                self.cpu.bail();
            }
        }
    }
}
