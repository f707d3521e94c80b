"""A candidate in Rust is verified as one in JAX is: what agrees passes, and each planted fault is found where it must be."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import sandboxes
from harness.candidate.crates.build import build
from harness.candidate.crates.project import write_project
from harness.candidate.crates.runtime import build_spec, cargo, sources
from harness.candidate.crates.toolchain import toolchain
from harness.candidate.faces.rust_batch import load_module
from harness.candidate.skeleton import write_skeleton
from harness.candidate.start import CandidateWorker
from harness.errors import BrokenContract, EnvironmentFailure
from harness.model import Case
from harness.task.contract import Task
from harness.verdict import Outcome, Verdict
from harness.verify.request import LevelsRequest
from harness.verify.verifier import Verifier
from tests.edits import edit_crate
from tests.sampling import by_day

pytestmark = [pytest.mark.slow, pytest.mark.pong, pytest.mark.rust]

FAULTS = {
    "a wall that lets the ball keep its way": (
        "rules.rs", "self.ball_vy = -self.ball_vy;\n        }\n    }", "}\n    }", 1, "probe/ball/ball_vy", "value"
    ),
    "a negative zero that is kept": (
        "rules.rs", "let above = if value > 0.0 { value } else { 0.0 };", "let above = value.max(-0.0);", 1,
        "probe/agent/ball_[xy]", "value",
    ),
    "a serve that can go up": (
        "rules.rs", "(serve % 2 - 1) as f32", "(serve % 3 - 1) as f32", 1, "probe/serve/ball_vy", "value"
    ),
    "a draw that is made twice": (
        "lib.rs", "self.0.new_round(serve(draws));", "serve(draws);\n        self.0.new_round(serve(draws));", 1,
        "draw/serve", ".*",
    ),
    "a die that is loaded": (
        "lib.rs", "(random.next_u32() >> 1) as i32", "(random.next_u32() >> 2) as i32", 1, "draw/serve", "law"
    ),
    "a state that forgets": (
        "lib.rs", "self.0 = *state;", "self.0 = State { n_bounces: 0, ..*state };", 1, "state/n_bounces", ".*"
    ),
    "seven sub-frames": ("rallies.rs", "const FRAMES: u32 = 8;", "const FRAMES: u32 = 7;", 1, "state/.*|observation", ".*"),
    "actions that come to other games where several step at once": (
        "lib.rs", "games.iter_mut().zip(actions) {", "games.iter_mut().zip(actions.iter().rev()) {", 1,
        "state/.*|observation", "determinism|batched|scanned",
    ),
    "a game that rests where eight step at once": (
        "rallies.rs", "for lane in 0..LANES {", "for lane in 0..LANES - 1 {", 1, "state/.*|observation", "batched|scanned"
    ),
    "a clone that is not one": (
        "lib.rs", "#[derive(Clone, Debug)]\npub struct Pong(State);",
        "#[derive(Debug)]\npub struct Pong(State, bool);\n\nimpl Clone for Pong {\n    fn clone(&self) -> Self {\n"
        "        Pong(self.0, true)\n    }\n}", 1, ".*", "batched|scanned",
    ),
}  # fmt: skip
"""File, text, what takes its place, level, path, rule."""
BY_DAY = {
    "a wall that lets the ball keep its way",
    "a draw that is made twice",
    "a die that is loaded",
    "a clone that is not one",
}
"""One for each check that finds a fault of these."""


@pytest.fixture(scope="module")
def verify(task: Task) -> Iterator[Callable[..., Verdict]]:
    """Verify a tree."""
    with Verifier(task, sandboxes.choose(None)) as verifier:
        yield lambda tree, levels=(1,), seed=7: verifier.verify(tree, LevelsRequest(levels, seed))


def crate(tree: Path) -> Path:
    return tree / "candidate" / "rust"


def test_the_candidate_passes_all_levels_below_training(verify: Callable[..., Verdict], task: Task) -> None:
    verdict = verify(task.directory, (1, 2, 3))
    assert verdict.outcome is Outcome.PASS, verdict.to_json()
    names = {check.name for report in verdict.reports for check in report.checks}
    assert {"single = batched = scanned", "law of serve at step", "auto-reset batch", "as its users run it"} <= names


@pytest.mark.parametrize("driver", ["bubblewrap", "process"])
def test_cargo_finds_the_crate_and_all_others_wherever_mounts_are_seen(driver: str, task: Task, tmp_path: Path) -> None:
    """In `process` a mount is seen at a place of this machine, which the manifest has to name."""
    chosen, target = sandboxes.choose(driver), tmp_path / "target"
    target.mkdir()
    project = tmp_path / "project"
    write_project(project, "pong", task.directory / "candidate", "candidate/rust", "pong", None)
    with chosen.open(build_spec(toolchain(chosen), sources(), project, target, memory_mb=2048)) as sandbox:
        found = cargo(sandbox, "tree", "--prefix", "none")
        (project / "candidate" / "rust").rename(project / "candidate" / "nowhere")
        missing = cargo(sandbox, "tree")
    named = {line.split()[0] for line in found.stdout.decode().splitlines() if line}
    assert found.exit_code == 0 and {"pong", "lockstep-env", "lockstep-python", "pyo3"} <= named, found.stderr.decode()
    assert missing.exit_code != 0


@pytest.mark.parametrize("name", by_day(FAULTS, BY_DAY))
def test_a_planted_fault_is_found(name: str, tree: Path, verify: Callable[..., Verdict]) -> None:
    file, old, new, level, path, rule = FAULTS[name]
    edit_crate(tree, f"src/{file}", old, new)
    if name == "a clone that is not one":
        for source in ("lib.rs", "rallies.rs"):
            text = (crate(tree) / "src" / source).read_text()
            (crate(tree) / "src" / source).write_text(text.replace("Pong(state)", "Pong(state, _)"))
        edit_crate(tree, "src/lib.rs", "Ok(Pong(State::blank()))", "Ok(Pong(State::blank(), false))")
        edit_crate(
            tree,
            "src/lib.rs",
            "Seen { observation: self.0.observation }",
            "Seen { observation: if self.1 { [0.0; 8] } else { self.0.observation } }",
        )
    verdict = verify(tree)
    assert verdict.outcome is Outcome.FAIL, (verdict.error, verdict.to_json())
    found = [(d.path, d.rule) for report in verdict.reports for d in report.divergences]
    assert verdict.reports[-1].level == level
    assert any(re.fullmatch(path, at) and re.fullmatch(rule, broken) for at, broken in found), found


@pytest.mark.parametrize("games", ["games.len() > 1", "games.len() == 1"])
def test_what_is_rare_is_looked_at_in_batches_and_alone(games: str, tree: Path, verify: Callable[..., Verdict]) -> None:
    """A fault in long rallies alone, of many games that step at once, or of one that steps by itself."""
    edit_crate(
        tree, "src/lib.rs", "for (Pong(state), action) in", f"let rare = {games};\n        for (Pong(state), action) in"
    )
    edit_crate(
        tree, "src/lib.rs", "state.tick += 1;", "state.tick += if rare && state.n_bounces > 15 { 2 } else { 1 };"
    )
    verdict = verify(tree, (3,))
    assert verdict.outcome is Outcome.FAIL
    [divergence] = verdict.reports[-1].divergences
    assert (divergence.path, divergence.reproduced) == ("state/tick", True)


def test_dice_that_are_loaded_where_nobody_looks_are_found_as_users_run_it(
    tree: Path, verify: Callable[..., Verdict]
) -> None:
    """Chance is of one type whether it is noted or not, but a crate can read how its process was started."""
    noted = (
        'if std::fs::read_to_string("/proc/self/cmdline").is_ok_and(|line| line.contains("runpy")) { -1 } else { -2 }'
    )
    edit_crate(tree, "src/lib.rs", "(random.next_u32() >> 1) as i32", f"(random.next_u32() >> 1) as i32 & {noted}")
    verdict = verify(tree, (1, 3))
    assert verdict.outcome is Outcome.FAIL
    [failed] = [check for check in verdict.reports[-1].checks if check.outcome is Outcome.FAIL]
    assert (verdict.reports[-1].level, failed.name, failed.divergences[0].rule) == (
        3,
        "as its users run it",
        "exported",
    )


def test_a_crate_that_does_not_compile_is_reported_with_the_compilers_words(
    tree: Path, verify: Callable[..., Verdict]
) -> None:
    edit_crate(tree, "src/lib.rs", "self.0 = *state;", "self.0 = state;")
    verdict = verify(tree)
    [check] = verdict.reports[-1].checks
    assert (verdict.outcome, check.name) == (Outcome.FAIL, "contract")
    [divergence] = check.divergences
    assert "mismatched types" in divergence.cause and "src/lib.rs:" in divergence.cause


@pytest.mark.parametrize(
    ("manifest", "said"),
    [
        (None, "there is no Cargo.toml beside `src`"),
        ("[package\n", "Cargo.toml cannot be read"),
        ("[dependencies]\n", "Cargo.toml names no package"),
        ('[package]\nname = "../pong"\n', "Cargo.toml names no package"),
        (
            '[package]\nname = "pong"\nversion = "0.1.0"\nedition = "2024"\n[dependencies]\nserde = "1"\n',
            "no matching package",
        ),
    ],
)
def test_a_crate_that_is_none_is_refused(manifest: str | None, said: str, tree: Path, task: Task) -> None:
    (crate(tree) / "Cargo.toml").unlink()
    if manifest is not None:
        (crate(tree) / "Cargo.toml").write_text(manifest)
    with pytest.raises(BrokenContract) as refused:
        build(task, sandboxes.choose(None), tree)
    assert said in str(refused.value) + refused.value.mistakes[0]["text"]


def test_an_environment_of_another_form_is_refused_leaf_by_leaf(tree: Path, verify: Callable[..., Verdict]) -> None:
    edit_crate(tree, "src/lib.rs", "pub tick: i32,", 'pub tick: i32 => "ticks",')
    edit_crate(tree, "src/probes.rs", '    probe!("paddles", Paddles => Moved, paddles),\n', "")
    verdict = verify(tree)
    causes = {d.path: d.cause for d in verdict.reports[-1].divergences}
    assert causes["state/tick"] == "the environment: `state/tick` is no leaf; expected int32 []"
    assert causes["state/ticks"] == "the environment: `state/ticks` is int32 []; expected no leaf"
    assert "there is no probe `paddles`: name it in PROBES" in causes.values()


def test_an_empty_candidate_compiles_and_says_what_it_lacks(task: Task, tmp_path: Path) -> None:
    write_skeleton(task, tmp_path)
    worker = CandidateWorker(task, sandboxes.choose(None))
    try:
        with pytest.raises(BrokenContract, match="an instance that was not yet reset"):
            worker.open(tmp_path)
    finally:
        worker.close()


def test_a_panic_is_an_error_of_the_candidate_and_its_worker_goes_on(tree: Path, task: Task) -> None:
    edit_crate(
        tree, "src/lib.rs", "state.tick += 1;", 'state.tick += 1;\n        assert!(state.tick < 3, "no third step");'
    )
    worker = CandidateWorker(task, sandboxes.choose(None))
    actions = {path: leaf.zeros(5) for path, leaf in task.actions.items()}
    try:
        candidate = worker.open(tree)
        for mode in ("single", "batched", "scanned"):
            with pytest.raises(EnvironmentFailure, match="the environment panicked: no third step"):
                candidate.rollout([Case(1, actions)], mode)
        assert candidate.reset(1).steps == 0
    finally:
        worker.close()


def test_a_build_sees_the_tree_and_nothing_of_this_machine(tree: Path, task: Task) -> None:
    """A build script is foreign code: what it can read is reported by what it compiles in."""
    (crate(tree) / "build.rs").write_text(
        "fn main() {\n"
        '    let seen = [std::env::args().count() > 9, std::path::Path::new("'
        + str(task.directory / "reference")
        + '").exists(),\n'
        '        std::net::TcpStream::connect("192.0.2.1:80").is_ok(), std::env::var("LOCKSTEP_HOME").is_ok()];\n'
        '    assert!(!seen.contains(&true), "{seen:?}");\n'
        "}\n"
    )
    driver = sandboxes.choose(None)
    if not driver.isolated:
        pytest.skip("this driver isolates nothing")
    assert build(task, driver, tree).is_file()


def test_what_is_compiled_depends_on_the_tree_alone(tree: Path, task: Task) -> None:
    """Nothing of one candidate's build is there in the next one's, so it cannot plant code for a tree that comes later."""
    (crate(tree) / "build.rs").write_text(
        "fn main() {\n"
        '    let out = std::env::var("OUT_DIR").unwrap();\n'
        "    let target = std::path::Path::new(&out).ancestors().nth(4).unwrap();\n"
        '    assert!(!target.join("planted").exists(), "planted before");\n'
        '    std::fs::write(target.join("planted"), "here").unwrap();\n'
        "}\n"
    )
    first = build(task, sandboxes.choose(None), tree)
    edit_crate(tree, "src/rallies.rs", "const FRAMES: u32 = 8;", "const FRAMES: u32 = 9;")
    assert build(task, sandboxes.choose(None), tree) != first


def test_a_module_is_compiled_once_for_a_tree(tree: Path, task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    first = build(task, sandboxes.choose(None), tree)
    written = first.stat().st_ino
    assert build(task, sandboxes.choose(None), tree).stat().st_ino == written
    assert load_module(first).SPEC["reward"] == [("reward", "float32", [])]
    short = replace(task, candidate=replace(task.candidate, timeout_s=0.01))
    edit_crate(tree, "src/rallies.rs", "const FRAMES: u32 = 8;", "const FRAMES: u32 = 10;")
    with pytest.raises(EnvironmentFailure, match=r"not compiled within 0\.01 s") as late:
        build(short, sandboxes.choose(None), tree)
    assert late.value.side is None, "a slow machine would kill mutants"
    assert not [path for path in first.parent.iterdir() if path.suffix != ".so"], os.listdir(first.parent)
