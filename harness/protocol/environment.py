"""The environment protocol from the harness's side: one client for references and candidates alike.

Whatever a worker answers is checked here against what it declared, so that the rest of the harness may trust shapes,
dtypes and counts. docs/protocol.md is the specification; `harness.protocol.worker` is the other side in Python.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from harness.errors import BadAnswer
from harness.model import ENDINGS, STATE, Array, Case, Draw, Leaf, Leaves, Tape, Trajectory
from harness.protocol.channel import Channel
from harness.protocol.columns import COLUMNS, packed, unpacked
from harness.protocol.spec import DrawSpec, ProbeSpec, Spec, check_arrays, is_action, parse_spec, tape_to_wire
from harness.protocol.vector import PooledVectorEnv, VectorEnv
from harness.protocol.worker import MAX_SIDE, is_picture

__all__ = ["DrawSpec", "Environment", "Pool", "ProbeSpec", "Spec", "is_action", "parse_spec", "tape_to_wire"]

T = TypeVar("T")
Answer = TypeVar("Answer")

PART_BYTES = 256 << 20
"""More than this is not asked for at once: an answer has to fit into one frame, and into memory twice."""
PART_SECONDS = 2.0
"""How long one request to a pool's worker should take: long against its overhead, short against its time limit."""
FIRST_PART = 4

Listener = Callable[["Environment", str, Mapping[str, Any]], None]
"""Called with every question before it is asked: the environment, the call, and its arguments as they go over the wire."""


