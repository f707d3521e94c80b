//! The processor: its registers, what it waits for, and how both are kept. [`run`] lets it run.

mod alu;
mod execute;
mod fetch;
mod idle;
mod opcodes;
mod prefixed;
mod run;
mod window;

use crate::interrupt;
use crate::state::{Reader, StateError, Writer};
use idle::Idle;
pub(crate) use window::Window;

pub(crate) const B: usize = 0;
pub(crate) const C: usize = 1;
pub(crate) const D: usize = 2;
pub(crate) const E: usize = 3;
pub(crate) const H: usize = 4;
pub(crate) const L: usize = 5;
/// The place of `(HL)` in opcodes, which no register has. The flags live there.
pub(crate) const F: usize = 6;
pub(crate) const A: usize = 7;

/// The flags in F.
pub(crate) mod flag {
    pub(crate) const ZERO: u8 = 0x80;
    pub(crate) const SUBTRACT: u8 = 0x40;
    pub(crate) const HALF: u8 = 0x20;
    pub(crate) const CARRY: u8 = 0x10;
}

/// The processor's registers, as a caller sees them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Registers {
    pub a: u8,
    pub f: u8,
    pub b: u8,
    pub c: u8,
    pub d: u8,
    pub e: u8,
    pub h: u8,
    pub l: u8,
    pub sp: u16,
    pub pc: u16,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Cpu {
    /// B, C, D, E, H, L, F, A: the order of opcodes.
    pub(crate) r: [u8; 8],
    pub(crate) sp: u16,
    pub(crate) pc: u16,
    pub(crate) clock: u64,
    /// Clocks by which the running access is ahead of `clock`.
    pub(crate) lead: u8,
    /// IF and IE.
    pub(crate) requested: u8,
    pub(crate) enabled: u8,
    /// IME, and the instructions until EI sets it (0 where none is due).
    pub(crate) master: bool,
    pub(crate) master_delay: u8,
    pub(crate) halted: bool,
    /// HALT was the instruction that EI delays for: the interrupt returns to it.
    pub(crate) halted_after_ei: bool,
    /// An opcode that does not exist was met. PyBoy never returns from there; here the time goes on without the
    /// processor.
    pub(crate) locked: bool,
    /// The clock at which the slice of time ends, or 0 where it ends with this instruction.
    pub(crate) until: u64,
    /// A register of a unit was written since the units ran, so that what they wait for may be another.
    pub(crate) touched: bool,
    /// The clock at which the slice ends unless an instruction ends it.
    slice_until: u64,
    pub(crate) idle: Idle,
    /// The registers at the last `ld b, b`.
    pub(crate) mark: Option<Registers>,
}

impl Cpu {
    pub(crate) fn pair(&self, high: usize) -> u16 {
        u16::from_be_bytes([self.r[high], self.r[high + 1]])
    }

    pub(crate) fn set_pair(&mut self, high: usize, value: u16) {
        [self.r[high], self.r[high + 1]] = value.to_be_bytes();
    }

    pub(crate) fn hl(&self) -> u16 {
        self.pair(H)
    }

    /// Interrupts that are both requested and enabled.
    fn pending(&self) -> u8 {
        self.requested & self.enabled & interrupt::ALL
    }

    /// The slice of time ends with this instruction.
    #[inline]
    pub(crate) fn bail(&mut self) {
        self.until = 0;
    }

    pub(crate) fn registers(&self) -> Registers {
        let [b, c, d, e, h, l, f, a] = self.r;
        Registers { a, f, b, c, d, e, h, l, sp: self.sp, pc: self.pc }
    }

    pub(crate) fn set_registers(&mut self, r: Registers) {
        self.r = [r.b, r.c, r.d, r.e, r.h, r.l, r.f & 0xF0, r.a];
        self.sp = r.sp;
        self.pc = r.pc;
    }

    pub(crate) fn save(&self, w: &mut Writer) {
        w.raw(&self.r);
        w.u16(self.sp);
        w.u16(self.pc);
        w.u64(self.clock);
        w.u8(self.requested);
        w.u8(self.enabled);
        w.bool(self.master);
        w.u8(self.master_delay);
        w.bool(self.halted);
        w.bool(self.halted_after_ei);
        w.bool(self.locked);
    }

    pub(crate) fn load(&mut self, r: &mut Reader<'_>) -> Result<(), StateError> {
        r.fill(&mut self.r)?;
        crate::state::require(self.r[F] & 0x0F == 0, "F")?;
        self.sp = r.u16()?;
        self.pc = r.u16()?;
        self.clock = r.u64()?;
        self.requested = r.at_most(interrupt::ALL, "IF")?;
        self.enabled = r.u8()?;
        self.master = r.bool("IME")?;
        self.master_delay = r.at_most(2, "IME delay")?;
        self.halted = r.bool("halted")?;
        self.halted_after_ei = r.bool("halted after EI")?;
        self.locked = r.bool("locked")?;
        // Between frames no access is under way.
        self.lead = 0;
        self.bail();
        Ok(())
    }
}

#[cfg(test)]
mod tests;
