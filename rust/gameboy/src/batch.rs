//! Many consoles at once.

use std::sync::Arc;

use lockstep_gameboy_batch::core::Cartridge;
use lockstep_gameboy_batch::{Picture, Seen};
use lockstep_python::calls::{interruptible, tell_of_threads, used_at_once};
use numpy::{PyArrayDyn, PyArrayMethods, PyReadonlyArray1, PyReadwriteArrayDyn};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple, PyType};

use crate::console::described;
use crate::options::{cartridge, options, refused};

type Written<'py> = PyReadwriteArrayDyn<'py, u8>;
/// An array that another thread may be writing to.
type Shared<'py> = Bound<'py, PyArrayDyn<u8>>;

/// Consoles that step together.
#[pyclass]
pub struct Batch {
    inner: lockstep_gameboy_batch::Batch,
    shape: [usize; 3],
    made_of: Arc<MadeOf>,
}

/// What a console was made of, for a copy of it in another process.
struct MadeOf {
    cartridge: Arc<Cartridge>,
    boot_rom: Option<Vec<u8>>,
    sound: bool,
}

/// A console as it was. It can be pickled: with its ROM and its whole state.
#[pyclass(frozen, module = "lockstep_gameboy")]
pub struct Snapshot {
    inner: lockstep_gameboy_batch::Snapshot,
    made_of: Arc<MadeOf>,
}

#[pymethods]
impl Snapshot {
    /// A console of these parts in a state that was saved.
    #[new]
    fn new(rom: &[u8], boot_rom: Option<Vec<u8>>, sound: bool, state: &[u8]) -> PyResult<Self> {
        let options = options(boot_rom.as_deref(), sound, true)?;
        let cartridge = cartridge(rom)?;
        let inner = lockstep_gameboy_batch::Snapshot::of(cartridge.clone(), options, state).map_err(refused)?;
        Ok(Self { inner, made_of: Arc::new(MadeOf { cartridge, boot_rom, sound }) })
    }

    /// How pickle makes it again.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyType>, Bound<'py, PyTuple>)> {
        let (py, Self { inner, made_of }) = (slf.py(), slf.get());
        let bytes = |bytes: &[u8]| PyBytes::new(py, bytes);
        let boot_rom = made_of.boot_rom.as_deref().map(bytes);
        let parts = (bytes(made_of.cartridge.rom()), boot_rom, made_of.sound, bytes(&inner.save()));
        Ok((slf.get_type(), parts.into_pyobject(py)?))
    }
}

