//! What an environment is, in Rust.
//!
//! An author writes one type that implements [`Environment`], for one instance and one step at a time, with structs of
//! named leaves made by [`leaves!`], and names it in one line: `lockstep_env::environment!(MyEnvironment);`. Everything
//! else, from batches on all cores to NumPy, is generic over the trait and lies in other crates.

#![forbid(unsafe_code)]

mod chance;
mod column;
mod columns;
mod element;
mod environment;
mod field;
mod leaves;
mod numbers;

pub use chance::{Chance, Draw, Drawn, Draws, Random};
pub use column::{Column, ColumnMut};
pub use columns::{Columns, ColumnsMut, Row, RowMut};
pub use element::{Dtype, Element};
pub use environment::{Environment, Frame, Options, Probe, Refused, Setting, Step, step_alone};
pub use field::{Field, Leaf};
pub use leaves::Leaves;
pub use numbers::Numbers;
/// What laws of draws are written with.
pub use rand_xoshiro::rand_core::Rng;
