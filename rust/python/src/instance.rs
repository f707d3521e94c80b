//! One environment, asked step by step: what verification speaks to.

use lockstep_env::{Chance, Columns, ColumnsMut, Drawn, Environment, Leaf, Leaves, Numbers, Step, step_alone};
use numpy::PyArray3;
use numpy::PyArrayMethods;
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::arrays::{array, columns, columns_mut, drawn, read, written};
use crate::calls::calm;
use crate::spec::{options, refused};

type Array<'py> = Bound<'py, PyAny>;
type Draw<'py> = (String, Array<'py>);

/// One environment.
#[pyclass]
pub struct Instance(Box<dyn Asked>);

/// What Python asks of an environment, whichever it is.
trait Asked: Send + Sync {
    fn reset(&mut self, seed: u64, given: Vec<Drawn>) -> Answer;
    fn step(&mut self, action: &Columns<'_>, given: Vec<Drawn>) -> Answer;
    fn restore(&mut self, state: &Columns<'_>) -> Result<Answer, String>;
    fn probe(&self, name: &str, inputs: &[Array<'_>], outputs: &[Array<'_>]) -> PyResult<()>;
    fn render(&self) -> Option<lockstep_env::Frame>;
    fn action(&self) -> &'static [Leaf];
    fn state(&self) -> &'static [Leaf];
}

/// A row: what is seen, what it was worth, the canonical state, and what was drawn.
struct Answer {
    seen: Vec<(Leaf, Numbers)>,
    reward: Vec<(Leaf, Numbers)>,
    terminated: bool,
    truncated: bool,
    state: Vec<(Leaf, Numbers)>,
    drawn: Vec<Drawn>,
}

struct Single<E> {
    environment: E,
    chance: Chance,
}

/// An instance of an environment, as Python asked for it.
pub fn begin<E: Environment>(given: &Bound<'_, PyDict>) -> PyResult<Instance> {
    let settings = options(given)?;
    let environment = calm(|| E::new(&settings))?.map_err(refused)?;
    Ok(Instance(Box::new(Single { environment, chance: Chance::new(0) })))
}

#[pymethods]
impl Instance {
    /// Begin an episode from a seed, with draws that are given first.
    #[pyo3(signature = (seed, draws = None))]
    fn reset<'py>(
        &mut self,
        py: Python<'py>,
        seed: u64,
        draws: Option<Vec<Draw<'py>>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let given = drawn(&draws.unwrap_or_default())?;
        calm(|| self.0.reset(seed, given))?.report(py)
    }

    /// One step, with draws that are given first; an array `[1, ...]` for each leaf of the action.
    #[pyo3(signature = (action, draws = None))]
    fn step<'py>(
        &mut self,
        py: Python<'py>,
        action: Vec<Array<'py>>,
        draws: Option<Vec<Draw<'py>>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let given = drawn(&draws.unwrap_or_default())?;
        let leaves = self.0.action();
        let held = read(leaves, action.iter(), 1)?;
        let action = columns(leaves, &held, 1)?;
        calm(|| self.0.step(&action, given))?.report(py)
    }

    /// Go on from a canonical state: an array for each of its leaves, with one row.
    fn restore<'py>(&mut self, py: Python<'py>, state: Vec<Array<'py>>) -> PyResult<Bound<'py, PyTuple>> {
        let leaves = self.0.state();
        let held = read(leaves, state.iter(), 1)?;
        let state = columns(leaves, &held, 1)?;
        calm(|| self.0.restore(&state))?.map_err(PyValueError::new_err)?.report(py)
    }

    /// Ask a probe; answers are written to the arrays `outputs`, a row for each row of `inputs`.
    fn probe(&self, name: &str, inputs: Vec<Array<'_>>, outputs: Vec<Array<'_>>) -> PyResult<()> {
        calm(|| self.0.probe(name, &inputs, &outputs))?
    }

    /// A picture, `[height, width, 3]` of bytes; None where the environment draws none.
    fn render<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray3<u8>>>> {
        let Some(frame) = calm(|| self.0.render())? else { return Ok(None) };
        let flat = numpy::PyArray1::from_vec(py, frame.rgb);
        flat.reshape([frame.height, frame.width, 3]).map(Some)
    }
}

impl<E: Environment> Single<E> {
    /// What a step led to, or where None the begin of an episode, at which nothing is earned.
    fn answer(&self, step: Option<Step<E::Reward>>, drawn: Vec<Drawn>) -> Answer {
        let state = self.environment.encode();
        let reward = row::<E::Reward>(|columns| {
            if let Some(step) = &step {
                step.reward.store(&mut columns.row(0));
            }
        });
        Answer {
            seen: row::<E::Observation>(|columns| self.environment.look(&mut columns.row(0))),
            reward,
            terminated: step.as_ref().is_some_and(|step| step.terminated),
            truncated: step.is_some_and(|step| step.truncated),
            state: owned(&state),
            drawn,
        }
    }
}

