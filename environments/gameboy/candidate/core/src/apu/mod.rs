//! The sound chip as far as a game can read it: registers, which channels are on, and wave RAM.
//!
//! Nothing is mixed and no sample is made. What PyBoy's sampling changes is kept all the same: the slices of time into
//! which it cuts a tick (they decide whether wave RAM answers), and the clock of the next sample, which PyBoy's main
//! loop reads as a distance and which therefore cuts the first frame short.

mod channel;
mod wave;

use crate::state::{Reader, StateError, Writer, require};
use crate::{CLOCKS_PER_SECOND, NEVER};
use channel::{Length, Noise, Pulse};
use wave::Wave;

/// Clocks between two steps of the 512 Hz sequencer.
const STEP_CLOCKS: u64 = 8192;
/// Registers from 0xFF10: five for each of the four channels.
const PER_CHANNEL: u8 = 5;
const NR50: u8 = 0x14;
const NR51: u8 = 0x15;
const NR52: u8 = 0x16;
const WAVE_RAM: std::ops::RangeInclusive<u8> = 0x20..=0x2F;
const POWER: u8 = 0x80;
const TRIGGER: u8 = 0x80;
const LENGTH_ENABLE: u8 = 0x40;
/// The bit of DIV whose fall clocks the sequencer.
const DIV_BIT: u8 = 0x10;

/// What happens to the sequencer's next edges after the chip was switched on while DIV's bit was high.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Delay {
    None,
    /// The next edge is skipped.
    Skip,
    /// The edge after that acts without advancing the step.
    Hold,
    /// Both are over. It is remembered, as a second power-on write starts from it again.
    Over,
}

#[derive(Clone, Debug)]
pub(crate) struct Apu {
    emulated: bool,
    /// Whether the frame that runs is cut at every sample.
    pub(crate) sampling: bool,
    powered: bool,
    clock: u64,
    next_sample: f64,
    /// The first clock that is not before `next_sample`.
    sample_clock: u64,
    sample_clocks: f64,
    next_step: u64,
    step: u64,
    delay: Delay,
    /// A write to DIV clocked the sequencer, and channel 1 was not triggered since.
    div_written: bool,
    nr50: u8,
    nr51: u8,
    sweep: Pulse,
    tone: Pulse,
    wave: Wave,
    noise: Noise,
    /// PyBoy's distance to the next event, which is the *clock* of the event.
    pub(crate) until_event: i64,
}

impl Apu {
    /// `sample_rate` is in Hz; without emulation every register reads 0 and writes are lost.
    pub(crate) fn new(emulated: bool, sample_rate: u32) -> Self {
        let sample_clocks = CLOCKS_PER_SECOND as f64 / f64::from(sample_rate.max(1));
        Self {
            emulated,
            sampling: true,
            powered: false,
            clock: 0,
            next_sample: sample_clocks,
            sample_clock: sample_clocks.ceil() as u64,
            sample_clocks,
            next_step: STEP_CLOCKS,
            step: 3,
            delay: Delay::None,
            div_written: false,
            nr50: 0,
            nr51: 0,
            sweep: Pulse::default(),
            tone: Pulse::default(),
            wave: Wave::default(),
            noise: Noise::default(),
            until_event: if emulated { sample_clocks.min(STEP_CLOCKS as f64).ceil() as i64 } else { NEVER },
        }
    }

    /// Runs to clock `now`.
    pub(crate) fn tick(&mut self, now: u64) {
        if !self.emulated {
            return;
        }
        self.wave.close();
        while self.clock < now {
            let mut slice = (now - self.clock).min(self.next_step - self.clock);
            if self.sampling {
                slice = slice.min(self.sample_clock - self.clock);
            }
            if self.powered {
                self.sweep.tick(slice);
                self.wave.tick(slice);
            }
            self.clock += slice;
            while self.clock >= self.next_step {
                self.sequence();
                self.next_step += STEP_CLOCKS;
            }
            if self.clock >= self.sample_clock {
                while self.clock as f64 >= self.next_sample {
                    self.next_sample += self.sample_clocks;
                }
                self.sample_clock = self.next_sample.ceil() as u64;
            }
        }
        self.until_event = self.sample_clock.min(self.next_step) as i64;
    }

