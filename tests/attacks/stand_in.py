"""For `tests.attacks.before`, a plugin of pytest in an old tree: stand-ins for what the tree lacks, a line for each test.

It is copied to the top of that tree, and imports nothing of today's.
"""

from __future__ import annotations

import ast
import importlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

import pytest

TEST, _, TOLD = os.environ.get("LOCKSTEP_BEFORE", "").rpartition(":")


class Lacking(Exception):
    """A test used what the old tree does not have."""


class StandIn:
    """Ends a test that uses it in any way."""

    def __init__(self, name: str) -> None:
        self.__dict__["_name"] = name

    def _used(self, *_: Any, **__: Any) -> NoReturn:
        raise Lacking(f"the old code has no {self.__dict__['_name']}")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return StandIn(f"{self.__dict__['_name']}.{name}")

    __call__ = __iter__ = __getitem__ = __contains__ = __len__ = __bool__ = __index__ = _used
    __add__ = __radd__ = __mul__ = __rmul__ = __sub__ = __rsub__ = __lt__ = __gt__ = __le__ = __ge__ = _used
    __fspath__ = __str__ = __format__ = __enter__ = _used


def pytest_sessionstart() -> None:
    """Let the test file's imports succeed, and programs that it starts be of the old tree."""
    _start_programs_of_this_tree()
    for node in ast.walk(ast.parse(Path(TEST).read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and not node.module.startswith("tests"):
            module = _module(node.module)
            for name in node.names:
                if not hasattr(module, name.name):
                    try:
                        importlib.import_module(f"{node.module}.{name.name}")
                    except ImportError:
                        setattr(module, name.name, StandIn(f"{node.module}.{name.name}"))


def _start_programs_of_this_tree() -> None:
    """A program that is given an environment of its own would find the code that is installed: today's."""
    begin = subprocess.Popen.__init__

    def begun(self: Any, *arguments: Any, **named: Any) -> None:
        if named.get("env") is not None:
            named["env"] = {**named["env"], "PYTHONPATH": os.environ["PYTHONPATH"]}
        begin(self, *arguments, **named)

    subprocess.Popen.__init__ = begun  # type: ignore[method-assign]


def _module(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if not (error.name and name.startswith(error.name)):
            raise
        parent, _, last = name.rpartition(".")
        sys.modules[name] = made = ModuleType(name)
        if parent:
            setattr(_module(parent), last, made)
        return made


_WORST: dict[str, tuple[str, str]] = {}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[Any]:
    """Note the worst that became of a test, with the kind of error."""
    report = yield
    test = item.nodeid.rpartition("::")[2]
    if call.excinfo is not None and test not in _WORST:
        error = call.excinfo.value
        lacks = isinstance(error, Lacking | AttributeError | ImportError)
        lacks = lacks or any(sign in str(error) for sign in ("unexpected keyword argument", StandIn.__name__))
        words = " ".join(f"{type(error).__name__}: {error}".split())[:110]
        _WORST[test] = ("cannot run" if lacks else "fails", words)
    if report.when == "teardown":
        what, why = _WORST.get(test, ("PASSES", ""))
        with open(TOLD, "a") as file:
            file.write(json.dumps({"test": test, "what": what, "why": why}) + "\n")
    return report
