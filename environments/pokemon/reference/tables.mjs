// The tables of the first generation, as Showdown has them, in one JSON document.
//
//     node tables.mjs                         prints the document
//     node tables.mjs --rust FILE             writes the tables of the candidate in Rust
//     node tables.mjs --python FILE           writes the tables of the candidate in Python
//
// The packages are found by NODE_PATH: npm/node_modules in the environment that `lockstep setup pokemon` makes.

import { writeFileSync } from "node:fs";

import { MOVES, SPECIES, TYPES, four, typesOf } from "./canonical.mjs";
import { CATEGORIES, check, moveRow } from "./moves.mjs";
import { numbersOf, tenths } from "./probes.mjs";
import { dex } from "./rolls.mjs";
import { generated, hpDv, learnset, learnsetBytes, parts } from "./teams.mjs";

const POOL = 256;
function speciesTable() {
  return SPECIES.map((one) => {
    const { hp, atk, def, spe, spa, spd } = one.baseStats;
    check(spa === spd, `${one.name} has two special stats`);
    return { number: one.num, name: one.name, types: typesOf(one.types), base: [hp, atk, def, spe, spa], learnset: learnset(one) };
  });
}

// Tenths by which a type's damage is multiplied: the row attacks, the column defends.
const chart = () => TYPES.map((attack) => TYPES.map((target) => tenths(attack, target)));

function metronome() {
  const callable = (one) => (!one.isNonstandard || one.isNonstandard === "Unobtainable") && one.flags.metronome;
  const numbers = dex.moves.all().filter(callable).map((one) => one.num).sort((a, b) => a - b);
  check(numbers.length === 163, "Metronome calls one of 163 moves");
  return numbers;
}

function member(set) {
  const { ivs, evs } = set;
  const made = parts(set);
  check(ivs.hp >> 1 === hpDv(made.dv) && evs.spa === evs.spd && ivs.spa === ivs.spd, `${set.species} has numbers that no cartridge has`);
  return { ...made, moves: four(made.moves) };
}

function teams() {
  return Array.from({ length: POOL }, (_, number) => {
    const team = generated(number);
    check(team.length === 6, "a team has six members");
    return team.map(member);
  });
}

const species = speciesTable();
const moves = MOVES.map(numbersOf);
const document = { types: TYPES, chart: chart(), species, moves, metronome: metronome(), teams: teams() };

const memberRow = (one) => [one.species, one.level, ...one.moves, ...one.dv, ...one.effort];
const hex = (bytes) => bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("");

// What a move does beside damage, changes of stages and status, as the candidate in Rust calls it.
const EFFECTS = {
  Charge: ["razorwind", "solarbeam", "skullbash", "skyattack"], Vanish: ["fly", "dig"],
  Trap: ["bind", "wrap", "firespin", "clamp"], Thrash: ["thrash", "petaldance"], Recharge: ["hyperbeam"], Rage: ["rage"],
  OneHit: ["guillotine", "horndrill", "fissure"], Crash: ["jumpkick", "highjumpkick"], Explode: ["selfdestruct", "explosion"],
  Level: ["seismictoss", "nightshade"], Twenty: ["sonicboom"], Forty: ["dragonrage"], Half: ["superfang"], Psywave: ["psywave"],
  Counter: ["counter"], Bide: ["bide"], Swift: ["swift"], DreamEater: ["dreameater"], Confuse: ["supersonic", "confuseray"],
  LeechSeed: ["leechseed"], Disable: ["disable"], Mist: ["mist"], FocusEnergy: ["focusenergy"], Reflect: ["reflect"],
  LightScreen: ["lightscreen"], Haze: ["haze"], Substitute: ["substitute"], Heal: ["recover", "softboiled"], Rest: ["rest"],
  Mimic: ["mimic"], Transform: ["transform"], Conversion: ["conversion"], Metronome: ["metronome"], MirrorMove: ["mirrormove"],
};

// Moves that leave the damage which was last done in the battle. The package keeps its list to itself.
const KEEP_DAMAGE = [
  "confuseray", "conversion", "counter", "focusenergy", "glare", "haze", "leechseed", "lightscreen", "mimic", "mist",
  "poisongas", "poisonpowder", "recover", "reflect", "rest", "softboiled", "splash", "stunspore", "substitute",
  "supersonic", "teleport", "thunderwave", "toxic", "transform",
];

const id = (name) => dex.moves.get(name).id;

