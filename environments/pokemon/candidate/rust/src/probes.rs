//! The rules one by one, as task.toml asks for them.

use lockstep_env::{Probe, leaves, probe};

use crate::damage::{self, Blow};
use crate::moves::lookup;
use crate::stats::{self, Change};
use crate::tables::SPECIES;
use crate::teams;

leaves! { struct Number { number: i32 } }
leaves! { struct SpeciesData { types: [i32; 2], base: [i32; 5], learnset: [i32; 21] } }
leaves! {
    struct MoveData {
        kind: i32 => "type",
        power: i32,
        accuracy: i32,
        pp: i32,
        priority: i32,
        max_pp: i32,
        category: i32,
        crit_ratio: i32,
        own: i32,
        ignores_immunity: i32,
        hits: i32,
        recoil: i32,
        drain: i32,
        status: i32,
        boost: [i32; 2],
        chance: i32,
        also_status: i32,
        also_flinch: i32,
        also_confusion: i32,
        also_boost: [i32; 2],
    }
}
leaves! { struct Place { number: i32, place: i32 } }
leaves! { struct TeamData { species: i32, level: i32, moves: [i32; 4], dv: [i32; 4], effort: [i32; 5] } }
leaves! { struct Born { kind: i32, grade: i32, dv: [i32; 4], effort: [i32; 5] } }
leaves! { struct Stats { max_hp: i32, stats: [i32; 4] } }
leaves! { struct Types { kind: i32 => "type", targets: [i32; 2] } }
leaves! { struct Tenths { first: i32, second: i32 } }
leaves! { struct Stage { base: i32, now: i32, stage: i32, delta: i32 } }
leaves! { struct Staged { stage: i32, now: i32, result: i32 } }
leaves! { struct Crit { kind: i32, number: i32 => "move", focused: i32 } }
leaves! { struct Chance { chance: i32 } }
leaves! { struct Aim { number: i32 => "move", stage: i32, evasion: i32 } }
leaves! { struct Threshold { threshold: i32 } }
leaves! {
    struct Asked {
        grade: i32,
        power: i32,
        attack: i32,
        defence: i32 => "defense",
        critical: i32,
        stab: i32,
        explode: i32,
        first: i32,
        second: i32,
        roll: i32,
    }
}
leaves! { struct Done { damage: i32 } }

pub const PROBES: &[Probe] = &[
    probe!("species_data", Number => SpeciesData, species_data),
    probe!("move_data", Number => MoveData, move_data),
    probe!("team_data", Place => TeamData, team_data),
    probe!("stats", Born => Stats, born),
    probe!("effectiveness", Types => Tenths, effectiveness),
    probe!("boost", Stage => Staged, boost),
    probe!("crit", Crit => Chance, crit),
    probe!("accuracy", Aim => Threshold, accuracy),
    probe!("damage", Asked => Done, done),
];

fn species_data(given: Number) -> SpeciesData {
    let species = &SPECIES[given.number.clamp(1, 151) as usize - 1];
    let bytes = species.learnset.map(u64::to_le_bytes);
    SpeciesData {
        types: species.types.map(i32::from),
        base: species.base.map(i32::from),
        learnset: std::array::from_fn(|at| bytes[at / 8][at % 8].into()),
    }
}

fn move_data(given: Number) -> MoveData {
    let it = lookup(byte(given.number));
    let also = &it.secondary;
    MoveData {
        kind: it.kind.into(),
        power: it.power.into(),
        accuracy: it.accuracy.into(),
        pp: it.pp.into(),
        priority: it.priority.into(),
        max_pp: it.max_pp.into(),
        category: it.category as i32,
        crit_ratio: 1 + i32::from(it.sharp),
        own: it.own.into(),
        ignores_immunity: it.ignores_immunity.into(),
        hits: it.hits.into(),
        recoil: it.recoil.into(),
        drain: it.drain.into(),
        status: it.status.into(),
        boost: [it.boost.0.into(), it.boost.1.into()],
        chance: also.chance.into(),
        also_status: also.status.into(),
        also_flinch: also.flinch.into(),
        also_confusion: also.confusion.into(),
        also_boost: [also.boost.0.into(), also.boost.1.into()],
    }
}

fn team_data(given: Place) -> TeamData {
    let row = teams::row(byte(given.number), given.place.clamp(0, 5) as usize).map(i32::from);
    let [species, level, a, b, c, d, w, x, y, z, effort @ ..] = row;
    TeamData { species, level, moves: [a, b, c, d], dv: [w, x, y, z], effort }
}

fn born(given: Born) -> Stats {
    let (hp, values) =
        stats::from_base(byte(given.kind), byte(given.grade), given.dv.map(byte), given.effort.map(byte));
    Stats { max_hp: hp.into(), stats: values.map(i32::from) }
}

fn effectiveness(given: Types) -> Tenths {
    let [first, second] = damage::effectiveness(byte(given.kind), given.targets.map(byte)).map(i32::from);
    Tenths { first, second }
}

fn boost(given: Stage) -> Staged {
    let (mut now, mut stage) = (given.now as u16, given.stage as i8);
    let result = match stats::change(given.base as u16, &mut now, &mut stage, given.delta as i8) {
        Change::Changed => 1,
        Change::Stuck => 0,
        Change::Nothing => -1,
    };
    Staged { stage: stage.into(), now: now.into(), result }
}

fn crit(given: Crit) -> Chance {
    let sharp = lookup(byte(given.number)).sharp;
    Chance { chance: damage::critical_chance(byte(given.kind), sharp, given.focused != 0) }
}

fn accuracy(given: Aim) -> Threshold {
    let percent = lookup(byte(given.number)).accuracy;
    let chance = stats::staged(stats::threshold(percent), given.stage as i8, given.evasion as i8);
    Threshold { threshold: if percent == 0 { 0 } else { chance.into() } }
}

fn done(given: Asked) -> Done {
    let tenths = |change: i32| match change {
        1 => 20,
        -1 => 5,
        _ => 10,
    };
    let blow = Blow {
        level: given.grade << u32::from(given.critical != 0),
        power: given.power,
        attack: given.attack,
        defence: given.defence,
        own_type: given.stab != 0,
        explodes: given.explode != 0,
        tenths: [tenths(given.first), tenths(given.second)],
    };
    Done { damage: blow.damage(|| given.roll) }
}

fn byte(value: i32) -> u8 {
    value.clamp(0, 255) as u8
}
