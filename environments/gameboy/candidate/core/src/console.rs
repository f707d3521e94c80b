//! The whole console: what it is made of, and the loop that runs it for a frame.

use crate::apu::Apu;
use crate::cartridge::Cartridge;
use crate::cpu::{Cpu, Registers, Window};
use crate::dma::Dma;
use crate::in_place::clone_in_place;
use crate::joypad::Joypad;
use crate::mapper::Mapper;
use crate::ppu::{HEIGHT, Ppu, WIDTH};
use crate::serial::Serial;
use crate::state::{self, Reader, StateError, Writer, require};
use crate::timer::Timer;
use crate::{FRAME_CLOCKS, NEVER, interrupt};
use std::sync::Arc;

/// A clock that no run reaches; a state beyond it is refused.
const LAST_CLOCK: u64 = 1 << 62;

/// Where a cartridge has the checksum of its header.
const HEADER_CHECKSUM: usize = 0x014D;
/// What DIV counts at 0x0100. The console has 0xABCC there; PyBoy's instructions read four clocks before the console's do.
const COUNTER_AFTER_BOOT: u16 = 0xABCC + 4;

/// Whether the sound chip runs, as PyBoy's `sound_emulated`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sound {
    /// `sound_emulated=False`: 0xFF10..=0xFF3F reads as 0.
    Off,
    /// `sound_emulated=True`.
    On {
        /// PyBoy's `sound_sample_rate` in Hz. It decides when wave RAM answers.
        sample_rate: u32,
    },
}

/// What a console is built with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The 256 bytes that run first. Without them the console begins at 0x0100 with the registers that the
    /// monochrome console's own boot ROM leaves.
    pub boot_rom: Option<Arc<[u8; 256]>>,
    /// The sound chip.
    pub sound: Sound,
    /// Whether time is passed over in which nothing happens: units without an event, loops that wait. Nothing but the
    /// speed depends on it.
    pub shortcuts: bool,
}

impl Default for Options {
    /// PyBoy's defaults, without a boot ROM.
    fn default() -> Self {
        Self { boot_rom: None, sound: Sound::On { sample_rate: 48_000 }, shortcuts: true }
    }
}

/// A console with a cartridge in it. A clone shares the ROM and nothing else.
#[derive(Debug)]
pub struct GameBoy {
    pub(crate) cartridge: Arc<Cartridge>,
    pub(crate) rom: Arc<[u8]>,
    pub(crate) boot_rom: Option<Arc<[u8; 256]>>,
    pub(crate) boot_mapped: bool,
    pub(crate) window: Window,
    pub(crate) mapper: Mapper,
    pub(crate) cpu: Cpu,
    pub(crate) ppu: Ppu,
    pub(crate) apu: Apu,
    pub(crate) timer: Timer,
    pub(crate) serial: Serial,
    pub(crate) joypad: Joypad,
    pub(crate) dma: Dma,
    pub(crate) wram: Box<[u8; 0x2000]>,
    pub(crate) hram: [u8; 0x7F],
    /// 0xFEA0..=0xFEFF, which PyBoy keeps as memory.
    pub(crate) unusable: [u8; 0x60],
    pub(crate) buttons: u8,
    /// The clock at which the last slice of the processor's time ended.
    pub(crate) slice_end: u64,
    pub(crate) shortcuts: bool,
    identity: u64,
}

clone_in_place!(GameBoy {
    cartridge,
    rom,
    boot_rom,
    boot_mapped,
    window,
    mapper,
    cpu,
    ppu,
    apu,
    timer,
    serial,
    joypad,
    dma,
    wram,
    hram,
    unusable,
    buttons,
    slice_end,
    shortcuts,
    identity,
});

impl GameBoy {
    /// A console that was switched on this moment.
    pub fn new(cartridge: Arc<Cartridge>, options: Options) -> Self {
        let (emulated, sample_rate) = match options.sound {
            Sound::Off => (false, 1),
            Sound::On { sample_rate } => (true, sample_rate),
        };
        let mut console = Self {
            identity: identity(&cartridge, &options),
            mapper: Mapper::new(&cartridge),
            rom: cartridge.shared_rom(),
            cartridge,
            boot_mapped: options.boot_rom.is_some(),
            boot_rom: options.boot_rom,
            window: Window::default(),
            cpu: Cpu::default(),
            ppu: Ppu::new(),
            apu: Apu::new(emulated, sample_rate),
            timer: Timer::new(),
            serial: Serial::new(),
            joypad: Joypad::default(),
            dma: Dma::default(),
            wram: Box::new([0; 0x2000]),
            hram: [0; 0x7F],
            unusable: [0; 0x60],
            buttons: 0,
            slice_end: 0,
            shortcuts: options.shortcuts,
        };
        if !console.boot_mapped {
            console.begin_after_boot();
        }
        console
    }

