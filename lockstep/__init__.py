"""Lockstep proves that a fast environment is the slow one. This package is all of it that is public in Python.

    import lockstep
    print(lockstep.verify("cartpole", levels=(1, 2, 3)))

Three kinds of names:

- what can be asked: `load_task`, `verify`, `rollout`, `compare`, `train`, `profile`, and `Session` for recorded work;
- the nouns that those take and give, from `Task` to `Verdict`, and the errors, all of which are a `LockstepError`;
- what a task's files declare: `invariant`, `feature` and `generator` in properties.py, `sequence` in interactions.py.

A name is imported when it is first used: `import lockstep` alone loads neither NumPy nor JAX.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness import __version__ as __version__
    from harness.errors import EnvironmentFailure as EnvironmentFailure
    from harness.errors import LockstepError as LockstepError
    from harness.errors import RecordError as RecordError
    from harness.errors import SessionError as SessionError
    from harness.errors import SetupError as SetupError
    from harness.errors import TaskError as TaskError
    from harness.errors import TrainingError as TrainingError
    from harness.measure.profile.result import Profile as Profile
    from harness.model import Array as Array
    from harness.model import Case as Case
    from harness.model import Leaf as Leaf
    from harness.model import Leaves as Leaves
    from harness.model import Trajectory as Trajectory
    from harness.operations.library import compare as compare
    from harness.operations.library import load_task as load_task
    from harness.operations.library import profile as profile
    from harness.operations.library import rollout as rollout
    from harness.operations.library import train as train
    from harness.operations.library import verify as verify
    from harness.session.session import Session as Session
    from harness.task.contract import Task as Task
    from harness.task.suite import feature as feature
    from harness.task.suite import generator as generator
    from harness.task.suite import invariant as invariant
    from harness.task.suite import sequence as sequence
    from harness.training.trained import Trained as Trained
    from harness.verdict import CheckResult as CheckResult
    from harness.verdict import Divergence as Divergence
    from harness.verdict import LevelReport as LevelReport
    from harness.verdict import Outcome as Outcome
    from harness.verdict import Verdict as Verdict
    from harness.verify.side_by_side import SideBySide as SideBySide
    from harness.verify.strategies import leaf_values as leaf_values

_HOMES = {
    "harness": ("__version__",),
    "harness.errors": (
        "EnvironmentFailure",
        "LockstepError",
        "RecordError",
        "SessionError",
        "SetupError",
        "TaskError",
        "TrainingError",
    ),
    "harness.measure.profile.result": ("Profile",),
    "harness.model": ("Array", "Case", "Leaf", "Leaves", "Trajectory"),
    "harness.operations.library": ("compare", "load_task", "profile", "rollout", "train", "verify"),
    "harness.session.session": ("Session",),
    "harness.task.contract": ("Task",),
    "harness.task.suite": ("feature", "generator", "invariant", "sequence"),
    "harness.training.trained": ("Trained",),
    "harness.verdict": ("CheckResult", "Divergence", "LevelReport", "Outcome", "Verdict"),
    "harness.verify.side_by_side": ("SideBySide",),
    "harness.verify.strategies": ("leaf_values",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Array",
    "Case",
    "CheckResult",
    "Divergence",
    "EnvironmentFailure",
    "Leaf",
    "Leaves",
    "LevelReport",
    "LockstepError",
    "Outcome",
    "Profile",
    "RecordError",
    "Session",
    "SessionError",
    "SetupError",
    "SideBySide",
    "Task",
    "TaskError",
    "Trained",
    "TrainingError",
    "Trajectory",
    "Verdict",
    "__version__",
    "compare",
    "feature",
    "generator",
    "invariant",
    "leaf_values",
    "load_task",
    "profile",
    "rollout",
    "sequence",
    "train",
    "verify",
]


if not TYPE_CHECKING:  # with it, a type checker would take every name for one of ours

    def __getattr__(name: str) -> Any:
        if name not in _HOME:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = globals()[name] = getattr(import_module(_HOME[name]), name)
        return found


def __dir__() -> list[str]:
    return __all__
