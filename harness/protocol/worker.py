"""The worker: one file that serves an environment over a pipe. It needs Python 3.8+, numpy and msgpack, nothing else.

References run it in an environment of their own (own interpreter, own pins), candidates run it in a sandbox. It is the
single home of the wire format, which docs/protocol.md specifies: `harness.protocol.channel` imports the codec from here.

    python worker.py [--path DIR]... ADAPTER:CLASS

ADAPTER is the path of a Python file or the name of a module, CLASS an adapter (docs/protocol.md, "Adapters in Python").
Requests come in through standard input, answers go out through what was standard output at the start; afterwards file
descriptor 1 is standard error, so that an environment that prints cannot damage the stream.
"""

import importlib
import importlib.util
import operator
import os
import random
import struct
import sys
import traceback
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple

import msgpack
import numpy as np

PROTOCOL = 2
MAX_FRAME = 1 << 30
ARRAY = 1  # MessagePack extension type of an array: [dtype, shape, bytes], itself MessagePack
WIRE_DTYPES = frozenset(["|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f2", "<f4", "<f8"])
ENDINGS = ("terminated", "truncated")
SEEDS = 1 << 63
MAX_TRACEBACK = 4000
MAX_AXES = 64  # of an array; numpy has no more
MAX_VALUES = 1 << 24  # in an answer, an array counted as one: an empty list is one byte of a frame and 64 of memory
PART_BYTES = (
    1 << 24
)  # of leaves that are stacked together in an answer in columns: whoever keeps one episode keeps them all
MAX_SIDE = 4096  # pixels: a picture is at most as wide and as high
PLAIN = {"b": (bool,), "i": (int,), "u": (int,), "f": (float, int)}  # Python numbers that may stand for a dtype's kind


Episode = Tuple[List[Any], List[Any], Optional[Dict[str, np.ndarray]]]
"""The leaves of each timestep, the draws of each, and the actions taken where the worker chose them."""


class ProtocolError(Exception):
    """Bytes or values that the protocol, or the environment's own spec, does not allow."""


# --- codec ------------------------------------------------------------------------------------------------------------


