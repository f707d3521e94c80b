//! A batch is consoles that each do what they would do alone, on any number of threads.

use gameboy_core::{Cartridge, GameBoy, Options, button};
use lockstep_gameboy_batch::{Batch, BatchError, Picture, Seen};
use std::sync::Arc;

/// Counts frames at 0xC000 and keeps the held buttons at 0xC001 in a loop that waits for the blank.
#[rustfmt::skip]
const PROGRAM: &[u8] = &[
    0x3E, 0x91, 0xE0, 0x40, 0x3E, 0x01, 0xE0, 0xFF,             // LCDC, IE
    0xAF, 0xE0, 0x0F, 0x76, 0x00,                               // IF, HALT
    0x21, 0x00, 0xC0, 0x34, 0x3E, 0x10, 0xE0, 0x00, 0xF0, 0x00, 0xEA, 0x01, 0xC0,
    0x18, 0xEC,
];

fn cartridge() -> Arc<Cartridge> {
    let mut rom = vec![0; 0x8000];
    rom[0x100..0x103].copy_from_slice(&[0xC3, 0x50, 0x01]);
    rom[0x150..][..PROGRAM.len()].copy_from_slice(PROGRAM);
    rom[0x14D] = rom[0x134..0x14D].iter().fold(0u8, |sum, byte| sum.wrapping_sub(*byte).wrapping_sub(1));
    Arc::new(Cartridge::parse(rom).expect("a whole ROM"))
}

fn picture() -> Picture {
    Picture::new(false, 1, 1).expect("a picture")
}

/// A batch, with its arrays.
struct Held {
    batch: Batch,
    pictures: Vec<u8>,
    memory: Vec<u8>,
}

impl Held {
    fn new(count: usize, threads: usize) -> Self {
        let batch = Batch::new(cartridge(), Options::default(), count, 4, picture(), vec![0xC000, 0xC001], threads);
        let pictures = vec![9; count * picture().bytes()];
        Self { batch: batch.expect("a batch"), pictures, memory: vec![9; count * 2] }
    }

    fn seen(&mut self) -> (&mut Batch, Seen<'_>) {
        (&mut self.batch, Seen { pictures: &mut self.pictures, memory: &mut self.memory })
    }

    fn reset(&mut self, seeds: &[u64], mask: Option<&[bool]>) {
        let (batch, seen) = self.seen();
        batch.reset(seeds, mask, seen).expect("arrays that fit");
    }

    fn step(&mut self, buttons: &[u8]) {
        let (batch, seen) = self.seen();
        batch.step(buttons, seen).expect("arrays that fit");
    }
}

#[test]
fn every_console_does_what_it_does_alone() {
    let held = [0, button::A, button::LEFT, 255, button::DOWN];
    for threads in [1, 3] {
        let mut batch = Held::new(held.len(), threads);
        batch.reset(&[0; 5], None);
        for _ in 0..6 {
            batch.step(&held);
        }
        for (number, buttons) in held.iter().enumerate() {
            let mut alone = GameBoy::new(cartridge(), Options::default());
            for _ in 0..6 {
                alone.set_buttons(*buttons);
                alone.tick(4, true, false);
            }
            let mut state = Vec::new();
            alone.save(&mut state);
            assert_eq!(batch.batch.save(number).unwrap(), state, "console {number} on {threads} threads");
            assert_eq!(batch.memory[2 * number..][..2], alone.wram()[..2]);
            assert_eq!(batch.pictures[number * picture().bytes()..][..picture().bytes()], *alone.screen());
        }
    }
}

#[test]
fn a_seed_says_how_an_episode_begins_and_neighbours_differ() {
    let mut batch = Held::new(16, 2);
    batch.batch.set_start(&[], 40, 40).unwrap();
    let seeds: Vec<u64> = (0..16).map(|seed| seed / 2).collect();
    batch.reset(&seeds, None);
    let states: Vec<Vec<u8>> = (0..16).map(|number| batch.batch.save(number).unwrap()).collect();
    assert!((0..8).all(|pair| states[2 * pair] == states[2 * pair + 1]));
    assert!((1..8).all(|pair| states[2 * pair] != states[0]));
}

