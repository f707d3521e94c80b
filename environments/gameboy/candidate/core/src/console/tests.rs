use super::*;
use crate::StateError;
use crate::cartridge::tests::image;
use crate::joypad::button;

/// A program at 0x0150: the screen and its interrupts on, then HALT, and at every blank a counter, a sprite moved by
/// transfer, the buttons kept, and a sound.
#[rustfmt::skip]
const PROGRAM: &[u8] = &[
    0x31, 0xF0, 0xDF, 0x3E, 0x93, 0xE0, 0x40, 0x3E, 0x80, 0xE0, 0x26, 0x3E, 0x05, 0xE0, 0x07, // LCDC, NR52, TAC
    0x3E, 0x05, 0xE0, 0xFF, 0xFB, 0x76, 0x00, 0x18, 0xFC,                                     // IE, EI, HALT
];
#[rustfmt::skip]
const AT_BLANK: &[u8] = &[
    0x21, 0x00, 0xC0, 0x34, 0x7E, 0x21, 0x01, 0xC1, 0x77, 0x3E, 0x50, 0xEA, 0x00, 0xC1,
    0x3E, 0xC1, 0xE0, 0x46, 0x3E, 0x10, 0xE0, 0x00, 0xF0, 0x00, 0xEA, 0x01, 0xC0,
    0x3E, 0xF1, 0xE0, 0x12, 0x3E, 0x87, 0xE0, 0x14, 0xD9,
];

pub(crate) fn cartridge() -> Arc<Cartridge> {
    let mut rom = image(0x10, 4, 3);
    rom[0x100..0x103].copy_from_slice(&[0xC3, 0x50, 0x01]);
    rom[0x150..0x150 + PROGRAM.len()].copy_from_slice(PROGRAM);
    rom[0x40..0x43].copy_from_slice(&[0xC3, 0x00, 0x02]);
    rom[0x50] = 0xD9;
    rom[0x200..0x200 + AT_BLANK.len()].copy_from_slice(AT_BLANK);
    Arc::new(Cartridge::parse(rom).unwrap())
}

fn console() -> GameBoy {
    GameBoy::new(cartridge(), Options::default())
}

/// Everything that a frame can show.
fn sight(console: &mut GameBoy) -> (Vec<u8>, Vec<u8>, Registers, u64) {
    let memory = (0x8000..=0xFFFF).map(|address| console.read(address)).collect();
    (memory, console.screen().to_vec(), console.registers(), console.clock())
}

fn saved(console: &GameBoy) -> Vec<u8> {
    let mut out = Vec::new();
    console.save(&mut out);
    out
}

/// What Pan Docs ("Power Up Sequence") lists for the monochrome console, as programs read it. SB is 0 there, and in PyBoy never.
#[rustfmt::skip]
const AT_POWER_ON: &[(u16, u8)] = &[
    (0xFF00, 0xCF), (0xFF01, 0xFF), (0xFF02, 0x7E), (0xFF04, 0xAB), (0xFF05, 0x00), (0xFF06, 0x00), (0xFF07, 0xF8),
    (0xFF0F, 0xE1), (0xFF10, 0x80), (0xFF11, 0xBF), (0xFF12, 0xF3), (0xFF13, 0xFF), (0xFF14, 0xBF), (0xFF16, 0x3F),
    (0xFF17, 0x00), (0xFF18, 0xFF), (0xFF19, 0xBF), (0xFF1A, 0x7F), (0xFF1B, 0xFF), (0xFF1C, 0x9F), (0xFF1D, 0xFF),
    (0xFF1E, 0xBF), (0xFF20, 0xFF), (0xFF21, 0x00), (0xFF22, 0x00), (0xFF23, 0xBF), (0xFF24, 0x77), (0xFF25, 0xF3),
    (0xFF26, 0xF1), (0xFF40, 0x91), (0xFF41, 0x85), (0xFF42, 0x00), (0xFF43, 0x00), (0xFF44, 0x00), (0xFF45, 0x00),
    (0xFF46, 0xFF), (0xFF47, 0xFC), (0xFF4A, 0x00), (0xFF4B, 0x00), (0xFFFF, 0x00),
];