def _pack_array(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = np.asarray(value)
    if isinstance(value, np.ndarray):
        dtype = value.dtype.newbyteorder("<").str
        if dtype not in WIRE_DTYPES:
            raise ProtocolError("dtype {} cannot be sent".format(value.dtype))
        data = np.ascontiguousarray(value, dtype=dtype).tobytes()
        return msgpack.ExtType(ARRAY, msgpack.packb([dtype, list(value.shape), data], use_bin_type=True))
    raise ProtocolError("a {} cannot be sent".format(type(value).__name__))


def _unpack_array(code: int, data: bytes) -> np.ndarray:
    if code != ARRAY:
        raise ProtocolError("unknown extension type {}".format(code))
    # Looked at while it is read: what is nested in it could be as large as a frame.
    dtype, shape, raw = msgpack.unpackb(data, raw=False, list_hook=_flat, max_array_len=MAX_AXES, max_map_len=0)
    if dtype not in WIRE_DTYPES:
        raise ProtocolError("dtype {!r:.99} is not allowed".format(dtype))
    if not isinstance(raw, bytes) or not isinstance(shape, list) or not all(size >= 0 for size in shape):
        raise ProtocolError("an array is [dtype, list of sizes, bytes]")
    count = 1
    for size in shape:
        count *= size
    if len(raw) != count * np.dtype(dtype).itemsize:
        raise ProtocolError("{} bytes do not fill shape {} of {}".format(len(raw), shape, dtype))
    if dtype == "|b1" and raw.translate(None, b"\0\1"):
        raise ProtocolError("a boolean is a byte of 0 or 1")
    return (np.frombuffer(raw, dtype=dtype) if raw else np.zeros(0, dtype)).reshape(shape)


def _flat(items: List[Any]) -> List[Any]:
    """A list inside an array: the sizes, or the array's own three parts."""
    if not all(type(item) is int for item in items) and list(map(type, items)) != [str, list, bytes]:
        raise ProtocolError("an array is [dtype, list of sizes, bytes]")
    return items


def encode(message: Any) -> bytes:
    """A message as MessagePack, arrays as extension type 1. Raises ProtocolError for what cannot be sent."""
    try:
        return bytes(msgpack.packb(message, default=_pack_array, use_bin_type=True) or b"")
    except (OverflowError, UnicodeError, ValueError) as error:
        raise ProtocolError("this cannot be sent: {}".format(error)) from error


def decode(data: bytes, most: Optional[int] = None) -> Any:
    """The inverse of `encode`; arrays are read-only. Raises ProtocolError for anything that is not a message, and for one
    of more than `most` values: whoever takes messages of a stranger gives `MAX_VALUES`.
    """
    limits = {} if most is None else _limits(most)
    try:
        return msgpack.unpackb(data, raw=False, ext_hook=_unpack_array, strict_map_key=True, **limits)
    except ProtocolError:
        raise
    except Exception as error:  # msgpack and numpy have many ways to say that bytes are not a message
        raise ProtocolError("not a MessagePack message: {}".format(error)) from error


def _limits(most: int) -> Dict[str, Any]:
    left = most

    def count(values: Any) -> Any:
        nonlocal left
        left -= len(values)
        if left < 0:
            raise ProtocolError("more than {} values".format(most))
        return values

    return {"list_hook": count, "object_hook": count, "max_array_len": most, "max_map_len": most}


# --- leaves -----------------------------------------------------------------------------------------------------------


class Leaf:
    """A declared leaf, and how an adapter's values become an array of exactly its dtype and shape."""

    def __init__(self, path: str, described: Dict[str, Any]) -> None:
        try:
            self.path, self.dtype = path, np.dtype(described["dtype"])
            self.shape = tuple(int(size) for size in described.get("shape", ()))
            self.low, self.high = described.get("low"), described.get("high")
            self._plain = frozenset((*PLAIN[self.dtype.kind], self.dtype.type))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ProtocolError("the spec of leaf {} cannot be read ({!r})".format(path, error))

    def one(self, value: Any) -> np.ndarray:
        """A single value as an array of its own."""
        return np.array(self.stack([value])[0])

    # This runs once for each value of a rollout: it stays in loops that C code drives.
    def stack(self, values: Any) -> np.ndarray:
        """Values over timesteps as one array `[timesteps, *shape]`, or a ProtocolError naming the timestep that is not as
        declared.
        """
        if not self.shape and self._plain.issuperset(map(type, values)):
            return self._from_numbers(values)
        try:
            dtypes, shapes = [value.dtype for value in values], [value.shape for value in values]
            if dtypes.count(self.dtype) == shapes.count(self.shape) == len(values):
                return self._from_arrays(values)
        except AttributeError:
            pass  # Python numbers among them: looked at one by one
        return np.array([self._checked(timestep, value) for timestep, value in enumerate(values)]).reshape(
            (-1, *self.shape)
        )

    def _from_arrays(self, values: Any) -> np.ndarray:
        try:
            return np.frombuffer(b"".join(values), self.dtype).reshape((len(values), *self.shape))
        except (BufferError, TypeError, ValueError):  # not contiguous, or empty
            return np.array(values, dtype=self.dtype).reshape((len(values), *self.shape))

    def _from_numbers(self, values: Any) -> np.ndarray:
        if self.dtype.kind in "iu":
            info = np.iinfo(self.dtype)  # numpy 1.x would wrap around
            if min(values) < info.min or max(values) > info.max:
                raise ProtocolError("leaf {} has a value that {} cannot hold".format(self.path, self.dtype))
        try:
            return np.array(values, dtype=self.dtype)
        except OverflowError:
            raise ProtocolError("leaf {} has a value that {} cannot hold".format(self.path, self.dtype))

    def _checked(self, timestep: int, value: Any) -> np.ndarray:
        if not self.shape and type(value) in self._plain:
            return self._from_numbers([value])[0]
        array = value if isinstance(value, (np.ndarray, np.generic)) else _as_array(value)
        if array.shape != self.shape:
            found, declared = "shape {}".format(list(array.shape)), "{}".format(list(self.shape))
        elif array.dtype != self.dtype:
            found, declared = "dtype {}".format(array.dtype), "{}".format(self.dtype)
        else:
            return np.asarray(array)
        raise ProtocolError(
            "leaf {} has {} in timestep {}, its spec declares {}".format(self.path, found, timestep, declared)
        )

    def rows(self, array: Any, count: int) -> List[np.ndarray]:
        """Each of `count` stacked values as an array of its own, as `one` gives it."""
        if not isinstance(array, np.ndarray) or (array.dtype, array.shape) != (self.dtype, (count, *self.shape)):
            raise ProtocolError("{} must be {} {}".format(self.path, self.dtype, [count, *self.shape]))
        return [np.array(value) for value in array]

    def accept(self, array: Any) -> np.ndarray:
        """What a request brings for this leaf `[timesteps, *shape]`: of its dtype, inside its bounds, or a ProtocolError."""
        if not isinstance(array, np.ndarray) or array.shape[1:] != self.shape or array.ndim != len(self.shape) + 1:
            raise ProtocolError("{} must have shape {} in each timestep".format(self.path, list(self.shape)))
        taken = array.astype(self.dtype)
        whole = array.dtype.kind in "iu" and self.dtype.kind in "iu" and np.array_equal(array, taken)
        if array.dtype != self.dtype and not whole:
            raise ProtocolError("{} has dtype {}, the spec declares {}".format(self.path, array.dtype, self.dtype))
        for bound, beyond in ((self.low, np.less), (self.high, np.greater)):
            if bound is not None and beyond(taken, np.asarray(bound, dtype=self.dtype)).any():
                raise ProtocolError("{} is outside its bounds, {} to {}".format(self.path, self.low, self.high))
        if self.dtype.kind == "f" and np.isnan(taken).any():
            raise ProtocolError("{} is not a number".format(self.path))
        return taken


def _as_array(value: Any) -> np.ndarray:
    try:
        return np.asarray(value)
    except ValueError:  # ragged
        return np.asarray(None)


# --- one environment, one step at a time ------------------------------------------------------------------------------


class SingleEnvironment:
    """Answers the protocol's batched calls with an adapter that knows one environment and one step at a time."""

    answered_here = frozenset(["after", "choose", "columns", "vector"])  # capabilities that an adapter gets for nothing

    def __init__(self, make: Callable[..., Any]) -> None:
        self._make = make
        self._adapter = None  # type: Any
        self._sub_envs = []  # type: List[_SubEnv]
        self._fixed = {}  # type: Dict[str, Any]

    def open(self, options: Dict[str, Any]) -> Dict[str, Any]:
        self.close()
        self._options = options
        self._adapter = self._make(**options)
        spec = dict(self._adapter.spec())
        leaves = [Leaf(path, described) for path, described in spec["leaves"].items()]
        self._actions = {leaf.path: leaf for leaf in leaves if _is_action(leaf.path)}
        self._leaves = [leaf for leaf in leaves if not _is_action(leaf.path)]
        self._state = {leaf.path: leaf for leaf in self._leaves if leaf.path.startswith("state/")}
        paths = [leaf.path for leaf in self._leaves]
        roots = {path.split("/")[0] for path in paths}
        if not self._actions or not {"observation", "reward"} <= roots or not set(ENDINGS) <= set(paths):
            raise ProtocolError("the spec needs leaves observation, action, reward, terminated, truncated")
        self._get = operator.itemgetter(*paths)
        self._timestep_bytes = sum(leaf.dtype.itemsize * int(np.prod(leaf.shape)) for leaf in self._leaves)
        self._shown = [leaf for leaf in self._leaves if leaf.path not in self._state]
        self._endings = paths.index("terminated"), paths.index("truncated")
        self._probes = {
            name: tuple([Leaf(path, d) for path, d in probe[side].items()] for side in ("inputs", "outputs"))
            for name, probe in spec.get("probes", {}).items()
        }
        self._capabilities = frozenset(spec.get("capabilities", ()))
        self._draws = {name: Leaf("draw/" + name, draw) for name, draw in spec.get("draws", {}).items()}
        moments = [draw.get("at", "both") for draw in spec.get("draws", {}).values()]
        self._draws_at_reset = "draws" in self._capabilities and any(at != "step" for at in moments)
        self._draws_at_step = "draws" in self._capabilities and any(at != "reset" for at in moments)
        self._policies = getattr(self._adapter, "policies", {})
        spec["capabilities"] = sorted(self._capabilities | self.answered_here)
        spec.setdefault("protocol", PROTOCOL)
        spec.setdefault("policies", sorted(self._policies))
        self._spec = spec
        return spec

    def spec(self) -> Dict[str, Any]:
        return self._opened()._spec

    def reset(self, seed: int, draws: Optional[List[Any]] = None) -> Dict[str, Any]:
        tape = None if draws is None else [draws]
        return self._opened()._answer([self._begin({"seed": seed, "draws": tape})], [self._taken(self._draws_at_reset)])

    def step(self, action: Dict[str, Any], draws: Optional[List[Any]] = None) -> Dict[str, Any]:
        act = self._opened()._as_actions({path: np.asarray(value)[None] for path, value in action.items()})[0]
        self._forcing(draws)
        timestep = self._adapter.step(act) if draws is None else self._adapter.step(act, draws)
        return self._answer([timestep], [self._taken(self._draws_at_step)])

    def restore(self, state: Dict[str, Any]) -> Dict[str, Any]:
        return self._opened()._answer([self._begin({"start": self._as_state(state)})], [[]])

    def rollout(self, cases: Any, columns: bool = False) -> Any:
        """Play whole cases, which come, and are answered, one by one or in columns."""
        self._opened()
        episodes = (self._play(case, actions) for case, actions, _ in self._given(cases, columns))
        return self._answers(episodes, columns)

    def drive(
        self,
        policy: str,
        seeds: List[int],
        horizon: int,
        stickiness: float = 0.25,
        after: Any = None,
        columns: bool = False,
    ) -> Any:
        """Play one episode for each seed under a policy that lives beside the reference; actions are returned.

        Where there are cases `after`, one for each seed, each is gone first, and the policy goes on from there: with the
        case's chance, and with a choice that is the seed's.
        """
        self._opened()
        if policy not in self._policies and policy not in ("random", "sticky"):
            known = ", ".join(sorted(self._policies)) or "no other"
            raise ProtocolError("no policy {!r}; there are random, sticky, {}".format(policy, known))
        begun = [({}, [], None) for _ in seeds] if after is None else list(self._given(after, columns))  # type: List[Any]
        if len(begun) != len(seeds):
            raise ProtocolError("{} cases to go on from, but {} seeds".format(len(begun), len(seeds)))
        return self._answers(self._driven(policy, seeds, begun, horizon, stickiness), columns)

    def choose(self, policy: str, leaves: Dict[str, Any], seeds: List[int]) -> Dict[str, Any]:
        """What a policy of the adapter's chooses in each of several timesteps, with a choice that is that row's seed's."""
        own = self._opened()._policies.get(policy)
        if own is None:
            known = ", ".join(sorted(self._policies)) or "none"
            raise ProtocolError("no scripted policy {!r}; there are {}".format(policy, known))
        paths = [leaf.path for leaf in self._leaves]
        _same_names("a timestep", leaves, paths)
        rows = zip(*[leaf.rows(leaves[leaf.path], len(seeds)) for leaf in self._leaves])  # noqa: B905
        rng = np.random.RandomState()
        chosen = []
        for seed, row in zip(seeds, rows):  # noqa: B905
            rng.seed(seed & 0xFFFFFFFF)
            chosen.append(own(dict(zip(paths, row)), rng))  # noqa: B905
        return {"actions": self._from_actions(chosen)}

    def _driven(
        self, policy: str, seeds: List[int], begun: List[Any], horizon: int, stickiness: float
    ) -> Iterator[Episode]:
        sticky = stickiness if policy == "sticky" else 0.0
        masked = any(leaf.path.startswith("legal_actions") for leaf in self._leaves)
        own = self._policies.get(policy)  # type: Any
        rng = np.random.RandomState()  # made once: that costs as much as ten steps, seeding it nothing
        for seed, (after, before, given) in zip(seeds, begun):  # noqa: B905
            rng.seed((seed ^ seed >> 32 ^ 0x5EED) & 0xFFFFFFFF)
            case = {"seed": seed, **after}
            if own is None and not masked:
                # Chosen in advance, which costs a tenth of asking before each step.
                actions = {path: random_actions(leaf, rng, horizon, sticky) for path, leaf in self._actions.items()}
                timesteps, draws, _ = self._play(case, before + self._as_actions(actions))
                if given is not None:
                    actions = {path: np.concatenate([given[path], array]) for path, array in actions.items()}
                yield timesteps, draws, {path: array[: len(timesteps) - 1] for path, array in actions.items()}
            else:
                choose = _Masked(self._actions, rng, sticky) if own is None else lambda timestep: own(timestep, rng)
                yield self._play(case, range(len(before) + horizon), choose, before)

    def render(self) -> Dict[str, Any]:
        """A picture of where the environment is now: `frame`, uint8 `[height, width, 3]`."""
        if "render" not in self._opened()._capabilities:
            raise ProtocolError("this environment has no capability render")
        frame = np.asarray(self._adapter.render())
        if frame.dtype != np.uint8 or not is_picture(frame.shape):
            found = "{} {}".format(frame.dtype, list(frame.shape))
            raise ProtocolError(
                "a picture is uint8 [height, width, 3] of at most {0} by {0}, not {1}".format(MAX_SIDE, found)
            )
        return {"frame": frame}

    def probe(self, name: str, inputs: Dict[str, Any]) -> Dict[str, Any]:
        if name not in self._opened()._probes:
            raise ProtocolError("no probe {!r}; there are {}".format(name, ", ".join(sorted(self._probes)) or "none"))
        wanted, outputs = self._probes[name]
        _same_names("probe " + name, inputs, [leaf.path for leaf in wanted])
        columns = [(leaf.path, np.array(inputs[leaf.path])) for leaf in wanted]
        count = len(columns[0][1])
        answers = [self._adapter.probe(name, {path: array[i] for path, array in columns}) for i in range(count)]
        return {leaf.path: leaf.stack([_lookup(answer, leaf.path) for answer in answers]) for leaf in outputs}

    def vector(
        self,
        seeds: List[int],
        draws: Optional[List[Any]] = None,
        state: bool = False,
        fixed: Optional[Dict[str, Any]] = None,
    ) -> Dict[str, Any]:
        """Begin one episode for each seed, to be stepped together: each sub-environment is an adapter of its own.

        Where a reset has no tape, `fixed` values take the place of what it draws under these names.
        """
        self._opened()._forcing(fixed)
        self._fixed = fixed or {}
        if not seeds or (draws is not None and len(draws) != len(seeds)):
            raise ProtocolError("sub-environments need a seed each, and a tape each where tapes are given")
        while len(self._sub_envs) < len(seeds):
            self._sub_envs.append(_SubEnv(self._make(**self._options)))
        self._running, self._with_state = self._sub_envs[: len(seeds)], state
        tapes = [None] * len(seeds) if draws is None else draws  # type: List[Any]
        taken = [self._begin_sub_env(sub_env, seed, tape) for sub_env, seed, tape in zip(self._running, seeds, tapes)]  # noqa: B905
        return {"leaves": self._stacked_envs([sub_env.timestep for sub_env in self._running]), "draws": taken}

    def advance(self, actions: Dict[str, Any], next: Optional[List[int]] = None) -> Dict[str, Any]:
        """Step each sub-environment that is not over; with `next`, a sub-environment that ends restarts from its seed
        there.
        """
        running = self._opened()._running
        chosen = self._as_actions(actions)
        if len(chosen) != len(running) or (next is not None and len(next) != len(running)):
            raise ProtocolError("{} sub-environments need an action each, and a next seed each".format(len(running)))
        note = self._draws_at_step
        timesteps: List[Any] = []
        taken: List[Any] = []
        ended: List[int] = []
        final: List[Any] = []
        begun: List[Any] = []
        for index, (sub_env, action) in enumerate(zip(running, chosen)):  # noqa: B905
            if sub_env.over:
                timesteps.append(sub_env.timestep)
                taken.append([])
                continue
            timestep = sub_env.step(action)
            timesteps.append(timestep)
            taken.append(self._taken(True, sub_env.adapter) if note else [])
            if timestep["terminated"] or timestep["truncated"]:
                sub_env.over = True
                ended.append(index)
                if next is not None:
                    final.append(timestep)
                    begun.append(self._begin_sub_env(sub_env, next[index], None))
        leaves = self._stacked_envs(timesteps)
        answer: Dict[str, Any] = {"ended": ended, "draws": taken, "final": {}, "next_draws": begun}
        if final:
            fresh = self._stacked_envs([running[index].timestep for index in ended])
            for path in leaves:
                if not _is_of_step(path):
                    answer["final"][path] = leaves[path][ended]
                    leaves[path] = np.array(leaves[path])
                    leaves[path][ended] = fresh[path]
        answer["leaves"] = leaves
        return answer

    def close(self) -> None:
        adapters = [self._adapter] + [sub_env.adapter for sub_env in self._sub_envs]
        self._adapter, self._sub_envs, self._running = None, [], []
        for adapter in adapters:
            if hasattr(adapter, "close"):
                adapter.close()

    def _begin_sub_env(self, sub_env: "_SubEnv", seed: int, tape: Any) -> List[Any]:
        """Begin a sub-environment's episode; returns what its reset drew."""
        self._demand_seed(seed)
        self._forcing(tape)
        sub_env.begin(seed, tape)
        taken = self._taken(self._draws_at_reset, sub_env.adapter)
        if tape is None and self._fixed:
            missing = sorted(set(self._fixed) - {name for name, _ in taken})
            if missing:
                raise ProtocolError("the reset draws no {}, which was to be fixed".format(", ".join(missing)))
            sub_env.begin(
                seed, [[[name, self._draws[name].one(self._fixed.get(name, value))] for name, value in taken]]
            )
            taken = self._taken(True, sub_env.adapter)
        return taken

    def _stacked_envs(self, timesteps: List[Any]) -> Dict[str, np.ndarray]:
        leaves = self._leaves if self._with_state else self._shown
        return {leaf.path: leaf.stack([_lookup(timestep, leaf.path) for timestep in timesteps]) for leaf in leaves}

    # A rollout is the hot path: everything that can be looked up once is looked up before the loop.
    def _play(
        self, case: Dict[str, Any], actions: Any, choose: Optional[Callable[..., Any]] = None, before: Any = ()
    ) -> Episode:
        tape = case.get("draws")
        if tape is not None and len(tape) > len(actions) + 1:
            raise ProtocolError("draws for {} timesteps, but only {} actions".format(len(tape), len(actions)))
        timestep = self._begin(case)
        draws = [[] if case.get("start") is not None else self._taken(self._draws_at_reset)]
        step, get, (terminated, truncated) = self._adapter.step, self._get, self._endings
        note_draws, forced = self._draws_at_step, iter(tape[1:] if tape else ())
        chosen = []
        values = self._values(timestep)
        timesteps = [values]
        for given in actions:
            action = given if choose is None else before[given] if given < len(before) else choose(timestep)
            chosen.append(action)
            timestep = step(action) if tape is None else step(action, next(forced, []))
            try:
                values = get(timestep)
            except (KeyError, TypeError):
                values = self._values(timestep)
            timesteps.append(values)
            if note_draws:
                draws.append(self._taken(True))
            if values[terminated] or values[truncated]:
                break
        return timesteps, draws, None if choose is None else self._from_actions(chosen)

    def _given(self, cases: Any, columns: bool) -> Iterator[Tuple[Dict[str, Any], List[Any], Dict[str, np.ndarray]]]:
        """The cases of a request, each with its actions: as `step` takes them, and as they came."""
        if not columns:
            for case in cases:
                start = case.get("start")
                begun = {} if start is None else {"start": self._as_state(start)}
                yield {**case, **begun}, self._as_actions(case["actions"]), case["actions"]
            return
        try:
            seeds, lengths, given = cases["seeds"].tolist(), cases["lengths"].tolist(), cases["actions"]
            started, draws = cases.get("started", np.zeros(0, int)).tolist(), dict(cases.get("draws", ()))
        except (AttributeError, KeyError, TypeError, ValueError):
            raise ProtocolError("cases in columns have arrays of seeds and lengths, and actions")
        actions, starts = self._as_actions(given), {}
        if len(seeds) != len(lengths) or any(length < 0 for length in lengths) or sum(lengths) != len(actions):
            raise ProtocolError("cases in columns have a seed and a length each, and an action for each step")
        if not set(started) | set(draws) <= set(range(len(seeds))):
            raise ProtocolError("cases in columns have starts and draws by the numbers of cases")
        if started:
            column = cases.get("starts", {})
            _same_names("the state", column, list(self._state))
            rows = [leaf.rows(column[path], len(started)) for path, leaf in self._state.items()]
            starts = {index: dict(zip(self._state, row)) for index, row in zip(started, zip(*rows))}  # noqa: B905
        end = 0
        for index, (seed, length) in enumerate(zip(seeds, lengths)):  # noqa: B905
            begin, end = end, end + length
            case = {"seed": seed}
            if index in starts:
                case["start"] = starts[index]
            if index in draws:
                case["draws"] = draws[index]
            yield case, actions[begin:end], {path: array[begin:end] for path, array in given.items()}

    def _answers(self, episodes: Iterator[Episode], columns: bool) -> Any:
        """Episodes as they are answered: one by one, or those of about PART_BYTES together, stacked end to end."""
        if not columns:
            return [
                {
                    "leaves": self._stacked(timesteps),
                    "draws": draws,
                    **({} if actions is None else {"actions": actions}),
                }
                for timesteps, draws, actions in episodes
            ]
        parts: List[Any] = []
        part: List[Episode] = []
        left = PART_BYTES
        for episode in episodes:
            part.append(episode)
            left -= len(episode[0]) * self._timestep_bytes
            if left < 0:
                parts.append(self._part(part))
                part, left = [], PART_BYTES
        return {"parts": [*parts, self._part(part)] if part else parts}

    def _part(self, episodes: List[Episode]) -> Dict[str, Any]:
        try:
            leaves = self._stacked([timestep for timesteps, _, _ in episodes for timestep in timesteps])
        except ProtocolError:
            for timesteps, _, _ in episodes:
                self._stacked(timesteps)  # says in which timestep of its episode a leaf is wrong
            raise
        part = {
            "timesteps": np.array([len(timesteps) for timesteps, _, _ in episodes]),
            "leaves": leaves,
            "draws": [draws if any(draws) else [] for _, draws, _ in episodes],
        }  # type: Dict[str, Any]
        if episodes[0][2] is not None:
            taken = [actions for _, _, actions in episodes]  # type: List[Any]
            part["actions"] = {path: np.concatenate([actions[path] for actions in taken]) for path in self._actions}
        return part

    def _begin(self, case: Dict[str, Any]) -> Any:
        """The first timestep of a case: a restored state, or a reset."""
        tape, start = case.get("draws"), case.get("start")
        self._forcing(tape)
        if start is None:
            seed = case["seed"]
            self._demand_seed(seed)
            return self._adapter.reset(seed) if tape is None else self._adapter.reset(seed, tape[0] if tape else [])
        if "restore" not in self._capabilities:
            raise ProtocolError("a start state needs the capability restore")
        if tape and tape[0]:
            raise ProtocolError("a case that starts from a state has no draws in timestep 0")
        if tape is None and "seed" in case:
            # The chance of the steps that follow comes from the case's seed, as it would after a reset.
            self._adapter.reset(case["seed"])
            self._taken(self._draws_at_reset)
        return self._adapter.restore(start)

    def _demand_seed(self, seed: Any) -> None:
        if not isinstance(seed, int) or not 0 <= seed < SEEDS:
            raise ProtocolError("seed {!r} is not a whole number from 0 to 2**63 - 1".format(seed))

    def _forcing(self, draws: Any) -> None:
        if draws is not None and "force_draws" not in self._capabilities:
            raise ProtocolError("draws were given to an environment without the capability force_draws")

    def _answer(self, timesteps: List[Any], draws: List[Any]) -> Dict[str, Any]:
        return {"leaves": self._stacked([self._values(timestep) for timestep in timesteps]), "draws": draws}

    def _values(self, timestep: Any) -> Any:
        if not isinstance(timestep, dict):
            raise ProtocolError(
                "the adapter answered with a {}, not with a dict of leaves".format(type(timestep).__name__)
            )
        return tuple(_lookup(timestep, leaf.path) for leaf in self._leaves)

    def _stacked(self, timesteps: List[Any]) -> Dict[str, np.ndarray]:
        return {leaf.path: leaf.stack(column) for leaf, column in zip(self._leaves, zip(*timesteps))}  # noqa: B905

    def _taken(self, expected: bool, adapter: Any = None) -> List[Any]:
        if not expected:
            return []
        taken = []
        for name, value in (adapter or self._adapter).take_draws():
            if name not in self._draws:
                raise ProtocolError("the adapter reports the draw {!r}, which its spec does not declare".format(name))
            taken.append([name, self._draws[name].one(value)])
        return taken

    def _as_state(self, state: Dict[str, Any]) -> Dict[str, np.ndarray]:
        """A canonical state as the adapter's `restore` takes it: arrays of its own."""
        _same_names("the state", state, list(self._state))
        return {path: leaf.one(state[path]) for path, leaf in self._state.items()}

    def _as_actions(self, actions: Dict[str, Any]) -> List[Any]:
        """Stacked action leaves as the list of what the adapter's `step` takes: a value, or a dict of several."""
        _same_names("the action", actions, list(self._actions))
        taken = {path: leaf.accept(actions[path]) for path, leaf in self._actions.items()}
        columns = {path: list(array) if array.ndim > 1 else array.tolist() for path, array in taken.items()}
        if list(columns) == ["action"]:
            return columns["action"]
        return [dict(zip(columns, values)) for values in zip(*columns.values())]  # noqa: B905

    def _from_actions(self, chosen: List[Any]) -> Dict[str, Any]:
        if list(self._actions) == ["action"]:
            chosen = [{"action": action} for action in chosen]
        return {
            path: np.array([action[path] for action in chosen], leaf.dtype).reshape((len(chosen), *leaf.shape))
            for path, leaf in self._actions.items()
        }

    def _opened(self) -> "SingleEnvironment":
        if self._adapter is None:
            raise ProtocolError("`open` comes before every other call")
        return self


class _SubEnv:
    """One adapter whose episode goes on step by step beside others: its newest timestep, and whether that was the last."""

    def __init__(self, adapter: Any) -> None:
        self.adapter = adapter
        self.timestep = {}  # type: Dict[str, Any]
        self.over = True
        self._tape = []  # type: List[Any]

    def begin(self, seed: int, tape: Optional[List[Any]]) -> None:
        """Begin an episode; its draws come from the tape as long as that has timesteps, then from the adapter's own
        chance.
        """
        self._tape = list(tape or ())[::-1]
        self.over = False
        self.timestep = self.adapter.reset(seed, self._tape.pop()) if self._tape else self.adapter.reset(seed)

    def step(self, action: Any) -> Any:
        self.timestep = self.adapter.step(action, self._tape.pop()) if self._tape else self.adapter.step(action)
        if not isinstance(self.timestep, dict):
            raise ProtocolError("the adapter answered with a {}, not with a dict".format(type(self.timestep).__name__))
        return self.timestep


class _Masked:
    """Uniform over the legal actions, repeating its last action, where that is still legal, with probability `sticky`.

    The mask of the action leaf `action/x` is `legal_actions/x`; its element i says whether action `low + i` is legal.
    """

    def __init__(self, leaves: Dict[str, Leaf], rng: Any, sticky: float) -> None:
        self._leaves, self._rng, self._sticky = leaves, rng, sticky
        self._last = {}  # type: Dict[str, Any]

    def __call__(self, timestep: Dict[str, Any]) -> Any:
        self._last = {path: self._choose(path, leaf, timestep) for path, leaf in self._leaves.items()}
        return self._last["action"] if list(self._leaves) == ["action"] else self._last

    def _choose(self, path: str, leaf: Leaf, timestep: Dict[str, Any]) -> Any:
        mask = timestep.get(_mask_of(path))
        if mask is None:
            return random_actions(leaf, self._rng, 1, 0.0)[0]
        legal = np.flatnonzero(mask) + int(leaf.low or 0)
        if not len(legal):
            if not any(np.any(timestep.get(_mask_of(other), False)) for other in self._leaves):
                raise ProtocolError("no {} is legal, but the episode has not ended".format(path))
            return random_actions(leaf, self._rng, 1, 0.0)[0]  # of a player who is not to move: it must not matter
        last = self._last.get(path)
        if last is not None and last in legal and self._rng.random_sample() < self._sticky:
            return last
        return int(legal[self._rng.randint(len(legal))])


def random_actions(leaf: Leaf, rng: Any, horizon: int, sticky: float) -> np.ndarray:
    """`horizon` uniform values of an action leaf, each repeating the one before with probability `sticky`."""
    source = np.arange(horizon)
    if sticky and horizon:
        repeat = rng.random_sample(horizon) < sticky
        repeat[0] = False
        source = np.maximum.accumulate(np.where(repeat, 0, source))
    shape = (horizon, *leaf.shape)
    if leaf.dtype.kind == "b":
        return rng.randint(0, 2, size=shape).astype(leaf.dtype)[source]
    if leaf.low is None or leaf.high is None or not np.isfinite(leaf.low).all() or not np.isfinite(leaf.high).all():
        raise ProtocolError("the action leaf {} needs a finite low and high to be sampled".format(leaf.path))
    kind = "i8" if leaf.dtype.kind in "iu" else "f8"
    low, high = np.asarray(leaf.low, dtype=kind), np.asarray(leaf.high, dtype=kind)
    if kind == "i8":
        values = low + (rng.random_sample(shape) * (high - low + 1)).astype(kind)
    else:
        values = low + rng.random_sample(shape) * (high - low)
    # Rounding, to the last place or to a narrower float, may lead out of the bounds.
    return np.clip(values, low, high).astype(leaf.dtype).clip(low.astype(leaf.dtype), high.astype(leaf.dtype))[source]


def is_picture(shape: Sequence[int]) -> bool:
    """Whether an array of this shape can be a picture: rows, columns, red-green-blue."""
    return len(shape) == 3 and shape[2] == 3 and all(1 <= size <= MAX_SIDE for size in shape[:2])


def _is_action(path: str) -> bool:
    return path == "action" or path.startswith("action/")


def _mask_of(path: str) -> str:
    return "legal_actions" + path[len("action") :]


def _is_of_step(path: str) -> bool:
    """Rewards and ends tell of a step, every other leaf of the state after it."""
    return path in ENDINGS or path.split("/", maxsplit=1)[0] == "reward"


def _lookup(values: Dict[str, Any], name: str) -> Any:
    try:
        return values[name]
    except KeyError:
        raise ProtocolError("the adapter's answer lacks the leaf {}, which its spec declares".format(name))


def _same_names(what: str, given: Dict[str, Any], declared: List[str]) -> None:
    if set(given) != set(declared):
        raise ProtocolError("{} has {}, the spec declares {}".format(what, sorted(given), sorted(declared)))


# --- serving ----------------------------------------------------------------------------------------------------------

FORMER = {"vector": "lanes"}  # what adapters that answer batches, as peers of earlier records, call it

CALLS = frozenset(
    [
        "open", "spec", "reset", "step", "restore", "render", "rollout", "drive", "choose", "probe", "vector", "advance",
        "close",
        # of candidates only
        "sample", "drawn", "autoreset", "train", "bench_prepare", "bench_run", "bench_envs", "bench_trace", "program",
        "judge",
        # of a task's own code only
        "show", "search", "searched",
    ]
)  # fmt: skip


def serve(handler: Any, read: Callable[[int], bytes], write: Callable[[bytes], Any]) -> None:
    """Answer requests until `close` or the end of the stream. Each answer carries the request's id."""
    while True:
        header = read(4)
        if len(header) < 4:
            return
        request = decode(read(struct.unpack(">I", header)[0]))
        if not isinstance(request, dict):
            raise ProtocolError("a request is a map, not a {}".format(type(request).__name__))
        call = request.get("call")
        if not isinstance(call, str):
            raise ProtocolError("a request's call is a string, not a {}".format(type(call).__name__))
        try:
            method = call if hasattr(handler, call) else FORMER.get(call, call)
            if call not in CALLS or not hasattr(handler, method):
                raise ProtocolError("this worker has no call {!r}".format(call))
            answer = encode({"id": request["id"], "ok": getattr(handler, method)(**request.get("with", {}))})
            if len(answer) > MAX_FRAME:
                raise ProtocolError("an answer of {} bytes is over {}: ask for less".format(len(answer), MAX_FRAME))
        except Exception as error:
            answer = encode({"id": request.get("id"), "error": _describe(error)})
        write(struct.pack(">I", len(answer)) + answer)
        if call == "close":
            return


def _describe(error: Exception) -> Dict[str, Any]:
    try:
        message, trace = str(error), traceback.format_exc()
    except Exception:  # an exception's own __str__ may be as broken as the rest
        message, trace = "its message cannot be shown", ""
    kind = "protocol" if isinstance(error, ProtocolError) else getattr(error, "kind", "raised")
    described = {"kind": kind, "type": type(error).__name__}  # type: Dict[str, Any]
    if kind == "contract":
        described["mistakes"] = error.details  # type: ignore[attr-defined]
    for name, text in (("message", message[:MAX_TRACEBACK]), ("traceback", trace[-MAX_TRACEBACK:])):
        described[name] = text.encode("utf-8", "replace").decode("utf-8")
    return described


def load(target: str) -> Any:
    """The class or function named by `path/to/file.py:Name` or `package.module:Name`."""
    source, _, name = target.rpartition(":")
    if not source:
        raise ProtocolError("{!r} is not of the form FILE.py:NAME or MODULE:NAME".format(target))
    if source.endswith(".py"):
        location = os.path.abspath(source)
        spec = importlib.util.spec_from_file_location(os.path.splitext(os.path.basename(source))[0], location)
        if spec is None or spec.loader is None:
            raise ImportError("{} cannot be loaded".format(source))
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        sys.path.insert(0, os.path.dirname(location))
        spec.loader.exec_module(module)
    else:
        module = importlib.import_module(source)
    return getattr(module, name)


def _exactly(stream: int) -> Callable[[int], bytes]:
    def read(count: int) -> bytes:
        chunks, missing = [], count
        while missing:
            chunk = os.read(stream, min(missing, 1 << 20))
            if not chunk:
                break
            chunks.append(chunk)
            missing -= len(chunk)
        return b"".join(chunks)

    return read


def _wholly(stream: int) -> Callable[[bytes], None]:
    def write(data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(stream, view) :]

    return write


def main(arguments: List[str]) -> None:
    """Serve the adapter named on the command line over the process's own standard streams."""
    requests, answers = os.dup(0), os.dup(1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    # A script's own directory comes first on the path; beside this one lie modules with very general names.
    if sys.path and os.path.realpath(sys.path[0]) == os.path.dirname(os.path.realpath(__file__)):
        del sys.path[0]
    while len(arguments) > 2 and arguments[0] == "--path":
        sys.path.insert(0, arguments[1])
        arguments = arguments[2:]
    random.seed(0)
    np.random.seed(0)
    made = load(arguments[0])
    handler = made() if getattr(made, "answers_batches", False) else SingleEnvironment(made)
    serve(handler, _exactly(requests), _wholly(answers))


if __name__ == "__main__":
    main(sys.argv[1:])
