//! Whether a batch is worth sharing out: what an instance takes is measured while one thread does them all.

use std::time::Duration;

/// Work that is done sooner is not handed over: to wake another thread takes about half of it.
const WORTH: Duration = Duration::from_micros(40);

/// After each work that was handed over a little is taken off, so that a batch whose instances have become quick is done
/// alone again now and then, and measured.
const DECAY: f64 = 31.0 / 32.0;

/// What an instance takes, in nanoseconds; nothing before the first work.
#[derive(Debug, Default)]
pub(crate) struct Load(Option<f64>);

impl Load {
    /// Whether so many instances are done before others could help.
    pub(crate) fn is_small(&self, instances: usize) -> bool {
        self.0.is_some_and(|each| each * (instances as f64) < WORTH.as_nanos() as f64)
    }

    /// So many instances took one thread so long.
    pub(crate) fn took_one(&mut self, instances: usize, time: Duration) {
        self.0 = Some(time.as_nanos() as f64 / instances.max(1) as f64);
    }

    /// So many instances took so many threads so long, with what it takes to wake them.
    pub(crate) fn took_many(&mut self, instances: usize, threads: usize, time: Duration) {
        let together = time.as_nanos() as f64 * threads as f64;
        self.0 = Some(DECAY * self.0.unwrap_or(together / instances.max(1) as f64));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUICK: Duration = Duration::from_micros(3);
    const SLOW: Duration = Duration::from_millis(3);

    #[test]
    fn what_is_not_known_is_shared_out() {
        assert!(!Load::default().is_small(1));
    }

    #[test]
    fn quick_instances_are_done_alone_and_slow_ones_are_not() {
        let mut load = Load::default();
        load.took_one(32, QUICK);
        assert!(load.is_small(32) && !load.is_small(3200));
        load.took_one(32, SLOW);
        assert!(!load.is_small(32));
    }

    #[test]
    fn a_batch_that_became_quick_is_soon_measured_again() {
        let mut load = Load::default();
        load.took_many(32, 2, SLOW);
        let calls = (0..1000).take_while(|_| {
            load.took_many(32, 2, Duration::from_micros(30));
            !load.is_small(32)
        });
        assert!((100..300).contains(&calls.count()));
    }
}
