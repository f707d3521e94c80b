//! What runs before a cartridge where nothing else is given.

/// The project's own boot program: what `environments/gameboy/reference/boot.asm` is assembled to, with which the Game Boy
/// is held against PyBoy. A test holds the two together.
pub const BOOT: [u8; 256] = {
    let mut rom = [0xFF; 256];
    put(&mut rom, 0x00, &SET_UP);
    let mut interrupt = 0;
    while interrupt < 5 {
        // Its handlers count, for the tests of a verification: ldh a, [$80 + interrupt]; inc a; ldh [...], a; reti.
        let counter = 0x80 + interrupt as u8;
        put(&mut rom, 0x40 + 8 * interrupt, &[0xF0, counter, 0x3C, 0xE0, counter, 0xD9]);
        interrupt += 1;
    }
    put(&mut rom, 0xFE, &[0xE0, 0x50]); // ldh [$50], a: it vanishes
    rom
};

#[rustfmt::skip]
const SET_UP: [u8; 47] = [
    0x31, 0xFE, 0xFF,                               // ld sp, $FFFE
    0xAF, 0xE0, 0x00,                               // P1
    0x3E, 0x80, 0xE0, 0x26, 0x3E, 0x77, 0xE0, 0x24, // NR52, NR50
    0x3E, 0xF3, 0xE0, 0x25, 0x3E, 0xFC, 0xE0, 0x47, // NR51, BGP
    0x3E, 0x01, 0xE0, 0x0F, 0x3E, 0x91, 0xE0, 0x40, // IF, LCDC
    0x21, 0xB0, 0x01, 0xE5, 0xF1,                   // ld hl, $01B0; push hl; pop af
    0x01, 0x13, 0x00, 0x11, 0xD8, 0x00,             // ld bc, $0013; ld de, $00D8
    0x21, 0x4D, 0x01, 0xC3, 0xFE, 0x00,             // ld hl, $014D; jp $00FE
];

const fn put(rom: &mut [u8; 256], at: usize, code: &[u8]) {
    let mut i = 0;
    while i < code.len() {
        rom[at + i] = code[i];
        i += 1;
    }
}
