// The canonical state of a battle: all that decides its future, as numbers. Read from a battle, and written into a new one.

import { Battle, dex } from "./rolls.mjs";

export const FORMAT = "gen1randombattle";
export const SPECIES = Array.from({ length: 151 }, () => null);
for (const species of dex.species.all()) if (species.num >= 1 && species.num <= 151 && !species.forme) SPECIES[species.num - 1] = species;
export const MOVES = dex.moves.all().filter((move) => move.num >= 1 && move.num <= 165).sort((a, b) => a.num - b.num);
export const TYPES = ["Normal", "Fighting", "Flying", "Poison", "Ground", "Rock", "Bug", "Ghost", "Fire", "Water", "Grass", "Electric", "Psychic", "Ice", "Dragon"];
const STATUS = ["", "slp", "psn", "brn", "frz", "par", "tox"];
const STATS = ["atk", "def", "spe", "spa"];
const STAGES = [...STATS, "accuracy", "evasion"];
const CANNOT_MOVE = 166;
const NOTHING_YET = "00"; // what Showdown calls the selected move of a side that has selected none

// What the state has, in the order of task.toml, and how many numbers each has.
export const FIELDS = {
  turn: 1, last_damage: 1, request: 2, active: 2, selected: 2, slot: 2, side_last: 2,
  species: 12, level: 12, max_hp: 12, stats: 48, moves: 48, pp: 48, hp: 12, status: 12, sleep: 12, slept_by_foe: 12,
  sub_fainted: 12, seen: 12,
  types: 4, transformed: 2, stored: 8, modified: 8, boosts: 12, act_moves: 8, act_pp: 8, last_move: 2,
  confusion: 2, flinch: 2, trapped: 2, trapped_maybe: 2, fake_trapped: 2, trap_turns: 2, trap_total: 2, trap_damage: 2,
  trap_move: 2, trap_target: 2, recharge: 2, thrash_move: 2, thrash_turns: 2, thrash_accuracy: 2, two_turn: 2,
  invulnerable: 2, bide_turns: 2, bide_damage: 2, disable_turns: 2, disable_slot: 2, disable_move: 2, substitute: 2,
  leech_seed: 2, focus_energy: 2, mist: 2, reflect: 2, light_screen: 2, rage: 2, toxic: 2,
}; // prettier-ignore
export const SIZE = Object.values(FIELDS).reduce((sum, size) => sum + size, 0);

const numberOf = (id) => (id && id !== NOTHING_YET ? (id === "cannotmove" ? CANNOT_MOVE : dex.moves.get(id).num) : 0);
const idOf = (number) => (number === CANNOT_MOVE ? "cannotmove" : number ? MOVES[number - 1].id : "");
export const four = (values) => Array.from({ length: 4 }, (_, index) => values[index] ?? 0);
const slotsOf = (slots) => [four(slots.map((slot) => numberOf(slot.id))), four(slots.map((slot) => slot.pp))];
// Two types by number, of which the second may be none.
export const typesOf = (types) => [0, 1].map((index) => TYPES.indexOf(types[index]) + 1);
const statsOf = (stats) => STATS.map((name) => stats[name]);

// Nobody reads the log, and a long one is taken for an endless loop.
export function forgetLog(battle) {
  battle.log.length = 0;
  Object.assign(battle, { sentLogPos: 0, lastMoveLine: -1 });
}

// --- reading ---------------------------------------------------------------------------------------------------------

const party = (side) => [...side.pokemon].sort((a, b) => a.set.place - b.set.place);

function memberOf(pokemon, seen) {
  const [moves, pp] = slotsOf(pokemon.baseMoveSlots);
  const asleep = pokemon.hp > 0 && pokemon.status === "slp";
  return {
    species: SPECIES.findIndex((species) => species.id === pokemon.baseSpecies.id) + 1,
    level: pokemon.level,
    max_hp: pokemon.maxhp,
    stats: statsOf(pokemon.baseStoredStats),
    moves,
    pp,
    hp: pokemon.hp,
    status: pokemon.hp > 0 ? STATUS.indexOf(pokemon.status) : 0,
    sleep: asleep ? pokemon.statusState.time : 0,
    slept_by_foe: asleep && !pokemon.statusState.source?.isAlly(pokemon) ? 1 : 0,
    sub_fainted: pokemon.subFainted ? 1 : 0,
    seen: seen ? 1 : 0,
  };
}

