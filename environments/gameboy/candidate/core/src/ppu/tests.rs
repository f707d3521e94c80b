use super::events::LINE_CLOCKS;
use super::*;
use crate::interrupt;

const ON: u8 = lcdc::ENABLE | lcdc::BACKGROUND | lcdc::TILE_DATA;

fn on(lcdc: u8) -> Ppu {
    let mut ppu = Ppu::new();
    ppu.write_lcdc(lcdc);
    ppu.tick(4);
    ppu
}

/// A unit in its second frame, where the first's exceptions are over.
fn running(lcdc: u8) -> Ppu {
    let mut ppu = on(lcdc);
    ppu.run(FRAME_CLOCKS);
    assert_eq!(ppu.ly(), 0);
    ppu
}

fn mode(ppu: &mut Ppu) -> u8 {
    ppu.read_stat() & 0b11
}

#[test]
fn a_line_is_scan_transfer_and_blank() {
    let mut ppu = running(ON);
    let mut lengths = [0; 4];
    for _ in 0..LINE_CLOCKS {
        lengths[usize::from(mode(&mut ppu))] += 1;
        ppu.run(1);
    }
    assert_eq!(lengths, [204, 0, 80, 172]);
    assert_eq!(ppu.ly(), 1);
}

#[test]
fn scrolling_and_objects_take_from_the_blank() {
    let blank = |ppu: &mut Ppu| {
        (0..LINE_CLOCKS)
            .filter(|_| {
                ppu.run(1);
                mode(ppu) == 0
            })
            .count()
    };
    let mut ppu = running(ON | lcdc::OBJECTS);
    ppu.scx = 5;
    assert_eq!(blank(&mut ppu), 204 - 8);
    ppu.scx = 0;
    ppu.oam[..4].copy_from_slice(&[17, 8, 0, 0]);
    assert_eq!(blank(&mut ppu), 204 - (6 + 5 - 7));
    ppu.oam[..4].copy_from_slice(&[18, 200, 0, 0]);
    assert_eq!(blank(&mut ppu), 204 + 4, "an object that is not fetched");
}

#[test]
fn the_screen_blanks_once_a_frame_with_its_interrupt() {
    let mut ppu = running(ON);
    assert_eq!(ppu.run(144 * LINE_CLOCKS - 1), 0);
    assert_eq!(ppu.run(1), interrupt::VBLANK);
    assert_eq!((ppu.ly(), mode(&mut ppu)), (144, 1));
    ppu.frame_done = false;
    ppu.run(10 * LINE_CLOCKS);
    assert!(ppu.frame_done);
    assert_eq!((ppu.ly(), mode(&mut ppu)), (0, 2));
}

#[test]
fn lyc_interrupts_on_its_line_alone() {
    let mut ppu = running(ON);
    ppu.write_lyc(3);
    ppu.write_stat(0x40);
    assert_eq!(ppu.run(2 * LINE_CLOCKS), 0);
    assert_eq!(ppu.run(LINE_CLOCKS), interrupt::STAT);
    assert_eq!(ppu.read_stat() & 4, 4);
    assert_eq!(ppu.run(LINE_CLOCKS), 0);
}

#[test]
fn switching_off_ends_the_frame_with_a_blank_screen() {
    let mut ppu = running(ON);
    ppu.run(50 * LINE_CLOCKS);
    ppu.bgp = 0xFE;
    ppu.frame_done = false;
    ppu.write_lcdc(0);
    ppu.run(1);
    assert!(ppu.frame_done);
    assert_eq!((ppu.ly(), mode(&mut ppu)), (0, 0));
    assert!(ppu.screen.iter().all(|&shade| shade == 2));
}

#[test]
fn the_first_frame_is_as_long_as_the_others_and_blank() {
    let mut ppu = on(ON);
    ppu.vram.fill(0xFF);
    ppu.frame_done = false;
    ppu.run(FRAME_CLOCKS - 1);
    assert!(!ppu.frame_done);
    ppu.run(1);
    assert!(ppu.frame_done);
    assert!(ppu.screen.iter().all(|&shade| shade == 0));
}

