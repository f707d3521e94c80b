//! The wave channel: its length, its position, and wave RAM, which answers only in the clock in which the running
//! channel reads it.

use super::channel::Length;
use crate::state::{Reader, StateError, Writer, require};

const POSITIONS: u64 = 32;
/// Clocks from a trigger to the first step, beyond one period.
const START_DELAY: i64 = 5;

#[derive(Clone, Debug)]
pub(crate) struct Wave {
    pub(crate) on: bool,
    pub(crate) length: Length,
    ram: [u8; 16],
    dac: bool,
    volume: u8,
    period: u16,
    /// Clocks until the next step.
    timer: i64,
    position: u8,
    /// The channel stepped at the end of the slice that ran last.
    open: bool,
}

impl Default for Wave {
    fn default() -> Self {
        Self {
            on: false,
            length: Length::new(256),
            ram: [0xFF; 16],
            dac: false,
            volume: 0,
            period: 0,
            timer: 0,
            position: 0,
            open: false,
        }
    }
}

impl Wave {
    /// Clocks of one of the 32 positions.
    fn step_clocks(&self) -> i64 {
        2 * (0x800 - i64::from(self.period))
    }

    /// The byte of wave RAM that the channel is at.
    fn cell(&self) -> usize {
        usize::from(self.position / 2) % self.ram.len()
    }

    /// A tick begins: what the last one opened is closed.
    pub(crate) fn close(&mut self) {
        self.open = false;
    }

    pub(crate) fn tick(&mut self, clocks: u64) {
        if !self.on {
            return;
        }
        self.open = false;
        self.timer -= clocks as i64;
        if self.timer <= 0 {
            let period = self.step_clocks();
            let steps = -self.timer / period + 1;
            self.timer += steps * period;
            self.position = ((u64::from(self.position) + steps as u64) % POSITIONS) as u8;
            self.open = self.timer >= period - 1;
        }
    }

    pub(crate) fn read(&self, field: u8) -> u8 {
        match field {
            0 => u8::from(self.dac) << 7 | 0x7F,
            2 => self.volume << 5 | 0x9F,
            4 => u8::from(self.length.enabled) << 6 | 0xBF,
            _ => 0xFF,
        }
    }

    pub(crate) fn write(&mut self, field: u8, value: u8) {
        match field {
            0 => {
                self.dac = value & 0x80 != 0;
                self.on &= self.dac;
            }
            1 => self.length.set(value),
            2 => self.volume = value >> 5 & 0b11,
            3 => self.period = self.period & 0x700 | u16::from(value),
            4 => {
                self.length.enabled = value & 0x40 != 0;
                self.period = u16::from(value & 0b111) << 8 | self.period & 0xFF;
                if value & 0x80 != 0 {
                    self.trigger();
                }
            }
            _ => {}
        }
    }

    fn trigger(&mut self) {
        if self.on && self.timer == 1 {
            self.corrupt();
        }
        self.on = self.dac;
        self.length.trigger();
        self.timer = self.step_clocks() + START_DELAY;
        self.position = 0;
        self.open = false;
    }

    /// A trigger in the clock before the channel reads copies what it would have read to the beginning: one byte of
    /// the first four, or the aligned four around it.
    fn corrupt(&mut self) {
        let at = usize::from(self.position + 1) / 2 % self.ram.len();
        if at < 4 {
            self.ram[0] = self.ram[at];
        } else {
            let start = at & !3;
            self.ram.copy_within(start..start + 4, 0);
        }
    }

    pub(crate) fn read_ram(&self, at: u8) -> u8 {
        match (self.on, self.open) {
            (false, _) => self.ram[usize::from(at & 0xF)],
            (true, true) => self.ram[self.cell()],
            (true, false) => 0xFF,
        }
    }

    pub(crate) fn write_ram(&mut self, at: u8, value: u8) {
        let cell = match (self.on, self.open) {
            (false, _) => usize::from(at & 0xF),
            (true, true) => self.cell(),
            (true, false) => return,
        };
        self.ram[cell] = value;
    }

    pub(crate) fn save(&self, w: &mut Writer) {
        w.bool(self.on);
        self.length.save(w);
        w.raw(&self.ram);
        w.bool(self.dac);
        w.u8(self.volume);
        w.u16(self.period);
        w.i64(self.timer);
        w.u8(self.position);
        w.bool(self.open);
    }

    pub(crate) fn load(&mut self, r: &mut Reader<'_>) -> Result<(), StateError> {
        self.on = r.bool("wave on")?;
        self.length.load(r)?;
        r.fill(&mut self.ram)?;
        self.dac = r.bool("wave DAC")?;
        self.volume = r.at_most(0b11, "wave volume")?;
        self.period = r.u16()?;
        require(self.period < 0x800, "wave period")?;
        self.timer = r.i64()?;
        require((0..=0x2000).contains(&self.timer), "wave timer")?;
        self.position = r.at_most(31, "wave position")?;
        self.open = r.bool("wave access")?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn running(period: u16) -> Wave {
        let mut wave = Wave::default();
        for at in 0..16 {
            wave.write_ram(at, 0x10 + at);
        }
        wave.write(0, 0x80);
        wave.write(3, period as u8);
        wave.write(4, 0x80 | (period >> 8) as u8);
        wave
    }

    #[test]
    fn wave_ram_answers_only_as_the_channel_reads_it() {
        let mut wave = running(0x7F0);
        assert_eq!(wave.read_ram(5), 0xFF);
        wave.tick(32 + 5);
        assert_eq!(wave.read_ram(5), 0x10, "position 1 is in byte 0");
        wave.tick(2);
        assert_eq!(wave.read_ram(5), 0xFF);
        wave.tick(30 + 32);
        assert_eq!(wave.read_ram(5), 0x11);
        wave.write(0, 0);
        assert_eq!(wave.read_ram(5), 0x15);
    }

    #[test]
    fn many_periods_at_once_are_as_many_single_ones() {
        let (mut long, mut short) = (running(0x7FD), running(0x7FD));
        long.tick(1001);
        (0..1001).for_each(|_| short.tick(1));
        assert_eq!((long.position, long.timer), (short.position, short.timer));
    }

    #[test]
    fn a_trigger_before_a_read_corrupts_wave_ram() {
        let mut wave = running(0x7F0);
        wave.tick(36);
        wave.position = 9;
        wave.write(4, 0x87);
        assert_eq!(wave.ram[..5], [0x14, 0x15, 0x16, 0x17, 0x14]);
        let mut wave = running(0x7F0);
        wave.tick(36);
        wave.position = 5;
        wave.write(4, 0x87);
        assert_eq!(wave.ram[..4], [0x13, 0x11, 0x12, 0x13]);
    }
}