function activeOf(pokemon) {
  const [moves, pp] = slotsOf(pokemon.moveSlots);
  const volatile = pokemon.hp > 0 ? pokemon.volatiles : {};
  const number = (id, field) => volatile[id]?.[field] ?? 0;
  const flag = (id) => (volatile[id] ? 1 : 0);
  return {
    types: typesOf(pokemon.types),
    transformed: pokemon.transformed ? 1 : 0,
    stored: statsOf(pokemon.storedStats),
    modified: statsOf(pokemon.modifiedStats),
    boosts: STAGES.map((name) => pokemon.boosts[name]),
    act_moves: moves,
    act_pp: pp,
    last_move: pokemon.hp > 0 ? numberOf(pokemon.lastMove?.id) : 0,
    confusion: number("confusion", "time"),
    flinch: flag("flinch"),
    trapped: number("partiallytrapped", "duration"),
    trapped_maybe: volatile.partiallytrapped?.maybeLocked ? 1 : 0,
    fake_trapped: number("fakepartiallytrapped", "duration"),
    trap_turns: number("partialtrappinglock", "duration"),
    trap_total: number("partialtrappinglock", "totalDuration"),
    trap_damage: number("partialtrappinglock", "damage"),
    trap_move: numberOf(volatile.partialtrappinglock?.move),
    trap_target: volatile.partialtrappinglock?.locked.set.place ?? 0,
    recharge: flag("mustrecharge"),
    thrash_move: numberOf(volatile.lockedmove?.move),
    thrash_turns: number("lockedmove", "time"),
    thrash_accuracy: number("lockedmove", "accuracy"),
    two_turn: numberOf(volatile.twoturnmove?.move),
    invulnerable: flag("invulnerability"),
    bide_turns: number("bide", "time"),
    bide_damage: number("bide", "damage"),
    disable_turns: number("disable", "time"),
    disable_slot: number("disable", "slotIndex"),
    disable_move: numberOf(volatile.disable?.move),
    substitute: number("substitute", "hp"),
    leech_seed: flag("leechseed"),
    focus_energy: flag("focusenergy"),
    mist: flag("mist"),
    reflect: flag("reflect"),
    light_screen: flag("lightscreen"),
    rage: number("rage", "accuracy"),
    toxic: volatile.residualdmg ? volatile.residualdmg.counter : -1,
  };
}

// The state as one Int32Array. `seen` tells of each side which places were in the battle.
export function read(battle, seen) {
  const values = { turn: [battle.turn], last_damage: [battle.lastDamage] };
  const add = (fields) => Object.entries(fields).forEach(([name, value]) => (values[name] ??= []).push(value));
  battle.sides.forEach((side, index) => {
    const request = side.activeRequest;
    add({
      request: !request || request.wait ? 0 : request.forceSwitch ? 2 : 1,
      active: side.active[0].set.place,
      selected: numberOf(side.lastSelectedMove),
      slot: side.lastSelectedMoveSlot,
      side_last: numberOf(side.lastMove?.id),
      ...activeOf(side.active[0]),
    });
    party(side).forEach((pokemon, place) => add(memberOf(pokemon, seen[index][place])));
  });
  const state = new Int32Array(SIZE);
  let at = 0;
  for (const [name, size] of Object.entries(FIELDS)) {
    const flat = values[name].flat();
    if (flat.length !== size) throw new Error(`${name} has ${flat.length} numbers`);
    state.set(flat, at);
    at += size;
  }
  return state;
}

// --- writing ---------------------------------------------------------------------------------------------------------

// What a number may be, least and greatest, where not every number of its type means something.
const RANGES = {
  request: [0, 2], active: [0, 5], selected: [0, 166], slot: [0, 3], side_last: [0, 165], species: [1, 151], level: [1, 100],
  max_hp: [1, 999], moves: [0, 165], status: [0, 6], types: [0, 15], act_moves: [0, 165], last_move: [0, 165], boosts: [-6, 6],
  trap_move: [0, 165], trap_target: [0, 5], thrash_move: [0, 165], two_turn: [0, 165], disable_slot: [0, 3], disable_move: [0, 165],
  toxic: [-1, 32767],
}; // prettier-ignore

