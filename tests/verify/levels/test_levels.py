"""Each check of each level passes an honest candidate and catches a fault that is planted for it."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from harness.model import Case
from harness.task.load import load_task
from harness.verdict import CheckResult, Divergence, Outcome, Verdict
from harness.verify.levels import interaction
from harness.verify.pair import Pair
from tests.verify.levels.conftest import MOVE, RESET, Edits, Walk, share_a_generator


def failing(verdict: Verdict) -> list[CheckResult]:
    assert verdict.error == "", verdict.error
    return [check for check in verdict.reports[-1].checks if check.outcome is Outcome.FAIL]


def named(verdict: Verdict, check: str) -> Divergence:
    """The divergence that the check found; it must have found one."""
    found = [d for result in failing(verdict) if re.fullmatch(check, result.name) for d in result.divergences]
    assert found, [(c.name, c.outcome, c.detail) for r in verdict.reports for c in r.checks]
    return found[0]


@pytest.mark.slow
def test_an_honest_candidate_passes_all_levels_and_says_how_much_was_compared(walk: Walk) -> None:
    verdict = walk.verify()
    assert verdict.outcome is Outcome.PASS, verdict.to_json()
    last = verdict.reports[-1]
    horizon = load_task(walk.directory).budgets.horizon
    assert last.episodes == 24
    assert last.steps > 24 * horizon, "the steps of the auto-reset batch are compared too"
    assert last.divergence_bound == pytest.approx(1 - 0.05 ** (1 / 24))
    assert last.features["walked off"] > 0
    assert verdict.isolated


@pytest.mark.slow
def test_the_same_seed_repeats_a_verdict_and_its_divergence(walk: Walk) -> None:
    walk.edit("candidate/env.py", [('state["place"] + move', 'state["place"] + 1.001 * move')])
    first, second = (walk.verify((1,), module="moving", seed=11).to_json() for _ in range(2))
    for verdict in (first, second):
        for level in verdict["levels"]:
            del level["duration_s"]
        del verdict["duration_s"]
    assert first == second


LEVEL_1_FAULTS: dict[str, tuple[Edits, str, str]] = {
    "a wrong reset": ([(RESET, RESET.replace("jnp.float64(0)", "jnp.float64(0.5)"))], "resets", "state/place"),
    "a wrong step": (
        [("jnp.where(action == 1, 1.0, -1.0)", "jnp.where(action == 1, 1.0, -0.5)")],
        "single steps",
        "state/place",
    ),
    "a wrong probe": ([("> 5.0) | (inputs", ">= 5.5) | (inputs")], "probe ending.*", "probe/ending/over"),
    "an answer that changes": (
        [
            ("import jax\n", "import os\n\nimport jax\nimport numpy as np\n"),
            (
                '        "reward": reward,',
                '        "reward": reward + jax.pure_callback(lambda r: 4e-7 * np.frombuffer(os.urandom(r.size), np.uint8).reshape(r.shape).astype(np.float32) / 255, jax.ShapeDtypeStruct((), jnp.float32), reward, vmap_method="expand_dims"),',
            ),
        ],
        "determinism",
        "reward|trajectory",
    ),
    "encode that rounds": (
        [
            (
                "def encode(state):\n    return state\n",
                'def encode(state):\n    return state | {"place": jnp.where(jnp.abs(state["place"]) > 4.9, jnp.round(state["place"]), state["place"])}\n',
            )
        ],
        "encode inverts decode",
        "state/place",
    ),
    "a sampler with a wrong spread": (
        [("jax.random.normal(key, dtype=jnp.float64)", "1.2 * jax.random.normal(key, dtype=jnp.float64)")],
        "law of gust at step",
        "draw/gust",
    ),
    "a draw left over": (
        [('"gust": windy.astype', '"gust": (windy & (state["place"] < 0)).astype')],
        "single steps|determinism|resets",
        ".*",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", LEVEL_1_FAULTS)
def test_level_1_catches(fault: str, walk: Walk) -> None:
    edits, check, path = LEVEL_1_FAULTS[fault]
    walk.edit("candidate/env.py", edits)
    verdict = walk.verify()
    level = 2 if fault == "a draw left over" else 1
    assert verdict.reports[-1].level == level
    divergence = verdict.divergences[0] if level == 2 else named(verdict, check)
    assert re.fullmatch(path, divergence.path), divergence


@pytest.mark.slow
def test_an_invariant_that_the_candidate_breaks_is_a_failure_and_one_that_the_reference_breaks_an_error(
    make_walk,
) -> None:
    broken = make_walk()
    broken.edit("candidate/env.py", [('"steps": state["steps"] + 1}', '"steps": state["steps"] + 2}')])
    divergence = named(broken.verify((1,), module="moving"), "invariant: a step is counted")
    assert divergence.rule == "invariant:a step is counted"
    wrong = make_walk()
    wrong.edit("properties.py", [("== 1\n", "== 2\n")])
    verdict = wrong.verify((1,), module="moving")
    assert verdict.outcome is Outcome.ERROR
    assert "does not hold on the reference itself" in str(verdict.to_json())


@pytest.mark.slow
def test_a_known_case_runs_first_and_ends_its_level(walk: Walk) -> None:
    walk.edit("candidate/env.py", [("jnp.where(action == 1, 1.0, -1.0)", "jnp.where(action == 1, 1.0, -0.5)")])
    found = named(walk.verify((2,)), ".*")
    assert found.case is not None
    (walk.directory / "cases").mkdir(exist_ok=True)
    (walk.directory / "cases" / "found.json").write_text(json.dumps(found.case.to_json()))
    checks = walk.verify((2,)).reports[-1].checks
    assert [check.name for check in checks] == ["known cases"]
    assert checks[0].outcome is Outcome.FAIL


@pytest.mark.slow
def test_a_hidden_counter_is_found_at_level_2_and_shrunk_to_the_shortest_sequence(walk: Walk) -> None:
    walk.edit(
        "candidate/env.py",
        [
            (RESET, RESET.replace("}", ', "age": jnp.int32(0)}')),
            (
                MOVE,
                MOVE.replace("move,", 'move + jnp.where(state["age"] >= 3, 0.5, 0.0),').replace(
                    "+ 1}", '+ 1, "age": state["age"] + 1}'
                ),
            ),
            (
                "def encode(state):\n    return state\n",
                'def encode(state):\n    return {name: state[name] for name in ("place", "steps")}\n',
            ),
            ("    return leaves\n", '    return leaves | {"age": jnp.int32(0)}\n'),
        ],
    )
    verdict = walk.verify((1, 2))
    assert [report.level for report in verdict.reports] == [1, 2]
    divergence = verdict.divergences[0]
    assert (divergence.step, divergence.path, divergence.reproduced) == (4, "state/place", False)
    assert divergence.case is not None
    assert divergence.case.length == 4
    assert "does not show arose earlier" in divergence.cause
    way = divergence.course
    assert way is not None and way.first == 0
    assert [expected == actual for expected, actual in zip(way.expected, way.actual, strict=True)][-2:] == [True, False]


@pytest.mark.slow
def test_what_few_sequences_of_a_kind_show_is_found_by_that_kind(walk: Walk) -> None:
    places = "st.randoms(use_true_random=False).map(lambda random: random.randrange(40) / 10 - 2)"
    anywhere = f'{places}.map(lambda place: {{"state/place": place, "state/steps": 3}})'
    edge = 'st.sampled_from([-5.0, -4.5, 4.5, 5.0]).map(lambda place: {"state/place": place, "state/steps": 3})'
    walk.edit("interactions.py", [(edge, anywhere), ("min_size=1, max_size=5", "min_size=1, max_size=1")])
    walk.edit("candidate/env.py", [("move,", 'move + jnp.where(jnp.abs(state["place"] - 0.6) < 0.04, 0.5, 0.0),')])
    [kind, *_] = walk.verify((2,)).reports[-1].checks
    assert (kind.name, kind.outcome, kind.examples > 20) == ("at the edge", Outcome.FAIL, True)


@pytest.mark.slow
def test_sequences_that_would_fill_the_memory_are_swept_in_parts(walk: Walk, monkeypatch: pytest.MonkeyPatch) -> None:
    def swept(part: int | None) -> tuple[CheckResult, str]:
        played: list[int] = []

        def play(pair: Pair, cases: list[Case], *args: Any, **named: Any) -> Any:
            played.append(len(cases))
            return plain(pair, cases, *args, **named)

        with monkeypatch.context() as patch:
            patch.setattr(Pair, "play", play)
            if part is not None:
                task = load_task(walk.directory)
                patch.setattr(
                    interaction, "MOST_BYTES", part * 2 * (task.budgets.sequence_length + 1) * task.timestep_bytes
                )
            report = walk.verify((2,)).reports[-1]
        [sweep] = (check for check in report.checks if check.name == "sequences, sweep")
        assert (part or sweep.examples) in played and (sweep.examples in played) == (part is None)
        return sweep, report.evidence

    plain = Pair.play
    assert swept(part=7) == swept(part=None)
    walk.edit("candidate/env.py", [("move,", 'move + jnp.where(state["steps"] == 11, 0.5, 0.0),')])
    sweep, _ = swept(part=7)
    assert (sweep.outcome, sweep.divergences[0].path) == (Outcome.FAIL, "state/place")
    assert sweep.examples > 7, "the first part shows it already, so the others could have been left out"


@pytest.mark.slow
def test_a_fault_of_the_auto_resetting_batch_alone_is_traced_to_the_batch(walk: Walk) -> None:
    walk.edit(
        "candidate/env.py",
        [
            (
                '        "reward": reward,',
                '        "reward": in_a_batch_of_the_users_size(reward),',
            ),
            (
                "def encode(state):",
                "@jax.custom_batching.custom_vmap\ndef in_a_batch_of_the_users_size(reward):\n    return reward\n\n\n"
                "@in_a_batch_of_the_users_size.def_vmap\ndef _(size, batched, reward):\n"
                "    return (reward + 1 if size & (size - 1) else reward), True\n\n\ndef encode(state):",
            ),
        ],
    )
    divergence = named(walk.verify((3,)), "auto-reset batch")
    assert (divergence.rule, divergence.path) == ("autoreset", "reward")


@pytest.mark.slow
def test_a_candidate_that_differs_from_process_to_process_is_caught(walk: Walk) -> None:
    walk.edit(
        "candidate/env.py",
        [
            ("import jax\n", "import os\n\nimport jax\n"),
            (
                '    reward = (jnp.abs(after["place"]) - jnp.abs(state["place"])).astype(jnp.float32)\n',
                '    reward = (jnp.abs(after["place"]) - jnp.abs(state["place"])).astype(jnp.float32) + WOBBLE\n',
            ),
            (
                "def sample_reset",
                "WOBBLE = 1e-7 * (1 + int.from_bytes(os.urandom(2), 'big') % 8)\n\n\ndef sample_reset",
            ),
        ],
    )
    # One in eight pairs of processes draws the same wobble, so one pair proves nothing; of twelve one surely differs.
    for seed in range(12):
        verdict = walk.verify((3,), seed=seed)
        if verdict.outcome is Outcome.FAIL:
            break
    assert named(verdict, "the same in another process").rule == "determinism"


@pytest.mark.slow
def test_only_laws_are_compared_in_mode_law_and_a_wrong_one_is_caught(make_walk) -> None:
    honest, wrong = make_walk(), make_walk()
    for made in (honest, wrong):
        made.edit("task.toml", [('mode = "tape"', 'mode = "law"'), ("episodes = 24", "episodes = 300")])
        made.edit(
            "reference/adapter.py", [('without=(), chance="tape"', 'without=("draws", "force_draws"), chance="law"')]
        )
    wrong.edit(
        "candidate/env.py",
        [("jax.random.normal(key, dtype=jnp.float64)", "jax.random.normal(key, dtype=jnp.float64) + 1")],
    )
    wrong.edit(
        "task.toml",
        [('law = { kind = "normal", mean = 0.0, std = 1.0 }', 'law = { kind = "normal", mean = 1.0, std = 1.0 }')],
    )
    verdict = honest.verify()
    assert verdict.outcome is Outcome.PASS, verdict.to_json()
    assert all("only distributions were compared" in report.notes[0] for report in verdict.reports)
    assert wrong.verify((2,)).divergences[0].rule == "law"
    assert wrong.verify((3,)).divergences[0].rule == "law"


@pytest.mark.slow
def test_a_generator_that_both_implement_is_compared_as_state(make_walk) -> None:
    honest, wrong = make_walk(), make_walk()
    for made in (honest, wrong):
        share_a_generator(made)
    wrong.edit("candidate/env.py", [("1013904223), state", "1013904224), state")])
    verdict = honest.verify()
    assert verdict.outcome is Outcome.PASS, verdict.to_json()
    assert wrong.verify((1,), module="moving").outcome is Outcome.PASS  # `state/word` is not a leaf of that module
    assert wrong.verify((2,)).divergences[0].path == "state/word"


@pytest.mark.slow
def test_a_reference_that_cannot_restore_is_handled_by_replaying_the_prefix_and_the_loss_is_said(walk: Walk) -> None:
    walk.edit("reference/adapter.py", [("without=()", 'without=("restore", "probe")')])
    walk.edit(
        "interactions.py",
        [('"state/place": place, "state/steps": 3}', '"state/place": place, "state/steps": 3} and None')],
    )
    walk.edit(
        "candidate/env.py",
        [('state["place"] + move', 'state["place"] + jnp.where(state["steps"] == 7, 0.9, 1.0) * move')],
    )
    walk.edit("task.toml", [('probes = ["ending"]\n', "")])
    text = (walk.directory / "task.toml").read_text()
    start, end = text.index("[probes.ending]"), text.index("[randomness]")
    (walk.directory / "task.toml").write_text(text[:start] + text[end:])
    verdict = walk.verify((2,))
    divergence = verdict.divergences[0]
    assert divergence.reproduced is None
    assert "the prefix was replayed" in divergence.cause
    assert divergence.step == 8
    assert "cannot restore" in verdict.reports[-1].notes[0]


@pytest.mark.slow
def test_proposed_evidence_counts_once_it_holds_on_the_reference_and_never_replaces_anything(walk: Walk) -> None:
    proposed = walk.directory / "proposed"
    (proposed / "cases").mkdir(parents=True)
    case = {"seed": 1, "actions": {"action": {"dtype": "int32", "shape": [3], "values": [1, 1, 0]}}}
    (proposed / "cases" / "fine.json").write_text(json.dumps(case))
    (proposed / "cases" / "broken.json").write_text("{")
    (proposed / "properties.py").write_text(
        "import numpy as np\n"
        "def stays_near(trajectory):\n    return np.abs(trajectory.leaves['state/place']) < 50\n"
        "def never_moves(trajectory):\n    return trajectory.leaves['state/place'] == 0\n"
        "def raises(trajectory):\n    raise RuntimeError('no')\n"
        "def reads_the_reference(trajectory):\n    import gymnasium\n"
    )
    verdict = walk.verify((2,))
    outcomes = {check.name: check.outcome for check in verdict.reports[-1].checks if "proposed" in check.name}
    assert outcomes == {
        "proposed case fine.json": Outcome.PASS,
        "proposed case broken.json": Outcome.SKIPPED,
        "proposed property never_moves": Outcome.SKIPPED,
        "proposed property raises": Outcome.SKIPPED,
        "proposed property reads_the_reference": Outcome.SKIPPED,
        "proposed property stays_near": Outcome.PASS,
    }
    walk.edit("candidate/env.py", [("jnp.where(action == 1, 1.0, -1.0)", "jnp.where(action == 1, 1.0, -1.25)")])
    assert walk.verify((2,)).outcome is Outcome.FAIL
