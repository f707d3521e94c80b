"""What a task is: the contract between a reference, its candidates and the verifier, as `task.toml` states it.

`harness.task.load` reads one from a directory; nothing in the harness changes one.
"""

from __future__ import annotations

import enum
import hashlib
import math
import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from harness.errors import TaskError
from harness.model import STATE, Leaf, is_reward
from harness.task.players import DEFAULT_EPISODES, Players
from harness.task.require import Requirement

TASK_FILE = "task.toml"
PROPERTIES_FILE = "properties.py"
INTERACTIONS_FILE = "interactions.py"
REFERENCE_DIRECTORY = "reference"
CASES_DIRECTORY = "cases"
CANDIDATE_DIRECTORY = "candidate"
PROPOSED_DIRECTORY = "proposed"
GUIDE_FILE = "AGENTS.md"
SURVIVORS_FILE = "survivors.toml"
"""Speaks of the task's own candidate (`harness.measure.strength.explanations`); no verdict depends on it, and no
session gets it."""
TRAINING_LEVEL = 4
"""The level that trains policies: it lasts for minutes, and only tasks that say how long to train have it."""
STANDARD_POLICIES = ("random", "sticky")
"""The policies that every reference plays. The worker, which imports nothing of ours, has them once more."""
COMPILED = "__pycache__"
CACHE_TAG = "CACHEDIR.TAG"
"""Lies in a directory of what can be made again, such as cargo's `target` (the Cache Directory Tagging Specification)."""
WRITABLE = (CANDIDATE_DIRECTORY, PROPOSED_DIRECTORY)
"""The directories of a workspace that an agent may write; everything else is trusted."""
LAW_EPISODES = 20
"""Episodes on each side without which a comparison of their laws could not find anything (mode `law`)."""


class Mode(enum.StrEnum):
    """How chance is made comparable (docs/levels.md)."""

    TAPE = "tape"
    SHARED = "shared"
    LAW = "law"
    NONE = "none"


@dataclass(frozen=True)
class Tolerance:
    """How far a float may be from its reference: `|a - e| <= atol + rtol * |e|`, or at most `ulp` floats of its dtype away.

    All zero means bitwise equal. `scale` is a share of the largest |value| that the reference gives its leaf. It forgives
    nothing by itself: a verification measures that value and adds its share to `atol` (`harness.verify.scale`).
    """

    atol: float = 0.0
    rtol: float = 0.0
    ulp: int = 0
    scale: float = 0.0

    @property
    def exact(self) -> bool:
        """Whether nothing but equality will do."""
        return self == Tolerance()

    def __str__(self) -> str:
        """What is forgiven: `1e-12 + 1e-09 |expected|, or 4 ulp`; `nothing` where it is exact."""
        formula = f"{self.atol:g} + {self.rtol:g} |expected|" if self.rtol else f"{self.atol:g}" if self.atol else ""
        formula = " + ".join(filter(None, [formula, f"{self.scale:g} of the largest" if self.scale else ""]))
        return ", or ".join(filter(None, [formula, f"{self.ulp} ulp" if self.ulp else ""])) or "nothing"


@dataclass(frozen=True)
class Law:
    """The exact distribution of a draw, element by element independent.

    `kind` is `uniform` (low <= value < high, floats), `integers` (low <= value <= high), `categorical` (value k with
    probability `probabilities[k]`) or `normal` (mean, std). None of these: the reference's own draws are the law.
    """

    kind: str
    low: float = 0.0
    high: float = 1.0
    mean: float = 0.0
    std: float = 1.0
    probabilities: tuple[float, ...] = ()


@dataclass(frozen=True)
class TaskDraw:
    """A named chance event of the task: dtype, shape, where it occurs, how often at most in one timestep, and its law."""

    name: str
    dtype: str
    shape: tuple[int, ...] = ()
    at: str = "both"
    capacity: int = 1
    law: Law | None = None

    def occurs_at(self, moment: str) -> bool:
        """Whether the draw can occur at `reset` or at `step`."""
        return self.at in ("both", moment)


