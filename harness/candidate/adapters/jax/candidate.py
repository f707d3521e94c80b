"""A JAX candidate behind the protocol: what `harness/protocol/worker.py` serves inside the sandbox.

Importing this module imports JAX and starts its backend, so that a worker can be made ready before it is given a
candidate. It needs only JAX, numpy and its neighbours: inside the sandbox nothing else of the harness exists.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from harness.candidate.adapters.batch_keys import batch_key_data
from harness.candidate.adapters.contract import UNUSABLE, CandidateMistakes, Mistake
from harness.candidate.adapters.jax.batch import Batch, Case, bucket, fitting, key_data_of
from harness.candidate.adapters.jax.bench import Bench
from harness.candidate.adapters.jax.check import check, explain
from harness.candidate.adapters.jax.program import program
from harness.candidate.adapters.jax.rollout import Consumed, advance_one, begin_one, random_key, rollout
from harness.candidate.adapters.jax.trace import hot_operations
from harness.candidate.adapters.jax.vector import JaxVectorCalls
from harness.candidate.adapters.legal import legal_action
from harness.candidate.faces.jax_env import JaxEnv, load_module, output_leaves
from harness.candidate.faces.leaves import OBSERVED, mask_of, pack_action

Answer = dict[str, Any]
PROTOCOL = 2
SAMPLE_CHUNK = 1 << 16
LANES = "lanes"
"""The part of an answer of `autoreset` that holds the chance of many instances, of which nothing else is told."""
TRAINER = "harness.training.in_sandbox"
"""Named instead of imported: it stands above candidates, and only a worker that is asked to train has what it needs."""

jax.block_until_ready(jax.jit(jnp.negative)(jnp.zeros(1)))  # starts the backend and the compiler, once per worker


class JaxCandidate:
    """Answers the protocol's calls with a candidate's functions; see docs/protocol.md."""

    answers_batches = True

    def __init__(self) -> None:
        self._env: JaxEnv = None  # type: ignore[assignment]  # until `open`
        self._bench: Bench = None  # type: ignore[assignment]
        self._code = Path()
        self._state: Any = None
        self._seed = 0
        self._timestep = -1  # of the episode that goes on step by step; none yet
        self._vector: JaxVectorCalls | None = None
        self._trainer: Any = None

    def open(self, options: Mapping[str, Any]) -> Answer:
        """Load the candidate at `options["entry"]` and check it against the contract that the other options are.

        Raises:
            CandidateMistakes: it cannot be imported or does not fit; the message lists every mistake.
        """
        jax.config.update("jax_enable_x64", bool(options["x64"]))
        entry = Path(options["entry"])
        try:
            module = load_module(entry)
        except Exception as error:
            mistake = Mistake(f"{entry.name} cannot be imported: {explain(error, entry.parent)}", failing=UNUSABLE)
            raise CandidateMistakes([mistake]) from error
        env = JaxEnv(module, options)
        check(env)
        self._env = env
        self._bench = Bench(env)
        self._code = entry.parent
        self._probes: dict[str, Any] = {name: jax.jit(jax.vmap(module.probes[name])) for name in options["probes"]}
        return self.spec()

    def spec(self) -> Answer:
        """The contract, in the protocol's form."""
        env = self._env
        draws = env.reset_draws | env.step_draws
        capabilities = ["restore"] * bool(env.state_leaves) + ["probe"] * bool(self._probes)
        return {
            "protocol": PROTOCOL,
            "leaves": env.leaves,
            "capabilities": [*capabilities, *["draws", "force_draws"] * bool(draws), "vector"],
            "probes": env.contract["probes"],
            "draws": {name: {key: draw[key] for key in ("dtype", "shape", "at")} for name, draw in draws.items()},
            "policies": [],
        }

    def rollout(self, cases: Sequence[Case], mode: str = "scanned", room: Sequence[int] = (0, 0)) -> list[Answer]:
        """Whole cases; `mode` is `single`, `batched` or `scanned`, `room` how many cases and steps to be ready for."""
        return rollout(self._env, cases, mode, room)

    def probe(self, name: str, inputs: Mapping[str, Any]) -> Answer:
        """Outputs of a probe for inputs stacked along the first axis."""
        if name not in self._probes:
            raise ValueError(f"there is no probe {name!r}; expected one of {sorted(self._probes)}")
        count = len(next(iter(inputs.values())))
        x64 = bool(self._env.contract["x64"])
        declared = self._env.contract["probes"][name]["inputs"]
        given = {path: fitting(path, inputs.get(path), leaf, (count,), x64) for path, leaf in declared.items()}
        padding = bucket(count) - count
        padded = {p: np.concatenate([array, np.repeat(array[-1:], padding, axis=0)]) for p, array in given.items()}
        return {path: np.asarray(array)[:count] for path, array in self._probes[name](padded).items()}

    # --- one step at a time -------------------------------------------------------------------------------------------

    def reset(self, seed: int, draws: list[Any] | None = None) -> Answer:
        """Begin an episode, from `draws` where they are given."""
        case = {"seed": seed, "actions": self._actions(0), "draws": None if draws is None else [draws]}
        return self._begin(case)

    def restore(self, state: Mapping[str, Any]) -> Answer:
        """Go on from a canonical state."""
        return self._begin({"seed": 0, "actions": self._actions(0), "start": state})

    def step(self, action: Mapping[str, Any], draws: list[Any] | None = None) -> Answer:
        """One step from where the last reset, restore or step led, with `draws` where they are given.

        Without them the draws are those that a rollout from the same seed takes in the same timestep.
        """
        if self._timestep < 0:
            raise ValueError("a step before the first reset or restore")
        actions = {path: np.asarray(value)[None] for path, value in action.items()}
        case = {"seed": self._seed, "actions": actions, "draws": None if draws is None else [[], draws]}
        batch = Batch(self._env, [case], padded=False)
        self._timestep += 1
        step = jax.tree.map(lambda array: array[0, 0], batch.steps(0, 1)) | {"timestep": np.int32(self._timestep)}
        self._state, timestep = advance_one(self._env, batch.given, self._state, batch.keys[0], step)
        return self._answer(timestep, draws, batch.step_counts, batch.step_values, self._env.step_draws)

    def _begin(self, case: Case) -> Answer:
        batch = Batch(self._env, [case], padded=False)
        first = {path: array[0] for path, array in batch.first.items()}
        self._seed, self._timestep = case["seed"], 0
        self._state, timestep = begin_one(self._env, batch.kind, batch.keys[0], first)
        tape = case.get("draws")
        return self._answer(timestep, tape and tape[0], batch.reset_counts, batch.reset_values, self._env.reset_draws)

    def _answer(self, timestep: Any, tape: Any, counts: Any, values: Any, draws: Any) -> Answer:
        leaves, used, drawn = jax.tree.map(lambda array: np.asarray(array)[None, None], timestep)
        consumed = Consumed(draws, values, counts, used, drawn)
        return {
            "leaves": {path: array[0] for path, array in leaves.items()},
            "draws": consumed.timesteps(0, 1, None if tape is None else [tape]),
        }

    def _actions(self, count: int) -> dict[str, np.ndarray[Any, Any]]:
        return {path: np.zeros((count, *leaf["shape"]), leaf["dtype"]) for path, leaf in self._env.actions.items()}

    # --- many at once, and training -----------------------------------------------------------------------------------

    def vector(self, seeds: Sequence[int], draws: Sequence[Any] | None = None, state: bool = False) -> Answer:
        """Begin one episode in each of as many sub-environments as there are seeds, with tapes where they are given."""
        self._vector = JaxVectorCalls(self._env, seeds, draws, state)
        return self._vector.first

    def advance(self, actions: Mapping[str, Any], next: Sequence[int] | None = None) -> Answer:
        """Step all sub-environments that are not over; with `next`, those that end restart from their seeds there."""
        if self._vector is None:
            raise ValueError("`vector` comes before `advance`")
        return self._vector.advance(actions, next)

    def train(
        self,
        config: Mapping[str, Any],
        learners: Mapping[str, Any],
        seeds: Sequence[int],
        segment: int,
        updates: int,
        total: int,
    ) -> Answer:
        """Train one segment; see `harness.training.in_sandbox`."""
        if self._trainer is None or self._trainer.config != config:
            self._trainer = import_module(TRAINER).Trainer(self._env, config)
        return self._trainer.segment(learners, seeds, segment, updates, total)

    # --- chance and auto-reset ----------------------------------------------------------------------------------------

    def sample(
        self,
        at: str,
        seed: int,
        count: int,
        state: Mapping[str, Any] | None = None,
        action: Mapping[str, Any] | None = None,
        first: int = 0,
        width: int | None = None,
    ) -> Answer:
        """Draws by the candidate's own law: each `[count, *shape]`, with a slot axis behind `count` where the capacity
        is above one.

        Args:
            at: `reset` or `step`.
            state, action: where the step is taken, and with what. Without them: at a begin of the candidate's own, with
                an action of zeros.
            first: the number of the first key; the others follow it. A number's key is the same in every call with a seed.
            width: how many keys are sampled at once: 0 samples each key alone, without a batch around it, and None as
                many as there is room for.
        """
        env = self._env
        draws = {"reset": env.reset_draws, "step": env.step_draws}[at]
        key_data = key_data_of(seed)
        if at == "reset":
            sample_arguments: Any = ()
        else:
            leaves = self._actions(1) if action is None else {p: np.asarray(v)[None] for p, v in action.items()}
            batch = Batch(env, [{"seed": seed, "actions": leaves, "start": state}], padded=False)
            start = {path: array[0] for path, array in batch.first.items()}
            begun, _ = begin_one(env, batch.kind, key_data, start)
            sample_arguments = (
                begun,
                pack_action(jax.tree.map(lambda array: array[0, 0], batch.steps(0, 1)["action"])),
            )
        if width == 0:
            numbers = np.arange(first, first + count, dtype=np.uint32)
            alone = [_sample_alone(env, at, key_data, number, sample_arguments) for number in numbers]
            parts = [{name: np.asarray(array)[None] for name, array in part.items()} for part in alone]
        else:
            size = width or min(bucket(count), SAMPLE_CHUNK)
            starts = range(first, first + count, size)
            parts = [_sample(env, at, key_data, np.uint32(start), size, sample_arguments) for start in starts]
        return {
            name: np.concatenate([np.asarray(part[name]) for part in parts])[:count].astype(draw["dtype"], copy=False)
            for name, draw in draws.items()
        }

    def autoreset(
        self,
        seed: int,
        envs: int,
        steps: int,
        actions: Mapping[str, Any],
        env_indices: Sequence[int] | None = None,
        lanes: Sequence[int] | None = None,
    ) -> Answer:
        """What users train on: `envs` instances for `steps` steps, vmapped and scanned, with auto-reset.

        Args:
            actions: action leaves, each `[steps, envs, *leaf shape]`. Where a mask says what is legal, the action that is
                taken is the one that `legal_action` puts in the place of this.
            env_indices: the instances to tell about, `shown` of them; None tells about all.
            lanes: the instances of which only chance is told, besides; None tells of none.

        Returns:
            `leaves`: every output and state leaf as a user sees it, `[steps + 1, shown, ...]`, timestep 0 the first reset;
            and under `final/` the observation, legal actions and state from before the auto-reset, which differ from
            these only where an episode ended.
            `step_draws`, `step_used` `[steps, shown, ...]`, `reset_draws`, `reset_used` `[steps + 1, shown, ...]`: what was
            drawn and how often each draw was taken, with a slot axis where the capacity is above one. The draws of a
            reset count in timestep 0 and where an episode ended.
            `lanes`, where they are asked for: these four of each of the lanes in place of the shown instances, and under
            `ended` `[steps + 1, lanes]` whether an episode ended.
            `actions`, where the task has masks: the leaves as they were taken, by all instances.
        """
        env = self._env
        x64 = bool(env.contract["x64"])
        held = {path: fitting(path, actions.get(path), leaf, (steps, envs), x64) for path, leaf in env.actions.items()}
        key_data = batch_key_data(seed, steps, envs)
        shown = np.arange(envs, dtype=np.int32) if env_indices is None else np.asarray(env_indices, np.int32)
        told = None if lanes is None else np.asarray(lanes, np.int32)
        return _whole(*jax.device_get(_autoreset(env, key_data, held, shown, told)))

    # --- measured runs (harness/measure/profile) ----------------------------------------------------------------------

    def bench_prepare(self, kind: str, batch: int, length: int, devices: int = 1) -> Answer:
        """Compile a measured run; see `Bench.prepare`."""
        return self._bench.prepare(kind, batch, length, devices)

    def bench_run(self, kind: str, batch: int, length: int, seed: int, repeats: int, devices: int = 1) -> Answer:
        """Do a measured run; see `Bench.run`."""
        return self._bench.run(kind, batch, length, seed, repeats, devices)

    def bench_envs(
        self, kind: str, batch: int, length: int, seed: int, repeat: int, env_indices: Sequence[int], devices: int = 1
    ) -> Answer:
        """Some sub-environments of a repetition of a measured run: their outputs, and what went into them; see
        `Bench.bench_envs`.
        """
        return self._bench.bench_envs(kind, batch, length, seed, repeat, env_indices, devices)

    def bench_trace(self, batch: int) -> Answer:
        """Where the time of the prepared step of a batch goes; see `hot_operations`."""
        return hot_operations(*self._bench.program(batch), self._code)

    # --- comparison of programs (harness/measure/strength) ------------------------------------------------------------

    def program(self, form: str, names: Sequence[str] | None = None) -> Answer:
        """What the candidate's functions compile to, as digests; see `harness.candidate.adapters.jax.program.program`."""
        probes = {name: self._env.module.probes[name] for name in self._probes}
        return program(self._env, probes, form, None if names is None else list(names))


