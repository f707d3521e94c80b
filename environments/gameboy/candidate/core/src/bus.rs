//! The memory map: what answers at which address, and what has to have run up to which clock before it does.

use crate::console::GameBoy;
use crate::{dma, serial};

/// What a read gives where nothing answers.
const OPEN: u8 = 0xFF;

impl GameBoy {
    /// The byte of the ROM at an offset; 0xFF past its end, where PyBoy reads memory that is not the ROM's.
    #[inline]
    pub(crate) fn rom_at(&self, offset: usize) -> u8 {
        self.rom.get(offset).copied().unwrap_or(OPEN)
    }

    /// The clock at which the running access is made.
    fn access_clock(&self) -> u64 {
        self.cpu.clock + u64::from(self.cpu.lead)
    }

    /// Whether the running access finds video and object memory locked while the screen reads them: that of three
    /// instructions.
    fn sees_locks(&self) -> bool {
        self.cpu.lead != 0
    }

    /// Reads as the processor does.
    #[inline]
    pub(crate) fn load8(&mut self, address: u16) -> u8 {
        match address {
            0xC000..=0xFDFF => self.wram[usize::from(address & 0x1FFF)],
            0x0100..=0x3FFF => self.rom_at(self.mapper.low_base() + usize::from(address)),
            0x4000..=0x7FFF => self.rom_at(self.mapper.high_base() + usize::from(address & 0x3FFF)),
            0xFF80..=0xFFFE if !self.dma.active => self.hram[usize::from(address & 0x7F)],
            _ => self.load_elsewhere(address),
        }
    }

    /// What is not plain memory, or is plain memory seldom.
    #[inline(never)]
    fn load_elsewhere(&mut self, address: u16) -> u8 {
        if (0x8000..0xFF00).contains(&address) {
            self.cpu.idle.disturb();
        }
        match address {
            0x0000..=0x7FFF => match &self.boot_rom {
                Some(boot) if self.boot_mapped && address < 0x100 => boot[usize::from(address)],
                _ => self.rom_at(self.mapper.low_base() + usize::from(address)),
            },
            0x8000..=0x9FFF => {
                if self.sees_locks() {
                    self.run_ppu(self.access_clock());
                    if self.ppu.vram_unreadable() {
                        return OPEN;
                    }
                }
                self.ppu.vram[usize::from(address & 0x1FFF)]
            }
            0xA000..=0xFDFF => self.mapper.read(&self.cartridge, address, self.cpu.clock),
            0xFE00..=0xFE9F => self.read_oam(address),
            0xFEA0..=0xFEFF => self.unusable[usize::from(address - 0xFEA0)],
            0xFF00..=0xFFFF => self.load_io(address as u8),
        }
    }

    /// Writes as the processor does.
    #[inline]
    pub(crate) fn store8(&mut self, address: u16, value: u8) {
        self.cpu.idle.disturb();
        match address {
            0xC000..=0xFDFF => self.wram[usize::from(address & 0x1FFF)] = value,
            _ => self.store_elsewhere(address, value),
        }
    }

    #[inline(never)]
    fn store_elsewhere(&mut self, address: u16, value: u8) {
        match address {
            0x0000..=0x7FFF => {
                self.mapper.write(&self.cartridge, address, value, self.cpu.clock);
                self.forget_window();
                self.cpu.bail();
            }
            0x8000..=0x9FFF => {
                if self.sees_locks() {
                    self.run_ppu(self.access_clock());
                    if self.ppu.vram_unwritable() {
                        return;
                    }
                }
                self.ppu.vram[usize::from(address & 0x1FFF)] = value;
            }
            0xA000..=0xFDFF => {
                self.mapper.write(&self.cartridge, address, value, self.cpu.clock);
                // MBC1 works out its banks at every write, which changes them where a state was made up.
                self.forget_window();
            }
            0xFE00..=0xFE9F => self.write_oam(address, value),
            0xFEA0..=0xFEFF => self.unusable[usize::from(address - 0xFEA0)] = value,
            0xFF00..=0xFFFF => self.store_io(address as u8, value),
        }
    }

    fn read_oam(&mut self, address: u16) -> u8 {
        if self.sees_locks() {
            self.run_ppu(self.access_clock());
            if self.ppu.oam_unreadable() {
                return OPEN;
            }
        }
        self.sync_dma(self.cpu.lead);
        // PyBoy lets a read through HL see the transfer one machine cycle on.
        if self.dma.active && self.dma.started(self.access_clock()) && self.cpu.hl() == address {
            self.sync_dma(self.cpu.lead.max(4));
        }
        if self.dma.active && self.dma.started(self.access_clock()) {
            return OPEN;
        }
        self.ppu.oam[usize::from(address - 0xFE00)]
    }

    fn write_oam(&mut self, address: u16, value: u8) {
        if self.sees_locks() {
            self.run_ppu(self.access_clock());
            if self.ppu.oam_unwritable() {
                return;
            }
        }
        self.sync_dma(self.cpu.lead);
        if !self.dma.active {
            self.ppu.oam[usize::from(address - 0xFE00)] = value;
        }
    }

    /// Copies what the transfer owes at the processor's clock and `lead` more.
    pub(crate) fn sync_dma(&mut self, lead: u8) {
        if !self.dma.active {
            return;
        }
        let due = self.dma.due(self.cpu.clock + u64::from(lead));
        while self.dma.done < due {
            let address = self.dma.next_address();
            self.ppu.oam[usize::from(self.dma.done)] = self.load8(address);
            self.dma.done += 1;
        }
        if self.dma.done == dma::LENGTH {
            self.dma.active = false;
        }
    }

