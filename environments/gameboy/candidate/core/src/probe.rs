//! Single units of a console, run alone: what probes of a verification ask. No program needs this.

use crate::console::GameBoy;
use crate::interrupt;
use crate::ppu::{HEIGHT, WIDTH};

/// The clocks after which the main loop first looks at the screen.
const FIRST_LOOK: u64 = 4;

/// One slice of the processor: an interrupt if one is due, then instructions until so many clocks are over.
pub fn run_processor(console: &mut GameBoy, clocks: u64) {
    console.run_slice(clocks);
}

/// Lets time pass; the units notice when they are looked at.
pub fn wait(console: &mut GameBoy, clocks: u64) {
    console.cpu.clock += clocks;
}

/// Holds these buttons from now on, and not from the next frame.
pub fn hold(console: &mut GameBoy, buttons: u8) {
    console.set_buttons(buttons);
    console.hold_buttons();
}

/// Copies what a running transfer to object memory owes by now.
pub fn copy_objects(console: &mut GameBoy) {
    console.sync_dma(0);
}

/// Runs the screen from event to event, as whole frames do, without the processor. Returns how often STAT's interrupt was
/// requested.
pub fn run_screen(console: &mut GameBoy, clocks: u64) -> u32 {
    let (mut left, mut step, mut times) = (clocks, FIRST_LOOK, 0);
    while left > 0 {
        step = step.min(left);
        wait(console, step);
        let requested = console.ppu.tick(console.cpu.clock);
        console.cpu.requested |= requested;
        times += u32::from(requested & interrupt::STAT != 0);
        left -= step;
        step = console.ppu.until_event.max(1) as u64;
    }
    times
}

/// The screen's line.
pub fn line(console: &GameBoy) -> u8 {
    console.ppu.ly
}

/// Draws a line, or the last one where there is no such line, and returns its shades.
pub fn draw_line(console: &mut GameBoy, line: u8) -> [u8; WIDTH] {
    let line = line.min(HEIGHT as u8 - 1);
    console.ppu.ly = line;
    console.ppu.draw_line();
    let mut shades = [0; WIDTH];
    shades.copy_from_slice(&console.ppu.screen[usize::from(line) * WIDTH..][..WIDTH]);
    shades
}

/// Runs MBC3's clock.
pub fn run_clock(console: &mut GameBoy, clocks: u64) {
    let rtc = &mut console.mapper.rtc;
    rtc.tick(rtc.seen + clocks);
}

/// Writes one of the clock's registers, 0x08 to 0x0C.
pub fn set_clock(console: &mut GameBoy, register: u8, value: u8) {
    console.mapper.rtc.write(u16::from(register), value);
}

/// Writes what latches the clock.
pub fn command_clock(console: &mut GameBoy, value: u8) {
    console.mapper.rtc.latch(value);
}

/// Reads one of the clock's registers, 0x08 to 0x0C, as it was latched.
pub fn read_clock(console: &GameBoy, register: u8) -> u8 {
    console.mapper.rtc.read(u16::from(register))
}
