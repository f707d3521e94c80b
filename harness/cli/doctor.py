"""What this machine offers and lacks: everything that Lockstep needs from outside itself, looked at once.

A `missing` item keeps Lockstep from working at all; a `limited` one takes something away and says what.
"""

from __future__ import annotations

import enum
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.candidate.crates.toolchain import INSTALL, release
from harness.candidate.crates.toolchain import OLDEST as OLDEST_RUST
from harness.errors import LockstepError
from harness.policy.budgets import all_standing
from harness.policy.rings import exposed
from harness.support.home import lockstep_home
from sandboxes import UNASKED, DockerDriver, SandboxError, drivers
from sandboxes.removal import remove_left_behind

OLDEST_PYTHON = (3, 11)
OLDEST_NODE = 18
ENOUGH_DISK = 5 << 30
JAX_SECONDS = 90.0
PROGRAM_SECONDS = 10.0

# Only this program's own environment decides which backend JAX finds, as it does for a candidate.
_ASK_JAX = "import jax; print(jax.__version__, jax.default_backend(), *jax.devices(), sep='|')"


class Health(enum.StrEnum):
    """How an item stands."""

    OK = "ok"
    LIMITED = "limited"
    MISSING = "missing"


@dataclass(frozen=True)
class Item:
    """One thing that was looked at: what was found, and what to do where it is not right."""

    name: str
    health: Health
    found: str
    next_step: str = ""

    def to_json(self) -> dict[str, str]:
        """A JSON-ready description."""
        return {"name": self.name, "health": str(self.health), "found": self.found, "next": self.next_step}


def examine() -> Iterator[Item]:
    """Look at everything, one item after the other."""
    yield _python()
    yield _program("git", ["--version"], Health.MISSING, "sessions are recorded with git: install it")
    yield _jax()
    yield from _sandboxes()
    yield _compiler()
    yield _node()
    yield _rust()
    yield _home()
    yield examine_budgets()
    yield _disk()
    yield _orphans(Path(tempfile.gettempdir()))
    yield _containers(DockerDriver())


def _python() -> Item:
    fits = sys.version_info >= OLDEST_PYTHON
    wanted = ".".join(map(str, OLDEST_PYTHON))
    found = f"{platform.python_version()} at {sys.executable}"
    return Item("python", Health.OK if fits else Health.MISSING, found, "" if fits else f"use Python {wanted} or newer")


def _program(name: str, ask: list[str], otherwise: Health, next_step: str) -> Item:
    said = _answer([name, *ask])
    return Item(name, Health.OK, said) if said else Item(name, otherwise, "not found", next_step)


