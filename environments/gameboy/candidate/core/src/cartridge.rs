//! What is printed on the cartridge and never changes: the ROM and what its header says of the chips around it.
//!
//! The header is judged as PyBoy 2.8.0 judges it: the checksum over 0x134..=0x14C must be right, the type and the RAM
//! size must be known, and the ROM must be whole banks. The ROM size byte, the logo and the global checksum are not
//! looked at. See "The Cartridge Header" in Pan Docs for the fields.

use std::fmt;
use std::sync::Arc;

/// Bytes of one ROM bank.
pub const ROM_BANK: usize = 0x4000;
/// Bytes of one bank of cartridge RAM.
pub const RAM_BANK: usize = 0x2000;
/// The most that any controller here can address: the 512 banks of an MBC5.
pub const LARGEST_ROM: usize = 512 * ROM_BANK;

const TITLE: std::ops::Range<usize> = 0x134..0x143;
const LOGO: std::ops::Range<usize> = 0x104..0x134;
const TYPE: usize = 0x147;
const RAM_SIZE: usize = 0x149;
const CHECKSUM: usize = 0x14D;

/// Why some bytes are not a cartridge that can be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RomError {
    /// There are no bytes at all.
    Empty,
    /// The length in bytes is not a whole number of 16 KiB banks: the file was cut short or has something appended.
    Length(usize),
    /// The length in bytes is above [`LARGEST_ROM`].
    TooLarge(usize),
    /// The header checksum at 0x14D is `found`, and the header sums to `expected`.
    Checksum {
        /// What the header's bytes sum to.
        expected: u8,
        /// What is stored at 0x14D.
        found: u8,
    },
    /// The cartridge type at 0x147 names a controller that is not implemented.
    Type(u8),
    /// The RAM size at 0x149 is not one of 0 to 5.
    RamSize(u8),
}

impl fmt::Display for RomError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Empty => write!(f, "the ROM is empty"),
            Self::Length(n) => write!(f, "the ROM has {n} bytes, which is not a whole number of {ROM_BANK}-byte banks"),
            Self::TooLarge(n) => {
                write!(f, "the ROM has {n} bytes, more than the {LARGEST_ROM} that a controller can address")
            }
            Self::Checksum { expected, found } => {
                write!(f, "the header checksum at 0x14D is 0x{found:02X}, expected 0x{expected:02X}")
            }
            Self::Type(t) => {
                write!(f, "the cartridge type 0x{t:02X} at 0x147 is not one of ROM, MBC1, MBC2, MBC3 and MBC5")
            }
            Self::RamSize(s) => write!(f, "the RAM size 0x{s:02X} at 0x149 is not one of 0x00 to 0x05"),
        }
    }
}

impl std::error::Error for RomError {}

/// The bank controller on the cartridge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Controller {
    /// No controller.
    None,
    /// MBC1, wired as a collection of several games where `multicart` is true.
    Mbc1 {
        /// The upper bank register is shifted by four bits and not by five.
        multicart: bool,
    },
    /// MBC2 with its 512 nibbles of RAM.
    Mbc2,
    /// MBC3, with the wider bank registers of an MBC30 where `wide` is true.
    Mbc3 {
        /// 8 bits of ROM bank and 8 RAM banks.
        wide: bool,
    },
    /// MBC5.
    Mbc5,
}

/// A checked ROM. It is immutable, so that many consoles can share one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cartridge {
    rom: Arc<[u8]>,
    controller: Controller,
    ram_banks: usize,
    has_ram: bool,
    has_battery: bool,
    has_clock: bool,
    digest: u64,
}

impl Cartridge {
    /// Check a ROM image and read its header.
    ///
    /// # Errors
    /// A [`RomError`] that says which part of the image is wrong.
    pub fn parse(rom: Vec<u8>) -> Result<Self, RomError> {
        if rom.is_empty() {
            return Err(RomError::Empty);
        }
        if rom.len() > LARGEST_ROM {
            return Err(RomError::TooLarge(rom.len()));
        }
        if rom.len() % ROM_BANK != 0 {
            return Err(RomError::Length(rom.len()));
        }
        let expected = header_checksum(&rom);
        if rom[CHECKSUM] != expected {
            return Err(RomError::Checksum { expected, found: rom[CHECKSUM] });
        }
        let ram_banks = match rom[RAM_SIZE] {
            // PyBoy gives every cartridge at least one whole bank, whatever the header says.
            0..=2 => 1,
            3 => 4,
            4 => 16,
            5 => 8,
            other => return Err(RomError::RamSize(other)),
        };
        let banks = rom.len() / ROM_BANK;
        let kind = rom[TYPE];
        let controller = match kind {
            0x00 | 0x08 | 0x09 => Controller::None,
            0x01..=0x03 => Controller::Mbc1 { multicart: is_multicart(&rom) },
            0x05 | 0x06 => Controller::Mbc2,
            // The header of an MBC30 differs from an MBC3's only in its sizes.
            0x0F..=0x13 => Controller::Mbc3 { wide: ram_banks > 4 || banks > 128 },
            0x19..=0x1E => Controller::Mbc5,
            other => return Err(RomError::Type(other)),
        };
        let digest = crate::state::fnv1a(&rom);
        Ok(Self {
            rom: rom.into(),
            controller,
            ram_banks,
            has_ram: matches!(kind, 0x02 | 0x03 | 0x08 | 0x09 | 0x10 | 0x12 | 0x13 | 0x1A | 0x1B | 0x1D | 0x1E),
            has_battery: matches!(kind, 0x03 | 0x06 | 0x09 | 0x0F | 0x10 | 0x13 | 0x1B | 0x1E),
            has_clock: matches!(kind, 0x0F | 0x10),
            digest,
        })
    }

