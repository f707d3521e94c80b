"""From a tree with a candidate's crate to the extension module that its workers load, in a sandbox without a network.

A crate brings code that runs while it is compiled (build scripts, macros), so the compiler is as foreign as the candidate:
it runs in a sandbox of its own, which sees the tree and what every candidate is linked with, and answers with bytes.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
import tomllib
from contextlib import suppress
from pathlib import Path

from harness.candidate.crates.counting import NO_RUNTIME, counting_variables, write_wrapper
from harness.candidate.crates.data import mounts, prepared, variables
from harness.candidate.crates.runtime import (
    BINDING,
    MEMORY_MB,
    MODULE,
    TARGET,
    Progress,
    build_spec,
    cargo_build,
    compiled,
    silent,
    sources,
    write_binding,
)
from harness.candidate.crates.toolchain import toolchain
from harness.errors import BrokenContract, Crashed, Failing, Lack, Side, TimedOut
from harness.support.foreign import json_of, toml_of
from harness.support.home import lockstep_home
from harness.task.contract import CANDIDATE_DIRECTORY, Task, directory_digest
from sandboxes import Driver, Mount, SandboxError, SandboxSpec

CANDIDATE = "/lockstep/candidate"
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
    rust = toolchain(driver)
    ahead = compiled(driver, rust, progress)
    entry = Path(task.candidate.entry)
    crate = tree / entry.parent.parent
    name = crate_name(crate)
    location = lockstep_home() / "crates" / "built"
    location.mkdir(parents=True, exist_ok=True)
    data = prepared(task, progress)
    digests = (directory_digest(tree / CANDIDATE_DIRECTORY), data and directory_digest(data))
    about = (*digests, ahead.name, str(entry), counting)
    module = location / f"{hashlib.sha256(repr(about).encode()).hexdigest()[:32]}.so"
    if module.is_file():
        os.utime(module)
        return module
    with tempfile.TemporaryDirectory(prefix="lockstep-build-") as scratch:
        work = Path(scratch)
        target = work / "target"
        shutil.copytree(ahead, target, symlinks=True)
        shown = Mount(tree / CANDIDATE_DIRECTORY, CANDIDATE)
        write_binding(work / "binding")
        memory_mb = max(MEMORY_MB, task.candidate.memory_mb)
        seen = (shown, *mounts(data))
        spec = build_spec(rust, sources(progress), work / "binding", target, *seen, memory_mb=memory_mb)
        if counting:
            write_wrapper(work / "binding")
        content = _compile(driver, spec, task, name, data, counting)
        fresh = work / "module"
        fresh.write_bytes(content)
        shutil.move(fresh, module)
    with suppress(FileNotFoundError):  # another build forgets the same ones at this moment
        for old in sorted(location.glob("*.so"), key=lambda path: path.stat().st_mtime)[:-KEPT]:
            old.unlink(missing_ok=True)
    return module


def _compile(driver: Driver, spec: SandboxSpec, task: Task, name: str, data: Path | None, counting: bool) -> bytes:
    timeout_s = task.candidate.timeout_s
    within = Path(task.candidate.entry).parent.parent.relative_to(CANDIDATE_DIRECTORY)
    with driver.open(spec) as sandbox:
        compiler_environment = variables(sandbox, data) | (
            counting_variables(sandbox, CANDIDATE, BINDING) if counting else {}
        )
        crate = os.path.normpath(f"{CANDIDATE}/{within.as_posix()}")
        finished = cargo_build(sandbox, name, crate, timeout_s, compiler_environment)
        if finished.timed_out:
            raise TimedOut(
                f"it was not compiled within {timeout_s:g} s",
                where=WHERE,
                side=Side.CANDIDATE,
                expected="a crate that compiles in time",
            )
        if finished.exit_code is None:
            raise Crashed(f"its compiler was ended by the limit {finished.killed_by}", where=WHERE, side=Side.CANDIDATE)
        if finished.exit_code != 0:
            raise _does_not_compile(finished.stdout, finished.stderr)
        try:
            content = sandbox.read_file(f"{TARGET}/{MODULE}")
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
