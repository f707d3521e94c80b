//! Whether a batch is worth sharing out: what an instance takes is measured while one thread does them all.

use std::time::Duration;

/// Work that is done sooner is not handed over: to wake another thread takes about half of it.
const WORTH: Duration = Duration::from_micros(40);

/// After each work that was handed over and done so soon a little is taken off, so that it is tried alone now and then: only
/// then is it measured.
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
        self.0 = Some(share(instances, time));
    }

    /// So many instances took all threads so long. One alone would have taken no less than that, but for the waking.
    pub(crate) fn took_all(&mut self, instances: usize, time: Duration) {
        self.0 = match self.0 {
            None => Some(share(instances, time)),
            Some(each) if time < WORTH => Some(DECAY * each),
            long => long,
        };
    }
}

fn share(instances: usize, time: Duration) -> f64 {
    time.as_nanos() as f64 / instances.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUICK: Duration = Duration::from_micros(3);
    const WOKEN: Duration = Duration::from_micros(25);
    const SLOW: Duration = Duration::from_millis(3);

    #[test]
    fn what_is_not_known_is_shared_out_once() {
        let mut load = Load::default();
        assert!(!load.is_small(1));
        load.took_all(32, WOKEN);
        assert!(load.is_small(32));
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
    fn a_batch_that_stays_slow_is_never_tried_alone() {
        let mut load = Load::default();
        for _ in 0..10_000 {
            load.took_all(32, SLOW / 16);
            assert!(!load.is_small(32));
        }
    }

    #[test]
    fn a_batch_that_became_quick_is_soon_tried_alone() {
        let mut load = Load::default();
        load.took_one(32, SLOW);
        let calls = (0..1000).take_while(|_| {
            load.took_all(32, WOKEN);
            !load.is_small(32)
        });
        assert!((100..200).contains(&calls.count()));
    }
}
