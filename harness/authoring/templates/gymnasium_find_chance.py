"""Finds the chance of an environment: which seeds it takes, whether its episodes repeat, and the draws that decide them."""

# It runs under the reference's own Python, which may be as old as 3.8.
# ruff: noqa: B905

from __future__ import annotations

from typing import Any

from gymnasium_describe import Unusable
from gymnasium_name_draws import Ways
from gymnasium_plays import SEEDS, Played, play, same

LARGE_SEED = (1 << 62) + 3
FEWER = (1 << 32, 1 << 31, 1 << 16)
"""Seeds are taken modulo the first of these that the environment bears."""


class WithChance(Played):
    """Finds how an environment decides by chance. Each finding is tried: recorded, and forced under another seed."""

    def __init__(self, directory: str, options: dict[str, Any]) -> None:
        super().__init__(directory, options)
        self.ways = Ways(self.adapter.gymnasium_chance.asked)

    def find_seeds(self) -> None:
        """Which seeds the environment takes, and whether its generators have to be seeded for it."""
        for self.found["seeds"] in (None, *FEWER):
            reference = self.reference()
            try:
                reference.reset(LARGE_SEED)
                break
            except Exception as error:
                refused = error
            finally:
                reference.close()
        else:
            raise Unusable(f"it takes no seed: {type(refused).__name__}: {refused}")
        if self.found["seeds"]:
            self.notes.append(
                f"it takes no seeds beyond {self.found['seeds'] - 1}: the adapter reduces them ({refused})"
            )

    def find_generators(self) -> None:
        """Whether episodes repeat, or else whether they do where every generator is seeded by the adapter."""
        for self.found["reseed"] in (False, True):
            reference = self.reference()
            forth = [play(reference, seed, self.actions_for(seed, self.steps)) for seed in range(SEEDS)]
            reference.close()
            reference = self.reference()
            back = [play(reference, seed, self.actions_for(seed, self.steps)) for seed in reversed(range(SEEDS))][::-1]
            reference.close()
            self.repeats = all(map(same, forth, back))
            if self.repeats:
                break
        if not self.repeats:
            self.found["reseed"] = False
        elif self.found["reseed"]:
            self.notes.append(
                "its `reset` does not seed every generator that it decides with; the adapter seeds them all at each reset"
            )

    def try_seeds(self) -> None:
        """Whether seeds matter; notes it if the same seed gives different episodes."""
        reference = self.reference()
        self.taken = [[] for _ in range(SEEDS)]  # type: list[list[Any]]
        self.plain = [
            play(reference, seed, self.actions_for(seed, self.steps), taken=self.taken[seed]) for seed in range(SEEDS)
        ]
        again = [play(reference, seed, self.actions_for(seed, self.steps)) for seed in reversed(range(SEEDS))][::-1]
        others = [play(reference, seed, self.actions[: self.steps]) for seed in range(SEEDS)]
        reference.close()
        self.deterministic = all(map(same, self.plain, again))
        if not self.deterministic:
            self.doubts.append("the same seed does not give the same episode: something random is not seeded")
        self.seeds_matter = not all(same(others[0], other) for other in others[1:])

    def try_tape(self) -> None:
        """Record every draw, force each tape under another seed, and keep it if nothing differs."""
        self.forget_draws()
        problem = "" if self.deterministic else "its episodes do not repeat"
        try:
            problem = problem or self.record()
        except Exception as error:
            problem = f"{type(error).__name__}: {error}"
        if problem:
            self.found["draws"] = None
            self.tapes = []
            self.doubts.append(f"draws cannot be recorded and forced ({problem})")
        elif not self.found["draws"]:
            self.found["draws"] = None

    def forget_draws(self) -> None:
        self.found["draws"] = {}
        self.capacity = {}  # type: dict[str, int]
        self.calls = {}  # type: dict[str, list[Any]]
        self.tapes = []  # type: list[Any]

    def record(self) -> str:
        problem = self.recorded()
        if not problem and self.name_draws():
            problem = self.recorded()
        if problem:
            return problem
        reference = self.reference()
        for seed, (tape, expected) in enumerate(zip(self.tapes, self.plain)):
            if not same(play(reference, seed + SEEDS, self.actions_for(seed, self.steps), forced=tape), expected):
                return (
                    "an episode with forced draws differs: something random comes from no generator that can be watched"
                )
        reference.close()
        self.describe_draws(self.tapes)
        return ""

    def recorded(self) -> str:
        """Record the draws of the known episodes; gives what speaks against it."""
        self.forget_draws()
        reference = self.reference()
        self.note_calls(reference)
        for seed, expected in enumerate(self.plain):
            tape = []  # type: list[Any]
            if not same(play(reference, seed, self.actions_for(seed, self.steps), tape=tape), expected):
                return "episodes change when its generator is watched"
            self.tapes.append(tape)
        reference.close()
        if self.seeds_matter and not self.calls:
            return "its chance comes from no generator of numpy or of Python's random"
        return ""

    def note_calls(self, reference: Any) -> None:
        """From now on, note with which arguments each draw is asked for, and where."""
        decide = reference.log.decide
        plain = {label + end: label for label, ends in self.found["names"].items() for end in ends.values()}

        def noting(name: str, method: Any, arguments: Any, options: Any) -> Any:
            before = len(reference.log._recorded)
            answer = decide(name, method, arguments, options)
            for label, _ in reference.log._recorded[before:]:
                call = (name, arguments, options)
                self.calls.setdefault(label, []).append(call)
                self.ways.note(plain.get(label, label), call)
            return answer

        reference.log.decide = noting

    def name_draws(self) -> bool:
        """Give draws that are asked for in several ways a name for each; True where names are others now."""
        before, self.found["names"] = self.found["names"], self.ways.names()
        return self.found["names"] != before

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