    /// Runs to clock `now`, unless it has run farther.
    pub(crate) fn catch_up(&mut self, now: u64) {
        if now > self.clock {
            self.tick(now);
        }
    }

    /// One edge of the 512 Hz sequencer.
    fn sequence(&mut self) {
        match self.delay {
            Delay::Skip => {
                self.delay = Delay::Hold;
                return;
            }
            Delay::Hold => self.delay = Delay::Over,
            Delay::None | Delay::Over => self.step += 1,
        }
        if !self.powered {
            return;
        }
        if self.step % 2 == 1 {
            for channel in 0..4 {
                self.clock_length(channel);
            }
        }
        if self.step % 4 == 3 {
            self.sweep.clock_sweep();
        }
    }

    /// Clocks the sequencer by DIV, whose counter this is, from the next edge on.
    pub(crate) fn follow(&mut self, counter: u16) {
        self.next_step = self.clock + STEP_CLOCKS - u64::from(counter) % STEP_CLOCKS;
    }

    /// DIV is about to be reset while it reads `div`, at the clock that was ticked to.
    pub(crate) fn div_reset(&mut self, div: u8) {
        if !self.emulated {
            return;
        }
        if div & DIV_BIT != 0 {
            self.div_written = true;
            self.sequence();
        }
        self.next_step = self.clock + STEP_CLOCKS;
    }

    /// Reads the register at 0xFF10 + `register`, 0 to 0x2F.
    pub(crate) fn read(&self, register: u8) -> u8 {
        if !self.emulated {
            return 0;
        }
        match register {
            0x00..=0x04 => self.sweep.read(register, true),
            0x05..=0x09 => self.tone.read(register - PER_CHANNEL, false),
            0x0A..=0x0E => self.wave.read(register - 2 * PER_CHANNEL),
            0x0F..=0x13 => self.noise.read(register - 3 * PER_CHANNEL),
            NR50 => self.nr50,
            NR51 => self.nr51,
            NR52 => {
                let on = [self.sweep.on, self.tone.on, self.wave.on, self.noise.on];
                let channels = on.iter().rev().fold(0, |bits, &b| bits << 1 | u8::from(b));
                0x70 | if self.powered { POWER } else { 0 } | channels
            }
            0x20..=0x2F => self.wave.read_ram(register & 0xF),
            _ => 0xFF,
        }
    }

    /// Writes the register at 0xFF10 + `register`; `div` and `counter` are the timer's.
    pub(crate) fn write(&mut self, register: u8, value: u8, div: u8, counter: u16) {
        if !self.emulated {
            return;
        }
        if register == NR52 && value & POWER != 0 && !self.powered {
            self.delay = if self.div_written && div & DIV_BIT != 0 { Delay::Skip } else { Delay::None };
        }
        self.set(register, value);
        if register == 4 {
            self.div_written = false;
        }
        if register == NR52 && value & POWER != 0 && self.delay != Delay::None {
            self.step = 1;
            self.follow(counter);
        }
    }

    fn set(&mut self, register: u8, value: u8) {
        match register {
            0x00..=0x13 => {
                let (channel, field) = (register / PER_CHANNEL, register % PER_CHANNEL);
                // The length counters of the monochrome consoles can be set with the power off.
                if self.powered || field == 1 {
                    self.set_channel(channel, field, value);
                }
            }
            NR50 if self.powered => self.nr50 = value,
            NR51 if self.powered => self.nr51 = value,
            NR52 if value & POWER == 0 => self.power_off(),
            NR52 if !self.powered => {
                self.powered = true;
                self.step = 0;
                self.next_step = self.clock + STEP_CLOCKS;
            }
            r if WAVE_RAM.contains(&r) => self.wave.write_ram(r & 0xF, value),
            _ => {}
        }
    }

