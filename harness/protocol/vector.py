"""A vector environment: sub-environments that are stepped in one message, from the harness's side (docs/protocol.md, "Vector
environment").

What a worker answers is checked against its spec, as all its answers are, and against what had been asked: which
sub-environments can have ended, and that an ended one restarts exactly where it was asked to.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from harness.errors import BadAnswer
from harness.model import STATE, Array, Draw, Leaf, Leaves, Tape, is_of_step
from harness.protocol.spec import Spec, check_arrays, tape_to_wire


@dataclass(frozen=True)
class VectorStep:
    """What one step of all sub-environments led to.

    Attributes:
        leaves: outputs, each `[N, ...]`. Where a sub-environment restarted, its observation, legal actions and state are
            those of the new episode, while reward, terminated and truncated are those of the step. The values of a
            sub-environment that was over before are meaningless.
        ended: which sub-environments ended in this step, `[N]` bools.
        final: observation, legal actions and state of the sub-environments that ended and restarted, as they were before
            that; in the order of the sub-environments.
        draws: what each sub-environment drew in the step, `N` lists.
        next_draws: what the resets of those that restarted drew; a list for each.
    """

    leaves: Leaves
    ended: Array
    final: Leaves
    draws: Tape
    next_draws: Tape

    def before_reset(self, path: str) -> Array:
        """A leaf as the step itself left it, `[N, ...]`."""
        array = self.leaves[path]
        if path not in self.final:
            return array
        whole = np.array(array)
        whole[self.ended] = self.final[path]
        return whole


class Stepped(Protocol):
    """Sub-environments of one worker or of several."""

    leaves: Leaves
    draws: Tape

    @property
    def count(self) -> int:
        """How many sub-environments there are."""
        ...

    def advance(self, actions: Leaves, following: Sequence[int] | None = None) -> VectorStep:
        """Step all sub-environments that are not over."""
        ...


class Asked(Protocol):
    """The part of an environment that sub-environments need."""

    spec: Spec

    def ask(self, call: str, **arguments: Any) -> Any:
        """One call of the protocol."""
        ...

    def tape(self, described: Any, timesteps: int, where: str) -> tuple[tuple[Draw, ...], ...]:
        """An answer's draws, checked."""
        ...


class VectorEnv:
    """Episodes of one worker that run side by side.

    There is one set of sub-environments in a worker: a new one ends those before.

    Args:
        environment: the worker.
        seeds: of the first episodes, one for each sub-environment.
        draws: tapes for them, or None.
        state: whether answers hold the canonical state.
        fixed: values of draws, by name, that every reset without a tape takes instead of its own.

    Attributes:
        leaves: outputs at the begin, each `[N, ...]`.
        draws: what the resets drew.

    Raises:
        BadAnswer: the worker has no sub-environments, or answers otherwise than docs/protocol.md says.
    """

    def __init__(
        self,
        environment: Asked,
        seeds: Sequence[int],
        draws: Sequence[Tape | None] | None = None,
        state: bool = False,
        fixed: Mapping[str, Any] | None = None,
    ) -> None:
        if "vector" not in environment.spec.capabilities:
            raise BadAnswer(
                "it cannot step several environments in one message",
                where="vector",
                expected="the capability `vector`",
                next_step="see docs/protocol.md, section Vector environment; harness/protocol/worker.py has it for Python",
            )
        self._environment = environment
        self._over = np.zeros(len(seeds), bool)
        outputs = environment.spec.outputs
        self._declared = {path: leaf for path, leaf in outputs.items() if state or not path.startswith(STATE)}
        self._of_reset = {path: leaf for path, leaf in self._declared.items() if not is_of_step(path)}
        extra: dict[str, Any] = {}
        if draws is not None:
            # A sub-environment's own chance takes over where its tape ends, so timesteps at the end in which nothing was
            # drawn count.
            extra["draws"] = [None if tape is None else tape_to_wire(tape, whole=True) for tape in draws]
        if fixed:
            extra["fixed"] = dict(fixed)
        answer = environment.ask("vector", seeds=[int(seed) for seed in seeds], state=state, **extra)
        self.leaves: Leaves = _checked(answer, "leaves", self._declared, "vector", len(seeds))
        self.draws = self._tape(answer, "draws", len(seeds), "vector")
        for path in filter(is_of_step, self._declared):
            if np.any(self.leaves[path]):
                raise BadAnswer(f"{path} is not zero at the begin of an episode", where="vector")

    @property
    def count(self) -> int:
        """How many sub-environments there are."""
        return len(self._over)

    @property
    def over(self) -> Array:
        """Which sub-environments' episodes are over, `[N]` bools."""
        return self._over.copy()

    def advance(self, actions: Leaves, following: Sequence[int] | None = None) -> VectorStep:
        """Step all sub-environments that are not over.

        Args:
            actions: action leaves, each `[N, ...]`; for a sub-environment that is over any that its bounds allow.
            following: a seed for each sub-environment, from which it restarts if it ends in this step. Without them it is
                over.
        """
        where, count = "advance", self.count
        extra = {} if following is None else {"next": [int(seed) for seed in following]}
        answer = self._environment.ask(where, actions=dict(actions), **extra)
        leaves = _checked(answer, "leaves", self._declared, where, count)
        ended = (leaves["terminated"] | leaves["truncated"]) & ~self._over
        named = answer.get("ended")
        whole = isinstance(named, list) and all(isinstance(env_index, int) for env_index in named)
        if not whole or named != np.flatnonzero(ended).tolist():
            raise BadAnswer(
                f"`ended` is {named!r:.200}",
                where=where,
                expected=f"those that ended in this step, {np.flatnonzero(ended).tolist()}",
            )
        draws = self._tape(answer, "draws", count, where)
        final: Leaves = {}
        begun: Tape = ()
        if following is None:
            self._over |= ended
        elif named:
            final = _checked(answer, "final", self._of_reset, where, len(named))
            begun = self._tape(answer, "next_draws", len(named), where)
        return VectorStep(leaves, ended, final, draws, begun)

    def _tape(self, answer: Mapping[str, Any], name: str, count: int, where: str) -> Tape:
        if "draws" not in self._environment.spec.capabilities:
            return ((),) * count
        return self._environment.tape(answer.get(name, []), count, where)


