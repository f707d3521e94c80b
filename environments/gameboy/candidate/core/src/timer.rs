//! DIV, TIMA, TMA and TAC: a 16-bit counter whose falling bits clock TIMA, and the reload that follows an overflow.
//!
//! TIMA counts where the bit of the counter that TAC selects falls. After an overflow TIMA holds TMA at once (a read
//! gives 0 for four clocks), the interrupt is requested four clocks later, and for four clocks more a write to TIMA is
//! lost. Time is in clocks of 4 194 304 Hz.

use crate::NEVER;
use crate::state::{Reader, StateError, Writer, require};

/// TAC bit 2.
const ENABLED: u8 = 0b100;
/// Clocks of each of the two phases after an overflow.
const RELOAD_PHASE: u8 = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reload {
    Idle,
    /// TIMA overflowed; the interrupt comes when this phase ends.
    Pending,
    /// The interrupt came; TIMA is being written from TMA.
    Writing,
}

impl Reload {
    /// The phase whose number is given; numbers beyond the last are that.
    pub(crate) fn of(number: u8) -> Self {
        match number {
            0 => Self::Idle,
            1 => Self::Pending,
            _ => Self::Writing,
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Timer {
    pub(crate) counter: u16,
    pub(crate) tima: u8,
    pub(crate) tma: u8,
    pub(crate) tac: u8,
    pub(crate) reload: Reload,
    pub(crate) reload_left: u8,
    pub(crate) seen: u64,
    /// Clocks until the timer can change something that the processor must see.
    pub(crate) until_event: i64,
}

impl Timer {
    pub(crate) fn new() -> Self {
        Self { counter: 0, tima: 0, tma: 0, tac: 0, reload: Reload::Idle, reload_left: 0, seen: 0, until_event: 0 }
    }

    /// The counter's bit that clocks TIMA, as a mask.
    fn bit(tac: u8) -> u16 {
        match tac & 0b11 {
            0 => 1 << 9,
            1 => 1 << 3,
            2 => 1 << 5,
            _ => 1 << 7,
        }
    }

    /// Clocks until the selected bit falls, 1 to 1024.
    fn until_edge(&self) -> u32 {
        let period = u32::from(Self::bit(self.tac)) * 2;
        period - (u32::from(self.counter) & (period - 1))
    }

    fn count(&mut self) {
        let (tima, overflow) = self.tima.overflowing_add(1);
        self.tima = tima;
        if overflow {
            self.tima = self.tma;
            self.reload = Reload::Pending;
            self.reload_left = RELOAD_PHASE;
        }
    }

    /// Runs to clock `now`; true where the interrupt is to be requested.
    pub(crate) fn tick(&mut self, now: u64) -> bool {
        let mut left = now - self.seen;
        if left == 0 {
            return false;
        }
        self.seen = now;
        let mut interrupt = false;
        while left > 0 {
            let edge = self.tac & ENABLED != 0;
            let mut step = if edge { left.min(u64::from(self.until_edge())) } else { left };
            if self.reload != Reload::Idle {
                step = step.min(u64::from(self.reload_left));
                self.reload_left -= step as u8;
                if self.reload_left == 0 {
                    if self.reload == Reload::Pending {
                        self.reload = Reload::Writing;
                        self.reload_left = RELOAD_PHASE;
                        interrupt = true;
                    } else {
                        self.reload = Reload::Idle;
                    }
                }
            }
            let falls = edge && step == u64::from(self.until_edge());
            self.counter = self.counter.wrapping_add(step as u16);
            if falls {
                self.count();
            }
            left -= step;
        }
        self.until_event = if self.tac & ENABLED != 0 {
            let edge = i64::from(self.until_edge());
            if self.reload == Reload::Idle { edge } else { edge.min(i64::from(self.reload_left)) }
        } else {
            NEVER
        };
        interrupt
    }

    /// Whether an overflow is not over, which takes its time with the timer stopped too.
    pub(crate) fn is_reloading(&self) -> bool {
        self.reload != Reload::Idle
    }

    pub(crate) fn div(&self) -> u8 {
        (self.counter >> 8) as u8
    }

    /// The counter of which DIV is the upper half.
    pub(crate) fn counter(&self) -> u16 {
        self.counter
    }

    /// A write to DIV. The selected bit falls if it was high, which counts.
    pub(crate) fn reset(&mut self) {
        if self.tac & ENABLED != 0 && self.counter & Self::bit(self.tac) != 0 {
            self.count();
        }
        self.counter = 0;
    }

    pub(crate) fn tima(&self) -> u8 {
        if self.reload == Reload::Pending { 0 } else { self.tima }
    }

    pub(crate) fn set_tima(&mut self, value: u8) {
        if self.reload != Reload::Writing {
            self.tima = value;
        }
    }

    pub(crate) fn tma(&self) -> u8 {
        self.tma
    }

    pub(crate) fn set_tma(&mut self, value: u8) {
        self.tma = value;
        if self.reload != Reload::Idle {
            self.tima = value;
        }
    }

    pub(crate) fn tac(&self) -> u8 {
        self.tac | 0b1111_1000
    }

    /// A write to TAC. What TIMA is clocked by can fall through the change alone.
    pub(crate) fn set_tac(&mut self, value: u8) {
        let was_high = self.tac & ENABLED != 0 && self.counter & Self::bit(self.tac) != 0;
        let is_high = value & ENABLED != 0 && self.counter & Self::bit(value) != 0;
        if was_high && !is_high {
            self.count();
        }
        self.tac = value & 0b111;
    }

    pub(crate) fn save(&self, w: &mut Writer) {
        w.u16(self.counter);
        for byte in [self.tima, self.tma, self.tac, self.reload as u8, self.reload_left] {
            w.u8(byte);
        }
        w.u64(self.seen);
        w.i64(self.until_event);
    }

    pub(crate) fn load(&mut self, r: &mut Reader<'_>) -> Result<(), StateError> {
        self.counter = r.u16()?;
        self.tima = r.u8()?;
        self.tma = r.u8()?;
        self.tac = r.at_most(0b111, "TAC")?;
        self.reload = Reload::of(r.at_most(2, "timer reload")?);
        self.reload_left = r.at_most(RELOAD_PHASE, "timer reload")?;
        require((self.reload == Reload::Idle) == (self.reload_left == 0), "timer reload")?;
        self.seen = r.u64()?;
        self.until_event = r.i64()?;
        Ok(())
    }

    /// The clock up to which the timer has run.
    pub(crate) fn seen(&self) -> u64 {
        self.seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same rules one clock at a time, to hold the steps of `tick` against.
    fn reference(clocks: u64, tac: u8, tma: u8) -> (u16, u8, Option<u64>) {
        let (mut counter, mut tima, mut pending, mut first) = (0u16, 0u16, 0, None);
        for clock in 1..=clocks {
            if pending > 0 {
                pending -= 1;
                if pending == 0 && first.is_none() {
                    first = Some(clock);
                }
            }
            let before = counter;
            counter = counter.wrapping_add(1);
            let bit = Timer::bit(tac);
            if tac & 4 != 0 && before & bit != 0 && counter & bit == 0 {
                tima += 1;
                if tima > 0xFF {
                    tima = u16::from(tma);
                    pending = 4;
                }
            }
        }
        (counter, tima as u8, first)
    }

    #[test]
    fn tima_counts_at_the_rate_that_tac_selects() {
        for tac in 0..8 {
            for clocks in [1, 15, 16, 17, 4095, 4096, 70224, 300_000] {
                let mut timer = Timer::new();
                timer.set_tac(tac);
                timer.set_tma(0xF0);
                timer.tick(clocks);
                let (counter, tima, _) = reference(clocks, tac, 0xF0);
                assert_eq!(timer.counter(), counter, "TAC {tac} after {clocks}");
                assert_eq!(timer.tima, tima, "TAC {tac} after {clocks}");
            }
        }
    }

    #[test]
    fn a_long_tick_is_many_short_ones() {
        let mut long = Timer::new();
        long.set_tac(5);
        let mut short = long.clone();
        let mut interrupts = 0;
        for now in (4..=40_000).step_by(4) {
            interrupts += u32::from(short.tick(now));
        }
        assert!(long.tick(40_000));
        assert_eq!(long.tima(), short.tima());
        assert_eq!(interrupts, 40_000 / 16 / 256);
    }

    #[test]
    fn the_interrupt_comes_four_clocks_after_the_overflow() {
        let (_, _, first) = reference(5000, 5, 0);
        let mut timer = Timer::new();
        timer.set_tac(5);
        let clock = (1..5000).find(|&now| timer.tick(now));
        assert_eq!(clock, first);
        assert_eq!(clock, Some(256 * 16 + 4));
    }

    #[test]
    fn tima_reads_zero_until_the_interrupt_and_then_tma() {
        let mut timer = Timer::new();
        timer.set_tac(5);
        timer.set_tma(0xAB);
        timer.tick(256 * 16);
        assert_eq!(timer.tima(), 0);
        timer.tick(256 * 16 + 4);
        assert_eq!(timer.tima(), 0xAB);
        timer.set_tima(1);
        assert_eq!(timer.tima(), 0xAB, "a write while TMA is copied is lost");
        timer.tick(256 * 16 + 8);
        timer.set_tima(1);
        assert_eq!(timer.tima(), 1);
    }

    #[test]
    fn a_write_to_div_counts_if_the_bit_was_high() {
        let mut timer = Timer::new();
        timer.set_tac(5);
        timer.tick(8);
        timer.reset();
        assert_eq!((timer.tima(), timer.counter()), (1, 0));
        timer.tick(15);
        timer.reset();
        assert_eq!(timer.tima(), 1, "7 clocks on, the bit is low");
    }

    #[test]
    fn switching_the_timer_off_with_the_bit_high_counts() {
        let mut timer = Timer::new();
        timer.set_tac(5);
        timer.tick(8);
        timer.set_tac(0);
        assert_eq!(timer.tima(), 1);
        assert_eq!(timer.tac(), 0xF8);
    }
}
