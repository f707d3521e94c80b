"""Starting a candidate: its code and a JAX runtime in a fresh sandbox, and nothing of the reference.

The sandbox sees the candidate's directory, the worker, the adapter, the interpreter, and exactly the distributions that a
candidate may import (`harness.candidate.interpreter`).
"""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import harness
from harness.candidate.crates.build import build
from harness.candidate.interpreter import BASE_PACKAGES, SITE, demand_gpu_plugin, python_runtime
from harness.candidate.jax_process import jax_environment
from harness.errors import BadAnswer, BrokenContract, SetupError, Side
from harness.model import Leaf
from harness.policy.device import gpus_asked
from harness.protocol.channel import Channel
from harness.protocol.environment import Environment
from harness.protocol.link import Pipes
from harness.task.contract import CANDIDATE_DIRECTORY, Mode, Task, caches
from sandboxes import Driver, Limits, Mount, Running, Sandbox, SandboxSpec
from sandboxes.removal import new_directory, remove_tree

TRAINING_PACKAGES = ("equinox", "optax")
JUDGE_MEMORY_MB = 1024
JUDGE_TIMEOUT_S = 30.0
CODE = "/lockstep/candidate"
TRUSTED = "/lockstep/trusted"
COUNTS = "/lockstep/counts"
COUNTS_FILE = "reached.profraw"
WORKER = "protocol/worker.py"
TRUSTED_CODE = (
    "candidate/adapters",
    "candidate/faces",
    "training",
    "task/training.py",
    WORKER,
)
"""What of the harness a candidate's interpreter sees: what serves it, what users train on, and the trainer."""
JAX_ADAPTER = "harness.candidate.adapters.jax.in_columns:JaxInColumns"
RUST_ADAPTER = "harness.candidate.adapters.rust.candidate:RustCandidate"
JUDGE = "harness.candidate.adapters.judge:Judge"
# The worker imports numpy and msgpack before it reads its arguments, so the paths are set before it starts.
BOOTSTRAP = (
    "import runpy, sys; sys.path[:0] = sys.argv[1:3]; sys.argv[:3] = ['worker']; "
    "runpy.run_path(sys.argv.pop(1), run_name='__main__')"
)


class SandboxedWorker:
    """A sandbox with a Python worker in it that waits for code.

    Args:
        driver: the kind of sandbox.
        adapter: what the worker serves (`module:Class`), from the trusted files.
        packages: the distributions that code inside may import, besides the standard library.
        environment: its variables.
        memory_mb: its memory limit.
        counts: a directory for what code writes that was compiled so that it counts; None where none does.
        gpus: how many GPUs it has.
    """

    def __init__(
        self,
        driver: Driver,
        adapter: str,
        packages: Iterable[str],
        environment: Mapping[str, str],
        memory_mb: int,
        counts: Path | None = None,
        gpus: int = 0,
    ) -> None:
        self._directory = new_directory("lockstep-candidate-")
        self._code = self._directory / "code"
        self._code.mkdir()
        if gpus:
            demand_gpu_plugin(driver)
        runtime = python_runtime(driver, self._directory / "site", packages)
        spec = SandboxSpec(
            mounts=(
                Mount(self._code, CODE),
                Mount(lay_trusted(self._directory / "trusted"), TRUSTED),
                *runtime.mounts,
                *(() if counts is None else (Mount(counts, COUNTS, writable=True),)),
            ),
            environment=environment,
            masked=runtime.masked,
            locks=False,
            gpus=gpus,
            purpose=f"worker {adapter.rpartition(':')[2]}",
            limits=Limits(memory_bytes=memory_mb << 20, processes=512, wall_seconds=24 * 3600.0),
        )
        self._sandbox: Sandbox = driver.open(spec)
        inside = self._sandbox.inside
        paths = [inside(SITE), inside(TRUSTED), inside(f"{TRUSTED}/worker.py")]
        self._running: Running = self._sandbox.spawn(
            [*runtime.python, "-c", BOOTSTRAP, *paths, adapter],
            environment={} if counts is None else {"LLVM_PROFILE_FILE": inside(f"{COUNTS}/{COUNTS_FILE}")},
        )

    def bring(self, source: Path) -> None:
        """Copy a file or the content of a directory to where the worker sees it.

        Raises:
            SetupError: there is something in it that is neither a file nor a directory.
        """
        demand_no_links(source)
        if source.is_dir():
            shutil.copytree(source, self._code, dirs_exist_ok=True, ignore=caches)
        else:
            shutil.copy(source, self._code)

    def code(self, relative: str) -> str:
        """The path, inside the sandbox, of something that was brought."""
        return self._sandbox.inside(f"{CODE}/{relative}")

    def channel(self, name: Side | str, timeout: float) -> Channel:
        """The worker's pipes."""
        return Channel(Pipes(self._running), name, timeout)

    @property
    def pid(self) -> int:
        """This machine's number of the outermost process."""
        return self._running.pid

    def wait(self, seconds: float) -> int | None:
        """Wait for its end, at most so long; its exit status, None where it had not ended."""
        return self._running.wait(seconds)

    def close(self) -> None:
        """Kill everything in the sandbox and remove its files."""
        self._sandbox.close()
        remove_tree(self._directory)


