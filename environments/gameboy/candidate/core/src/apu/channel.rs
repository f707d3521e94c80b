//! The two pulse channels (the first with its sweep), the noise channel, and the length counter that all four have.

use crate::state::{Reader, StateError, Writer, require};

const TRIGGER: u8 = 0x80;
const LENGTH_ENABLE: u8 = 0x40;
/// The bits of NRx2 that are zero where the channel's converter is off.
const DAC: u8 = 0xF8;
/// A period that the sweep may not reach.
const PERIOD_LIMIT: u16 = 0x800;
/// Clocks from reaching the last period to the second overflow check.
const SECOND_CHECK: u64 = 32;
/// Clocks that a trigger adds to a second check that is under way.
const TRIGGER_DELAY: u64 = 8;

/// A counter at 256 Hz that switches its channel off.
#[derive(Clone, Debug)]
pub(crate) struct Length {
    pub(crate) enabled: bool,
    pub(crate) left: u16,
    full: u16,
}

impl Length {
    pub(crate) fn new(full: u16) -> Self {
        Self { enabled: false, left: full, full }
    }

    /// A write to NRx1; the unused upper bits are cut off.
    pub(crate) fn set(&mut self, value: u8) {
        self.left = self.full - u16::from(value) % self.full;
    }

    pub(crate) fn trigger(&mut self) {
        if self.left == 0 {
            self.left = self.full;
        }
    }

    /// One clock; true where it was the last.
    pub(crate) fn clock(&mut self) -> bool {
        if !self.enabled || self.left == 0 {
            return false;
        }
        self.left -= 1;
        self.left == 0
    }

    pub(crate) fn save(&self, w: &mut Writer) {
        w.bool(self.enabled);
        w.u16(self.left);
    }

    pub(crate) fn load(&mut self, r: &mut Reader<'_>) -> Result<(), StateError> {
        self.enabled = r.bool("length enable")?;
        self.left = r.u16()?;
        require(self.left <= self.full, "length")
    }
}

/// The unit that moves channel 1's period.
#[derive(Clone, Debug, Default)]
struct Sweep {
    /// NR10.
    control: u8,
    enabled: bool,
    /// Sequencer clocks left, counted down from the pace (8 where that is 0).
    timer: u8,
    shadow: u16,
    /// Clocks until the second overflow check; 0 where there is none.
    check: u64,
    /// A calculation subtracted since the last trigger.
    subtracted: bool,
}

impl Sweep {
    fn pace(&self) -> u8 {
        self.control >> 4 & 0b111
    }

    fn shift(&self) -> u8 {
        self.control & 0b111
    }

    fn subtracts(&self) -> bool {
        self.control & 0b1000 != 0
    }

    fn reload(&mut self) {
        self.timer = if self.pace() == 0 { 8 } else { self.pace() };
    }

    /// The next period, and that the calculation was made.
    fn calculate(&mut self) -> u16 {
        let change = self.shadow >> self.shift();
        if self.subtracts() {
            self.subtracted = true;
            self.shadow - change
        } else {
            self.shadow + change
        }
    }
}

/// A pulse channel, as far as registers show it.
#[derive(Clone, Debug)]
pub(crate) struct Pulse {
    pub(crate) on: bool,
    pub(crate) length: Length,
    duty: u8,
    envelope: u8,
    period: u16,
    sweep: Sweep,
}

impl Default for Pulse {
    fn default() -> Self {
        Self { on: false, length: Length::new(64), duty: 0, envelope: 0, period: 0, sweep: Sweep::default() }
    }
}

impl Pulse {
    pub(crate) fn read(&self, field: u8, sweeps: bool) -> u8 {
        match field {
            0 if sweeps => self.sweep.control | 0x80,
            1 => self.duty << 6 | 0x3F,
            2 => self.envelope,
            4 => u8::from(self.length.enabled) << 6 | 0xBF,
            _ => 0xFF,
        }
    }

    pub(crate) fn write(&mut self, field: u8, value: u8, powered: bool, sweeps: bool) {
        match field {
            0 if sweeps => {
                let subtracted = self.sweep.subtracts();
                self.sweep.control = value & 0x7F;
                // Turning from subtraction to addition after one was made stops the channel.
                if subtracted && !self.sweep.subtracts() && self.sweep.subtracted {
                    self.on = false;
                }
            }
            1 => {
                if powered {
                    self.duty = value >> 6;
                }
                self.length.set(value);
            }
            2 => {
                self.envelope = value;
                if value & DAC == 0 {
                    self.on = false;
                }
            }
            3 => self.period = self.period & 0x700 | u16::from(value),
            4 => {
                self.length.enabled = value & LENGTH_ENABLE != 0;
                self.period = u16::from(value & 0b111) << 8 | self.period & 0xFF;
                if value & TRIGGER != 0 {
                    self.on = self.envelope & DAC != 0;
                    self.length.trigger();
                    if sweeps {
                        self.trigger_sweep();
                    }
                }
            }
            _ => {}
        }
    }

