//! Chance is explicit: whatever an environment draws has a name, and may come from outside instead.

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

/// An instance's own chance, by the laws alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Chance(Random);

impl Chance {
    /// The chance that a seed begins.
    pub fn new(seed: u64) -> Self {
        Chance(Random::seed_from_u64(seed))
    }
}

impl Draws for Chance {
    #[inline]
    fn draw<F: Field>(&mut self, _draw: &Draw<F>, law: impl FnOnce(&mut Random) -> F) -> F {
        law(&mut self.0)
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

/// Chance that remembers what it gave, and gives first what it was asked to.
///
/// What it is given is taken in order. A draw of another name, type or shape than the next one on the list is made by
/// its
/// law, and so is one for which nothing is left: whoever compares what was drawn with the list sees the difference.
#[derive(Debug)]
pub struct Recorded<'a> {
    chance: &'a mut Chance,
    given: &'a [Drawn],
    drawn: Vec<Drawn>,
}

impl<'a> Recorded<'a> {
    /// Chance, after the draws on a list, which may be empty.
    pub fn new(chance: &'a mut Chance, given: &'a [Drawn]) -> Self {
        Recorded { chance, given, drawn: Vec::new() }
    }

    /// What was drawn, in order.
    pub fn drawn(self) -> Vec<Drawn> {
        self.drawn
    }
}

impl Draws for Recorded<'_> {
    fn draw<F: Field>(&mut self, draw: &Draw<F>, law: impl FnOnce(&mut Random) -> F) -> F {
        let forced = self.given.split_first().filter(|(next, _)| next.name == draw.name);
        let forced = forced.and_then(|(next, rest)| Some((next.read::<F>()?, rest)));
        let value = match forced {
            Some((value, rest)) => {
                self.given = rest;
                value
            }
            None => self.chance.draw(draw, law),
        };
        self.drawn.push(Drawn::of(draw, &value));
        value
    }
}
