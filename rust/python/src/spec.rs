//! What is known of an environment before it is asked, as Python reads it; and options, as Rust reads them.

use std::collections::BTreeMap;

use lockstep_env::{Environment, Leaf, Leaves, Options, Setting};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyString};

/// `observation`, `action`, `state`, `reward`: lists of `(path, dtype, shape)`; `probes`: name to `(inputs, outputs)`.
pub fn described<E: Environment>(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let spec = PyDict::new(py);
    spec.set_item("observation", leaves(E::Observation::LEAVES))?;
    spec.set_item("action", leaves(E::Action::LEAVES))?;
    spec.set_item("state", leaves(E::State::LEAVES))?;
    spec.set_item("reward", leaves(E::Reward::LEAVES))?;
    let probes = PyDict::new(py);
    for probe in E::PROBES {
        probes.set_item(probe.name, (leaves(probe.inputs), leaves(probe.outputs)))?;
    }
    spec.set_item("probes", probes)?;
    Ok(spec)
}

fn leaves(leaves: &'static [Leaf]) -> Vec<(&'static str, &'static str, Vec<usize>)> {
    leaves.iter().map(|leaf| (leaf.path, leaf.dtype.name(), leaf.shape.to_vec())).collect()
}

/// A dictionary of settings.
///
/// # Errors
/// A value is no bool, integer, float, text or bytes.
pub fn options(given: &Bound<'_, PyDict>) -> PyResult<Options> {
    let mut settings = BTreeMap::new();
    for (name, value) in given.iter() {
        let name: String = name.extract()?;
        // A bool is an integer too, so it comes first.
        let setting = if value.is_instance_of::<PyBool>() {
            Setting::Bool(value.extract()?)
        } else if value.is_instance_of::<PyInt>() {
            Setting::Int(value.extract()?)
        } else if value.is_instance_of::<PyFloat>() {
            Setting::Float(value.extract()?)
        } else if value.is_instance_of::<PyString>() {
            Setting::Text(value.extract()?)
        } else if let Ok(bytes) = value.cast::<PyBytes>() {
            Setting::Bytes(bytes.as_bytes().to_vec())
        } else {
            let kind = value.get_type().name()?.to_string();
            return Err(PyTypeError::new_err(format!(
                "the option `{name}` is a {kind}; expected a bool, a number, text or bytes"
            )));
        };
        settings.insert(name, setting);
    }
    Ok(Options(settings))
}

/// An error of Rust as Python's ValueError.
pub fn refused(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}
