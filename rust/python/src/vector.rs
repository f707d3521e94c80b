//! Many environments at once: what users train on.

use lockstep_batch::{Autoreset, Batch, Outputs, Saved};
use lockstep_env::{Drawn, Dtype, Element, Environment, Leaf, Leaves, Numbers};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::arrays::{columns, columns_mut, drawn, read, written};
use crate::calls::{batch_error, calm, interruptible, tell_of_threads, used_at_once};
use crate::instance::{arrays_of, draws_of, owned};
use crate::spec::options;

type Array<'py> = Bound<'py, PyAny>;
type Tape<'py> = Vec<Vec<(String, Array<'py>)>>;
type State = Vec<(Leaf, Numbers)>;

/// Environments that step together.
#[pyclass]
pub struct VectorEnv(Box<dyn Together>);

/// What Python asks of a batch, whichever its environment is.
trait Together: Send + Sync {
    fn len(&self) -> usize;
    fn threads(&self) -> usize;
    fn reset(&mut self, py: Python<'_>, seeds: Vec<u64>, seen: &[Array<'_>]) -> PyResult<()>;
    fn step(&mut self, py: Python<'_>, actions: &Bound<'_, PyList>, to: &Results) -> PyResult<()>;
    fn reset_env(&mut self, env_index: usize, seed: Option<u64>, seen: &[Array<'_>]) -> PyResult<()>;
    fn restore_env(
        &mut self,
        env_index: usize,
        state: &[Array<'_>],
        seed: Option<u64>,
        seen: &[Array<'_>],
    ) -> PyResult<()>;
    fn state(&self, env_index: usize) -> PyResult<State>;
    fn watch(&mut self, env_index: usize, tape: Vec<Vec<Drawn>>) -> PyResult<()>;
    fn report(&mut self, env_index: usize) -> PyResult<Said>;
    fn save(&mut self, env_index: usize) -> PyResult<usize>;
    fn load(&mut self, env_index: usize, saved: usize, seen: &[Array<'_>]) -> PyResult<()>;
    fn forget(&mut self, saved: usize) -> PyResult<()>;
}

/// What a watched sub-environment did: draws of its step, draws of its reset, and its state from before that.
type Said = (Vec<Drawn>, Vec<Drawn>, Option<State>);

/// The arrays of a step. To see that nobody else uses an array takes a while, so what belongs together is one array.
#[pyclass(frozen)]
pub struct Results {
    seen: Vec<Py<PyAny>>,
    reward: Vec<Py<PyAny>>,
    endings: [Py<PyAny>; 1],
}

#[pymethods]
impl Results {
    /// Arrays that are there already. Those of what is seen have rows for what is seen now, and behind them as many for what
    /// was seen last; in `endings` stands behind what terminated what was truncated.
    #[new]
    fn new(seen: Vec<Py<PyAny>>, reward: Vec<Py<PyAny>>, endings: Py<PyAny>) -> Self {
        Results { seen, reward, endings: [endings] }
    }
}

/// Arrays that are held, for a while in which Python waits.
fn bound<'a, 'py: 'a>(py: Python<'py>, held: &'a [Py<PyAny>]) -> impl ExactSizeIterator<Item = &'a Array<'py>> {
    held.iter().map(move |array| array.bind(py))
}

struct Many<E: Environment> {
    batch: Batch<E>,
    saved: Vec<Option<Saved<E>>>,
}

/// Sub-environments of an environment, as Python asked for them.
pub fn begin<E: Environment>(
    given: &Bound<'_, PyDict>,
    num_envs: usize,
    mode: &str,
    threads: usize,
) -> PyResult<VectorEnv> {
    let mode = match mode {
        "next_step" => Autoreset::NextStep,
        "same_step" => Autoreset::SameStep,
        "disabled" => Autoreset::Disabled,
        other => {
            let expected = "expected `next_step`, `same_step` or `disabled`";
            return Err(PyValueError::new_err(format!("there is no auto-reset mode `{other}`; {expected}")));
        }
    };
    let settings = options(given)?;
    let batch = calm(|| Batch::<E>::new(&settings, num_envs, mode, threads))?.map_err(batch_error)?;
    tell_of_threads(given.py(), threads, batch.threads())?;
    Ok(VectorEnv(Box::new(Many { batch, saved: Vec::new() })))
}

#[pymethods]
impl VectorEnv {
    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// On how many threads they step.
    #[getter]
    fn threads(&self) -> usize {
        self.0.threads()
    }

    /// Begin an episode in every sub-environment, each from its seed, and write what is seen.
    fn reset(slf: &Bound<'_, Self>, seeds: Vec<u64>, seen: Vec<Array<'_>>) -> PyResult<()> {
        slf.try_borrow_mut().map_err(|_| used_at_once())?.0.reset(slf.py(), seeds, &seen)
    }

    /// Step every sub-environment, and write what comes of it.
    fn step(slf: &Bound<'_, Self>, actions: &Bound<'_, PyList>, to: &Bound<'_, Results>) -> PyResult<()> {
        slf.try_borrow_mut().map_err(|_| used_at_once())?.0.step(slf.py(), actions, to.get())
    }

    /// Begin an episode in one sub-environment, from a seed or with what is left of its chance.
    #[pyo3(signature = (env_index, seed, seen))]
    fn reset_env(&mut self, env_index: usize, seed: Option<u64>, seen: Vec<Array<'_>>) -> PyResult<()> {
        self.0.reset_env(env_index, seed, &seen)
    }

    /// Go on in one sub-environment from a canonical state: an array for each of its leaves, with one row.
    #[pyo3(signature = (env_index, state, seed, seen))]
    fn restore_env(
        &mut self,
        env_index: usize,
        state: Vec<Array<'_>>,
        seed: Option<u64>,
        seen: Vec<Array<'_>>,
    ) -> PyResult<()> {
        self.0.restore_env(env_index, &state, seed, &seen)
    }

    /// The canonical state of a sub-environment: an array for each of its leaves.
    fn state<'py>(&self, py: Python<'py>, env_index: usize) -> PyResult<Bound<'py, PyList>> {
        arrays_of(py, self.0.state(env_index)?)
    }

    /// Note what a sub-environment does. Its draws come from the tape, a list of rows of `(name, array)`, as far as that
    /// reaches.
    fn watch(&mut self, env_index: usize, tape: Tape<'_>) -> PyResult<()> {
        let tape = tape.iter().map(|row| drawn(row)).collect::<PyResult<_>>()?;
        self.0.watch(env_index, tape)
    }

    /// What a watched sub-environment did since it was last asked: draws of its step, draws of its reset, and where there
    /// were both the canonical state between them, else None.
    fn report<'py>(&mut self, py: Python<'py>, env_index: usize) -> PyResult<Bound<'py, PyTuple>> {
        let (stepped, begun, last) = self.0.report(env_index)?;
        let last = last.map(|state| arrays_of(py, state)).transpose()?;
        (draws_of(py, stepped)?, draws_of(py, begun)?, last).into_pyobject(py)
    }

    /// Keep a sub-environment as it is; its number is what `load` and `forget` take.
    fn save(&mut self, env_index: usize) -> PyResult<usize> {
        self.0.save(env_index)
    }

    /// Put what was kept into a sub-environment.
    fn load(&mut self, env_index: usize, saved: usize, seen: Vec<Array<'_>>) -> PyResult<()> {
        self.0.load(env_index, saved, &seen)
    }

    /// Give back the memory of what was kept.
    fn forget(&mut self, saved: usize) -> PyResult<()> {
        self.0.forget(saved)
    }
}

