//! Many instances of an environment, stepped on all cores.
//!
//! A [`Batch`] owns instances and their chance; what they are given and what they answer are arrays of somebody else, one
//! for each leaf, in which every instance has its row. Nothing is allocated for an instance while it steps, and what comes
//! of a step does not depend on how many threads there are.

#![forbid(unsafe_code)]

mod lanes;
mod load;
mod outputs;
mod room;
mod seeds;
mod team;
mod watch;

use std::fmt;
use std::time::Instant;

use lockstep_env::{Chance, Columns, ColumnsMut, Drawn, Environment, Options, Refused};

pub use outputs::Outputs;
pub use room::{NoRoom, many};
pub use seeds::seed_of;
pub use team::{Asked, MOST_THREADS, Stop, Team, TeamError};
pub use watch::Report;

use lanes::SubEnvs;
use load::Load;
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
    sub_envs: SubEnvs<E>,
    mode: Autoreset,
    team: Team,
    grain: usize,
    /// What a step takes. A reset may take far longer, and is shared out in any case.
    load: Load,
}

/// An instance as it was: to be put back into any sub-environment of a batch of its kind.
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
    /// There is no room for it, or not all instances worked to the end.
    Team(TeamError),
    /// There is no sub-environment of this number.
    NoSubEnv { env_index: usize, num_envs: usize },
    /// An array has another number of rows than the batch has sub-environments.
    Rows { what: &'static str, rows: usize, num_envs: usize },
    /// A sub-environment is asked what it did, but nobody watches it.
    Unwatched(usize),
}

impl fmt::Display for BatchError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BatchError::Refused(refused) => write!(formatter, "{refused}"),
            BatchError::Team(error) => write!(formatter, "{error}"),
            BatchError::NoSubEnv { env_index, num_envs } => {
                write!(formatter, "there is no sub-environment {env_index}; there are {num_envs}")
            }
            BatchError::Rows { what, rows, num_envs } => {
                write!(formatter, "{what} for {rows} sub-environments were given; there are {num_envs}")
            }
            BatchError::Unwatched(env_index) => write!(formatter, "sub-environment {env_index} is not watched"),
        }
    }
}

impl std::error::Error for BatchError {}

impl From<TeamError> for BatchError {
    fn from(error: TeamError) -> Self {
        BatchError::Team(error)
    }
}

impl<E: Environment> Batch<E> {
    /// So many instances, none of which was reset yet, on so many threads (see [`Team::new`]).
    ///
    /// # Errors
    /// The environment refuses its options, there is no memory for so many, or the threads cannot be started.
    pub fn new(options: &Options, num_envs: usize, mode: Autoreset, threads: usize) -> Result<Self, BatchError> {
        let instance = E::new(options).map_err(BatchError::Refused)?;
        let sub_envs = SubEnvs::new(&instance, num_envs).map_err(TeamError::NoRoom)?;
        let team = Team::new(threads, "lockstep")?;
        let grain = grain(num_envs, team.threads());
        Ok(Batch { sub_envs, mode, team, grain, load: Load::default() })
    }

    /// On how many threads they step.
    pub fn threads(&self) -> usize {
        self.team.threads()
    }

