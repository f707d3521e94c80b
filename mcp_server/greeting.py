"""The first answers of a server on stdio: what a client asks for before its first turn, answered while the SDK is imported.

On a machine at work those imports take seconds, and a client shows a model only the tools that it has by then. What is
asked first (the handshake and the lists) has the same answer whatever the home and the tasks are. So those answers are
recorded with the package, in `greeting.json`, for the very releases that they were recorded with; where others are installed
nothing is answered here. Whatever else a client says waits until the server is there.

    python -m tests.mcp_server.greetings    # records them after a tool has changed; a test holds the file to the server
"""

from __future__ import annotations

import json
import os
import select
import threading
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Generic, TypeVar

FILE = Path(__file__).with_name("greeting.json")
RELEASES = ("mcp", "pydantic", "pydantic_core")
"""What decides how an answer is written, besides this package."""
HELLO = "initialize"
PROTOCOL, CLIENT, CAPABILITIES = (
    f"io.modelcontextprotocol/{name}" for name in ("protocolVersion", "clientInfo", "clientCapabilities")
)
"""What each request of the stateless era carries."""
LISTENS_FIRST_S = 0.1
"""So long the first request is waited for before the imports begin beside it."""
LINE_AT_MOST = 64 * 1024
"""A longer line is nothing that is answered here."""
_CHUNK = 1 << 16

T = TypeVar("T")
Answers = Mapping[str, Mapping[str, Any]]
"""Results by protocol version and method."""


def installed_releases() -> dict[str, str]:
    """The releases on which the form of an answer depends, as they are installed."""
    return {name: version(name) for name in RELEASES}


def recorded() -> Answers:
    """The recorded answers; none where they were recorded with other releases than are installed."""
    document = json.loads(FILE.read_text(encoding="utf-8"))
    if document["releases"] != installed_releases():
        return {}
    results = document["results"]
    return {of: {method: results[n] for method, n in given.items()} for of, given in document["answers"].items()}


class Greeter:
    """Answers lines of a client for as long as it alone is there.

    Attributes:
        kept: the lines that the server has yet to see, in order. The handshake is among them although it was answered,
            because the server has to know its client.
        greeted: the id of that handshake; None while there was none. The server's own answer to it is not to be sent.
    """

    def __init__(self, answers: Answers) -> None:
        self._answers = answers
        self._version: str | None = None
        self.kept: list[bytes] = []
        self.greeted: str | int | None = None

    def take(self, line: bytes) -> bytes | None:
        """The answer to a line, which ends with a line feed; None for one that waits for the server."""
        request = _request(line)
        protocol = self._spoken(request) if request is not None else None
        result = None if protocol is None or request is None else self._answers.get(protocol, {}).get(request["method"])
        if request is None or result is None:
            self.kept.append(line)
            return None
        if request["method"] == HELLO:
            self.greeted, self._version = request["id"], protocol
            self.kept.append(line)
        answer = {"jsonrpc": "2.0", "id": request["id"], "result": result}
        return json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"

    def _spoken(self, request: Mapping[str, Any]) -> str | None:
        """The protocol version in which a request is asked that needs no look at its arguments."""
        given, meta = request["params"], request["params"].get("_meta", {})
        if request["method"] == HELLO:
            well_formed = isinstance(given.get("capabilities"), dict) and _is_client(given.get("clientInfo"))
            spoken = given.get("protocolVersion") if well_formed and self._version is None else None
        elif set(given) - {"_meta"} or not isinstance(meta, dict):  # a cursor
            return None
        elif PROTOCOL in meta:
            well_formed = isinstance(meta.get(CAPABILITIES), dict) and _is_client(meta.get(CLIENT))
            spoken = meta[PROTOCOL] if well_formed and self._version is None else None
        else:
            spoken = self._version
        return spoken if isinstance(spoken, str) else None


def greet(greeter: Greeter, load: Callable[[], T], source: int = 0, sink: int = 1) -> T:
    """Answer a client's lines until what comes after is loaded, and give that.

    Args:
        load: imports and builds it; called beside this, in a thread.
        source, sink: descriptors; whole lines alone are taken from the first, and none is lost.

    Raises:
        Exception: whatever `load` raises.
    """
    loading, unfinished = _Loading(load), b""
    try:
        if not select.select([source], [], [], LISTENS_FIRST_S)[0]:
            loading.start()
        while unfinished or not loading.ended:
            watched = [source] if unfinished and loading.ended else [source, loading.bell]
            ready = select.select(watched, [], [])[0]
            if source not in ready:
                continue
            read = os.read(source, _CHUNK)
            *lines, unfinished = (unfinished + read).split(b"\n")
            if not read:  # the client has said all that it will
                greeter.kept += [unfinished] if unfinished else []
                break
            for line in lines:
                answer = greeter.take(line + b"\n")
                if answer is not None:
                    _write(sink, answer)
            loading.start()
        return loading.result()
    finally:
        loading.close()


class _Loading(Generic[T]):
    """Something that is loaded in a thread; a descriptor (`bell`) can be read from when it has ended."""

    def __init__(self, load: Callable[[], T]) -> None:
        self._load, self._thread = load, threading.Thread(target=self._run, name="loading", daemon=True)
        self._made: list[T] = []
        self._error: BaseException | None = None
        self.bell, self._ring = os.pipe()

    @property
    def ended(self) -> bool:
        """Whether it has ended; `result` then answers at once."""
        return bool(self._made) or self._error is not None

    def start(self) -> None:
        """Begin, if that was not done."""
        if self._thread.ident is None:
            self._thread.start()

    def result(self) -> T:
        """What was loaded. Raises what loading it raised."""
        self.start()
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._made[0]

    def close(self) -> None:
        """Close the bell, unless it has yet to be rung."""
        if self._thread.ident is None or not self._thread.is_alive():
            os.close(self.bell)
            os.close(self._ring)

    def _run(self) -> None:
        try:
            self._made.append(self._load())
        except BaseException as error:
            self._error = error
        os.write(self._ring, b"\n")


def _request(line: bytes) -> dict[str, Any] | None:
    """A line as a request with arguments, None for anything else."""
    try:
        message = json.loads(line) if len(line) <= LINE_AT_MOST else None
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0" or "id" not in message:
        return None
    known, params = isinstance(message["id"], str | int) and not isinstance(message["id"], bool), message.get("params")
    well_formed = known and isinstance(message.get("method"), str) and isinstance(params, dict | None)
    return {**message, "params": params or {}} if well_formed else None


def _is_client(described: Any) -> bool:
    return isinstance(described, dict) and all(isinstance(described.get(name), str) for name in ("name", "version"))


def _write(sink: int, data: Sequence[int]) -> None:
    left = memoryview(bytes(data))
    while left:
        left = left[os.write(sink, left) :]