class CandidateWorker:
    """A candidate's worker. It starts without a candidate: `open` brings the code and begins.

    Starting one takes a second or two where it imports JAX, so a verifier starts the next one while an agent
    is still thinking. Each worker serves one candidate tree, once.

    Args:
        task: whose candidate it will be.
        driver: the kind of sandbox.
        training: whether it will be asked to train, for which it gets the trainer's libraries.
        devices: how many devices a candidate in JAX sees on a CPU.
        counts: a directory. A crate is then compiled so that it counts what of it is reached, and leaves `COUNTS_FILE` there
            when the worker ends by itself.
    """

    def __init__(
        self, task: Task, driver: Driver, *, training: bool = False, devices: int = 1, counts: Path | None = None
    ) -> None:
        self._task, self._driver, self._counting = task, driver, counts is not None
        adapter, packages, variables, gpus = RUST_ADAPTER, {*BASE_PACKAGES}, {}, 0
        if task.candidate.kind == "jax":
            libraries = TRAINING_PACKAGES if training else ()
            adapter, variables = JAX_ADAPTER, jax_environment(task.candidate.xla_flags, devices)
            gpus = gpus_asked(devices)
            packages |= {"jax", "jaxlib", *libraries, *task.candidate.packages}
        self._worker = SandboxedWorker(driver, adapter, packages, variables, task.candidate.memory_mb, counts, gpus)
        self._channel: Channel | None = None
        self.close = self._worker.close

    @property
    def pid(self) -> int:
        """This machine's number of the outermost process of the worker."""
        return self._worker.pid

    def open(self, tree: Path) -> Environment:
        """Bring the candidate's code from an exported tree into the sandbox, and load it.

        Raises:
            EnvironmentFailure: the candidate cannot be loaded or does not fit the task.
        """
        source = tree / CANDIDATE_DIRECTORY
        entry = Path(self._task.candidate.entry).relative_to(CANDIDATE_DIRECTORY)
        if not (source / entry).is_file():
            raise SetupError(
                f"the tree has no {self._task.candidate.entry}",
                where="candidate.entry in task.toml",
                next_step="write the candidate there",
            )
        if self._task.candidate.kind == "rust":
            demand_no_links(source)
            loaded = build(self._task, self._driver, tree, counting=self._counting)
            self._worker.bring(loaded)
            entry = Path(loaded.name)
        else:
            self._worker.bring(source)
        self._channel = self._worker.channel(Side.CANDIDATE, self._task.candidate.timeout_s)
        environment = Environment(self._channel, candidate_options(self._task, self._worker.code(str(entry))))
        _demand_contract(self._task, environment)
        return environment

    def open_for(self, tree: Path, asked: Collection[str], stack: ExitStack) -> tuple[Task, Environment]:
        """`open`, also of a candidate in JAX of which only these probes are written. In Rust what compiles declares all.

        Args:
            stack: closes the second worker that this takes.

        Returns:
            The task with the probes that the candidate can be asked, and the candidate.

        Raises:
            EnvironmentFailure: as `open`.
        """
        partly = self._task.asking(asked)
        try:
            return self._task, self.open(tree)
        except BrokenContract:
            if partly.probes == self._task.probes or partly.candidate.kind != "jax":
                raise
        again = CandidateWorker(partly, self._driver)
        stack.callback(again.close)
        return partly, again.open(tree)

    def finish(self, seconds: float) -> int | None:
        """Ask an opened candidate to end, and wait until it has, at most so long: then it has written what it counted.

        Returns its exit status, None where it had not ended.
        """
        assert self._channel is not None
        self._channel.ask("close")
        return self._worker.wait(seconds)


