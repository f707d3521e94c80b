// The rules one by one: each probe asks Showdown's own functions about numbers.

import { FORMAT, MOVES, SPECIES, TYPES, forgetLog, four, typesOf } from "./canonical.mjs";
import { moveNumbers, moveRow } from "./moves.mjs";
import { Battle, DRAWS, Rolls, dex } from "./rolls.mjs";
import { generated, learnset, learnsetBytes, parts, trained } from "./teams.mjs";

// Two Pokémon face to face; their numbers are set by whoever asks.
const rolls = new Rolls(0n);
const battle = new Battle({ formatid: FORMAT, prng: rolls });
rolls.watch(battle);
for (const side of ["p1", "p2"]) {
  const team = [{ name: "Mew", species: "Mew", level: 100, moves: ["pound"], place: 0 }];
  battle.setPlayer(side, { name: side, team });
}
const [own, foe] = battle.sides.map((side) => side.active[0]);

function clear() {
  for (const pokemon of [own, foe]) {
    Object.assign(pokemon, { hp: pokemon.maxhp, level: 100, status: "", fainted: false, faintQueued: false });
    pokemon.clearVolatile();
  }
  battle.faintQueue.length = 0;
  forgetLog(battle);
}

// What Showdown compares its next roll with, by a chance that notes it and says no.
function threshold(site, run) {
  let asked = 0;
  rolls.randomChance = (numerator) => {
    if (rolls.site === site) asked = numerator;
    return false;
  };
  rolls.draw = (name) => DRAWS[name][0];
  try {
    run();
  } finally {
    delete rolls.randomChance;
    delete rolls.draw;
  }
  return asked;
}

function stats(species, level, dv, effort) {
  const made = battle.spreadModify(SPECIES[species - 1].baseStats, { level, ...trained(dv, effort) });
  return [made.hp, made.atk, made.def, made.spe, made.spa];
}

function boost(stored, modified, stage, delta) {
  clear();
  own.storedStats.atk = stored;
  own.modifiedStats.atk = modified;
  own.boosts.atk = stage;
  const result = own.boostBy({ atk: delta });
  return [own.boosts.atk, own.modifiedStats.atk, result === true ? 1 : result === 0 ? 0 : -1];
}

function crit(species, move, focus) {
  clear();
  const set = own.set;
  own.set = { ...set, species: SPECIES[species - 1].name };
  if (focus) own.volatiles.focusenergy = battle.initEffectState({ id: "focusenergy", target: own });
  // A move that does no damage of this kind is asked as if it did.
  const asked = dex.getActiveMove(MOVES[move - 1].id);
  Object.assign(asked, { basePower: 40, damage: undefined, damageCallback: undefined, ohko: undefined, ignoreImmunity: true, willCrit: undefined });
  try {
    return [threshold("crit", () => battle.actions.getDamage(own, foe, asked))];
  } finally {
    own.set = set;
  }
}

function accuracy(move, stage, evasion) {
  clear();
  own.boosts.accuracy = stage;
  foe.boosts.evasion = evasion;
  const asked = dex.getActiveMove(MOVES[move - 1].id);
  // Only whether it hits is asked, and not what it does then.
  const plain = { ohko: undefined, self: undefined, selfdestruct: undefined, multihit: undefined, ignoreImmunity: true, onTryImmunity: undefined, onTryHit: () => false };
  return [threshold("hit", () => battle.actions.tryMoveHit(asked.target === "self" ? own : foe, own, Object.assign(asked, plain)))];
}


export const numbersOf = (move) => moveNumbers(move, battle.calculatePP(move, 3));

// By how many tenths a type's damage to another is multiplied.
export function tenths(type, target) {
  if (!dex.getImmunity(type, target)) return 0;
  const modifier = dex.getEffectiveness(type, target);
  return modifier > 0 ? 20 : modifier < 0 ? 5 : 10;
}

// `first` and `second`: what the move's type does to each of the target's types, -1 halves, 0 leaves, 1 doubles.
function damage(level, power, attack, defense, critical, stab, explode, first, second, roll) {
  clear();
  own.level = level;
  for (const stat of [own.modifiedStats, own.baseStoredStats]) stat.atk = attack;
  for (const stat of [foe.modifiedStats, foe.baseStoredStats]) stat.def = defense;
  own.types = stab ? ["Normal"] : ["Mew"];
  foe.types = [String(first), String(second)];
  const asked = dex.getActiveMove("pound");
  Object.assign(asked, { basePower: power, willCrit: critical === 1, critRatio: 0, ignoreImmunity: true, selfdestruct: explode ? "always" : undefined });
  const { getEffectiveness } = battle.dex;
  battle.dex.getEffectiveness = (_, type) => Number(type);
  rolls.draw = (name) => (name === "damage" ? roll : 255);
  try {
    return [battle.actions.getDamage(own, foe, asked)];
  } finally {
    battle.dex.getEffectiveness = getEffectiveness;
    delete rolls.draw;
    own.baseStoredStats = { ...battle.spreadModify(own.species.baseStats, own.set) };
    foe.baseStoredStats = { ...battle.spreadModify(foe.species.baseStats, foe.set) };
  }
}

const known = new Map();
const teamOf = (number) => known.get(number) ?? known.set(number, generated(number).map(parts)).get(number);

// Inputs and outputs: name and how many numbers; asked with the inputs, each a number or a list.
const RULES = [
  ["species_data", { number: 0 }, { types: 2, base: 5, learnset: 21 }, (number) => {
    const species = SPECIES[number - 1];
    const { hp, atk, def, spe, spa } = species.baseStats;
    return [...typesOf(species.types), hp, atk, def, spe, spa, ...learnsetBytes(learnset(species))];
  }],
  ["move_data", { number: 0 }, {
    type: 0, power: 0, accuracy: 0, pp: 0, priority: 0, max_pp: 0, category: 0, crit_ratio: 0, own: 0, ignores_immunity: 0, hits: 0, recoil: 0, drain: 0,
    status: 0, boost: 2, chance: 0, also_status: 0, also_flinch: 0, also_confusion: 0, also_boost: 2,
  }, (number) => moveRow(numbersOf(MOVES[number - 1]))],
  ["team_data", { number: 0, place: 0 }, { species: 0, level: 0, moves: 4, dv: 4, effort: 5 }, (number, place) => {
    const { species, level, moves, dv, effort } = teamOf(number)[place];
    return [species, level, ...four(moves), ...dv, ...effort];
  }],
  ["stats", { kind: 0, grade: 0, dv: 4, effort: 5 }, { max_hp: 0, stats: 4 }, stats],
  ["effectiveness", { type: 0, targets: 2 }, { first: 0, second: 0 }, (type, types) => types.map((target) => tenths(TYPES[type - 1], TYPES[target - 1]))],
  ["boost", { base: 0, now: 0, stage: 0, delta: 0 }, { stage: 0, now: 0, result: 0 }, boost],
  ["crit", { kind: 0, move: 0, focused: 0 }, { chance: 0 }, crit],
  ["accuracy", { move: 0, stage: 0, evasion: 0 }, { threshold: 0 }, accuracy],
  ["damage", { grade: 0, power: 0, attack: 0, defense: 0, critical: 0, stab: 0, explode: 0, first: 0, second: 0, roll: 0 }, { damage: 0 }, damage],
]; // prettier-ignore

export const PROBES = RULES.map(([name, inputs, outputs, rule]) => ({
  name,
  inputs,
  outputs,
  answer(words) {
    let at = 0;
    const given = Object.values(inputs).map((size) => (size ? [...words.subarray(at, (at += size))] : words[at++]));
    return rule(...given);
  },
}));
