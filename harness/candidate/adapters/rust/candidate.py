"""A candidate in Rust behind the protocol: what `harness/protocol/worker.py` serves inside the sandbox.

One instance is stepped call by call as any environment in Python is; batches are Rust's own. The compiled module runs in
this process, which is why this process is in a sandbox.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from harness.candidate.adapters.batch_keys import batch_key_data
from harness.candidate.adapters.columns import cases_of, in_columns
from harness.candidate.adapters.contract import UNUSABLE, CandidateMistakes, Mistake
from harness.candidate.adapters.legal import legal_action
from harness.candidate.adapters.rust.bench import RustBench
from harness.candidate.adapters.rust.vector import RustVectorCalls
from harness.candidate.adapters.rust.watched import Player, Tape, WatchedEnvs, as_taken
from harness.candidate.faces.leaves import mask_of
from harness.candidate.faces.rust_batch import DISABLED, ENDINGS, SAME_STEP, STATE, RustBatch, load_module, seeds_of
from harness.protocol.worker import Leaf, ProtocolError, SingleEnvironment

Array = np.ndarray[Any, Any]
Answer = dict[str, Any]
IDLE = 29
"""Instances beside those that a `scanned` rollout asks for, so that they are shared out among threads."""


class RustCandidate(SingleEnvironment):
    """Answers the protocol's calls with a module that was compiled from a candidate; see docs/protocol.md."""

    answers_batches = True

    def __init__(self) -> None:
        self._module: ModuleType = None  # type: ignore[assignment]  # until `open`
        self._contract: Mapping[str, Any] = {}
        self._bench: RustBench = None  # type: ignore[assignment]
        self._episodes: RustVectorCalls | None = None
        super().__init__(lambda **_: RustEpisode(self._module, self._contract))

    def open(self, options: Mapping[str, Any]) -> Answer:
        """Load the module at `options["entry"]` and hold it against the contract that the other options are.

        Raises:
            CandidateMistakes: it does not fit; the message lists every mistake.
        """
        self._module, self._contract = load_module(Path(options["entry"])), options
        mistakes = list(_mistakes(self._module.SPEC, options))
        if mistakes:
            raise CandidateMistakes(mistakes)
        actions = {path: leaf for path, leaf in options["leaves"].items() if path.split("/")[0] == "action"}
        self._bench = RustBench(self._module, actions)
        try:
            return super().open(dict(options))
        except self._module.Panicked as panicked:
            raise CandidateMistakes([Mistake(f"an instance cannot be made: {panicked}")]) from None

    def vector(
        self,
        seeds: list[int],
        draws: list[Any] | None = None,
        state: bool = False,
        fixed: Mapping[str, Any] | None = None,
    ) -> Answer:
        """Begin one episode for each seed, to be stepped together; see `RustVectorCalls`."""
        self._opened()
        if not seeds or (draws is not None and len(draws) != len(seeds)):
            raise ProtocolError("sub-environments need a seed each, and a tape each where tapes are given")
        for seed, tape in zip(seeds, draws or [None] * len(seeds), strict=True):
            self._demand_seed(seed)
            self._forcing(tape)
        self._forcing(fixed)
        self._episodes = RustVectorCalls(self._module, seeds, draws, state=state, noted=bool(self._draws), fixed=fixed)
        return self._episodes.first

    def advance(self, actions: dict[str, Any], next: list[int] | None = None) -> Answer:
        """Step each sub-environment that is not over; with `next`, a sub-environment that ends restarts from its seed
        there.
        """
        episodes = self._episodes
        if episodes is None:
            raise ProtocolError("`vector` comes before `advance`")
        given = {path: leaf.accept(actions[path]) for path, leaf in self._actions.items()}
        if {len(array) for array in given.values()} | {episodes.count if next is None else len(next)} != {
            episodes.count
        }:
            raise ProtocolError(f"{episodes.count} sub-environments need an action each, and a next seed each")
        return episodes.advance(given, next)

    # What a candidate is asked has modes besides.
    def rollout(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, cases: Any, mode: str = "single", room: Any = None, columns: bool = False
    ) -> Any:
        """Whole cases; `mode` is `single` (one instance, call by call), `batched` (instances that step together on one
        thread) or `scanned` (on all, among others, with auto-reset).
        """
        if mode == "single":
            return super().rollout(cases, columns)
        way = {"batched": (DISABLED, 1, 0), "scanned": (SAME_STEP, 0, IDLE)}[mode]
        answers = self._together(cases_of(cases) if columns else cases, *way)
        return in_columns(answers) if columns else answers

    def drawn(self, seeds: Sequence[int]) -> list[Any]:
        """What a reset from each of these seeds draws, without what it leads to."""
        self._opened()
        answers = []
        for seed in seeds:
            self._demand_seed(seed)
            self._adapter.reset(seed)
            answers.append(self._taken(True))
        return answers

    def probe(self, name: str, inputs: dict[str, Any]) -> Answer:
        """Outputs of a probe for inputs stacked along the first axis."""
        declared = self._contract["probes"][name]
        wanted, given = self._module.SPEC["probes"][name]
        leaves = {path: Leaf(path, leaf) for path, leaf in declared["inputs"].items()}
        count = len(next(iter(inputs.values())))
        answers = {path: np.zeros((count, *shape), dtype) for path, dtype, shape in given}
        taken = [np.ascontiguousarray(leaves[path].accept(np.array(inputs[path]))) for path, _, _ in wanted]
        self._adapter.instance.probe(name, taken, list(answers.values()))
        return answers

    def autoreset(
        self,
        seed: int,
        envs: int,
        steps: int,
        actions: Mapping[str, Any],
        env_indices: Sequence[int] | None = None,
        lanes: Sequence[int] | None = None,
    ) -> Answer:
        """What users train on: `envs` instances for `steps` steps with auto-reset in the same step.

        The answer is that of `JaxCandidate.autoreset`; an instance's chance begins from the first 32-bit numbers of its
        keys.
        """
        key_data = batch_key_data(seed, steps, envs)
        shown = list(range(envs)) if env_indices is None else [int(env_index) for env_index in env_indices]
        batch = RustBatch(self._module, envs, SAME_STEP)
        for env_index in {*shown, *(lanes or ())}:
            batch.vector.watch(env_index, [])
        batch.reset(seeds_of(key_data[0]))
        report = WatchedEnvs(self._contract, shown, steps, lanes)
        report.look(0, batch)
        legal = {path: batch.seen[mask_of(path)] for path in self._actions if mask_of(path) in batch.seen}
        taken: list[dict[str, Array]] = []
        for timestep in range(1, steps + 1):
            given = {path: np.array(actions[path])[timestep - 1] for path in self._actions}
            given |= {
                path: legal_action(np, given[path], self._actions[path].low, mask) for path, mask in legal.items()
            }
            taken.append(given)
            batch.step(given)
            report.look(timestep, batch)
        told = (
            {"actions": {path: np.stack([given[path] for given in taken]) for path in self._actions}} if legal else {}
        )
        return report.answer(self._leaves) | told

    # --- measured runs (harness/measure/profile) ----------------------------------------------------------------------

    def bench_prepare(self, kind: str, batch: int, length: int) -> Answer:
        """Make the batch of a measured run; see `RustBench`."""
        return self._bench.prepare(batch)

    def bench_run(self, kind: str, batch: int, length: int, seed: int, repeats: int) -> Answer:
        """Do a measured run; see `RustBench.run`."""
        return self._bench.run(batch, length, seed, repeats)

    def bench_envs(
        self, kind: str, batch: int, length: int, seed: int, repeat: int, env_indices: Sequence[int]
    ) -> Answer:
        """Some sub-environments of a repetition of a measured run: their outputs, and what went into them; see
        `RustBench.bench_envs`.
        """
        report = WatchedEnvs(self._contract, env_indices, length)
        played = self._bench.bench_envs(batch, length, seed, repeat, env_indices, report.look)
        return played | report.answer(self._leaves)

    def _together(self, cases: Sequence[dict[str, Any]], mode: str, threads: int, idle: int) -> list[Answer]:
        batch = RustBatch(self._module, len(cases) + idle, mode, threads)
        batch.reset([0] * batch.count)
        held = [{path: leaf.accept(case["actions"][path]) for path, leaf in self._actions.items()} for case in cases]
        lengths = np.array([len(next(iter(actions.values()))) for actions in held] + [0] * idle)
        players = [Player(self._leaves, self._state, batch, env_index, case) for env_index, case in enumerate(cases)]
        steps = int(lengths.max(initial=0))
        given = {
            path: np.full((steps, batch.count, *leaf.shape), 0 if leaf.low is None else leaf.low, leaf.dtype)
            for path, leaf in self._actions.items()
        }
        for env_index, actions in enumerate(held):
            for path, array in actions.items():
                given[path][: len(array), env_index] = array
        resting = lengths <= np.arange(steps)[:, None]
        for timestep in range(steps):
            resting[timestep, : len(players)] |= [player.over for player in players]
            batch.step(self._legal_where(resting[timestep], {p: array[timestep] for p, array in given.items()}, batch))
            for player in players:
                player.look()
        return [player.answer() for player in players]

    def _legal_where(self, resting: Array, actions: dict[str, Array], batch: RustBatch) -> dict[str, Array]:
        """The actions; in instances whose case is over, legal ones."""
        for path, action in actions.items():
            if mask_of(path) in batch.seen:
                legal = legal_action(np, action, self._actions[path].low, batch.seen[mask_of(path)])
                actions[path] = np.where(resting.reshape(-1, *[1] * (action.ndim - 1)), legal, action)
        return actions


