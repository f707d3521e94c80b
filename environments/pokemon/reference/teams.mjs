// The two teams of a battle: free ones, put together from draws, and ones of Showdown's own generator.

import { createRequire } from "node:module";

import { MOVES, SPECIES } from "./canonical.mjs";
import { dex } from "./rolls.mjs";

const { TeamGenerators } = createRequire(import.meta.url)("@pkmn/randoms");

// The numbers of the moves that a species learns in its own generation, by itself or before it evolved; ascending.
export function learnset(species) {
  const numbers = new Set();
  for (let kind = species; kind; kind = kind.prevo ? dex.species.get(kind.prevo) : null) {
    const learned = dex.species.getLearnsetData(kind.id)?.learnset ?? {};
    for (const move in learned) if (learned[move].some((source) => source[0] === "1")) numbers.add(dex.moves.get(move).num);
  }
  return [...numbers].sort((a, b) => a - b);
}
const LEARNSETS = SPECIES.map(learnset);

// The same as bits, of moves by number less one.
export function learnsetBytes(numbers) {
  const bytes = new Array(21).fill(0);
  for (const number of numbers) bytes[(number - 1) >> 3] |= 1 << ((number - 1) & 7);
  return bytes;
}

// A team of Showdown's generator, as it would send it into a random battle.
export const generated = (number) => TeamGenerators.getTeamGenerator("gen1randombattle", [number + 1, 2, 3, 4]).getTeam();
const pool = [];

// The DV of hit points: the last bits of the four others.
export const hpDv = (dv) => dv.reduce((bits, value) => (bits << 1) | (value & 1), 0);

// DVs (attack, defence, speed, special) and effort (with hit points before them) as Showdown's sets have them.
export function trained(dv, effort) {
  const [hp, atk, def, spe, spc] = [hpDv(dv), ...dv].map((value) => 2 * value);
  const evs = { hp: effort[0], atk: effort[1], def: effort[2], spe: effort[3], spa: effort[4], spd: effort[4] };
  return { ivs: { hp, atk, def, spe, spa: spc, spd: spc }, evs };
}

function setOf({ species, level, moves, dv, effort }, place) {
  const { name } = SPECIES[species - 1];
  return { name, species: name, level, moves: moves.map((move) => MOVES[move - 1].id), place, ...trained(dv, effort) };
}

// What a set is made of, in the numbers of the draws.
export function parts(set) {
  const { ivs, evs } = set;
  return {
    species: dex.species.get(set.species).num,
    level: set.level,
    moves: set.moves.map((move) => dex.moves.get(move).num),
    dv: [ivs.atk, ivs.def, ivs.spe, ivs.spa].map((value) => value >> 1),
    effort: [evs.hp, evs.atk, evs.def, evs.spe, evs.spa],
  };
}

function chosen(species, ranks) {
  const left = [...LEARNSETS[species - 1]];
  return [...ranks].map((rank) => left.splice(Math.floor((rank * left.length) / 65536), 1)[0]).filter(Boolean);
}

// Both teams, by the draws of a reset; all are drawn, whichever they decide.
export function drawTeams(rolls) {
  const [source, numbers, species, level, dv, effort, rank] = ["source", "pool", "species", "level", "dv", "effort", "rank"].map((name) => rolls.draw(name));
  return [0, 1].map((side) => {
    if (source[side]) return (pool[numbers[side]] ??= generated(numbers[side]).map(parts)).map(setOf);
    return Array.from({ length: 6 }, (_, place) => {
      const at = side * 6 + place;
      const moves = chosen(species[at], rank.slice(4 * at, 4 * at + 4));
      return setOf({ species: species[at], level: level[at], moves, dv: [...dv.slice(4 * at, 4 * at + 4)], effort: [...effort.slice(5 * at, 5 * at + 5)] }, place);
    });
  });
}
