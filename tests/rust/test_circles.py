"""No two Rust files of a crate import each other."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rust.circles import circles

ROOT = Path(__file__).parents[2]
CRATES = sorted(
    manifest.parent.relative_to(ROOT).as_posix()
    for place in ("rust", "environments")
    for manifest in (ROOT / place).rglob("Cargo.toml")
    if (manifest.parent / "src").is_dir() and "target" not in manifest.parts
)


def test_all_crates_are_looked_at() -> None:
    assert {"rust/env", "rust/gameboy", "rust/gameboy/batch", "environments/gameboy/candidate/core"} <= set(CRATES)


@pytest.mark.parametrize("crate", CRATES)
def test_no_two_files_import_each_other(crate: str) -> None:
    assert circles(ROOT / crate / "src") == []


def crate(place: Path, **files: str) -> Path:
    for name, text in files.items():
        path = place / f"{name.replace('__', '/')}.rs"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return place


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"a": "use crate::b::B;", "b": "use crate::a::A;"}, ["a.rs", "b.rs"]),
        ({"a": "use super::b::B;", "b": "use crate::{a::{A, C}, d};", "d": ""}, ["a.rs", "b.rs"]),
        ({"a": "use crate::b::B;", "b": "fn f() -> crate::a::A { }"}, ["a.rs", "b.rs"]),
        ({"a": "use crate::b::B;", "b": "use crate::c::C;", "c": "use crate::a::A;"}, ["a.rs", "b.rs", "c.rs"]),
        ({"a": "use crate::B;", "b": "use crate::A;", "lib": "pub use a::A;\npub use b::B;"}, ["a.rs", "b.rs"]),
        ({"a": "use crate::b::B;", "b__mod": "use crate::a::A;"}, ["a.rs", "b/mod.rs"]),
        ({"a": "use crate::b::B;", "b": "use crate::a::A;", "c": "use crate::a::A;"}, ["a.rs", "b.rs"]),
        ({"a": "use crate::b::B;\nuse other::a::A;", "b": ""}, []),
        ({"a": "use crate::b::B;", "b": "// use crate::a::A;"}, []),
        ({"a": "use crate::b::B;", "b": "#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}\n"}, []),
        ({"a__mod": "use b::B;", "a__b": "use super::A;"}, []),
    ],
)
def test_a_circle_is_found(tmp_path: Path, files: dict[str, str], found: list[str]) -> None:
    assert circles(crate(tmp_path / "src", **({"lib": "mod a;\nmod b;\n"} | files))) == found
