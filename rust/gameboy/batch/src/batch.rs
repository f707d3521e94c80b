//! The consoles and the threads.

use crate::frames::run;
use crate::{BatchError, Picture, Start};
use gameboy_core::{Cartridge, GameBoy, Options, Registers};
use lockstep_batch::{Asked, Team, TeamError, many};
use rayon::prelude::*;
use std::sync::Arc;

/// Consoles that share one ROM and step together.
pub struct Batch {
    consoles: Vec<GameBoy>,
    /// A console that was just switched on.
    fresh: GameBoy,
    frame_skip: u32,
    picture: Picture,
    addresses: Vec<u16>,
    start: Start,
    team: Team,
}

/// Where a batch writes what is seen: of every console a row.
pub struct Seen<'a> {
    /// Observations.
    pub pictures: &'a mut [u8],
    /// The bytes at the batch's addresses.
    pub memory: &'a mut [u8],
}

/// A console as it was, to be put into any place of a batch of its kind.
#[derive(Clone, Debug)]
pub struct Snapshot(GameBoy);

impl Snapshot {
    /// A console with a cartridge and options, in a state that [`Snapshot::save`] or [`Batch::save`] gave of such a one.
    ///
    /// # Errors
    /// The state cannot be loaded.
    pub fn of(cartridge: Arc<Cartridge>, options: Options, state: &[u8]) -> Result<Self, BatchError> {
        let mut console = GameBoy::new(cartridge, options);
        console.load(state)?;
        Ok(Self(console))
    }

    /// Its whole state as bytes.
    pub fn save(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.0.save(&mut out);
        out
    }
}

impl Batch {
    /// So many consoles that were just switched on, whose every step is `frame_skip` frames, on so many threads (see
    /// [`Team::new`]). The bytes at `addresses` are read after each step.
    ///
    /// # Errors
    /// The frame skip is 0, there is a register at one of the addresses, there is no memory for so many consoles, or the
    /// threads cannot be started.
    pub fn new(
        cartridge: Arc<Cartridge>,
        options: Options,
        count: usize,
        frame_skip: u32,
        picture: Picture,
        addresses: Vec<u16>,
        threads: usize,
    ) -> Result<Self, BatchError> {
        if frame_skip == 0 {
            return Err(BatchError::FrameSkip);
        }
        let fresh = GameBoy::new(cartridge, options);
        if let Some(&register) = addresses.iter().find(|&&address| fresh.peek(address).is_none()) {
            return Err(BatchError::Register(register));
        }
        let consoles = many(&fresh, count, picture.bytes() + addresses.len()).map_err(TeamError::NoRoom)?;
        let team = Team::new(threads, "gameboy")?;
        Ok(Self { consoles, fresh, frame_skip, picture, addresses, start: Start::default(), team })
    }

    /// On how many threads they step.
    pub fn threads(&self) -> usize {
        self.team.threads()
    }

    /// How many consoles there are.
    pub fn len(&self) -> usize {
        self.consoles.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.consoles.is_empty()
    }

    /// Says how episodes begin from now on, from which states (as [`Batch::save`] gives them) among others.
    ///
    /// # Errors
    /// A state cannot be loaded.
    pub fn set_start(&mut self, states: &[&[u8]], idle_frames: u32, random_frames: u32) -> Result<(), BatchError> {
        let mut pool = Vec::with_capacity(states.len());
        for state in states {
            let mut console = self.fresh.clone();
            console.load(state)?;
            pool.push(console);
        }
        self.start = Start { pool, idle_frames, random_frames };
        Ok(())
    }

    /// Begins an episode in every console, in console `i` with `seeds[i]`; where there is a mask, in those alone whose
    /// element is true. Only their rows are written; a whole stack is filled with the first picture.
    ///
    /// # Errors
    /// An array is for another number of consoles.
    pub fn reset(&mut self, seeds: &[u64], mask: Option<&[bool]>, seen: Seen<'_>) -> Result<(), BatchError> {
        self.reset_unless(seeds, mask, seen, &|| false)
    }

    /// As [`Batch::reset`], until `asked` says to stop.
    ///
    /// # Errors
    /// As [`Batch::reset`], and [`TeamError::Stopped`]: some may have begun, and all must be reset.
    pub fn reset_unless(
        &mut self,
        seeds: &[u64],
        mask: Option<&[bool]>,
        seen: Seen<'_>,
        asked: Asked<'_>,
    ) -> Result<(), BatchError> {
        demand("seeds", seeds.len(), self.len())?;
        if let Some(mask) = mask {
            demand("elements of a mask", mask.len(), self.len())?;
        }
        self.check_arrays(&seen)?;
        let begins = |number: usize| mask.is_none_or(|mask| mask[number]);
        if !(0..self.len()).all(begins) {
            self.team.whole()?;
        }
        let Self { consoles, fresh, picture, addresses, start, team, .. } = self;
        let done = team.work(false, asked, |stop| {
            let rows = seen.pictures.par_chunks_exact_mut(picture.bytes());
            consoles.par_iter_mut().zip(rows).enumerate().for_each(|(number, (console, row))| {
                if begins(number) && !stop.now() {
                    start.begin(console, fresh, seeds[number], stop);
                    picture.fill(console.screen(), row);
                }
            });
        });
        for number in (0..consoles.len()).filter(|&number| begins(number)) {
            look_up(&consoles[number], addresses, seen.memory, number);
        }
        Ok(done?)
    }

