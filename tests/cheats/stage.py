"""Where cheats are judged: a real candidate's tree for the task `walk`, a real verifier, a real sandbox.

A program becomes `candidate/env.py`; beside it lies the honest candidate as `candidate/honest.py`, from which it takes what
it does not change. Verifiers stay from one program to the next, so that reference and JAX are started once.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.task.load import load_task
from harness.verdict import Verdict
from harness.verify.request import LevelsRequest
from harness.verify.verifier import Verifier
from sandboxes import Driver
from tests.paths import WALK

HERE = Path(__file__).parent
SEED = 11
BUDGETS = (("timeout_s = 60", "timeout_s = 90\nmemory_mb = 1536"), ("samples = 4000", "samples = 1000"))
"""Little memory, so that a hoarder comes to its limit soon; few samples, which JAX compiles for."""
SHORT = ("timeout_s = 90", "timeout_s = 10")
"""For programs that never answer, which have to be waited for."""


def text_of(program: str, directory: str = "programs") -> str:
    """The source of a program, without its ending."""
    return (HERE / directory / f"{program}.py").read_text(encoding="utf-8")


def task_at(directory: Path, *, short: bool = False) -> Path:
    """A copy of the task at a directory that is made."""
    shutil.copytree(WALK, directory, ignore=shutil.ignore_patterns("__pycache__", "candidate"))
    file = directory / "task.toml"
    text = file.read_text()
    for old, new in (*BUDGETS, SHORT) if short else BUDGETS:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    file.write_text(text)
    return directory


def tree_at(directory: Path, source: str, files: Mapping[str, str]) -> Path:
    """A tree with the program `source` as its candidate, and further files by their path."""
    candidate = directory / "candidate"
    candidate.mkdir(parents=True)
    shutil.copy(WALK / "candidate" / "env.py", candidate / "honest.py")
    (candidate / "env.py").write_text(source, encoding="utf-8")
    for path, content in files.items():
        place = directory / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(content, encoding="utf-8")
    return directory


class Stage:
    """Judges trees in one driver's sandboxes.

    Args:
        driver: the kind of sandbox.
        directory: for what has to lie somewhere.
    """

    def __init__(self, driver: Driver, directory: Path) -> None:
        self.driver = driver
        self.directory = directory
        self._verifiers: dict[bool, Verifier] = {}

    def judge(
        self, tree: Path, levels: Sequence[int], *, module: str | None = None, seed: int = SEED, short: bool = False
    ) -> Verdict:
        """The verdict on a tree."""
        if short not in self._verifiers:
            task = load_task(task_at(self.directory / f"task-{'short' if short else 'long'}", short=short))
            self._verifiers[short] = Verifier(task, self.driver, prepare=not short)
        return self._verifiers[short].verify(tree, LevelsRequest(levels, seed, module))

    def close(self) -> None:
        """End all workers."""
        for verifier in self._verifiers.values():
            verifier.close()
