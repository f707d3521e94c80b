//! The serial port with no cable: what is sent is kept, what arrives is 0xFF.

use crate::NEVER;
use crate::state::{Reader, StateError, Writer, require};

/// Clocks of a byte: 8 bits of 8192 Hz in PyBoy's count of 128 clocks a bit.
const BYTE_CLOCKS: u64 = 8 * 128;
/// What SB reads as: in PyBoy always what arrives where no other console is.
pub(crate) const NOTHING: u8 = 0xFF;
/// Bytes kept before PyBoy's buffer starts again from empty.
const KEPT: usize = 1024;
const TRANSFER: u8 = 0x80;
const INTERNAL_CLOCK: u8 = 0x01;
/// Bits of SC that read as 1.
const SC_UNUSED: u8 = 0b0111_1110;

#[derive(Clone, Debug)]
pub(crate) struct Serial {
    pub(crate) control: u8,
    pub(crate) sending: bool,
    pub(crate) clock: u64,
    /// When the transfer ends. PyBoy's "never" is a clock, 2^31, which a long game passes: from there on every
    /// instruction is its own slice of time, because `until_event` is negative.
    pub(crate) done_at: u64,
    pub(crate) until_event: i64,
    sent: Vec<u8>,
}

impl Serial {
    pub(crate) fn new() -> Self {
        Self { control: SC_UNUSED, sending: false, clock: 0, done_at: NEVER as u64, until_event: 0, sent: Vec::new() }
    }

    /// Runs to clock `now`; true where the interrupt is to be requested.
    pub(crate) fn tick(&mut self, now: u64) -> bool {
        if now == self.clock {
            return false;
        }
        self.clock = now;
        let done = self.sending && now >= self.done_at;
        if done {
            self.control &= !TRANSFER;
            self.sending = false;
            self.done_at = NEVER as u64;
        }
        self.until_event = self.done_at.wrapping_sub(now) as i64;
        done
    }

    pub(crate) fn control(&self) -> u8 {
        self.control
    }

    /// The clock up to which the port has run.
    pub(crate) fn seen(&self) -> u64 {
        self.clock
    }

    pub(crate) fn set_data(&mut self, value: u8) {
        self.sent.push(value);
        if self.sent.len() == KEPT {
            self.sent.clear();
        }
    }

    pub(crate) fn set_control(&mut self, value: u8) {
        self.control = value | SC_UNUSED;
        // A transfer that the other side clocks never ends, as there is no other side.
        self.sending = value & TRANSFER != 0 && value & INTERNAL_CLOCK != 0;
        self.done_at = if value & INTERNAL_CLOCK != 0 { self.clock + BYTE_CLOCKS } else { NEVER as u64 };
        self.until_event = self.done_at.wrapping_sub(self.clock) as i64;
    }

    /// Bytes of memory behind what is kept.
    pub(crate) fn kept_bytes(&self) -> usize {
        self.sent.capacity()
    }

    /// The bytes written to SB since the last call, at most 1023 of them.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.sent)
    }

    pub(crate) fn save(&self, w: &mut Writer) {
        w.u8(self.control);
        w.bool(self.sending);
        w.u64(self.clock);
        w.u64(self.done_at);
        w.i64(self.until_event);
        w.u16(self.sent.len() as u16);
        w.raw(&self.sent);
    }

    pub(crate) fn load(&mut self, r: &mut Reader<'_>) -> Result<(), StateError> {
        self.control = r.u8()?;
        self.sending = r.bool("serial transfer")?;
        self.clock = r.u64()?;
        self.done_at = r.u64()?;
        self.until_event = r.i64()?;
        let kept = usize::from(r.u16()?);
        require(kept < KEPT, "serial bytes")?;
        self.sent = r.raw(kept)?.to_vec();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_on_the_own_clock_takes_1024_clocks() {
        let mut serial = Serial::new();
        serial.tick(100);
        serial.set_data(b'x');
        serial.set_control(0x81);
        assert_eq!(serial.until_event, 1024);
        assert!(!serial.tick(1123));
        assert_eq!(serial.control(), 0xFF);
        assert!(serial.tick(1124));
        assert_eq!(serial.control(), 0x7F);
        assert_eq!(serial.take(), b"x");
    }

    #[test]
    fn a_byte_on_the_others_clock_never_ends() {
        let mut serial = Serial::new();
        serial.set_control(0x80);
        assert!(!serial.tick(1 << 20));
        assert_eq!(serial.control(), 0xFE);
    }

    #[test]
    fn the_1024th_byte_empties_the_buffer() {
        let mut serial = Serial::new();
        for _ in 0..1024 {
            serial.set_data(1);
        }
        assert!(serial.take().is_empty());
    }

    #[test]
    fn never_is_a_clock_that_passes() {
        let mut serial = Serial::new();
        serial.tick(NEVER as u64 + 8);
        assert_eq!(serial.until_event, -8);
    }
}
