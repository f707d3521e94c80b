//! Calls into a batch as Python makes them: they can be interrupted, and a panic is an error like others.

use std::any::Any;
use std::ffi::CString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use lockstep_batch::{Asked, BatchError, TeamError};
use pyo3::exceptions::{PyMemoryError, PyRuntimeError, PyRuntimeWarning};
use pyo3::prelude::*;

use crate::spec::refused;

/// Work during which Python may run other threads, and a signal (Ctrl-C) stops it and raises what its handler raises.
///
/// # Errors
/// What the signal's handler raised; [`Panicked`]: the work did; or what the work itself refused.
pub fn interruptible<E: Send>(
    py: Python<'_>,
    told: impl FnOnce(E) -> PyErr,
    work: impl FnOnce(Asked<'_>) -> Result<(), E> + Send,
) -> PyResult<()> {
    let raised: Mutex<Option<PyErr>> = Mutex::new(None);
    let asked = || match Python::attach(|py| py.check_signals()) {
        Ok(()) => false,
        Err(error) => {
            *raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            true
        }
    };
    let done = calm(|| py.detach(|| work(&asked)))?;
    match raised.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error),
        None => done.map_err(told),
    }
}

pyo3::create_exception!(lockstep_binding, Panicked, PyRuntimeError, "The environment's own code panicked.");

/// Work that may panic.
///
/// # Errors
/// [`Panicked`]: it did.
pub fn calm<T>(work: impl FnOnce() -> T) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(work))
        .map_err(|panic| Panicked::new_err(format!("the environment panicked: {}", said(panic.as_ref()))))
}

/// What a batch refused, as Python's error.
pub fn batch_error(error: BatchError) -> PyErr {
    match error {
        BatchError::Team(error) => team_error(&error),
        other => refused(other),
    }
}

/// Why there is no such batch, or not all of it worked, as Python's error.
pub fn team_error(error: &TeamError) -> PyErr {
    match error {
        TeamError::NoRoom(_) => PyMemoryError::new_err(error.to_string()),
        TeamError::Stopped | TeamError::Torn | TeamError::Threads(_) => PyRuntimeError::new_err(error.to_string()),
    }
}

/// Say so where there are fewer threads than were asked for.
///
/// # Errors
/// Warnings are errors.
pub fn tell_of_threads(py: Python<'_>, asked: usize, there: usize) -> PyResult<()> {
    if asked <= there {
        return Ok(());
    }
    let text = format!("{asked} threads were asked for; more than {there} are of no use here, so there are {there}");
    let text = CString::new(text).map_err(refused)?;
    PyErr::warn(py, &py.get_type::<PyRuntimeWarning>(), &text, 2)
}

/// A batch that two threads of Python use at once.
pub fn used_at_once() -> PyErr {
    PyRuntimeError::new_err("another thread is using this batch; make one for each thread")
}

fn said(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without words")
}
