"""What a task's own code says, asked of a worker in a sandbox. The process that asks imports nothing of a task.

The worker sees the task, this interpreter with its packages, and Lockstep's own; no home, no key, no session and no network.
What it answers is checked: names, counts, dtypes, shapes. It can say something wrong of the task to which it belongs, and
of nothing else.
"""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgpack
import numpy as np

import harness
from harness.errors import BadAnswer, Raised, SetupError, TaskError
from harness.model import Array, Case, Trajectory
from harness.protocol.channel import MAX_MISTAKE, MAX_MISTAKES, Channel, plain
from harness.protocol.link import Pipes
from harness.protocol.spec import check_arrays
from harness.reference.install import WORKER_ENVIRONMENT
from harness.reference.sandbox import Installed, holds_what_is_private, open_sandbox
from harness.task.contract import INTERACTIONS_FILE, PROPERTIES_FILE, Task, TaskProbe
from harness.verify.suite.wire import trajectory_to_wire

NAME = "the task's own code"
SERVER = "harness.verify.suite.server:SuiteServer"
# As a script's own directory would, the task's directory came first on the path; it is replaced by where Lockstep lies.
START = "import sys; server, *sys.path[:1] = sys.argv[1:]; from harness.protocol.worker import main; main([server])"
PACKAGES = ("harness", "lockstep", "sandboxes")
"""Lockstep's own, which lie side by side."""
PART_BYTES = 64 << 20
"""Not more than this of trajectories goes into one message, unless one alone is larger."""
MOST_NAMES = 1000
MOST_NAME = 500
MOST_SHRUNK = 1_000_000
"""More examples than this no search needs to make what it found simpler."""
MOST_ACTIONS = 1 << 16


@dataclass(frozen=True)
class Judged:
    """What an invariant says of some trajectories.

    Attributes:
        first: for each trajectory the first timestep that breaks the invariant, -1 where it holds; up to the one on which
            the invariant raised.
        raised: what it raised.
    """

    first: tuple[int, ...]
    raised: str


@dataclass(frozen=True)
class Shown:
    """Where features show in some trajectories.

    Attributes:
        counts: for each feature, how many timesteps show it.
        first: `[features, trajectories]`, the first timestep that shows it, -1 where none does.
    """

    counts: Mapping[str, int]
    first: Array


