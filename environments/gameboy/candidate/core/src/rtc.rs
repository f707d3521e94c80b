//! The clock of an MBC3, driven by the console's clocks alone: the host's time never enters.
//!
//! The counters advance lazily, when a game selects or latches them, and overflow as the chip's do: a value set above
//! its range counts up to the end of its bits without a carry.

use crate::CLOCKS_PER_SECOND;
use crate::state::{Reader, StateError, Writer, require};

const HALT: u8 = 0x40;
const DAY_CARRY: u8 = 0x80;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Time {
    pub(crate) seconds: u8,
    pub(crate) minutes: u8,
    pub(crate) hours: u8,
    /// Nine bits.
    pub(crate) days: u16,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Rtc {
    pub(crate) time: Time,
    pub(crate) latched: Time,
    pub(crate) is_latched: bool,
    pub(crate) halted: bool,
    pub(crate) day_carry: bool,
    /// Clocks of the second that is running.
    pub(crate) fraction: u64,
    pub(crate) seen: u64,
}

/// Counts up one; true where the value before was the last of its range. A value beyond the range wraps at its bits.
fn count(value: &mut u8, last: u8, mask: u8) -> bool {
    let carry = *value == last;
    *value = if carry { 0 } else { (*value + 1) & mask };
    carry
}

impl Time {
    /// One second on; true where the days overflowed.
    fn step(&mut self) -> bool {
        if count(&mut self.seconds, 59, 0x3F) && count(&mut self.minutes, 59, 0x3F) && count(&mut self.hours, 23, 0x1F)
        {
            self.days = (self.days + 1) & 0x1FF;
            return self.days == 0;
        }
        false
    }

    fn in_range(&self) -> bool {
        self.seconds < 60 && self.minutes < 60 && self.hours < 24
    }

    /// Many seconds on, from values in range; true where the days overflowed.
    fn jump(&mut self, seconds: u64) -> bool {
        let total = u64::from(self.hours) * 3600 + u64::from(self.minutes) * 60 + u64::from(self.seconds) + seconds;
        let days = u64::from(self.days) + total / 86_400;
        self.seconds = (total % 60) as u8;
        self.minutes = (total / 60 % 60) as u8;
        self.hours = (total / 3600 % 24) as u8;
        self.days = (days & 0x1FF) as u16;
        days > 0x1FF
    }
}

impl Rtc {
    /// Runs to clock `now`.
    pub(crate) fn tick(&mut self, now: u64) {
        let elapsed = now.saturating_sub(self.seen);
        self.seen = now;
        if self.halted {
            return;
        }
        self.fraction += elapsed;
        let mut seconds = self.fraction / CLOCKS_PER_SECOND;
        self.fraction %= CLOCKS_PER_SECOND;
        if seconds > 3600 && self.time.in_range() {
            self.day_carry |= self.time.jump(seconds);
            return;
        }
        while seconds > 0 {
            self.day_carry |= self.time.step();
            seconds -= 1;
            if seconds > 3600 && self.time.in_range() {
                self.day_carry |= self.time.jump(seconds);
                return;
            }
        }
    }

    /// A write to 0x6000..=0x7FFF: 0 and then 1 copies the time for the game to read.
    pub(crate) fn latch(&mut self, value: u8) {
        match value {
            0 => self.is_latched = false,
            1 => {
                if !self.is_latched {
                    self.latched = self.time.clone();
                }
                self.is_latched = true;
            }
            _ => {}
        }
    }

    /// Reads register 0x08..=0x0C. The halt and carry flags are not latched.
    pub(crate) fn read(&self, register: u16) -> u8 {
        match register {
            0x08 => self.latched.seconds,
            0x09 => self.latched.minutes,
            0x0A => self.latched.hours,
            0x0B => self.latched.days as u8,
            _ => {
                (self.latched.days >> 8) as u8
                    | if self.halted { HALT } else { 0 }
                    | if self.day_carry { DAY_CARRY } else { 0 }
            }
        }
    }

    /// Writes register 0x08..=0x0C.
    pub(crate) fn write(&mut self, register: u16, value: u8) {
        match register {
            0x08 => {
                self.time.seconds = value & 0x3F;
                self.fraction = 0;
            }
            0x09 => self.time.minutes = value & 0x3F,
            0x0A => self.time.hours = value & 0x1F,
            0x0B => self.time.days = self.time.days & 0x100 | u16::from(value),
            _ => {
                self.time.days = self.time.days & 0xFF | u16::from(value & 1) << 8;
                self.halted = value & HALT != 0;
                self.day_carry = value & DAY_CARRY != 0;
            }
        }
    }

    pub(crate) fn save(&self, w: &mut Writer) {
        for time in [&self.time, &self.latched] {
            w.u8(time.seconds);
            w.u8(time.minutes);
            w.u8(time.hours);
            w.u16(time.days);
        }
        w.bool(self.is_latched);
        w.bool(self.halted);
        w.bool(self.day_carry);
        w.u64(self.fraction);
        w.u64(self.seen);
    }

    pub(crate) fn load(&mut self, r: &mut Reader<'_>) -> Result<(), StateError> {
        for time in [&mut self.time, &mut self.latched] {
            time.seconds = r.at_most(0x3F, "clock seconds")?;
            time.minutes = r.at_most(0x3F, "clock minutes")?;
            time.hours = r.at_most(0x1F, "clock hours")?;
            time.days = r.u16()?;
            require(time.days <= 0x1FF, "clock days")?;
        }
        self.is_latched = r.bool("clock latch")?;
        self.halted = r.bool("clock halt")?;
        self.day_carry = r.bool("clock carry")?;
        self.fraction = r.u64()?;
        require(self.fraction < CLOCKS_PER_SECOND, "clock fraction")?;
        self.seen = r.u64()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u8, minutes: u8, hours: u8, days: u16) -> Rtc {
        Rtc { time: Time { seconds, minutes, hours, days }, ..Rtc::default() }
    }

    #[test]
    fn a_second_is_the_console_clocks_of_a_second() {
        let mut rtc = Rtc::default();
        rtc.tick(CLOCKS_PER_SECOND - 1);
        assert_eq!(rtc.time.seconds, 0);
        rtc.tick(CLOCKS_PER_SECOND);
        assert_eq!(rtc.time.seconds, 1);
    }

    #[test]
    fn the_last_second_of_day_511_carries() {
        let mut rtc = at(59, 59, 23, 511);
        rtc.tick(CLOCKS_PER_SECOND);
        assert_eq!(rtc.time, Time::default());
        assert!(rtc.day_carry);
        assert_eq!(rtc.read(0x0C), 0x80);
    }

    #[test]
    fn a_value_out_of_range_wraps_without_a_carry() {
        let mut rtc = at(63, 0, 0, 0);
        rtc.tick(CLOCKS_PER_SECOND);
        assert_eq!((rtc.time.seconds, rtc.time.minutes), (0, 0));
    }

    #[test]
    fn a_jump_is_as_many_steps() {
        let mut far = at(5, 6, 7, 8);
        let mut near = far.clone();
        far.tick(100_000 * CLOCKS_PER_SECOND);
        for second in 1..=100_000 {
            near.tick(second * CLOCKS_PER_SECOND);
        }
        assert_eq!(far.time, near.time);
    }

    #[test]
    fn a_game_reads_the_time_of_the_latch() {
        let mut rtc = at(1, 2, 3, 0x104);
        rtc.latch(0);
        rtc.latch(1);
        rtc.tick(CLOCKS_PER_SECOND);
        let read: Vec<u8> = (0x08..=0x0C).map(|r| rtc.read(r)).collect();
        assert_eq!(read, [1, 2, 3, 4, 1]);
        rtc.latch(1);
        assert_eq!(rtc.read(0x08), 1, "a second 1 without a 0 does not latch");
    }

    #[test]
    fn a_halted_clock_stands() {
        let mut rtc = Rtc::default();
        rtc.write(0x0C, HALT);
        rtc.tick(10 * CLOCKS_PER_SECOND);
        assert_eq!(rtc.time.seconds, 0);
        rtc.write(0x0C, 0);
        rtc.tick(11 * CLOCKS_PER_SECOND);
        assert_eq!(rtc.time.seconds, 1);
    }
}
