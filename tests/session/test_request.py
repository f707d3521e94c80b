"""What a caller asks of an attempt stands in one object, from the tool or the command to the attempt."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest

from harness.errors import SessionError
from harness.session.request import VerificationRequest
from tests.paths import ROOT

EDGES = {
    "harness/cli/verify.py": {"verify"},  # options of a command
    "harness/cli/transfer.py": {"transfer"},
    "mcp_server/verification_tools.py": {"run_level_tests"},  # arguments of a tool
    "mcp_server/transfer_tools.py": {"policy_transfer"},
    "harness/session/session.py": {"verify"},  # arguments of a call in a notebook
}
"""Where a request is made, and the functions that may therefore name what it holds."""
ON_THE_WAY = ("harness/cli", "harness/host", "harness/operations/verification.py", "harness/session", "mcp_server")
WHAT_IT_HOLDS = {field.name for field in fields(VerificationRequest)}


def restated(source: str, allowed: set[str]) -> Iterator[str]:
    """Functions that take more than two of a request's values side by side."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name not in allowed:
            taken = {each.arg for each in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]}
            if len(taken & WHAT_IT_HOLDS) > 2:
                yield node.name


def sources() -> Iterator[tuple[str, str]]:
    for name in ON_THE_WAY:
        path = ROOT / name
        for file in [path] if path.is_file() else sorted(path.rglob("*.py")):
            yield file.relative_to(ROOT).as_posix(), file.read_text()


def test_nobody_between_the_edges_and_the_attempt_takes_it_apart() -> None:
    found = {name: list(restated(source, EDGES.get(name, set()))) for name, source in sources()}
    assert {name: functions for name, functions in found.items() if functions} == {}


def test_a_function_that_restates_a_request_is_found() -> None:
    assert list(restated("def verify(self, level=None, *, module=None, seed=None): ...", set())) == ["verify"]
    assert list(restated("async def ask(level, message, seed): ...", set())) == ["ask"]
    assert list(restated("def pass_on(request, client): ...", set())) == []


def test_each_edge_is_there_and_makes_one() -> None:
    for name, functions in EDGES.items():
        tree = ast.parse(Path(ROOT, name).read_text())
        made = {
            node.name
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            and any(isinstance(each, ast.Name) and each.id == "VerificationRequest" for each in ast.walk(node))
        }
        assert functions <= made, name


def test_a_seed_out_of_range_is_refused_when_the_request_is_made() -> None:
    assert VerificationRequest(seed=(1 << 63) - 1).to_json()["seed"] == (1 << 63) - 1
    for seed in (-1, 1 << 63):
        with pytest.raises(SessionError, match=r"the seed -?\d+ is out of range"):
            VerificationRequest(seed=seed)


def test_it_goes_to_a_host_as_what_it_is_made_of() -> None:
    request = VerificationRequest(1, "moves", "It moves", 7)
    assert VerificationRequest(**request.to_json()) == request