#[test]
fn without_a_boot_rom_the_registers_are_the_documented_ones() {
    let mut console = console();
    for &(address, value) in AT_POWER_ON {
        assert_eq!(console.read(address), value, "{address:04X}");
    }
    let r = console.registers();
    assert_eq!((r.a, r.f, r.b, r.c, r.d, r.e, r.h, r.l), (0x01, 0xB0, 0x00, 0x13, 0x00, 0xD8, 0x01, 0x4D));
    assert_eq!((r.sp, r.pc), (0xFFFE, 0x0100));
}

/// The boot ROM adds the header up: without a remainder there is no carry.
#[test]
fn a_header_whose_checksum_is_zero_leaves_two_flags_clear() {
    let mut rom = image(0, 2, 0);
    let sum = rom[0x14D];
    rom[0x134] = rom[0x134].wrapping_add(sum);
    rom[0x14D] = 0;
    let console = GameBoy::new(Arc::new(Cartridge::parse(rom).unwrap()), Options::default());
    assert_eq!(console.registers().f, 0x80);
}

/// The console's own times: gbmicrotest finds line 0's mode 2 after seven machine cycles, and DIV at 0xAC after thirteen.
#[test]
fn without_a_boot_rom_a_frame_is_about_to_end() {
    let mut console = console();
    let mut seen = Vec::new();
    for clock in (0..=520).step_by(4) {
        console.cpu.clock = clock;
        seen.push((clock, [0xFF41, 0xFF44, 0xFF04].map(|address| console.read(address))));
    }
    let first = |at: usize, value: u8| seen.iter().find(|(_, shown)| shown[at] == value).map(|row| row.0);
    assert_eq!(first(0, 0x86), Some(56), "mode 2");
    assert_eq!(first(0, 0x87), Some(56 + 80), "mode 3");
    assert_eq!(first(0, 0x84), Some(56 + 80 + 172), "mode 0");
    assert_eq!(first(1, 1), Some(56 + 452), "line 1");
    assert_eq!(first(2, 0xAC), Some(48), "DIV");
    let mut other = self::console();
    let state = saved(&other);
    console.load(&state).unwrap();
    for _ in 0..3 {
        other.run_frame(true);
        console.run_frame(true);
        assert_eq!(saved(&console), saved(&other));
    }
}

#[test]
fn a_state_brings_its_bank_with_it() {
    let mut rom = image(0x01, 4, 0);
    rom[0x4000..0x4003].copy_from_slice(&[0x3C, 0x18, 0xFD]); // bank 1: inc a, for ever
    rom[0x8000..0x8003].copy_from_slice(&[0x3D, 0x18, 0xFD]); // bank 2: dec a, for ever
    let cartridge = Arc::new(Cartridge::parse(rom).unwrap());
    let make = |bank: u8| {
        let mut console = GameBoy::new(cartridge.clone(), Options { sound: Sound::Off, ..Options::default() });
        console.write(0x2000, bank);
        console.set_registers(Registers { a: 100, pc: 0x4000, ..Registers::default() });
        console.run_frame(false);
        console.run_frame(false);
        console
    };
    let (up, mut down) = (make(1), make(2));
    let goes_up = |mut console: GameBoy| {
        let before = console.registers().a;
        console.run_slice(16);
        console.registers().a.wrapping_sub(before) < 100
    };
    assert!(goes_up(up.clone()) && !goes_up(down.clone()));
    let mut loaded = down.clone();
    loaded.load(&saved(&up)).unwrap();
    assert!(goes_up(loaded));
    down.set_parts(&up.parts());
    assert!(goes_up(down));
}

#[test]
fn a_program_runs_by_frames() {
    let mut console = console();
    console.tick(2, true, true);
    let begin = (console.wram()[0], console.clock());
    for _ in 0..10 {
        console.run_frame(true);
    }
    assert_eq!(console.wram()[0], begin.0 + 10);
    let clocks = console.clock() - begin.1;
    assert!(clocks.abs_diff(10 * FRAME_CLOCKS) < 40, "{clocks}");
    assert!(console.is_halted());
    assert_eq!(console.oam()[..2], [0x50, console.wram()[0]]);
    assert_eq!(console.read(0xFF26), 0xF1, "channel 1 sounds");
}

