//! PyBoy 2.8.0 as a monochrome Game Boy, frame by frame, with one of the task's cartridges in it.
//!
//! The emulator is the crate `gameboy-core`. Here are what the task makes of it: buttons, score and end of a game, the
//! leaves of the state, and the probes.

mod cartridges;
mod probes;
mod state;

use std::sync::Arc;

use gameboy_core::{Cartridge, GameBoy, HEIGHT, Options as ConsoleOptions, Sound, WIDTH, button};
use lockstep_env::{Draw, Draws, Environment, Frame, Options, Probe, Refused, Rng, RowMut, Step, leaves};

use cartridges::{Game, Shelf};
use state::State;

lockstep_env::environment!(Console);

leaves! {
    /// The screen in shades, 0 white to 3 black.
    pub struct Seen {
        pub observation: [[u8; WIDTH]; HEIGHT],
    }
}

leaves! {
    /// A number of [`HELD`].
    pub struct Pressed {
        pub action: i64,
    }
}

const CARTRIDGE: Draw<i32> = Draw::new("cartridge");
const RANDOM: Draw<i32> = Draw::new("random");
/// The buttons that each action holds.
#[rustfmt::skip]
const HELD: [u8; 16] = [
    0, button::RIGHT, button::LEFT, button::UP, button::DOWN, button::A, button::B, button::SELECT, button::START,
    button::RIGHT | button::A, button::LEFT | button::A, button::RIGHT | button::B, button::LEFT | button::B,
    button::UP | button::A, 0xFF, button::A | button::B | button::START | button::SELECT,
];
/// The shades as a picture has them.
const GREYS: [u8; 4] = [255, 170, 85, 0];

/// A console with a cartridge in it.
#[derive(Clone, Debug)]
pub struct Console {
    shelf: &'static Shelf,
    /// Which cartridge of the shelf is inserted.
    number: usize,
    console: GameBoy,
}

impl Console {
    fn insert(&mut self, number: usize) {
        self.number = number;
        self.console = switched_on(self.shelf, self.shelf.cartridge(number));
    }

    fn game(&self) -> Option<&'static Game> {
        cartridges::game(self.number)
    }

    fn score(&self) -> u16 {
        self.game().map_or(0, |game| game.score(self.console.wram()))
    }
}

fn switched_on(shelf: &Shelf, cartridge: &Arc<Cartridge>) -> GameBoy {
    let options =
        ConsoleOptions { boot_rom: Some(Arc::clone(&shelf.boot_rom)), sound: Sound::Off, ..ConsoleOptions::default() };
    GameBoy::new(Arc::clone(cartridge), options)
}

impl Environment for Console {
    type Observation = Seen;
    type Action = Pressed;
    type State = State;
    type Reward = f32;

    const PROBES: &'static [Probe] = probes::PROBES;

    fn new(options: &Options) -> Result<Self, Refused> {
        options.only(&[])?;
        let shelf = cartridges::shelf()?;
        Ok(Console { shelf, number: 0, console: switched_on(shelf, shelf.cartridge(0)) })
    }

    fn reset<D: Draws>(&mut self, draws: &mut D) {
        // The first game three times as often as each of the other cartridges.
        let sides = self.shelf.len() as u32 + 2;
        let number = draws.draw(&CARTRIDGE, |random| (random.next_u32() % sides).saturating_sub(2) as i32);
        let random = draws.draw(&RANDOM, |random| (random.next_u32() >> 16) as i32);
        self.insert(number.rem_euclid(self.shelf.len() as i32) as usize);
        if let Some(game) = self.game() {
            game.set_random(self.console.memories().wram, random as u16);
        }
    }

    fn step<D: Draws>(&mut self, action: &Pressed, _draws: &mut D) -> Step<f32> {
        let before = self.score();
        self.console.set_buttons(HELD[action.action as usize % HELD.len()]);
        self.console.run_frame(true);
        let reward = f32::from(self.score()) - f32::from(before);
        let terminated = self.game().is_some_and(|game| game.is_over(self.console.wram()));
        Step { reward, terminated, truncated: false }
    }

    fn observe(&self) -> Seen {
        let mut observation = [[0; WIDTH]; HEIGHT];
        observation.as_flattened_mut().copy_from_slice(self.console.screen());
        Seen { observation }
    }

    fn look(&self, row: &mut RowMut<'_, '_>) {
        row.numbers::<u8>(0).copy_from_slice(self.console.screen());
    }

    fn encode(&self) -> State {
        State::of(self.number, &self.console)
    }

    fn decode(&mut self, state: &State) -> Result<(), Refused> {
        let number = state.number(self.shelf.len())?;
        let cartridge = self.shelf.cartridge(number);
        state.fits(cartridge)?;
        if number != self.number {
            self.insert(number);
        }
        state.put(&mut self.console);
        Ok(())
    }

    fn render(&self) -> Option<Frame> {
        let rgb = self.console.screen().iter().flat_map(|&shade| [GREYS[usize::from(shade & 3)]; 3]).collect();
        Some(Frame { height: HEIGHT, width: WIDTH, rgb })
    }
}