    /// How many instances there are.
    pub fn len(&self) -> usize {
        self.sub_envs.instances.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Begin an episode in every sub-environment, sub-environment `i` with `seeds[i]`, and write what is seen.
    ///
    /// # Errors
    /// `seeds` or `seen` are for another number of sub-environments.
    pub fn reset(&mut self, seeds: &[u64], seen: ColumnsMut<'_>) -> Result<(), BatchError> {
        self.reset_unless(seeds, seen, &|| false)
    }

    /// As [`Batch::reset`], until `asked` says to stop.
    ///
    /// # Errors
    /// As [`Batch::reset`], and [`TeamError::Stopped`]: some may have begun, and all must be reset.
    pub fn reset_unless(&mut self, seeds: &[u64], seen: ColumnsMut<'_>, asked: Asked<'_>) -> Result<(), BatchError> {
        self.demand("seeds", seeds.len())?;
        self.demand("observations", seen.rows())?;
        let Batch { sub_envs, team, grain, .. } = self;
        let lanes = sub_envs.all();
        let alone = lanes.len() <= *grain;
        Ok(team.work(alone, asked, |stop| lanes.begin_all(seeds, seen, *grain, stop))?)
    }

    /// Begin an episode in one sub-environment, with what is left of its chance or with a seed, and write what is seen into
    /// its row.
    ///
    /// # Errors
    /// There is no such sub-environment, or `seen` is for another number of sub-environments.
    pub fn reset_env(
        &mut self,
        env_index: usize,
        seed: Option<u64>,
        seen: &mut ColumnsMut<'_>,
    ) -> Result<(), BatchError> {
        self.demand("observations", seen.rows())?;
        let env_index = self.there(env_index)?;
        let Batch { sub_envs, team, .. } = self;
        team.touch(|| {
            sub_envs.all().begin(env_index, seed);
            sub_envs.instances[env_index].look(&mut seen.row(env_index));
        });
        Ok(())
    }

    /// Step every sub-environment, and write what comes of it.
    ///
    /// # Errors
    /// `actions` or `outputs` are for another number of sub-environments.
    pub fn step(&mut self, actions: Columns<'_>, outputs: Outputs<'_>) -> Result<(), BatchError> {
        self.step_unless(actions, outputs, &|| false)
    }

    /// As [`Batch::step`], until `asked` says to stop.
    ///
    /// # Errors
    /// As [`Batch::step`], and [`TeamError::Stopped`]: some may have stepped, and all must be reset.
    pub fn step_unless(
        &mut self,
        actions: Columns<'_>,
        outputs: Outputs<'_>,
        asked: Asked<'_>,
    ) -> Result<(), BatchError> {
        self.demand("actions", actions.rows())?;
        self.demand("outputs", outputs.rows())?;
        self.team.whole()?;
        let Batch { sub_envs, team, grain, mode, load } = self;
        let lanes = sub_envs.all();
        // Nothing is measured where nothing is to be decided.
        let begin = (lanes.len() > *grain).then(Instant::now);
        let alone = begin.is_none() || load.is_small();
        let grain = if alone { lanes.len() } else { *grain };
        team.work(alone, asked, |stop| lanes.step_all(actions, outputs, *mode, grain, stop))?;
        match begin.map(|begin| begin.elapsed()) {
            None => {}
            Some(time) if alone => load.took_one(time),
            Some(time) => load.took_all(time),
        }
        Ok(())
    }

    /// Go on in one sub-environment from a canonical state, with what is left of its chance or with a seed, and write what
    /// is seen.
    ///
    /// # Errors
    /// There is no such sub-environment, no instance can be in such a state, or `seen` is for another number of
    /// sub-environments.
    pub fn restore_env(
        &mut self,
        env_index: usize,
        state: &E::State,
        seed: Option<u64>,
        seen: &mut ColumnsMut<'_>,
    ) -> Result<(), BatchError> {
        self.demand("observations", seen.rows())?;
        let env_index = self.there(env_index)?;
        let Batch { sub_envs: SubEnvs { instances, chances, places }, team, .. } = self;
        team.touch(|| {
            instances[env_index].decode(state).map_err(BatchError::Refused)?;
            if let Some(seed) = seed {
                chances[env_index] = Chance::new(seed);
            }
            places[env_index].over = false;
            instances[env_index].look(&mut seen.row(env_index));
            Ok(())
        })
    }

    /// The canonical state of a sub-environment.
    ///
    /// # Errors
    /// There is no such sub-environment.
    pub fn state(&self, env_index: usize) -> Result<E::State, BatchError> {
        Ok(self.sub_envs.instances[self.there(env_index)?].encode())
    }

    /// Note from now on what a sub-environment does. Its draws come from `tape` row by row, the next reset or step first,
    /// and from its own chance where the tape has none (see [`Chance::note`]).
    ///
    /// # Errors
    /// There is no such sub-environment.
    pub fn watch(&mut self, env_index: usize, tape: Vec<Vec<Drawn>>) -> Result<(), BatchError> {
        let env_index = self.there(env_index)?;
        self.sub_envs.places[env_index].watch = Some(Box::new(Watch::new(tape)));
        Ok(())
    }

    /// What a watched sub-environment did since it was last asked: at most one step and one reset.
    ///
    /// # Errors
    /// There is no such sub-environment, or nobody watches it.
    pub fn report(&mut self, env_index: usize) -> Result<Report<E>, BatchError> {
        let env_index = self.there(env_index)?;
        let place = &mut self.sub_envs.places[env_index];
        Ok(place.watch.as_mut().ok_or(BatchError::Unwatched(env_index))?.report())
    }

    /// A sub-environment as it is, its chance included.
    ///
    /// # Errors
    /// There is no such sub-environment.
    pub fn save(&self, env_index: usize) -> Result<Saved<E>, BatchError> {
        let env_index = self.there(env_index)?;
        let SubEnvs { instances, chances, places } = &self.sub_envs;
        let over = places[env_index].over;
        Ok(Saved { environment: instances[env_index].clone(), chance: chances[env_index].clone(), over })
    }

    /// Put a saved instance into a sub-environment, and write what it sees.
    ///
    /// # Errors
    /// There is no such sub-environment, or `seen` is for another number of sub-environments.
    pub fn load(&mut self, env_index: usize, saved: &Saved<E>, seen: &mut ColumnsMut<'_>) -> Result<(), BatchError> {
        self.demand("observations", seen.rows())?;
        let env_index = self.there(env_index)?;
        let Batch { sub_envs: SubEnvs { instances, chances, places }, team, .. } = self;
        team.touch(|| {
            // An environment may have memory of its own to copy into, which spares it an allocation.
            instances[env_index].clone_from(&saved.environment);
            chances[env_index].clone_from(&saved.chance);
            places[env_index].over = saved.over;
            instances[env_index].look(&mut seen.row(env_index));
        });
        Ok(())
    }

    /// The number of a sub-environment, if it is there.
    fn there(&self, env_index: usize) -> Result<usize, BatchError> {
        let num_envs = self.len();
        if env_index < num_envs { Ok(env_index) } else { Err(BatchError::NoSubEnv { env_index, num_envs }) }
    }

    fn demand(&self, what: &'static str, rows: usize) -> Result<(), BatchError> {
        let num_envs = self.len();
        if rows == num_envs { Ok(()) } else { Err(BatchError::Rows { what, rows, num_envs }) }
    }
}

/// How many sub-environments one thread takes at a time: some parts a thread, so that one that is done early can take from
/// others.
fn grain(num_envs: usize, threads: usize) -> usize {
    const PARTS: usize = 4;
    if threads == 1 { num_envs.max(1) } else { num_envs.div_ceil(threads * PARTS).max(1) }
}
