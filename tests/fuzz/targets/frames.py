"""Both ends of a worker's pipe: what the harness makes of answers, and what the worker makes of requests."""

from __future__ import annotations

import io
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np

from harness.errors import EnvironmentFailure
from harness.model import Case, Draw
from harness.protocol.environment import Environment
from harness.protocol.worker import ProtocolError, SingleEnvironment, decode, serve
from tests.fuzz.mutate import frames_in, of_frames
from tests.fuzz.target import Target, Wrong, each
from tests.fuzz.wire import Answering, environment, real, recording, replaying
from tests.protocol.walker import Walker

ACTIONS = {"action": np.array([2, 0, 2], np.int64)}


def answers(directory: Path) -> Target:
    """What the channel, the environment and the sub-environments of `harness.protocol` make of a worker's bytes."""
    whole: list[bytes] = []
    with suppress(EnvironmentFailure):
        _drive(recording(real(Walker), whole))
    opening, rest = whole[0], whole[1:]
    # Short ones beside the whole: what is deep in the stream is reached only by a stream that is right up to there.
    seeds = [b"".join(whole), opening, *(opening + each for each in rest[:4])]
    return Target("frames", seeds, lambda data: _drive(replaying(data)), of_frames)


def _drive(answering: Answering) -> None:
    """Ask everything that an environment can be asked; after an error answer the next question is asked."""
    worker, running = environment(answering)
    try:
        asks = (_rollouts, _walk, _restored, _driven, _probed, _pictured, _vector, _forced)
        each(*(partial(ask, worker) for ask in asks), worker.close, allowed=EnvironmentFailure)
    finally:
        running.kill()


def _rollouts(worker: Environment) -> None:
    worker.rollout([Case(7, ACTIONS), Case(8, ACTIONS)])
    worker.reset(5)


def _walk(worker: Environment) -> None:
    for timestep in worker.timesteps(Case(7, ACTIONS)):
        assert len(timestep["draws"]) == 1


def _restored(worker: Environment) -> None:
    state = {"state/place": np.int64(1), "state/steps": np.int32(0), "state/slope": np.float64(0.5)}
    worker.restore({path: np.asarray(value) for path, value in state.items()})


def _driven(worker: Environment) -> None:
    worker.drive("random", [1, 2], 4)


def _probed(worker: Environment) -> None:
    worker.probe("move", {"place": np.array([1, 2], np.int64), "action": np.array([0, 1], np.int64)})


def _pictured(worker: Environment) -> None:
    worker.render()


def _vector(worker: Environment) -> None:
    vector = worker.vector([1, 2, 3], state=True)
    outward = {"action": np.full(3, 2, np.int64)}
    for step in range(4):
        vector.advance(outward, [10 + step, 20 + step, 30 + step])


def _forced(worker: Environment) -> None:
    """Refused, because the tape lacks a draw: an error answer is among what is recorded."""
    worker.rollout([Case(1, ACTIONS, draws=((Draw("start", np.array(1)), Draw("slope", np.array(0.5))),))])


def requests(directory: Path) -> Target:
    """What `harness.protocol.worker.serve` makes of requests: an answer for each, or the end where there is no frame."""
    asked: list[bytes] = []
    answering = real(Walker)

    def kept(request: bytes) -> bytes | None:
        asked.append(len(request).to_bytes(4, "big") + request)
        return answering(request)

    with suppress(EnvironmentFailure):
        _drive(kept)
    return Target(
        "requests", [b"".join(asked), *(asked[0] + each for each in asked[1:8])], _serve, of_frames, (ProtocolError,)
    )


def _serve(data: bytes) -> None:
    stream, reported = io.BytesIO(_modest(data)), io.BytesIO()
    serve(SingleEnvironment(Walker), stream.read, reported.write)
    for _, content in frames_in(reported.getvalue()):
        answer = decode(content)
        if not isinstance(answer, dict) or ("ok" in answer) == ("error" in answer):
            raise Wrong(f"the worker answered {answer!r:.200}")


def _modest(data: bytes) -> bytes:
    """The requests without those that ask for a long time's work: how much is asked for is the harness's own choice."""

    def work(content: bytes) -> bool:
        with suppress(Exception):
            given = decode(content)["with"]
            return not isinstance(given.get("horizon", 0), int | float) or not abs(given.get("horizon", 0)) < 1_000
        return False

    kept = [(length, content) for length, content in frames_in(data) if not work(content)]
    return b"".join(length.to_bytes(4, "big") + content for length, content in kept)


def batches(directory: Path) -> Target:
    """What the levels make of a candidate's answers to `autoreset`, `sample` and `judge`, which pass as they came."""
    from tests.fuzz.targets.levels import Walked

    walked = Walked(directory)
    return Target("batches", walked.seeds(), walked.run, of_frames, (EnvironmentFailure,), walked.close)
