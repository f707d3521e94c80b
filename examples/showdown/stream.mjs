// Battles in Showdown's own simulator by its own text protocol: somebody outside plays p1, its RandomPlayerAI plays p2.
//
// A line in is `start SEED`, or what p1 chooses (`move 1`, `switch 4`). A line out is JSON: first what has numbers, then each
// message that Showdown sends to p1.

import { createRequire } from "node:module";
import { createInterface } from "node:readline";

import { numbers } from "./numbers.mjs";

const require = createRequire(import.meta.url);
const { BattleStreams, Dex, RandomPlayerAI } = require("@pkmn/sim");
const { TeamGenerators } = require("@pkmn/randoms");
const FORMAT = "gen1randombattle";

const say = (message) => process.stdout.write(JSON.stringify(message) + "\n");
let streams;

// Showdown says something more after the end, which would be taken for the next battle's.
async function hear(stream) {
  for await (const message of stream) {
    say(message);
    if (/^\|(win\||tie$)/m.test(message)) return;
  }
}

function start(seed) {
  streams = BattleStreams.getPlayerStreams(new BattleStreams.BattleStream());
  hear(streams.p1);
  new RandomPlayerAI(streams.p2, { seed: `${seed},3,0,0` }).start();
  const player = (name, chance) => {
    const team = TeamGenerators.getTeamGenerator(FORMAT, `${seed},${chance},0,0`).getTeam();
    return `>player ${name} ${JSON.stringify({ name, team })}`;
  };
  const battle = JSON.stringify({ formatid: FORMAT, seed: `${seed},0,0,0` });
  streams.omniscient.write([`>start ${battle}`, player("p1", 1), player("p2", 2)].join("\n"));
}

say(numbers(Dex.forGen(1)));
for await (const line of createInterface({ input: process.stdin })) {
  if (line.startsWith("start ")) start(Number(line.slice(6)));
  else streams.p1.write(line);
}