    fn set_channel(&mut self, channel: u8, field: u8, value: u8) {
        let control = field == 4 && self.step % 2 == 1;
        let was = self.length(channel).clone();
        // Enabling the length in the half of its period without a clock clocks it once.
        let early =
            control && value & (TRIGGER | LENGTH_ENABLE) == TRIGGER | LENGTH_ENABLE && !was.enabled && was.left > 0;
        if early {
            self.length(channel).enabled = true;
            self.clock_length(channel);
            self.length(channel).enabled = false;
        }
        match channel {
            0 => self.sweep.write(field, value, self.powered, true),
            1 => self.tone.write(field, value, self.powered, false),
            2 => self.wave.write(field, value),
            _ => self.noise.write(field, value),
        }
        let late = !early && value & LENGTH_ENABLE != 0 && (!was.enabled || was.left == 0);
        let again = early && was.left == 1;
        if control && (late || again) {
            self.clock_length(channel);
        }
    }

    fn length(&mut self, channel: u8) -> &mut Length {
        match channel {
            0 => &mut self.sweep.length,
            1 => &mut self.tone.length,
            2 => &mut self.wave.length,
            _ => &mut self.noise.length,
        }
    }

    fn clock_length(&mut self, channel: u8) {
        if self.length(channel).clock() {
            match channel {
                0 => self.sweep.on = false,
                1 => self.tone.on = false,
                2 => self.wave.on = false,
                _ => self.noise.on = false,
            }
        }
    }

    fn power_off(&mut self) {
        let left = [0, 1, 2, 3].map(|channel| self.length(channel).left);
        for register in 0..NR52 {
            self.set(register, 0);
        }
        for (channel, left) in (0..).zip(left) {
            self.length(channel).left = left;
        }
        self.sweep.forget_check();
        self.powered = false;
        self.delay = Delay::None;
    }

    pub(crate) fn save(&self, w: &mut Writer) {
        w.bool(self.sampling);
        w.bool(self.powered);
        w.u64(self.clock);
        w.u64(self.next_sample.to_bits());
        w.u64(self.next_step);
        w.u64(self.step);
        w.u8(self.delay as u8);
        w.bool(self.div_written);
        w.u8(self.nr50);
        w.u8(self.nr51);
        w.i64(self.until_event);
        self.sweep.save(w);
        self.tone.save(w);
        self.wave.save(w);
        self.noise.save(w);
    }

    pub(crate) fn load(&mut self, r: &mut Reader<'_>) -> Result<(), StateError> {
        self.sampling = r.bool("sound sampling")?;
        self.powered = r.bool("sound power")?;
        self.clock = r.u64()?;
        self.next_sample = f64::from_bits(r.u64()?);
        self.next_step = r.u64()?;
        self.step = r.u64()?;
        // A target that has passed would never be reached.
        let near = self.clock as f64 + self.sample_clocks + 1.0;
        require(self.next_sample > self.clock as f64 && self.next_sample <= near, "next sample")?;
        self.sample_clock = self.next_sample.ceil() as u64;
        require(self.next_step > self.clock && self.next_step - self.clock <= STEP_CLOCKS, "next sound step")?;
        require(self.step < 1 << 62, "sound step")?;
        self.delay = match r.at_most(3, "sound delay")? {
            0 => Delay::None,
            1 => Delay::Skip,
            2 => Delay::Hold,
            _ => Delay::Over,
        };
        self.div_written = r.bool("DIV written")?;
        self.nr50 = r.u8()?;
        self.nr51 = r.u8()?;
        self.until_event = r.i64()?;
        self.sweep.load(r)?;
        self.tone.load(r)?;
        self.wave.load(r)?;
        self.noise.load(r)
    }

    /// The clock up to which the chip has run; it stands at 0 without emulation.
    pub(crate) fn seen(&self) -> Option<u64> {
        self.emulated.then_some(self.clock)
    }
}

#[cfg(test)]
mod tests;
