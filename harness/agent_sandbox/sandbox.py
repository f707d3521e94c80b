"""The agent's sandbox: what of a session it shows, and where.

::

    /workspace/candidate, proposed   the workspace's own, writable
              task.toml, cases, …    the trusted copy's, read-only
              AGENTS.md              the workspace's, read-only
    /tmp                             private; HOME
    /lockstep                        Python with the packages that a candidate may import

The reference is not there, nor anything else of the workspace, such as the settings in its hidden files.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

from harness.agent_sandbox.view import WORKSPACE, FileView, Root
from harness.calls import reference_uri, session_uri
from harness.candidate.crates import data
from harness.candidate.crates.runtime import VENDOR, cargo_settings, sources
from harness.candidate.crates.surroundings import HERE
from harness.candidate.crates.toolchain import Toolchain, toolchain
from harness.candidate.interpreter import BASE_PACKAGES, SITE, python_runtime
from harness.candidate.jax_process import jax_environment
from harness.errors import SessionError
from harness.policy.device import gpus_asked
from harness.policy.quota import quota_bytes
from harness.session.view import SessionView
from harness.task.contract import CASES_DIRECTORY, GUIDE_FILE, REFERENCE_DIRECTORY, WRITABLE, Task
from sandboxes import Driver, Limits, Mount, Sandbox, SandboxSpec
from sandboxes.removal import new_directory, remove_tree

BIN = "/lockstep/bin"
SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"
LEAST_MEMORY_MB = 4096
PROCESSES = 512
LONGEST_S = 24 * 3600.0


class AgentSandbox(FileView):
    """The sandbox of a session's agent, opened when it is first used. Methods may be called from any thread.

    Args:
        view: the session.
        task: its task.
        driver: what runs the commands.
    """

    def __init__(self, view: SessionView, task: Task, driver: Driver) -> None:
        self.workspace = view.workspace
        self._session = view.id
        self.driver = driver
        self._trusted = view.task_directory
        self.task = task
        self.uri = session_uri(view.id)
        self._guard = threading.Lock()
        self._sandbox: Sandbox | None = None
        self._scratch: Path | None = None
        self._data: Path | None = None
        self._closed = False

    @property
    def sandbox(self) -> Sandbox:
        """The open sandbox.

        Raises:
            SandboxError: it cannot be opened.
            SessionError: the workspace is not a workspace any more, or this was closed.
        """
        with self._guard:
            if self._closed:
                raise SessionError("the agent's sandbox is closed", next_step="ask again: that opens another one")
            self._make_directories()
            if self._sandbox is None:
                self._sandbox = self._open()
            return self._sandbox

    @property
    def environment(self) -> dict[str, str]:
        """Variables for every command, besides those of the sandbox."""
        inside = self.sandbox.inside
        variables = {
            "PATH": f"{inside(BIN)}:{SYSTEM_PATH}",
            "PYTHONPATH": inside(SITE),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        rust = self._rust
        if rust is None:
            return variables | jax_environment(self.task.candidate.xla_flags)
        # What cargo writes is no part of the workspace.
        cargo = {"CARGO_HOME": inside(HERE.cargo_home), "CARGO_TARGET_DIR": inside(f"{HERE.cargo_home}/target")}
        given = {} if self._data is None else {data.VARIABLE: inside(data.SHOWN)}
        return variables | cargo | given | {"PATH": f"{inside(BIN)}:{rust.path}"}

    @property
    def _rust(self) -> Toolchain | None:
        """The compiler that an agent may use; None where the candidate is not in Rust."""
        return toolchain(self.driver) if self.task.candidate.kind == "rust" else None

    def roots(self) -> dict[str, Root]:
        """What lies in the workspace as the sandbox shows it, by name."""
        shown = {path.name: Root(path, False) for path in self._trusted.iterdir() if path.name != REFERENCE_DIRECTORY}
        guide = self.workspace / GUIDE_FILE
        shown |= {GUIDE_FILE: Root(guide, False)} if guide.is_file() and not guide.is_symlink() else {}
        return shown | {name: Root(self.workspace / name, True) for name in WRITABLE}

    def prepare(self) -> None:
        self.sandbox  # noqa: B018 - makes the directories that are mounted

    def read(self, target: str) -> bytes:
        return self.sandbox.read_file(target)

    def write(self, target: str, data: bytes) -> None:
        self.sandbox.write_file(target, data)

    def refuse(self, names: Sequence[str], path: str) -> None:
        if list(names[:2]) == [WORKSPACE[1:], REFERENCE_DIRECTORY]:
            raise SessionError(
                f"{path!r} belongs to the reference, which is never there where candidate code runs",
                next_step="read_file and list_files know the reference's paths; as resources they are "
                f"{reference_uri(self.uri)} and {reference_uri(self.uri, '/'.join(names[2:]) or 'FILE')}",
            )

    def close(self) -> None:
        """End every command and remove what is temporary; further calls do nothing."""
        with self._guard:
            self._closed = True
            sandbox, self._sandbox = self._sandbox, None
            scratch, self._scratch = self._scratch, None
        if sandbox is not None:
            sandbox.close()
        if scratch is not None:
            remove_tree(scratch)

    def __enter__(self) -> AgentSandbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _make_directories(self) -> None:
        """A person, or an agent outside, may have removed what is mounted; a link there would show something else."""
        (self._trusted / CASES_DIRECTORY).mkdir(exist_ok=True)
        for name in WRITABLE:
            agent_sandbox = self.workspace / name
            try:
                agent_sandbox.mkdir(exist_ok=True)
                usable = not agent_sandbox.is_symlink()
            except OSError:
                usable = False
            if not usable:
                raise SessionError(
                    f"{name} of the workspace is not a directory",
                    where=str(agent_sandbox),
                    next_step="put a directory there, or remove what is there: the directory is then made again",
                )

    def _open(self) -> Sandbox:
        self._scratch = new_directory("lockstep-agent-")
        try:
            return self.driver.open(self._spec(self._scratch))
        except BaseException:
            remove_tree(self._scratch)
            raise

    def _spec(self, scratch: Path) -> SandboxSpec:
        programs = scratch / "bin"
        programs.mkdir()
        # Where nothing is mounted, commands stand in the workspace itself, and see all of it.
        whole = () if self.driver.isolated else (Mount(self.workspace, WORKSPACE),)
        hidden = (self.workspace / REFERENCE_DIRECTORY,)
        rust = self._rust
        packages = {*BASE_PACKAGES, *(() if rust else ("jax", "jaxlib")), *self.task.candidate.packages}
        runtime = python_runtime(self.driver, scratch / "site", packages)
        for name in ("python", "python3"):
            # Not a link: the interpreter of a virtual environment finds its packages only by its own path.
            (programs / name).write_text(f'#!/bin/sh\nexec {runtime.python[0]} "$@"\n')
            (programs / name).chmod(0o755)
        crates = ()
        if rust is not None:
            self._data = data.prepared(self.task)
            crates = (*rust.mounts, Mount(sources(), VENDOR), *data.mounts(self._data))
            # Given in the command: an image may have settings of its own in a directory above the workspace.
            settings = cargo_settings(VENDOR if self.driver.isolated else str(sources()))
            (programs / "cargo.toml").write_text(settings)
            found = f"""exec env PATH='{rust.path}' cargo --config "$(dirname "$0")/cargo.toml" "$@"\n"""
            (programs / "cargo").write_text(f"#!/bin/sh\n{found}")
            (programs / "cargo").chmod(0o755)
        roots = self.roots()
        return SandboxSpec(
            mounts=(
                *whole,
                *(Mount(root.source, f"{WORKSPACE}/{name}", root.writable) for name, root in roots.items()),
                Mount(programs, BIN),
                *runtime.mounts,
                *crates,
            ),
            workdir=WORKSPACE,
            masked=(*runtime.masked, *(path for path in hidden if path.is_dir())),
            purpose=f"agent {self._session}",
            gpus=0 if rust else gpus_asked(),
            limits=Limits(
                memory_bytes=max(LEAST_MEMORY_MB, self.task.candidate.memory_mb) << 20,
                processes=PROCESSES,
                wall_seconds=LONGEST_S,
                disk_bytes=quota_bytes(),
            ),
        )
