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
    let (own, rest) = page.split_at_mut(6 * OWN);
    let (own_active, rest) = rest.split_at_mut(OWN_ACTIVE);
    let (foe, rest) = rest.split_at_mut(6 * FOE);
    let (foe_active, turn) = rest.split_at_mut(FOE_ACTIVE);
    let (mine, theirs) = (&battle.sides[side], &battle.sides[1 - side]);
    for (place, row) in own.chunks_exact_mut(OWN).enumerate() {
        row.copy_from_slice(&see_member(&mine.team[place], place == usize::from(mine.place)));
    }
    own_active.copy_from_slice(&see_active(mine));
    for (place, row) in foe.chunks_exact_mut(FOE).enumerate() {
        row.copy_from_slice(&see_foe(&theirs.team[place], place == usize::from(theirs.place)));
    }
    foe_active.copy_from_slice(&see_foe_active(theirs));
    turn[0] = battle.turn as i16;
    page
}

fn see_member(member: &Member, active: bool) -> [i16; OWN] {
    let [a, b, c, d] = member.moves.map(i16::from);
    let [w, x, y, z] = member.pp.map(i16::from);
    let (hp, whole) = (member.hp as i16, member.max_hp as i16);
    let about = [member.species, member.level, member.status].map(i16::from);
    [about[0], about[1], hp, whole, about[2], i16::from(active), a, b, c, d, w, x, y, z]
}

fn see_active(side: &Side) -> [i16; OWN_ACTIVE] {
    let active = &side.active;
    let mut seen = [0; OWN_ACTIVE];
    seen[..6].copy_from_slice(&active.boosts.map(i16::from));
    seen[6..8].copy_from_slice(&active.types.map(i16::from));
    seen[8..12].copy_from_slice(&active.modified.map(|stat| stat as i16));
    seen[12..16].copy_from_slice(&active.moves.map(i16::from));
    seen[16..20].copy_from_slice(&active.pp.map(i16::from));
    seen[20] = i16::from(active.confusion > 0);
    seen[21] = active.substitute as i16;
    seen[22..33].copy_from_slice(&flags(active));
    seen[33] = if active.disable_turns > 0 { i16::from(active.disable_slot) + 1 } else { 0 };
    seen[34] = i16::from(active.toxic >= 0);
    seen[35] = i16::from(active.trapped > 0);
    seen
}

fn see_foe(member: &Member, active: bool) -> [i16; FOE] {
    if !member.seen {
        return [0; FOE];
    }
    let percent = share(member.hp, member.max_hp);
    [member.species, member.level, percent, member.status, u8::from(active)].map(i16::from)
}

fn see_foe_active(side: &Side) -> [i16; FOE_ACTIVE] {
    let active = &side.active;
    let mut seen = [0; FOE_ACTIVE];
    seen[..6].copy_from_slice(&active.boosts.map(i16::from));
    seen[6..8].copy_from_slice(&active.types.map(i16::from));
    seen[8] = i16::from(active.last_move);
    seen[9] = i16::from(active.confusion > 0);
    seen[10] = i16::from(active.substitute > 0);
    seen[11..22].copy_from_slice(&flags(active));
    seen[22] = i16::from(active.disable_turns > 0);
    seen[23] = i16::from(active.toxic >= 0);
    seen[24] = i16::from(active.trap_turns > 0);
    seen
}

/// What can be seen of whoever is in battle.
fn flags(active: &Active) -> [i16; 11] {
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
    flags.map(i16::from)
}

/// Percent of HP, rounded up, and yet 100 only of who lost nothing.
fn share(hp: u16, whole: u16) -> u8 {
    let percent = (100 * u32::from(hp)).div_ceil(u32::from(whole.max(1)));
    if percent == 100 && hp < whole { 99 } else { percent.min(100) as u8 }
}