def demand_no_links(source: Path) -> None:
    """Check that a tree holds only files and directories: what a link shows lies outside of it.

    Raises:
        SetupError: names the first such entry.
    """
    for path in (source, *sorted(source.rglob("*"))):
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            kind = "a link" if path.is_symlink() else "neither a file nor a directory"
            raise SetupError(
                f"{path.relative_to(source.parent)} is {kind}",
                where="the candidate's tree",
                expected="files and directories",
                next_step="put what it shows there in its place",
            )


def _demand_contract(task: Task, candidate: Environment) -> None:
    """Check that a worker describes itself as the task demands: what it cannot do would not be tested.

    The adapter cannot do that by itself; code that it loaded can have put another description in its place.
    """
    drawn = task.draws if task.mode in (Mode.TAPE, Mode.LAW) else {}
    wanted = {"vector"}
    wanted |= {"restore"} if task.state else set()
    wanted |= {"probe"} if task.probes else set()
    wanted |= {"draws", "force_draws"} if drawn else set()
    said, spec = "", candidate.spec
    if lacking := wanted - spec.capabilities:
        said = f"it says that it cannot {', '.join(sorted(lacking))}"
    elif _forms(spec.leaves) != _forms(task.leaves):
        said = "it declares other leaves than the task"
    elif {n: (_forms(p.inputs), _forms(p.outputs)) for n, p in spec.probes.items()} != {
        n: (_forms(p.inputs), _forms(p.outputs)) for n, p in task.probes.items()
    }:
        said = "it declares other probes than the task"
    elif {n: (d.dtype, d.shape, d.at) for n, d in spec.draws.items()} != {
        n: (d.dtype, d.shape, d.at) for n, d in drawn.items()
    }:
        said = "it declares other draws than the task"
    if said:
        candidate.kill()
        where, expected = "the candidate, call `open`", "the contract that it was opened with"
        raise BadAnswer(said, where=where, side=Side.CANDIDATE, expected=expected)


def _forms(leaves: Mapping[str, Leaf]) -> dict[str, tuple[str, tuple[int, ...]]]:
    return {path: (leaf.dtype, leaf.shape) for path, leaf in leaves.items()}


def start_judge(driver: Driver, file: Path, stack: ExitStack) -> Channel:
    """A sandboxed worker that judges trajectories by the properties in `file`; it ends with the stack."""
    worker = SandboxedWorker(driver, JUDGE, BASE_PACKAGES, {}, JUDGE_MEMORY_MB)
    stack.callback(worker.close)
    worker.bring(file)
    channel = worker.channel("the proposed properties", JUDGE_TIMEOUT_S)
    channel.ask("open", options={"file": worker.code(file.name)})
    return channel


def candidate_options(task: Task, entry: str) -> dict[str, Any]:
    """What a candidate's worker is opened with: its entry file, and what the task says its answers must look like."""
    return {
        "entry": entry,
        "x64": task.candidate.x64,
        "mode": str(task.mode),
        "leaves": {path: _describe(leaf) for path, leaf in task.leaves.items()},
        **({"players": list(task.player_names)} if task.players else {}),
        "draws": {
            draw.name: {"dtype": draw.dtype, "shape": list(draw.shape), "at": draw.at, "capacity": draw.capacity}
            for draw in task.draws.values()
        },
        "probes": {
            probe.name: {
                "inputs": {name: _describe(leaf) for name, leaf in probe.inputs.items()},
                "outputs": {name: _describe(leaf) for name, leaf in probe.outputs.items()},
            }
            for probe in task.probes.values()
        },
    }


def lay_trusted(directory: Path) -> Path:
    """Lay the worker, the adapters and the trainer out as a candidate's interpreter shall see them; gives the directory."""
    harness_root = Path(harness.__file__).parent
    for part in TRUSTED_CODE:
        source, location = harness_root / part, directory / "harness" / part
        location.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, location, ignore=caches)
        else:
            shutil.copy(source, location)
        for package in location.relative_to(directory).parents[:-1]:
            (directory / package / "__init__.py").touch()
    shutil.copy(harness_root / WORKER, directory / "worker.py")
    return directory


def _describe(leaf: Leaf) -> dict[str, Any]:
    return {"dtype": leaf.dtype, "shape": list(leaf.shape), "low": leaf.low, "high": leaf.high}