    pub(crate) fn run_ppu(&mut self, clock: u64) {
        self.cpu.requested |= self.ppu.tick(clock);
    }

    pub(crate) fn run_timer(&mut self) {
        if self.timer.tick(self.cpu.clock) {
            self.cpu.requested |= crate::interrupt::TIMER;
        }
    }

    pub(crate) fn run_serial(&mut self) {
        if self.serial.tick(self.cpu.clock) {
            self.cpu.requested |= crate::interrupt::SERIAL;
        }
    }

    /// Reads 0xFF00 + `low`: registers, high memory, IE.
    pub(crate) fn load_io(&mut self, low: u8) -> u8 {
        self.sync_dma(self.cpu.lead);
        match low {
            // DIV counts between events, and the sound chip has its own slices of time.
            0x04 | 0x10..=0x3F => self.cpu.idle.disturb(),
            0x00..=0x7F => self.cpu.idle.watches_unit(),
            _ => {}
        }
        match low {
            0x00 => self.joypad.read(),
            0x01 | 0x02 => {
                self.run_serial();
                if low == 0x01 { serial::NOTHING } else { self.serial.control() }
            }
            0x04..=0x07 => {
                self.run_timer();
                match low {
                    0x04 => self.timer.div(),
                    0x05 => self.timer.tima(),
                    0x06 => self.timer.tma(),
                    _ => self.timer.tac(),
                }
            }
            0x0F => self.cpu.requested | !crate::interrupt::ALL,
            0x10..=0x3F => {
                self.run_apu();
                self.apu.read(low - 0x10)
            }
            0x40..=0x4B => {
                self.run_ppu(self.access_clock());
                self.load_ppu(low)
            }
            0x80..=0xFE => self.hram[usize::from(low - 0x80)],
            0xFF => self.cpu.enabled,
            _ => OPEN,
        }
    }

    fn load_ppu(&mut self, low: u8) -> u8 {
        match low {
            0x40 => self.ppu.lcdc(),
            0x41 => {
                // Of two reads the first one can give something else.
                self.cpu.idle.disturb_if(self.ppu.mode_is_hidden());
                self.ppu.read_stat()
            }
            0x42 => self.ppu.scy,
            0x43 => self.ppu.scx,
            0x44 => self.ppu.ly(),
            0x45 => self.ppu.lyc(),
            0x46 => self.dma.source,
            0x47 => self.ppu.bgp,
            0x48 => self.ppu.obp0,
            0x49 => self.ppu.obp1,
            0x4A => self.ppu.wy,
            _ => self.ppu.wx,
        }
    }

    /// Writes 0xFF00 + `low`. A write that can move the next event ends the processor's slice of time.
    pub(crate) fn store_io(&mut self, low: u8, value: u8) {
        self.cpu.idle.disturb();
        self.sync_dma(self.cpu.lead);
        match low {
            0x00 => self.joypad.write(value),
            0x01 | 0x02 => {
                self.run_serial();
                if low == 0x01 {
                    self.serial.set_data(value);
                } else {
                    self.serial.set_control(value);
                }
            }
            0x04..=0x07 => self.store_timer(low, value),
            0x0F => self.cpu.requested = value & crate::interrupt::ALL,
            0x10..=0x3F => {
                self.run_apu();
                // PyBoy does not bring the timer up to date here: it is as the last slice left it.
                self.settle_timer();
                self.apu.write(low - 0x10, value, self.timer.div(), self.timer.counter());
            }
            0x40..=0x4B => {
                self.run_ppu(self.cpu.clock);
                if low == 0x44 {
                    return;
                }
                self.store_ppu(low, value);
            }
            0x50 => {
                if !self.boot_mapped || !matches!(value, 0x01 | 0x11) {
                    return;
                }
                self.boot_mapped = false;
            }
            0x4C..=0x7F => return,
            0x80..=0xFE => {
                self.hram[usize::from(low - 0x80)] = value;
                return;
            }
            0xFF => self.cpu.enabled = value,
            _ => {}
        }
        self.cpu.touched = true;
        self.cpu.bail();
    }

    fn store_timer(&mut self, low: u8, value: u8) {
        self.run_timer();
        match low {
            0x04 => {
                self.run_apu();
                self.apu.div_reset(self.timer.div());
                self.timer.reset();
            }
            0x05 => self.timer.set_tima(value),
            0x06 => self.timer.set_tma(value),
            _ => self.timer.set_tac(value),
        }
    }

    fn store_ppu(&mut self, low: u8, value: u8) {
        let interrupts = match low {
            0x40 => self.ppu.write_lcdc(value),
            0x41 => self.ppu.write_stat(value),
            0x45 => self.ppu.write_lyc(value),
            _ => 0,
        };
        self.cpu.requested |= interrupts;
        match low {
            0x42 => self.ppu.scy = value,
            0x43 => self.ppu.scx = value,
            0x46 => self.dma.begin(value, self.cpu.clock),
            0x47 => self.ppu.bgp = value,
            0x48 => self.ppu.obp0 = value,
            0x49 => self.ppu.obp1 = value,
            0x4A => self.ppu.wy = value,
            0x4B => self.ppu.wx = value,
            _ => {}
        }
    }
}
