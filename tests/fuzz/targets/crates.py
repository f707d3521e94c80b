"""What candidates in Rust brought: a crate's manifest, what the compiler says, what LLVM counted, what a module declares."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.candidate.adapters.rust.candidate import _mistakes
from harness.candidate.crates.build import _does_not_compile, crate_name
from harness.errors import LockstepError
from harness.measure.coverage import llvm
from harness.measure.coverage.result import Coverage, File, Level, numbers, ranges
from harness.support.foreign import json_of
from tests.fuzz.mutate import json_text, of_json, of_json_lines, of_toml
from tests.fuzz.target import Target, Wrong

MANIFEST = b"""[package]
name = "walk"
version = "0.1.0"
edition = "2024"

[lib]
path = "src/lib.rs"

[dependencies]
lockstep-env = "0.1"
core-of-it = { path = "../core" }
"""
COMPILER = b"""{"reason":"compiler-artifact","target":{"name":"pyo3"},"fresh":true}
{"reason":"compiler-message","message":{"level":"warning","message":"unused","spans":[{"line_start":1}],"rendered":"unused"}}
{"reason":"compiler-message","message":{"level":"error","message":"mismatched types","code":{"code":"E0308"},\
"spans":[{"file_name":"src/lib.rs","line_start":9}],"rendered":"error[E0308]: mismatched types\\n --> src/lib.rs:9:5\\n"}}
{"reason":"build-finished","success":false}
"""
LENGTHS = {"/lockstep/candidate/src/lib.rs": 40, "/lockstep/candidate/core/src/lib.rs": 3}
COUNTED = {
    "type": "llvm.coverage.json.export",
    "data": [
        {
            "files": [
                {
                    "filename": "/lockstep/candidate/src/lib.rs",
                    "segments": [
                        [1, 1, 4, True, True, False], [2, 12, 0, True, True, False], [5, 6, 4, True, False, False],
                        [6, 2, 0, False, False, False], [9, 1, 0, True, True, True], [9, 22, 0, False, False, False],
                    ],
                },
                {"filename": "/lockstep/crates/leaves.rs", "segments": [[1, 1, 9, True, True, False]]},
            ],
            "functions": [
                {
                    "name": "_RNvCs1_4walk4rain",
                    "filenames": ["/lockstep/candidate/src/lib.rs"],
                    "regions": [[1, 1, 6, 2, 4, 0, 0, 0], [2, 12, 5, 6, 0, 0, 0, 0], [9, 3, 9, 4, 7, 0, 0, 1]],
                },
                {"filenames": ["/elsewhere/lib.rs"], "regions": [[1, 1, 2, 2, 9, 0, 0, 0]]},
            ],
        }
    ],
}  # fmt: skip
DECLARED: dict[str, Any] = {
    "observation": [["observation", "float32", [8]]],
    "action": [["action", "int64", []]],
    "state": [["place", "int32", []]],
    "reward": [["reward", "float32", []]],
    "probes": {"serve": [[["serve", "int32", []]], [["ball_x", "float32", []]]]},
}
CONTRACT = {
    "leaves": {
        "observation": {"dtype": "float32", "shape": [8]},
        "action": {"dtype": "int64", "shape": []},
        "state/place": {"dtype": "int32", "shape": []},
        "reward": {"dtype": "float32", "shape": []},
        "terminated": {"dtype": "bool", "shape": []},
        "truncated": {"dtype": "bool", "shape": []},
    },
    "probes": {
        "serve": {
            "inputs": {"serve": {"dtype": "int32", "shape": []}},
            "outputs": {"ball_x": {"dtype": "float32", "shape": []}},
        }
    },
}


def manifest(directory: Path) -> Target:
    """A crate's Cargo.toml: it names the crate, by a name that may stand in another manifest, or is refused."""

    def run(data: bytes) -> None:
        (directory / "Cargo.toml").write_bytes(data)
        name = crate_name(directory)
        if not name.replace("-", "_").isidentifier() or not name.isascii():
            raise Wrong(f"a crate is called {name!r}")

    return Target("manifest", [MANIFEST, b'package.name = "a"\n'], run, of_toml)


def compiler(directory: Path) -> Target:
    """What cargo says of a crate that does not compile: always an error that says something, and not too much."""

    def run(data: bytes) -> None:
        messages, _, errors = data.partition(b"\0")
        broken = _does_not_compile(messages, errors)
        if len(str(broken)) > 20_000 or not broken.what:
            raise Wrong(f"it is reported in {len(str(broken))} characters")

    return Target("compiler", [COMPILER, b"\0error: no such crate\n"], run, of_json_lines)


def counted(directory: Path) -> Target:
    """What `llvm-cov export` says: figures that can be, and that a record gives back as they were; or a refusal."""

    def run(data: bytes) -> None:
        reaches, functions = llvm.reached(json_of(data), LENGTHS)
        if any(function.file not in LENGTHS for function in functions):
            raise Wrong("a function of a file that does not count")
        for name, reach in reaches.items():
            if not reach.reached <= reach.lines or not reach.taken <= reach.branches:
                raise Wrong("more was reached than there is")
            if max(reach.lines, default=0) > LENGTHS[name] or numbers(ranges(reach.lines)) != reach.lines:
                raise Wrong("lines that no file has")
        files = {name: File(reach.lines, reach.branches) for name, reach in reaches.items()}
        of_files = {name: reach.reached for name, reach in reaches.items()}, {n: r.taken for n, r in reaches.items()}
        described = Coverage(files, {}, {1: Level(*of_files)}).to_json(text=False)
        if Coverage.from_json(described).to_json(text=False) != described:
            raise Wrong("a record gives back something else")

    return Target("counted", [json_text(COUNTED)], run, of_json, (ValueError,))


def module(directory: Path) -> Target:
    """What a module declares of itself, of the form that Lockstep's crates give it: as the task has it, or each mistake."""

    def run(data: bytes) -> None:
        spec = json_of(data)
        if not _has_form(spec):
            return
        mistakes = list(_mistakes(spec, CONTRACT))
        if not mistakes and _sorted(spec) != _sorted(DECLARED):
            raise Wrong("another module passes for the one that the task has")

    return Target("module", [json_text(DECLARED)], run, _of_declared, (ValueError, LockstepError))


def _of_declared(rng: random.Random, data: bytes, donors: Sequence[bytes]) -> bytes:
    for _ in range(8):  # most changes break the form, which Rust's types hold up
        data, before = of_json(rng, data, donors), data
        try:
            if _has_form(json_of(data)):
                continue
        except ValueError:
            pass
        data = before
    return data


def _has_form(spec: object) -> bool:
    if not isinstance(spec, dict) or spec.keys() != DECLARED.keys() or not isinstance(spec["reward"], str):
        return False
    probes = spec["probes"]
    if not isinstance(probes, dict) or not all(
        isinstance(sides, list) and len(sides) == 2 for sides in probes.values()
    ):
        return False
    lists = [spec["observation"], spec["action"], spec["state"], *(side for sides in probes.values() for side in sides)]
    return all(isinstance(leaves, list) and all(map(_is_leaf, leaves)) for leaves in lists)


def _is_leaf(leaf: object) -> bool:
    match leaf:
        case [str(), str(), list(shape)]:
            return all(type(side) is int and side >= 0 for side in shape)
    return False


def _sorted(spec: dict[str, Any]) -> str:
    """Leaves have no order, and are named once."""
    lists = {name: sorted(map(repr, spec[name])) for name in ("observation", "action", "state")}
    return repr((lists, spec["reward"], sorted((name, repr(sides)) for name, sides in spec["probes"].items())))