class PooledVectorEnv:
    """Sub-environments shared out among several workers of one environment, as equally as can be.

    Args:
        environments: the workers.
        threads: in which they are asked at the same time.
        seeds, draws, state, fixed: as for `VectorEnv`.
    """

    def __init__(
        self,
        environments: Sequence[Asked],
        threads: Executor,
        seeds: Sequence[int],
        draws: Sequence[Tape | None] | None = None,
        state: bool = False,
        fixed: Mapping[str, Any] | None = None,
    ) -> None:
        share = math.ceil(len(seeds) / len(environments))
        self._parts = [slice(start, start + share) for start in range(0, len(seeds), share)]
        self._threads = threads

        def begin(environment: Asked, part: slice) -> VectorEnv:
            return VectorEnv(environment, seeds[part], None if draws is None else draws[part], state, fixed)

        self._vector = list(threads.map(begin, environments, self._parts))
        self.leaves: Leaves = _joined([vector.leaves for vector in self._vector])
        self.draws: Tape = tuple(timestep for vector in self._vector for timestep in vector.draws)

    @property
    def count(self) -> int:
        """How many sub-environments there are."""
        return sum(vector.count for vector in self._vector)

    @property
    def over(self) -> Array:
        """Which sub-environments' episodes are over, `[N]` bools."""
        return np.concatenate([vector.over for vector in self._vector])

    def advance(self, actions: Leaves, following: Sequence[int] | None = None) -> VectorStep:
        """As `VectorEnv.advance`."""

        def advance(vector: VectorEnv, part: slice) -> VectorStep:
            own = {path: array[part] for path, array in actions.items()}
            return vector.advance(own, None if following is None else following[part])

        steps = list(self._threads.map(advance, self._vector, self._parts))
        return VectorStep(
            _joined([step.leaves for step in steps]),
            np.concatenate([step.ended for step in steps]),
            _joined([step.final for step in steps if step.final]),
            tuple(timestep for step in steps for timestep in step.draws),
            tuple(timestep for step in steps for timestep in step.next_draws),
        )


def _joined(parts: Sequence[Leaves]) -> Leaves:
    return {path: np.concatenate([part[path] for part in parts]) for path in parts[0]} if parts else {}


def _checked(answer: Any, name: str, declared: Mapping[str, Leaf], where: str, count: int) -> Leaves:
    if not isinstance(answer, dict):
        raise BadAnswer("an answer without leaves", where=where)
    check_arrays(answer.get(name), declared, f"{where}, {name}", count)
    return answer[name]