@partial(jax.jit, static_argnums=(0, 1, 4))
def _sample(env: JaxEnv, at: str, key_data: Any, start: Any, count: int, sample_arguments: Any) -> Any:
    sampler = _sampler(env, at, sample_arguments)
    return jax.vmap(lambda number: sampler(random_key(key_data, number)))(start + jnp.arange(count, dtype=jnp.uint32))


@partial(jax.jit, static_argnums=(0, 1))
def _sample_alone(env: JaxEnv, at: str, key_data: Any, number: Any, sample_arguments: Any) -> Any:
    return _sampler(env, at, sample_arguments)(random_key(key_data, number))


def _sampler(env: JaxEnv, at: str, sample_arguments: Any) -> Callable[[Any], Any]:
    return env.sample_reset if at == "reset" else lambda key: env.sample_step(key, *sample_arguments)


def _whole(first: Answer, later: Answer) -> Answer:
    """Timestep 0 and the later ones of an auto-resetting batch as one; what steps draw has no timestep 0."""
    lanes = {LANES: _whole(first.pop(LANES), later.pop(LANES))} if LANES in first else {}
    drawn = {part: later.pop(part) for part in ("step_draws", "step_used", "actions") if part in later}
    return lanes | drawn | jax.tree.map(lambda a, b: np.concatenate([a[None], b]), first, later)