#[test]
fn a_button_shows_from_the_next_frame_on_and_requests_its_interrupt() {
    let mut console = console();
    console.tick(3, false, false);
    assert_eq!(console.wram()[1], 0xCF);
    console.set_buttons(button::A | button::LEFT);
    assert_eq!(console.read(0xFF0F) & interrupt::JOYPAD, 0);
    console.tick(2, false, false);
    assert_eq!(console.wram()[1], 0xCE);
    assert_eq!(console.read(0xFF0F) & interrupt::JOYPAD, interrupt::JOYPAD);
}

#[test]
fn drawing_changes_nothing_but_the_screen() {
    let (mut drawn, mut blind) = (console(), console());
    for _ in 0..5 {
        drawn.run_frame(true);
        blind.run_frame(false);
        let (a, b) = (sight(&mut drawn), sight(&mut blind));
        assert_eq!((a.0, a.2, a.3), (b.0, b.2, b.3));
    }
}

#[test]
fn a_clone_goes_its_own_way_and_the_same_way() {
    let mut first = console();
    first.tick(3, true, true);
    let mut second = first.clone();
    second.set_buttons(button::DOWN | button::B);
    second.tick(2, true, true);
    let mut third = first.clone();
    third.set_buttons(button::DOWN | button::B);
    third.tick(2, true, true);
    assert_eq!(sight(&mut second), sight(&mut third));
    assert_ne!(sight(&mut second), sight(&mut first));
}

#[test]
fn a_loaded_state_goes_on_as_the_saved_one() {
    let mut original = console();
    original.write(0x0000, 0x0A);
    original.write(0xA123, 0x77);
    original.write(0xFF01, b'!');
    original.set_buttons(button::A);
    original.tick(7, true, true);
    let state = saved(&original);
    let mut copy = console();
    copy.load(&state).unwrap();
    assert_eq!(saved(&copy), state);
    for _ in 0..5 {
        original.run_frame(true);
        copy.run_frame(true);
        assert_eq!(sight(&mut original), sight(&mut copy));
    }
    assert_eq!(copy.take_serial(), b"!");
    assert_eq!(saved(&original).len(), saved(&copy).len() + 1, "the kept byte was taken from one");
}

#[test]
fn a_state_of_another_console_is_refused() {
    let state = saved(&console());
    let mut silent = GameBoy::new(cartridge(), Options { sound: Sound::Off, ..Options::default() });
    assert_eq!(silent.load(&state), Err(StateError::OtherConsole));
    let other = Arc::new(Cartridge::parse(image(0, 2, 0)).unwrap());
    let mut other = GameBoy::new(other, Options::default());
    assert_eq!(other.load(&state), Err(StateError::OtherConsole));
}

#[test]
fn a_state_of_any_bytes_never_panics_and_never_hangs() {
    let mut original = console();
    original.tick(3, true, true);
    let state = saved(&original);
    let payload = state[state.len() - payload_length(&original)..].to_vec();
    let mut random = 0x2545_F491_4F6C_DD1Du64;
    let mut loaded = 0;
    // The bulk of a state is memory, which can be anything. What is not is the processor before it, and the units
    // between the screen and work memory.
    let tail = payload.len() - (0x2000 + 0x7F + 0x60);
    let fields: Vec<usize> = (0..30).chain(tail - 300..tail).collect();
    for _ in 0..200 {
        let mut bytes = payload.clone();
        for _ in 0..2 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            bytes[fields[random as usize % fields.len()]] = (random >> 40) as u8;
        }
        let mut sealed = Vec::new();
        state::seal(&mut sealed, original.identity, &bytes);
        let mut console = original.clone();
        if console.load(&sealed).is_ok() {
            loaded += 1;
            console.tick(2, true, true);
        }
    }
    assert!(loaded > 10, "only {loaded} of 200 were states at all");
}

