// Battles of Showdown's, served to adapter.py over a pipe: whole numbers in, whole numbers out.
//
// A request is [words that follow, call, battle, ...], an answer [words that follow, 0, ...]; of an error
// [words that follow, 1, bytes, text]. All words are 32 bits, little-endian.

import { readSync, writeSync } from "node:fs";

import { FIELDS, FORMAT, MOVES, TYPES, forgetLog, read, write } from "./canonical.mjs";
import { PROBES, tenths } from "./probes.mjs";
import { Battle, DRAWS, NAMES, Rolls } from "./rolls.mjs";
import { drawTeams } from "./teams.mjs";

const ACTIONS = 10;
const MOVE_ACTIONS = 4;
const UNSEEDED = 0x5eedn;

class Env {
  constructor() {
    this.seed = UNSEEDED;
    this.battle = null;
  }

  reset(seed, draws) {
    this.fresh = false;
    const rolls = this.chance(seed, draws);
    const battle = new Battle({ formatid: FORMAT, prng: rolls });
    rolls.watch(battle);
    const teams = drawTeams(rolls);
    battle.setPlayer("p1", { name: "p1", team: teams[0] });
    battle.setPlayer("p2", { name: "p2", team: teams[1] });
    this.enter(battle, [0, 1].map(() => [true, false, false, false, false, false]));
    Object.assign(this, { seed, fresh: true });
  }

  // The chance after it is that of the seed that was given just before, as it is after a reset.
  restore(state) {
    const seed = this.fresh ? this.seed : UNSEEDED;
    this.fresh = false;
    const rolls = this.chance(seed, null);
    const { battle, seen } = write(state, rolls);
    this.enter(battle, seen);
  }

  step(actions, draws) {
    this.fresh = false;
    const { battle, rolls } = this;
    if (!battle || battle.ended) throw new Error("the battle is over, or never began");
    battle.sides.forEach((side, index) => {
      if (asked(side) && !maskOf(side)[actions[index]]) throw new Error(`action ${actions[index]} of player ${index + 1} is not legal`);
    });
    if (draws) rolls.force(draws);
    this.battle = null; // until the step is done: what fails in its middle cannot go on
    battle.sides.forEach((side, index) => {
      if (!asked(side)) return;
      const choice = wordOf(side, actions[index]);
      if (!side.choose(choice)) throw new Error(`player ${index + 1} may not ${choice}: ${side.choice.error}`);
    });
    battle.commitChoices();
    this.enter(battle, this.seen);
  }

  chance(seed, draws) {
    this.battle = null;
    this.rolls = new Rolls(seed);
    if (draws) this.rolls.force(draws);
    return this.rolls;
  }

  enter(battle, seen) {
    this.rolls.settle();
    forgetLog(battle);
    battle.sides.forEach((side, index) => (seen[index][side.active[0].set.place] = true));
    Object.assign(this, { battle, seen });
  }

  // The state, masks, the end, the winner (0: nobody), and what was drawn.
  answer() {
    const { battle, rolls, seen } = this;
    this.battle = null; // what cannot be told is not gone on with
    const winner = battle.ended ? ["", "p1", "p2"].indexOf(battle.winner) : 0;
    const made = rolls.made.splice(0);
    const told = [...read(battle, seen), ...battle.sides.flatMap(maskOf), battle.ended ? 1 : 0, winner, ...made];
    this.battle = battle;
    return told;
  }
}

const asked = (side) => side.activeRequest && !side.activeRequest.wait;

// Which actions a player may choose: moves by their place, then the members of the team by theirs.
function maskOf(side) {
  const mask = new Array(ACTIONS).fill(0);
  if (!asked(side)) return mask;
  const { active, forceSwitch } = side.activeRequest;
  if (!forceSwitch) active[0].moves.forEach((move, index) => (mask[index] = move.disabled ? 0 : 1));
  if (forceSwitch || !active[0].trapped)
    for (const pokemon of side.pokemon) if (pokemon !== side.active[0] && !pokemon.fainted) mask[MOVE_ACTIONS + pokemon.set.place] = 1;
  return mask;
}

const wordOf = (side, action) =>
  action < MOVE_ACTIONS
    ? `move ${action + 1}`
    : `switch ${side.pokemon.findIndex((pokemon) => pokemon.set.place === action - MOVE_ACTIONS) + 1}`;

// --- the pipe --------------------------------------------------------------------------------------------------------

const envs = new Map();
const envOf = (id) => envs.get(id) ?? envs.set(id, new Env()).get(id);
const seedOf = ([low, high]) => (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0);

const LAYOUT = {
  fields: FIELDS,
  draws: DRAWS,
  names: NAMES,
  probes: PROBES.map(({ name, inputs, outputs }) => ({ name, inputs, outputs })),
  moves: MOVES.map((move) => [TYPES.indexOf(move.type) + 1, move.basePower, move.accuracy === true ? 100 : move.accuracy]),
  effects: TYPES.map((type) => TYPES.map((target) => tenths(type, target))),
};

const CALLS = [
  // 0: what the other side has to know
  () => [...Buffer.from(JSON.stringify(LAYOUT))],
  // 1: seed, forced?, draws
  (id, words) => (envOf(id).reset(seedOf(words), words[2] ? words.subarray(3) : null), envOf(id).answer()),
  // 2: both actions, forced?, draws
  (id, words) => (envOf(id).step(words, words[2] ? words.subarray(3) : null), envOf(id).answer()),
  // 3: a state
  (id, words) => (envOf(id).restore(words), envOf(id).answer()),
  // 4: the number of a probe, its inputs end to end
  (id, words) => PROBES[words[0]].answer(words.subarray(1)),
  // 5: a battle that nobody needs any more
  (id) => (envs.delete(id), []),
];

function readExactly(size) {
  const data = Buffer.alloc(size);
  for (let filled = 0; filled < size; ) {
    const count = readSync(0, data, filled, size - filled);
    if (count === 0) process.exit(0); // whoever asked is gone
    filled += count;
  }
  return data;
}

function send(words) {
  const data = Buffer.from(Int32Array.from([words.length, ...words]).buffer);
  for (let sent = 0; sent < data.length; ) sent += writeSync(1, data, sent);
}

console.log = console.error; // nothing but answers may go to standard output
for (;;) {
  const size = readExactly(4).readInt32LE();
  const words = new Int32Array(readExactly(4 * size).buffer);
  let answer;
  try {
    answer = [0, ...CALLS[words[0]](words[1], words.subarray(2))];
  } catch (error) {
    const text = Buffer.from(error.stack ?? String(error));
    answer = [1, text.length, ...text];
  }
  send(answer);
}
