// Battles of Showdown's by itself, as many turns as are asked for: no draws by name, no state is read.
//
//     a line on standard input: seed, battles side by side, turns of each; a line on standard output when they are made

import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const require = createRequire(import.meta.url);
const { Battle, PRNG } = require("@pkmn/sim");
const { TeamGenerators } = require("@pkmn/randoms");
const TEAMS = Array.from({ length: 64 }, (_, number) => TeamGenerators.getTeamGenerator("gen1randombattle", [number, 1, 2, 3]).getTeam());
let battles = [];
let chance;

function begin(number) {
  const teams = [number % TEAMS.length, (number >> 8) % TEAMS.length].map((at) => TEAMS[at]);
  const battle = new Battle({ formatid: "gen1randombattle", seed: [number & 0xffff, 1, 2, 3].join(",") });
  teams.forEach((team, index) => battle.setPlayer(`p${index + 1}`, { name: `p${index + 1}`, team }));
  return battle;
}

// A random choice among those that are legal.
function choose(side) {
  const request = side.activeRequest;
  if (!request || request.wait) return;
  const choices = [];
  if (!request.forceSwitch) request.active[0].moves.forEach((move, index) => move.disabled || choices.push(`move ${index + 1}`));
  if (request.forceSwitch || !request.active[0].trapped)
    side.pokemon.forEach((pokemon, index) => index && !pokemon.fainted && choices.push(`switch ${index + 1}`));
  side.choose(choices[chance.random(choices.length)]);
}

function step(index) {
  const battle = battles[index].ended ? (battles[index] = begin(chance.random(2 ** 31))) : battles[index];
  battle.sides.forEach(choose);
  battle.commitChoices();
  battle.log.length = battle.sentLogPos = 0;
  battle.lastMoveLine = -1;
}

for await (const line of createInterface({ input: process.stdin })) {
  const [seed, count, turns] = line.split(" ").map(Number);
  chance = new PRNG([seed & 0xffff, seed >>> 16, 5, 7].join(","));
  if (battles.length !== count) battles = Array.from({ length: count }, (_, index) => begin(seed + index));
  for (let turn = 0; turn < turns; turn++) for (let index = 0; index < count; index++) step(index);
  console.log("made");
}
