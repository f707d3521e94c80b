"""From a tree with a candidate's crate to the extension module that its workers load, in a sandbox without a network.

A crate brings code that runs while it is compiled (build scripts, macros), so the compiler is as foreign as the candidate:
it runs in a sandbox of its own, which sees the tree and what every candidate is linked with, and answers with bytes.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import threading
import tomllib
from contextlib import suppress
from pathlib import Path

from harness.candidate.crates.counting import NO_RUNTIME, counting_variables, write_wrapper
from harness.candidate.crates.data import VARIABLE, prepared
from harness.candidate.crates.project import DATA, package_name, write_project
from harness.candidate.crates.runtime import (
    MEMORY_MB,
    MODULE,
    Progress,
    build_spec,
    cargo_build,
    compiled,
    silent,
    sources,
)
from harness.candidate.crates.surroundings import HERE, Surroundings, elsewhere
from harness.candidate.crates.toolchain import toolchain
from harness.errors import BrokenContract, Crashed, Failing, Lack, Side, TimedOut
from harness.support.contents import contents_key
from harness.support.foreign import json_of, toml_of
from harness.support.home import lockstep_home
from harness.task.contract import CANDIDATE_DIRECTORY, Task
from sandboxes import Driver, SandboxError, SandboxSpec
from sandboxes.removal import scratch_directory

WHERE = "the candidate's crate"
KEPT = 24
"""Modules that are kept, the newest ones: a verification needs one for each of its workers."""
MOST_BYTES = 256 << 20
SHOWN = 12
SHOWN_CHARACTERS = 1500
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")


def build(task: Task, driver: Driver, tree: Path, progress: Progress = silent, *, counting: bool = False) -> Path:
    """The extension module of the candidate in an exported tree, compiled in a driver's sandbox.

    The file is for whoever shows it to a sandbox next; code in it must never run in this process.

    Args:
        counting: compile it so that it counts what of it is reached. What is judged never does.

    Raises:
        BrokenContract: the crate does not compile, or there is none.
        EnvironmentFailure: compiling it took too long, or too much memory.
        SetupError: there is no Rust here.
    """
    ahead = compiled(driver, toolchain(driver), progress)
    crate_name(tree / _crate(task))
    location = lockstep_home() / "crates" / "built"
    location.mkdir(parents=True, exist_ok=True)
    data = prepared(task, progress)
    # All that the compiler sees: of two trees that differ in anything at all, none gets the other's module.
    seen = (contents_key(tree / CANDIDATE_DIRECTORY), data and contents_key(data))
    about = (*seen, ahead.name, task.candidate.entry, package_name(task), counting)
    module = location / f"{hashlib.sha256(repr(about).encode()).hexdigest()[:32]}.so"
    if module.is_file():
        os.utime(module)
        return module
    progress(f"compiling the crate {crate_name(tree / _crate(task))}")
    fresh = location / f"{module.name}.{os.getpid()}.{threading.get_ident()}.new"
    try:
        fresh.write_bytes(_compiled(task, driver, tree, progress, HERE, counting))
        fresh.replace(module)
    finally:
        fresh.unlink(missing_ok=True)
    with suppress(FileNotFoundError):  # another build forgets the same ones at this moment
        for old in sorted(location.glob("*.so"), key=lambda path: path.stat().st_mtime)[:-KEPT]:
            old.unlink(missing_ok=True)
    return module


def build_elsewhere(task: Task, driver: Driver, tree: Path, progress: Progress = silent) -> bytes:
    """The module again, as a user of the exported project compiles it: at another path, with another user and clock.

    Raises:
        BrokenContract: what comes out is not the module that `build` gives.
        EnvironmentFailure, SetupError: as there.
    """
    content = build(task, driver, tree, progress).read_bytes()
    progress("compiling the crate again, as its users do: at another path, by another user")
    again = _compiled(task, driver, tree, progress, elsewhere(), counting=False)
    if again == content:
        return again
    said = (
        "compiled again at another path, by another user, on another day, with one job, it is another program "
        f"({_difference(content, again)})"
    )
    advice = (
        "; expected the same module wherever it is compiled. No absolute path (`env!`), clock, variable or chance may "
        "decide what is compiled; `include_bytes!` and `include_str!` take a file in without its path"
    )
    mistake = {"text": said + advice, "failing": Failing.UNUSABLE.name}
    raise BrokenContract(said, where=WHERE, side=Side.CANDIDATE, mistakes=(mistake,))


def _difference(one: bytes, other: bytes) -> str:
    if len(one) != len(other):
        return f"{len(one)} bytes and {len(other)} bytes"
    first = next(index for index, (left, right) in enumerate(zip(one, other, strict=True)) if left != right)
    return f"both of {len(one)} bytes; they differ from byte {first} on"


def _crate(task: Task) -> Path:
    return Path(task.candidate.entry).parent.parent


def _compiled(
    task: Task, driver: Driver, tree: Path, progress: Progress, surroundings: Surroundings, counting: bool
) -> bytes:
    """The module that comes out of a fresh copy of the project in these surroundings."""
    rust = toolchain(driver)
    data = prepared(task, progress)
    with scratch_directory("lockstep-build-") as scratch:
        project, target = scratch / "project", scratch / "target"
        shutil.copytree(compiled(driver, rust, progress), target, symlinks=True)
        crate, name = os.path.normpath(_crate(task).as_posix()), crate_name(tree / _crate(task))
        write_project(project, package_name(task), tree / CANDIDATE_DIRECTORY, crate, name, data)
        if counting:
            write_wrapper(project)
        memory_mb = max(MEMORY_MB, task.candidate.memory_mb)
        crates = sources(progress)
        spec = build_spec(rust, crates, project, target, memory_mb=memory_mb, surroundings=surroundings)
        return _compile(driver, spec, task, data, surroundings, counting)


def _compile(
    driver: Driver, spec: SandboxSpec, task: Task, data: Path | None, surroundings: Surroundings, counting: bool
) -> bytes:
    timeout_s = task.candidate.timeout_s
    with driver.open(spec) as sandbox:
        inside = sandbox.inside(surroundings.project)
        compiler_environment = {} if data is None else {VARIABLE: f"{inside}/{DATA}"}
        if counting:
            compiler_environment |= counting_variables(inside)
        finished = cargo_build(sandbox, surroundings, timeout_s, compiler_environment)
        if finished.timed_out:
            raise TimedOut(
                f"it was not compiled within {timeout_s:g} s",
                where=WHERE,
                expected="a crate that compiles in time, on a machine that has time for it",
            )  # of no side: how long a compiler takes says little of what a crate does
        if finished.exit_code is None:
            raise Crashed(f"its compiler was ended by the limit {finished.killed_by}", where=WHERE, side=Side.CANDIDATE)
        if finished.exit_code != 0:
            raise _does_not_compile(finished.stdout, finished.stderr)
        try:
            content = sandbox.read_file(f"{surroundings.target}/{MODULE}")
        except SandboxError as error:
            what = f"it was compiled, and its module cannot be read: {error}"
            raise Crashed(what, where=WHERE, side=Side.CANDIDATE) from error
    if len(content) > MOST_BYTES:
        what = f"its module has {len(content)} bytes; at most {MOST_BYTES} are taken"
        raise Crashed(what, where=WHERE, side=Side.CANDIDATE)
    return content


def _does_not_compile(messages: bytes, errors: bytes) -> BrokenContract:
    """What the compiler said of the candidate, or where it did not get that far cargo."""
    found = []
    for line in messages.splitlines():
        try:
            said = json_of(line)
        except ValueError:
            continue
        message = said.get("message") if isinstance(said, dict) else None
        if isinstance(message, dict) and message.get("level") == "error" and message.get("spans"):
            found.append(str(message.get("rendered", "")).strip()[:SHOWN_CHARACTERS])
    if not found:
        found = [errors.decode("utf-8", "replace").strip()[-SHOWN_CHARACTERS:]]
    first = found[0].splitlines()[0] if found[0] else "cargo says nothing"
    return BrokenContract(
        f"the crate does not compile: {first}",
        where=WHERE,
        side=Side.CANDIDATE,
        mistakes=tuple({"text": text, "failing": Failing.UNUSABLE.name} for text in found[:SHOWN]),
        lack=Lack.COUNTERS if NO_RUNTIME in first else None,
    )


def crate_name(crate: Path) -> str:
    """The name of a crate, read from its manifest.

    Raises:
        BrokenContract: there is no manifest that names a package.
    """
    manifest = crate / "Cargo.toml"
    said = ""
    try:
        package = toml_of(manifest.read_text(encoding="utf-8")).get("package")
        name = package.get("name") if isinstance(package, dict) else None
        if isinstance(name, str) and _NAME.fullmatch(name):
            return name
        said = f"{manifest.name} names no package"
    except FileNotFoundError:
        said = f"there is no {manifest.name} beside `src`"
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        said = f"{manifest.name} cannot be read: {error}"
    mistake = {"text": f"{said}; expected a crate with `[package] name`", "failing": Failing.UNUSABLE.name}
    raise BrokenContract(said, where=WHERE, side=Side.CANDIDATE, mistakes=(mistake,))