def _jax() -> Item:
    try:
        asked = subprocess.run(
            [sys.executable, "-P", "-c", _ASK_JAX], capture_output=True, text=True, timeout=JAX_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return Item(
            "jax", Health.MISSING, f"no answer in {JAX_SECONDS:.0f} s", "a device may hang: try JAX_PLATFORMS=cpu"
        )
    if asked.returncode != 0:
        last = asked.stderr.strip().splitlines()[-1:] or [f"exit status {asked.returncode}"]
        return Item("jax", Health.MISSING, last[0][:200], "install jax and jaxlib again, in this environment")
    version, backend, *devices = asked.stdout.strip().split("|")
    return Item("jax", Health.OK, f"{version}, {backend}: {', '.join(devices)}")


def _sandboxes() -> Iterator[Item]:
    """Each driver; one that does not work only limits, as long as another isolates."""
    reasons = {driver: driver.unavailable() for driver in drivers().values()}
    isolating = any(driver.isolated and reason is None for driver, reason in reasons.items())
    for driver, reason in reasons.items():
        name = f"sandbox {driver.name}"
        if reason is not None and driver.name not in UNASKED:
            yield Item(name, Health.OK, f"not set up, and used only when asked for: {reason}")
        elif reason is not None:
            yield Item(
                name, Health.LIMITED, f"not available: {reason}", "verdicts say in which sandbox they were reached"
            )
        elif driver.isolated:
            about = driver.describe().get("digest", "")
            yield Item(name, Health.OK, f"works, isolates{f'; image {about}' if about else ''}")
        else:
            lacking = driver.exposes()
            held = "its own files only" if lacking is None else f"all your files, keys included: {lacking}"
            found = f"works, does not isolate; commands read the system and {held}"
            if isolating:
                yield Item(name, Health.OK, f"{found}; used when asked for")
            else:
                yield Item(name, Health.LIMITED, found, "run code that you trust, or make bubblewrap work")


def _compiler() -> Item:
    name = next(
        (name for name in (os.environ.get("CC", ""), "cc", "gcc", "clang") if name and shutil.which(name)), None
    )
    if name is None:
        return Item(
            "C compiler", Health.LIMITED, "not found", "only references in C need one (pong): install gcc or clang"
        )
    return Item("C compiler", Health.OK, _answer([name, "--version"]) or name)


def _node() -> Item:
    said = f"only references in JavaScript without npm packages need Node.js {OLDEST_NODE} or newer"
    item = _program("node", ["--version"], Health.LIMITED, said)
    major = item.found.lstrip("v").split(".")[0]
    if item.health is Health.OK and major.isdigit() and int(major) < OLDEST_NODE:
        return Item("node", Health.LIMITED, item.found, said)
    return item


def _rust() -> Item:
    """Only candidates in Rust need it, in the sandboxes that show this machine's."""
    said = _answer(["rustc", "--version"]) if shutil.which("cargo") else ""
    if not said:
        return Item("rust", Health.LIMITED, "not found: no candidates in Rust", INSTALL)
    if release(said) < OLDEST_RUST:
        return Item("rust", Health.LIMITED, f"{said} is too old for candidates in Rust", INSTALL)
    return Item("rust", Health.OK, said)


def _home() -> Item:
    try:
        home = lockstep_home()
        with tempfile.TemporaryFile(dir=home):
            if exposed(home):
                found = f"{home}; candidates could read all of it, so it signs only sessions that do not isolate"
                return Item("home", Health.LIMITED, found, "for others set LOCKSTEP_HOME, as another user")
            return Item("home", Health.OK, str(home))
    except (LockstepError, OSError) as error:
        return Item("home", Health.MISSING, str(error), "set LOCKSTEP_HOME to a directory that you can write")


def examine_budgets() -> Item:
    """The budgets of the home: whether the file can be read, and what is used up."""
    try:
        rows = all_standing(lockstep_home())
    except LockstepError as error:
        return Item("budgets", Health.MISSING, f"{error.where}: {error.what}", error.next_step)
    over = [f"{row['kind']} {row['name']}" for row in rows if row["used"] >= row["limit"]]
    if over:
        step = "raise them in budgets.toml, or leave it so; `lockstep usage --budgets` shows all"
        return Item("budgets", Health.LIMITED, f"used up: {', '.join(dict.fromkeys(over))}", step)
    return Item("budgets", Health.OK, f"{len(rows)} limits, none used up" if rows else "none are set")


def _disk() -> Item:
    try:
        free = shutil.disk_usage(lockstep_home()).free
    except (LockstepError, OSError) as error:
        return Item("disk", Health.MISSING, str(error), "set LOCKSTEP_HOME to a directory that you can write")
    enough = free >= ENOUGH_DISK
    step = "" if enough else "environments for references take up to a few GiB: make room, or set LOCKSTEP_HOME"
    return Item("disk", Health.OK if enough else Health.LIMITED, f"{free / (1 << 30):.1f} GiB free", step)


def _orphans(directory: Path) -> Item:
    """Temporary directories of killed processes: nobody can want them any more, so they are removed."""
    name = "temporary files"
    left = remove_left_behind(directory)
    if not left:
        return Item(name, Health.OK, f"nothing left behind in {directory}")
    shown = ", ".join(map(str, left[:3])) + (f" and {len(left) - 3} more" if len(left) > 3 else "")
    return Item(name, Health.OK, f"{len(left)} left behind by killed processes, and removed now: {shown}")


def _containers(docker: DockerDriver) -> Item:
    """Containers that outlived the process that opened them: nobody can want them any more, so they are removed."""
    name = "containers"
    if docker.engine.unavailable() is not None:
        return Item(name, Health.OK, "no Docker engine, so none were left behind")
    try:
        orphans = docker.engine.orphans()
        for orphan in orphans:
            docker.engine.remove(orphan.id)
    except SandboxError as error:
        return Item(name, Health.LIMITED, str(error), "run `lockstep doctor` again when the engine is well")
    if not orphans:
        return Item(name, Health.OK, "none left behind")
    shown = ", ".join(orphan.name for orphan in orphans[:3]) + (" and others" if len(orphans) > 3 else "")
    return Item(name, Health.OK, f"{len(orphans)} left behind by killed processes, and removed now: {shown}")


def _answer(command: list[str]) -> str:
    """The first line that a program says, or nothing where it cannot be asked."""
    try:
        said = subprocess.run(command, capture_output=True, text=True, timeout=PROGRAM_SECONDS, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return ""
    return (said.strip().splitlines() or [""])[0]
