//! The native environments as one extension module of Python, each in a module of its own.

use lockstep_env::Environment;
use pyo3::prelude::*;

#[pymodule]
fn lockstep_native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    add::<lockstep_pong::LockstepEnvironment>(module, "pong")
}

fn add<E: Environment>(module: &Bound<'_, PyModule>, name: &str) -> PyResult<()> {
    let own = PyModule::new(module.py(), name)?;
    lockstep_python::register::<E>(&own)?;
    module.add_submodule(&own)
}
