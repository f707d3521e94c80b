//! Many Game Boys that step together.
//!
//! A [`Batch`] owns consoles that share one ROM. What is seen of them goes into arrays of somebody else, in which every
//! console has its row; nothing is allocated while they step, and nothing depends on how many threads there are.

mod batch;
mod boot;
mod error;
mod frames;
mod picture;
mod start;

pub use batch::{Batch, Seen, Snapshot};
pub use boot::BOOT;
pub use error::BatchError;
pub use picture::Picture;
pub use start::Start;

pub use gameboy_core as core;
