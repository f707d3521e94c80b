"""One step of building a reference's environment: a command in a sandbox that may reach the network, and nothing of the user
but what tells pip where packages are.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from harness.errors import SetupError
from harness.reference.sandbox import Installed, holds_what_is_private, open_sandbox
from harness.task.contract import Task

SHOWN_LINES = 15
_PASSED = re.compile(
    r"PATH|LANG|CC|CXX|C(PP|XX)?FLAGS|LDFLAGS|MAKEFLAGS|PIP_.*|NPM_CONFIG_.*|.*_proxy|.*CERT.*|.*CA_BUNDLE|.*CAINFO",
    re.I,
)
"""The variables of this process that reach a step: for compilers, pip, npm, proxies and certificates."""


def run_step(
    command: Sequence[str],
    task: Task,
    installed: Installed,
    failure: str,
    *writable: Path,
    network: bool = False,
    next_step: str = "",
    shown: Mapping[str, str] | None = None,
    settings: Sequence[Path] = (),
) -> str:
    """Run one step of a build in the task's directory and return its output.

    Args:
        installed: the environment, as far as it is built.
        failure: what is said where it fails.
        writable: where it may write.
        shown: further variables.
        settings: files of the user's that the step reads, shown to it with what they name.

    Raises:
        SetupError: it failed; the last lines of its output are in the message.
        SandboxUnavailable: see `harness.policy.floor.permitted_here`.
    """
    variables = {name: value for name, value in os.environ.items() if _PASSED.fullmatch(name)} | dict(shown or {})
    places = (*settings, *_named_by_settings(variables, settings)) if network else ()
    with open_sandbox(
        task, installed, list(command), variables, "building", *writable, shown=places, network=network
    ) as sandbox:
        finished = sandbox.run(list(command))
    if finished.exit_code != 0:
        said = (finished.stdout + b"\n" + finished.stderr).decode("utf-8", "replace")
        lines = [line for line in said.splitlines() if line.strip()][-SHOWN_LINES:]
        how = f"exit status {finished.exit_code}" if finished.killed_by is None else f"ended by {finished.killed_by}"
        raise SetupError(
            f"{failure} ({how}); it said last:" + "".join(f"\n    {line}" for line in lines),
            where=f"task {task.name}",
            next_step=next_step,
        )
    return finished.stdout.decode("utf-8", "replace")


def _named_by_settings(variables: Mapping[str, str], settings: Sequence[Path]) -> Iterator[Path]:
    """The files and directories that the user's settings name: pip's own, certificates, folders of packages."""
    # -P: pip, and all that it imports, from the installation and never from the directory in which somebody called us.
    asked = [sys.executable, "-P", "-m", "pip", "config", "debug"]
    said = subprocess.run(asked, capture_output=True, text=True, check=False).stdout
    texts = (each.read_text(encoding="utf-8", errors="replace") for each in settings)
    words = re.findall(r"/[^\s,'\"]+", " ".join((*variables.values(), said, *texts)))
    for word in dict.fromkeys(words):
        place = Path(os.path.normpath(word.removesuffix(":")))
        # PATH names directories as well; programs in them that are no part of the system are not needed to build.
        named = word not in variables.get("PATH", "")
        # `PIP_CONFIG_FILE=/dev/null` is how pip is told to have no configuration; a sandbox has devices of its own.
        named = named and place.parts[:2] != ("/", "dev")
        if named and place.exists() and len(place.parts) > 2 and not holds_what_is_private(place):
            yield place
