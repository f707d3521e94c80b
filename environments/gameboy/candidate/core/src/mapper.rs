//! The cartridge's bank controllers: which ROM bank and which RAM the processor sees, and what writes to ROM change.
//!
//! Equal to PyBoy's, where that differs from the chips too: there is RAM behind every controller, and a controller
//! without RAM in its header has it all the same (no controller at all excepted, whose reads give 0xFF).

use crate::cartridge::{Cartridge, Controller, RAM_BANK, ROM_BANK};
use crate::in_place::clone_in_place;
use crate::rtc::Rtc;
use crate::state::{Reader, StateError, Writer};

/// What a read gives where no chip answers.
const OPEN: u8 = 0xFF;
/// MBC2's 512 cells of 4 bits; the upper four read as 1.
const MBC2_CELLS: usize = 512;
const RTC_REGISTERS: std::ops::RangeInclusive<u16> = 0x08..=0x0C;

#[derive(Debug)]
pub(crate) struct Mapper {
    pub(crate) ram: Vec<u8>,
    pub(crate) ram_enabled: bool,
    pub(crate) ram_bank: u16,
    pub(crate) rom_bank: u16,
    pub(crate) low_bank: u16,
    /// MBC1's two bank registers and its mode.
    pub(crate) lower: u8,
    pub(crate) upper: u8,
    pub(crate) advanced: bool,
    pub(crate) rtc: Rtc,
}

clone_in_place!(Mapper { ram, ram_enabled, ram_bank, rom_bank, low_bank, lower, upper, advanced, rtc });

/// A write of any value that ends in 0xA enables RAM.
fn enables(value: u8) -> bool {
    value & 0x0F == 0x0A
}

impl Mapper {
    pub(crate) fn new(cart: &Cartridge) -> Self {
        Self {
            ram: vec![0; cart.ram_banks() * RAM_BANK],
            ram_enabled: cart.controller() == Controller::None && cart.has_ram(),
            ram_bank: 0,
            rom_bank: 1,
            low_bank: 0,
            lower: 1,
            upper: 0,
            advanced: false,
            rtc: Rtc::default(),
        }
    }

    /// The offset in the ROM of what is seen at 0x0000.
    #[inline]
    pub(crate) fn low_base(&self) -> usize {
        usize::from(self.low_bank) * ROM_BANK
    }

    /// The offset in the ROM of what is seen at 0x4000.
    #[inline]
    pub(crate) fn high_base(&self) -> usize {
        usize::from(self.rom_bank) * ROM_BANK
    }

    pub(crate) fn ram(&self) -> &[u8] {
        &self.ram
    }

    pub(crate) fn ram_mut(&mut self) -> &mut [u8] {
        &mut self.ram
    }

    fn clock_selected(&self, cart: &Cartridge) -> bool {
        cart.has_clock() && RTC_REGISTERS.contains(&self.ram_bank)
    }

    /// A bank beyond those that are kept reads as zeros: PyBoy always has 16, of which no more can be written.
    fn ram_at(&self, bank: u16, address: u16) -> u8 {
        let at = usize::from(bank) * RAM_BANK + usize::from(address & 0x1FFF);
        self.ram.get(at).copied().unwrap_or(0)
    }

    fn set_ram_at(&mut self, bank: u16, address: u16, value: u8) {
        let at = usize::from(bank) * RAM_BANK + usize::from(address & 0x1FFF);
        if let Some(cell) = self.ram.get_mut(at) {
            *cell = value;
        }
    }

    /// The RAM at 0xA000..=0xBFFF in the selected bank, whether it is enabled or not.
    pub(crate) fn peek(&self, address: u16) -> u8 {
        self.ram_at(self.ram_bank, address)
    }

