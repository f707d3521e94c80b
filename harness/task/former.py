"""Names by which task files import what has since moved: a recorded task is loaded years later, and cannot be edited."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from types import ModuleType

FORMER = {
    "harness.suite": "harness.task.suite",
    "harness.levels": "harness.verify.levels",
    "harness.levels.strategies": "harness.verify.strategies",
}
"""Where that module is now. New task files import all of it from `lockstep`."""


class _FormerNames(MetaPathFinder, Loader):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return spec_from_loader(fullname, self) if fullname in FORMER else None

    def exec_module(self, module: ModuleType) -> None:
        # A module of its own with the same objects: the one that moved keeps its spec.
        for name, value in vars(import_module(FORMER[module.__name__])).items():
            module.__dict__.setdefault(name, value)


@contextmanager
def former_names() -> Iterator[None]:
    """While the context lasts, modules can be imported by their former names too."""
    finder = _FormerNames()
    sys.meta_path.append(finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