impl<E: Environment> Asked for Single<E> {
    fn reset(&mut self, seed: u64, given: Vec<Drawn>) -> Answer {
        self.chance = Chance::new(seed);
        self.chance.note(given);
        self.environment.reset(&mut self.chance);
        let drawn = self.chance.noted();
        self.answer(None, drawn)
    }

    fn step(&mut self, action: &Columns<'_>, given: Vec<Drawn>) -> Answer {
        self.chance.note(given);
        let step = step_alone(&mut self.environment, &E::Action::load(&action.row(0)), &mut self.chance);
        let drawn = self.chance.noted();
        self.answer(Some(step), drawn)
    }

    fn restore(&mut self, state: &Columns<'_>) -> Result<Answer, String> {
        self.environment.decode(&E::State::load(&state.row(0))).map_err(|refused| refused.0)?;
        Ok(self.answer(None, Vec::new()))
    }

    fn probe(&self, name: &str, inputs: &[Array<'_>], outputs: &[Array<'_>]) -> PyResult<()> {
        let Some(probe) = E::PROBES.iter().find(|probe| probe.name == name) else {
            let names: Vec<_> = E::PROBES.iter().map(|probe| probe.name).collect();
            return Err(PyKeyError::new_err(format!("there is no probe `{name}`; there are {names:?}")));
        };
        let rows = inputs.first().map_or(Ok(0), |first| first.len())?;
        let (asked, mut report) =
            (read(probe.inputs, inputs.iter(), rows)?, written(probe.outputs, outputs.iter(), rows)?);
        let (asked, mut report) =
            (columns(probe.inputs, &asked, rows)?, columns_mut(probe.outputs, &mut report, rows)?);
        for row in 0..rows {
            (probe.ask)(&asked.row(row), &mut report.row(row));
        }
        Ok(())
    }

    fn render(&self) -> Option<lockstep_env::Frame> {
        self.environment.render()
    }

    fn action(&self) -> &'static [Leaf] {
        E::Action::LEAVES
    }

    fn state(&self) -> &'static [Leaf] {
        E::State::LEAVES
    }
}

impl Answer {
    /// `(seen, reward, terminated, truncated, state, draws)`, arrays in the order of their leaves.
    fn report(self, py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
        let (seen, state) = (arrays_of(py, self.seen)?, arrays_of(py, self.state)?);
        (seen, arrays_of(py, self.reward)?, self.terminated, self.truncated, state, draws_of(py, self.drawn)?)
            .into_pyobject(py)
    }
}

/// Leaves that own themselves as a list of new arrays.
pub(crate) fn arrays_of(py: Python<'_>, leaves: Vec<(Leaf, Numbers)>) -> PyResult<Bound<'_, PyList>> {
    let made: Vec<_> =
        leaves.into_iter().map(|(leaf, numbers)| array(py, numbers, leaf.shape)).collect::<PyResult<_>>()?;
    PyList::new(py, made)
}

/// What was drawn as a list of `(name, array)`.
pub(crate) fn draws_of(py: Python<'_>, drawn: Vec<Drawn>) -> PyResult<Bound<'_, PyList>> {
    let made: Vec<_> = drawn
        .into_iter()
        .map(|drawn| Ok((drawn.name, array(py, drawn.numbers, &drawn.shape)?)))
        .collect::<PyResult<_>>()?;
    PyList::new(py, made)
}

/// A struct of leaves, each of which owns itself.
pub(crate) fn owned<L: Leaves>(leaves: &L) -> Vec<(Leaf, Numbers)> {
    row::<L>(|columns| leaves.store(&mut columns.row(0)))
}

/// Leaves that own themselves, of one instance.
fn row<L: Leaves>(write: impl FnOnce(&mut ColumnsMut<'_>)) -> Vec<(Leaf, Numbers)> {
    let mut numbers: Vec<_> = L::LEAVES.iter().map(|leaf| Numbers::zeros(leaf.dtype, leaf.size())).collect();
    let borrowed = numbers.iter_mut().map(Numbers::column_mut).collect();
    if let Some(mut columns) = ColumnsMut::new(L::LEAVES, borrowed, 1) {
        write(&mut columns);
    }
    L::LEAVES.iter().copied().zip(numbers).collect()
}
