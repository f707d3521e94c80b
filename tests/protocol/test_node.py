"""A reference in another language: the example for Node.js keeps the protocol."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from harness.authoring.conformance import CHECKS, check_reference
from harness.errors import BadAnswer, Crashed, Raised, Side
from harness.model import Case
from harness.protocol.channel import Channel
from harness.protocol.environment import Environment
from harness.protocol.link import Pipes
from harness.protocol.worker import decode, encode
from harness.task.load import load_task
from harness.task.suite import load_suite
from harness.verdict import Outcome
from sandboxes import Sandbox

DIRECTORY = Path(__file__).parent / "node"
pytestmark = pytest.mark.node
# On the field of the example: the way from the middle to the upper edge and back.
UP_AND_DOWN = {"action": np.array([0, 0, 2, 2], np.int32)}


@pytest.fixture
def open_node(sandbox: Sandbox, node: str) -> Callable[[], Environment]:
    server = sandbox.inside("/protocol/node/reference/server.mjs")
    return lambda: Environment(Channel(Pipes(sandbox.spawn([node, server])), Side.REFERENCE, 20.0))


def test_its_task_file_is_right_and_its_suite_fits() -> None:
    task = load_task(DIRECTORY)
    assert task.reference.command == ("node", "reference/server.mjs")
    assert len(load_suite(task).invariants) == 2


@pytest.mark.slow
def test_it_passes_the_conformance_kit(open_node: Callable[[], Environment]) -> None:
    results = {result.name: result for result in check_reference(open_node, load_task(DIRECTORY))}
    assert list(results) == list(CHECKS)
    others = {name: r.detail for name, r in results.items() if r.outcome is not Outcome.PASS}
    assert {results[name].outcome for name in others} == {Outcome.SKIPPED}
    assert set(others) == {"tape", "wrong tapes", "vector", "pictures", "players"}
    assert others["tape"] == others["wrong tapes"] == "mode shared has no tape"
    assert "one environment at a time" in others["vector"]


def test_its_invariants_hold_of_its_episodes(open_node: Callable[[], Environment]) -> None:
    task = load_task(DIRECTORY)
    suite = load_suite(task)
    environment = open_node()
    for policy in task.budgets.policies:
        for trajectory in environment.drive(policy, range(20), task.budgets.horizon):
            for invariant in suite.invariants:
                assert invariant.violations(trajectory).tolist() == []
    environment.close()


def test_it_refuses_what_it_cannot_do_and_goes_on(open_node: Callable[[], Environment]) -> None:
    environment = open_node()
    case = Case(1, UP_AND_DOWN)
    wrong = [
        (replace(case, seed=1 << 63), BadAnswer, "is not from 0 to 2"),
        (replace(case, draws=()), BadAnswer, "takes no draws"),
        (replace(case, actions={"action": np.array([4], np.int32)}), BadAnswer, "outside its bounds, 0 to 3"),
        (replace(case, actions={"action": np.array([1], np.int16)}), BadAnswer, "action came as <i2"),
        (replace(case, start={}), BadAnswer, "the state is state/agent"),
        (replace(case, actions={"action": np.zeros(3, np.int32)}), Raised, "action 0 leads off the field"),
    ]
    for request, error, complaint in wrong:
        with pytest.raises(error, match=complaint):
            environment.rollout([request])
        assert environment.rollout([case])[0].timesteps > 1
    with pytest.raises(BadAnswer, match="there is no call sample"):
        environment.ask("sample")
    environment.close()
    with pytest.raises(Crashed):
        environment.reset(1)


def test_its_codec_and_ours_read_each_other(node: str) -> None:
    source = (DIRECTORY / "reference" / "server.mjs").read_text()
    codec = source[source.index("const ARRAY") : source.index("// --- arrays")]
    echo = "const arrayFrom = (parts) => new Extension(ARRAY, pack(parts));\nclass ProtocolError extends Error {}\n"
    echo += "writeSync(1, pack(unpack(readFileSync(0))));\n"
    message = {
        "numbers": [0, 127, 128, 255, 256, 65535, 65536, 2**32 - 1, 2**32, 2**53 + 1, 2**63 - 1],
        "negative": [-1, -32, -33, -128, -129, -32768, -32769, -(2**31), -(2**31) - 1, -(2**63)],
        "reals": [0.5, -1e300, float("inf")],
        "words": ["", "ä" * 15, "x" * 40, "y" * 300, "z" * 70_000],
        "bytes": [b"", bytes(300), bytes(70_000)],
        "others": [None, True, False, list(range(20)), list(range(70_000)), {str(i): i for i in range(20)}],
    }
    program = 'import { readFileSync, writeSync } from "node:fs";\n' + codec + echo
    run = [node, "--input-type=module", "-e", program]
    back = subprocess.run(run, input=encode(message), capture_output=True, check=True, timeout=30).stdout
    assert decode(back) == message
    for array in (np.arange(300, dtype=np.int32).reshape(3, 100), np.float32(0.1), np.zeros((0, 2), np.uint8)):
        back = decode(subprocess.run(run, input=encode(array), capture_output=True, check=True, timeout=30).stdout)
        assert (back.dtype, back.shape, back.tobytes()) == (array.dtype, array.shape, array.tobytes())
