"""Wrong candidates of Pokémon in Rust that somebody could plausibly write: each one rule of the first generation misread."""

from __future__ import annotations

from tests.mutants.plant import Mutant, in_crate

SRC = "rust/src"


def _probe(name: str, file: str, before: str, after: str, probe: str, module: str) -> Mutant:
    """A fault that a probe shows alone."""
    return Mutant(name, ((before, after),), 1, f"probe/{probe}/.*", module=module, file=f"{SRC}/{file}.rs")


PROBED = (
    _probe("the last digit of effort counts", "stats", "u32::from(effort) / 4", "u32::from(effort) / 3", "stats", "teams"),
    _probe("the DV of HP has its bits the other way round", "stats", "bits << 1 | (dv & 1)", "bits | (dv & 1)", "stats", "teams"),
    _probe("a stat of level 1 is one less", "stats", "level / 100 + 5) as u16", "level / 100 + 4) as u16", "stats", "teams"),
    _probe("stages beyond the last are lost", "stats", "(*stage + delta).clamp(-6, 6);\n    if *modified", "(*stage + delta).min(6);\n    if *modified", "boost", "stages"),
    _probe("a stat at 999 gains its stage", "stats", "*stage = moved - delta.signum();", "*stage = moved;", "boost", "stages"),
    _probe("two thirds are two thirds", "stats", "66.0 / 100.0", "2.0 / 3.0", "boost", "stages"),
    _probe("stats have no top", "stats", "const GREATEST: u16 = 999;", "const GREATEST: u16 = 1000;", "boost", "stages"),
    _probe("accuracy is rounded", "stats", "u32::from(percent) * 255 / 100", "(u32::from(percent) * 255 + 50) / 100", "accuracy", "accuracy"),
    _probe("evasion counts as accuracy does", "stats", "factor(-evasion)", "factor(evasion)", "accuracy", "accuracy"),
    _probe("evasion is looked at first", "stats", "(f64::from(threshold) * factor(accuracy)).floor();\n    (seen * factor(-evasion))", "(f64::from(threshold) * factor(-evasion)).floor();\n    (seen * factor(accuracy))", "accuracy", "accuracy"),
    _probe("Focus Energy helps", "damage", "if focus_energy { chance / 2 }", "if focus_energy { (chance * 4).min(255) }", "crit", "damage"),
    _probe("sharp moves are twice as sharp", "damage", "(chance * 4).clamp(1, 255) }", "(chance * 8).clamp(1, 255) }", "crit", "damage"),
    _probe("damage has no upper bound", "damage", ".clamp(0, 997) + 2", ".clamp(0, 999) + 2", "damage", "damage"),
    _probe("stats roll over one later", "damage", "attack >= 256 || defence >= 256", "attack > 256 || defence > 256", "damage", "damage"),
    _probe("only the larger of both stats is quartered", "damage", "defence = ((defence / 4) % 256).max(1);\n        }", "if defence >= 256 {\n                defence = ((defence / 4) % 256).max(1);\n            }\n        }", "damage", "damage"),
    _probe("large stats do not roll over", "damage", "attack = ((attack / 4) % 256).max(1);", "attack = (attack / 4).clamp(1, 255);", "damage", "damage"),
    _probe("explosions halve defence before it is quartered", "damage", "if self.explodes {\n            defence = (defence / 2).max(1);", "if self.explodes && defence < 64 {\n            defence = (defence / 2).max(1);", "damage", "damage"),
    _probe("the bonus of the own type is rounded up", "damage", "damage += damage / 2;", "damage += (damage + 1) / 2;", "damage", "damage"),
    _probe("damage of 1 is rolled for", "damage", "if damage > 1 {", "if damage > 0 {", "damage", "damage"),
    _probe("the roll is of 256", "damage", "damage * roll() / 255", "damage * roll() / 256", "damage", "damage"),
    _probe("Struggle costs a quarter", "tables", "recoil: 2, ..NO_MOVE },\n    NO_MOVE,", "recoil: 4, ..NO_MOVE },\n    NO_MOVE,", "move_data", "teams"),
    _probe("Twineedle poisons one time less of 256", "tables", "hits: 2,\n        secondary: Secondary { chance: 52", "hits: 2,\n        secondary: Secondary { chance: 51", "move_data", "teams"),
)  # fmt: skip
"""What a probe shows."""