@partial(jax.jit, static_argnums=0)
def _autoreset(env: JaxEnv, key_data: Any, actions: Any, shown: Any, lanes: Any) -> Any:
    """First timesteps `[shown, ...]` and the later ones `[steps, shown, ...]`, with keys from `key_data` `[steps + 1, envs,
    2]`; and where `lanes` are given, under that name the chance of those.

    Only the instances that are asked for are kept, so that a wide batch needs no memory for the timesteps of the others.
    """

    def taken(timesteps: Any, env_indices: Any) -> Any:
        return jax.tree.map(lambda leaf: jnp.take(leaf, env_indices, axis=0), timesteps)

    def kept(timesteps: Any) -> Any:
        if lanes is None:
            return taken(timesteps, shown)
        chance = {part: leaves for part, leaves in timesteps.items() if part != "leaves"}
        chance["ended"] = timesteps["leaves"]["terminated"] | timesteps["leaves"]["truncated"]
        return taken(timesteps, shown) | {LANES: taken(chance, lanes)}

    def timestep(outputs: Any, state: Any, final_outputs: Any, final_state: Any, draws: Any, used: Any) -> Any:
        seen = {name: final_outputs[name] for name in OBSERVED if name in final_outputs}
        final = output_leaves(seen) | env.encode(final_state)
        leaves = output_leaves(outputs) | env.encode(state)
        return {
            "leaves": leaves | {f"final/{path}": leaf for path, leaf in final.items()},
            "reset_draws": draws,
            "reset_used": used,
        }

    def start(key: Any) -> Any:
        draws = env.sample_reset(key)
        state, outputs = env.begin(draws)
        return state, timestep(outputs, state, outputs, state, draws, env.used(outputs, env.reset_draws))

    def step(key: Any, state: Any, action: Any) -> Any:
        t = env.transition(key, state, action)
        seen = timestep(
            t["outputs"], t["state"], t["final_outputs"], t["final_state"], t["reset_draws"], t["reset_used"]
        )
        return t["state"], seen | {"step_draws": t["step_draws"], "step_used": t["step_used"]}

    def masks(timesteps: Any) -> dict[str, Any]:
        legal = {path: timesteps["leaves"].get(mask_of(path)) for path in env.actions}
        return {path: mask for path, mask in legal.items() if mask is not None}

    def body(carry: Any, step_inputs: Any) -> Any:
        states, legal = carry
        keys, action = step_inputs
        chosen = {
            path: legal_action(jnp, action[path], env.actions[path].get("low"), mask) for path, mask in legal.items()
        }
        action = action | chosen
        states, timesteps = jax.vmap(step)(keys, states, pack_action(action))
        return (states, masks(timesteps)), kept(timesteps) | ({"actions": action} if legal else {})

    keys = random_key(key_data)
    states, first = jax.vmap(start)(keys[0])
    return kept(first), jax.lax.scan(body, (states, masks(first)), (keys[1:], actions))[1]
