//! Runs a ROM by commands from standard input and writes what a reference can be held against to standard output.
//!
//! ```text
//! record ROM BOOT-ROM|- on|off
//! ```
//!
//! Each line of input is `FRAMES RENDER SOUND BUTTONS` in decimal (`RENDER` and `SOUND` 0 or 1, `BUTTONS` a mask). Each is
//! answered with [`RECORD`] bytes: A F B C D E H L, SP, PC and the clock (little endian), IME, HALT (bit 1: locked), the addresses
//! 0x8000..=0xFFFF as reads give them in ascending order, and the screen's shades.

use gameboy_core::{Cartridge, GameBoy, HEIGHT, Options, Sound, WIDTH};
use std::error::Error;
use std::io::{BufRead, Write, stdin, stdout};
use std::sync::Arc;

const RECORD: usize = 8 + 2 + 2 + 8 + 2 + 0x8000 + WIDTH * HEIGHT;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [rom, boot, sound] = arguments.as_slice() else {
        return Err("usage: record ROM BOOT-ROM|- on|off".into());
    };
    let cartridge = Arc::new(Cartridge::parse(std::fs::read(rom)?)?);
    let boot_rom = match boot.as_str() {
        "-" => None,
        path => {
            let bytes = <[u8; 256]>::try_from(std::fs::read(path)?)
                .map_err(|bytes| format!("the boot ROM has {} bytes, expected 256", bytes.len()))?;
            Some(Arc::new(bytes))
        }
    };
    let sound = if sound == "on" { Options::default().sound } else { Sound::Off };
    let options = Options { boot_rom, sound, ..Options::default() };
    let mut console = GameBoy::new(cartridge, options);
    let mut out = stdout().lock();
    for line in stdin().lock().lines() {
        let line = line?;
        let fields: Vec<u32> = line.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
        let [frames, render, sound, buttons] = fields[..] else {
            return Err(format!("expected FRAMES RENDER SOUND BUTTONS, got {line:?}").into());
        };
        console.set_buttons(u8::try_from(buttons)?);
        console.tick(frames, render != 0, sound != 0);
        let record = record(&mut console);
        debug_assert_eq!(record.len(), RECORD);
        out.write_all(&record)?;
        out.flush()?;
    }
    Ok(())
}

fn record(console: &mut GameBoy) -> Vec<u8> {
    let r = console.registers();
    let mut out = vec![r.a, r.f, r.b, r.c, r.d, r.e, r.h, r.l];
    out.extend(r.sp.to_le_bytes());
    out.extend(r.pc.to_le_bytes());
    out.extend(console.clock().to_le_bytes());
    out.push(u8::from(console.interrupts_enabled()));
    out.push(u8::from(console.is_halted()) | u8::from(console.is_locked()) << 1);
    out.extend((0x8000..=0xFFFF).map(|address| console.read(address)));
    out.extend(console.screen());
    out
}