// The fields of a move that are not those of a plain one.
function rustMove(one) {
  const effect = Object.keys(EFFECTS).find((name) => EFFECTS[name].includes(id(one.name)));
  const { secondary: side } = one;
  const extra = [
    side.status && `status: ${side.status}`, side.flinch && "flinch: true", side.confusion && "confusion: true",
    side.boost[1] && `boost: (${side.boost.join(", ")})`,
  ];
  const fields = [
    one.type && `kind: ${one.type}`, one.power && `power: ${one.power}`, one.accuracy && `accuracy: ${one.accuracy}`,
    `pp: ${one.pp}`, `max_pp: ${one.max_pp}`, one.priority && `priority: ${one.priority}`,
    one.category && `category: Category::${CATEGORIES[one.category]}`, one.crit_ratio === 2 && "sharp: true",
    one.self_target && "own: true", one.ignore_immunity && "ignores_immunity: true", one.hits && `hits: ${one.hits}`,
    one.recoil && `recoil: ${one.recoil}`, one.drain && `drain: ${one.drain}`, one.status && `status: ${one.status}`,
    one.boost[1] && `boost: (${one.boost.join(", ")})`, effect && `effect: Effect::${effect}`,
    KEEP_DAMAGE.includes(id(one.name)) && "keeps_damage: true",
    side.chance && `secondary: Secondary { chance: ${side.chance}, ${extra.filter(Boolean).join(", ")}, ..NO_SECONDARY }`,
  ];
  return `    Move { ${fields.filter(Boolean).join(", ")}, ..NO_MOVE },`;
}

function rust() {
  const words = (numbers) => {
    const bits = numbers.reduce((all, number) => all | (1n << BigInt(number - 1)), 0n);
    return [0n, 64n, 128n].map((shift) => `0x${((bits >> shift) & 0xffffffffffffffffn).toString(16)}`).join(", ");
  };
  return `//! Species, moves, types and teams, written by reference/tables.mjs.

use crate::data::{Category, Effect, Move, NO_MOVE, NO_SECONDARY, Secondary, Species};

/// By number less one.
pub static SPECIES: [Species; 151] = [
${species.map((one) => `    Species { types: [${one.types.join(", ")}], base: [${one.base.join(", ")}], learnset: [${words(one.learnset)}] },`).join("\n")}
];

/// By number; none has the number 0, and the last stands for an action that cannot be taken.
pub static MOVES: [Move; 167] = [
    NO_MOVE,
${moves.map(rustMove).join("\n")}
    NO_MOVE,
];

/// Tenths by which damage is multiplied: the type that attacks, then the type that is hit; 0 is no type.
pub static CHART: [[u8; 16]; 16] = [
    [${new Array(16).fill(10).join(", ")}],
${document.chart.map((row) => `    [10, ${row.join(", ")}],`).join("\n")}
];

/// The moves that Metronome may call.
pub static METRONOME: [u8; 163] = [${document.metronome.join(", ")}];

/// Six members of 15 bytes each: species, level, four moves, four DVs and five efforts.
pub static TEAMS: [[u8; 90]; ${POOL}] = [
${document.teams.map((team) => `    [${team.map((one) => memberRow(one).join(", ")).join(", ")}],`).join("\n")}
];
`;
}

function python() {
  const row = (values) => `    (${values.join(", ")}),`;
  return `"""Species, moves, types and teams of the first generation, written by reference/tables.mjs."""

# By number less one: two types (0 is none), then the base of HP, attack, defence, speed and special.
SPECIES = (
${species.map((one) => row([...one.types, ...one.base])).join("\n")}
)

# By species' number less one: bit (move - 1) % 8 of byte (move - 1) // 8, as hexadecimal digits.
LEARNSETS = (
${species.map((one) => `    "${hex(learnsetBytes(one.learnset))}",`).join("\n")}
)

# What stands in a row of MOVES. Categories: 0 physical, 1 special, 2 status. hits: 0 once, 2 twice, 5 two to five times.
# recoil and drain: the damage is divided by it, 0 for none. boost: stat (attack, defence, speed, special, accuracy,
# evasion) and stages. secondary_chance: of 256.
MOVE_FIELDS = (
    "type", "power", "accuracy", "pp", "priority", "max_pp", "category", "crit_ratio", "self_target", "ignore_immunity",
    "hits", "recoil", "drain", "status", "boost_stat", "boost_stages", "secondary_chance", "secondary_status",
    "secondary_flinch", "secondary_confusion", "secondary_boost_stat", "secondary_boost_stages",
)  # fmt: skip

# By number less one.
MOVES = (
${moves.map((one) => row(moveRow(one))).join("\n")}
)

# Tenths by which damage is multiplied: the type that attacks, then the type that is hit, each less one.
CHART = (
${document.chart.map(row).join("\n")}
)

# The moves that Metronome may call.
METRONOME = (
${document.metronome.reduce((lines, number, at) => lines + (at % 20 ? " " : at ? "\n    " : "    ") + `${number},`, "")}
)  # fmt: skip

# Bytes of a team as hexadecimal digits, six members of 15 each: species, level, four moves, four DVs (attack, defence,
# speed, special), five efforts (HP, attack, defence, speed, special). Two lines a team.
TEAMS = (
${document.teams.map((team) => {
    const digits = team.map((one) => hex(memberRow(one)));
    return `    "${digits.slice(0, 3).join("")}"\n    "${digits.slice(3).join("")}",`;
  }).join("\n")}
)
`;
}

const [flag, file] = process.argv.slice(2);
if (!flag) console.log(JSON.stringify(document));
else if (flag === "--rust") writeFileSync(file, rust());
else if (flag === "--python") writeFileSync(file, python());
else throw new Error(`${flag} is not known`);
