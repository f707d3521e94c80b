//! What can be wrong with what a batch is asked.

use gameboy_core::{HEIGHT, StateError, WIDTH};
use lockstep_batch::TeamError;
use std::fmt;

/// Why a batch cannot be made or asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BatchError {
    /// The frame skip is 0.
    FrameSkip,
    /// A picture that is to be this many times smaller is not whole pixels.
    Downsample(usize),
    /// A picture is made smaller by averages, which shades have none of.
    Shades,
    /// The stack has no frame.
    Stack,
    /// An address at which there is a register and no memory.
    Register(u16),
    /// There is no console of this number.
    NoConsole {
        /// What was asked for.
        number: usize,
        /// How many there are.
        count: usize,
    },
    /// An array has another length than the consoles need.
    Length {
        /// What the array holds.
        what: &'static str,
        /// Its length.
        given: usize,
        /// What it should be.
        expected: usize,
    },
    /// A state cannot be loaded.
    State(StateError),
    /// A snapshot is of a console with another cartridge, boot ROM or option.
    OtherSnapshot,
    /// There is no room for it, or not all consoles worked to the end.
    Team(TeamError),
}

impl fmt::Display for BatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FrameSkip => write!(f, "a step of 0 frames; expected at least 1"),
            Self::Downsample(by) => {
                write!(f, "a picture of {WIDTH} by {HEIGHT} cannot be {by} times smaller; expected 1, 2, 4, 8 or 16")
            }
            Self::Shades => write!(f, "shades have no averages: downsampling needs grayscale"),
            Self::Stack => write!(f, "a stack of 0 pictures; expected at least 1"),
            Self::Register(address) => {
                write!(
                    f,
                    "at 0x{address:04X} there is a register; expected an address of memory, outside 0xFF00 to 0xFF7F"
                )
            }
            Self::NoConsole { number, count } => write!(f, "there is no environment {number}; there are {count}"),
            Self::Length { what, given, expected } => write!(f, "{given} {what} were given; expected {expected}"),
            Self::State(error) => write!(f, "{error}"),
            Self::OtherSnapshot => write!(f, "the snapshot is of a console with another cartridge, boot ROM or option"),
            Self::Team(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for BatchError {}

impl From<StateError> for BatchError {
    fn from(error: StateError) -> Self {
        Self::State(error)
    }
}

impl From<TeamError> for BatchError {
    fn from(error: TeamError) -> Self {
        Self::Team(error)
    }
}