// The state as a record of one or two entries, or of two times six.
function unpack(state) {
  const fields = {};
  let at = 0;
  for (const [name, size] of Object.entries(FIELDS)) {
    const whole = state.subarray(at, at + size);
    at += size;
    const [low, high] = RANGES[name] ?? [-Infinity, Infinity];
    const wrong = whole.find((value) => value < low || value > high);
    if (wrong !== undefined) throw new Error(`${name} is ${wrong}, it lies in ${low} to ${high}`);
    const sides = size === 1 ? 1 : size % 12 === 0 && name !== "boosts" ? 12 : 2;
    const each = size / sides;
    fields[name] = Array.from({ length: sides }, (_, index) => (each === 1 ? whole[index] : [...whole.subarray(index * each, (index + 1) * each)]));
  }
  return fields;
}

function setOf(fields, side, place) {
  const at = side * 6 + place;
  const [hp, [atk, def, spe, spc]] = [fields.max_hp[at], fields.stats[at]];
  const species = SPECIES[fields.species[at] - 1];
  const moves = fields.moves[at].filter(Boolean).map(idOf);
  // `known`: the numbers themselves, which Showdown would work out anew from what the state does not have.
  return { name: species.name, species: species.name, level: fields.level[at], moves, place, known: { hp, atk, def, spe, spa: spc, spd: spc } };
}

function writeMember(pokemon, fields, at, foe) {
  pokemon.baseMoveSlots.forEach((slot, index) => (slot.pp = fields.pp[at][index]));
  pokemon.subFainted = fields.sub_fainted[at] ? true : null;
  pokemon.hp = fields.hp[at];
  if (pokemon.hp > pokemon.maxhp) throw new Error(`hp is ${pokemon.hp}, more than max_hp`);
  if (!pokemon.hp) {
    Object.assign(pokemon, { fainted: true, faintQueued: true, status: pokemon.isActive ? "fnt" : "" });
    pokemon.side.pokemonLeft -= 1;
    if (pokemon.isActive) Object.assign(pokemon, { isActive: false, isStarted: false, switchFlag: true });
    return;
  }
  pokemon.status = STATUS[fields.status[at]];
  pokemon.statusState = pokemon.battle.initEffectState({ id: pokemon.status, target: pokemon });
  pokemon.statusState.source = fields.slept_by_foe[at] ? foe : pokemon;
  if (pokemon.status === "slp") pokemon.statusState.time = pokemon.statusState.startTime = fields.sleep[at];
  if (!pokemon.isActive) pokemon.clearVolatile(); // as when it left: paralysis and burns lower its stats from there on
}

function setStats(stats, numbers) {
  STATS.forEach((name, index) => (stats[name] = numbers[index]));
  stats.spd = stats.spa;
}

function writeActive(pokemon, foe, fields, side) {
  const battle = pokemon.battle;
  const value = (name) => fields[name][side];
  pokemon.types = value("types").filter(Boolean).map((type) => TYPES[type - 1]);
  pokemon.transformed = value("transformed") === 1;
  setStats(pokemon.storedStats, value("stored"));
  setStats(pokemon.modifiedStats, value("modified"));
  STAGES.forEach((name, index) => (pokemon.boosts[name] = value("boosts")[index]));
  pokemon.boosts.spd = pokemon.boosts.spa;
  const held = value("act_moves").filter(Boolean);
  pokemon.moveSlots = held.map((number, index) => {
    const own = pokemon.baseMoveSlots[index];
    if (!pokemon.transformed && own && numberOf(own.id) === number) return own;
    const move = MOVES[number - 1];
    const pp = value("act_pp")[index];
    return { move: move.name, id: move.id, pp, maxpp: pp, target: move.target, disabled: false, used: false, virtual: true };
  });
  pokemon.lastMove = value("last_move") ? dex.getActiveMove(idOf(value("last_move"))) : null;
  const add = (id, here, more = {}, source = foe) => {
    if (!here) return;
    const name = dex.conditions.get(id).name;
    pokemon.volatiles[id] = battle.initEffectState({ id, name, target: pokemon, source, sourceSlot: source.getSlot(), ...more });
  };
  const foes = foe.side.pokemon;
  add("confusion", value("confusion"), { time: value("confusion") });
  add("flinch", value("flinch"), { duration: 1 });
  add("partiallytrapped", value("trapped"), { duration: value("trapped"), maybeLocked: value("trapped_maybe") === 1, sourceEffect: dex.moves.get("wrap") });
  add("fakepartiallytrapped", value("fake_trapped"), { duration: value("fake_trapped"), counterpart: foe });
  add("partialtrappinglock", value("trap_turns"), {
    duration: value("trap_turns"), totalDuration: value("trap_total"), damage: value("trap_damage"), move: idOf(value("trap_move")),
    locked: foes.find((other) => other.set.place === value("trap_target")),
  }, pokemon); // prettier-ignore
  add("mustrecharge", value("recharge"), {}, pokemon);
  add("lockedmove", value("thrash_move"), { move: idOf(value("thrash_move")), time: value("thrash_turns"), accuracy: value("thrash_accuracy") }, pokemon);
  add("twoturnmove", value("two_turn"), { move: idOf(value("two_turn")) });
  add("invulnerability", value("invulnerable"));
  add("bide", value("bide_turns"), { time: value("bide_turns"), damage: value("bide_damage") }, pokemon);
  add("disable", value("disable_turns"), { time: value("disable_turns"), slotIndex: value("disable_slot"), move: idOf(value("disable_move")) });
  add("substitute", value("substitute"), { hp: value("substitute") }, pokemon);
  add("leechseed", value("leech_seed"));
  add("focusenergy", value("focus_energy"), {}, pokemon);
  add("mist", value("mist"), {}, pokemon);
  add("reflect", value("reflect"), {}, pokemon);
  add("lightscreen", value("light_screen"), {}, pokemon);
  add("rage", value("rage"), { move: "rage", accuracy: value("rage") }, pokemon);
  add("residualdmg", value("toxic") >= 0, { counter: value("toxic") });
}

