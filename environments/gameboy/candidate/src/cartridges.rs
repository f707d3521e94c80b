//! The cartridges of the task, in the order in which the draw `cartridge` counts them, and where games keep what matters.

use std::sync::{Arc, LazyLock};

use gameboy_core::Cartridge;
use lockstep_env::Refused;

macro_rules! image {
    ($name:literal) => {
        ($name, include_bytes!(concat!(env!("LOCKSTEP_DATA"), "/", $name, ".gb")))
    };
}

/// ROMs by name. The task prepares the files (`reference/data.py`).
const IMAGES: [(&str, &[u8]); 13] = [
    image!("bricks"),
    image!("meteors"),
    image!("busy"),
    image!("sprites"),
    image!("window"),
    image!("interrupts"),
    image!("timers"),
    image!("sound"),
    image!("mbc1"),
    image!("mbc1ram"),
    image!("mbc2"),
    image!("mbc3"),
    image!("default"),
];
const BOOT_ROM: &[u8; 256] = include_bytes!(concat!(env!("LOCKSTEP_DATA"), "/boot.rom"));

/// All cartridges, checked once, and the boot ROM: shared by all consoles.
#[derive(Debug)]
pub struct Shelf {
    cartridges: Vec<Arc<Cartridge>>,
    pub boot_rom: Arc<[u8; 256]>,
}

impl Shelf {
    fn fill() -> Result<Self, Refused> {
        let cartridges = IMAGES.iter().map(|(name, image)| match Cartridge::parse(image.to_vec()) {
            Ok(cartridge) => Ok(Arc::new(cartridge)),
            Err(error) => Err(Refused(format!("the cartridge {name}: {error}"))),
        });
        Ok(Shelf { cartridges: cartridges.collect::<Result<_, _>>()?, boot_rom: Arc::new(*BOOT_ROM) })
    }

    /// How many cartridges there are.
    pub fn len(&self) -> usize {
        self.cartridges.len()
    }

    /// The cartridge of a number below [`Shelf::len`].
    pub fn cartridge(&self, number: usize) -> &Arc<Cartridge> {
        &self.cartridges[number]
    }
}

/// The shelf of this process.
///
/// # Errors
/// A file is no ROM; says which.
pub fn shelf() -> Result<&'static Shelf, Refused> {
    static SHELF: LazyLock<Result<Shelf, Refused>> = LazyLock::new(Shelf::fill);
    SHELF.as_ref().map_err(Refused::clone)
}

/// Where a game keeps what the environment looks at, as offsets in work memory.
#[derive(Debug)]
pub struct Game {
    over: usize,
    score: usize,
    random: usize,
}

/// Both games keep `wGameOver`, `wScore` and `wRandom` at the same places.
const GAME: Game = Game { over: 0x05, score: 0x06, random: 0x0A };
const GAMES: usize = 2;

/// The game of a cartridge's number; None where it is no game.
pub fn game(number: usize) -> Option<&'static Game> {
    (number < GAMES).then_some(&GAME)
}

impl Game {
    pub fn is_over(&self, wram: &[u8; 0x2000]) -> bool {
        wram[self.over] != 0
    }

    pub fn score(&self, wram: &[u8; 0x2000]) -> u16 {
        u16::from_le_bytes([wram[self.score], wram[self.score + 1]])
    }

    pub fn set_random(&self, wram: &mut [u8; 0x2000], random: u16) {
        wram[self.random..][..2].copy_from_slice(&random.to_le_bytes());
    }
}