    /// The whole ROM.
    pub fn rom(&self) -> &[u8] {
        &self.rom
    }

    /// The ROM to hold on to, so that a fetch need not go through the cartridge.
    pub(crate) fn shared_rom(&self) -> Arc<[u8]> {
        Arc::clone(&self.rom)
    }

    /// The title in the header, up to its first zero byte; bytes that are not ASCII are replaced.
    pub fn title(&self) -> String {
        let title = &self.rom[TITLE];
        let end = title.iter().position(|&b| b == 0).unwrap_or(title.len());
        String::from_utf8_lossy(&title[..end]).into_owned()
    }

    /// The bank controller.
    pub fn controller(&self) -> Controller {
        self.controller
    }

    /// The number of 16 KiB ROM banks, at least 1.
    pub fn rom_banks(&self) -> usize {
        self.rom.len() / ROM_BANK
    }

    /// The number of 8 KiB RAM banks that are kept: at least 1, even where the header says that there is none.
    pub fn ram_banks(&self) -> usize {
        self.ram_banks
    }

    /// Whether the type in the header says that there is RAM.
    pub fn has_ram(&self) -> bool {
        self.has_ram
    }

    /// Whether the RAM outlives the power.
    pub fn has_battery(&self) -> bool {
        self.has_battery
    }

    /// Whether there is a real-time clock.
    pub fn has_clock(&self) -> bool {
        self.has_clock
    }

    /// A 64-bit digest of the ROM, by which a saved state is held against the cartridge that it was saved with.
    pub fn digest(&self) -> u64 {
        self.digest
    }
}

fn header_checksum(rom: &[u8]) -> u8 {
    rom[TITLE.start..CHECKSUM].iter().fold(0u8, |sum, &byte| sum.wrapping_sub(byte).wrapping_sub(1))
}

/// A 1 MiB MBC1 whose every bank repeats the logo of the first.
fn is_multicart(rom: &[u8]) -> bool {
    rom.len() == 64 * ROM_BANK && rom.chunks(ROM_BANK).all(|bank| bank[LOGO] == rom[LOGO])
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A ROM of zeros with a right header; what is at 0x100 and after is the caller's.
    pub(crate) fn image(kind: u8, banks: usize, ram_size: u8) -> Vec<u8> {
        let mut rom = vec![0; banks * ROM_BANK];
        rom[TITLE.start..TITLE.start + 4].copy_from_slice(b"TEST");
        rom[TYPE] = kind;
        rom[RAM_SIZE] = ram_size;
        rom[CHECKSUM] = header_checksum(&rom);
        rom
    }

    #[test]
    fn a_right_header_is_read() {
        let cart = Cartridge::parse(image(0x1B, 8, 3)).unwrap();
        assert_eq!(cart.controller(), Controller::Mbc5);
        assert_eq!((cart.rom_banks(), cart.ram_banks(), cart.title().as_str()), (8, 4, "TEST"));
        assert!(cart.has_ram() && cart.has_battery() && !cart.has_clock());
    }

    #[test]
    fn an_image_that_is_not_whole_banks_is_refused() {
        let mut rom = image(0, 2, 0);
        rom.pop();
        assert_eq!(Cartridge::parse(rom), Err(RomError::Length(0x7FFF)));
        assert_eq!(Cartridge::parse(Vec::new()), Err(RomError::Empty));
        assert_eq!(Cartridge::parse(vec![0; 16]), Err(RomError::Length(16)));
    }

    #[test]
    fn an_image_beyond_512_banks_is_refused() {
        let rom = image(0x19, 513, 0);
        assert_eq!(Cartridge::parse(rom), Err(RomError::TooLarge(513 * ROM_BANK)));
    }

    #[test]
    fn one_wrong_header_byte_is_a_wrong_checksum() {
        let mut rom = image(0, 2, 0);
        rom[0x134] ^= 1;
        assert!(matches!(Cartridge::parse(rom), Err(RomError::Checksum { .. })));
    }

    #[test]
    fn an_unknown_type_or_ram_size_is_named() {
        assert_eq!(Cartridge::parse(image(0x22, 2, 0)), Err(RomError::Type(0x22)));
        assert_eq!(Cartridge::parse(image(0x04, 2, 0)), Err(RomError::Type(0x04)));
        assert_eq!(Cartridge::parse(image(0, 2, 6)), Err(RomError::RamSize(6)));
    }

    #[test]
    fn a_multicart_repeats_its_logo_in_every_bank() {
        let mut rom = image(1, 64, 0);
        for bank in 0..64 {
            rom[bank * ROM_BANK + LOGO.start] = 0xCE;
        }
        let cart = Cartridge::parse(rom.clone()).unwrap();
        assert_eq!(cart.controller(), Controller::Mbc1 { multicart: true });
        rom[63 * ROM_BANK + LOGO.start] = 0;
        let cart = Cartridge::parse(rom).unwrap();
        assert_eq!(cart.controller(), Controller::Mbc1 { multicart: false });
    }

    #[test]
    fn an_mbc3_with_more_than_its_sizes_is_an_mbc30() {
        let plain = Cartridge::parse(image(0x13, 8, 3)).unwrap();
        let wide = Cartridge::parse(image(0x13, 8, 5)).unwrap();
        assert_eq!(plain.controller(), Controller::Mbc3 { wide: false });
        assert_eq!(wide.controller(), Controller::Mbc3 { wide: true });
    }
}
