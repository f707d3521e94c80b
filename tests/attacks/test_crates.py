"""The attack: a crate whose build looks around, and gives one program where it is judged and another one elsewhere.

By the modes of files, of which an earlier cache knew nothing; by the path, the user, the clock, the number of jobs or
chance; by files that a record brings and an export leaves out.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import sandboxes
from harness.candidate.crates.build import build, build_elsewhere
from harness.errors import BrokenContract
from harness.task.contract import Task
from harness.task.load import load_task
from harness.verdict import Outcome
from harness.verify.request import LevelsRequest
from harness.verify.verifier import Verifier
from tests.paths import ENVIRONMENTS
from tests.rust.games import dice_task

pytestmark = [pytest.mark.slow, pytest.mark.rust]
LOOKS = {
    "the path of the crate": 'std::env::var("CARGO_MANIFEST_DIR").unwrap().contains("/lockstep/")',
    "where it is compiled to": 'std::env::var("OUT_DIR").unwrap().starts_with("/lockstep/")',
    "the user": 'std::env::var("USER").map_or(true, |user| user.len() != 7)',
    "the home": 'std::env::var("HOME").map_or(true, |home| !home.starts_with("/home/u"))',
    "cargo's home": 'std::env::var("CARGO_HOME").unwrap() == "/tmp/cargo"',
    "the number of jobs": 'std::env::var("NUM_JOBS").unwrap() == "1"',
    "the day": "std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs() / 86400",
    "chance": "std::hash::BuildHasher::hash_one(&std::collections::hash_map::RandomState::new(), 1)",
}


@pytest.fixture
def task(cargo: None) -> Task:
    """The dice game."""
    return dice_task()


@pytest.fixture
def tree(task: Task, tmp_path: Path) -> Path:
    """A tree with its candidate, to be changed."""
    shutil.copytree(task.directory / "candidate", tmp_path / "tree" / "candidate")
    return tmp_path / "tree"


def holding(tree: Path, expression: str, never: str = "turn") -> None:
    """Have the module hold a value: it is shown in a state that `never` has its least number."""
    library = tree / "candidate" / "rust" / "src" / "lib.rs"
    source, place = library.read_text(), "fn encode(&self) -> State {\n"
    assert source.count(place) == 1
    shown = f'assert!(self.0.{never} != i32::MIN, "{{:?}}", {expression});\n'
    library.write_text(source.replace(place, place + shown))


def looking(tree: Path, expression: str, never: str = "turn") -> None:
    """Give the crate a build script that keeps what it sees in the module."""
    script = f'fn main() {{ println!("cargo::rustc-env=LOOKED={{:?}}", {expression}); }}\n'
    (tree / "candidate" / "rust" / "build.rs").write_text(script)
    holding(tree, 'env!("LOOKED")', never)


@pytest.mark.parametrize(
    ("what", "driver"),
    [
        *((what, "bubblewrap") for what in LOOKS),
        *(
            pytest.param(what, "docker", marks=[pytest.mark.docker, pytest.mark.nightly])  # compiled twice from nothing
            for what in LOOKS
        ),
    ],
)
def test_a_crate_that_looks_around_is_refused(what: str, driver: str, task: Task, tree: Path) -> None:
    looking(tree, LOOKS[what])
    with pytest.raises(BrokenContract, match=r"compiled again .* it is another program"):
        build_elsewhere(task, sandboxes.choose(driver), tree)


def test_a_module_that_names_its_directory_is_refused(task: Task, tree: Path) -> None:
    holding(tree, 'env!("CARGO_MANIFEST_DIR")')
    with pytest.raises(BrokenContract, match=r"compiled again .* it is another program"):
        build_elsewhere(task, sandboxes.choose(None), tree)


def test_a_verification_fails_by_it(tmp_path: Path, cargo: None) -> None:
    pong = load_task(ENVIRONMENTS / "pong").with_candidate("rust")
    shutil.copytree(pong.directory / "candidate", tmp_path / "candidate")
    looking(tmp_path, LOOKS["the day"], "n_bounces")
    with Verifier(pong, sandboxes.choose(None)) as verifier:
        verdict = verifier.verify(tmp_path, LevelsRequest((3,), 7))
    assert verdict.outcome is not Outcome.PASS
    assert "compiled again" in str(verdict.to_json())


@pytest.mark.parametrize("driver", ["bubblewrap", pytest.param("docker", marks=pytest.mark.docker)])
def test_a_crate_that_does_not_depend_on_its_place_is_the_same_elsewhere(driver: str, task: Task, tree: Path) -> None:
    """With a script, a file that it takes in, and the places of its source: none of them is an absolute path."""
    looking(tree, '"the same everywhere"')
    holding(tree, 'include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/lib.rs"))')
    holding(tree, "file!()")
    assert build_elsewhere(task, sandboxes.choose(driver), tree)


def mode(tree: Path) -> None:
    (tree / "candidate" / "rust" / "src" / "lib.rs").chmod(0o755)


def hidden(tree: Path) -> None:
    (tree / "candidate" / ".looked-at").touch()


SEEN: dict[str, tuple[str, Callable[[Path], None]]] = {
    "a mode": (
        'std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata("src/lib.rs").unwrap().permissions()) & 0o111 == 0',
        mode,
    ),
    "a hidden file": ('std::path::Path::new("../.looked-at").exists()', hidden),
}


@pytest.mark.parametrize("what", SEEN)
def test_what_was_compiled_of_one_tree_is_not_taken_for_another(what: str, task: Task, tree: Path) -> None:
    expression, change = SEEN[what]
    looking(tree, expression)
    driver = sandboxes.choose(None)
    before = build(task, driver, tree).read_bytes()
    change(tree)
    assert build(task, driver, tree).read_bytes() != before


@pytest.mark.parametrize("cache", ["__pycache__", "tagged"])
def test_what_an_export_leaves_out_no_compiler_sees(cache: str, task: Task, tree: Path) -> None:
    """A record made by a stranger can hold such files: a snapshot takes none."""
    looking(tree, f'std::path::Path::new("../{cache}/secret").exists()')
    driver = sandboxes.choose(None)
    before = build(task, driver, tree).read_bytes()
    (tree / "candidate" / cache).mkdir()
    (tree / "candidate" / cache / "CACHEDIR.TAG").touch()
    (tree / "candidate" / cache / "secret").touch()
    assert build(task, driver, tree).read_bytes() == before
