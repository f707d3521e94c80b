"""The candidate as a user's program runs it: as an exported package, in a process in which nothing of Lockstep is.

A verifier's worker holds modules of the verifier, and the candidate's code could know it by them, or put others in their
place. So a batch that such a worker plays, and that is held against the reference, is played once more by a plain script:
it imports the package, under its own name, from a directory that no worker has, and calls what is public there, with the
same keys and the same actions. What it shows must be the same.

A user steps a batch in a loop that is compiled whole, a batch by hand, or one instance. Code can tell these from each other,
so the script does all of them, in an order that comes from the run's seed.
"""

from __future__ import annotations

import io
import secrets
import shutil
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from harness.candidate.crates.build import build_elsewhere
from harness.candidate.crates.project import package_name
from harness.candidate.interpreter import BASE_PACKAGES, SITE, python_runtime
from harness.candidate.jax_process import jax_environment
from harness.candidate.package import write_package
from harness.errors import BadAnswer, Crashed, Side, TimedOut
from harness.model import Array
from harness.policy.device import gpus_asked
from harness.protocol.worker import MAX_VALUES, ProtocolError, decode
from harness.task.contract import Task
from sandboxes import Driver, Finished, Limits, Mount, Sandbox, SandboxSpec

WHERE = "the candidate, as its users run it"
MOST_BYTES = 1 << 30
FINAL = "final_"
"""Before the path of an observation: what an episode that ended last showed."""
BY_HAND_STEPS = 128
"""Steps that are taken call by call at most; a loop takes all."""


@dataclass(frozen=True)
class Way:
    """A way in which users step an environment: its name, whether step by step, and whether one instance alone."""

    name: str
    by_hand: bool = False
    alone: bool = False

    def sizes(self, steps: int, env_indices: int) -> tuple[int, int]:
        """Timesteps and sub-environments that it shows, of a batch of so many steps and sub-environments to look at."""
        return 1 + (min(steps, BY_HAND_STEPS) if self.by_hand else steps), 1 if self.alone else env_indices


WAYS = {
    "jax": (
        Way("a batch in a loop"),
        Way("a batch by hand", by_hand=True),
        Way("one instance", by_hand=True, alone=True),
    ),
    # A batch has no other loop than that of whoever steps it.
    "rust": (Way("a batch in a loop"), Way("one instance", by_hand=True, alone=True)),
}


def ways(task: Task) -> tuple[Way, ...]:
    """The ways in which users step a candidate of this task."""
    return WAYS[task.candidate.kind]


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
keys, shown, by_hand = given["keys"], given["env_indices"], int(given["by_hand"])
with_state = bool(given["with_state"])
"""
JAX = """
import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", bool(given["x64"]))
package = importlib.import_module(sys.argv[3])
env = package.make()
gymnax_style = package.GymnaxEnv(env)  # as `make_gymnax` does
made = jax.random.wrap_key_data(jnp.asarray(keys))  # of whatever kind this program's keys are
numbered = (keys[..., 0] == 0)
made = jnp.where(numbered, jax.vmap(jax.vmap(jax.random.key))(jnp.asarray(keys[..., 1])), made)
actions = {name: jnp.asarray(leaf) for name, leaf in actions.items()}
actions = actions.get("action", {name.removeprefix("action/"): leaf for name, leaf in actions.items()})


def leaves(name, value):
    if not isinstance(value, dict):
        return {name: np.asarray(value)}
    return {path: leaf for key, part in value.items() for path, leaf in leaves(f"{name}/{key}", part).items()}


def flat(outputs):
    return {path: leaf for name, value in outputs.items() for path, leaf in leaves(name, value).items()}


def joined(first, timesteps):
    # Nothing has ended at a first reset: what was last seen is what is seen.
    first = flat(first | {"final_observation": first["observation"]})
    return {path: np.concatenate([first[path][None], leaf]) for path, leaf in timesteps.items()}


def kept(outputs, states):
    return jax.tree.map(lambda leaf: leaf[shown], (outputs, states if with_state else ()))


def body(states, inputs):
    states, outputs = jax.vmap(env.step_autoreset)(inputs[0], states, inputs[1])
    return states, kept(outputs, states)


reset_batch = jax.jit(jax.vmap(env.reset))


def in_a_loop():
    states, first = reset_batch(made[0])
    first, begun = kept(first, states)
    _, (timesteps, passed) = jax.jit(lambda states, given: jax.lax.scan(body, states, given))(
        states, (made[1:], actions)
    )
    return joined(first, flat(timesteps)), jax.tree.map(lambda one, all: jnp.concatenate([one[None], all]), begun, passed)