// A new battle that stands where this state says. Returns the battle, and which places were seen.
export function write(state, rolls) {
  const fields = unpack(state);
  const battle = new Battle({ formatid: FORMAT, prng: rolls });
  rolls.watch(battle);
  const { spreadModify } = battle;
  battle.spreadModify = (base, set) => (set.known ? { ...set.known } : spreadModify.call(battle, base, set));
  const seen = [0, 1].map((side) => Array.from({ length: 6 }, (_, place) => fields.seen[side * 6 + place] === 1));
  for (const side of [0, 1]) {
    const lead = fields.active[side];
    const places = [lead, ...[0, 1, 2, 3, 4, 5].filter((place) => place !== lead)];
    battle.setPlayer(`p${side + 1}`, { name: `p${side + 1}`, team: places.map((place) => setOf(fields, side, place)) });
  }
  const actives = battle.sides.map((side) => side.active[0]);
  battle.sides.forEach((side, index) => {
    for (const pokemon of side.pokemon) writeMember(pokemon, fields, index * 6 + pokemon.set.place, actives[1 - index]);
  });
  battle.sides.forEach((side, index) => {
    if (actives[index].hp) writeActive(actives[index], actives[1 - index], fields, index);
    else setStats(actives[index].modifiedStats, fields.modified[index]); // who was faster is replaced first
    Object.assign(side, {
      lastSelectedMove: idOf(fields.selected[index]) || NOTHING_YET,
      lastSelectedMoveSlot: fields.slot[index],
      lastMove: fields.side_last[index] ? dex.getActiveMove(idOf(fields.side_last[index])) : null,
      faintedThisTurn: fields.request[index] === 2 ? actives[index] : null,
    });
  });
  [battle.turn, battle.lastDamage] = [fields.turn[0], fields.last_damage[0]];
  ask(battle, fields.request);
  return { battle, seen };
}

// What the players are asked next; before a turn the flags of what they can choose are worked out, as the end of a turn does.
function ask(battle, request) {
  const forced = request.includes(2);
  if (!forced && (request[0] !== 1 || request[1] !== 1)) throw new Error("nobody, or one alone, is asked for a move");
  battle.midTurn = forced;
  battle.queue.clear();
  battle.sides.forEach((side, index) => {
    const [pokemon] = side.active;
    if ((request[index] === 2) !== !pokemon.hp) throw new Error("a replacement is asked of who has fainted, and of nobody else");
    if (request[index] === 2 && !battle.canSwitch(side)) throw new Error("nobody is left to replace who has fainted");
    Object.assign(pokemon, { maybeLocked: false, maybeDisabled: false, trapped: false, maybeTrapped: false });
    if (pokemon.hp && !forced) battle.runEvent("DisableMove", pokemon);
  });
  battle.makeRequest(forced ? "switch" : "move");
}
