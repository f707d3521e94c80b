//! The bank below PC, as long as it stays the same.

/// Of so many opcodes at the beginning of a bank all bytes are in it.
pub(super) const WHOLE: u16 = 0x3FFE;
/// Where the switchable bank begins.
pub(super) const HIGH_START: u16 = 0x4000;
/// A place that no ROM has, and none is behind.
const NOWHERE: u32 = 1 << 31;

/// The bank in which PC is: [`WHOLE`] addresses where nothing has to be asked, neither for a border nor for the boot ROM.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    pub(super) from: u16,
    /// The place of `from` in the ROM.
    pub(super) offset: u32,
}

impl Default for Window {
    fn default() -> Self {
        Self { from: 0, offset: NOWHERE }
    }
}