    /// Holds each console's buttons (bits of [`gameboy_core::button`]) for the frames of one step, of which the last is drawn.
    ///
    /// # Errors
    /// An array is for another number of consoles, or an earlier call was stopped in the middle.
    pub fn step(&mut self, buttons: &[u8], seen: Seen<'_>) -> Result<(), BatchError> {
        self.step_unless(buttons, seen, &|| false)
    }

    /// As [`Batch::step`], until `asked` says to stop.
    ///
    /// # Errors
    /// As [`Batch::step`], and [`TeamError::Stopped`]: some may have stepped, and all must be reset.
    pub fn step_unless(&mut self, buttons: &[u8], seen: Seen<'_>, asked: Asked<'_>) -> Result<(), BatchError> {
        demand("buttons", buttons.len(), self.len())?;
        self.check_arrays(&seen)?;
        self.team.whole()?;
        let Self { consoles, frame_skip, picture, addresses, team, .. } = self;
        let done = team.work(false, asked, |stop| {
            let rows = seen.pictures.par_chunks_exact_mut(picture.bytes());
            consoles.par_iter_mut().zip(rows).zip(buttons).for_each(|((console, row), &held)| {
                console.set_buttons(held);
                run(console, *frame_skip, true, stop);
                picture.push(console.screen(), row);
            });
        });
        for (number, console) in consoles.iter().enumerate() {
            look_up(console, addresses, seen.memory, number);
        }
        Ok(done?)
    }

    /// The whole state of a console as bytes with a checksum.
    ///
    /// # Errors
    /// There is no such console.
    pub fn save(&self, number: usize) -> Result<Vec<u8>, BatchError> {
        let mut out = Vec::new();
        self.console(number)?.save(&mut out);
        Ok(out)
    }

    /// Puts a state into a console and writes what is seen of it into its row; a stack is filled with its picture.
    ///
    /// # Errors
    /// There is no such console, the state cannot be loaded (nothing has changed then), or an array is for another number
    /// of consoles.
    pub fn load(&mut self, number: usize, state: &[u8], seen: Seen<'_>) -> Result<(), BatchError> {
        self.check(number, &seen)?;
        self.consoles[number].load(state)?;
        self.show(number, seen);
        Ok(())
    }

    /// A console as it is now, in memory.
    ///
    /// # Errors
    /// There is no such console.
    pub fn snapshot(&self, number: usize) -> Result<Snapshot, BatchError> {
        Ok(Snapshot(self.console(number)?.clone()))
    }

    /// Puts a snapshot into a console, as [`Batch::load`] does.
    ///
    /// # Errors
    /// There is no such console, the snapshot is of another kind, or an array is for another number of consoles.
    pub fn restore(&mut self, number: usize, snapshot: &Snapshot, seen: Seen<'_>) -> Result<(), BatchError> {
        self.check(number, &seen)?;
        if !snapshot.0.is_like(&self.fresh) {
            return Err(BatchError::OtherSnapshot);
        }
        self.consoles[number].clone_from(&snapshot.0);
        self.show(number, seen);
        Ok(())
    }

    /// The bytes of a console's memory from an address on, without the effects of reading them.
    ///
    /// # Errors
    /// There is no such console, or there is a register among the addresses or an end of them.
    pub fn peek(&self, number: usize, address: u16, length: usize) -> Result<Vec<u8>, BatchError> {
        let console = self.console(number)?;
        (0..length)
            .map(|at| {
                let place = usize::from(address) + at;
                let place = u16::try_from(place).map_err(|_| BatchError::Register(u16::MAX))?;
                console.peek(place).ok_or(BatchError::Register(place))
            })
            .collect()
    }

    /// A console's registers and the clocks since it was switched on.
    ///
    /// # Errors
    /// There is no such console.
    pub fn registers(&self, number: usize) -> Result<(Registers, u64), BatchError> {
        let console = self.console(number)?;
        Ok((console.registers(), console.clock()))
    }

    /// Bytes that each console takes beside the ROM that all share: those of the largest.
    pub fn memory_bytes(&self) -> usize {
        self.consoles.iter().map(GameBoy::memory_bytes).max().unwrap_or(0)
    }

    fn console(&self, number: usize) -> Result<&GameBoy, BatchError> {
        self.consoles.get(number).ok_or(BatchError::NoConsole { number, count: self.len() })
    }

    fn check(&self, number: usize, seen: &Seen<'_>) -> Result<(), BatchError> {
        self.console(number)?;
        self.check_arrays(seen)
    }

    fn check_arrays(&self, seen: &Seen<'_>) -> Result<(), BatchError> {
        demand("bytes of pictures", seen.pictures.len(), self.len() * self.picture.bytes())?;
        demand("bytes of memory", seen.memory.len(), self.len() * self.addresses.len())
    }

    /// Writes a console's row anew.
    fn show(&self, number: usize, seen: Seen<'_>) {
        let console = &self.consoles[number];
        let bytes = self.picture.bytes();
        self.picture.fill(console.screen(), &mut seen.pictures[number * bytes..][..bytes]);
        look_up(console, &self.addresses, seen.memory, number);
    }
}

/// Writes a console's row of memory.
fn look_up(console: &GameBoy, addresses: &[u16], memory: &mut [u8], number: usize) {
    let row = &mut memory[number * addresses.len()..][..addresses.len()];
    for (cell, &address) in row.iter_mut().zip(addresses) {
        *cell = console.peek(address).expect("registers were refused when the batch was made");
    }
}

fn demand(what: &'static str, given: usize, expected: usize) -> Result<(), BatchError> {
    if given == expected { Ok(()) } else { Err(BatchError::Length { what, given, expected }) }
}
