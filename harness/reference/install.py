"""Builds the environment that a reference runs in: its own interpreter, its own pins, its own build step. Once.

Environments live in `lockstep_home()/envs/<task>-<key>`. The key is a hash of all that decides what is in one, so a
changed pin makes a new environment and an unchanged one is found again. A marker, written last, tells a finished
environment from one whose building was killed; such a one is built again.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import platform
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from packaging.specifiers import SpecifierSet
from packaging.version import Version

import harness.protocol.worker
from harness.errors import SetupError
from harness.reference import npm
from harness.reference.building import run_step
from harness.reference.sandbox import Installed
from harness.support.home import KEY_DIGITS, locked, lockstep_home
from harness.task.contract import REFERENCE_DIRECTORY, Task
from sandboxes.removal import scratch_directory

OLDEST_PYTHON = (3, 8)
MARKER = "lockstep-environment.json"

# What the worker needs, by the oldest Python that each pin fits; used where the requirements bring none of their own.
_WORKER_PINS: tuple[tuple[tuple[int, int], dict[str, str]], ...] = (
    ((3, 11), {"numpy": "2.4.6", "msgpack": "1.2.4"}),
    ((3, 10), {"numpy": "2.2.6", "msgpack": "1.2.4"}),
    ((3, 9), {"numpy": "2.0.2", "msgpack": "1.1.2"}),
    ((3, 8), {"numpy": "1.24.4", "msgpack": "1.1.1"}),
)

# What measures how much of a Python reference is reached, by the oldest Python that each pin supports.
COVERAGE_PINS: tuple[tuple[tuple[int, int], str], ...] = (
    ((3, 11), "7.17.3"),
    ((3, 10), "7.16.2"),
    ((3, 9), "7.10.7"),
    ((3, 8), "7.6.1"),
)
COVERAGE_VARIABLE = "LOCKSTEP_COVERAGE"
"""Set to 1 while a build script builds for coverage: it then compiles so that lines and branches are counted."""

# The worker's own directory must not be importable: the names of its neighbours (`task`, `errors`) are common. `-I`
# would do that too, but it also ignores PYTHONHASHSEED, without which a set of strings has another order each time.
START = "import runpy, sys; del sys.path[0], sys.argv[0]; runpy.run_path(sys.argv[0], run_name='__main__')"

WORKER_ENVIRONMENT = {
    "PYTHONHASHSEED": "0",
    "PYTHONNOUSERSITE": "1",
    "PYTHONDONTWRITEBYTECODE": "1",  # nothing is written beside the reference, which is hashed
    # A worker is one of several side by side; threads inside it would take turns with them, and can change sums.
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}

_PYTHON = re.compile(r"python3(\.\d+)?")
_LIST = (
    "from importlib import metadata as m; "
    "print(*sorted(d.metadata['Name'] + '==' + d.version for d in m.distributions()))"
)

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Interpreter:
    """A Python that can make environments."""

    path: Path
    version: Version


def setup(task: Task, progress: Progress = lambda line: None, *, coverage: bool = False) -> Installed:
    """Build the environment of a task's reference, or find it built.

    Args:
        task: the task; its `reference` says what is needed.
        progress: called with what is being done, one line each.
        coverage: the environment in which is measured what is reached of the reference: the same pins, and coverage.py.
            It is another one, so that nothing is added to that of the judged reference.

    Raises:
        SetupError: no interpreter fits, a requirement cannot be installed, or the build script failed; the message ends
            with the last lines that pip or the script wrote.
    """
    if not _needs_environment(task):
        return _harness_environment()
    interpreter = find_interpreter(task.reference.python)
    prefix = _prefix(task, interpreter, coverage)
    with locked(prefix, progress):
        found = _finished(prefix)
        if found is not None:
            return found
        if prefix.exists():
            progress(f"removing an unfinished environment at {prefix}")
            shutil.rmtree(prefix)
        with scratch_directory("lockstep-building-") as scratch:
            _build(_as_keyed(task, scratch), interpreter, prefix, progress, coverage)
    return Installed(prefix, _python_in(prefix))


def installed(task: Task) -> Installed | None:
    """The finished environment of a task's reference, or None if `setup` has yet to build it."""
    if not _needs_environment(task):
        return _harness_environment()
    try:
        return _finished(_prefix(task, find_interpreter(task.reference.python)))
    except SetupError:
        return None


