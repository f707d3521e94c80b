//! Structs whose fields are leaves: named arrays of a fixed type and shape.

use crate::columns::{Row, RowMut};
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

/// A struct of leaves; [`leaves!`](crate::leaves!) makes one.
pub trait Leaves: Clone + std::fmt::Debug + Send + Sync + 'static {
    /// Its leaves, in the order of the fields.
    const LEAVES: &'static [Leaf];

    /// Write every leaf.
    fn store(&self, row: &mut RowMut<'_, '_>);

    /// The inverse of `store`.
    fn load(row: &Row<'_>) -> Self;
}

/// Define a struct of leaves. A field's path is its name, unless another is given.
///
/// ```
/// lockstep_env::leaves! {
///     /// What the player sees.
///     pub struct Seen {
///         pub board: [[i8; 3]; 3],
///         pub to_move: u8 => "to/move",
///     }
/// }
/// assert_eq!(<Seen as lockstep_env::Leaves>::LEAVES[1].path, "to/move");
/// ```
#[macro_export]
macro_rules! leaves {
    (@path $field:ident) => { stringify!($field) };
    (@path $field:ident $path:literal) => { $path };
    (
        $(#[$about:meta])*
        $visible:vis struct $name:ident {
            $($(#[$told:meta])* $seen:vis $field:ident : $kind:ty $(=> $path:literal)?),* $(,)?
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq)]
        $visible struct $name {
            $($(#[$told])* $seen $field: $kind),*
        }

        impl $crate::Leaves for $name {
            const LEAVES: &'static [$crate::Leaf] = &[$($crate::Leaf {
                path: $crate::leaves!(@path $field $($path)?),
                dtype: <<$kind as $crate::Field>::Element as $crate::Element>::DTYPE,
                shape: <$kind as $crate::Field>::SHAPE,
            }),*];

            fn store(&self, row: &mut $crate::RowMut<'_, '_>) {
                let mut index = 0;
                $(
                    row.set(index, &self.$field);
                    index += 1;
                )*
                let _ = index;
            }

            fn load(row: &$crate::Row<'_>) -> Self {
                let mut index = 0..;
                $name {
                    $($field: row.get(index.next().unwrap_or_default())),*
                }
            }
        }
    };
}
