"""A small task on both sides of which a real adapter plays, but for the calls that only a candidate's worker answers."""

from __future__ import annotations

import importlib.util
import shutil
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from harness.errors import EnvironmentFailure
from harness.protocol.channel import Channel
from harness.protocol.environment import Pool
from harness.protocol.link import Pipes
from harness.protocol.worker import decode, encode
from harness.task.load import load_task
from harness.verify.levels import proposed
from harness.verify.pair import Pair
from harness.verify.suite.client import Suite
from tests.fuzz.target import each
from tests.fuzz.wire import NONCE, TIMEOUT_S, Answering, Played, environment, nonce_of, real, replaying
from tests.paths import WALK

OWN = ("autoreset", "sample", "judge")
DTYPES = {
    "state/place": "f8",
    "state/steps": "i4",
    "observation": "f4",
    "reward": "f4",
    "terminated": "?",
    "truncated": "?",
}


class Walked:
    """The task `walk` with the reference in this process; a candidate's own calls are answered from a stream."""

    def __init__(self, directory: Path) -> None:
        place = directory / "walk"
        shutil.copytree(WALK, place, ignore=shutil.ignore_patterns("__pycache__"))
        text = (place / "task.toml").read_text()
        # Small budgets: what is fuzzed is the form of answers, not how many there are.
        for old, new in (
            ("horizon = 50", "horizon = 10"),
            ("samples = 4000", "samples = 64"),
            ("examples = 40", "examples = 4"),
        ):
            text = text.replace(old, new)
        (place / "task.toml").write_text(text)
        (place / "proposed").mkdir()
        (place / "proposed" / "properties.py").write_text("")
        self.task = load_task(place)
        self.adapter = _adapter(place / "reference" / "adapter.py")
        self._reference, self._running = environment(real(self.adapter))
        self.pool = Pool([self._reference])

    def seeds(self) -> list[bytes]:
        """Streams of right answers, from which others are made."""
        return self._seeds()

    @contextmanager
    def pair(self, stream: bytes) -> Iterator[Pair]:
        """Reference and candidate; the latter's own calls are answered from the stream."""
        with self._pair(self._candidate(stream)) as pair:
            yield pair

    @contextmanager
    def _pair(self, answering: Answering) -> Iterator[Pair]:
        candidate, running = environment(answering)
        try:
            yield Pair(self.task, Suite(), self.pool, candidate, 7, lambda what, done, total: None)
        finally:
            running.kill()

    def run(self, data: bytes) -> None:
        """Judge the auto-resetting batch, the sampler, and what is proposed, each by the answers of one stream."""
        each(
            lambda: self._judge_batch(self._candidate(data)),
            lambda: self._judge_proposed(data),
            allowed=EnvironmentFailure,
        )

    def _judge_proposed(self, data: bytes) -> None:
        judges: list[Played] = []

        def judge(file: Path) -> Channel:
            judges.append(Played(replaying(data)))
            return Channel(Pipes(judges[-1]), "the judge", TIMEOUT_S)

        try:
            with self.pair(b"") as pair:
                list(proposed.checks(pair, self.task.directory, judge))
        finally:
            for running in judges:
                running.kill()

    def close(self) -> None:
        """End the reference."""
        self.pool.close()
        self._running.kill()

    def _judge_batch(self, answering: Answering) -> None:
        from harness.verify.levels import autoreset, generic, own_draws

        with self._pair(answering) as pair:
            list(generic._laws(pair, "step", own_draws.own_timesteps))  # pyright: ignore[reportPrivateUsage]
            autoreset.check(pair, autoreset.play(pair, pair.candidate, autoreset.planned(pair)))

    def _candidate(self, stream: bytes) -> Answering:
        own, others = replaying(stream), real(self.adapter)
        return lambda request: own(request) if decode(request)["call"] in OWN else others(request)

    def _seeds(self) -> list[bytes]:
        """Right answers: samples of the law, the batch of the reference itself, and a property that holds."""
        frames: list[bytes] = []
        others, chance = real(self.adapter), np.random.default_rng(7)

        def honest(request: bytes) -> bytes | None:
            asked = decode(request)
            call, given = asked["call"], asked["with"]
            if call == "sample":
                frames.append(_frame({"gust": chance.normal(size=given["count"])}))
            elif call == "autoreset":
                env_indices = given.get("env_indices", range(given["envs"]))
                frames.append(_frame(_batch(self.adapter, given["actions"]["action"][:, env_indices])))
            else:
                return others(request)
            return frames[-1].replace(NONCE, nonce_of(request))

        self._judge_batch(honest)
        judged = [_frame({"holds": [-1] * (3 * proposed.EPISODES)})] * 2
        return [b"".join(frames), b"".join(frames[-1:]), b"".join(judged)]


def _batch(adapter: Any, actions: np.ndarray[Any, Any]) -> dict[str, Any]:
    """What `autoreset` answers for an adapter that the worker could serve."""
    reported = ("reward", "terminated", "truncated")
    columns = []
    for number in range(actions.shape[1]):
        walk = adapter()
        timesteps = [walk.reset(number)]
        finals, drawn = list(timesteps), []
        for action in actions[:, number]:
            timestep = walk.step(int(action))
            drawn.append([float(value) for _, value in walk.take_draws()])
            finals.append(timestep)
            over = timestep["terminated"] or timestep["truncated"]
            timesteps.append(
                {**walk.reset(number), **{name: timestep[name] for name in reported}} if over else timestep
            )
        columns.append((timesteps, finals, drawn))
    leaves: dict[str, Any] = {}
    for path, dtype in DTYPES.items():
        leaves[path] = np.array(
            [[timestep[path] for timestep in timesteps] for timesteps, _, _ in columns], dtype
        ).swapaxes(0, 1)
        if path not in reported:
            final = np.array([[timestep[path] for timestep in finals] for _, finals, _ in columns], dtype)
            leaves[f"final/{path}"] = final.swapaxes(0, 1)
    gusts = np.array([[(timestep or [0.0])[0] for timestep in drawn] for _, _, drawn in columns]).T
    used = np.array([[len(timestep) for timestep in drawn] for _, _, drawn in columns], np.int32).T
    return {
        "leaves": leaves,
        "step_draws": {"gust": gusts},
        "step_used": {"gust": used},
        "reset_draws": {},
        "reset_used": {},
    }


def _frame(value: Any) -> bytes:
    content = encode({"id": NONCE.decode(), "ok": value})
    return struct.pack(">I", len(content)) + content


def _adapter(file: Path) -> Any:
    spec = importlib.util.spec_from_file_location("fuzzed_walk", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Walk
