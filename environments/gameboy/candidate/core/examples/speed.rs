//! Frames per second of one console on one thread: `speed ROM BOOT-ROM FRAMES`.
//!
//! The first 400 frames, in which a boot ROM scrolls its logo, are not measured.

use gameboy_core::{Cartridge, GameBoy, Options};
use std::error::Error;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

const WARM_UP: u32 = 400;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [rom, boot, frames] = arguments.as_slice() else {
        return Err("usage: speed ROM BOOT-ROM FRAMES".into());
    };
    let boot: [u8; 256] = std::fs::read(boot)?.try_into().map_err(|_| "a boot ROM has 256 bytes")?;
    let frames: u32 = frames.parse()?;
    let options = Options { boot_rom: Some(Arc::new(boot)), ..Options::default() };
    let mut console = GameBoy::new(Arc::new(Cartridge::parse(std::fs::read(rom)?)?), options);
    console.tick(WARM_UP, false, false);
    for render in [false, true] {
        let start = Instant::now();
        for _ in 0..frames {
            console.tick(1, render, false);
        }
        let seconds = start.elapsed().as_secs_f64();
        black_box(console.screen());
        println!("render {render}: {:.0} frames/s", f64::from(frames) / seconds);
    }
    Ok(())
}
