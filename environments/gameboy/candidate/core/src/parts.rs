//! The state between two frames, value by value: what decides the future, and nothing that follows from the rest.

use crate::FRAME_CLOCKS;
use crate::console::GameBoy;
use crate::cpu::{A, B, C, D, E, F, H};
use crate::ppu::Event;
use crate::timer::Reload;

/// A row is `name: type = where it is`, and where it is kept in another form how it is set: `, |value| ...`.
macro_rules! parts {
    (|$console:ident| $($name:ident: $kind:ty = $place:expr $(, |$value:ident| $set:expr)?;)*) => {
        /// Registers, counters and flags. Clocks are those of the whole console, unless a screen's or a second's is meant.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs)]
        pub struct Parts {
            $(pub $name: $kind,)*
        }

        impl GameBoy {
            /// Takes the values out. Call it between two frames: one must have run.
            pub fn parts(&self) -> Parts {
                let $console = self;
                Parts { $($name: $place,)* }
            }

            fn put(&mut self, parts: &Parts) {
                let $console = self;
                $(parts!(@set parts.$name, $place $(, |$value| $set)?);)*
            }
        }
    };
    (@set $new:expr, $place:expr) => { $place = $new };
    (@set $new:expr, $place:expr, |$value:ident| $set:expr) => {{ let $value = $new; $set; }};
}

parts! { |console|
    booting: bool = console.boot_mapped;

    pc: u16 = console.cpu.pc;
    sp: u16 = console.cpu.sp;
    a: u8 = console.cpu.r[A];
    f: u8 = console.cpu.r[F];
    b: u8 = console.cpu.r[B];
    c: u8 = console.cpu.r[C];
    d: u8 = console.cpu.r[D];
    e: u8 = console.cpu.r[E];
    hl: u16 = console.cpu.hl(), |hl| console.cpu.set_pair(H, hl);
    clock: u64 = console.cpu.clock;
    halted: bool = console.cpu.halted;
    halted_after_ei: bool = console.cpu.halted_after_ei;
    master: bool = console.cpu.master;
    master_delay: u8 = console.cpu.master_delay;
    enabled: u8 = console.cpu.enabled;
    requested: u8 = console.cpu.requested;

    counter: u16 = console.timer.counter;
    tima: u8 = console.timer.tima;
    tma: u8 = console.timer.tma;
    tac: u8 = console.timer.tac;
    reload: u8 = console.timer.reload as u8, |phase| console.timer.reload = Reload::of(phase);
    reload_left: u8 = console.timer.reload_left;
    timer_until_event: i64 = console.timer.until_event;

    serial_control: u8 = console.serial.control;
    sending: bool = console.serial.sending;
    sent_at: u64 = console.serial.done_at;

    held: u8 = console.joypad.held;
    p1: u8 = console.joypad.p1;

    dma_active: bool = console.dma.active;
    dma_source: u8 = console.dma.source;
    dma_done: u8 = console.dma.done;
    dma_start: u64 = console.dma.start;

    lcdc: u8 = console.ppu.lcdc;
    stat: u8 = console.ppu.stat.value(), |value| console.ppu.stat.set_value(value);
    line_high: bool = console.ppu.stat.line;
    lyc: u8 = console.ppu.lyc;
    scy: u8 = console.ppu.scy;
    scx: u8 = console.ppu.scx;
    wy: u8 = console.ppu.wy;
    wx: u8 = console.ppu.wx;
    bgp: u8 = console.ppu.bgp;
    obp0: u8 = console.ppu.obp0;
    obp1: u8 = console.ppu.obp1;
    screen_clock: u64 = console.ppu.clock;
    screen_target: u64 = console.ppu.target;
    first_frame: bool = console.ppu.first_frame;
    mode_hidden: bool = console.ppu.mode_hidden;
    lyc_changed_while_off: bool = console.ppu.lyc_changed_while_off;
    window_line: i16 = console.ppu.window_line;
    window_reached: bool = console.ppu.window_reached;

    rom_bank: u16 = console.mapper.rom_bank;
    low_bank: u16 = console.mapper.low_bank;
    ram_bank: u16 = console.mapper.ram_bank;
    ram_enabled: bool = console.mapper.ram_enabled;
    advanced: bool = console.mapper.advanced;
    lower: u8 = console.mapper.lower;
    upper: u8 = console.mapper.upper;

    seconds: u8 = console.mapper.rtc.time.seconds;
    minutes: u8 = console.mapper.rtc.time.minutes;
    hours: u8 = console.mapper.rtc.time.hours;
    days: u16 = console.mapper.rtc.time.days;
    day_carry: bool = console.mapper.rtc.day_carry;
    stopped: bool = console.mapper.rtc.halted;
    latched: bool = console.mapper.rtc.is_latched;
    latched_seconds: u8 = console.mapper.rtc.latched.seconds;
    latched_minutes: u8 = console.mapper.rtc.latched.minutes;
    latched_hours: u8 = console.mapper.rtc.latched.hours;
    latched_days: u16 = console.mapper.rtc.latched.days;
    fraction: u64 = console.mapper.rtc.fraction;
    seen: u64 = console.mapper.rtc.seen;
}

