"""The candidate as a user's program runs it: as an exported package, in a process in which nothing of Lockstep is.

A verifier's worker holds modules of the verifier, and the candidate's code could know it by them, or put others in their
place. So a batch that such a worker plays, and that is held against the reference, is played once more by a plain script:
it imports the package, under its own name, from a directory that no worker has, and calls what is public there, with the
same keys and the same actions. What it shows must be the same.
"""

from __future__ import annotations

import io
import secrets
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from harness.candidate.adapters.jax.flags import jax_environment
from harness.candidate.crates.build import build_elsewhere
from harness.candidate.crates.project import package_name
from harness.candidate.interpreter import BASE_PACKAGES, SITE, python_runtime
from harness.candidate.package import write_package
from harness.errors import BadAnswer, Crashed, Side, TimedOut
from harness.model import Array
from harness.protocol.worker import ProtocolError, decode
from harness.task.contract import Task
from sandboxes import Driver, Limits, Mount, SandboxSpec

WHERE = "the candidate, as its users run it"
MOST_BYTES = 1 << 30
BEGIN = """
import os, sys
sys.path[:0] = sys.argv[1:3]
answers = os.dup(1)
os.dup2(2, 1)
import importlib, io
import msgpack
import numpy as np

given = np.load(io.BytesIO(sys.stdin.buffer.read()))
actions = {name[1:]: given[name] for name in given.files if name.startswith(":")}
shown = given["env_indices"]
"""
JAX = """
import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", bool(given["x64"]))
env = importlib.import_module(sys.argv[3]).make()
keys = jax.random.wrap_key_data(jnp.asarray(given["keys"]), impl="threefry2x32")
actions = {name: jnp.asarray(leaf) for name, leaf in actions.items()}
actions = actions.get("action", {name.removeprefix("action/"): leaf for name, leaf in actions.items()})


def body(states, inputs):
    states, outputs = jax.vmap(env.step_autoreset)(inputs[0], states, inputs[1])
    return states, jax.tree.map(lambda leaf: leaf[shown], outputs)


def leaves(name, value):
    if not isinstance(value, dict):
        return {name: np.asarray(value)}
    return {path: leaf for key, part in value.items() for path, leaf in leaves(f"{name}/{key}", part).items()}


states, first = jax.jit(jax.vmap(env.reset))(keys[0])
_, timesteps = jax.jit(lambda states, given: jax.lax.scan(body, states, given))(states, (keys[1:], actions))
found = {}
for name, value in timesteps.items():
    found.update(leaves(name, value))
for name, value in first.items():
    for path, leaf in leaves(name, value).items():
        found[path] = np.concatenate([leaf[shown][None], found[path]])
"""
RUST = """
key_data = given["keys"][0].astype(np.uint64)
steps, count = next(iter(actions.values())).shape[:2]
batch = importlib.import_module(sys.argv[3]).make_batch(count)
batch.reset((key_data[:, 0] << np.uint64(32) | key_data[:, 1]).tolist())
found = {}


def look():
    observed = {"reward": batch.reward, "terminated": batch.terminated, "truncated": batch.truncated, **batch.seen}
    for path, leaf in observed.items():
        found.setdefault(path, []).append(leaf[shown])


look()
for timestep in range(steps):
    batch.step({path: leaf[timestep] for path, leaf in actions.items()})
    look()
found = {path: np.stack(timesteps) for path, timesteps in found.items()}
"""
END = """
packed = {
    path: msgpack.ExtType(1, msgpack.packb([leaf.dtype.str, leaf.shape, leaf.tobytes()])) for path, leaf in found.items()
}
packed = msgpack.packb(packed)
answer = memoryview(packed + len(packed).to_bytes(8, "big"))
while answer:
    answer = answer[os.write(answers, answer) :]
os._exit(0)
"""


def play(
    task: Task, driver: Driver, tree: Path, key_data: Array, actions: Mapping[str, Array], env_indices: Array
) -> dict[str, Any]:
    """What a user sees of some sub-environments of a batch.

    Args:
        key_data: of the keys, uint32 `[steps + 1, envs, 2]`.
        actions: by leaf path, each `[steps, envs, *leaf shape]`.
        env_indices: which to show.

    Returns:
        What it answered: the public outputs by path, each `[steps + 1, env_indices, ...]`, and beside them what only later
        timesteps have (`final_observation`).

    Raises:
        EnvironmentFailure: the program ended otherwise than with an answer.
        BrokenContract: a crate is another program where a user compiles it.
        SetupError: a distribution that the candidate needs is not installed.
    """
    scratch = Path(tempfile.mkdtemp(prefix="user-"))
    try:
        name = package_name(task)
        home = f"/home/{secrets.token_hex(4)}"
        jax = task.candidate.kind == "jax"
        # Not the module that the workers loaded: the one that comes out where a user compiles the exported project.
        module = None if jax else build_elsewhere(task, driver, tree)
        write_package(task, tree, scratch / "src" / name, module)
        packages = {"jax", "jaxlib", *task.candidate.packages} if jax else set[str]()
        runtime = python_runtime(driver, scratch / "site", {*BASE_PACKAGES, *packages})
        spec = SandboxSpec(
            mounts=(Mount(scratch / "src", home), *runtime.mounts),
            environment=jax_environment(task.candidate.xla_flags) if jax else {},
            masked=runtime.masked,
            locks=False,
            purpose="user of a candidate",
            limits=Limits(
                memory_bytes=task.candidate.memory_mb << 20,
                processes=512,
                wall_seconds=task.candidate.timeout_s,
                output_bytes=MOST_BYTES,
            ),
        )
        given: dict[str, Any] = {f":{path}": array for path, array in actions.items()}
        given |= {"keys": key_data, "env_indices": env_indices, "x64": np.bool_(task.candidate.x64)}
        sent = io.BytesIO()
        np.savez(sent, **given)
        with driver.open(spec) as sandbox:
            finished = sandbox.run(
                [
                    *runtime.python,
                    "-c",
                    BEGIN + (JAX if jax else RUST) + END,
                    sandbox.inside(SITE),
                    sandbox.inside(home),
                    name,
                ],
                stdin=sent.getvalue(),
                timeout=task.candidate.timeout_s,
            )
        if finished.timed_out:
            raise TimedOut(
                f"no answer within {task.candidate.timeout_s:g} s",
                where=WHERE,
                side=Side.CANDIDATE,
                expected="an answer in time",
            )
        if finished.exit_code != 0:
            how = finished.killed_by or f"exit status {finished.exit_code}"
            said = finished.stderr.decode("utf-8", "replace").strip()[-2000:]
            what = f"its process ended with {how}; its standard error ends with:\n{said}"
            raise Crashed(what, where=WHERE, side=Side.CANDIDATE)
        return _read(finished.stdout)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _read(answer: bytes) -> dict[str, Any]:
    size = int.from_bytes(answer[-8:], "big")
    try:
        if not 0 < size <= len(answer) - 8:
            raise ProtocolError(f"{len(answer)} bytes that do not end with an answer")
        found = decode(answer[-8 - size : -8])
    except ProtocolError as error:
        what = f"its answer cannot be read: {error}"
        raise BadAnswer(what, where=WHERE, side=Side.CANDIDATE, expected="arrays by name") from error
    if not isinstance(found, dict):
        raise BadAnswer("its answer is not a map", where=WHERE, side=Side.CANDIDATE, expected="arrays by name")
    return found