    /// The state in which the monochrome console comes to 0x0100 ("Power Up Sequence" in Pan Docs), as far as there is one here:
    /// SB reads as ever.
    fn begin_after_boot(&mut self) {
        let flags = if self.rom_at(HEADER_CHECKSUM) == 0 { 0x80 } else { 0xB0 };
        self.cpu.set_registers(Registers {
            a: 0x01,
            f: flags,
            b: 0x00,
            c: 0x13,
            d: 0x00,
            e: 0xD8,
            h: 0x01,
            l: 0x4D,
            sp: 0xFFFE,
            pc: 0x0100,
        });
        self.cpu.requested = interrupt::VBLANK;
        self.joypad.write(0);
        self.dma.source = 0xFF;
        self.ppu.begin_after_boot(0x91);
        self.timer.counter = COUNTER_AFTER_BOOT;
        // Channel 1 still plays the chime.
        for (register, value) in [
            (0x26, 0x80),
            (0x10, 0x80),
            (0x11, 0x80),
            (0x12, 0xF3),
            (0x25, 0xF3),
            (0x24, 0x77),
            (0x13, 0xC1),
            (0x14, 0x87),
        ] {
            self.apu.write(register - 0x10, value, self.timer.div(), self.timer.counter());
        }
        self.apu.follow(self.timer.counter());
    }

    /// Holds the buttons whose bits of [`crate::button`] are set and releases the others, from the next frame on. A
    /// button that goes down requests the joypad's interrupt then.
    pub fn set_buttons(&mut self, buttons: u8) {
        self.buttons = buttons;
    }

    /// The buttons that were set are held from now on.
    pub(crate) fn hold_buttons(&mut self) {
        if self.joypad.hold(self.buttons) {
            self.cpu.requested |= interrupt::JOYPAD;
        }
    }

    /// Runs one frame, as PyBoy's `tick(1, render)`. Without `render` the screen keeps the picture that it has, unless
    /// the program switches it off.
    pub fn run_frame(&mut self, render: bool) {
        self.run_frame_with(render, true);
    }

    /// Runs `frames` frames, as PyBoy's `tick(frames, render, sound)`: only the last is drawn, and only the last is cut
    /// at sound samples.
    pub fn tick(&mut self, frames: u32, render: bool, sound: bool) {
        for left in (0..frames).rev() {
            self.run_frame_with(render && left == 0, sound && left == 0);
        }
    }

    /// Reads an address as PyBoy's `memory[address]` does, with the effects of such a read.
    pub fn read(&mut self, address: u16) -> u8 {
        self.load8(address)
    }

    /// The byte of memory at an address, without the effects and the locks of a read. Nothing at 0xFF00..=0xFF7F and 0xFFFF,
    /// where registers are.
    pub fn peek(&self, address: u16) -> Option<u8> {
        let at = |start: u16| usize::from(address - start);
        match address {
            0x0000..=0x00FF if self.boot_mapped => self.boot_rom.as_ref().map(|boot| boot[at(0)]),
            0x0000..=0x3FFF => Some(self.rom_at(self.mapper.low_base() + at(0))),
            0x4000..=0x7FFF => Some(self.rom_at(self.mapper.high_base() + at(0x4000))),
            0x8000..=0x9FFF => Some(self.ppu.vram[at(0x8000)]),
            0xA000..=0xBFFF => Some(self.mapper.peek(address)),
            0xC000..=0xFDFF => Some(self.wram[usize::from(address & 0x1FFF)]),
            0xFE00..=0xFE9F => Some(self.ppu.oam[at(0xFE00)]),
            0xFEA0..=0xFEFF => Some(self.unusable[at(0xFEA0)]),
            0xFF80..=0xFFFE => Some(self.hram[at(0xFF80)]),
            0xFF00..=0xFF7F | 0xFFFF => None,
        }
    }

    /// The registers as they were at the last `ld b, b` since the last call, by which test programs mark that they are done.
    pub fn take_mark(&mut self) -> Option<Registers> {
        self.cpu.mark.take()
    }

    /// Whether the other console has the same cartridge, boot ROM and options, so that one can take the other's place.
    pub fn is_like(&self, other: &Self) -> bool {
        self.identity == other.identity
    }

    /// Bytes that this console takes and shares with no clone.
    pub fn memory_bytes(&self) -> usize {
        let boxed = self.wram.len() + self.ppu.vram.len() + self.ppu.screen.len();
        std::mem::size_of::<Self>() + boxed + self.mapper.ram().len() + self.serial.kept_bytes()
    }

    /// Writes an address as PyBoy's `memory[address] = value` does, with the effects of such a write.
    pub fn write(&mut self, address: u16, value: u8) {
        self.store8(address, value);
    }

    /// The screen from left to right and top to bottom, in shades from 0 (white) to 3 (black). It is black before the
    /// first picture.
    pub fn screen(&self) -> &[u8; WIDTH * HEIGHT] {
        &self.ppu.screen
    }

    /// The processor's registers.
    pub fn registers(&self) -> Registers {
        self.cpu.registers()
    }

    /// Sets the processor's registers. The lower half of F is cut off.
    pub fn set_registers(&mut self, registers: Registers) {
        self.cpu.set_registers(registers);
    }

    /// Clocks since the console was switched on.
    pub fn clock(&self) -> u64 {
        self.cpu.clock
    }

    /// Whether the interrupt master enable is set.
    pub fn interrupts_enabled(&self) -> bool {
        self.cpu.master
    }

