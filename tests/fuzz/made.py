"""Inputs that once showed something and are too large, or too binary, to lie in a file: each by a few lines."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from collections.abc import Iterator
from typing import Any

import numpy as np

from harness.protocol.worker import decode, encode
from tests.fuzz.mutate import frames_in
from tests.fuzz.target import Target
from tests.fuzz.wire import NONCE

DEEP = 20_000


def made(target: Target) -> Iterator[tuple[str, bytes]]:
    """The inputs for a target, each with its name."""
    yield "lists in lists", b"[" * DEEP + b"]" * DEEP
    yield "a number of too many digits", b"9" * 5_000
    if target.name == "frames":
        yield from _frames(target)
    elif target.name in ("task", "prices"):
        seed = target.corpus[0]
        yield "deep TOML", seed + b"\na = " + b"[" * DEEP + b"]" * DEEP
        yield "TOML with too many digits", seed + b"\na = " + b"9" * 5_000
        yield "an integer beyond any float", seed.replace(b"timeout_s = 30", b"timeout_s = 1" + b"0" * 400)
        yield "a bound beyond any float", seed.replace(b"low = -5.0", b"low = -1" + b"0" * 400)
    elif target.name == "policy":
        yield from _policies(target.corpus[0])
    elif target.name == "mcp":
        yield "a tool of a long name", json.dumps({"tool": "x" * 70_000, "arguments": {}}).encode()
    elif target.name == "record":
        yield from _records(json.loads(target.corpus[0]))


def _frames(target: Target) -> Iterator[tuple[str, bytes]]:
    answers = [content for _, content in frames_in(target.corpus[0])]
    spec = decode(answers[0])["ok"]
    yield "a shape beyond any array", _stream([_changed(answers[0], spec, "observation/place", [1 << 62, 1 << 62])])
    for number, content in enumerate(answers):
        answer = decode(content)
        if "ended" in (answer.get("ok") or ()):
            answer["ok"]["ended"] = [np.arange(2)]
            yield "sub-environments that are arrays", _stream([*answers[:number], encode(answer)])
        if isinstance(answer.get("ok"), dict) and "draws" in answer["ok"]:
            answer["ok"]["draws"] = [[["start", [[1], [1, 2]]]]]
            yield "draws that are ragged", _stream([*answers[:number], encode(answer)])


def _changed(content: bytes, spec: Any, path: str, shape: list[int]) -> bytes:
    leaves = {**spec["leaves"], path: {**spec["leaves"][path], "shape": shape}}
    return encode({**decode(content), "ok": {**spec, "leaves": leaves}})


def _stream(answers: list[bytes]) -> bytes:
    assert all(NONCE in answer for answer in answers)
    return b"".join(struct.pack(">I", len(answer)) + answer for answer in answers)


def _policies(saved: bytes) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(saved)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = next(name for name in members if name.startswith("leaf/"))
    for what, old, new in (
        ("a header that does not end", b"(3, 2), }", b"((((((((("),
        ("an array of an exbibyte", b"(3, 2), }           ", b"(1152921504606846976"),
    ):
        yield what, _archive(members | {name: members[name].replace(old, new)}, zipfile.ZIP_STORED)
    yield "zeros that are packed", _archive(members | {name: b"\0" * (150 << 20)}, zipfile.ZIP_DEFLATED)
    about = io.BytesIO()
    np.save(about, np.frombuffer(b"[]", np.uint8))
    yield "a description that is not an object", _archive(members | {"about.npy": about.getvalue()}, zipfile.ZIP_STORED)


def _archive(members: dict[str, bytes], packing: int) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", packing) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return made.getvalue()


def _records(described: dict[str, Any]) -> Iterator[tuple[str, bytes]]:
    """A session with one value changed in its start, and one in an event after it."""
    plan = ("detail", "plan")
    changes: list[tuple[str, tuple[str, ...], Any]] = [
        ("levels that are lists", (*plan, "levels"), [[1], 2]),
        ("a limit that is text", (*plan, "limits", "dollars"), "much"),
        ("a limit that is nothing", (*plan, "limits", "iterations"), None),
        ("tokens that are text", ("usage",), {"dollars": "much"}),
        ("a duration that is none", ("duration_s",), float("nan")),
        ("a workspace without a tree", ("workspace",), {"dirHash": "x"}),
    ]
    for what, path, value in changes:
        again = json.loads(json.dumps(described))
        holder = again["events"][0]["event"]
        for name in path[:-1]:
            holder = holder[name]
        holder[path[-1]] = value
        yield what, json.dumps(again).encode()
    for number, row in enumerate(described["events"]):
        if "verdict.json" in row["files"]:
            again = json.loads(json.dumps(described))
            again["events"][number]["files"]["verdict.json"] = '{"levels": [5]}'
            yield f"a verdict of no form in event {number}", json.dumps(again).encode()
