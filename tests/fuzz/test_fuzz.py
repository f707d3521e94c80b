"""Everything that reads foreign bytes answers or refuses them, by a declared error; the runner finds what does not."""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.errors import Crashed
from harness.protocol.channel import Channel
from harness.protocol.link import Pipes
from harness.protocol.worker import MAX_FRAME
from tests.fuzz.__main__ import NAMES, RUST, main
from tests.fuzz.made import made
from tests.fuzz.mutate import of_bytes
from tests.fuzz.runner import Finding, Run, attempt, fuzz, watched
from tests.fuzz.target import Target
from tests.fuzz.targets import TARGETS
from tests.fuzz.wire import TIMEOUT_S, Played

REGRESSIONS = Path(__file__).parent / "regressions"
SEED = 20261122
LONG = {"batches": 30, "bundle": 30, "mcp": 200, "record": 50, "refs": 30, "stdio": 100, "task": 150, "cases": 150}
"""Targets of which an input, or the making, takes long, and how many inputs they get."""
QUICK = [name for name in NAMES if name not in LONG and name not in RUST]
Opened = Callable[[str], Target]


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Opened]:
    """Targets, made by name; what they put into the environment is taken back."""
    for name in ("LOCKSTEP_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.setenv(name, os.environ.get(name, ""))  # so that it is restored, whatever a target does to it
        if not os.environ[name]:
            monkeypatch.delenv(name)
    targets = []

    def make(name: str) -> Target:
        targets.append(TARGETS[name](tmp_path))
        return targets[-1]

    yield make
    for target in targets:
        target.close()


def test_the_command_knows_every_target() -> None:
    assert set(NAMES) == set(TARGETS)
    assert {path.name for path in REGRESSIONS.iterdir()} <= set(NAMES)


@pytest.mark.parametrize("name", QUICK)
def test_inputs_are_answered_or_refused(opened: Opened, name: str) -> None:
    _hold(opened(name), 100)


@pytest.mark.slow
@pytest.mark.parametrize("name", LONG)
def test_inputs_that_take_longer_are_answered_or_refused(opened: Opened, name: str) -> None:
    _hold(opened(name), LONG[name])


@pytest.mark.slow
@pytest.mark.rust
@pytest.mark.parametrize("name", RUST)
def test_inputs_of_compiled_targets_are_answered_or_refused(opened: Opened, name: str, cargo: None) -> None:
    _hold(opened(name), 100)


def test_without_cargo_compiled_targets_are_left_out_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["--target", "gameboy-rom", "--seconds", "1", "--out", str(tmp_path / "out")]) == 0
    assert "left out, for there is no cargo here: gameboy-rom" in capsys.readouterr().out


def _hold(target: Target, inputs: int) -> None:
    """What was once found is found no more, and so many inputs of a fixed seed find nothing."""
    folder = REGRESSIONS / target.name
    known = {path.name: path.read_bytes() for path in sorted(folder.iterdir())} if folder.is_dir() else {}
    with watched() as begin:
        for name, data in (known | dict(made(target))).items():
            begin()
            found, _ = attempt(target, data)
            assert found is None, _words(f"{target.name}: {name}", found)
        run = fuzz(target, SEED, inputs=inputs, begin=begin)
    assert not run.findings, "\n".join(_words(target.name, found) for found in run.findings.values())
    assert run.inputs == inputs


def _words(name: str, found: Finding) -> str:
    return f"{name}: {found.kind}: {found.what}\n{found.data[:300]!r}\n{found.trace}"


# --- planted faults ---------------------------------------------------------------------------------------------------


def planted(run: Callable[[bytes], None], cpu_s: float = 10.0) -> Target:
    """A target with a fault."""
    return Target("planted", [b'{"a": 1}'], run, of_bytes, cpu_s=cpu_s)


def fuzzed(target: Target, inputs: int) -> Run:
    """Its inputs, with little memory to grow by."""
    with watched() as begin:
        return fuzz(target, SEED, inputs=inputs, begin=begin, growth_bytes=8 << 20)


def test_an_undeclared_error_is_found_once_and_its_input_is_made_short() -> None:
    def careless(data: bytes) -> None:
        if b"!" in data:
            raise KeyError("a key that nobody checked")

    target = Target("planted", [b"some text, and then: ! and more of it"], careless, of_bytes)
    run = fuzzed(target, 200)
    [found] = run.findings.values()
    assert found.kind == "crash" and "a key that nobody checked" in found.what
    assert b"!" in found.data and len(found.data) < len(target.corpus[0])


def test_an_endless_loop_is_found_and_the_next_input_is_read() -> None:
    def endless(data: bytes) -> None:
        while data == b'{"a": 1}':
            pass

    run = fuzzed(planted(endless, cpu_s=0.2), 20)
    assert [found.kind for found in run.findings.values()] == ["hang"]
    assert run.inputs == 20


@pytest.mark.slow
def test_memory_that_is_never_given_back_is_found_with_its_line() -> None:
    kept: list[bytes] = []

    def leaking(data: bytes) -> None:
        kept.append(bytes(1 << 15) + data)

    run = fuzzed(planted(leaking), 1_000)
    assert list(run.findings) == ["growth"]
    assert Path(__file__).name in run.findings["growth"].trace


def test_one_input_that_takes_much_memory_is_found() -> None:
    def greedy(data: bytes) -> None:
        assert len(b"\1" * (200 << 20)) > len(data)

    run = fuzzed(planted(greedy), 2)
    assert [found.kind for found in run.findings.values()] == ["peak"]


@pytest.mark.slow
def test_the_same_seed_makes_the_same_inputs() -> None:
    def inputs_of(seed: int) -> list[bytes]:
        seen: list[bytes] = []
        fuzz(planted(seen.append), seed, inputs=50)
        return seen

    assert inputs_of(1) == inputs_of(1) != inputs_of(2)


# --- the wire, and the command ----------------------------------------------------------------------------------------


def test_an_announced_gibibyte_that_never_comes_takes_no_memory() -> None:
    running = Played(lambda request: struct.pack(">I", MAX_FRAME) + b"\xc6\x3f\xff\xff\xff")

    def ask(data: bytes) -> None:
        with pytest.raises(Crashed):
            Channel(Pipes(running), "the fuzzed worker", TIMEOUT_S).ask("open")

    try:
        found, _ = attempt(planted(ask), b"")
        assert found is None
    finally:
        running.kill()


@pytest.mark.slow
def test_the_command_tells_what_it_did(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["--target", "objects", "--target", "prices", "--seconds", "2", "--workers", "2", "--out", str(tmp_path)])
        == 0
    )
    reported = json.loads((tmp_path / "result.json").read_text())
    assert reported["findings"] == 0 and all(
        row["inputs"] > 0 and row["state"] == "ended" for row in reported["targets"]
    )
    assert "objects" in capsys.readouterr().out
