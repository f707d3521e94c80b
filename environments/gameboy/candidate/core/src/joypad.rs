//! The eight buttons and P1 (0xFF00).
//!
//! As in PyBoy, P1 is computed when it is *written*: a read gives what the buttons were at the last write, and the two
//! select bits read as 0. A press is seen by the processor at the start of a frame.

use crate::state::{Reader, StateError, Writer};

/// One bit for each button, as [`crate::GameBoy::set_buttons`] takes them.
pub mod button {
    /// Right on the pad.
    pub const RIGHT: u8 = 1;
    /// Left on the pad.
    pub const LEFT: u8 = 2;
    /// Up on the pad.
    pub const UP: u8 = 4;
    /// Down on the pad.
    pub const DOWN: u8 = 8;
    /// The A button.
    pub const A: u8 = 16;
    /// The B button.
    pub const B: u8 = 32;
    /// The Select button.
    pub const SELECT: u8 = 64;
    /// The Start button.
    pub const START: u8 = 128;
}

const SELECT_PAD: u8 = 0x10;
const SELECT_BUTTONS: u8 = 0x20;

#[derive(Clone, Debug, Default)]
pub(crate) struct Joypad {
    pub(crate) held: u8,
    /// What the last write made of P1.
    pub(crate) p1: u8,
}

impl Joypad {
    /// Sets which buttons are held; true where one that was up is now down.
    pub(crate) fn hold(&mut self, buttons: u8) -> bool {
        let pressed = buttons & !self.held != 0;
        self.held = buttons;
        pressed
    }

    pub(crate) fn read(&self) -> u8 {
        self.p1
    }

    pub(crate) fn write(&mut self, value: u8) {
        // A select line is active when it is low. With both or neither, no button shows.
        let lines = match (value & SELECT_PAD == 0, value & SELECT_BUTTONS == 0) {
            (true, false) => !self.held & 0xF,
            (false, true) => !(self.held >> 4) & 0xF,
            _ => 0xF,
        };
        self.p1 = 0xC0 | lines;
    }

    pub(crate) fn save(&self, w: &mut Writer) {
        w.u8(self.held);
        w.u8(self.p1);
    }

    pub(crate) fn load(&mut self, r: &mut Reader<'_>) -> Result<(), StateError> {
        self.held = r.u8()?;
        self.p1 = r.u8()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_selected_half_reads_low_where_held() {
        let mut joypad = Joypad::default();
        joypad.hold(button::LEFT | button::START);
        joypad.write(!SELECT_PAD);
        assert_eq!(joypad.read(), 0xCD);
        joypad.write(!SELECT_BUTTONS);
        assert_eq!(joypad.read(), 0xC7);
        joypad.write(0x30);
        assert_eq!(joypad.read(), 0xCF);
        joypad.write(0x00);
        assert_eq!(joypad.read(), 0xCF, "PyBoy shows no button with both selected");
    }

    #[test]
    fn a_press_is_seen_once_and_a_release_never() {
        let mut joypad = Joypad::default();
        assert!(joypad.hold(button::A));
        assert!(!joypad.hold(button::A));
        assert!(joypad.hold(button::A | button::UP));
        assert!(!joypad.hold(0));
    }

    #[test]
    fn a_press_does_not_show_before_the_next_write() {
        let mut joypad = Joypad::default();
        assert_eq!(joypad.read(), 0, "PyBoy's P1 is 0 before the first write");
        joypad.write(!SELECT_BUTTONS);
        joypad.hold(button::A);
        assert_eq!(joypad.read(), 0xCF);
        joypad.write(!SELECT_BUTTONS);
        assert_eq!(joypad.read(), 0xCE);
    }
}
