//! Whether a batch is worth sharing out: what a step takes is measured while one thread does all of it.

use std::time::Duration;

/// Work that is done sooner is not handed over: to wake another thread takes about half of it.
const WORTH: Duration = Duration::from_micros(40);

/// After each work that was handed over and done so soon a little is taken off, so that it is tried alone now and then: only
/// then is it measured.
const DECAY: f64 = 31.0 / 32.0;

/// What a step of the batch takes one thread; nothing before the first.
#[derive(Debug, Default)]
pub(crate) struct Load(Option<Duration>);

impl Load {
    /// Whether one thread is done before others could help.
    pub(crate) fn is_small(&self) -> bool {
        self.0.is_some_and(|alone| alone < WORTH)
    }

    /// One thread took so long.
    pub(crate) fn took_one(&mut self, time: Duration) {
        self.0 = Some(time);
    }

    /// All threads took so long. One alone would have taken no less than that, but for the waking.
    pub(crate) fn took_all(&mut self, time: Duration) {
        self.0 = match self.0 {
            None => Some(time),
            Some(alone) if time < WORTH => Some(alone.mul_f64(DECAY)),
            long => long,
        };
    }
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
        assert!(!load.is_small());
        load.took_all(WOKEN);
        assert!(load.is_small());
    }

    #[test]
    fn a_quick_batch_is_done_alone_and_a_slow_one_is_not() {
        let mut load = Load::default();
        load.took_one(QUICK);
        assert!(load.is_small());
        load.took_one(QUICK * 100);
        assert!(!load.is_small());
        load.took_one(SLOW);
        assert!(!load.is_small());
    }

    #[test]
    fn a_batch_that_stays_slow_is_never_tried_alone() {
        let mut load = Load::default();
        for _ in 0..10_000 {
            load.took_all(SLOW / 16);
            assert!(!load.is_small());
        }
    }

    #[test]
    fn a_batch_that_became_quick_is_soon_tried_alone() {
        let mut load = Load::default();
        load.took_one(SLOW);
        let calls = (0..1000).take_while(|_| {
            load.took_all(WOKEN);
            !load.is_small()
        });
        assert!((100..200).contains(&calls.count()));
    }
}