#[test]
fn memory_is_closed_to_the_processor_in_its_modes() {
    let mut ppu = running(ON);
    assert!(ppu.oam_unreadable() && ppu.oam_unwritable());
    assert!(!ppu.vram_unreadable());
    ppu.run(77);
    assert!(ppu.vram_unreadable() && !ppu.vram_unwritable());
    ppu.run(3);
    assert!(ppu.vram_unwritable() && ppu.oam_unwritable());
    ppu.run(172);
    assert!(!ppu.vram_unreadable() && !ppu.oam_unreadable());
}

#[test]
fn a_clock_that_goes_back_takes_back_what_it_added() {
    let mut ppu = running(ON);
    let (clock, seen) = (ppu.clock, ppu.seen);
    ppu.tick(seen + 8);
    ppu.tick(seen);
    assert_eq!((ppu.clock, ppu.seen), (clock, seen));
}

/// A row of video memory's tile `tile` in which every pixel has `color`.
fn solid(ppu: &mut Ppu, tile: usize, color: u8) {
    for row in 0..8 {
        ppu.vram[tile * 16 + row * 2] = if color & 1 != 0 { 0xFF } else { 0 };
        ppu.vram[tile * 16 + row * 2 + 1] = if color & 2 != 0 { 0xFF } else { 0 };
    }
}

/// A unit at line `ly` whose map shows tile 0 (colour 0) with tile 1 (colour 1) at column 2, and palettes that change
/// nothing.
fn scene(lcdc: u8, ly: u8) -> Ppu {
    let mut ppu = Ppu::new();
    ppu.lcdc = lcdc;
    ppu.ly = ly;
    (ppu.bgp, ppu.obp0, ppu.obp1) = (0xE4, 0xE4, 0x1B);
    for tile in 1..4 {
        solid(&mut ppu, tile, tile as u8);
    }
    ppu.vram[0x1802] = 1;
    ppu.vram[0x1C00] = 2;
    ppu
}

fn line(ppu: &mut Ppu) -> Vec<u8> {
    ppu.draw_line();
    ppu.screen[usize::from(ppu.ly) * WIDTH..][..WIDTH].to_vec()
}

#[test]
fn the_background_scrolls_and_wraps() {
    let mut ppu = scene(ON, 0);
    let drawn = line(&mut ppu);
    assert_eq!((drawn[15], drawn[16], drawn[23], drawn[24]), (0, 1, 1, 0));
    ppu.scx = 19;
    assert_eq!(line(&mut ppu)[..6], [1, 1, 1, 1, 1, 0]);
    ppu.scx = 250;
    let drawn = line(&mut ppu);
    assert_eq!((drawn[21], drawn[22], drawn[29], drawn[30]), (0, 1, 1, 0));
    ppu.scy = 8;
    assert!(line(&mut ppu).iter().all(|&shade| shade == 0));
    ppu.ly = 143;
    ppu.scy = 113;
    assert_eq!(line(&mut ppu)[22], 1, "line 256 is line 0");
}

#[test]
fn tile_numbers_are_signed_without_the_lcdc_bit() {
    let mut ppu = scene(lcdc::ENABLE | lcdc::BACKGROUND, 0);
    solid(&mut ppu, 128, 3);
    ppu.vram[0x1800] = 0x80;
    let drawn = line(&mut ppu);
    assert_eq!((drawn[0], drawn[16]), (3, 0), "number 1 is tile 257");
}

