//! The numbers that a leaf is made of.

use crate::column::{Column, ColumnMut};

/// NumPy's name of an element's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dtype {
    Bool,
    Int8,
    Int16,
    Int32,
    Int64,
    Uint8,
    Uint16,
    Uint32,
    Uint64,
    Float32,
    Float64,
}

impl Dtype {
    /// As task.toml and NumPy write it.
    pub const fn name(self) -> &'static str {
        match self {
            Dtype::Bool => "bool",
            Dtype::Int8 => "int8",
            Dtype::Int16 => "int16",
            Dtype::Int32 => "int32",
            Dtype::Int64 => "int64",
            Dtype::Uint8 => "uint8",
            Dtype::Uint16 => "uint16",
            Dtype::Uint32 => "uint32",
            Dtype::Uint64 => "uint64",
            Dtype::Float32 => "float32",
            Dtype::Float64 => "float64",
        }
    }

    /// Of one value.
    pub const fn bytes(self) -> usize {
        match self {
            Dtype::Bool | Dtype::Int8 | Dtype::Uint8 => 1,
            Dtype::Int16 | Dtype::Uint16 => 2,
            Dtype::Int32 | Dtype::Uint32 | Dtype::Float32 => 4,
            Dtype::Int64 | Dtype::Uint64 | Dtype::Float64 => 8,
        }
    }
}

macro_rules! kinds {
    ($($variant:ident),+ $(,)?) => {
        impl Dtype {
            /// Whether a column holds this type.
            pub(crate) fn is(self, column: &Column<'_>) -> bool {
                matches!((self, column), $((Dtype::$variant, Column::$variant(_)))|+)
            }

            /// Whether a column that is to be written holds this type.
            pub(crate) fn is_mut(self, column: &ColumnMut<'_>) -> bool {
                matches!((self, column), $((Dtype::$variant, ColumnMut::$variant(_)))|+)
            }
        }
    };
}

kinds!(Bool, Int8, Int16, Int32, Int64, Uint8, Uint16, Uint32, Uint64, Float32, Float64);

/// A type that arrays can be made of: `bool`, the integers of 8 to 64 bits, `f32` and `f64`.
pub trait Element: Copy + Default + PartialEq + std::fmt::Debug + Send + Sync + 'static {
    /// Its type, as NumPy knows it.
    const DTYPE: Dtype;

    /// The numbers of a column of this type; None where it has another.
    fn of<'a>(column: &Column<'a>) -> Option<&'a [Self]>;

    /// The numbers of a column of this type, to be written; None where it has another.
    fn of_mut(column: ColumnMut<'_>) -> Option<&mut [Self]>;
}

macro_rules! elements {
    ($($element:ty => $variant:ident),+ $(,)?) => {$(
        impl Element for $element {
            const DTYPE: Dtype = Dtype::$variant;

            fn of<'a>(column: &Column<'a>) -> Option<&'a [Self]> {
                match column {
                    Column::$variant(numbers) => Some(numbers),
                    _ => None,
                }
            }

            fn of_mut(column: ColumnMut<'_>) -> Option<&mut [Self]> {
                match column {
                    ColumnMut::$variant(numbers) => Some(numbers),
                    _ => None,
                }
            }
        }
    )+};
}

elements! {
    bool => Bool, i8 => Int8, i16 => Int16, i32 => Int32, i64 => Int64, u8 => Uint8, u16 => Uint16, u32 => Uint32,
    u64 => Uint64, f32 => Float32, f64 => Float64,
}