class Suite:
    """All that a task adds to the generic checks, by name; a worker answers for it.

    Without arguments nothing is added, and no worker runs. `start_suite` starts one.

    Attributes:
        invariants: each with the module that it belongs to, None for the whole environment.
        features: what episodes should reach.
        generators: the probes whose inputs the task generates itself.
        sequences: what level 2 plays.
    """

    def __init__(
        self, task: Task | None = None, channel: Channel | None = None, end: Callable[[], None] | None = None
    ) -> None:
        self._task, self._channel, self._end = task, channel, end
        self._read: dict[str, set[str]] = {}  # by call, the leaves that its checks read so far
        self.invariants: tuple[tuple[str, str | None], ...] = ()
        self.features: tuple[str, ...] = ()
        self.generators: frozenset[str] = frozenset()
        self.sequences: tuple[str, ...] = ()

    def open(self) -> Suite:
        """Have the task's files imported, afresh; the attributes then say what they declare.

        Raises:
            TaskError: a file cannot be imported, or names a probe or a module that the task does not have.
            EnvironmentFailure: the worker is gone, or answers nonsense.
        """
        if self._task is None or self._channel is None:
            return self
        answer = self._channel.ask("open", options={"task": str(self._task.directory)})
        if isinstance(answer, dict) and isinstance(answer.get("mistake"), dict):
            raise _mistake(answer["mistake"])
        try:
            self.invariants = tuple((_name(name), module) for name, module in _some(answer["invariants"]))
            self.features, generators, self.sequences = (
                tuple(map(_name, _some(answer[kind]))) for kind in ("features", "generators", "sequences")
            )
            modules = {None, *(module.name for module in self._task.modules)}
            if {module for _, module in self.invariants} - modules or set(generators) - self._task.probes.keys():
                raise ValueError("it names a module or a probe that the task does not have")
        except (KeyError, TypeError, ValueError) as error:
            raise BadAnswer(f"it does not say what the task declares: {error}", where=f"{NAME}, call `open`") from error
        self.generators = frozenset(generators)
        return self

    def judge(self, trajectories: Sequence[Trajectory]) -> list[Judged]:
        """What each invariant says of trajectories."""
        return [
            Judged(tuple(first), raised)
            for first, raised in self._of_each("judge", len(self.invariants), trajectories, _first)
        ]

    def show(self, trajectories: Sequence[Trajectory]) -> Shown:
        """Where each feature shows.

        Raises:
            Raised: a feature raised; the error names it.
        """
        counts, first = {}, []
        answers = self._of_each("show", len(self.features), trajectories, _count_and_first)
        for name, (numbers, raised) in zip(self.features, answers, strict=True):
            if raised:
                raise Raised(f"the feature `{name}` raised {raised}", where=NAME, next_step=f"mend {PROPERTIES_FILE}")
            counts[name] = counts.get(name, 0) + sum(numbers[::2])
            first.append(numbers[1::2])
        return Shown(counts, np.array(first, np.int64).reshape(len(self.features), len(trajectories)))

    def search_inputs(
        self, probe: TaskProbe, fails: Callable[[dict[str, Array]], bool], *, seed: int, examples: int, shrink: bool
    ) -> tuple[dict[str, Array] | None, int]:
        """`harness.verify.strategies.simplest_failure` over what the task's generator makes: inputs of a probe, stacked
        `[1, *leaf shape]`.
        """
        where = f"the generator of probe {probe.name}"

        def read(example: Any) -> dict[str, Array]:
            check_arrays(example, probe.inputs, where, 1)
            return example

        return self._search("inputs", probe.name, where, read, fails, seed=seed, examples=examples, shrink=shrink)

    def search_cases(
        self, sequence: str, fails: Callable[[Case], bool], *, seed: int, examples: int, shrink: bool
    ) -> tuple[Case | None, int]:
        """`harness.verify.strategies.simplest_failure` over the cases that a sequence of the task makes."""
        where = f"the sequence `{sequence}`"
        task = self._task
        assert task is not None

        def read(example: Any) -> Case:
            if not isinstance(example, dict) or type(seed := example.get("seed")) is not int or not 0 <= seed < 1 << 63:
                raise BadAnswer("it made something that is no case", where=where)
            if check_arrays(example.get("actions"), task.actions, where) > MOST_ACTIONS:
                raise BadAnswer("it made too many actions", where=where, expected=f"at most {MOST_ACTIONS}")
            start = example.get("start")
            if start is not None:
                leaves = (
                    {path: np.asarray(value)[None] for path, value in start.items()}
                    if isinstance(start, dict)
                    else start
                )
                check_arrays(leaves, task.state, where, 1)
            return Case(seed, example["actions"], start, origin=sequence)

        return self._search("cases", sequence, where, read, fails, seed=seed, examples=examples, shrink=shrink)

    @property
    def alive(self) -> bool:
        """Whether it can be asked."""
        return self._channel is None or self._channel.alive

    def close(self) -> None:
        """End the worker."""
        if self._channel is not None:
            self._channel.kill()
        if self._end is not None:
            self._end()

    def _search(
        self,
        kind: str,
        name: str,
        where: str,
        read: Callable[[Any], Any],
        fails: Callable[[Any], bool],
        *,
        seed: int,
        examples: int,
        shrink: bool,
    ) -> tuple[Any | None, int]:
        simplest, judged = None, 0
        answer = self._ask(where, "search", kind=kind, name=name, seed=seed, examples=examples, shrink=shrink)
        while isinstance(answer, dict) and "example" in answer:
            example = read(answer["example"])
            judged += 1
            if judged > examples + MOST_SHRUNK:
                self.close()
                raise BadAnswer("its search does not end", where=where)
            failed = fails(example)
            if failed:
                simplest = example
            answer = self._ask(where, "searched", failed=failed)
        return simplest, judged

    def _ask(self, where: str, call: str, **arguments: Any) -> Any:
        assert self._channel is not None
        try:
            return self._channel.ask(call, **arguments)
        except Raised as error:
            raise Raised(error.what, where=where, next_step=error.next_step) from error

    def _answer(self, call: str, part: Sequence[Trajectory]) -> Any:
        """What its checks answer of trajectories, which are sent with the leaves that these checks read."""
        assert self._channel is not None
        read = self._read.setdefault(call, set())
        while True:
            answer = self._channel.ask(call, trajectories=[trajectory_to_wire(each, read) for each in part])
            if not isinstance(answer, dict):
                return answer
            wanted = answer.get("unsent")
            if not isinstance(wanted, str) or wanted in read or all(wanted not in each.leaves for each in part):
                raise BadAnswer(f"it asks for what is no further leaf: {wanted!r:.100}", where=f"{NAME}, call `{call}`")
            read.add(wanted)

    def _of_each(
        self, call: str, checks: int, trajectories: Sequence[Trajectory], most: Callable[[Trajectory], tuple[int, ...]]
    ) -> list[tuple[list[int], str]]:
        """For each check of a kind, the numbers for each trajectory, up to the one on which it raised; and what it raised.

        Args:
            most: the largest that the numbers for a trajectory may be.
        """
        said: list[tuple[list[int], str]] = [([], "") for _ in range(checks)]
        for part in _parts(trajectories) if checks else ():
            answer = self._answer(call, part)
            if not isinstance(answer, list) or len(answer) != checks:
                raise BadAnswer("it does not answer for each of its checks", where=f"{NAME}, call `{call}`")
            for number, each in enumerate(answer):
                numbers, raised = _numbers(each, [bound for one in part for bound in most(one)], call)
                if not said[number][1]:
                    said[number] = (said[number][0] + numbers, raised)
        return said