def reference_command(task: Task, environment: Installed) -> tuple[list[str], dict[str, str]]:
    """The command line of a reference's worker and the variables to start it with.

    The worker is to run in the task directory. `{prefix}` and `{task}` are filled in, in the variables and the command.

    Raises:
        SetupError: the program of a `command` is not on PATH.
    """
    locations = {"{prefix}": str(environment.prefix), "{task}": str(task.directory)}
    variables = {name: _filled(value, locations) for name, value in task.reference.environment.items()}
    if task.reference.npm is not None:
        variables = npm.variables(environment) | variables
    if task.reference.adapter is not None:
        adapter = str(task.directory / task.reference.adapter)
        command = [str(environment.python), "-c", START, str(harness.protocol.worker.__file__), adapter]
        return command, {**WORKER_ENVIRONMENT, **variables}
    program, *arguments = (_filled(part, locations) for part in task.reference.command)
    path = os.environ.get("PATH", os.defpath)
    if task.reference.npm is not None:
        path = f"{npm.program(environment).parent}{os.pathsep}{path}"
    found = shutil.which(program if os.sep not in program else str(task.directory / program), path=path)
    if found is None:
        raise SetupError(
            f"there is no program `{program}`",
            where=f"task {task.name}, reference.command",
            expected="a program on PATH, or a path in the task directory",
            next_step=f"install {program}, or correct `command` in task.toml",
        )
    return [found, *arguments], variables


def run_script(task: Task, environment: Installed, script: str, destination: Path) -> None:
    """Run a script of the task with the reference's Python; its one argument is where it shall write.

    Raises:
        SetupError: it failed; the message ends with the last lines that it wrote.
    """
    _run_script(task, environment, script, destination, {}, network=False)


def find_interpreter(specifier: str | None) -> Interpreter:
    """A Python that fits a version specifier: the one that runs this, else the newest one found through PATH.

    Raises:
        SetupError: there is none; the message says which were found.
    """
    running = Interpreter(Path(sys.executable), Version(platform.python_version()))
    wanted = SpecifierSet(specifier or "")
    if _fits(running, wanted):
        return running
    found = sorted(_interpreters_on(os.environ.get("PATH", "")), key=lambda python: python.version, reverse=True)
    for interpreter in found:
        if _fits(interpreter, wanted):
            return interpreter
    seen = ", ".join(dict.fromkeys(str(python.version) for python in (running, *found)))
    raise SetupError(
        f"no Python {specifier} was found",
        where="reference.python in task.toml",
        expected=f"a Python {specifier} (from {'.'.join(map(str, OLDEST_PYTHON))} on) on PATH; found: {seen}",
        next_step="install one, for example with `pyenv install`, `uv python install` or the system's packages, and "
        "put its `bin` directory on PATH",
    )


# --- building ---------------------------------------------------------------------------------------------------------


def _build(task: Task, interpreter: Interpreter, prefix: Path, progress: Progress, coverage: bool) -> None:
    reference, built = task.reference, Installed(prefix, _python_in(prefix))
    progress(f"making an environment with Python {interpreter.version}")
    prefix.mkdir(parents=True)
    made_by = Installed(prefix, interpreter.path)
    run_step(
        [str(interpreter.path), "-m", "venv", str(prefix)], task, made_by, "the environment could not be made", prefix
    )
    if requirements := (*reference.requirements, *npm.wheels(task)):
        progress(f"installing {', '.join(requirements)}")
        _pip_install(task, built, requirements)
    missing = _missing_pins(task, built, interpreter.version) if reference.adapter is not None else []
    if missing:
        progress(f"installing {', '.join(missing)} for the worker")
        _pip_install(task, built, missing)
    if coverage and reference.adapter is not None:
        progress("installing coverage.py")
        _pip_install(task, built, [f"coverage=={_coverage_pin(interpreter.version)}"])
    from_npm = npm.packages(task) if reference.npm is not None else []
    if reference.npm is not None:
        progress(f"installing {', '.join(from_npm) or 'nothing'} with npm")
        npm.install(task, built)
    if reference.build is not None:
        progress(f"running {reference.build}" + (" for coverage" if coverage else ""))
        _run_script(task, built, reference.build, prefix, {COVERAGE_VARIABLE: "1"} if coverage else {}, network=True)
    packages = run_step([str(built.python), "-c", _LIST], task, built, "its contents could not be listed").split()
    _write_marker(prefix, {"python": str(interpreter.version), "packages": packages, "npm": from_npm})
    progress(f"the environment of {task.name} is ready")


def _as_keyed(task: Task, scratch: Path) -> Task:
    """The task as its environment is built from it: in a directory that holds what the environment's key names, and no more.

    Whatever else a task brings could decide what is built (Python imports what lies where it is started), and another task,
    with the same key, would find it.
    """
    directory = scratch / task.directory.name
    directory.mkdir()
    for name, path in _build_files(task).items():
        copy = directory / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
        copy.chmod(0o755 if path.stat().st_mode & stat.S_IXUSR else 0o644)
    return replace(task, directory=directory)


def _run_script(
    task: Task, built: Installed, script: str, destination: Path, shown: Mapping[str, str], *, network: bool
) -> None:
    command = [str(built.python), str(task.directory / script), str(destination)]
    said = f"{script} failed"
    run_step(command, task, built, said, destination, network=network, next_step="run it by hand", shown=shown)


def _pip_install(task: Task, built: Installed, requirements: Sequence[str]) -> None:
    run_step(
        [str(built.python), "-m", "pip", "install", "--no-input", "--progress-bar=off", *requirements],
        task,
        built,
        "pip could not install the requirements",
        built.prefix,
        network=True,
        next_step="correct `requirements` in task.toml, or pip's own configuration (pip config list)",
    )