fn payload_length(console: &GameBoy) -> usize {
    let mut empty = Vec::new();
    state::seal(&mut empty, 0, &[]);
    saved(console).len() - empty.len()
}

#[test]
fn a_refused_state_changes_nothing() {
    let mut console = console();
    console.tick(3, true, true);
    let before = saved(&console);
    let mut payload = before[before.len() - payload_length(&console)..].to_vec();
    let last = payload.len() - 1;
    payload[last] ^= 1;
    payload.truncate(last);
    let mut sealed = Vec::new();
    state::seal(&mut sealed, console.identity, &payload);
    assert_eq!(console.load(&sealed), Err(StateError::Length));
    assert_eq!(saved(&console), before);
}

#[test]
fn any_rom_runs() {
    let mut random = 0x9E37_79B9_7F4A_7C15u64;
    for kind in [0x00, 0x03, 0x06, 0x10, 0x1B] {
        for _ in 0..3 {
            let mut rom = image(kind, 4, 3);
            for byte in &mut rom[0x150..] {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                *byte = random as u8;
            }
            rom[0x100..0x103].copy_from_slice(&[0xC3, 0x50, 0x01]);
            let cartridge = Arc::new(Cartridge::parse(rom).unwrap());
            let mut console = GameBoy::new(cartridge, Options::default());
            for frame in 0..20 {
                console.set_buttons(37u8.wrapping_mul(frame));
                console.run_frame(frame % 2 == 0);
            }
        }
    }
}

#[test]
fn a_rom_of_one_bank_runs_into_nothing() {
    let mut rom = image(0, 1, 0);
    rom[0x100..0x103].copy_from_slice(&[0xC3, 0x00, 0x40]);
    let mut console = GameBoy::new(Arc::new(Cartridge::parse(rom).unwrap()), Options::default());
    console.tick(3, true, true);
    assert_eq!(console.read(0x4000), 0xFF);
}

#[test]
fn a_boot_rom_hides_the_cartridge_until_it_lets_go() {
    let mut boot = [0; 256];
    boot[..5].copy_from_slice(&[0xF0, 0x44, 0xC3, 0xFC, 0x00]);
    boot[0xFC..].copy_from_slice(&[0x3E, 0x01, 0xE0, 0x50]);
    let options = Options { boot_rom: Some(Arc::new(boot)), ..Options::default() };
    let mut console = GameBoy::new(cartridge(), options);
    assert!(console.is_booting());
    assert_eq!((console.read(0x0000), console.read(0x0100)), (0xF0, 0xC3));
    console.run_frame(true);
    assert!(!console.is_booting());
    assert_eq!(console.read(0x0000), 0x00);
    assert_eq!(console.registers().sp, 0xDFF0, "the program began");
}

#[test]
fn a_transfer_from_rom_fills_object_memory_while_the_program_waits() {
    let mut console = console();
    console.tick(2, false, false);
    for at in 0..0xA0u16 {
        console.write(0xC100 + at, at as u8 ^ 0x5A);
    }
    console.run_frame(false);
    assert_eq!(console.oam()[0x90], 0x90 ^ 0x5A);
}

#[test]
fn video_memory_is_closed_to_the_reads_that_look_ahead() {
    let mut console = console();
    console.run_frame(false);
    console.write(0x8000, 0x12);
    while console.read(0xFF41) & 3 != 3 {
        console.cpu.clock += 4;
        console.run_ppu(console.cpu.clock);
    }
    assert_eq!(console.read(0x8000), 0x12, "PyBoy's plain access sees it");
    console.cpu.lead = 4;
    assert_eq!(console.read(0x8000), 0xFF);
    console.write(0x8000, 0x34);
    assert_eq!(console.vram()[0], 0x12);
}

#[test]
fn a_console_is_small() {
    let console = console();
    let heap = 2 * 0x2000 + WIDTH * HEIGHT + console.cartridge_ram().len();
    assert!(std::mem::size_of::<GameBoy>() < 2048);
    assert!(heap + std::mem::size_of::<GameBoy>() < 200_000);
}
