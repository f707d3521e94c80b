//! The copy to object memory.

use gameboy_core::probe;
use lockstep_env::leaves;

use super::{CODE, HIGH_PAGE, started, tell_addresses};

const DMA: u16 = HIGH_PAGE | 0x46;

leaves! { pub struct Copy { page: u8, fill: u8, clocks: i64 } }
leaves! { pub struct Copied { oam: [u8; 160], active: bool, done: u8 } }

pub fn dma(given: Copy) -> Copied {
    let mut console = started(&[], |_| {});
    tell_addresses(console.memories().wram, CODE, given.fill);
    console.write(DMA, given.page);
    probe::wait(&mut console, given.clocks as u64);
    probe::copy_objects(&mut console);
    let parts = console.parts();
    Copied { oam: *console.oam(), active: parts.dma_active, done: parts.dma_done }
}
