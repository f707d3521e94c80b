// Chance of a battle by name: every roll of Showdown's is one of the draws of task.toml, made here or given from outside.

import { createRequire } from "node:module";

import { Generator } from "./generator.mjs";

const require = createRequire(import.meta.url);
export const { Battle, Dex, PRNG } = require("@pkmn/sim");
export const dex = Dex.forGen(1);

const WIDE = 65536; // a roll whose range depends on the battle is this wide: floor(roll * n / WIDE)

// Name: least, greatest value, and how many numbers one draw has. Draws of the reset come first.
export const DRAWS = {
  source: [0, 1, 2],
  pool: [0, 255, 2],
  species: [1, 151, 12],
  level: [1, 100, 12],
  dv: [0, 15, 48],
  effort: [0, 255, 60],
  rank: [0, WIDE - 1, 48],
  speed_tie: [0, 1, 1],
  paralysed: [0, 255, 1],
  confused: [0, 255, 1],
  hit: [0, 255, 1],
  crit: [0, 255, 1],
  damage: [217, 255, 1],
  secondary: [0, 255, 1],
  sleep_turns: [1, 7, 1],
  confusion_turns: [2, 5, 1],
  thrash_turns: [2, 3, 1],
  bide_turns: [2, 3, 1],
  trap_turns: [0, 7, 1],
  hits: [0, 7, 1],
  disable_slot: [0, WIDE - 1, 1],
  disable_turns: [1, 8, 1],
  mimic: [0, WIDE - 1, 1],
  metronome: [0, 162, 1],
  psywave: [0, WIDE - 1, 1],
};
export const NAMES = Object.keys(DRAWS);
const CODES = Object.fromEntries(NAMES.map((name, code) => [name, code]));

// What is rolled where no roll of the battle's can be told from its effect alone: the innermost function that is running.
const SITE = { tryMoveHit: "hit", moveHit: "secondary", getDamage: "crit" };

// Called with the battle as `this.battle`; each battle's chance is a Rolls.
for (const [method, site] of Object.entries(SITE)) {
  const original = dex.data.Scripts.actions[method];
  dex.data.Scripts.actions[method] = function (...given) {
    return this.battle.prng.during(site, () => original.apply(this, given));
  };
}
const lock = dex.data.Conditions.partialtrappinglock;
const turns = lock.durationCallback;
lock.durationCallback = function (...given) {
  return this.prng.during("trap_turns", () => turns.apply(this, given));
};

export class Rolls extends PRNG {
  // `seed` is a BigInt of 64 bits.
  constructor(seed) {
    super("0,0,0,0"); // never asked: what Showdown would roll is a draw below
    this.generator = new Generator(seed);
    this.made = []; // code, then the numbers of each draw, end to end
    this.given = null; // by name, where draws are forced
    this.site = "";
  }

  // Let a battle's queue say when it orders actions: other lists are sorted by the same function.
  watch(battle) {
    this.battle = battle;
    const { queue } = battle;
    for (const [method, site] of [["sort", "order"], ["insertChoice", "order"]]) {
      const original = queue[method].bind(queue);
      queue[method] = (...given) => this.during(site, () => original(...given));
    }
  }

  during(site, run) {
    const outer = this.site;
    this.site = site;
    try {
      return run();
    } finally {
      this.site = outer;
    }
  }

  // Force the draws of one step: pairs of a name's code and its numbers, end to end.
  force(flat) {
    this.given = {};
    for (let at = 0; at < flat.length; ) {
      const name = NAMES[flat[at]];
      const size = DRAWS[name][2];
      (this.given[name] ??= []).push(flat.slice(at + 1, at + 1 + size));
      at += 1 + size;
    }
  }

  // The end of a step: nothing that was given may be left over.
  settle() {
    const left = Object.entries(this.given ?? {}).filter(([, draws]) => draws.length);
    this.given = null;
    if (left.length) throw new Error(`${left.map(([name]) => name).join(", ")} was given and not drawn`);
  }

  draw(name) {
    const [low, high, size] = DRAWS[name];
    let numbers;
    if (this.given) {
      numbers = this.given[name]?.shift();
      if (!numbers) throw new Error(`the draw ${name} is missing`);
      const wrong = [...numbers].find((value) => value < low || value > high);
      if (wrong !== undefined) throw new Error(`the draw ${name} is ${wrong}, it lies in ${low} to ${high}`);
    } else {
      numbers = Array.from({ length: size }, () => this.generator.uniform(low, high - low + 1));
    }
    this.made.push(CODES[name], ...numbers);
    return size === 1 ? numbers[0] : numbers;
  }

  below(name, limit) {
    return Math.floor((this.draw(name) * limit) / WIDE);
  }

  // --- what Showdown calls ---

  random(from, to) {
    if (this.site === "order") {
      if (this.battle.turn === 0) return from; // of the two leads, who are there before anything can tell them apart
      if (to - from !== 2) throw new Error(`${to - from} places for one action`);
      return from + this.draw("speed_tie");
    }
    const name = { "217-256": "damage", "1-8": "sleep_turns", "2-6": "confusion_turns", "1-9": "disable_turns" }[`${from}-${to}`];
    if (name) return this.draw(name);
    if (from === 2 && to === 4) return this.draw(this.battle.effect.id === "bide" ? "bide_turns" : "thrash_turns");
    if (from === 0) return this.below("psywave", to);
    throw new Error(`a roll without a name: ${from} to ${to} in ${this.battle.effect.id}`);
  }

  randomChance(numerator, denominator) {
    if (denominator !== 256) throw new Error(`a chance in ${denominator}`);
    const { id } = this.battle.effect;
    if (id === "par" && numerator === 63) return this.draw("paralysed") < numerator;
    if (id === "confusion" && numerator === 128 && !this.site) return this.draw("confused") < numerator;
    return this.draw(this.site) < numerator;
  }

  sample(items) {
    const { id } = this.battle.effect;
    if (this.site === "trap_turns") return items[this.draw("trap_turns")];
    if (id === "disable") return items[this.below("disable_slot", items.length)];
    if (id === "mimic") return items[this.below("mimic", items.length)];
    if (id === "metronome" && items.length === 163) return items[this.draw("metronome")];
    if (items.length === 8) return items[this.draw("hits")];
    throw new Error(`a choice without a name: of ${items.length} in ${id}`);
  }

  // Two equal actions are put in order by a roll. Whatever else ties has no order that shows, and costs no roll.
  shuffle(items, start = 0, end = items.length) {
    if (this.site !== "order") return;
    if (end - start !== 2) throw new Error(`${end - start} equal actions`);
    if (this.draw("speed_tie")) [items[start], items[start + 1]] = [items[start + 1], items[start]];
  }
}
