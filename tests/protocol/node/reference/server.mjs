// A small environment and a whole protocol server for it, without any package: docs/protocol.md in one file.
//
//     node server.mjs
//
// The game: on a field of 5 x 5 cells an agent runs for coins. Each coin is worth 1, the third ends the game, and after
// 40 steps it is cut off. Where the next coin appears is decided by a linear congruential generator in the open state.

import { readSync, writeSync } from "node:fs";

// --- MessagePack, as much as the protocol uses -----------------------------------------------------------------------

const ARRAY = 1; // extension type of an array
const utf8 = new TextDecoder("utf-8", { fatal: true });

class Extension {
  constructor(type, data) {
    Object.assign(this, { type, data });
  }
}

function pack(value) {
  const chunks = [];
  const bytes = (...numbers) => chunks.push(Uint8Array.from(numbers));
  const sized = (code, width, size) => {
    const head = Buffer.alloc(1 + width);
    head[0] = code;
    head.writeUIntBE(size, 1, width);
    chunks.push(head);
  };
  const number = (code, width, method, value) => {
    const head = Buffer.alloc(1 + width);
    head[0] = code;
    head[method](value, 1);
    chunks.push(head);
  };
  const put = (item) => {
    if (item === null || item === undefined) bytes(0xc0);
    else if (typeof item === "boolean") bytes(item ? 0xc3 : 0xc2);
    else if (typeof item === "bigint") number(0xd3, 8, "writeBigInt64BE", item);
    else if (Number.isInteger(item) && item >= 0 && item < 128) bytes(item);
    else if (Number.isSafeInteger(item)) put(BigInt(item));
    else if (typeof item === "number") number(0xcb, 8, "writeDoubleBE", item);
    else if (typeof item === "string") {
      const text = Buffer.from(item, "utf8");
      sized(0xdb, 4, text.length);
      chunks.push(text);
    } else if (item instanceof Uint8Array) {
      sized(0xc6, 4, item.length);
      chunks.push(item);
    } else if (item instanceof Extension) {
      sized(0xc9, 4, item.data.length);
      bytes(item.type);
      chunks.push(item.data);
    } else if (Array.isArray(item)) {
      sized(0xdd, 4, item.length);
      item.forEach(put);
    } else {
      const entries = Object.entries(item);
      sized(0xdf, 4, entries.length);
      entries.forEach(([key, content]) => (put(key), put(content)));
    }
  };
  put(value);
  return Buffer.concat(chunks);
}

function unpack(data) {
  let at = 0;
  const uint = (width) => {
    at += width;
    return data.readUIntBE(at - width, width);
  };
  const long = (method) => {
    at += 8;
    const value = data[method](at - 8);
    return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  };
  const take = (size) => data.subarray(at, (at += size));
  const text = (size) => utf8.decode(take(size));
  const list = (size) => Array.from({ length: size }, get);
  const map = (size) => Object.fromEntries(Array.from({ length: size }, () => [get(), get()]));
  const extension = (size) => {
    const type = take(1).readInt8();
    if (type !== ARRAY) throw new ProtocolError(`unknown extension type ${type}`);
    return arrayFrom(unpack(take(size)));
  };
  function get() {
    const code = uint(1);
    if (code < 0x80) return code;
    if (code < 0x90) return map(code & 0x0f);
    if (code < 0xa0) return list(code & 0x0f);
    if (code < 0xc0) return text(code & 0x1f);
    if (code >= 0xe0) return code - 0x100;
    switch (code) {
      case 0xc0: return null;
      case 0xc2: return false;
      case 0xc3: return true;
      case 0xc4: case 0xc5: case 0xc6: return take(uint(1 << (code - 0xc4)));
      case 0xc7: case 0xc8: case 0xc9: return extension(uint(1 << (code - 0xc7)));
      case 0xca: return take(4).readFloatBE();
      case 0xcb: return take(8).readDoubleBE();
      case 0xcc: case 0xcd: case 0xce: return uint(1 << (code - 0xcc));
      case 0xcf: return long("readBigUInt64BE");
      case 0xd0: return take(1).readInt8();
      case 0xd1: return take(2).readInt16BE();
      case 0xd2: return take(4).readInt32BE();
      case 0xd3: return long("readBigInt64BE");
      case 0xd4: case 0xd5: case 0xd6: case 0xd7: case 0xd8: return extension(1 << (code - 0xd4));
      case 0xd9: case 0xda: case 0xdb: return text(uint(1 << (code - 0xd9)));
      case 0xdc: case 0xdd: return list(uint(2 << (code - 0xdc)));
      case 0xde: case 0xdf: return map(uint(2 << (code - 0xde)));
      default: throw new ProtocolError(`MessagePack has no code 0x${code.toString(16)}`);
    }
  }
  return get();
}