    /// Reads 0xA000..=0xBFFF at clock `now`.
    pub(crate) fn read(&mut self, cart: &Cartridge, address: u16, now: u64) -> u8 {
        if self.clock_selected(cart) {
            self.rtc.tick(now);
        }
        if !self.ram_enabled {
            return OPEN;
        }
        match cart.controller() {
            Controller::Mbc1 { .. } => {
                self.ram_bank = if self.advanced { u16::from(self.upper) % cart.ram_banks() as u16 } else { 0 };
            }
            Controller::Mbc2 => return self.ram[usize::from(address) % MBC2_CELLS] | 0xF0,
            Controller::Mbc3 { .. } if self.clock_selected(cart) => {
                return self.rtc.read(self.ram_bank);
            }
            _ => {}
        }
        self.ram_at(self.ram_bank, address)
    }

    /// Writes 0x0000..=0x7FFF or 0xA000..=0xBFFF at clock `now`.
    pub(crate) fn write(&mut self, cart: &Cartridge, address: u16, value: u8, now: u64) {
        if cart.has_clock() && (0x6000..0x8000).contains(&address) || address >= 0xA000 && self.clock_selected(cart) {
            self.rtc.tick(now);
        }
        match cart.controller() {
            Controller::None => self.write_plain(address, value),
            Controller::Mbc1 { multicart } => self.write_mbc1(cart, multicart, address, value),
            Controller::Mbc2 => self.write_mbc2(cart, address, value),
            Controller::Mbc3 { wide } => self.write_mbc3(cart, wide, address, value),
            Controller::Mbc5 => self.write_mbc5(cart, address, value),
        }
    }

    /// PyBoy lets a cartridge without a controller switch between its two banks.
    fn write_plain(&mut self, address: u16, value: u8) {
        match address {
            0x2000..=0x3FFF => self.rom_bank = u16::from(value.max(1) & 1),
            0xA000..=0xBFFF => self.set_ram_at(0, address, value),
            _ => {}
        }
    }

    fn write_mbc1(&mut self, cart: &Cartridge, multicart: bool, address: u16, value: u8) {
        match address {
            0x0000..=0x1FFF => self.ram_enabled = enables(value),
            0x2000..=0x3FFF => self.lower = (value & 0x1F).max(1),
            0x4000..=0x5FFF => self.upper = value & 0b11,
            0x6000..=0x7FFF => self.advanced = value & 1 != 0,
            _ if self.ram_enabled => {
                self.ram_bank = if self.advanced { u16::from(self.upper) } else { 0 };
                let bank = self.ram_bank % cart.ram_banks() as u16;
                self.set_ram_at(bank, address, value);
            }
            _ => {}
        }
        let (upper, lower) = (u16::from(self.upper), u16::from(self.lower));
        let (low, high) = if multicart {
            // The zero that becomes a one is that of the whole five-bit register, so that 0x10 selects bank 0 of a game.
            (upper << 4, upper << 4 | lower & 0x0F)
        } else {
            (upper << 5, upper << 5 | lower)
        };
        let banks = cart.rom_banks() as u16;
        self.low_bank = if self.advanced { low % banks } else { 0 };
        self.rom_bank = high % banks;
    }

    fn write_mbc2(&mut self, cart: &Cartridge, address: u16, value: u8) {
        match address {
            0x0000..=0x3FFF if address & 0x100 == 0 => self.ram_enabled = enables(value),
            0x0000..=0x3FFF => {
                self.rom_bank = u16::from((value & 0x0F).max(1)) % cart.rom_banks() as u16;
            }
            0xA000..=0xBFFF if self.ram_enabled => {
                self.ram[usize::from(address) % MBC2_CELLS] = value | 0xF0;
            }
            _ => {}
        }
    }

