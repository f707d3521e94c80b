//! Stats, from a species and from stages.

use crate::data::{ACCURACY, EVASION};
use crate::tables::SPECIES;

/// What a stage makes of a stat, from -6 on.
const STAGES: [f64; 13] = [
    25.0 / 100.0,
    28.0 / 100.0,
    33.0 / 100.0,
    40.0 / 100.0,
    50.0 / 100.0,
    66.0 / 100.0,
    1.0,
    1.5,
    2.0,
    2.5,
    3.0,
    3.5,
    4.0,
];
const GREATEST: u16 = 999;

/// What trying to change a stage led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The stage is the last one already.
    Nothing,
    /// The stat can go no further, though the stage could.
    Stuck,
    Changed,
}

/// HP and the four stats. Efforts are of HP and the stats, in their order.
pub fn from_base(species: u8, level: u8, dv: [u8; 4], effort: [u8; 5]) -> (u16, [u16; 4]) {
    let base = SPECIES[usize::from(species.max(1) - 1)].base;
    let level = u32::from(level);
    let double = |base: u8, dv: u8, effort: u8| 2 * (u32::from(base) + u32::from(dv)) + u32::from(effort) / 4;
    let hp = (double(base[0], hp_dv(dv), effort[0]) + 100) * level / 100 + 10;
    let stats =
        std::array::from_fn(|stat| (double(base[stat + 1], dv[stat], effort[stat + 1]) * level / 100 + 5) as u16);
    (hp as u16, stats)
}

fn hp_dv(dv: [u8; 4]) -> u8 {
    dv.iter().fold(0, |bits, dv| bits << 1 | (dv & 1))
}

/// A part of a stat, which is never nothing. Fractions are doubles in the reference, which shows where one of them is not exact.
pub fn lowered(stat: u16, part: f64) -> u16 {
    ((f64::from(stat) * part).floor() as u16).max(1)
}

/// Change a stage, and the stat with it.
pub fn change(stored: u16, modified: &mut u16, stage: &mut i8, delta: i8) -> Change {
    if delta == 0 || *stage == 6 * delta.signum() {
        return Change::Nothing;
    }
    let moved = (*stage + delta).clamp(-6, 6);
    if *modified == if delta > 0 { GREATEST } else { 1 } {
        *stage = moved - delta.signum();
        return Change::Stuck;
    }
    *stage = moved;
    *modified = lowered(stored, factor(moved));
    if delta > 0 {
        *modified = (*modified).min(GREATEST);
    }
    Change::Changed
}

/// Change the stage of accuracy or evasion.
pub fn change_chance(stage: &mut i8, delta: i8) -> Change {
    if delta == 0 || *stage == 6 * delta.signum() {
        return Change::Nothing;
    }
    *stage = (*stage + delta).clamp(-6, 6);
    Change::Changed
}

/// Whether a stage has no stat.
pub fn is_chance(stat: usize) -> bool {
    stat == ACCURACY || stat == EVASION
}

/// Of 256, how often a move hits: percents of 255.
pub fn threshold(percent: u8) -> u8 {
    (u32::from(percent) * 255 / 100) as u8
}

/// What stages make of how often a move hits.
pub fn staged(threshold: u8, accuracy: i8, evasion: i8) -> u8 {
    let seen = (f64::from(threshold) * factor(accuracy)).floor();
    (seen * factor(-evasion)).floor().clamp(1.0, 255.0) as u8
}

fn factor(stage: i8) -> f64 {
    STAGES[(6 + stage.clamp(-6, 6)) as usize]
}
