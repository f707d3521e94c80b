//! The screen: its lines, modes and interrupts after so many clocks, and one drawn line.

use gameboy_core::{GameBoy, Parts, WIDTH, probe};
use lockstep_env::leaves;

use super::{HIGH_PAGE, started};

const LCDC: u16 = HIGH_PAGE | 0x40;
const STAT: u16 = HIGH_PAGE | 0x41;
const SCX: u16 = HIGH_PAGE | 0x43;
const LYC: u16 = HIGH_PAGE | 0x45;
const WY: u16 = HIGH_PAGE | 0x4A;
const TILES: usize = 0x0000;
/// Where tile 0 lies when tile numbers are signed.
const SIGNED_TILES: usize = 0x1000;
const MAPS: usize = 0x1800;

leaves! {
    pub struct Registers { lcdc: u8, stat: u8, lyc: u8, scx: u8, wy: u8, objects: [[u8; 4]; 12], clocks: i64 }
}
leaves! {
    pub struct Passed {
        line: u8, stat: u8, clock: i64, target: i64, requested: u8, times: i32, line_high: bool, first_frame: bool,
        window_reached: bool,
    }
}
leaves! {
    pub struct Line {
        lcdc: u8, scy: u8, scx: u8, wy: u8, wx: u8, bgp: u8, obp0: u8, obp1: u8, y: u8, map: u8, window_line: i16,
        window_reached: bool, tiles: [[u8; 16]; 4], objects: [[u8; 4]; 12],
    }
}
leaves! { pub struct Drawn { pixels: [u8; WIDTH], window_line: i16 } }

pub fn screen(given: Registers) -> Passed {
    let mut console = started(&[], |_| {});
    place(&mut console, &given.objects);
    for (register, value) in
        [(STAT, given.stat), (LYC, given.lyc), (SCX, given.scx), (WY, given.wy), (LCDC, given.lcdc)]
    {
        console.write(register, value);
    }
    let times = probe::run_screen(&mut console, given.clocks as u64) as i32;
    let Parts { stat, screen_clock, screen_target, requested, line_high, first_frame, window_reached, .. } =
        console.parts();
    let (clock, target) = (screen_clock as i64, screen_target as i64);
    Passed {
        line: probe::line(&console),
        stat,
        clock,
        target,
        requested,
        times,
        line_high,
        first_frame,
        window_reached,
    }
}

/// Both sets of tiles begin with the given ones; the maps show them in diagonals.
pub fn line(given: Line) -> Drawn {
    let Line { lcdc, scy, scx, wy, wx, bgp, obp0, obp1, window_line, window_reached, .. } = given;
    let mut console = started(&[], |parts| {
        *parts = Parts { lcdc, scy, scx, wy, wx, bgp, obp0, obp1, window_line, window_reached, ..*parts };
    });
    place(&mut console, &given.objects);
    let vram = console.memories().vram;
    let tiles = given.tiles.as_flattened();
    for first in [TILES, SIGNED_TILES] {
        vram[first..][..tiles.len()].copy_from_slice(tiles);
    }
    for (cell, tile) in vram[MAPS..].iter_mut().enumerate() {
        *tile = ((cell ^ cell >> 5) + usize::from(given.map)) as u8 & 3;
    }
    let pixels = probe::draw_line(&mut console, given.y);
    Drawn { pixels, window_line: console.parts().window_line }
}

/// Objects at the beginning of object memory; of the tiles there are four.
fn place(console: &mut GameBoy, objects: &[[u8; 4]; 12]) {
    for (entry, [y, x, tile, flags]) in console.memories().oam.chunks_exact_mut(4).zip(objects) {
        entry.copy_from_slice(&[*y, *x, tile & 3, *flags]);
    }
}