@dataclass(frozen=True)
class TaskProbe:
    """A probe of a module: named inputs and outputs. An input named like a state leaf or `action` is that leaf.

    `examples` stands in place of the budget's, for a probe in which many rules hide behind one input; None takes that.
    """

    name: str
    inputs: Mapping[str, Leaf]
    outputs: Mapping[str, Leaf]
    examples: int | None = None


@dataclass(frozen=True)
class Module:
    """A part of the reference that is translated as one: its probes, the leaves it writes, where its source is."""

    name: str
    summary: str = ""
    probes: tuple[str, ...] = ()
    leaves: tuple[str, ...] = ()
    source: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reference:
    """How to run the reference, in an environment of its own.

    Attributes:
        adapter: `reference/adapter.py:Class`, served by `harness/protocol/worker.py`; None when `command` is given.
        command: a program that speaks the protocol itself, run in the task directory.
        python: version specifier of the interpreter (`>=3.8,<3.12`); None takes the one that runs the harness.
        requirements: what pip installs into its environment, pinned.
        npm: the `package.json` in `reference/` of its packages, with a lock file beside it, or None.
        build: a script in `reference/` that finishes its environment after pip, or None.
        environment: variables for the worker; `{prefix}` stands for the root of its environment, `{task}` for the
            task directory.
        options: arguments for the adapter's constructor.
        timeout_s: seconds that one call may take.
        workers: how many step in parallel at levels 3 and 4; 0 takes one for each processor.
    """

    adapter: str | None
    command: tuple[str, ...] = ()
    python: str | None = None
    requirements: tuple[str, ...] = ()
    npm: str | None = None
    build: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    timeout_s: float = 120.0
    workers: int = 0


@dataclass(frozen=True)
class Candidate:
    """What the candidate is: kind (`jax`, `rust`), entry file below the task directory, and how to run it.

    The entry of a crate is its `src/lib.rs`; `data` is a script of the reference's that writes files for it to include.

    `packages` are distributions, besides JAX and numpy, that it may import; `xla_flags` are added to XLA_FLAGS;
    `x64` switches JAX's 64-bit types on.

    `name` tells it from the others of its task; by default it is the kind. `precision` is the dtype in which it computes
    what the task has in float64. `tolerance` takes the place of what the task's own table says of these leaves.
    """

    kind: str
    entry: str
    data: str | None = None
    x64: bool = False
    packages: tuple[str, ...] = ()
    xla_flags: tuple[str, ...] = ()
    timeout_s: float = 120.0
    memory_mb: int = 4096
    name: str = ""
    precision: str = "float64"
    tolerance: Mapping[str, Tolerance] = field(default_factory=dict)

    @property
    def narrow(self) -> bool:
        """Whether it holds numbers of 64 bits in 32."""
        return self.kind == "jax" and not self.x64


@dataclass(frozen=True)
class Budgets:
    """How much each level does.

    Attributes:
        examples: level 1, inputs for each probe and states for each whole-step check.
        exhaustive: level 1, a probe with at most so many possible inputs is asked all of them.
        sequences, sequence_length: level 2, how many sequences and how long at most.
        episodes, horizon: level 3, whole episodes (over all policies) and steps at most in each, at level 4 too.
        policies: level 3, `random`, `sticky`, and names of scripted policies of the reference's adapter.
        samples: draws for each test of a distribution.
        exploration: level 3, steps of the exploration; None takes a quarter as many as the level's episodes took, and some
            at least; 0 none.
    """

    examples: int = 200
    exhaustive: int = 1 << 22
    sequences: int = 60
    sequence_length: int = 20
    episodes: int = 256
    horizon: int = 1000
    policies: tuple[str, ...] = STANDARD_POLICIES
    samples: int = 20_000
    exploration: int | None = None


