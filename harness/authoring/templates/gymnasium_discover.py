"""Finds out what a Gymnasium environment offers, by running it. Run in the environment's own Python by `lockstep new`:

    python gymnasium_discover.py DIRECTORY FACTS [OPTIONS]

DIRECTORY holds `adapter.py` and an `environment.json` that names the environment; the rest of `environment.json` is written
here. FACTS is the file for everything else that was found, as JSON. Each finding is tried, not trusted: what the adapter
claims to record, force or restore has been recorded, forced and restored, with the same trajectories as a result.
"""

# It runs under the reference's own Python, which may be as old as 3.8.
# ruff: noqa: B905

from __future__ import annotations

import json
import sys
import time
from typing import Any

import gymnasium
import numpy as np
from gymnasium_describe import Unusable, law_of, leaf_of, text_leaf
from gymnasium_find_things import NAME
from gymnasium_kinds import demand_environment, demand_results, modules_for, modules_of
from gymnasium_masks import legal
from gymnasium_plays import EPISODES, LONGEST, SECONDS, SEEDS, play, same
from gymnasium_restore import WithState
from gymnasium_trace import Trace

STEPS, FEWEST_STEPS = 120, 15
DRAWN = 12
BEGINNINGS = 500
UNFORESEEN = 6


class Discovery(WithState):
    """One environment, and everything that is found out about it."""

    def run(self) -> dict[str, Any]:
        """Everything, in order; returns the facts that are not for the adapter."""
        env = self.made()
        self.declare_leaves(env)
        self.note_time_limit(env)
        self.actions = self.sampled_actions(env, LONGEST)
        env.close()
        self.find_seeds()
        self.find_mask()
        self.every = self.looks_every()
        self.find_leaks()
        self.find_generators()
        if self.found["reseed"]:
            self.find_leaks()
        self.find_state()
        self.settle()
        self.try_render()
        measured = self.measured()
        self.save()
        return {
            **self.source_of(),
            **measured,
            "mode": "tape" if self.found["draws"] else "law" if self.seeds_matter else "none",
            "capacity": self.capacity if self.found["draws"] else {},
            "max_episode_steps": self.max_episode_steps,
            "picture": self.picture,
            "players": self.found["players"],
            "notes": list(dict.fromkeys([*self.notes, *self.doubts])),
        }

    def made(self) -> Any:
        """The environment, after the imports that it takes."""
        name = self.found["factory"] or self.found["id"]
        if self.found["factory"]:
            env = self.adapter.make(self.found, self.options)
            demand_environment(env, name)
            return env
        failed = None  # type: Exception | None
        given = list(self.found["imports"])
        for imports in modules_for(name, given, modules_of(self.found.get("required", []))):
            self.found["imports"] = imports
            try:
                return self.adapter.make(self.found, self.options)
            except (gymnasium.error.NameNotFound, gymnasium.error.NamespaceNotFound) as error:
                failed = failed or error
        raise Unusable(
            f"{failed}; if a module registers it, name it with --import MODULE and its package with --require"
        )

    def declare_leaves(self, env: Any) -> None:
        """The leaves of both spaces, with the dtypes that observations and rewards really have."""
        leaves = self.found["leaves"]
        for space, path in ((env.observation_space, "observation"), (env.action_space, "action")):
            self.declare_space(space, path)
        observation, info = demand_results(env.reset(seed=0), 2, "reset")
        env.action_space.seed(0)
        seen, rewards, began = [observation], [], time.perf_counter()
        for _ in range(STEPS):
            action = legal(env, env.action_space.sample(), observation, info)
            observation, reward, terminated, truncated, info = demand_results(env.step(action), 5, "step")
            seen.append(observation)
            rewards.append(self.adapter.as_rewards(reward, {}))
            if terminated or truncated:
                break
        each = (time.perf_counter() - began) / len(rewards)
        self.steps = int(min(STEPS, max(FEWEST_STEPS, SECONDS / (16 * SEEDS * each))))
        for observation in seen:
            timestep = {}  # type: dict[str, Any]
            self.adapter.scatter(env.observation_space, "observation", observation, timestep)
            for path, value in timestep.items():
                if path in self.found["texts"]:
                    continue
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
        for path in rewards[0]:
            paid = [reward[path] for reward in rewards]
            if any(map(np.ndim, paid)):
                raise Unusable(f"its reward is an array of shape {np.shape(paid[0])}, not one number")
            dtypes = {np.asarray(each).dtype.name for each in paid}
            leaves[path] = {"dtype": "float32" if dtypes == {"float32"} else "float64", "shape": []}
        if self.found["players"] is not None:
            self.declare_players(env)
        leaves["terminated"] = {"dtype": "bool", "shape": []}
        leaves["truncated"] = {"dtype": "bool", "shape": []}

    def declare_players(self, env: Any) -> None:
        """Who plays, in which order, and the leaves that say who is to move, who is alive, and what is legal."""
        names = list(map(self.adapter.leaf_name, env.names))
        if len(names) < 2:
            raise Unusable(
                f"only {', '.join(env.names) or 'nobody'} plays: a game for one is an environment of Gymnasium's, made by a "
                "function that `--factory` names"
            )
        if names != env.names:
            raise Unusable(f"its players are called {env.names}; expected names of letters, digits and `_`")
        asks = self.drop_out(env)
        self.found["players"] = {"names": names, "order": env.order, "asks": asks}
        for path, value in env.of_players().items():
            if path.startswith("alive/") and not self.drops:
                continue
            array = np.asarray(value)
            self.found["leaves"][path] = {"dtype": array.dtype.name, "shape": list(array.shape)}
        if "to_move" in self.found["leaves"]:
            self.found["leaves"]["to_move"].update(low=0, high=len(names) - 1)
        if env.masks:
            self.notes.append("illegal actions are masked (`legal_actions`), so no test takes them")

    def drop_out(self, env: Any) -> bool:
        """See whether players drop out while others go on; whether the game can be asked what they see."""
        self.drops, asks, began = False, True, time.perf_counter()
        for seed in range(EPISODES):
            observation, info = env.reset(seed=seed)
            over = False
            while not over and time.perf_counter() - began < SECONDS / 4:
                action = legal(env, env.action_space.sample(), observation, info)
                observation, _, terminated, truncated, info = env.step(action)
                over, asks = terminated or truncated, asks and env.answers()
                self.drops = self.drops or not (over or all(env.alive().values()))
        env.reset(seed=0)
        return asks

    def declare_space(self, space: Any, path: str) -> None:
        parts = self.adapter.parts_of(space)
        if parts is not None:
            for _, name, part in parts:
                self.declare_space(part, path + "/" + name)
            return
        if path in self.found["leaves"]:
            raise Unusable(f"two parts of its spaces would have the path `{path}`")
        text = text_leaf(space, path)
        if text is not None:
            self.found["leaves"][path], self.found["texts"][path] = text
        else:
            self.found["leaves"][path] = leaf_of(space, path, self.notes)

    def note_time_limit(self, env: Any) -> None:
        described = env.spec
        self.max_episode_steps = getattr(described, "max_episode_steps", None)
        if getattr(described, "nondeterministic", False):
            self.notes.append("Gymnasium's registry says that it is not deterministic")

    def source_of(self) -> dict[str, Any]:
        """The class of the environment, and where its rules are written, as one traced episode shows."""
        reference, trace = self.reference(), Trace()
        with trace:
            play(reference, 0, self.actions[: self.steps])
        state = self.adapter.gymnasium_state
        owners = {type(state.at(reference.env, each["place"][:-1])).__module__ for each in self.found["state"].values()}
        core = reference.core if self.found["players"] is None else reference.core.env.unwrapped
        sources = trace.sources(self.directory, core, owners)
        reference.close()
        called = getattr(core, "called", None) or f"{type(core).__module__}.{type(core).__qualname__}"
        return {"source": sources, "class": called}

    def measured(self) -> dict[str, Any]:
        """As `measure`; what long episodes bring to light about the state is added to what is known of it."""
        for _ in range(UNFORESEEN):
            try:
                measured = self.measure()
            except self.adapter.gymnasium_state.Unforeseen as error:
                self.note_unforeseen(error)
            else:
                if self.found["draws"] is None or not self.name_draws():
                    return measured
            self.settle()
        raise Unusable(
            "its state takes ever new forms: an adapter written by hand (--adapter) can say which of it counts"
        )

    def note_unforeseen(self, error: Any) -> None:
        """Add to what is known of a place what its leaves could not hold."""
        if error.path.startswith(NAME):
            self.without_things = True
        else:
            place = tuple(map(tuple, self.found["state"][error.path]["place"]))
            self.columns[place] = [*self.columns[place], error.value]

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
            each = (item for timestep in timesteps for item in timestep.items())
            paid = (value for path, value in each if self.adapter.is_reward(path))
            returns.append(float(sum(map(float, paid))))
            lengths.append(len(timesteps) - 1)
            if time.perf_counter() - began > SECONDS:
                break
        rate = sum(lengths) / (time.perf_counter() - began)
        self.begin_many(reference)
        reference.close()
        laws = {label: law for label, made in self.calls.items() for law in [law_of(label, made)] if law is not None}
        return {"returns": returns, "lengths": lengths, "steps_per_second": rate, "laws": laws if taped else {}}

    def begin_many(self, reference: Any) -> None:
        """Begin many episodes: some words, draws and shapes come in few. Raises Unforeseen once all were tried."""
        began, unforeseen = time.perf_counter(), None
        for seed in range(EPISODES, EPISODES + BEGINNINGS):
            tape = []  # type: list[Any]
            try:
                play(reference, seed, [], tape=tape)
            except self.adapter.gymnasium_state.Unforeseen as error:
                if unforeseen is not None:  # the last one is noted where it is caught
                    self.note_unforeseen(unforeseen)
                unforeseen = error
            if self.found["draws"] is not None:
                self.describe_draws([tape])
            if time.perf_counter() - began > SECONDS / 2:
                break
        if unforeseen is not None:
            raise unforeseen

    def try_render(self) -> None:
        """Draw restored states, and keep it if each looks as it does where its episode is drawn."""
        self.picture = None  # type: list[int] | None
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
        actions = self.taken[seed][: min(DRAWN, len(timesteps) - 1)]
        for action in actions:
            shown.step(reference.as_action(action))
            pictures.append(np.asarray(shown.render()))
        shown.close()
        for timestep, picture in reversed(
            list(zip(timesteps, pictures))
        ):  # backwards, so that nothing but the state can tell
            self.picture = list(picture.shape[:2])
            if picture.dtype != np.uint8 or picture.ndim != 3 or picture.shape[2] != 3:
                return f"its pictures are {picture.dtype} {list(picture.shape)}, not uint8 [height, width, 3]"
            reference.restore(self.state_of(timestep))
            if not np.array_equal(picture, reference.render()):
                return "a restored state looks otherwise than in its episode"
        again = [reference.reset(seed)]
        for action in actions:
            reference.render()
            again.append(reference.step(action))
        return "" if same(again, timesteps[: len(again)]) else "an episode goes on differently where it is drawn"


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