class RustEpisode:
    """One instance, as an adapter in Python is one environment."""

    def __init__(self, module: ModuleType, contract: Mapping[str, Any]) -> None:
        self.instance = module.environment.instance({})
        spec = module.SPEC
        self._contract = contract
        self._shown = [path for path, _, _ in spec["observation"]]
        self._rewards = [path for path, _, _ in spec["reward"]]
        self._state = [STATE + path for path, _, _ in spec["state"]]
        self._action = [path for path, _, _ in spec["action"]]
        self._dtypes = [np.dtype(dtype) for _, dtype, _ in spec["action"]]
        self._drawn: Tape = []

    def spec(self) -> Answer:
        """The contract, which the module was held against, in the protocol's form."""
        contract = self._contract
        capabilities = ["restore"] * bool(self._state) + ["probe"] * bool(contract["probes"])
        return {
            "leaves": contract["leaves"],
            "capabilities": [*capabilities, *["draws", "force_draws"] * bool(contract["draws"])],
            "probes": contract["probes"],
            "draws": {n: {key: draw[key] for key in ("dtype", "shape", "at")} for n, draw in contract["draws"].items()},
            "policies": [],
        }

    def reset(self, seed: int, draws: Sequence[Any] | None = None) -> Answer:
        """Begin an episode."""
        return self._timestep(self.instance.reset(seed, as_taken(draws)))

    def step(self, action: Any, draws: Sequence[Any] | None = None) -> Answer:
        """One step."""
        values = [action] if self._action == ["action"] else [action[path] for path in self._action]
        taken = [np.asarray(value, dtype)[None] for value, dtype in zip(values, self._dtypes, strict=True)]
        return self._timestep(self.instance.step(taken, as_taken(draws)))

    def restore(self, state: Mapping[str, Any]) -> Answer:
        """Go on from a canonical state."""
        return self._timestep(self.instance.restore([np.asarray(state[path], order="C")[None] for path in self._state]))

    def take_draws(self) -> Tape:
        """What the last call drew."""
        drawn, self._drawn = self._drawn, []
        return drawn

    def _timestep(self, report: tuple[Any, ...]) -> Answer:
        seen, rewards, terminated, truncated, state, self._drawn = report
        timestep = {"terminated": terminated, "truncated": truncated}
        timestep.update(zip(self._rewards, rewards, strict=True))
        timestep.update(zip(self._shown, seen, strict=True))
        timestep.update(zip(self._state, state, strict=True))
        return timestep


