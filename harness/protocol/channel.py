"""Request and answer over the link to a worker, with a deadline that the parent's clock keeps."""

from __future__ import annotations

import secrets
import threading
from typing import Any, NoReturn

from harness.errors import BadAnswer, BrokenContract, Crashed, EnvironmentFailure, Raised, Side, TimedOut
from harness.protocol.link import Gone, Late, Link, TooLong
from harness.protocol.worker import MAX_FRAME, MAX_TRACEBACK, MAX_VALUES, ProtocolError, decode, encode

MAX_MISTAKES = 50
MAX_MISTAKE = 500


class Channel:
    """One worker process, asked one thing at a time; threads that share a channel take turns.

    Once the process has crashed, been late or broken the protocol, it is gone for good: it is killed, and every later
    question raises `Crashed` at once and says what came before.

    Args:
        link: the way to the process.
        name: the side that it answers for, or what to call another worker in errors.
        timeout: seconds that one answer may take.
    """

    def __init__(self, link: Link, name: Side | str, timeout: float) -> None:
        self._link = link
        self._side, self._name = (name, name.value) if isinstance(name, Side) else (None, name)
        self._timeout = timeout
        self._turn = threading.Lock()
        self._ended = ""

    def ask(self, call: str, *, timeout: float | None = None, **arguments: Any) -> Any:
        """Send one request and return its answer.

        The request carries a fresh nonce that the answer must repeat, so that nothing written earlier can pass for it.

        Raises:
            Crashed, TimedOut: the process is gone.
            BadAnswer: it broke the protocol; it is gone, unless it said so itself in an error answer.
            Raised: its own code raised; the process goes on.
            EnvironmentFailure: the request cannot be sent at all; the process goes on.
        """
        nonce = secrets.token_hex(8)
        try:
            request = encode({"id": nonce, "call": call, "with": arguments})
        except ProtocolError as error:
            raise self._unsendable(call, str(error)) from error
        if len(request) > MAX_FRAME:
            raise self._unsendable(call, f"it has {len(request)} bytes, over {MAX_FRAME}")
        with self._turn:
            if self._ended:
                raise Crashed(
                    f"the process is gone: {self._ended}",
                    where=self._where(call),
                    side=self._side,
                    next_step="start another one",
                )
            try:
                answer = self._exchange(nonce, request, call, timeout)
            except BaseException as error:
                # Also an interrupt from the keyboard: a pipe that holds half an answer is of no use to anybody.
                self._end(error.what if isinstance(error, EnvironmentFailure) else type(error).__name__)
                raise
        if "error" in answer:
            self._raise_remote(call, answer["error"])
        return answer["ok"]

    def close(self) -> None:
        """End the process, kindly at first."""
        if not self._ended and self.alive:
            try:
                self.ask("close", timeout=1.0)
            except EnvironmentFailure:
                pass  # it is killed below whatever it answers
        self.kill()

    def kill(self) -> None:
        """End the process at once."""
        self._end("it was closed")

    @property
    def alive(self) -> bool:
        """Whether the process still runs."""
        return not self._ended and self._link.alive

    def _exchange(self, nonce: str, request: bytes, call: str, timeout: float | None) -> dict[str, Any]:
        limit = self._timeout if timeout is None else timeout
        try:
            answer = decode(self._link.exchange(request, call, limit), MAX_VALUES)
        except Late:
            raise TimedOut(
                f"no answer within {limit:g} s; the process was killed{self._said()}",
                where=self._where(call),
                side=self._side,
                expected="an answer in time",
                next_step="look for an endless loop, or raise the time limit in task.toml",
            ) from None
        except Gone as gone:
            raise Crashed(
                f"the process {gone.how} before it answered{self._said()}",
                where=self._where(call),
                side=self._side,
                expected="an answer to every request, until `close`",
                next_step="run the same call by hand; an exit status of 0 is no answer either",
                status=gone.status,
            ) from None
        except TooLong as long:
            raise self._broken(call, f"it announced a frame of {long.announced} bytes, over {MAX_FRAME}") from None
        except ProtocolError as error:
            raise self._broken(call, str(error)) from error
        # Compared as text: an array in its place would be compared element by element.
        if not isinstance(answer, dict) or not _is_text(answer.get("id"), nonce):
            raise self._broken(call, "its answer does not carry this request's id")
        if isinstance(answer.get("error"), dict) or ("ok" in answer and "error" not in answer):
            return answer
        raise self._broken(call, "its answer has neither `ok` nor a map `error`")

    def _where(self, call: str) -> str:
        return f"{self._name}, call `{call}`"

    def _broken(self, call: str, why: str) -> BadAnswer:
        return BadAnswer(
            f"{why}{self._said()}",
            where=self._where(call),
            side=self._side,
            expected="a frame as docs/protocol.md specifies it",
            next_step="nothing but frames may be written to the answer stream",
        )

    def _unsendable(self, call: str, why: str) -> EnvironmentFailure:
        return EnvironmentFailure(
            f"the request cannot be sent: {why}",
            where=self._where(call),
            side=self._side,
            expected=f"numbers of 64 bits, arrays of numbers, and at most {MAX_FRAME} bytes",
        )

    def _raise_remote(self, call: str, error: dict[str, Any]) -> NoReturn:
        message, trace = (plain(str(error.get(name, "")).strip()[:MAX_TRACEBACK]) for name in ("message", "traceback"))
        message = f"{plain(str(error.get('type', 'Error'))[:100])}: {message}"
        if _is_text(error.get("kind"), "protocol"):
            expected = "what the environment's spec declares, see docs/protocol.md"
            raise BadAnswer(message, where=self._where(call), side=self._side, expected=expected)
        if _is_text(error.get("kind"), "contract"):
            raise BrokenContract(
                message, where=self._where(call), side=self._side, mistakes=_mistakes(error.get("mistakes"))
            )
        raise Raised(message, where=self._where(call), side=self._side, next_step=trace)

    def _end(self, why: str) -> None:
        if not self._ended:
            self._ended = why
            self._link.kill()

    def _said(self) -> str:
        tail = plain(self._link.said())
        return f"; its standard error ends with:\n{tail}" if tail else ""


def _is_text(value: Any, text: str) -> bool:
    return isinstance(value, str) and value == text


def plain(text: str) -> str:
    """Text from a worker without what could steer a terminal or turn the direction of writing: `\ufffd` stands for it."""
    return "".join(char if char.isprintable() or char in "\n\t" else "\ufffd" for char in text)


def _mistakes(described: Any) -> tuple[dict[str, str], ...]:
    """What an untrusted worker says is wrong with it, as capped text."""
    rows = described if isinstance(described, list) else []
    return tuple(
        {plain(str(key)[:MAX_MISTAKE]): plain(str(value)[:MAX_MISTAKE]) for key, value in row.items()}
        for row in rows[:MAX_MISTAKES]
        if isinstance(row, dict)
    )