// --- arrays: [dtype, shape, bytes] as extension type 1; typed arrays are little-endian wherever Node runs -------------

const DTYPES = {
  bool: ["|b1", Uint8Array],
  uint8: ["|u1", Uint8Array],
  int32: ["<i4", Int32Array],
  uint32: ["<u4", Uint32Array],
  float32: ["<f4", Float32Array],
};

class ProtocolError extends Error {}

function arrayFrom([code, shape, raw]) {
  const [, Typed] = Object.values(DTYPES).find(([known]) => known === code) ?? [];
  return { code, shape, data: Typed && new Typed(new Uint8Array(raw).buffer) }; // copied, so that it is aligned
}

// Values of one leaf over timesteps, each a number or a flat list of numbers, as an array [timesteps, ...shape].
function stack(leaf, values) {
  const [code, Typed] = DTYPES[leaf.dtype];
  const data = Typed.from(values.flat());
  return new Extension(ARRAY, pack([code, [values.length, ...leaf.shape], new Uint8Array(data.buffer)]));
}

// What a request brings for a leaf, timestep by timestep: numbers, or flat lists of numbers.
function unstack(path, leaf, array) {
  const size = leaf.shape.reduce((product, side) => product * side, 1);
  const [timesteps, ...shape] = array.shape;
  if (array.code !== DTYPES[leaf.dtype][0] || String(shape) !== String(leaf.shape))
    throw new ProtocolError(`${path} came as ${array.code} [${shape}], declared is ${leaf.dtype} [${leaf.shape}]`);
  const inside = (value) => !(value < leaf.low) && !(value > leaf.high);
  if (!array.data.every(inside)) throw new ProtocolError(`${path} is outside its bounds, ${leaf.low} to ${leaf.high}`);
  const values = Array.from(array.data);
  return Array.from({ length: timesteps }, (_, timestep) =>
    leaf.shape.length ? values.slice(timestep * size, (timestep + 1) * size) : values[timestep],
  );
}

const alone = (path, leaf, array) => unstack(path, leaf, { ...array, shape: [1, ...array.shape] })[0];

// --- the environment -------------------------------------------------------------------------------------------------

const SIDE = 5;
const COINS = 3;
const HORIZON = 40;
const MOVES = [[-1, 0], [0, 1], [1, 0], [0, -1]];

class Generator {
  constructor(state) {
    this.state = state >>> 0;
  }

  below(limit) {
    this.state = (Math.imul(this.state, 1664525) + 1013904223) >>> 0;
    return Math.floor((this.state * limit) / 2 ** 32);
  }
}

const move = ([timestep, column], action) => [timestep + MOVES[action][0], column + MOVES[action][1]];
const onField = (cell) => cell.every((at) => at >= 0 && at < SIDE);

class CoinRun {
  reset(seed) {
    const wide = BigInt(seed);
    this.chance = new Generator(Number((wide >> 32n) ^ (wide & 0xffffffffn)));
    Object.assign(this, { agent: [2, 2], coins: 0, steps: 0 });
    this.placeCoin();
    return this.timestep(0, false);
  }

  restore(state) {
    Object.assign(this, { agent: state["state/agent"], coin: state["state/coin"] });
    Object.assign(this, { coins: state["state/coins"], steps: state["state/steps"] });
    this.chance = new Generator(state["state/generator"]);
    return this.timestep(0, false);
  }