TURNS = (
    in_crate("a critical hit uses changed stats", "damage", "(i32::from(user.member().stats[attack]), i32::from(foe.member().stats[defence]))", "(i32::from(user.active.modified[attack]), i32::from(foe.active.modified[defence]))"),
    in_crate("a critical hit is of who one has become", "damage", "critical_chance(self.member(side).species,", "critical_chance(self.member(target).species,"),
    in_crate("screens stay at critical hits", "damage", "i32::from(foe.member().stats[defence]))", "i32::from(foe.member().stats[defence]) << u32::from(screen))"),
    in_crate("Super Fang spares the last point", "damage", "i32::from(self.member(target).hp / 2).max(1)", "i32::from(self.member(target).hp / 2)"),
    in_crate("Counter looks at the last move alone", "damage", "counts(foe.last_move) && counts(foe.selected)", "counts(foe.last_move)"),
    in_crate("Counter counters itself", "damage", " && number != COUNTER", ""),
    in_crate("Psywave reaches its bound", "damage", "level * 3 / 2)", "level * 3 / 2 + 1)"),
    in_crate("Wrap does nothing to ghosts", "damage", "Effect::Trap if it.kind == NORMAL && types.contains(&GHOST) => return Damage::Of(0),", "Effect::Trap if it.kind == NORMAL && types.contains(&GHOST) => return Damage::Fails,"),
    in_crate("Wrap rolls for damage every turn", "damage", "user.trap_turns > 0 && target != side", "user.trap_turns > 9 && target != side"),
    in_crate("sleep ends a turn early", "before", "member.sleep = member.sleep.saturating_sub(1);", "member.sleep = member.sleep.saturating_sub(if member.sleep > 3 { 2 } else { 1 });"),
    in_crate("who sleeps remembers the last move", "before", "active.last_move = 0;", ""),
    in_crate("confusion is looked at after paralysis", "before", "if self.is_disabled(side, number) || self.is_confused(side) {\n            return false;\n        }\n        if status == PARALYSED && chance::paralysed(self.draws) < PARALYSIS {\n            self.active(side).interrupt();\n            return false;\n        }", "if self.is_disabled(side, number) {\n            return false;\n        }\n        if status == PARALYSED && chance::paralysed(self.draws) < PARALYSIS {\n            self.active(side).interrupt();\n            return false;\n        }\n        if self.is_confused(side) {\n            return false;\n        }"),
    in_crate("paralysis stops one in four", "before", "const PARALYSIS: i32 = 63;", "const PARALYSIS: i32 = 64;"),
    in_crate("paralysis lets who is hidden be reached", "before", "self.active(side).interrupt();\n            return false;\n        }\n        let active = self.active(side);\n        if active.trap_turns", "self.active(side).interrupt();\n            self.active(side).invulnerable = false;\n            return false;\n        }\n        let active = self.active(side);\n        if active.trap_turns"),
    in_crate("confusion leaves who is hidden out of reach", "before", "active.invulnerable = false;\n        true", "true"),
    in_crate("confusion hits with base stats", "before", "i32::from(self.active(side).modified[stat])", "i32::from(self.member(side).stats[stat])"),
    in_crate("Disable lets a charged move go on", "before", "active.two_turn = 0;\n        true", "true"),
    in_crate("Bide gives back what it stored", "before", "let damage = 2 * active.bide_damage;", "let damage = active.bide_damage;"),
    in_crate("a trap holds who comes in", "before", "place != active.trap_target", "false"),
    in_crate("points stop at 0", "state", "self.active.pp[slot].wrapping_sub(1) & 63", "self.active.pp[slot].saturating_sub(1)"),
    in_crate("a transformed Pokémon pays for its own moves", "state", "if !self.active.transformed {\n            self.member_mut().pp[slot] = pp;", "if true {\n            self.member_mut().pp[slot] = pp;"),
    in_crate("the speed of the paralysed is halved", "state", "lowered(self.modified[SPEED], 0.25)", "lowered(self.modified[SPEED], 0.5)"),
    in_crate("a called move of two turns costs two points", "state", "lookup(number).charges() && self.active.moves", "false && self.active.moves"),
    in_crate("moves of two turns are paid for in the first", "use_move", "(!locked && !lookup(number).charges()) || who.active.two_turn > 0", "!locked && who.active.two_turn == 0"),
    in_crate("the first turn of Fly is its user's last move", "use_move", "if !lookup(number).charges() || active.two_turn > 0 {", "if number > 0 {"),
    in_crate("Wrap needs to hit to take the rest away", "use_move", "Effect::Trap => self.active(target).recharge = false,", "Effect::Trap if self.active(target).trapped > 0 => self.active(target).recharge = false,"),
    in_crate("moves without damage forget the last damage", "use_move", "if !it.keeps_damage {", "if !it.keeps_damage || it.power == 0 {"),
    in_crate("Disable does not enrage", "use_move", "(it.effect == Effect::Explode || number == DISABLE)", "it.effect == Effect::Explode"),
    in_crate("a fall costs an eighth", "use_move", "self.hurt_itself(side, 1);", "self.hurt_itself(side, 2);"),
    in_crate("Hyper Beam rests after it beats somebody", "use_move", "active.recharge &= lives;", ""),
    in_crate("who ends by its own substitute feeds Leech Seed", "use_move", "if self.lives(target) {\n            self.after_turn(side);", "if self.lives(target) || target == side {\n            self.after_turn(side);"),
    in_crate("Leech Seed has no share in the counter", "use_move", "active.toxic += i16::from(counts);", ""),
    in_crate("Leech Seed heals what it took", "use_move", "self.take(side, sixteenth * factor);\n            self.heal(1 - side, sixteenth * factor);", "let taken = self.take(side, sixteenth * factor);\n            self.heal(1 - side, taken);"),
    in_crate("the counter is forgotten with bad poison", "use_move", "let counts = who.active.toxic >= 0;", "let counts = who.active.toxic >= 0 && status == TOXIC;"),
    in_crate("one's own substitute takes the blow of confusion", "use_move", "} else if self.active(1 - side).substitute > 0 {\n            self.wear_substitute(1 - side, damage);", "} else {\n            self.wear_substitute(side, damage);"),
    in_crate("a fast Pokémon is immune to equal ones' Guillotine", "hit", "foe.active.modified[SPEED] <= self", "foe.active.modified[SPEED] < self"),
    in_crate("Dream Eater works through a substitute", "hit", "foe.member().status == ASLEEP && foe.active.substitute == 0", "foe.member().status == ASLEEP"),
    in_crate("exploding beside a broken substitute is fatal", "hit", "it.effect == Effect::Explode && !self.member(target).sub_fainted", "it.effect == Effect::Explode"),
    in_crate("fire thaws only by its chance", "hit", "} else if it.secondary.status == BURNED &&", "} else if it.secondary.status == BURNED && it.power > 90 &&"),
    in_crate("accuracy of Thrash is always the same", "hit", "user.thrash_accuracy = chance;", ""),
    in_crate("sleep misses who rests", "hit", " || (it.status == ASLEEP && foe.recharge)", ""),
    in_crate("each hit of a series is rolled for", "hit", "fixed = fixed.or(damage);", ""),
    in_crate("a series goes on after a substitute broke", "hit", "            if self.member(target).sub_fainted {\n                break;\n            }\n", ""),
    in_crate("Hyper Beam rests after it broke a substitute", "hit", "Effect::Recharge if unbroken", "Effect::Recharge if unbroken || damage == 0"),
    in_crate("a substitute lets poison through", "hit", "(matches!(it.status, POISONED | TOXIC) || lowers", "(lowers"),
    in_crate("a substitute stops sleep", "hit", "(matches!(it.status, POISONED | TOXIC)", "(matches!(it.status, POISONED | TOXIC | ASLEEP)"),
    in_crate("a broken substitute takes what was left", "hit", "self.battle.last_damage = damage;\n        if self.wear", "self.battle.last_damage = damage.min(i32::from(self.active(target).substitute));\n        if self.wear"),
    in_crate("Body Slam paralyses its own type", "hit", "matches!(also.status, PARALYSED | BURNED | FROZEN) &&", "matches!(also.status, BURNED | FROZEN) &&"),
    in_crate("a flinch leaves the need to rest", "hit", "self.active(target).flinch = true;\n            self.active(target).recharge = false;", "self.active(target).flinch = true;"),
    in_crate("drained points are the last damage's half", "hit", "self.battle.last_damage = amount;\n", ""),
    in_crate("Mist keeps off what attacks bring along", "effects", "self.active(target).mist && category == Category::Status", "self.active(target).mist && category != Category::Special"),
    in_crate("stages lower the paralysed only once", "effects", "self.active(1 - side).weaken(status);\n        true", "true"),
    in_crate("the Sleep Clause counts Rest", "effects", "member.hp > 0 && member.status == ASLEEP && member.slept_by_foe", "member.hp > 0 && member.status == ASLEEP"),
    in_crate("there is no Freeze Clause", "effects", "FROZEN => member.status == FROZEN,", ""),
    in_crate("Haze forgets no poison", "effects", "self.member_mut(who).status = POISONED;", "self.member_mut(who).status = TOXIC;"),
    in_crate("Haze keeps screens", "effects", "active.light_screen = false;\n", ""),
    in_crate("Haze cures both", "effects", "            if who != side {\n                if self.member(who).sleeps", "            if who < 2 {\n                if self.member(who).sleeps"),
    in_crate("healing fails at 255 points always", "effects", "matches!(missing, 255 | 511) && member.hp & 255 != 0", "matches!(missing, 255 | 511)"),
    in_crate("Rest lasts a turn longer", "effects", "member.sleep = 2;", "member.sleep = 3;"),
    in_crate("a substitute fails at a quarter", "hit", "4 * hp >= whole", "4 * hp > whole"),
    in_crate("Transform takes unchanged stats", "effects", "active.modified = other.modified;", "active.modified = other.stored;"),
    in_crate("Transform gives moves as many points as they have", "effects", "lookup(number).pp.min(5)", "lookup(number).pp"),
    in_crate("Transform leaves stages behind", "effects", "active.boosts = other.boosts;\n", ""),
    in_crate("thrashing leaves confusion as it is", "effects", "active.confusion = 0;\n                self.confuse(side);", "self.confuse(side);"),
    in_crate("Disable takes a move without points", "effects", "moves[*slot] != 0 && pp[*slot] > 0);\n        let slot", "moves[*slot] != 0);\n        let slot"),
    in_crate("what Wrap did is what was left", "effects", "active.trap_damage = damage;", "active.trap_damage = damage.min(255);"),
    in_crate("poison stays bad", "turn", "member.status = POISONED;\n        }\n        self.battle", "member.status = TOXIC;\n        }\n        self.battle"),
    in_crate("a replacement suffers at once", "turn", "if !self.lost[side] {", "if !self.lost[side] || self.member(side).hp > 100 {"),
    in_crate("Mirror Move remembers who left", "turn", "self.battle.sides.iter_mut().for_each(|side| side.active.last_move = 0);\n        self", "self"),
    in_crate("whoever comes in keeps the slot", "turn", "self.battle.sides[side].slot = 0;\n", ""),
    in_crate("flinching outlives the turn", "turn", "active.flinch = false;\n", ""),
    in_crate("fainting leaves what Bide stored", "turn", "            } else {\n                who.active.bide_damage = 0;\n            }", "            }"),
    in_crate("the turn limit is one later", "turn", "self.battle.turn > LAST_TURN", "self.battle.turn > LAST_TURN + 1"),
    in_crate("a battle of frozen ones goes on", "turn", "member.status == FROZEN\n", "member.status == FROZEN && member.level > 100\n"),
    in_crate("equal speeds favour the first", "turn", "Ordering::Equal if chance::speed_tie(self.draws) == 0 => (first, second),\n                Ordering::Equal => (second, first),", "Ordering::Equal => {\n                    chance::speed_tie(self.draws);\n                    (first, second)\n                }"),
    in_crate("priority does not matter", "queue", "kinds.then(other.priority.cmp(&self.priority)).then", "kinds.then"),
    in_crate("who is held knows it", "choice", "maybe &= !side.member().sleeps_or_is_frozen();", "maybe &= side.active.trapped == 0;"),
    in_crate("who is held chooses a move", "choice", "side.selected = CANNOT_MOVE;", "side.selected = active.moves[slot];"),
    in_crate("Struggle takes a slot", "choice", "side.selected = STRUGGLE;", "side.selected = STRUGGLE;\n        side.slot = 0;"),
)  # fmt: skip
"""What turns show."""

