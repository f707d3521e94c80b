"""Mutants that are the same program as the original: no test can tell them apart, and none should be blamed for it.

Python's own bytecode is asked first, then what JAX makes of each function (StableHLO), then what XLA makes of that. The last
two answers come from a candidate's sandbox: whoever wrote a hostile candidate could have it call its own mutants equivalent.
That is why every rate is also given without such exclusions, and each of them is listed.
"""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any
from uuid import uuid4

from harness.candidate.crates.build import build
from harness.candidate.start import CandidateWorker
from harness.errors import BadAnswer, EnvironmentFailure
from harness.measure.strength.statuses import COMPILED, LOWERED, OPTIMISED
from harness.protocol.environment import Environment
from harness.task.contract import Task
from sandboxes import Driver


class Programs:
    """The original's programs, asked once, and the question whether a mutant's are the same. A crate's is its module."""

    def __init__(self, task: Task, driver: Driver, tree: Path) -> None:
        self._task, self._driver, self._tree = task, driver, tree
        self._lock = threading.Lock()
        self._worker: CandidateWorker | None = None
        self._original: Environment | None = None
        self._known: dict[str, dict[str, str]] = {}

    def proof(self, tree: Path) -> dict[str, Any]:
        """Compare a mutant's programs with the original's.

        Returns:
            `proof`: the form in which all are equal (`lowered` or `optimised`), or "" where nothing is proved; `differ`: the
            functions that are not equal; `seconds`: what asking took.
        """
        began = time.monotonic()
        if self._task.candidate.kind == "rust":
            same = self._module(tree) == self._module(self._tree)
            return {
                "proof": COMPILED if same else "", "differ": [] if same else ["the module"],
                "seconds": time.monotonic() - began,
            }  # fmt: skip
        worker = CandidateWorker(self._task, self._driver)
        form, differ = "", []
        try:
            mutant = worker.open(tree)
            for form in (LOWERED, OPTIMISED):
                names = differ or None
                wanted, given = self._of_original(form, names), _ask(mutant, form, names)
                differ = sorted(name for name in wanted if given.get(name) != wanted[name])
                if not differ:
                    break
        except EnvironmentFailure as failure:
            differ = [failure.what.split("\n", 1)[0]]  # what cannot be asked is not proved
        finally:
            worker.close()
        return {"proof": "" if differ else form, "differ": differ, "seconds": time.monotonic() - began}

    def _module(self, tree: Path) -> bytes:
        """What a crate is compiled to; something unlike every module where it is not compiled."""
        try:
            return build(self._task, self._driver, tree).read_bytes()
        except EnvironmentFailure:
            return uuid4().bytes

    def close(self) -> None:
        """End the original's worker."""
        with self._lock:
            if self._worker is not None:
                self._worker.close()
                self._worker = self._original = None

    def _of_original(self, form: str, names: list[str] | None) -> dict[str, str]:
        with self._lock:
            known = self._known.setdefault(form, {})
            missing = names if names is None else [name for name in names if name not in known]
            if (names is None and not known) or missing:
                if self._original is None:
                    self._worker = CandidateWorker(self._task, self._driver)
                    self._original = self._worker.open(self._tree)
                known |= _ask(self._original, form, missing)
            return {name: known[name] for name in (known if names is None else names)}


def _ask(environment: Environment, form: str, names: list[str] | None) -> dict[str, str]:
    answer = environment.ask("program", form=form, names=names)
    if not isinstance(answer, dict) or not all(isinstance(text, str) for pair in answer.items() for text in pair):
        raise BadAnswer("an answer that is not a map of digests", where="the candidate, call `program`")
    if names is not None and set(answer) != set(names):
        raise BadAnswer("digests of other functions than were asked for", where="the candidate, call `program`")
    return answer
