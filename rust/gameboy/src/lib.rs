//! Game Boys as Python sees them: [`console::Console`], one that is looked at closely, and [`batch::Batch`], many that step
//! together into NumPy's arrays while Python may run other threads.

mod batch;
mod console;
mod options;

use pyo3::prelude::*;

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<console::Console>()?;
    module.add_class::<batch::Batch>()?;
    module.add_class::<batch::Snapshot>()
}