TRAPS = "if traps && foe.active.moves[usize::from(foe.slot & 3)] == METRONOME {"
AGAIN = f"{TRAPS}\n            foe.selected = METRONOME;\n            if self.queue.will_move(1 - side) {{\n                self.change(1 - side, METRONOME);"
RARE = (
    in_crate("who thaws moves on with what another one chose", "use_move", "if !locked && (number == 0 || who.active.moves.get(usize::from(who.slot)) != Some(&number)) {", "if !locked && number == 0 {"),
    in_crate("Mirror Move's Wrap begins again as Metronome's does", "turn", AGAIN, AGAIN.replace(TRAPS, "let caller = foe.active.moves[usize::from(foe.slot & 3)];\n        if traps && (caller == METRONOME || caller == 119) {").replace("= METRONOME;", "= caller;").replace("side, METRONOME)", "side, caller)")),
    in_crate("Metronome's Wrap goes on though the held one left", "turn", TRAPS, TRAPS.replace("{", "&& self.battle.turn > 2000 {")),
    in_crate("Metronome's Wrap begins again only before its move", "turn", "foe.selected = METRONOME;\n            if self.queue.will_move(1 - side) {\n", "if self.queue.will_move(1 - side) {\n                self.battle.sides[1 - side].selected = METRONOME;\n"),
    in_crate("Bide stores 16 bits", "before", "active.bide_damage += damage;", "active.bide_damage = (active.bide_damage + damage) & 0xffff;"),
    in_crate("who has one move left that is disabled does not struggle", "choice", "} else if !active.usable().contains(&true) {", "} else if active.pp == [0; 4] {"),
)  # fmt: skip
"""What shows in states to which battles come once in millions of turns, if at all: level 2 begins in them."""

MUTANTS = (*PROBED, *TURNS, *RARE)