    fn write_mbc3(&mut self, cart: &Cartridge, wide: bool, address: u16, value: u8) {
        match address {
            0x0000..=0x1FFF => self.ram_enabled = enables(value),
            0x2000..=0x3FFF => {
                let bank = if wide { value } else { value & 0x7F };
                self.rom_bank = u16::from(bank.max(1)) % cart.rom_banks() as u16;
            }
            0x4000..=0x5FFF => {
                let value = u16::from(value);
                self.ram_bank = if RTC_REGISTERS.contains(&value) { value } else { value % cart.ram_banks() as u16 };
            }
            0x6000..=0x7FFF if cart.has_clock() => self.rtc.latch(value),
            0xA000..=0xBFFF if self.ram_enabled => {
                if self.ram_bank <= if wide { 7 } else { 3 } {
                    self.set_ram_at(self.ram_bank, address, value);
                } else if self.clock_selected(cart) {
                    self.rtc.write(self.ram_bank, value);
                }
            }
            _ => {}
        }
    }

    fn write_mbc5(&mut self, cart: &Cartridge, address: u16, value: u8) {
        let banks = cart.rom_banks() as u16;
        match address {
            // All eight bits are compared here.
            0x0000..=0x1FFF => self.ram_enabled = value == 0x0A,
            0x2000..=0x2FFF => {
                self.rom_bank = (self.rom_bank & 0x100 | u16::from(value)) % banks;
            }
            0x3000..=0x3FFF => {
                self.rom_bank = (u16::from(value & 1) << 8 | self.rom_bank & 0xFF) % banks;
            }
            0x4000..=0x5FFF => {
                self.ram_bank = u16::from(value & 0x0F) % cart.ram_banks() as u16;
            }
            0xA000..=0xBFFF if self.ram_enabled => self.set_ram_at(self.ram_bank, address, value),
            _ => {}
        }
    }

    pub(crate) fn save(&self, w: &mut Writer) {
        w.raw(&self.ram);
        w.bool(self.ram_enabled);
        w.u16(self.ram_bank);
        w.u16(self.rom_bank);
        w.u16(self.low_bank);
        w.u8(self.lower);
        w.u8(self.upper);
        w.bool(self.advanced);
        self.rtc.save(w);
    }

