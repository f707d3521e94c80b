//! Drawing one line: background, window, objects.
//!
//! PyBoy's differences from the console are kept, unless the console is asked for: the window is drawn although LCDC's bit 0 is clear, a line without
//! background hides the objects that stand behind it, and an object behind the background does not hide the objects
//! that come after it.

use super::{HEIGHT, LINE_OBJECTS, OBJECTS, Ppu, WIDTH, lcdc};

const BEHIND: u8 = 0x80;
const FLIP_Y: u8 = 0x40;
const FLIP_X: u8 = 0x20;
const PALETTE_1: u8 = 0x10;
/// Marks a pixel of a line without background: nothing of it, and nothing behind which an object would show.
const NOTHING: u8 = 4;

/// The shade that a palette gives a colour of 0 to 3.
fn shade(palette: u8, color: u8) -> u8 {
    palette >> (2 * color) & 0b11
}

/// The colour of a tile row's pixel, 0 at the left.
fn color(row: [u8; 2], pixel: u8) -> u8 {
    let bit = 7 - pixel;
    row[0] >> bit & 1 | (row[1] >> bit & 1) << 1
}

/// The colours of a tile row's eight pixels.
fn colors(row: [u8; 2]) -> [u8; 8] {
    let [low, high] = row.map(|bits| SPREAD[usize::from(bits)]);
    (low | high << 1).to_le_bytes()
}

/// For each byte its bits as eight bytes, the upper bit first.
const SPREAD: [u64; 256] = spread();

const fn spread() -> [u64; 256] {
    let mut out = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut bit = 0;
        while bit < 8 {
            out[byte] |= (byte as u64 >> (7 - bit) & 1) << (8 * bit);
            bit += 1;
        }
        byte += 1;
    }
    out
}

impl Ppu {
    /// The whole screen in colour 0.
    pub(super) fn blank(&mut self) {
        self.screen.fill(shade(self.bgp, 0));
    }

    /// Draws line LY, which must be on the screen.
    pub(crate) fn draw_line(&mut self) {
        let y = usize::from(self.ly);
        // Colours of background and window, by which objects are hidden.
        let mut behind = [NOTHING; WIDTH];
        if self.enabled(lcdc::WINDOW) && self.window_reached && self.wx < 167 {
            self.window_line = self.window_line.wrapping_add(1);
            let left = usize::from(self.wx.saturating_sub(7));
            self.fetch_background(&mut behind[..left]);
            // A window that begins left of the screen begins within a tile.
            let hidden = 7u8.saturating_sub(self.wx);
            let map = self.map(lcdc::WINDOW_MAP);
            self.fetch_tiles(&mut behind[left..], map, hidden, self.window_line as u8);
        } else if self.enabled(lcdc::BACKGROUND) {
            self.fetch_background(&mut behind);
        }
        if y == HEIGHT - 1 {
            // PyBoy resets the window's line only here, in a frame that is drawn to its end.
            self.window_line = -1;
        }
        let palette = [0, 1, 2, 3, 0].map(|color| shade(self.bgp, color));
        let mut line = behind.map(|color| palette[usize::from(color)]);
        if self.enabled(lcdc::OBJECTS) {
            self.draw_objects(&mut line, &behind);
        }
        self.screen[y * WIDTH..][..WIDTH].copy_from_slice(&line);
    }

    /// The offset in video memory of the map that an LCDC bit selects.
    fn map(&self, bit: u8) -> usize {
        if self.enabled(bit) { 0x1C00 } else { 0x1800 }
    }

    fn fetch_background(&self, out: &mut [u8]) {
        let map = self.map(lcdc::BACKGROUND_MAP);
        self.fetch_tiles(out, map, self.scx, self.ly.wrapping_add(self.scy));
    }

    /// Fills `out` with the colours of a map's row `y`, from column `x` on; both wrap at 256.
    fn fetch_tiles(&self, out: &mut [u8], map: usize, x: u8, y: u8) {
        let row_start = map + usize::from(y / 8) * 32;
        let row = |column: u8| colors(self.background_row(row_start, column % 32, y));
        let hidden = usize::from(x % 8);
        let (first, others) = out.split_at_mut(out.len().min(8 - hidden));
        first.copy_from_slice(&row(x / 8)[hidden..][..first.len()]);
        for (cells, column) in others.chunks_mut(8).zip(x / 8 + 1..) {
            cells.copy_from_slice(&row(column)[..cells.len()]);
        }
    }

    fn background_row(&self, row_start: usize, column: u8, y: u8) -> [u8; 2] {
        let tile = self.vram[row_start + usize::from(column)];
        let tile = if self.enabled(lcdc::TILE_DATA) {
            usize::from(tile)
        } else {
            // Tile numbers are signed around tile 256.
            usize::from(tile ^ 0x80) + 128
        };
        self.tile_row(tile, y % 8)
    }

    fn tile_row(&self, tile: usize, row: u8) -> [u8; 2] {
        let at = tile * 16 + usize::from(row) * 2;
        [self.vram[at], self.vram[at + 1]]
    }

    /// The first ten objects of memory that have a row on this line, last to be drawn first: the leftmost wins, and of
    /// those at one column the first in memory.
    fn line_objects(&self) -> ([u8; LINE_OBJECTS], usize) {
        let mut found = [0u8; LINE_OBJECTS];
        let mut count = 0;
        for index in 0..OBJECTS {
            if self.covers_line(self.oam[index * 4]) {
                found[count] = index as u8;
                count += 1;
                if count == LINE_OBJECTS {
                    break;
                }
            }
        }
        found[..count].sort_unstable_by_key(|&index| std::cmp::Reverse((self.oam[usize::from(index) * 4 + 1], index)));
        (found, count)
    }

    fn draw_objects(&self, line: &mut [u8; WIDTH], behind: &[u8; WIDTH]) {
        let (objects, count) = self.line_objects();
        let height = self.object_height();
        for &index in &objects[..count] {
            let at = usize::from(index) * 4;
            let [y, x, tile, flags] = [0, 1, 2, 3].map(|field| self.oam[at + field]);
            let row = self.ly.wrapping_add(16).wrapping_sub(y);
            let row = if flags & FLIP_Y != 0 { height - 1 - row } else { row };
            let tile = usize::from(if height == 16 { tile & !1 } else { tile });
            let pixels = self.tile_row(tile, row);
            let palette = if flags & PALETTE_1 != 0 { self.obp1 } else { self.obp0 };
            for pixel in 0..8 {
                let Some(column) = (usize::from(x) + usize::from(pixel)).checked_sub(8) else {
                    continue;
                };
                let color = color(pixels, if flags & FLIP_X != 0 { 7 - pixel } else { pixel });
                if column >= WIDTH || color == 0 {
                    continue;
                }
                if flags & BEHIND == 0 || behind[column] == 0 {
                    line[column] = shade(palette, color);
                }
            }
        }
    }
}
