//! Numbers of any type that own themselves: what goes over borders where types are not known beforehand.

use crate::element::Dtype;

macro_rules! numbers {
    ($($variant:ident($element:ty)),+ $(,)?) => {
        /// Numbers of one type, flat.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Numbers {
            $($variant(Vec<$element>),)+
        }

        impl Numbers {
            /// The type of each.
            pub fn dtype(&self) -> Dtype {
                match self { $(Numbers::$variant(_) => Dtype::$variant,)+ }
            }

            /// Zeros of a type.
            pub fn zeros(dtype: Dtype, count: usize) -> Self {
                match dtype { $(Dtype::$variant => Numbers::$variant(vec![<$element>::default(); count]),)+ }
            }

            /// As a column, to be read.
            pub fn column(&self) -> crate::Column<'_> {
                match self { $(Numbers::$variant(numbers) => crate::Column::$variant(numbers),)+ }
            }

            /// As a column, to be written.
            pub fn column_mut(&mut self) -> crate::ColumnMut<'_> {
                match self { $(Numbers::$variant(numbers) => crate::ColumnMut::$variant(numbers),)+ }
            }
        }
    };
}

numbers! {
    Bool(bool), Int8(i8), Int16(i16), Int32(i32), Int64(i64), Uint8(u8), Uint16(u16), Uint32(u32), Uint64(u64),
    Float32(f32), Float64(f64),
}