/// The memories of a console, to be written.
#[derive(Debug)]
#[allow(missing_docs)]
pub struct Memories<'a> {
    pub vram: &'a mut [u8; 0x2000],
    pub oam: &'a mut [u8; 0xA0],
    pub wram: &'a mut [u8; 0x2000],
    pub hram: &'a mut [u8; 0x7F],
    /// 0xFEA0..=0xFEFF, which PyBoy keeps as memory.
    pub unusable: &'a mut [u8; 0x60],
    /// Shades from 0 to 3.
    pub screen: &'a mut [u8; crate::WIDTH * crate::HEIGHT],
}

impl GameBoy {
    /// Goes on from these values; memories stay as they are. The console is between two frames then: at line 0 of the
    /// screen, with every unit at the processor's clock.
    ///
    /// Nothing is judged here: banks must be in the cartridge, times below 2^62. Sound is not among the parts, so it has to be
    /// off where the rest is to be exact.
    pub fn set_parts(&mut self, parts: &Parts) {
        self.put(parts);
        let now = parts.clock;
        self.set_buttons(parts.held);
        self.cpu.lead = 0;
        self.cpu.bail();
        self.forget_window();
        self.cpu.locked = false;
        self.slice_end = now;
        self.timer.seen = now;
        self.serial.clock = now;
        self.serial.until_event = parts.sent_at.wrapping_sub(now) as i64;
        self.ppu.seen = now;
        self.ppu.ly = 0;
        self.ppu.event = Event::Transfer;
        self.ppu.stretch = 0;
        self.ppu.starting = false;
        self.ppu.until_event = parts.screen_target.wrapping_sub(parts.screen_clock) as i64;
        self.ppu.until_frame = FRAME_CLOCKS.wrapping_sub(parts.screen_clock) as i64;
    }

    /// The memories, past the bus and whatever uses them.
    pub fn memories(&mut self) -> Memories<'_> {
        Memories {
            vram: &mut self.ppu.vram,
            oam: &mut self.ppu.oam,
            wram: &mut self.wram,
            hram: &mut self.hram,
            unusable: &mut self.unusable,
            screen: &mut self.ppu.screen,
        }
    }

    /// Replaces the cartridge's RAM from its first bank on, and fills the rest of it with zeros. What is beyond the
    /// cartridge is kept only where it is not zero: PyBoy has sixteen banks behind every cartridge, which show at times.
    pub fn set_cartridge_ram(&mut self, content: &[u8]) {
        let used = content.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        let size = self.cartridge.ram_banks() * crate::RAM_BANK;
        let ram = &mut self.mapper.ram;
        ram.clear();
        ram.extend_from_slice(&content[..used]);
        ram.resize(size.max(used), 0);
    }
}

#[cfg(test)]
mod tests {
    use crate::button;
    use crate::console::tests::cartridge;
    use crate::{GameBoy, Options, Sound};

    fn console() -> GameBoy {
        GameBoy::new(cartridge(), Options { sound: Sound::Off, ..Options::default() })
    }

    /// What is put back is what was taken out, and goes on as the console did that it was taken from.
    #[test]
    fn a_console_goes_on_from_its_parts() {
        let mut first = console();
        first.write(0xFF40, 0xF3);
        first.write(0xFF07, 5);
        for _ in 0..3 {
            first.run_frame(true);
        }
        let mut second = console();
        second.set_parts(&first.parts());
        *second.memories().wram = *first.wram();
        *second.memories().vram = *first.vram();
        *second.memories().hram = *first.hram();
        assert_eq!(second.parts(), first.parts());
        for frame in 0..5 {
            first.set_buttons(button::A << (frame & 1));
            second.set_buttons(button::A << (frame & 1));
            first.run_frame(true);
            second.run_frame(true);
            assert_eq!(second.parts(), first.parts(), "frame {frame}");
            assert_eq!(second.wram(), first.wram(), "frame {frame}");
            assert_eq!(second.screen(), first.screen(), "frame {frame}");
        }
    }

    #[test]
    fn ram_beyond_the_cartridge_is_kept_where_it_holds_something() {
        let mut console = console();
        let size = console.cartridge_ram().len();
        console.set_cartridge_ram(&[7; 5]);
        assert_eq!((console.cartridge_ram().len(), &console.cartridge_ram()[..6]), (size, &[7, 7, 7, 7, 7, 0][..]));
        let mut more = vec![0; size + 9];
        more[size + 3] = 1;
        console.set_cartridge_ram(&more);
        assert_eq!(console.cartridge_ram(), &more[..size + 4]);
        console.set_cartridge_ram(&[]);
        assert_eq!(console.cartridge_ram(), vec![0; size]);
    }
}
