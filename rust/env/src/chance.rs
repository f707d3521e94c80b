//! Chance is explicit: whatever an environment draws has a name, and may come from outside instead.

use std::marker::PhantomData;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use crate::element::Element;
use crate::leaves::Field;
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

/// Chance that remembers what it gave.
#[derive(Debug)]
pub struct Recorded<'a> {
    pub chance: &'a mut Chance,
    /// What was drawn since it was made, in order.
    pub drawn: Vec<Drawn>,
}

impl<'a> Recorded<'a> {
    /// Nothing was drawn yet.
    pub fn new(chance: &'a mut Chance) -> Self {
        Recorded { chance, drawn: Vec::new() }
    }
}

impl Draws for Recorded<'_> {
    fn draw<F: Field>(&mut self, draw: &Draw<F>, law: impl FnOnce(&mut Random) -> F) -> F {
        let value = self.chance.draw(draw, law);
        self.drawn.push(Drawn::of(draw, &value));
        value
    }
}

/// The draws of one reset or step, given from outside, which must be taken in order and to the last.
#[derive(Debug)]
pub struct Tape<'a> {
    drawn: &'a [Drawn],
    taken: usize,
    wrong: Option<String>,
}

impl<'a> Tape<'a> {
    /// A tape at its begin.
    pub fn new(drawn: &'a [Drawn]) -> Self {
        Tape { drawn, taken: 0, wrong: None }
    }

    /// How the tape was taken.
    ///
    /// # Errors
    /// A draw was missing, had another name or type, or is left over; in words.
    pub fn end(self) -> Result<(), String> {
        match (self.wrong, self.drawn.get(self.taken)) {
            (Some(wrong), _) => Err(wrong),
            (None, Some(left)) => {
                Err(format!("the draw `{}` is left over ({} of {})", left.name, self.taken + 1, self.drawn.len()))
            }
            (None, None) => Ok(()),
        }
    }

    fn next<F: Field>(&mut self, draw: &Draw<F>) -> Result<F, String> {
        let Some(given) = self.drawn.get(self.taken) else {
            return Err(format!("a draw `{}` was made, but the tape has no more than {}", draw.name, self.taken));
        };
        if given.name != draw.name {
            return Err(format!("a draw `{}` was made where the tape has `{}`", draw.name, given.name));
        }
        let value = given.read().ok_or_else(|| {
            let wanted = (F::Element::DTYPE.name(), F::SHAPE);
            format!(
                "the draw `{}` is {}{:?}; the environment takes {}{:?}",
                draw.name,
                given.numbers.dtype().name(),
                given.shape,
                wanted.0,
                wanted.1
            )
        })?;
        self.taken += 1;
        Ok(value)
    }
}

impl Draws for Tape<'_> {
    /// After a first mistake the step goes on with numbers of no meaning; `end` tells of it.
    fn draw<F: Field>(&mut self, draw: &Draw<F>, law: impl FnOnce(&mut Random) -> F) -> F {
        if self.wrong.is_none() {
            match self.next(draw) {
                Ok(value) => return value,
                Err(wrong) => self.wrong = Some(wrong),
            }
        }
        law(&mut Random::seed_from_u64(0))
    }
}
