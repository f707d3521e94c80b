"""A worker without a process: our side of the pipe is real, the other side is a thread that answers as it is reported."""

from __future__ import annotations

import io
import os
import struct
import threading
from collections.abc import Callable
from typing import Any

from harness.protocol.channel import Channel
from harness.protocol.environment import Environment
from harness.protocol.link import Pipes
from harness.protocol.worker import MAX_FRAME, SingleEnvironment, serve

NONCE = b"0123456789abcdef"
"""Stands for the request's id in a recorded answer."""
TIMEOUT_S = 20.0
Answering = Callable[[bytes], bytes | None]
"""From a request to the bytes of an answer; None, or a frame that is not whole, ends the worker."""


def _read(stream: int, count: int) -> bytes:
    chunks = []
    while count and (chunk := os.read(stream, count)):
        chunks.append(chunk)
        count -= len(chunk)
    return b"".join(chunks)


class Played:
    """A `sandboxes.Running` whose worker is a thread over real pipes."""

    def __init__(self, answering: Answering) -> None:
        requests, mine = os.pipe()
        its, answers = os.pipe()
        self.stdin, self.stdout = os.fdopen(mine, "wb", 0), os.fdopen(its, "rb", 0)
        self.pid = os.getpid()
        self.killed_by: str | None = None
        self._answering = answering
        self._thread = threading.Thread(target=self._serve, args=(requests, answers), daemon=True)
        self._thread.start()

    def _serve(self, requests: int, answers: int) -> None:
        try:
            while len(header := _read(requests, 4)) == 4:
                answer = self._answering(_read(requests, struct.unpack(">I", header)[0])) or b""
                left = memoryview(answer)
                while left:
                    left = left[os.write(answers, left) :]
                if len(answer) < 4 or len(answer) - 4 < struct.unpack_from(">I", answer)[0]:
                    return  # it stopped in the middle: nobody should wait for the rest
        except BrokenPipeError:
            pass
        finally:
            os.close(requests)
            os.close(answers)

    def stderr_tail(self) -> str:
        return ""

    def poll(self) -> int | None:
        return None if self._thread.is_alive() else 0

    def wait(self, timeout: float | None = None) -> int | None:
        self._thread.join(timeout)
        return self.poll()

    def ask_to_end(self) -> None:
        pass  # its worker ends when its pipes close

    def kill(self) -> None:
        for stream in (self.stdin, self.stdout):
            if not stream.closed:
                stream.close()
        self._thread.join(TIMEOUT_S)


def real(make: Callable[..., Any]) -> Answering:
    """What the worker itself answers for an adapter."""
    handler = make() if getattr(make, "answers_batches", False) else SingleEnvironment(make)

    def answer(request: bytes) -> bytes | None:
        stream, reported = io.BytesIO(struct.pack(">I", len(request)) + request), io.BytesIO()
        serve(handler, stream.read, reported.write)
        return reported.getvalue()

    return answer


def recording(answering: Answering, into: list[bytes]) -> Answering:
    """The same answers, each kept with `NONCE` for its id."""

    def answer(request: bytes) -> bytes | None:
        reported = answering(request)
        into.append((reported or b"").replace(nonce_of(request), NONCE))
        return reported

    return answer


def replaying(stream: bytes) -> Answering:
    """The bytes of a stream, a frame for each request, whatever was asked; the last request gets all that is left."""
    place = 0

    def answer(request: bytes) -> bytes | None:
        nonlocal place
        if place >= len(stream):
            return None
        length = struct.unpack(">I", stream[place : place + 4])[0] if place + 4 <= len(stream) else 0
        whole = length <= MAX_FRAME and place + 4 + length <= len(stream)
        end = place + 4 + length if whole and length else len(stream)
        reported, place = stream[place:end].replace(NONCE, nonce_of(request)), end
        return reported

    return answer


def nonce_of(request: bytes) -> bytes:
    """The id in a request that `harness.protocol.channel` made: its first value."""
    at = request.index(b"\xa2id") + 4
    return request[at : at + len(NONCE)]


def environment(answering: Answering) -> tuple[Environment, Played]:
    """An environment behind a worker that answers so."""
    running = Played(answering)
    try:
        return Environment(Channel(Pipes(running), "the fuzzed worker", TIMEOUT_S)), running
    except BaseException:
        running.kill()
        raise
