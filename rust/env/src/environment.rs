//! The one trait that an author implements.

use std::collections::BTreeMap;
use std::fmt;
use std::slice;

use crate::chance::Draws;
use crate::columns::{Row, RowMut};
use crate::field::Leaf;
use crate::leaves::Leaves;

/// An environment: one instance, which steps until its episode ends and never resets by itself.
///
/// Cloning saves it and assigning a clone restores it, so a clone must hold everything that decides its future.
pub trait Environment: Clone + Send + Sync + 'static {
    /// What is seen: leaves `observation` or `observation/...`, and where not every action is always legal
    /// `legal_actions...`.
    type Observation: Leaves;
    /// What is done: leaves `action` or `action/...`.
    type Action: Leaves;
    /// The canonical state: every fact that decides the future. Paths are without their `state/`.
    type State: Leaves;
    /// What a step earns: a number, or where several play a struct of leaves `reward/<player>`.
    type Reward: Leaves;

    /// Its rules one by one, to be asked alone.
    const PROBES: &'static [Probe] = &[];

    /// So many instances at most are given to one call of `step_lanes`.
    const LANES: usize = 1;

    /// An instance that was not yet reset.
    ///
    /// # Errors
    /// The options are not what it takes; says which, and what it would take.
    fn new(options: &Options) -> Result<Self, Refused>;

    /// Begin an episode.
    fn reset<D: Draws>(&mut self, draws: &mut D);

    /// One step. To be given, unless `step_lanes` is:
    ///
    /// ```compile_fail,E0080
    /// use lockstep_env::{Chance, Draws, Environment, Options, Refused, leaves, step_alone};
    /// leaves! { struct Count { observation: i32 } }
    /// #[derive(Clone)]
    /// struct Stuck;
    /// impl Environment for Stuck {
    ///     type Observation = Count;
    ///     type Action = Count;
    ///     type State = Count;
    ///     type Reward = f32;
    ///     fn new(_: &Options) -> Result<Self, Refused> { Ok(Stuck) }
    ///     fn reset<D: Draws>(&mut self, _: &mut D) {}
    ///     fn observe(&self) -> Count { Count { observation: 0 } }
    ///     fn encode(&self) -> Count { self.observe() }
    ///     fn decode(&mut self, _: &Count) -> Result<(), Refused> { Ok(()) }
    /// }
    /// step_alone(&mut Stuck, &Count { observation: 0 }, &mut Chance::new(0));
    /// ```
    fn step<D: Draws>(&mut self, action: &Self::Action, draws: &mut D) -> Step<Self::Reward> {
        const { assert!(Self::LANES > 1, "an environment without `step` has `LANES` of 2 or more and `step_lanes`") };
        step_alone(self, action, draws)
    }

    /// Step several instances, each with its action and its chance, and say what each step led to, in their order.
    ///
    /// Every step that is made is made by this: of instances that stand alone, and of a batch's, as many as `LANES` at once.
    /// To be given with `LANES`, and without `step`, where several step faster side by side than one after the other.
    fn step_lanes<D: Draws>(
        instances: &mut [Self],
        actions: &[Self::Action],
        draws: &mut [D],
    ) -> impl Iterator<Item = Step<Self::Reward>> {
        let lanes = instances.iter_mut().zip(actions).zip(draws);
        lanes.map(|((instance, action), draws)| instance.step(action, draws))
    }

    /// What is seen of where it is.
    fn observe(&self) -> Self::Observation;

    /// Write what is seen. To be given where the leaves of an observation are large, and are best written in place.
    #[inline]
    fn look(&self, row: &mut RowMut<'_, '_>) {
        self.observe().store(row);
    }

    /// The canonical state.
    fn encode(&self) -> Self::State;

    /// Go on from a canonical state: the inverse of `encode`.
    ///
    /// # Errors
    /// No instance can be in such a state.
    fn decode(&mut self, state: &Self::State) -> Result<(), Refused>;

    /// A picture of where it is; None where it has no picture.
    fn render(&self) -> Option<Frame> {
        None
    }
}

/// A step of one instance, by way of [`Environment::step_lanes`].
///
/// # Panics
/// Where that says nothing of the step: a mistake in the environment's code.
pub fn step_alone<E: Environment, D: Draws>(instance: &mut E, action: &E::Action, draws: &mut D) -> Step<E::Reward> {
    let (instance, action, draws) = (slice::from_mut(instance), slice::from_ref(action), slice::from_mut(draws));
    E::step_lanes(instance, action, draws).next().expect("a step of the instance")
}

/// What a step led to, beside what is seen then.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step<R> {
    pub reward: R,
    /// The episode ended by the environment's own rules.
    pub terminated: bool,
    /// It was cut short.
    pub truncated: bool,
}

/// A rule that is asked alone; [`probe!`](crate::probe!) makes one.
#[derive(Clone, Copy, Debug)]
pub struct Probe {
    pub name: &'static str,
    pub inputs: &'static [Leaf],
    pub outputs: &'static [Leaf],
    /// Answers one row.
    pub ask: fn(&Row<'_>, &mut RowMut<'_, '_>),
}

/// A probe from a function between two structs of leaves: `probe!("serve", Served, fn_of(&Inputs) -> Served)`.
///
/// ```
/// use lockstep_env::{leaves, probe, Probe};
/// leaves! { struct Pair { a: i32, b: i32 } }
/// leaves! { struct Sum { sum: i32 } }
/// fn add(pair: Pair) -> Sum {
///     Sum { sum: pair.a + pair.b }
/// }
/// const ADD: Probe = probe!("add", Pair => Sum, add);
/// assert_eq!(ADD.inputs.len(), 2);
/// ```
#[macro_export]
macro_rules! probe {
    ($name:literal, $inputs:ty => $outputs:ty, $function:expr) => {
        $crate::Probe {
            name: $name,
            inputs: <$inputs as $crate::Leaves>::LEAVES,
            outputs: <$outputs as $crate::Leaves>::LEAVES,
            ask: |inputs, outputs| {
                let answer: $outputs = $function(<$inputs as $crate::Leaves>::load(inputs));
                $crate::Leaves::store(&answer, outputs);
            },
        }
    };
}

/// Name the environment of a crate: the one line that Lockstep looks for.
#[macro_export]
macro_rules! environment {
    ($environment:ty) => {
        /// The environment of this crate.
        pub type LockstepEnvironment = $environment;
    };
}

/// A picture: rows from the top, three bytes a pixel, red, green and blue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    pub height: usize,
    pub width: usize,
    pub rgb: Vec<u8>,
}

/// What can be set before the first reset.
#[derive(Clone, Debug, PartialEq)]
pub enum Setting {
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    Bytes(Vec<u8>),
}

/// Settings by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options(pub BTreeMap<String, Setting>);

impl Options {
    /// Refuse settings of other names than these.
    ///
    /// # Errors
    /// One has another name.
    pub fn only(&self, known: &[&str]) -> Result<(), Refused> {
        match self.0.keys().find(|name| !known.contains(&name.as_str())) {
            Some(name) => Err(Refused(format!("there is no option `{name}`; there are {known:?}"))),
            None => Ok(()),
        }
    }
}

/// Why an instance cannot be as it was asked to be, in words for whoever asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused(pub String);

impl fmt::Display for Refused {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for Refused {}
