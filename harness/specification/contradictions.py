"""Scenarios that contradict one another: the same situation with two outcomes. The text alone shows it, no reading is asked.

A situation is all that decides what comes: where an episode begins, the chance and the actions after it. A scenario that
states a whole state on its way begins a further situation there, as if it had been started from that state.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from harness.compare import differing_elements, value_text
from harness.model import Array, Draw, Leaves, feed_digest
from harness.specification.scenarios import Expectation, Scenario


@dataclass(frozen=True)
class Contradiction:
    """Two scenarios that state different outcomes of one situation.

    Attributes:
        one, other: the scenarios, in their order; the same one where it contradicts itself.
        address: the value on which they differ.
        values: what each states, as text.
        steps: the timestep of each in which it is stated.
    """

    one: Scenario
    other: Scenario
    address: str
    values: tuple[str, str]
    steps: tuple[int, int]

    def __str__(self) -> str:
        first, second = (
            f"{scenario.where} `{scenario.name}` says {value} at step {step}"
            for scenario, value, step in zip((self.one, self.other), self.values, self.steps, strict=True)
        )
        cited = sorted({*self.one.cites, *self.other.cites})
        return f"{self.address}: {first}; {second} (they cite {', '.join(map(str, cited))})"


def contradictions(scenarios: Sequence[Scenario], state: Iterable[str]) -> list[Contradiction]:
    """All contradictions between these scenarios, one for each pair and value.

    Args:
        state: the leaves of the canonical state.
    """
    paths = tuple(state)
    stated: dict[tuple[str, str, tuple[int, ...]], list[tuple[Scenario, Expectation]]] = {}
    for scenario in scenarios:
        for expectation in scenario.expects:
            for situation in _situations(scenario, expectation.step, paths):
                for index, _ in _elements(expectation):
                    stated.setdefault((situation, expectation.path, index), []).append((scenario, expectation))
    found: dict[tuple[str, str, str, tuple[int, ...]], Contradiction] = {}
    for (_, path, index), claims in stated.items():
        first, expected = claims[0]
        for other, claim in claims[1:]:
            values = [dict(_elements(each))[index] for each in (expected, claim)]
            differing = differing_elements(values[0], values[1])
            if differing is None or not differing.any():
                continue
            address = path + (f"[{','.join(map(str, index))}]" if index else "")
            texts = (value_text(values[0]), value_text(values[1]))
            contradiction = Contradiction(first, other, address, texts, (expected.step, claim.step))
            found.setdefault((first.where, other.where, path, index), contradiction)
    return list(found.values())


def _elements(expectation: Expectation) -> Iterator[tuple[tuple[int, ...], Array]]:
    """Each number that is stated, with its index inside the leaf."""
    if expectation.index or not expectation.value.ndim:
        yield expectation.index, expectation.value
        return
    for index in _indices(expectation.value.shape):
        yield index, expectation.value[index]


def _indices(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    if not shape:
        yield ()
        return
    for place in range(shape[0]):
        for rest in _indices(shape[1:]):
            yield (place, *rest)


def _situations(scenario: Scenario, step: int, state: Sequence[str]) -> Iterator[str]:
    """A digest of each situation in which a timestep of a scenario is: from its beginning, and from each whole state."""
    beginnings: list[tuple[int, Leaves | None]] = [(0, scenario.case.start)]
    beginnings += [(at, whole) for at in range(1, step + 1) if (whole := _whole_state(scenario, at, state)) is not None]
    for at, start in beginnings:
        if at == step and start is not None and at > 0:
            continue  # the state itself: what it says of its own values is compared from where the scenario began
        sha = hashlib.sha256()
        if start is None:
            # Where all that is drawn is stated, nothing hangs on the seed.
            sha.update(f"seed {scenario.case.seed}\n".encode() if scenario.case.draws is None else b"a reset\n")
        else:
            for path in state:
                feed_digest(sha, path, start[path])
        for path, taken in scenario.case.actions.items():
            feed_digest(sha, path, taken[at:step])
        # What is drawn before the beginning has no part in what follows from it; a reset draws, a state does not.
        tape = () if scenario.case.draws is None else scenario.case.draws
        drawn = [tape[t] if t < len(tape) else () for t in range(at + (start is not None), step + 1)]
        _feed_draws(sha, "free" if scenario.case.draws is None else "forced", drawn)
        yield sha.hexdigest()


def _feed_draws(sha: hashlib._Hash, kind: str, timesteps: Sequence[Sequence[Draw]]) -> None:
    sha.update(f"{kind}\n".encode())
    for timestep in timesteps:
        sha.update(b"timestep\n")
        for draw in sorted(timestep, key=lambda draw: draw.name):  # the order of different names means nothing
            feed_digest(sha, draw.name, draw.value)


def _whole_state(scenario: Scenario, step: int, state: Sequence[str]) -> Leaves | None:
    """The state in a timestep, where the scenario states all of it."""
    given = {each.path: each.value for each in scenario.expects if each.step == step and not each.index}
    return {path: given[path] for path in state} if state and given.keys() >= set(state) else None