def stepped(reset, step, look, keys, actions):
    states, outputs = reset(keys[0])
    first, begun = look(outputs, states)
    seen, passed = [], [begun]
    for timestep in range(min(by_hand, len(keys) - 1)):
        states, (found, state) = step(keys[timestep + 1], states, jax.tree.map(lambda leaf: leaf[timestep], actions))
        seen.append(flat(jax.device_get(found)))
        passed.append(state)
    outputs = joined(first, {path: np.stack([one[path] for one in seen]) for path in seen[0]})
    return outputs, jax.tree.map(lambda *all: jnp.stack(all), *passed)


def batch_by_hand():
    def step(keys, states, actions):
        answer = jax.vmap(gymnax_style.step, (0, 0, 0))(keys, states, actions)
        observation, states, reward, terminated, truncated, info = answer
        outputs = info | {
            "observation": observation, "reward": reward, "terminated": terminated, "truncated": truncated
        }
        return states, kept(outputs, states)

    return stepped(reset_batch, jax.jit(step), kept, made, actions)


def one_instance():
    mine = jax.tree.map(lambda leaf: leaf[:, shown[0]], actions)

    def look(outputs, state):
        return outputs, state if with_state else ()

    def step(key, state, action):
        state, outputs = env.step_autoreset(key, state, action)
        return state, look(outputs, state)

    answer = stepped(jax.jit(env.reset), jax.jit(step), look, made[:, shown[0]], mine)
    return jax.tree.map(lambda leaf: leaf[:, None], answer)


def told(outputs, states):
    # Users never ask for this. Whatever the package does, it has done when it is asked.
    return outputs | jax.vmap(jax.vmap(env.encode))(states) if with_state else outputs


ways = [in_a_loop, batch_by_hand, one_instance]
"""
RUST = """
seeds = keys[0].astype(np.uint64)
seeds = seeds[:, 0] << np.uint64(32) | seeds[:, 1]
steps = next(iter(actions.values())).shape[0]
package = importlib.import_module(sys.argv[3])


def play(seeds, actions, envs, steps):
    batch, found = package.make_batch(len(seeds)), {}
    batch.reset(seeds.tolist())

    def look():
        ended = (batch.terminated | batch.truncated)[envs]
        observed = {**batch.outcome, **batch.seen}
        for path, leaf in observed.items():
            found.setdefault(path, []).append(leaf[envs])
        for path, last in batch.last.items():
            chosen = ended.reshape(-1, *[1] * (last.ndim - 1))
            found.setdefault("final_" + path, []).append(np.where(chosen, last[envs], batch.seen[path][envs]))

    look()
    for timestep in range(steps):
        batch.step({path: leaf[timestep] for path, leaf in actions.items()})
        look()
    return {path: np.stack(timesteps) for path, timesteps in found.items()}, ()


def told(outputs, states):
    return outputs


def in_a_loop():
    return play(seeds, actions, shown, steps)


def one_instance():
    one = shown[:1]
    return play(seeds[one], {path: leaf[:, one] for path, leaf in actions.items()}, np.array([0]), min(steps, by_hand))


ways = [in_a_loop, one_instance]
"""
END = """
names = [str(name) for name in given["ways"]]
found = {names[way]: ways[way]() for way in given["order"]}
found = {way: told(*answer) for way, answer in found.items()}
packed = msgpack.packb({
    way: {
        path: msgpack.ExtType(1, msgpack.packb([leaf.dtype.str, leaf.shape, leaf.tobytes()]))
        for path, leaf in ((path, np.asarray(leaf)) for path, leaf in leaves.items())
    }
    for way, leaves in found.items()
})
answer = memoryview(packed + len(packed).to_bytes(8, "big"))
while answer:
    answer = answer[os.write(answers, answer) :]