#[test]
fn a_pool_gives_the_states_that_episodes_begin_with() {
    let mut batch = Held::new(8, 1);
    batch.step(&[0; 8]);
    let early = batch.batch.save(0).unwrap();
    batch.step(&[button::A; 8]);
    let late = batch.batch.save(0).unwrap();
    batch.batch.set_start(&[&early, &late], 0, 0).unwrap();
    batch.reset(&[0, 1, 2, 3, 4, 5, 6, 7], None);
    let begun: Vec<u8> = (0..8).map(|number| batch.memory[2 * number]).collect();
    let kinds = [early, late].map(|state| {
        let (b, seen) = batch.seen();
        b.load(0, &state, seen).unwrap();
        batch.memory[0]
    });
    assert!(begun.iter().all(|count| kinds.contains(count)) && kinds.iter().all(|kind| begun.contains(kind)));
    assert!(matches!(batch.batch.set_start(&[b"nothing"], 0, 0), Err(BatchError::State(_))));
}

#[test]
fn a_mask_leaves_the_others_alone() {
    let mut batch = Held::new(3, 1);
    batch.step(&[0; 3]);
    batch.step(&[0; 3]);
    let before: Vec<Vec<u8>> = (0..3).map(|number| batch.batch.save(number).unwrap()).collect();
    batch.memory[0] = 77;
    batch.reset(&[0; 3], Some(&[false, true, false]));
    let after: Vec<Vec<u8>> = (0..3).map(|number| batch.batch.save(number).unwrap()).collect();
    assert_eq!([before[0] == after[0], before[1] == after[1], before[2] == after[2]], [true, false, true]);
    assert_eq!((batch.memory[0], batch.memory[2]), (77, 0));
}

#[test]
fn a_snapshot_goes_into_any_place_of_its_kind() {
    let mut batch = Held::new(2, 1);
    batch.step(&[button::A, 0]);
    let kept = batch.batch.snapshot(0).unwrap();
    let state = batch.batch.save(0).unwrap();
    batch.step(&[0, 0]);
    let (b, seen) = batch.seen();
    b.restore(1, &kept, seen).unwrap();
    assert_eq!(batch.batch.save(1).unwrap(), state);
    let silent = Options { sound: gameboy_core::Sound::Off, ..Options::default() };
    let other = Batch::new(cartridge(), silent, 1, 1, picture(), vec![], 1).unwrap().snapshot(0).unwrap();
    let (b, seen) = batch.seen();
    assert_eq!(b.restore(0, &other, seen), Err(BatchError::OtherSnapshot));
}

#[test]
fn wrong_questions_are_refused() {
    let new = |skip, address| Batch::new(cartridge(), Options::default(), 1, skip, picture(), vec![address], 1).err();
    assert_eq!(new(0, 0xC000), Some(BatchError::FrameSkip));
    assert_eq!(new(1, 0xFF44), Some(BatchError::Register(0xFF44)));
    let mut batch = Held::new(2, 1);
    let no_console = BatchError::NoConsole { number: 2, count: 2 };
    assert_eq!(batch.batch.save(2), Err(no_console.clone()));
    assert_eq!(batch.batch.peek(2, 0xC000, 1), Err(no_console));
    assert_eq!(batch.batch.peek(0, 0xFFFE, 2), Err(BatchError::Register(0xFFFF)));
    assert_eq!(batch.batch.peek(0, 0xFFFE, usize::MAX), Err(BatchError::Register(0xFFFF)));
    assert_eq!(batch.batch.peek(0, 0x0100, 3), Ok(vec![0xC3, 0x50, 0x01]));
    let wrong = |what, given| Err(BatchError::Length { what, given, expected: 2 });
    let (b, seen) = batch.seen();
    assert_eq!(b.step(&[0; 3], seen), wrong("buttons", 3));
    let (b, seen) = batch.seen();
    assert_eq!(b.reset(&[0; 2], Some(&[true]), seen), wrong("elements of a mask", 1));
}
