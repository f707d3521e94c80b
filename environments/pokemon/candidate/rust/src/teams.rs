//! The teams that a battle begins with.

use crate::chance::{Beginning, among};
use crate::moves::lookup;
use crate::state::{Active, Battle, MOVES, Member, Side};
use crate::stats::from_base;
use crate::tables::{SPECIES, TEAMS};

/// A battle before its first turn.
pub fn begin(given: &Beginning) -> Battle {
    let sides = std::array::from_fn(|side| {
        let team: [Member; 6] = std::array::from_fn(|place| {
            if given.source[side] == 0 {
                free(given, side, place)
            } else {
                of_pool(given.pool[side].clamp(0, 255) as u8, place)
            }
        });
        let mut side = Side { team, request: MOVES, ..Side::default() };
        side.member_mut().seen = true;
        side.active = Active::of(side.member());
        side
    });
    Battle { sides, last_damage: 0, turn: 1 }
}

/// A member of a random battle's team: species, level, moves, DVs and efforts.
pub fn row(team: u8, place: usize) -> [u8; 15] {
    let bytes = &TEAMS[usize::from(team)];
    std::array::from_fn(|at| bytes[15 * place + at])
}

/// The moves of a species that ranks name, one after the other, among those that are left.
pub fn learned(species: u8, ranks: [i32; 4]) -> [u8; 4] {
    let mut left = SPECIES[usize::from(species.max(1) - 1)].learnset;
    ranks.map(|rank| {
        let count = left.iter().map(|word| word.count_ones() as usize).sum();
        let mut skip = among(rank, count);
        for (at, word) in left.iter_mut().enumerate() {
            let here = word.count_ones() as usize;
            if skip >= here {
                skip -= here;
                continue;
            }
            let mut bits = *word;
            for _ in 0..skip {
                bits &= bits - 1;
            }
            *word &= !(bits & bits.wrapping_neg());
            return (64 * at) as u8 + bits.trailing_zeros() as u8 + 1;
        }
        0
    })
}

fn free(given: &Beginning, side: usize, place: usize) -> Member {
    let species = given.species[side][place].clamp(1, 151) as u8;
    let level = given.level[side][place].clamp(1, 100) as u8;
    let dv = given.dv[side][place].map(|dv| dv.clamp(0, 15) as u8);
    let effort = given.effort[side][place].map(|effort| effort.clamp(0, 255) as u8);
    member(species, level, learned(species, given.rank[side][place]), dv, effort)
}

fn of_pool(team: u8, place: usize) -> Member {
    let [species, level, a, b, c, d, w, x, y, z, effort @ ..] = row(team, place);
    member(species, level, [a, b, c, d], [w, x, y, z], effort)
}

fn member(species: u8, level: u8, moves: [u8; 4], dv: [u8; 4], effort: [u8; 5]) -> Member {
    let (hp, stats) = from_base(species, level, dv, effort);
    let pp = moves.map(|number| lookup(number).max_pp);
    Member { max_hp: hp, hp, stats, species, level, moves, pp, ..Member::default() }
}