    pub(crate) fn load(&mut self, r: &mut Reader<'_>) -> Result<(), StateError> {
        r.fill(&mut self.ram)?;
        self.ram_enabled = r.bool("cartridge RAM enable")?;
        self.ram_bank = r.u16()?;
        self.rom_bank = r.u16()?;
        self.low_bank = r.u16()?;
        self.lower = r.at_most(0x1F, "MBC1 lower bank")?;
        self.upper = r.at_most(0b11, "MBC1 upper bank")?;
        self.advanced = r.bool("MBC1 mode")?;
        self.rtc.load(r)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cartridge::tests::image;

    fn mapper(kind: u8, banks: usize, ram_size: u8) -> (Cartridge, Mapper) {
        let cart = Cartridge::parse(image(kind, banks, ram_size)).unwrap();
        let mapper = Mapper::new(&cart);
        (cart, mapper)
    }

    #[test]
    fn mbc1_joins_its_registers_and_never_selects_a_lower_zero() {
        let (cart, mut m) = mapper(0x03, 128, 3);
        m.write(&cart, 0x2000, 0, 0);
        assert_eq!((m.rom_bank, m.low_bank), (1, 0));
        m.write(&cart, 0x2000, 0x1F, 0);
        m.write(&cart, 0x4000, 2, 0);
        assert_eq!((m.rom_bank, m.low_bank), (0x5F, 0));
        m.write(&cart, 0x6000, 1, 0);
        assert_eq!((m.rom_bank, m.low_bank), (0x5F, 0x40));
    }

    #[test]
    fn mbc1_banks_beyond_the_rom_wrap() {
        let (cart, mut m) = mapper(0x01, 8, 0);
        m.write(&cart, 0x2000, 0x1D, 0);
        assert_eq!(m.rom_bank, 5);
    }

    #[test]
    fn a_multicart_selects_games_of_sixteen_banks() {
        let cart = Cartridge::parse(image(0x01, 64, 0)).unwrap();
        assert_eq!(cart.controller(), Controller::Mbc1 { multicart: true });
        let mut m = Mapper::new(&cart);
        m.write(&cart, 0x4000, 3, 0);
        m.write(&cart, 0x2000, 0x12, 0);
        assert_eq!(m.rom_bank, 0x32);
        m.write(&cart, 0x2000, 0x10, 0);
        assert_eq!(m.rom_bank, 0x30, "a lower register of 0x10 is not zero");
    }

    #[test]
    fn ram_is_closed_until_it_is_enabled_and_is_kept_by_bank() {
        let (cart, mut m) = mapper(0x03, 4, 3);
        m.write(&cart, 0xA000, 1, 0);
        assert_eq!(m.read(&cart, 0xA000, 0), OPEN);
        m.write(&cart, 0x0000, 0x3A, 0);
        m.write(&cart, 0x6000, 1, 0);
        for bank in 0..4 {
            m.write(&cart, 0x4000, bank, 0);
            m.write(&cart, 0xA123, 0x40 + bank, 0);
        }
        for bank in 0..4 {
            m.write(&cart, 0x4000, bank, 0);
            assert_eq!(m.read(&cart, 0xA123, 0), 0x40 + bank);
        }
    }

    #[test]
    fn mbc2_tells_its_registers_apart_by_address_bit_8() {
        let (cart, mut m) = mapper(0x06, 16, 0);
        m.write(&cart, 0x0100, 0x0A, 0);
        assert_eq!((m.rom_bank, m.ram_enabled), (10, false));
        m.write(&cart, 0x3EFF, 0x0A, 0);
        assert_eq!((m.rom_bank, m.ram_enabled), (10, true));
        m.write(&cart, 0xA201, 0x05, 0);
        assert_eq!(m.read(&cart, 0xBE01, 0), 0xF5, "512 cells repeat");
    }

    #[test]
    fn mbc3_selects_clock_registers_by_ram_bank() {
        let (cart, mut m) = mapper(0x10, 4, 3);
        m.write(&cart, 0x0000, 0x0A, 0);
        m.write(&cart, 0x4000, 0x08, 0);
        m.write(&cart, 0xA000, 42, 0);
        m.write(&cart, 0x6000, 0, 0);
        m.write(&cart, 0x6000, 1, 5 * crate::CLOCKS_PER_SECOND);
        assert_eq!(m.read(&cart, 0xA000, 5 * crate::CLOCKS_PER_SECOND), 47);
    }

    #[test]
    fn an_mbc3_without_a_clock_reads_its_registers_as_empty_ram() {
        let (cart, mut m) = mapper(0x13, 4, 3);
        m.write(&cart, 0x0000, 0x0A, 0);
        m.write(&cart, 0x4000, 0x08, 0);
        m.write(&cart, 0xA000, 42, 0);
        assert_eq!(m.read(&cart, 0xA000, 0), 0);
    }

    #[test]
    fn mbc5_has_nine_bank_bits_and_a_bank_zero() {
        let (cart, mut m) = mapper(0x1B, 512, 4);
        m.write(&cart, 0x3000, 1, 0);
        m.write(&cart, 0x2000, 0x23, 0);
        assert_eq!(m.rom_bank, 0x123);
        m.write(&cart, 0x3000, 0, 0);
        m.write(&cart, 0x2000, 0, 0);
        assert_eq!(m.rom_bank, 0);
        m.write(&cart, 0x0000, 0x1A, 0);
        assert!(!m.ram_enabled, "an MBC5 compares the whole byte");
    }

    #[test]
    fn no_controller_still_switches_between_two_banks() {
        let (cart, mut m) = mapper(0x00, 2, 0);
        m.write(&cart, 0x2000, 2, 0);
        assert_eq!(m.rom_bank, 0);
        m.write(&cart, 0x2000, 0, 0);
        assert_eq!(m.rom_bank, 1);
        assert_eq!(m.read(&cart, 0xA000, 0), OPEN);
    }
}
