//! What a player sees: the own side in full, of the other what was shown.

use crate::state::{Active, Battle, Member, Side};

pub const SIGHT: usize = 176;

const OWN: usize = 14;
const OWN_ACTIVE: usize = 36;
const FOE: usize = 5;
const FOE_ACTIVE: usize = 25;

/// What a player sees of a battle.
pub fn see(battle: &Battle, side: usize) -> [i16; SIGHT] {
    let mut page = [0; SIGHT];
    write(battle, side, &mut page);
    page
}

/// Write what a player sees of a battle, number by number at its place: arrays in between would be copied.
pub fn write(battle: &Battle, side: usize, page: &mut [i16; SIGHT]) {
    let (mine, theirs) = (&battle.sides[side], &battle.sides[1 - side]);
    let mut rest = &mut page[..];
    for (place, member) in mine.team.iter().enumerate() {
        write_member(member, place == usize::from(mine.place), part(&mut rest));
    }
    write_active(mine, part(&mut rest));
    for (place, member) in theirs.team.iter().enumerate() {
        write_foe(member, place == usize::from(theirs.place), part(&mut rest));
    }
    write_foe_active(theirs, part(&mut rest));
    *part(&mut rest) = [battle.turn as i16];
}

/// The next part of a page; the rest of it is left.
fn part<'a, const N: usize>(rest: &mut &'a mut [i16]) -> &'a mut [i16; N] {
    let (part, others) = std::mem::take(rest).split_first_chunk_mut().expect("a page has room for all of it");
    *rest = others;
    part
}

fn write_member(member: &Member, active: bool, row: &mut [i16; OWN]) {
    row[0] = i16::from(member.species);
    row[1] = i16::from(member.level);
    row[2] = member.hp as i16;
    row[3] = member.max_hp as i16;
    row[4] = i16::from(member.status);
    row[5] = i16::from(active);
    widen(&member.moves, &mut row[6..10]);
    widen(&member.pp, &mut row[10..14]);
}

fn widen(numbers: &[u8], row: &mut [i16]) {
    for (place, number) in row.iter_mut().zip(numbers) {
        *place = i16::from(*number);
    }
}

fn write_active(side: &Side, row: &mut [i16; OWN_ACTIVE]) {
    let active = &side.active;
    for (place, stage) in row.iter_mut().zip(active.boosts) {
        *place = i16::from(stage);
    }
    widen(&active.types, &mut row[6..8]);
    for (place, stat) in row[8..12].iter_mut().zip(active.modified) {
        *place = stat as i16;
    }
    widen(&active.moves, &mut row[12..16]);
    widen(&active.pp, &mut row[16..20]);
    row[20] = i16::from(active.confusion > 0);
    row[21] = active.substitute as i16;
    write_flags(active, &mut row[22..33]);
    row[33] = if active.disable_turns > 0 { i16::from(active.disable_slot) + 1 } else { 0 };
    row[34] = i16::from(active.toxic >= 0);
    row[35] = i16::from(active.trapped > 0);
}

fn write_foe(member: &Member, active: bool, row: &mut [i16; FOE]) {
    *row = [0; FOE];
    if member.seen {
        row[0] = i16::from(member.species);
        row[1] = i16::from(member.level);
        row[2] = i16::from(share(member.hp, member.max_hp));
        row[3] = i16::from(member.status);
        row[4] = i16::from(active);
    }
}

fn write_foe_active(side: &Side, row: &mut [i16; FOE_ACTIVE]) {
    let active = &side.active;
    for (place, stage) in row.iter_mut().zip(active.boosts) {
        *place = i16::from(stage);
    }
    widen(&active.types, &mut row[6..8]);
    row[8] = i16::from(active.last_move);
    row[9] = i16::from(active.confusion > 0);
    row[10] = i16::from(active.substitute > 0);
    write_flags(active, &mut row[11..22]);
    row[22] = i16::from(active.disable_turns > 0);
    row[23] = i16::from(active.toxic >= 0);
    row[24] = i16::from(active.trap_turns > 0);
}

/// What can be seen of whoever is in battle.
fn write_flags(active: &Active, row: &mut [i16]) {
    let flags = [
        active.leech_seed,
        active.focus_energy,
        active.mist,
        active.reflect,
        active.light_screen,
        active.recharge,
        active.thrash_move > 0,
        active.two_turn > 0,
        active.invulnerable,
        active.bide_turns > 0,
        active.rage > 0,
    ];
    for (place, flag) in row.iter_mut().zip(flags) {
        *place = i16::from(flag);
    }
}

/// Percent of HP, rounded up, and yet 100 only of who lost nothing.
fn share(hp: u16, whole: u16) -> u8 {
    let percent = (100 * u32::from(hp)).div_ceil(u32::from(whole.max(1)));
    if percent == 100 && hp < whole { 99 } else { percent.min(100) as u8 }
}
