//! The transfer into object memory that a write to 0xFF46 starts: 160 bytes, one every four clocks.
//!
//! As in PyBoy the bytes are copied late, all that are due at once, whenever something looks: between slices of time,
//! and at every access to object memory and to 0xFF00..=0xFFFF. What is copied is what the source holds *then*.

use crate::state::{Reader, StateError, Writer, require};

/// Bytes of object memory.
pub(crate) const LENGTH: u8 = 0xA0;
const BYTE_CLOCKS: i64 = 4;
/// From the write to the first byte's four clocks; shorter where a transfer that has copied nothing is replaced.
const START_CLOCKS: u64 = 12;
const RESTART_CLOCKS: u64 = 8;

#[derive(Clone, Debug, Default)]
pub(crate) struct Dma {
    pub(crate) active: bool,
    /// The upper half of the source's address, as it was written.
    pub(crate) source: u8,
    /// Bytes copied.
    pub(crate) done: u8,
    pub(crate) start: u64,
}

impl Dma {
    pub(crate) fn begin(&mut self, source: u8, now: u64) {
        let delay = if self.active && self.done == 0 { RESTART_CLOCKS } else { START_CLOCKS };
        *self = Self { active: true, source, done: 0, start: now + delay };
    }

    /// How many bytes are due at clock `now`.
    pub(crate) fn due(&self, now: u64) -> u8 {
        let elapsed = now.wrapping_sub(self.start) as i64;
        (elapsed / BYTE_CLOCKS).clamp(0, i64::from(LENGTH)) as u8
    }

    pub(crate) fn started(&self, now: u64) -> bool {
        now >= self.start
    }

    /// Where the next byte comes from. Above 0xFDFF the bus wraps to work memory.
    pub(crate) fn next_address(&self) -> u16 {
        let page = if self.source >= 0xFE { self.source - 0x20 } else { self.source };
        u16::from_be_bytes([page, self.done])
    }

    pub(crate) fn save(&self, w: &mut Writer) {
        w.bool(self.active);
        w.u8(self.source);
        w.u8(self.done);
        w.u64(self.start);
    }

    pub(crate) fn load(&mut self, r: &mut Reader<'_>) -> Result<(), StateError> {
        self.active = r.bool("DMA")?;
        self.source = r.u8()?;
        self.done = r.at_most(LENGTH, "DMA bytes")?;
        require(!self.active || self.done < LENGTH, "DMA bytes")?;
        self.start = r.u64()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_is_due_every_four_clocks_after_the_start() {
        let mut dma = Dma::default();
        dma.begin(0xC0, 1000);
        let due: Vec<u8> = [1000, 1015, 1016, 1020, 1012 + 639, 1012 + 640, 9999].map(|now| dma.due(now)).to_vec();
        assert_eq!(due, [0, 0, 1, 2, 159, 160, 160]);
    }

    #[test]
    fn replacing_a_transfer_that_copied_nothing_starts_sooner() {
        let mut dma = Dma::default();
        dma.begin(0xC0, 1000);
        dma.begin(0xC1, 1008);
        assert!(dma.started(1016) && !dma.started(1015));
        dma.done = 1;
        dma.begin(0xC2, 1100);
        assert!(!dma.started(1111));
    }

    #[test]
    fn pages_above_the_echo_wrap_to_work_memory() {
        let mut dma = Dma::default();
        dma.begin(0xFF, 0);
        assert_eq!(dma.next_address(), 0xDF00);
        dma.begin(0xFD, 0);
        assert_eq!(dma.next_address(), 0xFD00);
    }
}
