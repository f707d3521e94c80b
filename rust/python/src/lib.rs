//! Environments in Rust as Python sees them.
//!
//! [`register`] puts an environment into a module: a factory of [`Instance`], one environment that is asked step by step,
//! and of [`VectorEnv`], many that step together. Arrays belong to NumPy, are allocated once by whoever asks, and are
//! written in place while Python may run other threads.

mod arrays;
pub mod calls;
mod instance;
mod spec;
mod vector;

use lockstep_env::Environment;
use pyo3::prelude::*;
use pyo3::types::PyDict;

pub use instance::Instance;
pub use vector::{Results, VectorEnv};

/// Where instances and sub-environments of an environment come from.
#[pyclass(frozen)]
pub struct Factory {
    instance: fn(&Bound<'_, PyDict>) -> PyResult<Instance>,
    vector: fn(&Bound<'_, PyDict>, usize, &str, usize) -> PyResult<VectorEnv>,
}

#[pymethods]
impl Factory {
    /// One environment that was not yet reset.
    fn instance(&self, options: &Bound<'_, PyDict>) -> PyResult<Instance> {
        (self.instance)(options)
    }

    /// So many environments, with an auto-reset mode (`next_step`, `same_step` or `disabled`), on so many threads.
    fn vector(&self, options: &Bound<'_, PyDict>, num_envs: usize, mode: &str, threads: usize) -> PyResult<VectorEnv> {
        (self.vector)(options, num_envs, mode, threads)
    }
}

/// Put an environment into a module: `environment`, from which instances and sub-environments are made, `SPEC`, and what
/// either raises: `Panicked` where the environment's own code panics, `Unfit` where an array is not as its leaf is held.
///
/// # Errors
/// Python cannot make the objects.
pub fn register<E: Environment>(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Instance>()?;
    module.add_class::<VectorEnv>()?;
    module.add_class::<Results>()?;
    module.add("Panicked", module.py().get_type::<calls::Panicked>())?;
    module.add("Unfit", module.py().get_type::<arrays::Unfit>())?;
    module.add("SPEC", spec::described::<E>(module.py())?)?;
    module.add("environment", Factory { instance: instance::begin::<E>, vector: vector::begin::<E> })
}