impl<E: Environment> Many<E> {
    fn kept(&mut self, saved: usize) -> PyResult<&mut Option<Saved<E>>> {
        let slot = self.saved.get_mut(saved).filter(|slot| slot.is_some());
        slot.ok_or_else(|| PyValueError::new_err(format!("nothing is kept under the number {saved}")))
    }
}

impl<E: Environment> Together for Many<E> {
    fn len(&self) -> usize {
        self.batch.len()
    }

    fn threads(&self) -> usize {
        self.batch.threads()
    }

    fn reset(&mut self, py: Python<'_>, seeds: Vec<u64>, seen: &[Array<'_>]) -> PyResult<()> {
        let (rows, leaves) = (self.batch.len(), E::Observation::LEAVES);
        let mut held = written(leaves, seen.iter(), rows)?;
        let seen = columns_mut(leaves, &mut held, rows)?;
        let batch = &mut self.batch;
        interruptible(py, batch_error, |asked| batch.reset_unless(&seeds, seen, asked))
    }

    fn step(&mut self, py: Python<'_>, actions: &Bound<'_, PyList>, to: &Results) -> PyResult<()> {
        let (rows, leaves) = (self.batch.len(), E::Observation::LEAVES);
        let actions = read(E::Action::LEAVES, actions.iter(), rows)?;
        let actions = columns(E::Action::LEAVES, &actions, rows)?;
        let mut seen = written(leaves, bound(py, &to.seen), 2 * rows)?;
        let (seen, last) = columns_mut(leaves, &mut seen, 2 * rows)?.split_at(rows);
        let mut reward = written(E::Reward::LEAVES, bound(py, &to.reward), rows)?;
        let reward = columns_mut(E::Reward::LEAVES, &mut reward, rows)?;
        let mut endings = written(&ENDINGS, bound(py, &to.endings), 2 * rows)?;
        let fits = || PyValueError::new_err("arrays that do not fit their leaves");
        let endings = bool::of_mut(endings[0].column()?).ok_or_else(fits)?;
        let (terminated, truncated) = endings.split_at_mut(rows);
        let outputs = Outputs::new(seen, last, reward, terminated, truncated).ok_or_else(fits)?;
        let batch = &mut self.batch;
        interruptible(py, batch_error, |asked| batch.step_unless(actions, outputs, asked))
    }

    fn reset_env(&mut self, env_index: usize, seed: Option<u64>, seen: &[Array<'_>]) -> PyResult<()> {
        let (rows, leaves) = (self.batch.len(), E::Observation::LEAVES);
        let mut held = written(leaves, seen.iter(), rows)?;
        let mut seen = columns_mut(leaves, &mut held, rows)?;
        calm(|| self.batch.reset_env(env_index, seed, &mut seen))?.map_err(batch_error)
    }

    fn restore_env(
        &mut self,
        env_index: usize,
        state: &[Array<'_>],
        seed: Option<u64>,
        seen: &[Array<'_>],
    ) -> PyResult<()> {
        let (rows, leaves) = (self.batch.len(), E::Observation::LEAVES);
        let given = read(E::State::LEAVES, state.iter(), 1)?;
        let state = E::State::load(&columns(E::State::LEAVES, &given, 1)?.row(0));
        let mut held = written(leaves, seen.iter(), rows)?;
        let mut seen = columns_mut(leaves, &mut held, rows)?;
        calm(|| self.batch.restore_env(env_index, &state, seed, &mut seen))?.map_err(batch_error)
    }

    fn state(&self, env_index: usize) -> PyResult<State> {
        Ok(owned(&calm(|| self.batch.state(env_index))?.map_err(batch_error)?))
    }

    fn watch(&mut self, env_index: usize, tape: Vec<Vec<Drawn>>) -> PyResult<()> {
        self.batch.watch(env_index, tape).map_err(batch_error)
    }

    fn report(&mut self, env_index: usize) -> PyResult<Said> {
        let report = calm(|| self.batch.report(env_index))?.map_err(batch_error)?;
        Ok((report.stepped, report.begun, report.last.as_ref().map(owned)))
    }

    fn save(&mut self, env_index: usize) -> PyResult<usize> {
        let saved = calm(|| self.batch.save(env_index))?.map_err(batch_error)?;
        let number = self.saved.iter().position(Option::is_none).unwrap_or_else(|| {
            self.saved.push(None);
            self.saved.len() - 1
        });
        self.saved[number] = Some(saved);
        Ok(number)
    }

    fn load(&mut self, env_index: usize, saved: usize, seen: &[Array<'_>]) -> PyResult<()> {
        let (rows, leaves) = (self.batch.len(), E::Observation::LEAVES);
        let mut held = written(leaves, seen.iter(), rows)?;
        let mut seen = columns_mut(leaves, &mut held, rows)?;
        let kept = self.kept(saved)?.take();
        let loaded = calm(|| kept.as_ref().map(|kept| self.batch.load(env_index, kept, &mut seen)));
        self.saved[saved] = kept;
        loaded?.transpose().map(|_| ()).map_err(batch_error)
    }

    fn forget(&mut self, saved: usize) -> PyResult<()> {
        *self.kept(saved)? = None;
        Ok(())
    }
}

/// How episodes end, in every environment.
const ENDINGS: [Leaf; 1] = [Leaf { path: "terminated, truncated", dtype: Dtype::Bool, shape: &[] }];
