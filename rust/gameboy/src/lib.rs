//! Game Boys as Python sees them: [`console::Console`], one that is looked at closely, and [`batch::Batch`], many that step
//! together into NumPy's arrays while Python may run other threads.

mod batch;
mod console;
mod options;

use lockstep_gameboy_batch::BOOT;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("BOOT", PyBytes::new(module.py(), &BOOT))?;
    module.add_class::<console::Console>()?;
    module.add_class::<batch::Batch>()?;
    module.add_class::<batch::Snapshot>()
}
