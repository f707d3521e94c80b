//! What a leaf is: a path, a type and a shape; and the types that a field can have.

use crate::element::{Dtype, Element};

/// What is known of a leaf before there is any value: task.toml says the same of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// Where it stands, relative to what it is a part of: `board` in an observation, `paddle/y` in a state.
    pub path: &'static str,
    pub dtype: Dtype,
    pub shape: &'static [usize],
}

impl Leaf {
    /// How many numbers it has.
    pub const fn size(&self) -> usize {
        let (mut size, mut axis) = (1, 0);
        while axis < self.shape.len() {
            size *= self.shape[axis];
            axis += 1;
        }
        size
    }
}

/// What a field of such a struct can be: a number, or an array of numbers of one, two or three axes.
pub trait Field: Sized {
    /// What it consists of.
    type Element: Element;
    /// Its shape, as NumPy has it.
    const SHAPE: &'static [usize];

    /// Write its numbers, in C order, to a slice of exactly as many.
    fn store(&self, numbers: &mut [Self::Element]);

    /// The inverse of `store`.
    fn load(numbers: &[Self::Element]) -> Self;
}

impl<T: Element> Field for T {
    type Element = T;
    const SHAPE: &'static [usize] = &[];

    fn store(&self, numbers: &mut [T]) {
        numbers[0] = *self;
    }

    fn load(numbers: &[T]) -> Self {
        numbers[0]
    }
}

impl<T: Element, const A: usize> Field for [T; A] {
    type Element = T;
    const SHAPE: &'static [usize] = &[A];

    fn store(&self, numbers: &mut [T]) {
        numbers.copy_from_slice(self);
    }

    fn load(numbers: &[T]) -> Self {
        std::array::from_fn(|index| numbers[index])
    }
}

impl<T: Element, const A: usize, const B: usize> Field for [[T; B]; A] {
    type Element = T;
    const SHAPE: &'static [usize] = &[A, B];

    fn store(&self, numbers: &mut [T]) {
        numbers.copy_from_slice(self.as_flattened());
    }

    fn load(numbers: &[T]) -> Self {
        std::array::from_fn(|row| std::array::from_fn(|column| numbers[row * B + column]))
    }
}

impl<T: Element, const A: usize, const B: usize, const C: usize> Field for [[[T; C]; B]; A] {
    type Element = T;
    const SHAPE: &'static [usize] = &[A, B, C];

    fn store(&self, numbers: &mut [T]) {
        numbers.copy_from_slice(self.as_flattened().as_flattened());
    }

    fn load(numbers: &[T]) -> Self {
        std::array::from_fn(|plane| {
            std::array::from_fn(|row| std::array::from_fn(|column| numbers[(plane * B + row) * C + column]))
        })
    }
}
