//! Loops that wait: a turn that ends as it began and touched nothing is followed by the same turn, until something else
//! happens. Such turns are counted and not executed.

use super::Cpu;

/// The loop that may be waiting.
#[derive(Clone, Debug, Default)]
pub(crate) struct Idle {
    /// Nothing was changed since the loop's head, and what was read stays as it is until the end of the slice.
    calm: bool,
    /// What was read may be another after the end of the slice.
    until_slice_end: bool,
    head: u16,
    sp: u16,
    registers: [u8; 8],
    clock: u64,
}

impl Idle {
    /// Something was changed, or was read that changes by itself.
    #[inline]
    pub(crate) fn disturb(&mut self) {
        self.calm = false;
    }

    /// What was read will be another if `changes`.
    #[inline]
    pub(crate) fn disturb_if(&mut self, changes: bool) {
        self.calm &= !changes;
    }

    /// A register was read that changes with the units' events alone.
    #[inline]
    pub(crate) fn watches_unit(&mut self) {
        self.until_slice_end = true;
    }

    /// A slice begins: units can have changed.
    #[inline]
    pub(super) fn new_slice(&mut self) {
        self.calm &= !self.until_slice_end;
    }
}

impl Cpu {
    /// The processor has jumped back to `head`. Where the turn that ends here changed nothing, time passes for as many
    /// more of them as end within the slice.
    #[inline]
    pub(super) fn jumped_back(&mut self, head: u16) {
        let same = self.idle.calm
            && self.idle.head == head
            && self.idle.registers == self.r
            && self.idle.sp == self.sp
            && !self.touched;
        if same {
            let turn = self.clock - self.idle.clock;
            if let Some(left) = self.slice_until.checked_sub(self.clock + 1) {
                self.clock += left / turn * turn;
            }
            self.idle.clock = self.clock;
            return;
        }
        self.idle =
            Idle { calm: true, until_slice_end: false, head, sp: self.sp, registers: self.r, clock: self.clock };
    }
}