class Environment:
    """A reference or a candidate behind a channel.

    Args:
        channel: the worker process.
        options: what to open it with: arguments of its adapter.

    Attributes:
        listener: called with what is asked, so that it can be asked again elsewhere; None where nobody wants to know.

    Raises:
        EnvironmentFailure: from any method, when the worker crashes, is late, raises, or breaks the protocol.
    """

    def __init__(self, channel: Channel, options: Mapping[str, Any] | None = None) -> None:
        self._channel = channel
        self.listener: Listener | None = None
        try:
            self.spec = parse_spec(channel.ask("open", options=dict(options or {})))
        except BaseException:
            channel.kill()
            raise
        leaves = self.spec.leaves.values()
        self._timestep_bytes = sum(np.dtype(leaf.dtype).itemsize * math.prod(leaf.shape) for leaf in leaves)

    def reset(self, seed: int) -> Trajectory:
        """The reset timestep for a seed, as a trajectory without steps."""
        return self.rollout([Case(seed, self.no_actions())])[0]

    def restore(self, state: Leaves) -> Leaves:
        """Put the environment into a canonical state; returns the state that it then reports."""
        leaves = self._timestep("restore", state=dict(state))["leaves"]
        return {path: array[0] for path, array in leaves.items() if path.startswith(STATE)}

    def rollout(
        self, cases: Sequence[Case], mode: str | None = None, room: tuple[int, int] | None = None
    ) -> list[Trajectory]:
        """Play whole cases.

        Args:
            mode: chooses a candidate's path (`single`, `batched`, `scanned`).
            room: the cases, and steps in each, that a candidate should be ready for: calls with the same room compile once.
        """
        extra: dict[str, Any] = {} if mode is None else {"mode": mode}
        if room is not None:
            extra["room"] = list(room)
        played: list[Trajectory] = []
        for part in self._parts(cases, [case.length for case in cases]):
            answers = self._episodes("rollout", "cases", part, {}, **extra)
            played += [self._trajectory(case, answer, "rollout") for case, answer in zip(part, answers, strict=True)]
        return played

    def render(self) -> Array:
        """A picture of the state that a `reset`, `step` or `restore` has led to, uint8 `[height, width, 3]`.

        Only where the spec has the capability `render`; the worker refuses otherwise.
        """
        answer = self._channel.ask("render")
        frame = answer.get("frame") if isinstance(answer, dict) else None
        if not isinstance(frame, np.ndarray) or frame.dtype != np.uint8 or not is_picture(frame.shape):
            found = f"{frame.dtype} {list(frame.shape)}" if isinstance(frame, np.ndarray) else "no array `frame`"
            expected = f"uint8 [height, width, 3], at most {MAX_SIDE} by {MAX_SIDE}"
            raise BadAnswer(f"its picture is {found}", where="render", expected=expected)
        return frame

    def walk(self, case: Case) -> Trajectory:
        """Play a case by single calls of `reset` or `restore`, and `step`: slow, and another path than `rollout`."""
        timesteps = list(self.timesteps(case))
        leaves = {
            path: np.concatenate([timestep["leaves"][path] for timestep in timesteps]) for path in self.spec.outputs
        }
        return self._trajectory(
            case, {"leaves": leaves, "draws": [timestep["draws"][0] for timestep in timesteps]}, "step"
        )

    def timesteps(self, case: Case) -> Iterator[dict[str, Any]]:
        """The timesteps of `walk`, each as soon as it is reached, so that something may be asked in between.

        Yields: `leaves`, each of shape `[1, *leaf shape]`, and `draws`, a tape of one timestep.
        """
        tape = None if case.draws is None else tape_to_wire(case.draws)

        def forced(timestep: int) -> dict[str, Any]:
            return {} if tape is None else {"draws": tape[timestep] if timestep < len(tape) else []}

        if case.start is None:
            yield self._timestep("reset", seed=case.seed, **forced(0))
        else:
            yield self._timestep("restore", state=dict(case.start))
        for index in range(case.length):
            action = {path: array[index] for path, array in case.actions.items()}
            timestep = self._timestep("step", action=action, **forced(index + 1))
            yield timestep
            if any(timestep["leaves"][path][0] for path in ENDINGS):
                return

    def drive(self, policy: str, seeds: Sequence[int], horizon: int, stickiness: float = 0.25) -> list[Trajectory]:
        """Play one episode of at most `horizon` steps for each seed under a policy; cases carry the actions taken."""
        none = self.no_actions()
        return self._drive(policy, [(int(seed), Case(int(seed), none)) for seed in seeds], horizon, stickiness)

    def drive_after(
        self, begun: Sequence[tuple[int, Case]], policy: str, horizon: int, stickiness: float = 0.25
    ) -> list[Trajectory]:
        """Go each case, and on from there for at most `horizon` steps under a policy, whose choices come from the seed that
        stands beside it; only where the spec has the capability `after`. A case that has ended is not gone on from.
        """
        return self._drive(policy, begun, horizon, stickiness, after=True)

    def _drive(
        self, policy: str, begun: Sequence[tuple[int, Case]], horizon: int, stickiness: float, *, after: bool = False
    ) -> list[Trajectory]:
        driven: list[Trajectory] = []
        for part in self._parts(begun, [case.length + horizon for _, case in begun]):
            cases = [case for _, case in part] if after else []
            asked = {
                "policy": policy,
                "seeds": [seed for seed, _ in part],
                "horizon": horizon,
                "stickiness": stickiness,
            }
            answers = self._episodes("drive", "after" if after else "", cases, self.spec.actions, **asked)
            for (_, case), answer in zip(part, answers, strict=True):
                actions = answer.get("actions") if isinstance(answer, dict) else None
                taken = check_arrays(actions, self.spec.actions, "drive, actions")
                gone = replace(case, actions=actions or {}, origin=case.origin if after else f"rollout/{policy}")
                driven.append(self._trajectory(gone, answer, "drive"))
                steps, most = driven[-1].steps, case.length + horizon
                if steps != taken or steps > most or (steps < most and not _ended(driven[-1].leaves)[-1]):
                    what = f"{steps} steps and {taken} actions where {most} steps were asked for"
                    raise BadAnswer(what, where="drive", expected="an action for each step, and steps to the end")
                before = min(case.length, steps)
                if before and any(
                    not np.array_equal(gone.actions[p][:before], a[:before]) for p, a in case.actions.items()
                ):
                    raise BadAnswer("other actions than those of the case", where="drive", expected="the case first")
        return driven

    def choose(self, policy: str, leaves: Leaves, seeds: Sequence[int]) -> dict[str, Array]:
        """What a scripted policy chooses in timesteps, leaves `[N, ...]` with the state, given a seed of 32 bits for each;
        only where the spec has the capability `choose`.
        """
        shown = {path: leaves[path] for path in self.spec.outputs}
        answer = self.ask("choose", policy=policy, leaves=shown, seeds=[int(seed) for seed in seeds])
        actions = answer.get("actions") if isinstance(answer, dict) else None
        check_arrays(actions, self.spec.actions, "choose", len(seeds))
        return dict(actions or {})

    def vector(
        self,
        seeds: Sequence[int],
        *,
        draws: Sequence[Tape | None] | None = None,
        state: bool = False,
        fixed: Mapping[str, Any] | None = None,
    ) -> VectorEnv:
        """Begin one episode for each seed, to be stepped together; see `harness.protocol.vector`.

        Args:
            draws: tapes for the episodes to take their draws from, as far as these reach.
            state: whether the canonical state is reported too.
            fixed: values of draws, by name, that every reset without a tape takes instead of its own.
        """
        return VectorEnv(self, seeds, draws, state, fixed)

    def probe(self, name: str, inputs: Leaves) -> dict[str, Array]:
        """Outputs of a probe for stacked inputs, each leaf of shape `[N, *leaf shape]`."""
        count = len(next(iter(inputs.values())))
        answer = self.ask("probe", name=name, inputs=dict(inputs))
        if name not in self.spec.probes:
            raise BadAnswer(f"it answered for the probe {name}, which its spec does not declare", where="probe")
        check_arrays(answer, self.spec.probes[name].outputs, f"probe {name}", count)
        return answer

    def ask(self, call: str, **arguments: Any) -> Any:
        """Any call of the protocol, answered as it comes from the wire."""
        if self.listener is not None:
            self.listener(self, call, arguments)
        return self._channel.ask(call, **arguments)

    def _episodes(
        self, call: str, name: str, cases: Sequence[Case], actions: Mapping[str, Leaf], **arguments: Any
    ) -> list[Any]:
        """What the worker answers to cases, in columns if it can; a listener hears of them one by one.

        Args:
            name: of the argument that the cases are, or empty where there are none.
            actions: the action leaves, where the worker chooses them.
        """
        columns = packed(cases) if COLUMNS in self.spec.capabilities else None
        asked: dict[str, Any] = dict(arguments)
        if name and (columns is None or self.listener is not None):
            asked[name] = [_case_to_wire(case) for case in cases]
        if self.listener is not None:
            self.listener(self, call, asked)
        if columns is None:
            answers = self._channel.ask(call, **asked)
        else:
            asked = arguments | {COLUMNS: True} | ({name: columns} if name else {})
            answers = list(unpacked(self._channel.ask(call, **asked), self.spec.outputs, actions, call))
        count = len(cases) if name else len(arguments["seeds"])
        if not isinstance(answers, list) or len(answers) != count:
            what = f"{count} episodes were asked for, the answer does not hold as many"
            raise BadAnswer(what, where=call)
        return answers

    def no_actions(self) -> dict[str, Array]:
        """Action leaves of length zero."""
        return {path: leaf.zeros(0) for path, leaf in self.spec.actions.items()}

    @property
    def alive(self) -> bool:
        """Whether the worker still runs."""
        return self._channel.alive

    def kill(self) -> None:
        """End the worker at once, also while another thread waits for its answer."""
        self._channel.kill()

    def close(self) -> None:
        """End the worker."""
        self._channel.close()

    def _parts(self, items: Sequence[T], lengths: Sequence[int]) -> Iterator[Sequence[T]]:
        """The items in parts that are small enough to be answered in one frame."""
        start, size = 0, 0
        for index, length in enumerate(lengths):
            weight = (length + 1) * self._timestep_bytes
            if index > start and size + weight > PART_BYTES:
                yield items[start:index]
                start, size = index, 0
            size += weight
        if start < len(items):
            yield items[start:]

    def _timestep(self, call: str, **arguments: Any) -> dict[str, Any]:
        """The answer to `reset`, `step` or `restore`: one timestep of leaves, and its draws."""
        answer = self.ask(call, **arguments)
        if not isinstance(answer, dict):
            raise BadAnswer("an answer without leaves", where=call)
        check_arrays(answer.get("leaves"), self.spec.outputs, call, 1)
        return {"leaves": answer["leaves"], "draws": self.tape(answer.get("draws", []), 1, call)}

    def _trajectory(self, case: Case, answer: Any, where: str) -> Trajectory:
        """The answer as a trajectory, refused unless its timesteps are those of one episode of this case."""
        if not isinstance(answer, dict):
            raise BadAnswer("an answer without leaves", where=where)
        leaves = answer.get("leaves")
        timesteps = check_arrays(leaves, self.spec.outputs, where)
        assert leaves is not None
        if not 1 <= timesteps <= case.length + 1:
            raise BadAnswer(
                f"{timesteps} timesteps for {case.length} actions",
                where=where,
                expected="one timestep for the reset and one for each step taken",
            )
        ended = _ended(leaves)
        if ended[1:-1].any():
            after = 1 + int(ended[1:].argmax())
            raise BadAnswer(f"it went on after the end of the episode in timestep {after}", where=where)
        if timesteps <= case.length and not ended[1:].any():
            raise BadAnswer(f"it stopped after {timesteps - 1} of {case.length} actions without an end", where=where)
        if "draws" not in self.spec.capabilities:
            return Trajectory(case, leaves)
        return Trajectory(case, leaves, self.tape(answer.get("draws", []), timesteps, where))

    def tape(self, described: Any, timesteps: int, where: str) -> Tape:
        """The draws of an answer timestep by timestep, checked; timesteps at the end that it leaves out had none."""
        try:
            tape = tuple(tuple(self._draw(draw, where) for draw in timestep) for timestep in described)
        except (TypeError, ValueError, RecursionError):
            raise BadAnswer("its draws are not a list of timesteps of arrays", where=where) from None
        if len(tape) > timesteps:
            raise BadAnswer(f"draws for {len(tape)} timesteps, leaves for {timesteps}", where=where)
        return tape + ((),) * (timesteps - len(tape))

    def _draw(self, described: Any, where: str) -> Draw:
        if isinstance(described, Draw):
            return described
        if not isinstance(described, list) or len(described) != 2 or described[0] not in self.spec.draws:
            raise BadAnswer(f"its draw {described!r:.200} is not a pair of a declared name and a value", where=where)
        name, value = described[0], np.asarray(described[1])
        declared = self.spec.draws[name]
        check_arrays({name: value[None]}, {name: Leaf(name, declared.dtype, declared.shape)}, where, 1)
        return Draw(name, value)