os._exit(0)
"""


class User:
    """Runs a candidate as its users do.

    Args:
        tree: the directory with the candidate.
    """

    def __init__(self, task: Task, driver: Driver, tree: Path) -> None:
        self._task, self._driver, self._tree = task, driver, tree
        self._lock = threading.Lock()
        self._sandbox: Sandbox | None = None
        self._stopped = False

    @property
    def may_start_early(self) -> bool:
        """Whether `stop` breaks it off at any moment. A crate is compiled first, and that is waited for."""
        return self._task.candidate.kind == "jax"

    def play(
        self,
        key_data: Array,
        actions: Mapping[str, Array],
        env_indices: Array,
        order: Array,
        *,
        with_state: bool = False,
    ) -> dict[str, Any]:
        """What a user sees of some sub-environments of a batch, in each way in which it is used.

        Args:
            key_data: of the keys, uint32 `[steps + 1, envs, 2]`.
            actions: by leaf path, each `[steps, envs, *leaf shape]`.
            env_indices: which to show.
            order: in which the `ways` are gone, as their numbers.
            with_state: whether to show the leaves of the state, too; of a candidate in JAX alone.

        Returns:
            What it answered, unchecked. It should be for each way its public outputs by path, each `[*Way.sizes, ...]`; and
            under `FINAL` + path the observations from before the auto-reset, which differ only where an episode ended.

        Raises:
            EnvironmentFailure: the program ended otherwise than with an answer.
            BrokenContract: a crate is another program where a user compiles it.
            SetupError: a distribution that the candidate needs is not installed.
        """
        task = self._task
        scratch = Path(tempfile.mkdtemp(prefix="user-"))
        try:
            name = package_name(task)
            home = f"/home/{secrets.token_hex(4)}"
            jax = task.candidate.kind == "jax"
            # Not the module that the workers loaded: the one that comes out where a user compiles the exported project.
            module = None if jax else build_elsewhere(task, self._driver, self._tree)
            write_package(task, self._tree, scratch / "src" / name, module)
            packages = {"jax", "jaxlib", *task.candidate.packages} if jax else set[str]()
            runtime = python_runtime(self._driver, scratch / "site", {*BASE_PACKAGES, *packages})
            spec = SandboxSpec(
                mounts=(Mount(scratch / "src", home), *runtime.mounts),
                environment=jax_environment(task.candidate.xla_flags) if jax else {},
                masked=runtime.masked,
                locks=False,
                purpose="user of a candidate",
                gpus=gpus_asked() if jax else 0,
                limits=Limits(
                    memory_bytes=task.candidate.memory_mb << 20,
                    processes=512,
                    wall_seconds=task.candidate.timeout_s,
                    output_bytes=MOST_BYTES,
                ),
            )
            given: dict[str, Any] = {f":{path}": array for path, array in actions.items()}
            given |= {"keys": key_data, "env_indices": env_indices, "x64": np.bool_(task.candidate.x64)}
            given |= {
                "order": order,
                "with_state": np.bool_(with_state),
                "by_hand": np.int64(BY_HAND_STEPS),
                "ways": np.array([way.name for way in ways(task)]),
            }
            sent = io.BytesIO()
            np.savez(sent, **given)
            with self._driver.open(spec) as sandbox:
                self._note(sandbox)
                program = BEGIN + (JAX if jax else RUST) + END
                finished = sandbox.run(
                    [*runtime.python, "-c", program, sandbox.inside(SITE), sandbox.inside(home), name],
                    stdin=sent.getvalue(),
                    timeout=task.candidate.timeout_s,
                )
            return _answer(finished, task.candidate.timeout_s)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    def stop(self) -> None:
        """Have no program of it run any more: `play` then raises."""
        with self._lock:
            self._stopped = True
            if self._sandbox is not None:
                self._sandbox.close()

    def _note(self, sandbox: Sandbox) -> None:
        with self._lock:
            self._sandbox = sandbox
            if self._stopped:
                sandbox.close()


def _answer(finished: Finished, timeout_s: float) -> dict[str, Any]:
    if finished.timed_out:
        raise TimedOut(
            f"no answer within {timeout_s:g} s", where=WHERE, side=Side.CANDIDATE, expected="an answer in time"
        )
    if finished.exit_code != 0:
        how = finished.killed_by or f"exit status {finished.exit_code}"
        said = finished.stderr.decode("utf-8", "replace").strip()[-2000:]
        what = f"its process ended with {how}; its standard error ends with:\n{said}"
        raise Crashed(what, where=WHERE, side=Side.CANDIDATE)
    return _read(finished.stdout)


def _read(answer: bytes) -> dict[str, Any]:
    size = int.from_bytes(answer[-8:], "big")
    try:
        if not 0 < size <= len(answer) - 8:
            raise ProtocolError(f"{len(answer)} bytes that do not end with an answer")
        found = decode(answer[-8 - size : -8], MAX_VALUES)
    except ProtocolError as error:
        what = f"its answer cannot be read: {error}"
        raise BadAnswer(what, where=WHERE, side=Side.CANDIDATE, expected="arrays by name") from error
    if not isinstance(found, dict):
        raise BadAnswer("its answer is not a map", where=WHERE, side=Side.CANDIDATE, expected="arrays by name")
    return found