def _missing_pins(task: Task, built: Installed, version: Version) -> list[str]:
    """Pins for what the worker imports and the requirements did not bring."""
    probe = "import importlib.util as u, sys; print(*[n for n in sys.argv[1:] if u.find_spec(n) is None])"
    pins = next(pins for oldest, pins in _WORKER_PINS if version.release[:2] >= oldest)
    said = run_step([str(built.python), "-I", "-c", probe, *pins], task, built, "its packages could not be looked at")
    return [f"{name}=={pins[name]}" for name in said.split()]


def _coverage_pin(version: Version) -> str:
    return next(pin for oldest, pin in COVERAGE_PINS if version.release[:2] >= oldest)


def _prefix(task: Task, interpreter: Interpreter, coverage: bool = False) -> Path:
    name = f"{task.name}-coverage" if coverage else task.name
    return lockstep_home() / "envs" / f"{name}-{_key(task, interpreter, coverage)}"


def _key(task: Task, interpreter: Interpreter, coverage: bool) -> str:
    """A hash of all that decides what is in the environment."""
    described = {
        "python": str(interpreter.version),
        "machine": platform.machine(),
        "requirements": sorted(task.reference.requirements),
        "worker": task.reference.adapter is not None and list(map(list, _WORKER_PINS)),
        "script": task.reference.build,
        "build": {name: _file_key(path) for name, path in _build_files(task).items()},
    }
    if task.reference.npm is not None:
        described["npm"] = npm.wheels(task)
    if coverage:
        described["coverage"] = _coverage_pin(interpreter.version)
    return hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()[:KEY_DIGITS]


def _build_files(task: Task) -> dict[str, Path]:
    """What a build can read, by its place in the task: all of `reference/` but the adapter, which may change freely; where
    no script builds, what npm reads alone."""
    if task.reference.build is None:
        return npm.files(task)
    adapter = (task.reference.adapter or "").rpartition(":")[0]
    files = sorted(path for path in (task.directory / REFERENCE_DIRECTORY).rglob("*") if path.is_file())
    named = {path.relative_to(task.directory).as_posix(): path for path in files if "__pycache__" not in path.parts}
    return {name: path for name, path in named.items() if name != adapter or name == task.reference.build}


def _file_key(path: Path) -> str:
    mode = "program " if path.stat().st_mode & stat.S_IXUSR else ""
    return mode + hashlib.sha256(path.read_bytes()).hexdigest()


def _finished(prefix: Path) -> Installed | None:
    # An interpreter that was removed from the system leaves a dangling link behind: that is no environment either.
    complete = (prefix / MARKER).is_file() and _python_in(prefix).exists()
    return Installed(prefix, _python_in(prefix)) if complete else None


def _write_marker(prefix: Path, content: Mapping[str, object]) -> None:
    unfinished = prefix / f"{MARKER}.new"
    unfinished.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    unfinished.replace(prefix / MARKER)


def _python_in(prefix: Path) -> Path:
    return prefix / "bin" / "python"


def _needs_environment(task: Task) -> bool:
    reference = task.reference
    return bool(reference.adapter or reference.requirements or reference.build or reference.npm)


def _harness_environment() -> Installed:
    """For a program that needs nothing of Python."""
    return Installed(Path(sys.prefix), Path(sys.executable))


def _filled(text: str, locations: Mapping[str, str]) -> str:
    for placeholder, value in locations.items():
        text = text.replace(placeholder, value)
    return text


# --- interpreters -----------------------------------------------------------------------------------------------------


def _fits(interpreter: Interpreter, wanted: SpecifierSet) -> bool:
    return interpreter.version.release[:2] >= OLDEST_PYTHON and wanted.contains(interpreter.version, prereleases=True)


@functools.lru_cache(maxsize=4)
def _interpreters_on(path: str) -> tuple[Interpreter, ...]:
    """Every CPython reachable through PATH, asked for its version."""
    found: dict[Path, Interpreter] = {}
    for directory in map(Path, filter(None, path.split(os.pathsep))):
        # A version manager's `shims` stand for the versions beside them, and fail for those that are not switched on.
        versions = directory.parent / "versions"
        shims = directory.name == "shims" and versions.is_dir()
        for folder in sorted(versions.glob("*/bin")) if shims else [directory]:
            for file in sorted(folder.glob("python3*")):
                if file.resolve() in found or not _PYTHON.fullmatch(file.name):
                    continue
                interpreter = _ask_version(file)
                if interpreter is not None:
                    found[file.resolve()] = interpreter
    return tuple(found.values())


def _ask_version(file: Path) -> Interpreter | None:
    ask = "import platform; print(platform.python_implementation(), platform.python_version())"
    try:
        answer = subprocess.run([str(file), "-I", "-c", ask], capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None  # not a Python that works
    implementation, _, version = answer.stdout.strip().partition(" ")
    return Interpreter(file, Version(version)) if implementation == "CPython" else None