class Pool:
    """Several workers of the same environment, stepped in parallel.

    They take the work from one heap in small parts, so that a slow episode holds up only its own worker, and no single
    request comes near the time limit. Where one fails, the others finish the part that they are at, and the call raises.
    """

    def __init__(self, environments: Sequence[Environment]) -> None:
        self.environments = tuple(environments)
        self._threads = ThreadPoolExecutor(len(self.environments), thread_name_prefix="lockstep-reference")

    @property
    def spec(self) -> Spec:
        """The spec, the same for each."""
        return self.environments[0].spec

    @property
    def first(self) -> Environment:
        """One of them, for what needs no parallel work."""
        return self.environments[0]

    def rollout(self, cases: Sequence[Case]) -> list[Trajectory]:
        """`Environment.rollout`, spread over the workers; answers in the order of the cases."""
        return self._spread(cases, lambda environment, part: environment.rollout(part))

    def drive(self, policy: str, seeds: Sequence[int], horizon: int, stickiness: float = 0.25) -> list[Trajectory]:
        """`Environment.drive`, spread over the workers; answers in the order of the seeds."""
        return self._spread(seeds, lambda environment, part: environment.drive(policy, part, horizon, stickiness))

    def drive_after(
        self, begun: Sequence[tuple[int, Case]], policy: str, horizon: int, stickiness: float = 0.25
    ) -> list[Trajectory]:
        """`Environment.drive_after`, spread over the workers; answers in the order of the cases."""
        return self._spread(begun, lambda environment, part: environment.drive_after(part, policy, horizon, stickiness))

    def each(self, items: Sequence[T], ask: Callable[[Environment, T], Answer]) -> list[Answer]:
        """What is answered to each item by itself, spread over the workers; answers in the order of the items."""
        return self._spread(items, lambda environment, part: [ask(environment, item) for item in part])

    def vector(
        self,
        seeds: Sequence[int],
        *,
        draws: Sequence[Tape | None] | None = None,
        state: bool = False,
        fixed: Mapping[str, Any] | None = None,
    ) -> PooledVectorEnv:
        """`Environment.vector`, shared out among the workers, which step at the same time."""
        return PooledVectorEnv(self.environments, self._threads, seeds, draws, state, fixed)

    def close(self) -> None:
        """End all workers."""
        for environment in self.environments:
            environment.close()
        self._threads.shutdown()

    def _spread(self, items: Sequence[T], work: Callable[[Environment, Sequence[T]], list[Answer]]) -> list[Answer]:
        heap = _Heap(len(items), len(self.environments))
        done: dict[int, list[Answer]] = {}

        def serve(environment: Environment) -> None:
            size = FIRST_PART
            while (part := heap.take(size)) is not None:
                began = time.monotonic()
                try:
                    done[part.start] = work(environment, items[part])
                except BaseException:
                    heap.stop()
                    raise
                pace = PART_SECONDS / max(time.monotonic() - began, 1e-6)
                size = max(1, int(min(4.0, pace) * (part.stop - part.start)))

        futures: list[Future[None]] = [
            self._threads.submit(serve, environment) for environment in self.environments[: len(items)]
        ]
        try:
            wait(futures)
        except BaseException:
            # An interrupt: the threads would go on asking, and the next call would find their answers.
            heap.stop()
            for environment in self.environments:
                environment.kill()
            raise
        for future in futures:
            future.result()
        return [answer for start in sorted(done) for answer in done[start]]


class _Heap:
    """Indices to be worked through, taken in parts by several threads; the parts get smaller towards the end."""

    def __init__(self, count: int, takers: int) -> None:
        self._next, self._count, self._takers = 0, count, takers
        self._turn = threading.Lock()

    def take(self, size: int) -> slice | None:
        """At most `size` of what is left, or None when nothing is."""
        with self._turn:
            left = self._count - self._next
            if left <= 0:
                return None
            start = self._next
            self._next += min(size, math.ceil(left / self._takers))
            return slice(start, self._next)

    def stop(self) -> None:
        """Leave nothing to take."""
        with self._turn:
            self._next = self._count


def _case_to_wire(case: Case) -> dict[str, Any]:
    wire: dict[str, Any] = {"seed": int(case.seed), "actions": dict(case.actions)}
    if case.start is not None:
        wire["start"] = dict(case.start)
    if case.draws is not None:
        wire["draws"] = tape_to_wire(case.draws)
    return wire


def _ended(leaves: Leaves) -> Array:
    return leaves["terminated"] | leaves["truncated"]