def _mistakes(spec: Mapping[str, Any], contract: Mapping[str, Any]) -> Iterable[Mistake]:
    """What of a module is not as the task has it: leaves and probes."""
    state = [(STATE + path, dtype, shape) for path, dtype, shape in spec["state"]]
    endings = [(path, "bool", ()) for path in ENDINGS]
    given = [*spec["observation"], *spec["action"], *state, *spec["reward"], *endings]
    yield from _unlike("the environment", given, contract["leaves"])
    for name in sorted({*spec["probes"], *contract["probes"]}):
        if name not in spec["probes"]:
            yield Mistake(f"there is no probe `{name}`: name it in PROBES", failing=UNUSABLE)
        elif name not in contract["probes"]:
            yield Mistake(f"PROBES has `{name}`, which the task does not have")
        else:
            for side, leaves in zip(("inputs", "outputs"), spec["probes"][name], strict=True):
                yield from _unlike(f"the {side} of the probe `{name}`", leaves, contract["probes"][name][side])


def _unlike(what: str, leaves: Iterable[Sequence[Any]], declared: Mapping[str, Any]) -> Iterable[Mistake]:
    given: dict[str, Any] = {}
    for path, dtype, shape in leaves:
        if path in given:
            yield Mistake(f"{what}: `{path}` is named twice", path, "contract", "one leaf of that name", "several")
        given[path] = (dtype, tuple(shape))
    for path in sorted({*given, *declared}):
        wanted = None if path not in declared else (declared[path]["dtype"], tuple(declared[path]["shape"]))
        found = given.get(path)
        if found != wanted:
            expected, actual = (_form(wanted), _form(found))
            yield Mistake(f"{what}: `{path}` is {actual}; expected {expected}", path, "contract", expected, actual)


def _form(form: Any) -> str:
    return "no leaf" if form is None else f"{form[0]} {list(form[1])}"
