// Battles with teams as the environment draws them, told as each player is told them: `node told.mjs BATTLES`, of which each has
// the seed of its number. The first line of JSON is what has numbers. Then there is one for each timestep: what both players'
// streams say, their requests, the canonical state, and what both choose then.

import { createRequire } from "node:module";

import { FORMAT, forgetLog, read } from "../../environments/pokemon/reference/canonical.mjs";
import { Generator } from "../../environments/pokemon/reference/generator.mjs";
import { Battle, Rolls, dex } from "../../environments/pokemon/reference/rolls.mjs";
import { drawTeams } from "../../environments/pokemon/reference/teams.mjs";
import { numbers } from "../../examples/showdown/numbers.mjs";

const { extractChannelMessages } = createRequire(import.meta.url)("@pkmn/sim");
const SWITCHES = 0.15;

function wordOf(request, generator) {
  const some = (items) => items[generator.uniform(0, items.length)];
  const others = request.side.pokemon.flatMap((one, at) => (one.active || one.condition.endsWith(" fnt") ? [] : [`switch ${at + 1}`]));
  if (request.forceSwitch) return some(others);
  const [{ moves, trapped }] = request.active;
  if (!trapped && others.length && generator.uniform(0, 1000) < 1000 * SWITCHES) return some(others);
  return some(moves.flatMap((move, at) => (move.disabled ? [] : [`move ${at + 1}`])));
}

const [battles] = process.argv.slice(2).map(Number);
console.log(JSON.stringify(numbers(dex)));
for (let number = 0; number < battles; number++) {
  const rolls = new Rolls(BigInt(number));
  const generator = new Generator(BigInt(number) << 32n);
  const battle = new Battle({ formatid: FORMAT, prng: rolls });
  rolls.watch(battle);
  const named = (set) => ({ ...set, name: `${"ABCDEF"[set.place]}-${set.species}` }); // a team may have a species twice
  drawTeams(rolls).forEach((team, at) => battle.setPlayer(`p${at + 1}`, { name: `p${at + 1}`, team: team.map(named) }));
  const seen = [0, 1].map(() => new Array(6).fill(false));
  for (;;) {
    battle.sides.forEach((side, index) => (seen[index][side.active[0].set.place] = true));
    const channels = extractChannelMessages(battle.log.splice(0).join("\n"), [1, 2]);
    forgetLog(battle);
    const requests = battle.sides.map((side) => side.activeRequest);
    const words = requests.map((request) => (battle.ended || request.wait ? "" : wordOf(request, generator)));
    const shown = { battle: number, told: [channels[1], channels[2]], requests, state: [...read(battle, seen)], words };
    console.log(JSON.stringify(shown));
    if (battle.ended) break;
    battle.sides.forEach((side, index) => {
      if (words[index] && !side.choose(words[index])) throw new Error(`${words[index]}: ${side.choice.error}`);
    });
    battle.commitChoices();
  }
}
