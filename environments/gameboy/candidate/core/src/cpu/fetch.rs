//! Where instructions are read from.

use super::window::{HIGH_START, WHOLE, Window};
use crate::ROM_BANK;
use crate::console::GameBoy;

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
    /// The bank below PC may be another from now on.
    pub(crate) fn forget_window(&mut self) {
        self.window = Window::default();
    }

    /// The opcode at an address, and the two bytes after it, where it has them.
    #[inline(always)]
    pub(super) fn fetch(&mut self, pc: u16) -> (u8, u16) {
        let at = pc.wrapping_sub(self.window.from);
        if at < WHOLE {
            let place = self.window.offset as usize + usize::from(at);
            if let Some(&[opcode, low, high]) = self.rom.get(place..place + 3) {
                return (opcode, u16::from_le_bytes([low, high]));
            }
        }
        self.fetch_elsewhere(pc)
    }

    /// PC has left the window, or the ROM ends here.
    #[cold]
    #[inline(never)]
    fn fetch_elsewhere(&mut self, pc: u16) -> (u8, u16) {
        if self.boot_mapped || pc >= HIGH_START + WHOLE {
            return self.fetch_slowly(pc);
        }
        let (low, high) = (self.mapper.low_base(), self.mapper.high_base());
        if pc < WHOLE {
            self.window = Window { from: 0, offset: low as u32 };
        } else if pc >= HIGH_START {
            self.window = Window { from: HIGH_START, offset: high as u32 };
        }
        // PyBoy takes all three bytes from one bank, and just below the border from the switchable one: the bytes that precede
        // that bank in the ROM.
        let base = if pc < WHOLE { low } else { high.wrapping_sub(ROM_BANK) };
        let byte = |i: usize| self.rom_at(base.wrapping_add(usize::from(pc) + i));
        (byte(0), u16::from_le_bytes([byte(1), byte(2)]))
    }

    /// Through the bus, one machine cycle a byte.
    #[cold]
    #[inline(never)]
    fn fetch_slowly(&mut self, pc: u16) -> (u8, u16) {
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
