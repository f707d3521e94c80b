"""Tries the state of an environment: what outlives a reset, what is needed to restore, and what shows it."""

# It runs under the reference's own Python, which may be as old as 3.8.
# ruff: noqa: B905

from __future__ import annotations

import time
from typing import Any

import numpy as np
from gymnasium_find_chance import WithChance
from gymnasium_find_state import Watched, describe, differ, observers, seeds_kept, snapshot
from gymnasium_find_things import NAME, Things
from gymnasium_masks import find_mask
from gymnasium_plays import EPISODES, LONGEST, SECONDS, SEEDS, play, same
from gymnasium_state import LATE, at

CONTINUED = 8
LEAK_ROUNDS = 4
RICH = (0, 1, 2)
ANSWERS = ("rewards", "_cumulative_rewards", "infos")
"""What an environment of PettingZoo's keeps of its last answers."""
ENDS = ("terminations", "truncations")
"""What it keeps of the players that dropped out."""


class WithState(WithChance):
    """Finds the state of an environment, and whether it can be restored."""

    drops = False  # whether players drop out while others go on
    without_things = False  # whether objects that come and go turned out to be others than those that were seen

    def find_leaks(self) -> None:
        """What outlives a reset, although nothing but the seed decides there: it differs after other episodes."""
        self.found["leaks"] = []
        places = self.leaking()
        self.found["leaks"] = [list(map(list, place)) for place in places]
        if places:
            still = self.leaking()
            self.found["leaks"] = [list(map(list, place)) for place in places if place not in still]

    def leaking(self) -> dict[Any, None]:
        """The places that differ right after the same reset, where other actions, and fewer of them, came before."""
        rounds = [self.watched(backwards=number % 2 == 1, other=number) for number in range(LEAK_ROUNDS)]
        found = [place for each in rounds[1:] for place in differ(rounds[0], each, at_reset=True)]
        return dict.fromkeys(place for place in found if place[-1][0] != "engine")

    def find_state(self) -> None:
        """Places that change in an episode, and a way to observe without a step."""
        forth, back = self.watched(), self.watched(backwards=True)
        left_out = {*seeds_kept(forth), *(differ(forth, back) if self.repeats else ())}
        if self.found["players"] is not None:
            answers = ANSWERS if self.drops else (*ANSWERS, *ENDS)
            left_out |= {place for place in forth.columns() if any(key in answers for _, key in place)}
        reference = self.reference()
        long = Watched(
            reference,
            [
                (seed, lambda see, seed=seed: play(reference, seed, self.actions_for(seed, LONGEST), see=see))
                for seed in range(EPISODES)
            ],
            self.every,
            SECONDS / 2,
            2,
        )
        reference.close()
        long.snapshots += forth.snapshots
        self.columns = {place: values for place, values in long.columns().items() if place not in left_out}
        for place in self.found["leaks"]:
            self.notes.append(
                f"`{place[-1][1]}` outlives a reset; the adapter puts it back to what it is in a new environment"
            )
        self.find_observer()

    def looks_every(self) -> int:
        """From how many timesteps one is looked at: more than one where a look takes long."""
        reference = self.reference()
        reference.reset(0)
        began = time.perf_counter()
        snapshot(reference.env)
        took = (time.perf_counter() - began) * SEEDS * self.steps
        reference.close()
        return 1 + int(took / (SECONDS / 4))

    def watched(self, backwards: bool = False, other: int = 0) -> Watched:
        """The first episodes with all that the objects held, played in one order or the other; with `other` actions where
        that is not 0, and shorter ones.
        """
        reference, seeds = self.reference(), range(SEEDS)
        watched = Watched(
            reference,
            [
                (
                    seed,
                    lambda see, seed=seed: play(
                        reference, seed, self.actions_for(seed + 31 * other, self.steps // (1 + other)), see=see
                    ),
                )
                for seed in (reversed(seeds) if backwards else seeds)
            ],
            self.every,
        )
        reference.close()
        if backwards:
            watched.snapshots.reverse()
        return watched

    def find_observer(self) -> None:
        """A method or an attribute that shows the observation of each timestep."""
        state, self.found["state"] = self.found["state"], {}
        reference = self.reference()
        reference.reset(0)
        ways = observers(reference, list(self.columns))
        for seed in range(SEEDS):

            def see(timestep: dict[str, Any]) -> None:
                ways[:] = [way for way in ways if self.observes(reference, way, timestep)]

            play(reference, seed, self.actions_for(seed, self.steps), see=see)
        reference.close()
        self.found["observe"] = ways[0] if ways else None
        self.found["state"] = state

    def observes(self, reference: Any, way: dict[str, Any], timestep: dict[str, Any]) -> bool:
        """Whether this is the observation of the timestep."""
        self.found["observe"] = reference._found["observe"] = way
        try:
            again = reference._timestep(reference.observe(), None, False, False)
        except Exception:
            return False
        return all(
            same([{path: timestep[path]}], [{path: again[path]}]) for path in timestep if path.startswith("observation")
        )

    def find_mask(self) -> None:
        """A mask of legal actions, and how to ask for it in a restored state."""
        if self.found["players"] is not None:
            return  # theirs are asked with the rest of what they have
        reference = self.reference()
        self.found["mask"], said = find_mask(
            reference, [self.actions_for(seed, self.steps) for seed in range(SEEDS)], play
        )
        reference.close()
        if self.found["mask"] is not None:
            size = int(reference.env.action_space.n)
            self.found["leaves"]["legal_actions"] = {"dtype": "bool", "shape": [size]}
        self.notes += said

    def settle(self) -> None:
        """Seeds, draws and restored states, with as little of the state as it takes: first numbers and arrays, then what is
        absent at times or grows, then words, then objects that come and go. Where no states can be restored, the first that
        there is is looked at.
        """
        described = [describe(self.columns, rich)[0] for rich in RICH]
        tried = [
            rich for rich in RICH if described[rich] and (rich == 0 or described[rich] != described[rich - 1])
        ] or [0]
        for rich in tried:
            self.declare_state(rich)
            self.try_all()
            if self.found["restore"]:
                return
        late = self.declare_late(tried[0])
        if late:
            self.try_all()
            if self.found["restore"]:
                self.leave_out_late()
                return
        things = not self.without_things and self.declare_things()
        if things:
            self.try_all()
            if self.found["restore"]:
                return
        if late or things or len(tried) > 1:
            self.declare_state(tried[0])
            self.try_all()

    def declare_late(self, rich: int) -> bool:
        """Declare what MuJoCo derives while it steps beside the rest of the state; whether there is such."""
        reference = self.reference()
        reference.reset(0)
        late = {}  # type: dict[str, dict[str, Any]]
        for path, described in self.found["state"].items():
            if described["kind"] == "engine":
                held = {name: getattr(at(reference.env, described["place"]), name, ()) for name in LATE}
                late[path] = {name: np.asarray(value) for name, value in held.items() if np.size(value)}
        reference.close()
        if not any(late.values()):
            return False
        self.declare_state(rich)
        for path, values in late.items():
            self.found["state"][path]["late"] = list(values)
            for name, value in values.items():
                self.found["leaves"][f"{path}_{name}"] = {"dtype": value.dtype.name, "shape": list(value.shape)}
        return True

    def leave_out_late(self) -> None:
        """Leave out what restored states go on without."""
        for path, described in self.found["state"].items():
            for name in described.get("late", ())[:]:
                kept = described["late"]
                described["late"] = [other for other in kept if other != name]
                self.try_restore()
                if self.found["restore"]:
                    del self.found["leaves"][f"{path}_{name}"]
                else:
                    described["late"], self.found["restore"] = kept, True
                    self.doubts.pop()

    def declare_things(self) -> bool:
        """Declare objects that come and go beside all the rest; whether there are some."""
        state, self.found["state"] = self.found["state"], {}
        reference, things = self.reference(), Things()
        self.found["state"] = state
        began = time.perf_counter()
        for seed in range(EPISODES):
            play(reference, seed, self.actions_for(seed, LONGEST), see=lambda timestep: things.look(reference.env))
            if time.perf_counter() - began > SECONDS:
                break
        reference.close()
        described = things.described()
        if described is None:
            return False
        columns, self.columns = self.columns, {p: v for p, v in self.columns.items() if not things.within(p)}
        self.declare_state(RICH[-1])
        self.columns = columns
        self.found["state"][NAME] = described[0]
        self.found["leaves"].update(described[1])
        return True

    def try_all(self) -> None:
        """Try seeds, draws and restoring with the state that is declared."""
        self.found.update(restore=False, draws=None)
        self.try_seeds()
        self.try_tape()
        self.try_restore()

    def declare_state(self, rich: int) -> None:
        """Declare the leaves of the state; what was in doubt with others is forgotten."""
        self.doubts = []  # type: list[str]
        leaves = self.found["leaves"]
        for path in [path for path in leaves if path.startswith("state/")]:
            del leaves[path]
        self.found["state"], described, lost = describe(self.columns, rich)
        leaves.update(described)
        if lost:
            self.notes.append(f"it has {lost} more numbers that change; only the nearest are state leaves")
        if not self.found["state"]:
            self.doubts.append(
                "nothing in its objects holds numbers that change in an episode, so there are no state leaves"
            )

    def try_restore(self) -> None:
        """Restore states in the middle of episodes and compare how they go on."""
        if not self.found["state"]:
            return
        if self.found["observe"] is None:
            self.doubts.append("states cannot be restored: there is no way to observe a state without a step")
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
            self.doubts.append(f"states cannot be restored ({problem})")

    def state_of(self, timestep: dict[str, Any]) -> dict[str, Any]:
        return {path: value for path, value in timestep.items() if path.startswith("state/")}

    def continues(self, reference: Any, seed: int, timesteps: list[Any]) -> str:
        stride = max(1, len(timesteps) // 6)
        for start in range(seed % stride, len(timesteps) - 1, stride):  # not all in step with the turns of players
            state = self.state_of(timesteps[start])
            tape = self.tapes[seed][start + 1 :] if self.tapes else None
            restored = [reference.restore(state)]
            reference.take_draws()
            count = min(CONTINUED, len(timesteps) - 1 - start)
            for index, action in enumerate(self.taken[seed][start : start + count]):
                restored.append(reference.step(action) if tape is None else reference.step(action, tape[index]))
            expected = [dict(timestep) for timestep in timesteps[start : start + count + 1]]
            paid = {path: value for path, value in restored[0].items() if self.adapter.is_reward(path)}
            expected[0] = {**expected[0], **paid}
            for one, other in zip(restored, expected):
                for path in one:
                    if not same([{path: one[path]}], [{path: other[path]}]):
                        return (
                            f"an episode goes on differently from a restored state, first in `{path}`: some is hidden"
                        )
        return ""
