//! Structs whose fields are leaves: named arrays of a fixed type and shape.

use crate::columns::{Row, RowMut};
use crate::element::Element;
use crate::field::Leaf;

/// A struct of leaves; [`leaves!`](crate::leaves!) makes one.
pub trait Leaves: Clone + std::fmt::Debug + Send + Sync + 'static {
    /// Its leaves, in the order of the fields.
    const LEAVES: &'static [Leaf];

    /// Write every leaf.
    fn store(&self, row: &mut RowMut<'_, '_>);

    /// The inverse of `store`.
    fn load(row: &Row<'_>) -> Self;
}

/// A number alone is the one leaf `reward`.
impl<T: Element> Leaves for T {
    const LEAVES: &'static [Leaf] = &[Leaf { path: "reward", dtype: T::DTYPE, shape: &[] }];

    #[inline]
    fn store(&self, row: &mut RowMut<'_, '_>) {
        row.set(0, self);
    }

    #[inline]
    fn load(row: &Row<'_>) -> Self {
        row.get(0)
    }
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
            $($(#[$attribute:meta])* $seen:vis $field:ident : $kind:ty $(=> $path:literal)?),* $(,)?
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq)]
        $visible struct $name {
            $($(#[$attribute])* $seen $field: $kind),*
        }

        impl $crate::Leaves for $name {
            const LEAVES: &'static [$crate::Leaf] = &[$($crate::Leaf {
                path: $crate::leaves!(@path $field $($path)?),
                dtype: <<$kind as $crate::Field>::Element as $crate::Element>::DTYPE,
                shape: <$kind as $crate::Field>::SHAPE,
            }),*];

            #[inline]
            fn store(&self, row: &mut $crate::RowMut<'_, '_>) {
                let mut index = 0;
                $(
                    row.set(index, &self.$field);
                    index += 1;
                )*
                let _ = index;
            }

            #[inline]
            fn load(row: &$crate::Row<'_>) -> Self {
                let mut index = 0..;
                $name {
                    $($field: row.get(index.next().unwrap_or_default())),*
                }
            }
        }
    };
}