    /// Whether the processor waits in HALT.
    pub fn is_halted(&self) -> bool {
        self.cpu.halted
    }

    /// Whether the processor met an opcode that does not exist. PyBoy hangs there; here frames go on and nothing else
    /// happens.
    pub fn is_locked(&self) -> bool {
        self.cpu.locked
    }

    /// Whether the boot ROM still hides the beginning of the cartridge.
    pub fn is_booting(&self) -> bool {
        self.boot_mapped
    }

    /// The cartridge.
    pub fn cartridge(&self) -> &Arc<Cartridge> {
        &self.cartridge
    }

    /// Work memory, 0xC000..=0xDFFF.
    pub fn wram(&self) -> &[u8; 0x2000] {
        &self.wram
    }

    /// Video memory, 0x8000..=0x9FFF, whatever the picture unit does.
    pub fn vram(&self) -> &[u8; 0x2000] {
        &self.ppu.vram
    }

    /// Object memory, 0xFE00..=0xFE9F, whatever the picture unit does.
    pub fn oam(&self) -> &[u8; 0xA0] {
        &self.ppu.oam
    }

    /// High memory, 0xFF80..=0xFFFE.
    pub fn hram(&self) -> &[u8; 0x7F] {
        &self.hram
    }

    /// 0xFEA0..=0xFEFF, which PyBoy keeps as memory.
    pub fn unusable(&self) -> &[u8; 0x60] {
        &self.unusable
    }

    /// All banks of cartridge RAM, which a battery keeps.
    pub fn cartridge_ram(&self) -> &[u8] {
        self.mapper.ram()
    }

    /// All banks of cartridge RAM, to put back what a battery kept.
    pub fn cartridge_ram_mut(&mut self) -> &mut [u8] {
        self.mapper.ram_mut()
    }

    /// The bytes written to the serial port since the last call. As in PyBoy, the 1024th begins again from none.
    pub fn take_serial(&mut self) -> Vec<u8> {
        self.serial.take()
    }

    /// Appends the whole state, with a version and a checksum, to `out`. Call it between frames.
    pub fn save(&self, out: &mut Vec<u8>) {
        let mut w = Writer::default();
        w.bool(self.boot_mapped);
        w.u8(self.buttons);
        self.cpu.save(&mut w);
        self.mapper.save(&mut w);
        self.ppu.save(&mut w);
        self.apu.save(&mut w);
        self.timer.save(&mut w);
        self.serial.save(&mut w);
        self.joypad.save(&mut w);
        self.dma.save(&mut w);
        w.raw(&self.wram[..]);
        w.raw(&self.hram);
        w.raw(&self.unusable);
        state::seal(out, self.identity, &w.bytes);
    }

    /// Takes on a state that [`GameBoy::save`] wrote for the same cartridge and options.
    ///
    /// # Errors
    /// A [`StateError`] that says what is wrong with the bytes; the console is then as it was.
    pub fn load(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let mut r = Reader::new(state::open(bytes, self.identity)?);
        let mut console = self.clone();
        console.load_fields(&mut r)?;
        r.end()?;
        console.slice_end = console.cpu.clock;
        *self = console;
        Ok(())
    }

    fn load_fields(&mut self, r: &mut Reader<'_>) -> Result<(), StateError> {
        self.boot_mapped = r.bool("boot ROM")?;
        require(!self.boot_mapped || self.boot_rom.is_some(), "boot ROM")?;
        self.buttons = r.u8()?;
        self.cpu.load(r)?;
        self.mapper.load(r)?;
        self.forget_window();
        self.ppu.load(r)?;
        self.apu.load(r)?;
        self.timer.load(r)?;
        self.serial.load(r)?;
        self.joypad.load(r)?;
        self.dma.load(r)?;
        r.fill(&mut self.wram[..])?;
        r.fill(&mut self.hram)?;
        r.fill(&mut self.unusable)?;
        // Between frames every unit has run as far as the processor.
        let now = self.cpu.clock;
        require(now < LAST_CLOCK, "clock")?;
        let seen = [self.ppu.seen(), self.timer.seen(), self.serial.seen()];
        require(seen.iter().all(|&clock| clock == now) && self.apu.seen().unwrap_or(now) == now, "clock")?;
        let events = [self.timer.until_event, self.serial.until_event];
        require(
            events.iter().all(|&clocks| clocks <= NEVER)
                && self.ppu.until_event <= 2 * FRAME_CLOCKS as i64
                && self.ppu.until_frame <= FRAME_CLOCKS as i64,
            "time of the next event",
        )
    }
}

/// What a state must have been saved with.
fn identity(cartridge: &Cartridge, options: &Options) -> u64 {
    let mut w = Writer::default();
    w.u64(cartridge.digest());
    match &options.boot_rom {
        Some(boot) => w.raw(&boot[..]),
        None => w.u8(0),
    }
    match options.sound {
        Sound::Off => w.u64(0),
        Sound::On { sample_rate } => w.u64(u64::from(sample_rate)),
    }
    state::fnv1a(&w.bytes)
}

#[cfg(test)]
pub(crate) mod tests;
