//! A candidate as an extension module of Python.

use pyo3::prelude::*;

#[pymodule]
fn lockstep_binding(module: &Bound<'_, PyModule>) -> PyResult<()> {
    lockstep_python::register::<candidate::LockstepEnvironment>(module)
}
