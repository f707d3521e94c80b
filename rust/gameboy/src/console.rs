//! One console, to look at closely.

use lockstep_gameboy_batch::BOOT;
use lockstep_gameboy_batch::core::{GameBoy, HEIGHT, Registers, WIDTH};
use numpy::PyArray1;
use numpy::PyArray2;
use numpy::PyArrayMethods;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::options::{cartridge, no_state, options};

/// After so many frames a console looks for signals (Ctrl-C).
const FRAMES_AT_ONCE: u32 = 64;

/// One console with a cartridge in it.
#[pyclass]
pub struct Console(GameBoy);

#[pymethods]
impl Console {
    /// A console that was just switched on.
    #[new]
    #[pyo3(signature = (rom, *, boot_rom=Some(&BOOT[..]), sound=true, shortcuts=true))]
    fn new(rom: &[u8], boot_rom: Option<&[u8]>, sound: bool, shortcuts: bool) -> PyResult<Self> {
        Ok(Self(GameBoy::new(cartridge(rom)?, options(boot_rom, sound, shortcuts)?)))
    }

    /// Run so many frames with these buttons held (a bit for each); the last is drawn if `render`.
    #[pyo3(signature = (frames=1, buttons=0, render=true))]
    fn run(&mut self, py: Python<'_>, frames: u32, buttons: u8, render: bool) -> PyResult<()> {
        let console = &mut self.0;
        console.set_buttons(buttons);
        let mut left = frames;
        while left > 0 {
            let some = left.min(FRAMES_AT_ONCE);
            left -= some;
            py.detach(|| console.tick(some, render && left == 0, left == 0));
            py.check_signals()?;
        }
        Ok(())
    }

    /// The screen, uint8 `[144, 160]`: shades from 0 (white) to 3 (black).
    fn screen<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<u8>>> {
        PyArray1::from_slice(py, self.0.screen()).reshape([HEIGHT, WIDTH])
    }

    /// The registers by name, with the clock since power-on and how the processor is.
    fn registers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let found = described(py, self.0.registers())?;
        found.set_item("clock", self.0.clock())?;
        found.set_item("interrupts_enabled", self.0.interrupts_enabled())?;
        found.set_item("halted", self.0.is_halted())?;
        found.set_item("locked", self.0.is_locked())?;
        Ok(found)
    }

    /// The registers as they were at the last `ld b, b` since this was last asked; None where there was none.
    fn take_mark<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        self.0.take_mark().map(|registers| described(py, registers)).transpose()
    }

    /// The bytes that were sent over the serial port since this was last asked.
    fn take_serial<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.take_serial())
    }

    /// Read an address as a program does, with what that does to the console.
    fn read(&mut self, address: u16) -> u8 {
        self.0.read(address)
    }

    /// Write an address as a program does.
    fn write(&mut self, address: u16, value: u8) {
        self.0.write(address, value);
    }

    /// The byte of memory at an address, whether a program could read it now or not; None where a register is.
    fn peek(&self, address: u16) -> Option<u8> {
        self.0.peek(address)
    }

    /// The whole state as bytes.
    fn save<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let mut out = Vec::new();
        self.0.save(&mut out);
        PyBytes::new(py, &out)
    }

    /// Take on a state that `save` gave for the same cartridge and options.
    fn load(&mut self, state: &[u8]) -> PyResult<()> {
        self.0.load(state).map_err(no_state)
    }

    /// The title in the cartridge's header.
    #[getter]
    fn title(&self) -> String {
        self.0.cartridge().title()
    }

    /// Bytes that the console takes beside the ROM.
    #[getter]
    fn memory_bytes(&self) -> usize {
        self.0.memory_bytes()
    }
}

/// Registers by name.
pub fn described<'py>(py: Python<'py>, registers: Registers) -> PyResult<Bound<'py, PyDict>> {
    let Registers { a, f, b, c, d, e, h, l, sp, pc } = registers;
    let found = PyDict::new(py);
    for (name, value) in [("a", a), ("f", f), ("b", b), ("c", c), ("d", d), ("e", e), ("h", h), ("l", l)] {
        found.set_item(name, value)?;
    }
    found.set_item("sp", sp)?;
    found.set_item("pc", pc)?;
    Ok(found)
}
