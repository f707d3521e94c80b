//! Many instances of an environment, stepped on all cores.
//!
//! A [`Batch`] owns instances and their chance; what they are told and what they answer are arrays of somebody else, one
//! for each leaf, in which every instance has its row. Nothing is allocated for an instance while it steps, and what comes
//! of a step does not depend on how many threads there are.

#![forbid(unsafe_code)]

mod outputs;
mod seeds;
mod watch;

use std::fmt;

use lockstep_env::{Chance, Columns, ColumnsMut, Drawn, Environment, Leaves, Options, Refused, Step};
use rayon::{ThreadPool, ThreadPoolBuilder};

pub use outputs::Outputs;
pub use seeds::seed_of;
pub use watch::Told;

use watch::Watch;

/// When an instance whose episode has ended begins the next one, as Gymnasium's `AutoresetMode` has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Autoreset {
    /// In the step that follows: its action is not taken, and its reward is zero.
    NextStep,
    /// In the same step: what is seen is the new episode's begin, and the end is in `final`.
    SameStep,
    /// Never: who steps resets.
    Disabled,
}

/// Instances that step together.
#[derive(Debug)]
pub struct Batch<E: Environment> {
    lanes: Vec<Lane<E>>,
    mode: Autoreset,
    threads: ThreadPool,
    grain: usize,
}

#[derive(Clone, Debug)]
struct Lane<E: Environment> {
    environment: E,
    chance: Chance,
    over: bool,
    /// None but where somebody checks what the lane does.
    watch: Option<Box<Watch<E>>>,
}

/// An instance as it was: to be put back into any lane of a batch of its kind.
#[derive(Clone, Debug)]
pub struct Saved<E> {
    environment: E,
    chance: Chance,
    over: bool,
}

/// Why a batch cannot be made or asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BatchError {
    /// The environment refused what it was given.
    Refused(Refused),
    /// The threads could not be started.
    Threads(String),
    /// There is no lane of this number.
    NoLane { lane: usize, lanes: usize },
    /// An array has another number of rows than the batch has lanes.
    Rows { what: &'static str, rows: usize, lanes: usize },
    /// A lane is asked what it did, but nobody watches it.
    Unwatched(usize),
}

impl fmt::Display for BatchError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BatchError::Refused(refused) => write!(formatter, "{refused}"),
            BatchError::Threads(why) => write!(formatter, "the threads cannot be started: {why}"),
            BatchError::NoLane { lane, lanes } => write!(formatter, "there is no lane {lane}; there are {lanes}"),
            BatchError::Rows { what, rows, lanes } => {
                write!(formatter, "{what} for {rows} lanes were given; there are {lanes}")
            }
            BatchError::Unwatched(lane) => write!(formatter, "lane {lane} is not watched"),
        }
    }
}

impl std::error::Error for BatchError {}

impl<E: Environment> Batch<E> {
    /// So many instances, none of which was reset yet, on so many threads.
    ///
    /// # Errors
    /// The environment refuses its options, or the threads cannot be started.
    pub fn new(options: &Options, lanes: usize, mode: Autoreset, threads: usize) -> Result<Self, BatchError> {
        let environment = E::new(options).map_err(BatchError::Refused)?;
        let pool = ThreadPoolBuilder::new().num_threads(threads).thread_name(|number| format!("lockstep-{number}"));
        let threads = pool.build().map_err(|error| BatchError::Threads(error.to_string()))?;
        let lane = Lane { environment, chance: Chance::new(0), over: true, watch: None };
        let grain = grain(lanes, threads.current_num_threads());
        Ok(Batch { lanes: vec![lane; lanes], mode, threads, grain })
    }

    /// How many instances there are.
    pub fn len(&self) -> usize {
        self.lanes.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.lanes.is_empty()
    }

    /// Begin an episode in every lane, lane `i` with `seeds[i]`, and write what is seen.
    ///
    /// # Errors
    /// `seeds` or `seen` are for another number of lanes.
    pub fn reset(&mut self, seeds: &[u64], seen: ColumnsMut<'_>) -> Result<(), BatchError> {
        self.demand("seeds", seeds.len())?;
        self.demand("observations", seen.rows())?;
        let Batch { lanes, threads, grain, .. } = self;
        let alone = lanes.len() <= *grain;
        on(threads, alone, || begin(lanes, seeds, seen, *grain));
        Ok(())
    }