@dataclass(frozen=True)
class Transfer:
    """Level 4: what is trained, how much, and how far mean returns may lie apart. Fixed before any run.

    Attributes:
        margin: the difference of mean returns that still counts as none, and `because`, the reason for it.
        steps: environment steps of each training in the candidate. Without it there is no level 4.
        reference_steps: of each training in the reference; by default `steps`.
        minimum_return: policies that earn less on average have learned too little to prove anything.
        seeds: how many trainings there are in each backend at each look; the last number is the budget.
        episodes: how many episodes each policy plays in each backend.
        draws: values of draws of resets, by name: these are the same in all episodes of the level.
        opponents: of several players, whom each policy meets: `random`, a scripted policy of the adapter's, or a file
            `reference/*.npz` with a policy. Seats and opponents take turns from episode to episode.
        ppo: hyper-parameters that differ from those of `harness.task.training.PpoConfig`.
    """

    margin: float
    because: str
    steps: int | None = None
    reference_steps: int | None = None
    minimum_return: float = -math.inf
    seeds: tuple[int, ...] = (6, 10, 16)
    episodes: int = DEFAULT_EPISODES
    draws: Mapping[str, int | float] = field(default_factory=dict)
    opponents: tuple[str, ...] = ("random",)
    ppo: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Peer:
    """A fast implementation to measure beside (docs/profiling.md).

    Attributes:
        name: what to call it.
        requirements: what pip installs into an environment of its own; without any it lives in the reference's.
        adapter: `peers/file.py:Class`, served by `harness/protocol/worker.py`.
        python: version specifier of its interpreter; None takes the one that runs the harness.
    """

    name: str
    requirements: tuple[str, ...]
    adapter: str
    python: str | None = None


@dataclass(frozen=True)
class Limits:
    """When a session stops and asks for a person: iterations and seconds for each module, money for the session."""

    iterations: int = 50
    seconds: float = 6 * 3600.0
    dollars: float = 20.0


@dataclass(frozen=True)
class Task:
    """A whole task. Leaves are keyed by path; `tolerances` names only leaves that are not exact, for this candidate.

    `candidate` is the one that is spoken of; `others` are the others, for `with_candidate`, and `common` are the tolerances
    for all of them.
    """

    name: str
    summary: str
    workflow: str
    directory: Path
    reference: Reference
    candidate: Candidate
    leaves: Mapping[str, Leaf]
    modules: tuple[Module, ...]
    probes: Mapping[str, TaskProbe] = field(default_factory=dict)
    mode: Mode = Mode.NONE
    draws: Mapping[str, TaskDraw] = field(default_factory=dict)
    tolerances: Mapping[str, Tolerance] = field(default_factory=dict)
    budgets: Budgets = Budgets()
    transfer: Transfer | None = None
    batch_sizes: tuple[int, ...] = (32, 128, 512, 2048, 8192)
    peers: tuple[Peer, ...] = ()
    limits: Limits = Limits()
    required: tuple[Requirement, ...] = ()
    others: tuple[Candidate, ...] = ()
    chosen: str = ""
    players: Players | None = None
    common: Mapping[str, Tolerance] = field(default_factory=dict)

    @property
    def player_names(self) -> tuple[str, ...]:
        """Of several players the names; none where one agent plays."""
        return self.players.names if self.players else ()

    def with_candidate(self, name: str) -> Task:
        """The same task for its candidate of a name.

        Raises:
            TaskError: it has none.
        """
        if name == self.candidate.name:
            return self
        found = next((other for other in self.others if other.name == name), None)
        if found is None:
            there = ", ".join(one.name for one in (self.candidate, *self.others))
            raise TaskError(
                f"the task {self.name} has no candidate {name!r}",
                where=str(self.directory / TASK_FILE),
                next_step=f"choose one of those that it has ({there}), or add one to `candidate.also`",
            )
        others = (self.candidate, *(other for other in self.others if other is not found))
        tolerances = {**self.common, **found.tolerance}
        return replace(self, candidate=found, others=others, chosen=name, tolerances=tolerances)

    @property
    def actions(self) -> dict[str, Leaf]:
        """The action leaves."""
        return {path: leaf for path, leaf in self.leaves.items() if path == "action" or path.startswith("action/")}

    @property
    def outputs(self) -> dict[str, Leaf]:
        """Every leaf of a trajectory: outputs and state, without actions."""
        return {path: leaf for path, leaf in self.leaves.items() if path not in self.actions}

    @property
    def rewards(self) -> dict[str, Leaf]:
        """The leaves of what a step earns: one, or one for each player."""
        return {path: leaf for path, leaf in self.leaves.items() if is_reward(path)}

    @property
    def masked(self) -> bool:
        """Whether a mask says which actions are legal."""
        return any(path.split("/")[0] == "legal_actions" for path in self.leaves)

    @property
    def timestep_bytes(self) -> int:
        """Bytes of one timestep of a trajectory."""
        return sum(np.dtype(leaf.dtype).itemsize * math.prod(leaf.shape) for leaf in self.outputs.values())

    @property
    def episode_bytes(self) -> int:
        """Bytes of the longest episode that levels 3 and 4 play."""
        return (self.budgets.horizon + 1) * self.timestep_bytes

    @property
    def state(self) -> dict[str, Leaf]:
        """The canonical state's leaves, with their prefix."""
        return {path: leaf for path, leaf in self.leaves.items() if path.startswith(STATE)}

    @property
    def levels(self) -> tuple[int, ...]:
        """The levels of verification that this task has: level 4 only where it says how long to train."""
        return (1, 2, 3) if self.transfer is None or self.transfer.steps is None else (1, 2, 3, 4)

    def tolerance(self, path: str) -> Tolerance:
        """The tolerance of a leaf; exact where the task states none."""
        return self.tolerances.get(path, Tolerance())

    def module_of(self, path: str) -> Module | None:
        """The module that says it writes this leaf."""
        return next((module for module in self.modules if path in module.leaves), None)

    def probes_up_to(self, module: str) -> set[str]:
        """The probes that can be asked while the modules after this one are not written: all but theirs."""
        names = [one.name for one in self.modules]
        later = self.modules[names.index(module) + 1 :]
        return self.probes.keys() - {probe for one in later for probe in one.probes}

    def asking(self, probes: Collection[str]) -> Task:
        """The task with these of its probes alone."""
        return replace(
            self,
            probes={name: probe for name, probe in self.probes.items() if name in probes},
            modules=tuple(replace(one, probes=tuple(p for p in one.probes if p in probes)) for one in self.modules),
        )

    @property
    def digest(self) -> str:
        """SHA-256 over names and contents of every trusted file, except `cases/`, which only ever grows; and over the name
        of the candidate where that is not the one that the task file has first.
        """
        sha = hashlib.sha256(f"candidate\0{self.chosen}\n".encode() if self.chosen else b"")
        for path in trusted_files(self.directory):
            if path.startswith(f"{CASES_DIRECTORY}/"):
                continue
            content = hashlib.sha256((self.directory / path).read_bytes()).hexdigest()
            sha.update(f"{path}\0{content}\n".encode())
        return sha.hexdigest()