    fn trigger_sweep(&mut self) {
        let sweep = &mut self.sweep;
        sweep.shadow = self.period;
        sweep.reload();
        let pending = sweep.check != 0;
        if pending {
            sweep.check += TRIGGER_DELAY;
        }
        sweep.subtracted = false;
        sweep.enabled = sweep.pace() != 0 || sweep.shift() != 0;
        if sweep.shift() != 0 && !pending {
            self.check_overflow();
        }
    }

    fn check_overflow(&mut self) {
        if self.sweep.calculate() >= PERIOD_LIMIT {
            self.on = false;
        }
    }

    /// A sequencer clock of the sweep, at 128 Hz.
    pub(crate) fn clock_sweep(&mut self) {
        if !self.sweep.enabled || !self.on {
            return;
        }
        self.sweep.timer = self.sweep.timer.saturating_sub(1);
        if self.sweep.timer > 0 {
            return;
        }
        self.sweep.reload();
        if self.sweep.pace() == 0 {
            return;
        }
        let period = self.sweep.calculate();
        if period >= PERIOD_LIMIT {
            self.on = false;
        } else if self.sweep.shift() != 0 {
            self.sweep.shadow = period;
            self.period = period;
            if period == PERIOD_LIMIT - 1 {
                self.sweep.check = SECOND_CHECK;
            }
            if self.sweep.check == 0 {
                self.check_overflow();
            }
        }
    }

    /// `clocks` on: the second check may come due.
    pub(crate) fn tick(&mut self, clocks: u64) {
        if self.sweep.check == 0 {
            return;
        }
        self.sweep.check = self.sweep.check.saturating_sub(clocks);
        if self.sweep.check == 0 && self.sweep.shift() != 0 {
            self.check_overflow();
        }
    }

    pub(crate) fn forget_check(&mut self) {
        self.sweep.check = 0;
    }

    pub(crate) fn save(&self, w: &mut Writer) {
        w.bool(self.on);
        self.length.save(w);
        w.u8(self.duty);
        w.u8(self.envelope);
        w.u16(self.period);
        w.u8(self.sweep.control);
        w.bool(self.sweep.enabled);
        w.u8(self.sweep.timer);
        w.u16(self.sweep.shadow);
        w.u64(self.sweep.check);
        w.bool(self.sweep.subtracted);
    }

    pub(crate) fn load(&mut self, r: &mut Reader<'_>) -> Result<(), StateError> {
        self.on = r.bool("channel on")?;
        self.length.load(r)?;
        self.duty = r.at_most(0b11, "duty")?;
        self.envelope = r.u8()?;
        self.period = r.u16()?;
        self.sweep.control = r.at_most(0x7F, "NR10")?;
        self.sweep.enabled = r.bool("sweep enable")?;
        self.sweep.timer = r.at_most(8, "sweep timer")?;
        self.sweep.shadow = r.u16()?;
        self.sweep.check = r.u64()?;
        self.sweep.subtracted = r.bool("sweep subtracted")?;
        require(self.period < PERIOD_LIMIT && self.sweep.shadow < PERIOD_LIMIT, "channel period")?;
        require(self.sweep.check < 1 << 62, "sweep check")
    }
}

/// The noise channel, as far as registers show it.
#[derive(Clone, Debug)]
pub(crate) struct Noise {
    pub(crate) on: bool,
    pub(crate) length: Length,
    envelope: u8,
    clock: u8,
}

impl Default for Noise {
    fn default() -> Self {
        Self { on: false, length: Length::new(64), envelope: 0, clock: 0 }
    }
}

impl Noise {
    pub(crate) fn read(&self, field: u8) -> u8 {
        match field {
            2 => self.envelope,
            3 => self.clock,
            4 => u8::from(self.length.enabled) << 6 | 0xBF,
            _ => 0xFF,
        }
    }

    pub(crate) fn write(&mut self, field: u8, value: u8) {
        match field {
            1 => self.length.set(value),
            2 => {
                self.envelope = value;
                if value & DAC == 0 {
                    self.on = false;
                }
            }
            3 => self.clock = value,
            4 => {
                self.length.enabled = value & LENGTH_ENABLE != 0;
                if value & TRIGGER != 0 {
                    self.on = self.envelope & DAC != 0;
                    self.length.trigger();
                }
            }
            _ => {}
        }
    }

    pub(crate) fn save(&self, w: &mut Writer) {
        w.bool(self.on);
        self.length.save(w);
        w.u8(self.envelope);
        w.u8(self.clock);
    }

    pub(crate) fn load(&mut self, r: &mut Reader<'_>) -> Result<(), StateError> {
        self.on = r.bool("noise on")?;
        self.length.load(r)?;
        self.envelope = r.u8()?;
        self.clock = r.u8()?;
        Ok(())
    }
}
