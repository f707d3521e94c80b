//! The threads among which a batch shares out its work: no more than help, after a fork too, and stopped when asked.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::NoRoom;

/// So many threads are started at most, where the machine has no more processors.
pub const MOST_THREADS: usize = 256;

/// How often the thread that waits asks whether to stop.
const ASK: Duration = Duration::from_millis(50);

/// Asked on the thread that called: whether to stop.
pub type Asked<'a> = &'a (dyn Fn() -> bool + Sync);

/// Why many instances cannot be made, or do not work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TeamError {
    /// There is no memory for so many instances.
    NoRoom(NoRoom),
    /// The threads could not be started.
    Threads(String),
    /// Whoever asked for it stopped it.
    Stopped,
    /// An earlier call was stopped or failed in the middle, and some instances are further on than others.
    Torn,
}

impl fmt::Display for TeamError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TeamError::NoRoom(no_room) => write!(formatter, "{no_room}"),
            TeamError::Threads(why) => write!(formatter, "the threads cannot be started: {why}"),
            TeamError::Stopped => write!(formatter, "stopped before all environments were done"),
            TeamError::Torn => {
                write!(formatter, "an earlier step or reset was stopped in the middle; reset all environments first")
            }
        }
    }
}

impl std::error::Error for TeamError {}

/// Threads of one process, which work on many instances.
#[derive(Debug)]
pub struct Team {
    pool: ThreadPool,
    name: &'static str,
    process: u32,
    /// Whether work was begun and not done to its end.
    torn: bool,
}

impl Team {
    /// So many threads; 0 takes one for each processor. Of more than [`MOST_THREADS`] and processors the rest is left out.
    ///
    /// # Errors
    /// The threads cannot be started.
    pub fn new(threads: usize, name: &'static str) -> Result<Self, TeamError> {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let pool = pool(threads.min(processors.max(MOST_THREADS)), name)?;
        Ok(Team { pool, name, process: std::process::id(), torn: false })
    }

    /// How many threads there are.
    pub fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    /// Nothing, where the last work was done to its end.
    ///
    /// # Errors
    /// [`TeamError::Torn`]: it was not, so that nothing may go on from there.
    pub fn whole(&self) -> Result<(), TeamError> {
        if self.torn { Err(TeamError::Torn) } else { Ok(()) }
    }

    /// Do work on the thread that calls, which touches few instances. If it panics, all of them must be reset.
    pub fn touch<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let torn = std::mem::replace(&mut self.torn, true);
        let done = work();
        self.torn = torn;
        done
    }

    /// Do work on the threads, or on the one that calls if it is done `alone`: handing over a small batch takes longer.
    /// Meanwhile that one asks now and then whether to stop.
    ///
    /// # Errors
    /// [`TeamError::Stopped`]: it was not done to its end; [`TeamError::Threads`]: in a process that was forked from the one
    /// before, the threads cannot be started.
    pub fn work(
        &mut self,
        alone: bool,
        asked: Asked<'_>,
        work: impl FnOnce(&Stop<'_>) + Send,
    ) -> Result<(), TeamError> {
        self.torn = true; // until it is done: it may panic
        let stop = if alone { Stop::of_one(asked) } else { Stop::of_many() };
        if alone {
            work(&stop);
        } else {
            self.start_after_fork()?;
            self.hand_over(&stop, asked, work);
        }
        self.torn = stop.said.load(Relaxed);
        if self.torn { Err(TeamError::Stopped) } else { Ok(()) }
    }

    /// Have the threads work, and wait for them.
    fn hand_over(&self, stop: &Stop<'_>, asked: Asked<'_>, work: impl FnOnce(&Stop<'_>) + Send) {
        let done = Done::default();
        self.pool.in_place_scope(|scope| {
            scope.spawn(|_| {
                let _told = Told(&done);
                work(stop);
            });
            while !done.within(ASK) {
                if asked() {
                    stop.said.store(true, Relaxed);
                    break;
                }
            }
        });
    }

    /// A fork leaves threads behind: in the child, whoever waited for them would wait for ever.
    fn start_after_fork(&mut self) -> Result<(), TeamError> {
        if self.process != std::process::id() {
            let fresh = pool(self.pool.current_num_threads(), self.name)?;
            std::mem::forget(std::mem::replace(&mut self.pool, fresh)); // dropped, it would speak to threads of the parent
            self.process = std::process::id();
        }
        Ok(())
    }
}

fn pool(threads: usize, name: &'static str) -> Result<ThreadPool, TeamError> {
    let builder = ThreadPoolBuilder::new().num_threads(threads).thread_name(move |number| format!("{name}-{number}"));
    builder.build().map_err(|error| TeamError::Threads(error.to_string()))
}

/// Whether work is to stop: its parts ask before they begin.
pub struct Stop<'a> {
    said: AtomicBool,
    /// Where the thread that called does the work, it has to ask itself.
    itself: Option<Itself<'a>>,
}

struct Itself<'a> {
    asked: Asked<'a>,
    left: AtomicU32,
    pace: Mutex<Pace>,
}

/// After how many parts the clock is read: often where they are slow, seldom where they are quick.
struct Pace {
    parts: u32,
    read: Instant,
    asked: Instant,
}

impl<'a> Stop<'a> {
    fn of_many() -> Self {
        Stop { said: AtomicBool::new(false), itself: None }
    }

    fn of_one(asked: Asked<'a>) -> Self {
        let now = Instant::now();
        let pace = Mutex::new(Pace { parts: 1, read: now, asked: now });
        // Before the first part no time has passed.
        Stop { said: AtomicBool::new(false), itself: Some(Itself { asked, left: AtomicU32::new(2), pace }) }
    }

    /// Whether to stop now.
    pub fn now(&self) -> bool {
        if let Some(itself) = &self.itself {
            let left = itself.left.load(Relaxed).saturating_sub(1);
            itself.left.store(left, Relaxed);
            if left == 0 && itself.asks() {
                self.said.store(true, Relaxed);
            }
        }
        self.said.load(Relaxed)
    }
}

impl Itself<'_> {
    fn asks(&self) -> bool {
        let mut pace = self.pace.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let took = now - pace.read;
        pace.read = now;
        pace.parts = if took < ASK / 50 { pace.parts.saturating_mul(8).min(1 << 16) } else { (pace.parts / 2).max(1) };
        self.left.store(pace.parts, Relaxed);
        if now - pace.asked < ASK {
            return false;
        }
        pace.asked = now;
        (self.asked)()
    }
}

/// Whether the work that was handed over is done.
#[derive(Default)]
struct Done {
    done: Mutex<bool>,
    changed: Condvar,
}

impl Done {
    fn within(&self, time: Duration) -> bool {
        let done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        let (done, _) =
            self.changed.wait_timeout_while(done, time, |done| !*done).unwrap_or_else(PoisonError::into_inner);
        *done
    }
}

/// Tells that work is done, when it panics too.
struct Told<'a>(&'a Done);

impl Drop for Told<'_> {
    fn drop(&mut self) {
        *self.0.done.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.changed.notify_one();
    }
}
