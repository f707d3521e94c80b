"""The reference's files, read and listed by the names that an agent gives them: `reference/` and a name.

They are read where the harness holds them and never shown in the sandbox, in which the candidate's code runs as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.agent_sandbox.sandbox import AgentSandbox
from harness.reference.install import installed, setup
from harness.reference.source_files import SourceFile, SourceFiles
from harness.support.text import one_line
from harness.task.contract import REFERENCE_DIRECTORY


def source_files(agent_sandbox: AgentSandbox, name: str) -> SourceFiles:
    """The files of the session's own copy of the reference, and of its environment, which is built if this name needs it.

    Raises:
        SetupError: it cannot be built.
    """
    task = agent_sandbox.task
    files = SourceFiles(task, installed(task), agent_sandbox.uri)
    return files if files.is_built or files.brings(name) else SourceFiles(task, setup(task), agent_sandbox.uri)


def reference_name(agent_sandbox: AgentSandbox, path: str) -> str | None:
    """The name in the reference that an agent means by a path: the path, its resource, or a place of task.toml.

    Returns None for a path of the workspace, or of the sandbox beside it.
    """
    uri = f"{agent_sandbox.uri}/{REFERENCE_DIRECTORY}"
    path = path.removeprefix(f"{agent_sandbox.workspace}/").removeprefix("/workspace/").removeprefix("./")
    if path.rstrip("/") in (uri, REFERENCE_DIRECTORY):
        return ""
    for begin in (f"{uri}/", f"{REFERENCE_DIRECTORY}/"):
        if path.startswith(begin):
            return path.removeprefix(begin)
    named = {source.partition(":")[0] for module in agent_sandbox.task.modules for source in module.source}
    return path if path in named else None


def listed(agent_sandbox: AgentSandbox, name: str) -> Iterator[dict[str, Any]]:
    """The entries of a directory of the reference; without a name, what a translation begins with.

    Raises:
        LockstepError: there is no such directory; SetupError: the reference's environment cannot be built.
    """
    files = source_files(agent_sandbox, name)
    return map(_entry, files.below(name) if name else files.main())


def _entry(file: SourceFile) -> dict[str, Any]:
    kind = "directory" if file.is_directory else "file"
    about = {"kind": kind, "bytes": file.bytes, "writable": False, "objection": ""}
    return {"path": one_line(f"{REFERENCE_DIRECTORY}/{file.name}")} | about