def trusted_files(directory: Path) -> tuple[str, ...]:
    """All files of a task or workspace, relative and sorted, that the agent may not write."""
    return tuple(
        sorted(
            relative
            for path in directory.rglob("*")
            if path.is_file()
            and not (relative := path.relative_to(directory).as_posix()).startswith(tuple(f"{d}/" for d in WRITABLE))
            and "__pycache__" not in path.parts
            and not left_out(relative.split("/", 1)[0])
        )
    )


def directory_digest(directory: Path) -> str:
    """SHA-256 over the names and contents of a directory's files, but for what Python has compiled of them."""
    return files_digest(directory, (path for path in sorted(directory.rglob("*")) if COMPILED not in path.parts))


def files_digest(root: Path, paths: Iterable[Path]) -> str:
    """SHA-256 over names below `root` and contents of those of `paths` that are files, in their order."""
    sha = hashlib.sha256()
    for path in paths:
        if path.is_file():
            content = hashlib.sha256(path.read_bytes()).hexdigest()
            sha.update(f"{path.relative_to(root).as_posix()}\0{content}\n".encode())
    return sha.hexdigest()


def caches(directory: str | os.PathLike[str], names: list[str]) -> set[str]:
    """For `shutil.copytree`: the entries of a directory that compilers have left there."""
    return {name for name in names if name == COMPILED or (Path(directory) / name / CACHE_TAG).is_file()}


def left_out(name: str) -> bool:
    """Whether an entry at the top of a task or workspace is no part of it: hidden ones, the guide for agents, and what is
    said of the task's own candidate."""
    return name.startswith(".") or name in (GUIDE_FILE, SURVIVORS_FILE)
