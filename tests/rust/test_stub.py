"""The stub of compiled modules says what they are."""

from __future__ import annotations

import ast
from pathlib import Path
from types import ModuleType

import pytest

import harness.candidate.faces

pytestmark = [pytest.mark.slow, pytest.mark.rust]
STUB = Path(harness.candidate.faces.__path__[0]) / "lockstep_binding.pyi"


def test_the_stub_names_what_a_module_has_and_nothing_else(pong: ModuleType) -> None:
    tree = ast.parse(STUB.read_text())
    classes = {
        node.name: {
            each.name: [a.arg for a in each.args.args] for each in node.body if isinstance(each, ast.FunctionDef)
        }
        for node in tree.body
        if isinstance(node, ast.ClassDef)
    }
    made = {"Factory": pong.environment, "Instance": pong.environment.instance({})}
    made["VectorEnv"] = pong.environment.vector({}, 1, "disabled", 1)
    for name, value in made.items():
        own = {each for each in dir(type(value)) if not each.startswith("_") or each == "__len__"}
        assert own == set(classes[name]), name
        for method, arguments in classes[name].items():
            if not callable(found := getattr(type(value), method)):  # a property
                continue
            text = found.__text_signature__
            given = [
                part.split("=")[0].strip() for part in text.strip("()").replace("$", "").replace("/, ", "").split(",")
            ]
            assert [each for each in given if each not in ("/", "")] == arguments, (name, method, text)
    named = {
        each.target.id for each in tree.body if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
    }
    assert named >= {"SPEC", "environment"}