  step(action) {
    const target = move(this.agent, action);
    if (!onField(target)) throw new Error(`action ${action} leads off the field from ${this.agent}`);
    this.agent = target;
    this.steps += 1;
    const found = String(this.agent) === String(this.coin);
    if (found) {
      this.coins += 1;
      this.placeCoin();
    }
    return this.timestep(found ? 1 : 0, true);
  }

  // Anywhere but where the agent stands.
  placeCoin() {
    const place = this.chance.below(SIDE * SIDE - 1);
    const own = this.agent[0] * SIDE + this.agent[1];
    const cell = place < own ? place : place + 1;
    this.coin = [Math.floor(cell / SIDE), cell % SIDE];
  }

  timestep(reward, mayEnd) {
    const board = new Array(SIDE * SIDE).fill(0);
    board[this.coin[0] * SIDE + this.coin[1]] = 2;
    board[this.agent[0] * SIDE + this.agent[1]] = 1;
    return {
      "observation/board": board,
      "observation/coins": this.coins,
      legal_actions: MOVES.map((_, action) => (onField(move(this.agent, action)) ? 1 : 0)),
      reward,
      terminated: mayEnd && this.coins >= COINS,
      truncated: mayEnd && this.steps >= HORIZON,
      "state/agent": this.agent,
      "state/coin": this.coin,
      "state/coins": this.coins,
      "state/steps": this.steps,
      "state/generator": this.chance.state,
    };
  }
}

const cell = { dtype: "int32", shape: [2], low: 0, high: SIDE - 1 };
const ACTION = { dtype: "int32", shape: [], low: 0, high: 3 };
const LEAVES = {
  "observation/board": { dtype: "uint8", shape: [SIDE, SIDE], low: 0, high: 2 },
  "observation/coins": { dtype: "int32", shape: [], low: 0, high: COINS },
  legal_actions: { dtype: "bool", shape: [4] },
  reward: { dtype: "float32", shape: [], low: 0, high: 1 },
  terminated: { dtype: "bool", shape: [] },
  truncated: { dtype: "bool", shape: [] },
  "state/agent": cell,
  "state/coin": cell,
  "state/coins": { dtype: "int32", shape: [], low: 0, high: COINS - 1 },
  "state/steps": { dtype: "int32", shape: [], low: 0, high: HORIZON - 1 },
  "state/generator": { dtype: "uint32", shape: [] },
};
const PROBES = { move: { inputs: { agent: cell, action: ACTION }, outputs: { agent: { dtype: "int32", shape: [2] } } } };

// --- the calls of the protocol ---------------------------------------------------------------------------------------

const environment = new CoinRun();
const POLICIES = {
  greedy: (timestep, chance) => {
    const [towards] = [0, 1, 2, 3].filter((action) => {
      const [timesteps, columns] = timestep["state/coin"].map((at, axis) => at - timestep["state/agent"][axis]);
      return MOVES[action][0] * timesteps + MOVES[action][1] * columns > 0;
    });
    return chance.below(8) === 0 ? legal(timestep)[0] : towards;
  },
};

const legal = (timestep) => [0, 1, 2, 3].filter((action) => timestep.legal_actions[action]);
const stacked = (leaves, timesteps) =>
  Object.fromEntries(Object.entries(leaves).map(([path, leaf]) => [path, stack(leaf, timesteps.map((timestep) => timestep[path]))]));
const answer = (timesteps) => ({ leaves: stacked(LEAVES, timesteps), draws: [] });
const ended = (timestep) => timestep.terminated || timestep.truncated;

function reset(seed) {
  if (typeof seed !== "bigint" && !Number.isSafeInteger(seed)) throw new ProtocolError(`seed ${seed} is not whole`);
  if (seed < 0 || seed >= 2n ** 63n) throw new ProtocolError(`seed ${seed} is not from 0 to 2**63 - 1`);
  return environment.reset(seed);
}

function restore(state) {
  const wanted = Object.keys(LEAVES).filter((path) => path.startsWith("state/"));
  if (String(wanted.sort()) !== String(Object.keys(state).sort())) throw new ProtocolError(`the state is ${wanted}`);
  return environment.restore(Object.fromEntries(wanted.map((path) => [path, alone(path, LEAVES[path], state[path])])));
}

