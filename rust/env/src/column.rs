//! One leaf of many instances: the numbers of all of them, behind each other.

macro_rules! columns {
    ($($variant:ident($element:ty)),+ $(,)?) => {
        /// One leaf of many instances.
        #[derive(Clone, Copy, Debug)]
        pub enum Column<'a> {
            $($variant(&'a [$element]),)+
        }

        /// One leaf of many instances, to be written.
        #[derive(Debug)]
        pub enum ColumnMut<'a> {
            $($variant(&'a mut [$element]),)+
        }

        impl<'a> Column<'a> {
            /// How many numbers it holds.
            pub fn len(&self) -> usize {
                match self { $(Column::$variant(numbers) => numbers.len(),)+ }
            }

            pub(crate) fn split_at(self, middle: usize) -> (Self, Self) {
                match self {
                    $(Column::$variant(numbers) => {
                        let (left, right) = numbers.split_at(middle);
                        (Column::$variant(left), Column::$variant(right))
                    })+
                }
            }
        }

        impl<'a> ColumnMut<'a> {
            /// How many numbers it holds.
            pub fn len(&self) -> usize {
                match self { $(ColumnMut::$variant(numbers) => numbers.len(),)+ }
            }

            /// The same numbers, borrowed for a shorter time.
            pub fn borrowed(&mut self) -> ColumnMut<'_> {
                match self { $(ColumnMut::$variant(numbers) => ColumnMut::$variant(numbers),)+ }
            }

            /// Write zeros to some of its numbers.
            pub(crate) fn clear(&mut self, numbers: std::ops::Range<usize>) {
                match self { $(ColumnMut::$variant(all) => all[numbers].fill(<$element>::default()),)+ }
            }

            pub(crate) fn split_at(self, middle: usize) -> (Self, Self) {
                match self {
                    $(ColumnMut::$variant(numbers) => {
                        let (left, right) = numbers.split_at_mut(middle);
                        (ColumnMut::$variant(left), ColumnMut::$variant(right))
                    })+
                }
            }
        }
    };
}

columns! {
    Bool(bool), Int8(i8), Int16(i16), Int32(i32), Int64(i64), Uint8(u8), Uint16(u16), Uint32(u32), Uint64(u64),
    Float32(f32), Float64(f64),
}

impl Column<'_> {
    /// Whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl ColumnMut<'_> {
    /// Whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
