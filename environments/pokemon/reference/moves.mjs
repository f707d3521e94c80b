// What Showdown's tables say of a move, in numbers.

import { TYPES } from "./canonical.mjs";

export const CATEGORIES = ["Physical", "Special", "Status"];
const STATUSES = ["", "slp", "psn", "brn", "frz", "par", "tox"];
const BOOSTS = ["atk", "def", "spe", "spa", "accuracy", "evasion"];
const TWO_TO_FIVE = 5;

export function check(condition, message) {
  if (!condition) throw new Error(message);
}

const typeNumber = (name) => TYPES.indexOf(name) + 1;

// One change of stages; both special stats are one.
function boost(boosts) {
  if (!boosts) return [0, 0];
  const names = Object.keys(boosts).filter((name) => name !== "spd");
  check(names.length === 1, "a move changes one stage");
  return [BOOSTS.indexOf(names[0]), boosts[names[0]]];
}

function secondary(move) {
  const nothing = { chance: 0, status: 0, flinch: 0, confusion: 0, boost: [0, 0] };
  if (!move.secondaries) return nothing;
  check(move.secondaries.length === 1, "a move has one secondary effect");
  const [effect] = move.secondaries;
  const confusion = Number(effect.volatileStatus === "confusion");
  return {
    chance: Math.ceil((effect.chance * 256) / 100) - confusion,
    status: STATUSES.indexOf(effect.status ?? ""),
    flinch: Number(effect.volatileStatus === "flinch"),
    confusion,
    boost: boost(effect.boosts),
  };
}

// All of a move that is a number, as the tables of the candidates have it; `mostPoints` are those with all that raises them.
export function moveNumbers(one, mostPoints) {
  return {
    number: one.num,
    name: one.name,
    type: typeNumber(one.type),
    power: one.basePower,
    accuracy: one.accuracy === true ? 0 : one.accuracy,
    pp: one.pp,
    priority: one.priority,
    max_pp: mostPoints,
    category: CATEGORIES.indexOf(one.category),
    crit_ratio: one.critRatio,
    self_target: Number(one.target === "self"),
    ignore_immunity: Number(one.ignoreImmunity === true || one.category === "Status" && one.ignoreImmunity === undefined),
    // 0 once, 2 twice, 5 two to five times.
    hits: Array.isArray(one.multihit) ? TWO_TO_FIVE : one.multihit ?? 0,
    recoil: one.recoil ? one.recoil[1] / one.recoil[0] : 0,
    drain: one.drain ? one.drain[1] / one.drain[0] : 0,
    status: STATUSES.indexOf(one.status ?? ""),
    boost: boost(one.boosts),
    secondary: secondary(one),
  };
}

// The same in a row, in the order of the flat tables and of the probe.
export function moveRow(move) {
  const { secondary: effect } = move;
  return [
    move.type, move.power, move.accuracy, move.pp, move.priority, move.max_pp, move.category, move.crit_ratio,
    move.self_target, move.ignore_immunity, move.hits, move.recoil, move.drain, move.status, ...move.boost,
    effect.chance, effect.status, effect.flinch, effect.confusion, ...effect.boost,
  ];
}