    /// Begin an episode in one lane, with what is left of its chance or with a seed, and write what is seen into its row.
    ///
    /// # Errors
    /// There is no such lane, or `seen` is for another number of lanes.
    pub fn reset_lane(&mut self, lane: usize, seed: Option<u64>, seen: &mut ColumnsMut<'_>) -> Result<(), BatchError> {
        self.demand("observations", seen.rows())?;
        let place = self.lane_mut(lane)?;
        if let Some(seed) = seed {
            place.chance = Chance::new(seed);
        }
        place.begin();
        place.environment.look(&mut seen.row(lane));
        Ok(())
    }

    /// Step every lane, and write what comes of it.
    ///
    /// # Errors
    /// `actions` or `outputs` are for another number of lanes.
    pub fn step(&mut self, actions: Columns<'_>, outputs: Outputs<'_, E::Reward>) -> Result<(), BatchError> {
        self.demand("actions", actions.rows())?;
        self.demand("outputs", outputs.rows())?;
        let Batch { lanes, threads, grain, mode } = self;
        let alone = lanes.len() <= *grain;
        on(threads, alone, || advance(lanes, actions, outputs, *mode, *grain));
        Ok(())
    }

    /// Go on in one lane from a canonical state, with what is left of its chance or with a seed, and write what is seen.
    ///
    /// # Errors
    /// There is no such lane, no instance can be in such a state, or `seen` is for another number of lanes.
    pub fn restore_lane(
        &mut self,
        lane: usize,
        state: &E::State,
        seed: Option<u64>,
        seen: &mut ColumnsMut<'_>,
    ) -> Result<(), BatchError> {
        self.demand("observations", seen.rows())?;
        let place = self.lane_mut(lane)?;
        if let Some(seed) = seed {
            place.chance = Chance::new(seed);
        }
        place.environment.decode(state).map_err(BatchError::Refused)?;
        place.over = false;
        place.environment.look(&mut seen.row(lane));
        Ok(())
    }

    /// The canonical state of a lane.
    ///
    /// # Errors
    /// There is no such lane.
    pub fn state(&self, lane: usize) -> Result<E::State, BatchError> {
        Ok(self.lane(lane)?.environment.encode())
    }

    /// Note from now on what a lane does. Its draws come from `tape` row by row, the next reset or step first, and from its
    /// own chance where the tape has none (see [`Recorded`](lockstep_env::Recorded)).
    ///
    /// # Errors
    /// There is no such lane.
    pub fn watch(&mut self, lane: usize, tape: Vec<Vec<Drawn>>) -> Result<(), BatchError> {
        self.lane_mut(lane)?.watch = Some(Box::new(Watch::new(tape)));
        Ok(())
    }

    /// What a watched lane did since it was last asked: at most one step and one reset.
    ///
    /// # Errors
    /// There is no such lane, or nobody watches it.
    pub fn told(&mut self, lane: usize) -> Result<Told<E>, BatchError> {
        Ok(self.lane_mut(lane)?.watch.as_mut().ok_or(BatchError::Unwatched(lane))?.told())
    }

    /// A lane as it is, its chance included.
    ///
    /// # Errors
    /// There is no such lane.
    pub fn save(&self, lane: usize) -> Result<Saved<E>, BatchError> {
        let Lane { environment, chance, over, .. } = self.lane(lane)?;
        Ok(Saved { environment: environment.clone(), chance: chance.clone(), over: *over })
    }

    /// Put a saved instance into a lane, and write what it sees.
    ///
    /// # Errors
    /// There is no such lane, or `seen` is for another number of lanes.
    pub fn load(&mut self, lane: usize, saved: &Saved<E>, seen: &mut ColumnsMut<'_>) -> Result<(), BatchError> {
        self.demand("observations", seen.rows())?;
        let place = self.lane_mut(lane)?;
        // An environment may have memory of its own to copy into, which spares it an allocation.
        place.environment.clone_from(&saved.environment);
        place.chance.clone_from(&saved.chance);
        place.over = saved.over;
        place.environment.look(&mut seen.row(lane));
        Ok(())
    }

