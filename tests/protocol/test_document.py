"""What docs/protocol.md says is what the code does."""

from __future__ import annotations

import re
import struct

import numpy as np

from harness.protocol.spec import CAPABILITIES
from harness.protocol.worker import CALLS, MAX_FRAME, PROTOCOL, WIRE_DTYPES, decode, encode
from tests.paths import ROOT

DOCUMENT = (ROOT / "docs" / "protocol.md").read_text()


def example(name: str) -> bytes:
    """The bytes of a worked example, without the words beside them."""
    block = re.search(rf"```hex {name}\n(.*?)```", DOCUMENT, re.DOTALL)
    assert block
    return bytes.fromhex("".join(line[:48] for line in block.group(1).splitlines()))


def test_the_worked_request_is_what_is_sent() -> None:
    request = encode({"id": "a1", "call": "reset", "with": {"seed": 7}})
    assert example("request") == struct.pack(">I", len(request)) + request
    assert f"these {4 + len(request)} bytes" in DOCUMENT


def test_the_worked_answer_is_what_is_sent_and_reads_as_it_says() -> None:
    drawn = [["coin", np.int8(1)]]
    answer = encode({"id": "a1", "ok": {"leaves": {"reward": np.zeros(1, np.float32)}, "draws": [drawn]}})
    assert example("answer") == struct.pack(">I", len(answer)) + answer
    read = decode(example("answer")[4:])["ok"]
    assert read["leaves"]["reward"].tolist() == [0.0] and read["draws"][0][0][1] == 1


def test_the_document_names_every_call_capability_and_dtype() -> None:
    assert f"version {PROTOCOL}" in DOCUMENT and MAX_FRAME == 2**30
    assert {call for call in CALLS if f"`{call}`" not in DOCUMENT} == set()
    assert {name for name in CAPABILITIES if f"| `{name}` |" not in DOCUMENT} == set()
    listed = re.search(r"`dtype` is one of `([^`]*)`", DOCUMENT)
    assert listed and set(listed.group(1).split()) == WIRE_DTYPES