def start_suite(task: Task) -> Suite:
    """The worker of a task's own code; nothing runs where the task has none. `open` comes before all else.

    Raises:
        SetupError, SandboxUnavailable, EnvironmentFailure: it cannot be started.
    """
    if not any((task.directory / file).is_file() for file in (PROPERTIES_FILE, INTERACTIONS_FILE)):
        return Suite()
    here = Installed(Path(sys.prefix), Path(sys.executable))
    if holds_what_is_private(here.prefix):
        raise SetupError(
            "the Python environment of Lockstep holds your home, or Lockstep's, and cannot be shown to a task's code",
            where=str(here.prefix),
            next_step="set LOCKSTEP_HOME to a directory outside of it, or install Lockstep elsewhere",
        )
    import hypothesis  # only to know where it lies; a status needs none of it

    home = Path(harness.__path__[0]).parent
    libraries = [Path(str(package.__file__)).parents[1] for package in (np, msgpack, hypothesis)]
    found = {Path(sysconfig.get_path(name)) for name in ("purelib", "platlib")}
    paths = [place for place in dict.fromkeys([home, *libraries]) if place not in found]
    command = [str(here.python), "-c", START, SERVER, *map(str, paths)]
    shown = (*(home / package for package in PACKAGES), *(place for place in paths if place != home))
    sandbox = open_sandbox(task, here, command, WORKER_ENVIRONMENT, NAME, shown=shown)
    try:
        return Suite(task, Channel(Pipes(sandbox.spawn(command)), NAME, task.reference.timeout_s), sandbox.close)
    except BaseException:
        sandbox.close()
        raise


def _parts(trajectories: Sequence[Trajectory]) -> Iterator[list[Trajectory]]:
    part: list[Trajectory] = []
    size = 0
    for trajectory in trajectories:
        weight = bytes_of(trajectory)
        if part and size + weight > PART_BYTES:
            yield part
            part, size = [], 0
        part.append(trajectory)
        size += weight
    if part:
        yield part


def _first(trajectory: Trajectory) -> tuple[int]:
    return (trajectory.timesteps - 1,)


def _count_and_first(trajectory: Trajectory) -> tuple[int, int]:
    return trajectory.timesteps, *_first(trajectory)


def bytes_of(trajectory: Trajectory) -> int:
    """Bytes of what an environment answered."""
    return sum(array.nbytes for array in trajectory.leaves.values())


def _numbers(answer: Any, most: Sequence[int], call: str) -> tuple[list[int], str]:
    """What a check answered about trajectories: numbers, none above its own `most`."""
    numbers, raised = answer if isinstance(answer, list) and len(answer) == 2 else (None, None)
    if not isinstance(numbers, list) or not isinstance(raised, str) or len(numbers) > len(most):
        raise BadAnswer("its answer is no list of numbers and a text", where=f"{NAME}, call `{call}`")
    fits = all(type(number) is int and -1 <= number <= bound for number, bound in zip(numbers, most, strict=False))
    if not fits or (len(numbers) < len(most) and not raised):
        raise BadAnswer("it does not answer for each trajectory", where=f"{NAME}, call `{call}`")
    return numbers, plain(raised[:MAX_MISTAKE])


def _some(given: Any) -> list[Any]:
    if not isinstance(given, list) or len(given) > MOST_NAMES:
        raise ValueError(f"not a list of at most {MOST_NAMES} names")
    return given


def _name(given: Any) -> str:
    if not isinstance(given, str) or not 0 < len(given) <= MOST_NAME or plain(given) != given:
        raise ValueError(f"{given!r:.100} is not a name")
    return given


def _mistake(described: Mapping[str, Any]) -> TaskError:
    what, where, following, mistakes = (
        plain(str(described.get(key, ""))[: MAX_MISTAKE * MAX_MISTAKES])
        for key in ("what", "where", "next", "mistakes")
    )
    lines = tuple(line[:MAX_MISTAKE] for line in mistakes.splitlines()[:MAX_MISTAKES])
    return TaskError(what, mistakes=lines, where=where, next_step=following)