#[test]
fn the_window_counts_the_lines_that_it_draws() {
    let mut ppu = scene(ON | lcdc::WINDOW | lcdc::WINDOW_MAP, 143);
    ppu.draw_line();
    (ppu.wx, ppu.window_reached) = (7 + 24, true);
    ppu.ly = 0;
    let drawn = line(&mut ppu);
    assert_eq!((drawn[16], drawn[23], drawn[24], drawn[31], drawn[32]), (1, 1, 2, 2, 0));
    for ly in 1..8 {
        ppu.ly = ly * 2;
        assert_eq!(line(&mut ppu)[24], 2, "line {ly} of the window");
    }
    ppu.ly = 16;
    assert_eq!(line(&mut ppu)[24], 0, "the window's eighth line is of the next row");
}

#[test]
fn a_window_left_of_the_screen_begins_within_a_tile() {
    let mut ppu = scene(ON | lcdc::WINDOW | lcdc::WINDOW_MAP, 0);
    (ppu.wx, ppu.window_reached) = (4, true);
    assert_eq!(line(&mut ppu)[..6], [2, 2, 2, 2, 2, 0]);
}

#[test]
fn a_line_without_background_is_colour_zero_and_hides_what_is_behind_it() {
    let mut ppu = scene(lcdc::ENABLE | lcdc::OBJECTS, 0);
    ppu.bgp = 0xE5;
    ppu.oam[..8].copy_from_slice(&[16, 8, 3, 0, 16, 24, 3, BEHIND]);
    let drawn = line(&mut ppu);
    assert_eq!((drawn[0], drawn[8], drawn[16]), (3, 1, 1));
}

const BEHIND: u8 = 0x80;

#[test]
fn objects_behind_the_background_show_through_colour_zero() {
    let mut ppu = scene(ON | lcdc::OBJECTS, 0);
    ppu.oam[..4].copy_from_slice(&[16, 8 + 12, 3, BEHIND]);
    let drawn = line(&mut ppu);
    assert_eq!((drawn[12], drawn[15], drawn[16], drawn[19]), (3, 3, 1, 1));
}

#[test]
fn the_leftmost_object_wins_and_then_the_first() {
    let mut ppu = scene(ON | lcdc::OBJECTS, 0);
    ppu.oam[..12].copy_from_slice(&[16, 50, 3, 0, 16, 46, 2, 0, 16, 46, 1, 0]);
    let drawn = line(&mut ppu);
    assert_eq!((drawn[38], drawn[45], drawn[46], drawn[49], drawn[50]), (2, 2, 3, 3, 0));
}

#[test]
fn an_eleventh_object_is_not_drawn() {
    let mut ppu = scene(ON | lcdc::OBJECTS, 0);
    for index in 0..11 {
        ppu.oam[index * 4..][..3].copy_from_slice(&[16, 8 + 8 * index as u8, 3]);
    }
    let drawn = line(&mut ppu);
    assert_eq!((drawn[79], drawn[80]), (3, 0));
}

#[test]
fn tall_objects_flip_as_one_and_use_both_palettes() {
    let mut ppu = scene(ON | lcdc::OBJECTS | lcdc::TALL_OBJECTS, 0);
    // Tiles 2 and 3, named by either number; the second palette inverts.
    ppu.oam[..8].copy_from_slice(&[16, 8, 3, 0, 16, 16, 2, 0x50]);
    let drawn = line(&mut ppu);
    assert_eq!((drawn[0], drawn[8]), (2, 0));
    ppu.ly = 8;
    let drawn = line(&mut ppu);
    assert_eq!((drawn[0], drawn[8]), (3, 1));
}

#[test]
fn an_object_mirrors_and_is_cut_at_the_edges() {
    let mut ppu = scene(ON | lcdc::OBJECTS, 0);
    ppu.vram[4 * 16] = 0xC0;
    ppu.oam[..12].copy_from_slice(&[16, 3, 4, 0x20, 16, 80, 4, 0, 16, 165, 4, 0]);
    let drawn = line(&mut ppu);
    assert_eq!(drawn[..4], [0, 1, 1, 0]);
    assert_eq!(drawn[72..75], [1, 1, 0]);
    assert_eq!(drawn[157..], [1, 1, 0]);
}