    fn lane(&self, lane: usize) -> Result<&Lane<E>, BatchError> {
        self.lanes.get(lane).ok_or(BatchError::NoLane { lane, lanes: self.lanes.len() })
    }

    fn lane_mut(&mut self, lane: usize) -> Result<&mut Lane<E>, BatchError> {
        let lanes = self.lanes.len();
        self.lanes.get_mut(lane).ok_or(BatchError::NoLane { lane, lanes })
    }

    fn demand(&self, what: &'static str, rows: usize) -> Result<(), BatchError> {
        let lanes = self.len();
        if rows == lanes { Ok(()) } else { Err(BatchError::Rows { what, rows, lanes }) }
    }
}

impl<E: Environment> Lane<E> {
    fn begin(&mut self) {
        match &mut self.watch {
            None => self.environment.reset(&mut self.chance),
            Some(watch) => watch.reset(&mut self.environment, &mut self.chance),
        }
        self.over = false;
    }

    fn step(&mut self, action: &E::Action) -> Step<E::Reward> {
        match &mut self.watch {
            None => self.environment.step(action, &mut self.chance),
            Some(watch) => watch.step(&mut self.environment, action, &mut self.chance),
        }
    }
}

/// Do work on some threads. What is not shared out is done at once: handing it to a thread would take longer than small batches.
fn on(threads: &ThreadPool, alone: bool, work: impl FnOnce() + Send) {
    if alone { work() } else { threads.install(work) }
}

/// How many lanes one thread takes at a time: some parts a thread, so that one that is done early can take from others.
fn grain(lanes: usize, threads: usize) -> usize {
    const PARTS: usize = 4;
    if threads == 1 { lanes.max(1) } else { lanes.div_ceil(threads * PARTS).max(1) }
}

fn begin<E: Environment>(lanes: &mut [Lane<E>], seeds: &[u64], mut seen: ColumnsMut<'_>, grain: usize) {
    if lanes.len() > grain {
        let middle = lanes.len() / 2;
        let (left, right) = lanes.split_at_mut(middle);
        let (seeds_left, seeds_right) = seeds.split_at(middle);
        let (seen_left, seen_right) = seen.split_at(middle);
        rayon::join(|| begin(left, seeds_left, seen_left, grain), || begin(right, seeds_right, seen_right, grain));
        return;
    }
    for (row, (lane, seed)) in lanes.iter_mut().zip(seeds).enumerate() {
        lane.chance = Chance::new(*seed);
        lane.begin();
        lane.environment.look(&mut seen.row(row));
    }
}

fn advance<E: Environment>(
    lanes: &mut [Lane<E>],
    actions: Columns<'_>,
    mut outputs: Outputs<'_, E::Reward>,
    mode: Autoreset,
    grain: usize,
) {
    if lanes.len() > grain {
        let middle = lanes.len() / 2;
        let (left, right) = lanes.split_at_mut(middle);
        let (actions_left, actions_right) = actions.split_at(middle);
        let (outputs_left, outputs_right) = outputs.split_at(middle);
        rayon::join(
            || advance(left, actions_left, outputs_left, mode, grain),
            || advance(right, actions_right, outputs_right, mode, grain),
        );
        return;
    }
    for (row, lane) in lanes.iter_mut().enumerate() {
        if lane.over {
            // In mode `Disabled` it rests until somebody resets it.
            if mode == Autoreset::NextStep {
                lane.begin();
                lane.environment.look(&mut outputs.seen.row(row));
            }
            (outputs.reward[row], outputs.terminated[row], outputs.truncated[row]) = Default::default();
            continue;
        }
        let action = E::Action::load(&actions.row(row));
        let step = lane.step(&action);
        outputs.reward[row] = step.reward;
        outputs.terminated[row] = step.terminated;
        outputs.truncated[row] = step.truncated;
        lane.over = step.terminated || step.truncated;
        if lane.over && mode == Autoreset::SameStep {
            lane.environment.look(&mut outputs.last.row(row));
            lane.begin();
        }
        lane.environment.look(&mut outputs.seen.row(row));
    }
}