#[pymethods]
impl Batch {
    /// Consoles that were just switched on.
    #[new]
    #[pyo3(signature = (rom, count, frame_skip, *, boot_rom, sound, grayscale, downsample, stack, addresses, threads))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        rom: &[u8],
        count: usize,
        frame_skip: u32,
        boot_rom: Option<&[u8]>,
        sound: bool,
        grayscale: bool,
        downsample: usize,
        stack: usize,
        addresses: Vec<u16>,
        threads: usize,
    ) -> PyResult<Self> {
        let picture = Picture::new(grayscale, downsample, stack).map_err(refused)?;
        let options = options(boot_rom, sound, true)?;
        let cartridge = cartridge(rom)?;
        let held = cartridge.clone();
        let inner =
            lockstep_gameboy_batch::Batch::new(cartridge, options, count, frame_skip, picture, addresses, threads);
        let inner = inner.map_err(refused)?;
        tell_of_threads(py, threads, inner.threads())?;
        let boot_rom = boot_rom.map(<[u8]>::to_vec);
        let made_of = Arc::new(MadeOf { cartridge: held, boot_rom, sound });
        Ok(Self { inner, shape: picture.shape(), made_of })
    }

    fn __len__(&self) -> usize {
        self.inner.len()
    }

    /// On how many threads they step.
    #[getter]
    fn threads(&self) -> usize {
        self.inner.threads()
    }

    /// Pictures, lines and columns of an observation.
    #[getter]
    fn shape(&self) -> (usize, usize, usize) {
        self.shape.into()
    }

    /// Bytes that each console takes beside the ROM.
    #[getter]
    fn memory_bytes(&self) -> usize {
        self.inner.memory_bytes()
    }

    /// Say how episodes begin.
    fn set_start(&mut self, states: Vec<Vec<u8>>, idle_frames: u32, random_frames: u32) -> PyResult<()> {
        let states: Vec<&[u8]> = states.iter().map(Vec::as_slice).collect();
        self.inner.set_start(&states, idle_frames, random_frames).map_err(refused)
    }

    /// Begin an episode in every console, or in those of a mask, each from its seed.
    fn reset(
        slf: &Bound<'_, Self>,
        seeds: PyReadonlyArray1<'_, u64>,
        mask: Option<PyReadonlyArray1<'_, bool>>,
        pictures: &Shared<'_>,
        memory: &Shared<'_>,
    ) -> PyResult<()> {
        let batch = &mut slf.try_borrow_mut().map_err(|_| used_at_once())?.inner;
        let (mut pictures, mut memory) = (pictures.try_readwrite()?, memory.try_readwrite()?);
        let seeds = seeds.as_slice()?;
        let mask = mask.as_ref().map(|mask| mask.as_slice()).transpose()?;
        let seen = Seen { pictures: pictures.as_slice_mut()?, memory: memory.as_slice_mut()? };
        interruptible(slf.py(), refused, |asked| batch.reset_unless(seeds, mask, seen, asked))
    }

    /// Hold buttons for the frames of a step.
    fn step(
        slf: &Bound<'_, Self>,
        buttons: PyReadonlyArray1<'_, u8>,
        pictures: &Shared<'_>,
        memory: &Shared<'_>,
    ) -> PyResult<()> {
        let batch = &mut slf.try_borrow_mut().map_err(|_| used_at_once())?.inner;
        let (mut pictures, mut memory) = (pictures.try_readwrite()?, memory.try_readwrite()?);
        let buttons = buttons.as_slice()?;
        let seen = Seen { pictures: pictures.as_slice_mut()?, memory: memory.as_slice_mut()? };
        interruptible(slf.py(), refused, |asked| batch.step_unless(buttons, seen, asked))
    }

    /// The whole state of a console as bytes.
    fn save<'py>(&self, py: Python<'py>, number: usize) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.inner.save(number).map_err(refused)?))
    }

    /// Put a state into a console.
    fn load(
        &mut self,
        number: usize,
        state: &[u8],
        mut pictures: Written<'_>,
        mut memory: Written<'_>,
    ) -> PyResult<()> {
        let seen = Seen { pictures: pictures.as_slice_mut()?, memory: memory.as_slice_mut()? };
        self.inner.load(number, state, seen).map_err(refused)
    }

    /// A console as it is now, kept in memory.
    fn snapshot(&self, number: usize) -> PyResult<Snapshot> {
        Ok(Snapshot { inner: self.inner.snapshot(number).map_err(refused)?, made_of: self.made_of.clone() })
    }

    /// Put a snapshot into a console.
    fn restore(
        &mut self,
        number: usize,
        snapshot: &Snapshot,
        mut pictures: Written<'_>,
        mut memory: Written<'_>,
    ) -> PyResult<()> {
        let seen = Seen { pictures: pictures.as_slice_mut()?, memory: memory.as_slice_mut()? };
        self.inner.restore(number, &snapshot.inner, seen).map_err(refused)
    }

    /// Bytes of a console's memory.
    fn peek<'py>(&self, py: Python<'py>, number: usize, address: u16, length: usize) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.inner.peek(number, address, length).map_err(refused)?))
    }

    /// A console's registers by name, with its clock.
    fn registers<'py>(&self, py: Python<'py>, number: usize) -> PyResult<Bound<'py, PyDict>> {
        let (registers, clock) = self.inner.registers(number).map_err(refused)?;
        let found = described(py, registers)?;
        found.set_item("clock", clock)?;
        Ok(found)
    }
}
