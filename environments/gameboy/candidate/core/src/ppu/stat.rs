//! STAT (0xFF41): the mode, the LYC comparison, and the one line that all of its interrupts share.

use crate::interrupt;
use crate::state::{Reader, StateError, Writer, require};

const COINCIDENCE: u8 = 0x04;
const COINCIDENCE_ENABLE: u8 = 0x40;
const WRITABLE: u8 = 0x78;
/// Reads as 1.
const UNUSED: u8 = 0x80;
/// The enable bit of mode 2's interrupt.
pub(super) const SCAN_ENABLE: u8 = 0x20;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mode {
    HBlank = 0,
    VBlank = 1,
    Scan = 2,
    Transfer = 3,
}

#[derive(Clone, Debug)]
pub(crate) struct Stat {
    value: u8,
    mode: Mode,
    /// Whether any enabled source holds the line; an interrupt is its rise.
    pub(crate) line: bool,
}

impl Stat {
    pub(super) fn new() -> Self {
        Self { value: UNUSED, mode: Mode::HBlank, line: false }
    }

    pub(crate) fn value(&self) -> u8 {
        self.value
    }

    pub(super) fn mode(&self) -> Mode {
        self.mode
    }

    pub(super) fn line(&self) -> bool {
        self.line
    }

    pub(super) fn enabled(&self, bit: u8) -> bool {
        self.value & bit != 0
    }

    pub(super) fn coincidence_enabled(&self) -> bool {
        self.enabled(COINCIDENCE_ENABLE)
    }

    /// A write by the processor. Returns the interrupt that it raises, or 0.
    pub(super) fn write(&mut self, value: u8) -> u8 {
        self.value = self.value & !WRITABLE | value & WRITABLE;
        self.update()
    }

    /// Sets all of it, the mode too, without an interrupt.
    pub(crate) fn set_value(&mut self, value: u8) {
        self.value = value;
        self.mode = match value & 0b11 {
            0 => Mode::HBlank,
            1 => Mode::VBlank,
            2 => Mode::Scan,
            _ => Mode::Transfer,
        };
    }

    pub(super) fn set_mode(&mut self, mode: Mode) -> u8 {
        if mode == self.mode {
            return 0;
        }
        self.mode = mode;
        self.value = self.value & !0b11 | mode as u8;
        self.update()
    }

    pub(super) fn set_coincidence(&mut self, equal: bool) -> u8 {
        self.value = self.value & !COINCIDENCE | if equal { COINCIDENCE } else { 0 };
        self.update()
    }

    fn update(&mut self) -> u8 {
        let by_mode = match self.mode {
            Mode::HBlank => self.enabled(0x08),
            Mode::VBlank => self.enabled(0x10),
            Mode::Scan => self.enabled(SCAN_ENABLE),
            Mode::Transfer => false,
        };
        let both = COINCIDENCE | COINCIDENCE_ENABLE;
        let line = by_mode || self.value & both == both;
        let rises = line && !self.line;
        self.line = line;
        if rises { interrupt::STAT } else { 0 }
    }

    pub(super) fn save(&self, w: &mut Writer) {
        w.u8(self.value);
        w.bool(self.line);
    }

    pub(super) fn load(&mut self, r: &mut Reader<'_>) -> Result<(), StateError> {
        let value = r.u8()?;
        require(value & UNUSED != 0, "STAT")?;
        self.set_value(value);
        self.line = r.bool("STAT line")?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupt_is_the_rise_of_the_line_and_not_its_level() {
        let mut stat = Stat::new();
        assert_eq!(stat.write(0x08), interrupt::STAT, "mode 0 is on already");
        assert_eq!(stat.write(0x48), 0);
        assert_eq!(stat.set_coincidence(true), 0, "the line is held by mode 0");
        assert_eq!(stat.set_mode(Mode::Transfer), 0, "and now by LYC");
        assert_eq!(stat.set_coincidence(false), 0);
        assert_eq!(stat.set_mode(Mode::HBlank), interrupt::STAT);
    }

    #[test]
    fn a_write_changes_the_enable_bits_alone() {
        let mut stat = Stat::new();
        stat.set_mode(Mode::Scan);
        stat.write(0xFF);
        assert_eq!(stat.value(), 0xFA);
        stat.write(0x00);
        assert_eq!(stat.value(), 0x82);
    }

    #[test]
    fn a_state_without_the_bit_that_reads_as_1_is_refused() {
        assert_eq!(Stat::new().load(&mut Reader::new(&[0x00, 0])), Err(StateError::Field("STAT")));
    }
}
