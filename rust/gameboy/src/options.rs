//! What a console is made of, as Python gives it.

use std::sync::Arc;

use lockstep_gameboy_batch::BatchError;
use lockstep_gameboy_batch::core::{Cartridge, Options, Sound, StateError};
use lockstep_python::calls::team_error;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Samples in a second, as PyBoy takes them.
const SAMPLE_RATE: u32 = 48_000;

/// The cartridge of a ROM.
///
/// # Errors
/// ValueError: these bytes are no ROM that can be run.
pub fn cartridge(rom: &[u8]) -> PyResult<Arc<Cartridge>> {
    match Cartridge::parse(rom.to_vec()) {
        Ok(cartridge) => Ok(Arc::new(cartridge)),
        Err(error) => Err(PyValueError::new_err(error.to_string())),
    }
}

/// The options of a console.
///
/// # Errors
/// ValueError: the boot ROM has another size.
pub fn options(boot_rom: Option<&[u8]>, sound: bool, shortcuts: bool) -> PyResult<Options> {
    let boot_rom = boot_rom
        .map(|bytes| {
            <[u8; 256]>::try_from(bytes)
                .map(Arc::new)
                .map_err(|_| PyValueError::new_err(format!("the boot ROM has {} bytes; expected 256", bytes.len())))
        })
        .transpose()?;
    let sound = if sound { Sound::On { sample_rate: SAMPLE_RATE } } else { Sound::Off };
    Ok(Options { boot_rom, sound, shortcuts })
}

/// What a batch refused.
pub fn refused(error: BatchError) -> PyErr {
    match error {
        BatchError::Team(error) => team_error(&error),
        other => PyValueError::new_err(other.to_string()),
    }
}

/// A state that cannot be loaded.
pub fn no_state(error: StateError) -> PyErr {
    PyValueError::new_err(error.to_string())
}
