//! Leaves of many instances: for each leaf one array `[instances, ...]`, which somebody else owns.

use crate::column::{Column, ColumnMut};
use crate::element::Element;
use crate::field::{Field, Leaf};

/// All leaves of `rows` instances.
#[derive(Clone, Debug)]
pub struct Columns<'a> {
    leaves: &'static [Leaf],
    columns: Vec<Column<'a>>,
    rows: usize,
}

/// All leaves of `rows` instances, to be written.
#[derive(Debug)]
pub struct ColumnsMut<'a> {
    leaves: &'static [Leaf],
    columns: Vec<ColumnMut<'a>>,
    rows: usize,
}

impl<'a> Columns<'a> {
    /// Columns in the order of `leaves`; None where one has another type or length.
    pub fn new(leaves: &'static [Leaf], columns: Vec<Column<'a>>, rows: usize) -> Option<Self> {
        let fits = columns.len() == leaves.len()
            && columns
                .iter()
                .zip(leaves)
                .all(|(column, leaf)| column.len() == rows * leaf.size() && leaf.dtype.is(column));
        fits.then_some(Columns { leaves, columns, rows })
    }

    /// How many instances there are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// One instance's leaves.
    #[inline]
    pub fn row(&self, row: usize) -> Row<'_> {
        assert!(row < self.rows, "row {row} of {}", self.rows);
        Row { columns: self, row }
    }

    /// The first `rows` instances, and the others.
    pub fn split_at(self, rows: usize) -> (Self, Self) {
        let Columns { leaves, columns, rows: all } = self;
        let (left, right) =
            columns.into_iter().zip(leaves).map(|(column, leaf)| column.split_at(rows * leaf.size())).unzip();
        (Columns { leaves, columns: left, rows }, Columns { leaves, columns: right, rows: all - rows })
    }
}

impl<'a> ColumnsMut<'a> {
    /// Columns in the order of `leaves`; None where one has another type or length.
    pub fn new(leaves: &'static [Leaf], columns: Vec<ColumnMut<'a>>, rows: usize) -> Option<Self> {
        let fits = columns.len() == leaves.len()
            && columns
                .iter()
                .zip(leaves)
                .all(|(column, leaf)| column.len() == rows * leaf.size() && leaf.dtype.is_mut(column));
        fits.then_some(ColumnsMut { leaves, columns, rows })
    }

    /// How many instances there are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// One instance's leaves, to be written.
    #[inline]
    pub fn row(&mut self, row: usize) -> RowMut<'_, 'a> {
        assert!(row < self.rows, "row {row} of {}", self.rows);
        RowMut { columns: self, row }
    }

    /// The first `rows` instances, and the others.
    pub fn split_at(self, rows: usize) -> (Self, Self) {
        let ColumnsMut { leaves, columns, rows: all } = self;
        let (left, right) =
            columns.into_iter().zip(leaves).map(|(column, leaf)| column.split_at(rows * leaf.size())).unzip();
        (ColumnsMut { leaves, columns: left, rows }, ColumnsMut { leaves, columns: right, rows: all - rows })
    }
}

/// One instance's leaves.
#[derive(Clone, Copy, Debug)]
pub struct Row<'c> {
    columns: &'c Columns<'c>,
    row: usize,
}

/// One instance's leaves, to be written.
#[derive(Debug)]
pub struct RowMut<'c, 'a> {
    columns: &'c mut ColumnsMut<'a>,
    row: usize,
}

impl<'c> Row<'c> {
    /// The numbers of leaf `index`, flat, in C order.
    ///
    /// # Panics
    /// Where there is no such leaf, or it has another type: a mistake in the environment's code.
    #[inline]
    pub fn numbers<T: Element>(&self, index: usize) -> &'c [T] {
        let size = self.columns.leaves[index].size();
        let numbers = T::of(&self.columns.columns[index]).expect("a leaf of this type");
        &numbers[self.row * size..(self.row + 1) * size]
    }

    /// Leaf `index` as a field's type.
    #[inline]
    pub fn get<F: Field>(&self, index: usize) -> F {
        F::load(self.numbers(index))
    }
}

impl RowMut<'_, '_> {
    /// The numbers of leaf `index`, flat, in C order: for what is best written in place.
    ///
    /// # Panics
    /// Where there is no such leaf, or it has another type: a mistake in the environment's code.
    #[inline]
    pub fn numbers<T: Element>(&mut self, index: usize) -> &mut [T] {
        let size = self.columns.leaves[index].size();
        let numbers = T::of_mut(self.columns.columns[index].borrowed()).expect("a leaf of this type");
        &mut numbers[self.row * size..(self.row + 1) * size]
    }

    /// Write zeros into every leaf.
    #[inline]
    pub fn clear(&mut self) {
        for (leaf, column) in self.columns.leaves.iter().zip(&mut self.columns.columns) {
            column.clear(self.row * leaf.size()..(self.row + 1) * leaf.size());
        }
    }

    /// Write a field into leaf `index`.
    #[inline]
    pub fn set<F: Field>(&mut self, index: usize, field: &F) {
        field.store(self.numbers(index));
    }
}
