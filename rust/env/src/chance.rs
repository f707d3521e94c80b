//! Chance is explicit: whatever an environment draws has a name, and may come from outside instead.

use std::collections::VecDeque;
use std::marker::PhantomData;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use crate::element::Element;
use crate::field::Field;
use crate::numbers::Numbers;

/// Where numbers come from that no tape holds: a small generator whose stream is the same on every machine.
pub type Random = Xoshiro256PlusPlus;

/// A chance event: its name, as task.toml has it, and the type of what is drawn.
#[derive(Debug)]
pub struct Draw<F> {
    pub name: &'static str,
    kind: PhantomData<fn() -> F>,
}

impl<F> Draw<F> {
    /// A chance event of this name.
    pub const fn new(name: &'static str) -> Self {
        Draw { name, kind: PhantomData }
    }
}

/// What resets and steps draw from.
pub trait Draws {
    /// One draw: from the tape where there is one, else by its law.
    fn draw<F: Field>(&mut self, draw: &Draw<F>, law: impl FnOnce(&mut Random) -> F) -> F;
}

/// An instance's own chance, by the laws alone where nothing is noted.
#[derive(Clone, Debug, PartialEq)]
pub struct Chance {
    random: Random,
    /// Of one type with chance of which nothing is noted: no environment can tell whether somebody looks.
    notes: Option<Box<Notes>>,
}

/// What is still to be drawn, and what was drawn.
#[derive(Clone, Debug, PartialEq)]
struct Notes {
    given: VecDeque<Drawn>,
    drawn: Vec<Drawn>,
}

impl Chance {
    /// The chance that a seed begins.
    pub fn new(seed: u64) -> Self {
        Chance { random: Random::seed_from_u64(seed), notes: None }
    }

    /// Note from now on what is drawn, and draw first what is given.
    ///
    /// That is taken in order. A draw of another name, type or shape than the next one on the list is made by its law, and so
    /// is one for which nothing is left: whoever compares what was drawn with the list sees the difference.
    pub fn note(&mut self, given: Vec<Drawn>) {
        self.notes = Some(Box::new(Notes { given: given.into(), drawn: Vec::new() }));
    }

    /// What was drawn since `note`, in order. From now on nothing is noted, and what was left of the list is forgotten.
    pub fn noted(&mut self) -> Vec<Drawn> {
        self.notes.take().map_or_else(Vec::new, |notes| notes.drawn)
    }
}

impl Notes {
    fn next<F: Field>(&mut self, draw: &Draw<F>) -> Option<F> {
        let next = self.given.front().filter(|next| next.name == draw.name)?;
        let value = next.read()?;
        self.given.pop_front();
        Some(value)
    }
}

impl Draws for Chance {
    #[inline]
    fn draw<F: Field>(&mut self, draw: &Draw<F>, law: impl FnOnce(&mut Random) -> F) -> F {
        let given = self.notes.as_mut().and_then(|notes| notes.next(draw));
        let value = given.unwrap_or_else(|| law(&mut self.random));
        if let Some(notes) = &mut self.notes {
            notes.drawn.push(Drawn::of(draw, &value));
        }
        value
    }
}

/// What was drawn, or is to be: a name and a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawn {
    pub name: String,
    pub numbers: Numbers,
    pub shape: Vec<usize>,
}

impl Drawn {
    fn of<F: Field>(draw: &Draw<F>, value: &F) -> Self {
        let mut numbers = Numbers::zeros(F::Element::DTYPE, F::SHAPE.iter().product());
        if let Some(slice) = F::Element::of_mut(numbers.column_mut()) {
            value.store(slice);
        }
        Drawn { name: draw.name.to_string(), numbers, shape: F::SHAPE.to_vec() }
    }

    fn read<F: Field>(&self) -> Option<F> {
        if self.shape != F::SHAPE {
            return None;
        }
        F::Element::of(&self.numbers.column()).map(F::load)
    }
}
