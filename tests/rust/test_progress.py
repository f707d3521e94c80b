"""Compiling what candidates are linked with takes a minute: how many crates are done is told on the way."""

from __future__ import annotations

from pathlib import Path

import pytest

import sandboxes
from harness.candidate.crates import counted, runtime
from harness.candidate.crates.toolchain import toolchain
from tests.tools import needs


def mark(target: Path, crate: str, name: str) -> None:
    place = target / "release" / ".fingerprint" / f"{crate}-0123456789abcdef"
    place.mkdir(parents=True, exist_ok=True)
    (place / name).write_text("")


def test_each_crate_that_is_compiled_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counted, "LOOKS_S", 0.0)
    told: list[str] = []
    upcoming = iter(("either", "rayon", "blank"))

    def tell(line: str) -> None:
        told.append(line)
        if (name := next(upcoming, None)) is not None:
            mark(tmp_path, name, f"lib-{name}")

    mark(tmp_path, "libc", "build-script-build-script-build")
    mark(tmp_path, "libc", "dep-lib-libc")
    with counted.counting_crates(tmp_path, 3, "compiling", tell):
        while len(told) < 4:
            pass
    assert told == [f"compiling ({done} of 3 crates)" for done in range(4)]


@pytest.mark.slow
@needs("cargo", package="cargo")
def test_cargo_leaves_the_marks_that_are_counted() -> None:
    driver = sandboxes.choose(None)
    target = runtime.compiled(driver, toolchain(driver))
    places = (target / "release" / ".fingerprint").iterdir()
    crates = {place.name.rpartition("-")[0] for place in places}
    assert "pyo3" in crates
    assert counted.compiled_crates(target) >= len(crates)
