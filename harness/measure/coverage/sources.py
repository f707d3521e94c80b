"""Where the source of a reference lies: the locations that task.toml names, as files of an environment."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from harness.reference.install import Installed
from harness.reference.source_files import candidates
from harness.task.contract import Task

PYTHON, NODE, C = "Python", "Node", "C"
LANGUAGES = {
    ".py": PYTHON,
    **dict.fromkeys((".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"), NODE),
    **dict.fromkeys((".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp"), C),
}


@dataclass(frozen=True)
class Location:
    """One place that a module names: a file, and the lines in it (1 and `last`, both included).

    Attributes:
        name: the file as task.toml names it; `path` is where it was found.
    """

    module: str
    name: str
    path: Path
    first: int
    last: int

    @property
    def language(self) -> str | None:
        """In what it is written, None for what nothing here can measure."""
        return LANGUAGES.get(self.path.suffix.lower())

    def holds(self, line: int) -> bool:
        """Whether a line lies in it."""
        return self.first <= line <= self.last


def locations(task: Task, environment: Installed) -> tuple[list[Location], list[str]]:
    """The places of all modules, and for each that cannot be measured a line that says why."""
    found: list[Location] = []
    unmeasured: dict[str, None] = {}
    for module in task.modules:
        for source in module.source:
            name, _, lines = source.partition(":")
            path = next((path for path in candidates(name, task, environment) if path.is_file()), None)
            if path is None:
                unmeasured[f"{name}: it is neither in the task directory nor in the reference's own environment"] = None
                continue
            begin, _, end = lines.partition("-")
            first = int(begin) if begin else 1
            location = Location(module.name, name, path.resolve(), first, int(end or begin) if begin else 1 << 31)
            if location.language is None:
                unmeasured[f"{name}: lines of a file `{path.suffix}` cannot be counted"] = None
                continue
            if (module_file := _compiled_beside(path)) is not None:
                unmeasured[f"{name}: {module_file.name} runs in its place, and no lines of that can be counted"] = None
                continue
            found.append(location)
    if not names_locations(task):
        unmeasured["no module of task.toml names its `source`, so it is not known which lines count"] = None
    return found, list(unmeasured)


def names_locations(task: Task) -> bool:
    """Whether any module says where its source is."""
    return any(module.source for module in task.modules)


def _compiled_beside(path: Path) -> Path | None:
    """The extension module that Python takes instead of this file of the same name, as Cython leaves them."""
    if path.suffix != ".py":
        return None
    return next((one for one in sorted(path.parent.glob(f"{path.stem}.*")) if one.suffix in (".so", ".pyd")), None)