function play(first, actions, choose = null) {
  const timesteps = [first];
  const chosen = [];
  for (const given of actions) {
    chosen.push(choose ? choose(timesteps.at(-1)) : given);
    timesteps.push(environment.step(chosen.at(-1)));
    if (ended(timesteps.at(-1))) break;
  }
  return { timesteps, chosen };
}

const refuseDraws = (draws) => {
  if (draws !== undefined && draws !== null) throw new ProtocolError("this environment takes no draws");
};

const CALLS = {
  open: () => CALLS.spec(),
  spec: () => ({
    protocol: 2,
    leaves: { ...LEAVES, action: ACTION },
    capabilities: ["restore", "probe"],
    probes: PROBES,
    draws: {},
    policies: Object.keys(POLICIES),
  }),
  reset: ({ seed, draws }) => (refuseDraws(draws), answer([reset(seed)])),
  step: ({ action, draws }) => (refuseDraws(draws), answer([environment.step(alone("action", ACTION, action.action))])),
  restore: ({ state }) => answer([restore(state)]),
  rollout: ({ cases }) =>
    cases.map(({ seed, actions, start, draws }) => {
      refuseDraws(draws);
      const given = unstack("action", ACTION, actions.action);
      return answer(play(start ? restore(start) : reset(seed), given).timesteps);
    }),
  drive: ({ policy, seeds, horizon, stickiness }) =>
    seeds.map((seed) => {
      const chance = new Generator(Number(BigInt(seed) & 0xffffffffn) ^ 0x5eed);
      let last = null;
      const uniform = (timestep) => {
        const open = legal(timestep);
        const repeats = policy === "sticky" && open.includes(last) && chance.below(1 << 20) < stickiness * (1 << 20);
        return (last = repeats ? last : open[chance.below(open.length)]);
      };
      const own = POLICIES[policy];
      if (!own && !["random", "sticky"].includes(policy)) throw new ProtocolError(`there is no policy ${policy}`);
      const choose = own ? (timestep) => own(timestep, chance) : uniform;
      const { timesteps, chosen } = play(reset(seed), new Array(horizon).fill(null), choose);
      return { ...answer(timesteps), actions: { action: stack(ACTION, chosen) } };
    }),
  probe: ({ name, inputs }) => {
    const probe = PROBES[name];
    if (!probe) throw new ProtocolError(`there is no probe ${name}`);
    const agents = unstack("agent", probe.inputs.agent, inputs.agent);
    const actions = unstack("action", ACTION, inputs.action);
    const outputs = agents.map((agent, index) => ({ agent: move(agent, actions[index]) }));
    return stacked(probe.outputs, outputs);
  },
  close: () => null,
};

// --- frames ----------------------------------------------------------------------------------------------------------

function readExactly(size) {
  const data = Buffer.alloc(size);
  for (let filled = 0; filled < size; ) {
    const count = readSync(0, data, filled, size - filled);
    if (count === 0) process.exit(0); // whoever asked is gone
    filled += count;
  }
  return data;
}

function send(message) {
  const content = pack(message);
  const frame = Buffer.alloc(4 + content.length);
  frame.writeUInt32BE(content.length);
  content.copy(frame, 4);
  for (let sent = 0; sent < frame.length; ) sent += writeSync(1, frame, sent);
}

console.log = console.error; // nothing but frames may go to standard output
for (let call = ""; call !== "close"; ) {
  const request = unpack(readExactly(readExactly(4).readUInt32BE()));
  call = request.call;
  try {
    if (!Object.hasOwn(CALLS, call)) throw new ProtocolError(`there is no call ${call}`);
    send({ id: request.id, ok: CALLS[call](request.with ?? {}) });
  } catch (error) {
    const kind = error instanceof ProtocolError ? "protocol" : "raised";
    send({ id: request.id, error: { kind, type: error.name, message: error.message, traceback: error.stack ?? "" } });
  }
}
