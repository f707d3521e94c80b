"""Finds out what a Gymnasium environment offers, by running it. Run in the environment's own Python by `lockstep new`:

    python gymnasium_discover.py DIRECTORY FACTS [OPTIONS]

DIRECTORY holds `adapter.py` and an `environment.json` that names the environment; the rest of `environment.json` is written
here. FACTS is the file for everything else that was found, as JSON. Each finding is tried, not trusted: what the adapter
claims to record, force or restore has been recorded, forced and restored, with the same trajectories as a result.
"""

# It runs under the reference's own Python, which may be as old as 3.8.
# ruff: noqa: B905

from __future__ import annotations

import importlib
import inspect
import json
import os
import sys
import time
from typing import Any

import gymnasium
import numpy as np
from gymnasium_describe import Unusable, attribute_leaf, law_of, leaf_of

SEEDS = 6
STEPS = 120
EPISODES = 20
LONGEST = 1000
SECONDS = 10.0
CONTINUED = 8
DRAWN = 12
OBSERVERS = ("_get_obs", "_get_ob", "_get_observation", "get_obs")
KINDS = {float: "number", int: "number", bool: "number", list: "list", tuple: "tuple", np.ndarray: "array"}


class Discovery:
    """One environment, and what is known of it so far."""

    def __init__(self, directory: str, options: dict[str, Any]) -> None:
        self.directory, self.options = directory, options
        self.path = os.path.join(directory, "environment.json")
        with open(self.path, encoding="utf-8") as file:
            self.found = json.load(file)
        sys.path.insert(0, directory)
        self.adapter = importlib.import_module("adapter")
        self.notes = []  # type: list[str]
        self.found.update(leaves={}, state={}, restore=False, render=False, observe=None, draws=None)

    def run(self) -> dict[str, Any]:
        """Everything, in order; returns the facts that are not for the adapter."""
        env = self.adapter.make(self.found, self.options)
        self.declare_leaves(env)
        self.note_time_limit(env)
        facts = self.source_of(env.unwrapped)
        self.actions = self.sampled_actions(env, LONGEST)
        env.close()
        self.find_state()
        seeds_matter = self.try_seeds()
        self.try_tape(seeds_matter)
        self.try_restore()
        self.try_render()
        measured = self.measure()
        self.save()
        return {
            **facts,
            **measured,
            "mode": "tape" if self.found["draws"] else "law" if seeds_matter else "none",
            "capacity": self.capacity if self.found["draws"] else {},
            "max_episode_steps": self.max_episode_steps,
            "notes": self.notes,
        }

    def save(self) -> None:
        with open(self.path, "w", encoding="utf-8") as file:
            json.dump(self.found, file, indent=2, sort_keys=True)
            file.write("\n")

    def reference(self) -> Any:
        self.save()
        return self.adapter.Reference(**self.options)

    # --- leaves -------------------------------------------------------------------------------------------------------

    def declare_leaves(self, env: Any) -> None:
        """The leaves of both spaces, with the dtypes that observations and rewards really have."""
        leaves = self.found["leaves"]
        for space, path in ((env.observation_space, "observation"), (env.action_space, "action")):
            self.declare_space(space, path)
        observation, _ = env.reset(seed=0)
        env.action_space.seed(0)
        seen, rewards = [observation], []
        for _ in range(STEPS):
            observation, reward, terminated, truncated, _ = env.step(env.action_space.sample())
            seen.append(observation)
            rewards.append(reward)
            if terminated or truncated:
                break
        for observation in seen:
            timestep = {}  # type: dict[str, Any]
            self.adapter.scatter(env.observation_space, "observation", observation, timestep)
            for path, value in timestep.items():
                actual = np.asarray(value)
                if isinstance(value, (np.ndarray, np.generic)) and actual.dtype.name != leaves[path]["dtype"]:
                    self.notes.append(
                        "`{}` is {}, although its space says {}; the task declares what it is".format(
                            path, actual.dtype.name, leaves[path]["dtype"]
                        )
                    )
                    leaves[path]["dtype"] = actual.dtype.name
                if list(actual.shape) != leaves[path]["shape"]:
                    raise Unusable(
                        "`{}` has shape {}, its space says {}".format(path, actual.shape, leaves[path]["shape"])
                    )
        dtypes = {np.asarray(reward).dtype.name for reward in rewards}
        if any(np.ndim(reward) for reward in rewards):
            raise Unusable(f"its reward is an array of shape {np.shape(rewards[0])}, not one number")
        leaves["reward"] = {"dtype": "float32" if dtypes == {"float32"} else "float64", "shape": []}
        leaves["terminated"] = {"dtype": "bool", "shape": []}
        leaves["truncated"] = {"dtype": "bool", "shape": []}

    def declare_space(self, space: Any, path: str) -> None:
        parts = self.adapter.parts_of(space)
        if parts is not None:
            for _, name, part in parts:
                self.declare_space(part, path + "/" + name)
            return
        if path in self.found["leaves"]:
            raise Unusable(f"two parts of its spaces would have the path `{path}`")
        self.found["leaves"][path] = leaf_of(space, path, self.notes)

    def note_time_limit(self, env: Any) -> None:
        described = env.spec
        self.max_episode_steps = getattr(described, "max_episode_steps", None)
        if getattr(described, "nondeterministic", False):
            self.notes.append("Gymnasium's registry says that it is not deterministic")

    def source_of(self, core: Any) -> dict[str, Any]:
        """Where its rules are written."""
        sources = []
        for name in ("reset", "step"):
            method = getattr(type(core), name)
            try:
                lines, first = inspect.getsourcelines(method)
            except (OSError, TypeError):
                continue
            sources.append(f"{self.named(method)}:{first}-{first + len(lines) - 1}")
        return {"source": sources, "class": f"{type(core).__module__}.{type(core).__qualname__}"}

    def named(self, method: Any) -> str:
        """A method's file: below the task's directory where it came along, else by its module."""
        within = os.path.relpath(inspect.getfile(method), self.directory)
        if not within.startswith(os.pardir):
            return f"{os.path.basename(self.directory)}/{within}"
        return sys.modules[method.__module__].__name__.replace(".", "/") + ".py"

    # --- randomness ---------------------------------------------------------------------------------------------------

    def try_seeds(self) -> bool:
        """Whether seeds matter; notes it if the same seed gives different episodes."""
        reference = self.reference()
        self.plain = [play(reference, seed, self.actions_for(seed, STEPS)) for seed in range(SEEDS)]
        again = [play(reference, seed, self.actions_for(seed, STEPS)) for seed in reversed(range(SEEDS))][::-1]
        others = [play(reference, seed, self.actions[:STEPS]) for seed in range(SEEDS)]
        reference.close()
        self.deterministic = all(map(same, self.plain, again))
        if not self.deterministic:
            self.notes.append("the same seed does not give the same episode: something random is not seeded")
        return not all(same(others[0], other) for other in others[1:])

    def actions_for(self, seed: int, count: int) -> list[Any]:
        """Actions that differ from one episode to the next."""
        offset = 7 * seed % LONGEST
        return (self.actions[offset:] + self.actions[:offset])[:count]

    def sampled_actions(self, env: Any, count: int) -> list[Any]:
        env.action_space.seed(1)
        actions = []
        for _ in range(count):
            leaves = {}  # type: dict[str, Any]
            self.adapter.scatter(env.action_space, "action", env.action_space.sample(), leaves)
            actions.append(leaves["action"] if list(leaves) == ["action"] else leaves)
        return actions

    def try_tape(self, seeds_matter: bool) -> None:
        """Record every draw, force each tape under another seed, and keep it if nothing differs."""
        self.found["draws"] = {}
        self.capacity = {}  # type: dict[str, int]
        self.calls = {}  # type: dict[str, list[Any]]
        self.tapes = []  # type: list[Any]
        problem = "" if self.deterministic else "its episodes do not repeat"
        try:
            problem = problem or self.record(seeds_matter)
        except Exception as error:
            problem = f"{type(error).__name__}: {error}"
        if problem:
            self.found["draws"] = None
            self.tapes = []
            self.notes.append(f"draws cannot be recorded and forced ({problem})")
        elif not self.found["draws"]:
            self.found["draws"] = None

    def record(self, seeds_matter: bool) -> str:
        reference = self.reference()
        self.note_calls(reference)
        for seed, expected in enumerate(self.plain):
            tape = []  # type: list[Any]
            if not same(play(reference, seed, self.actions_for(seed, STEPS), tape=tape), expected):
                return "episodes change when its generator is watched"
            self.tapes.append(tape)
        if seeds_matter and not self.calls:
            return "it does not use the generator that Gymnasium seeds for it"
        for seed, (tape, expected) in enumerate(zip(self.tapes, self.plain)):
            if not same(play(reference, seed + SEEDS, self.actions_for(seed, STEPS), forced=tape), expected):
                return "an episode with forced draws differs: something random is not drawn from its generator"
        reference.close()
        self.describe_draws(self.tapes)
        return ""

    def note_calls(self, reference: Any) -> None:
        """From now on, note with which arguments each draw is asked for."""
        decide = reference.log.decide

        def noting(name: str, method: Any, arguments: Any, options: Any) -> Any:
            before = len(reference.log._recorded)
            answer = decide(name, method, arguments, options)
            for label, _ in reference.log._recorded[before:]:
                self.calls.setdefault(label, []).append((name, arguments, options))
            return answer

        reference.log.decide = noting

    def describe_draws(self, tapes: list[Any]) -> None:
        draws = self.found["draws"]
        for tape in tapes:
            for index, timestep in enumerate(tape):
                for label, value in timestep:
                    moment = "reset" if index == 0 else "step"
                    leaf = draws.setdefault(
                        label, {"dtype": value.dtype.name, "shape": list(value.shape), "at": moment}
                    )
                    if leaf["dtype"] != value.dtype.name:
                        raise Unusable(f"the draw {label} changes its dtype")
                    if leaf["at"] != moment:
                        leaf["at"] = "both"
                    count = sum(1 for other, _ in timestep if other == label)
                    self.capacity[label] = max(self.capacity.get(label, 1), count)

    # --- state --------------------------------------------------------------------------------------------------------

    def find_state(self) -> None:
        """Attributes that hold numbers and change in an episode, and a way to observe without a step."""
        reference = self.reference()
        snapshots, observed = [], []
        core = reference.core
        reference.reset(0)
        ways = [{"name": n, "is_method": True} for n in OBSERVERS if callable(getattr(core, n, None))]
        ways += [{"name": n, "is_method": False} for n in vars(core)]
        began = time.perf_counter()
        for seed in range(EPISODES):
            if seed >= SEEDS and time.perf_counter() - began > SECONDS / 2:
                break
            timesteps = [reference.reset(seed)]
            snapshots.append({name: _copied(value) for name, value in vars(core).items()})
            for action in [*self.actions_for(seed, LONGEST), None]:
                ways = [way for way in ways if self.observes(reference, way, timesteps[-1])]
                if action is None or timesteps[-1]["terminated"] or timesteps[-1]["truncated"]:
                    break
                timesteps.append(reference.step(action))
                snapshots.append({name: _copied(value) for name, value in vars(core).items()})
            observed += timesteps
        self.found["observe"] = ways[0] if ways else None
        for name in sorted(snapshots[0]):
            described = attribute_leaf([snapshot.get(name) for snapshot in snapshots])
            if described is not None and not name.startswith("_np_random"):
                path = "state/" + name.lstrip("_")
                self.found["leaves"][path] = described
                self.found["state"][path] = {"attribute": name, "kind": _kind(snapshots[-1][name])}
        if reference._limit is not None:
            path = "state/" + self.adapter.ELAPSED
            self.found["leaves"][path] = {"dtype": "int64", "shape": []}
            self.found["state"][path] = {"attribute": self.adapter.ELAPSED, "kind": "number"}
        reference.close()
        if not self.found["state"]:
            self.notes.append("no attribute holds numbers that change in an episode, so there are no state leaves")

    def observes(self, reference: Any, way: dict[str, Any], timestep: dict[str, Any]) -> bool:
        """Whether this is the observation of the timestep."""
        self.found["observe"] = reference._found["observe"] = way
        try:
            again = reference._timestep(reference.observe(), 0.0, False, False)
        except Exception:
            return False
        return all(
            same([{path: timestep[path]}], [{path: again[path]}]) for path in timestep if path.startswith("observation")
        )

    def try_restore(self) -> None:
        """Restore states in the middle of episodes and compare how they go on."""
        if not self.found["state"]:
            return
        if self.found["observe"] is None:
            self.notes.append("states cannot be restored: there is no way to observe a state without a step")
            return
        self.found["restore"] = True
        reference = self.reference()
        try:
            problem = next(filter(None, (self.continues(reference, *pair) for pair in enumerate(self.plain))), "")
        except Exception as error:
            problem = f"{type(error).__name__}: {error}"
        reference.close()
        if problem:
            self.found["restore"] = False
            self.notes.append(f"states cannot be restored ({problem})")

    def continues(self, reference: Any, seed: int, timesteps: list[Any]) -> str:
        for start in range(0, len(timesteps) - 1, max(1, len(timesteps) // 6)):
            state = {path: timesteps[start][path] for path in self.found["state"]}
            tape = self.tapes[seed][start + 1 :] if self.tapes else None
            restored = [reference.restore(state)]
            reference.take_draws()
            count = min(CONTINUED, len(timesteps) - 1 - start)
            actions = self.actions_for(seed, STEPS)[start : start + count]
            for index, action in enumerate(actions):
                restored.append(reference.step(action) if tape is None else reference.step(action, tape[index]))
            expected = [dict(timestep) for timestep in timesteps[start : start + count + 1]]
            expected[0] = {**expected[0], "reward": restored[0]["reward"]}
            if not same(restored, expected):
                return "an episode goes on differently from a restored state: attributes that hold numbers are not all of it"
        return ""

    # --- pictures -----------------------------------------------------------------------------------------------------

    def try_render(self) -> None:
        """Draw restored states, and keep it if each looks as it does where its episode is drawn."""
        if not self.found["restore"]:
            return
        reference = self.reference()
        if "rgb_array" in (reference.core.metadata.get("render_modes") or ()):
            try:
                problem = next(filter(None, (self.looks(reference, *pair) for pair in enumerate(self.plain[:2]))), "")
            except Exception as error:
                problem = (
                    f"{type(error).__name__}: {error}".rstrip(".") + "; what it draws with can be added by --require"
                )
            self.found["render"] = not problem
            if problem:
                self.notes.append(f"it cannot be drawn ({problem})")
        reference.close()

    def looks(self, reference: Any, seed: int, timesteps: list[Any]) -> str:
        shown = reference.drawing()
        shown.reset(seed=seed)
        pictures = [np.asarray(shown.render())]
        actions = self.actions_for(seed, min(DRAWN, len(timesteps) - 1))
        for action in actions:
            shown.step(reference.as_action(action))
            pictures.append(np.asarray(shown.render()))
        shown.close()
        for timestep, picture in reversed(
            list(zip(timesteps, pictures))
        ):  # backwards, so that nothing but the state can tell
            if picture.dtype != np.uint8 or picture.ndim != 3 or picture.shape[2] != 3:
                return f"its pictures are {picture.dtype} {list(picture.shape)}, not uint8 [height, width, 3]"
            reference.restore({path: timestep[path] for path in self.found["state"]})
            if not np.array_equal(picture, reference.render()):
                return "a restored state looks otherwise than in its episode"
        again = [reference.reset(seed)]
        for action in actions:
            reference.render()
            again.append(reference.step(action))
        return "" if same(again, timesteps[: len(again)]) else "an episode goes on differently where it is drawn"

    # --- what episodes are like ---------------------------------------------------------------------------------------

    def measure(self) -> dict[str, Any]:
        """Returns, lengths and speed of random episodes."""
        reference = self.reference()
        taped = self.found["draws"] is not None
        if taped:
            self.note_calls(reference)
        returns, lengths, began = [], [], time.perf_counter()
        for seed in range(EPISODES):
            tape = []  # type: list[Any]
            timesteps = play(reference, seed, self.actions_for(seed, LONGEST), tape=tape)
            if taped:
                self.describe_draws([tape])  # a rare draw may have been missing until now
            returns.append(float(sum(float(timestep["reward"]) for timestep in timesteps)))
            lengths.append(len(timesteps) - 1)
            if time.perf_counter() - began > SECONDS:
                break
        rate = sum(lengths) / (time.perf_counter() - began)
        reference.close()
        laws = {label: law for label, made in self.calls.items() for law in [law_of(made)] if law is not None}
        return {"returns": returns, "lengths": lengths, "steps_per_second": rate, "laws": laws if taped else {}}


def play(
    reference: Any, seed: int, actions: list[Any], *, tape: Any = None, forced: Any = None
) -> list[dict[str, Any]]:
    """The timesteps of one episode; its draws go into `tape`, or come from `forced`."""
    timesteps = [reference.reset(seed) if forced is None else reference.reset(seed, forced[0])]
    draws = [reference.take_draws()]
    for index, action in enumerate(actions):
        if timesteps[-1]["terminated"] or timesteps[-1]["truncated"]:
            break
        timesteps.append(reference.step(action) if forced is None else reference.step(action, forced[index + 1]))
        draws.append(reference.take_draws())
    if tape is not None:
        tape.extend(draws)
    return timesteps


def same(one: list[dict[str, Any]], other: list[dict[str, Any]]) -> bool:
    """Whether two episodes are the same, bit for bit."""
    return len(one) == len(other) and all(
        timestep.keys() == against.keys()
        and all(np.asarray(timestep[path]).tobytes() == np.asarray(against[path]).tobytes() for path in timestep)
        for timestep, against in zip(one, other)
    )


def _copied(value: Any) -> Any:
    return value.copy() if isinstance(value, (np.ndarray, list)) else value


def _kind(value: Any) -> str:
    return KINDS.get(type(value), "scalar")


def main(directory: str, facts: str, options: str = "{}") -> None:
    """Discover, and write the facts, or `{"error": why not}`."""
    try:
        result = Discovery(directory, json.loads(options)).run()
    except (Unusable, gymnasium.error.Error, ImportError, AttributeError, TypeError) as error:
        result = {"error": f"{type(error).__name__}: {error}"}
    with open(facts, "w", encoding="utf-8") as file:
        json.dump(result, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
