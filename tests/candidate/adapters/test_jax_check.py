"""A candidate that does not fit its contract is reported so when it is opened, with every mistake at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.candidate.adapters.contract import UNUSABLE
from harness.candidate.adapters.jax.candidate import JaxCandidate
from harness.candidate.adapters.jax.check import CandidateMistakes
from harness.candidate.faces.jax_env import load_module
from tests.candidate.adapters.contracts import DICE, HERE

SOURCE = (HERE / "dice.py").read_text()


def refusal(directory: Path, *edits: tuple[str, str], contract: dict[str, Any] = DICE) -> CandidateMistakes:
    """What the dice game is refused with, some of its text replaced."""
    source = SOURCE
    for old, new in edits:
        assert old in source
        source = source.replace(old, new)
    entry = directory / "game.py"
    entry.write_text(source)
    with pytest.raises(CandidateMistakes) as caught:
        JaxCandidate().open(contract | {"entry": str(entry)})
    return caught.value


def mistakes(directory: Path, *edits: tuple[str, str], contract: dict[str, Any] = DICE) -> list[str]:
    """What is said of it then."""
    return str(refusal(directory, *edits, contract=contract)).split("\n")


STEP_REWARD = '"reward": won.astype(jnp.float32)'

FAULTS = {
    "a missing function": (
        [("def sample_step(", "def sampled_step(")],
        ["there is no function `sample_step`; expected `sample_step(key, state, action) -> draws`, for the draws that "
         "occur at a step"],
    ),
    "a missing probe": (
        [('probes = {"rules"', 'probes = {"ruling"')],
        ["there is no probe `rules`; expected `probes = {'rules': fn(inputs) -> outputs}`"],
    ),
    "a dtype": (
        [(STEP_REWARD, '"reward": won')],
        ["step: leaf `reward` came as int32[]; the task declares float32[]"],
    ),
    "a shape": (
        [('"reward": jnp.float32(0)', '"reward": jnp.zeros(2)')],
        ["reset: leaf `reward` came as float32[2]; the task declares float32[]"],
    ),
    "a missing leaf": (
        [(f"        {STEP_REWARD},\n", "")],
        ["step: leaf `reward` is missing; the task declares float32[]"],
    ),
    "a leaf too many": (
        [(STEP_REWARD, STEP_REWARD + ', "info": won')],
        ["step: leaf `info` is not one that the task declares"],
    ),
    "a state that changes its type in a step": (
        [("turn=state.turn + 1", "turn=state.turn + 1.0")],
        ["step returns a state that is not like reset's: .turn came as float32[], expected int32[]"],
    ),
    "a decode that is not the inverse": (
        [('State(leaves["board"], leaves["total"], leaves["turn"])', 'tuple(leaves.values())')],
        ["decode(encode(state)) is not like the state: expected the structure PyTreeDef(CustomNode(namedtuple[State], "
         "[*, *, *])), came PyTreeDef((*, *, *))"],
    ),
    "an encode of another dtype": (
        [('"total": state.total, "turn"', '"total": state.total * 1.0, "turn"')],
        ["encode: leaf `state/total` came as float32[]; the task declares int32[]"],
    ),
    "a sampler of another shape": (
        [("(2,), 1, 7, jnp.int32)", "(3,), 1, 7, jnp.int32)")],
        ["sample_reset: leaf `deck` came as int32[3]; the task declares int32[2]"],
    ),
    "an unknown draw in draws_used": (
        [('"draws_used": {"roll": bet}', '"draws_used": {"dice": bet}')],
        ["step: draws_used names `dice`; expected some of ['roll', 'wind']"],
    ),
    "a count that is not an integer": (
        [('"draws_used": {"roll": bet}', '"draws_used": {"roll": bet > 0}')],
        ["step: draws_used['roll'] is bool[]; expected an integer of shape []"],
    ),
    "a count that is a map": (
        [('"draws_used": {"roll": bet', '"draws_used": {"roll": {"bet": bet}')],
        ["step: draws_used['roll'] is a dict; expected an integer of shape []"],
    ),
    "counts without names": (
        [('"draws_used": {"roll": bet}', '"draws_used": bet')],
        ["step: draws_used is int32[]; expected a dict with ['roll', 'wind']"],
    ),
    "an exception": (
        [("    bet = action", "    bet = actions")],
        ["step raises NameError: name 'actions' is not defined (game.py:40)"],
    ),
    "a branch on a value": (
        [("    won = jnp", "    assert bet <= 3\n    won = jnp")],
        ["step raises TracerBoolConversionError: Attempted boolean conversion of traced array with shape bool[]. "
         "(game.py:41)"],
    ),
    "several leaves missing": (
        [("    return state, observe(state) | {\n        \"reward\": won", "    return state, {\n        \"reward\": won")],
        ["step: leaf `observation/board` is missing; the task declares float32[3]",
         "step: leaf `observation/hand/total` is missing; the task declares int16[]",
         "step: leaf `legal_actions` is missing; the task declares bool[4]"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_mistake_is_named_with_what_is_declared_and_what_came(fault: str, tmp_path: Path) -> None:
    edits, expected = FAULTS[fault]
    assert mistakes(tmp_path, *edits) == expected


def test_all_mistakes_are_reported_at_once(tmp_path: Path) -> None:
    chosen = (
        "a missing function",
        "a missing probe",
        "a dtype",
        "an encode of another dtype",
        "a sampler of another shape",
    )
    edits = [edit for fault in chosen for edit in FAULTS[fault][0]]
    assert sorted(mistakes(tmp_path, *edits)) == sorted(line for fault in chosen for line in FAULTS[fault][1])


def test_a_candidate_that_cannot_be_imported_says_where(tmp_path: Path) -> None:
    [line] = mistakes(tmp_path, ("import jax\n", "import jax\nimport gymnasion\n"))
    assert line == "game.py cannot be imported: ModuleNotFoundError: No module named 'gymnasion' (game.py:11)"


@pytest.mark.parametrize(
    ("edit", "failing"),
    [
        (("import jax\n", "import jax\nimport gymnasion\n"), UNUSABLE),
        (FAULTS["a missing function"][0][0], UNUSABLE),
        (FAULTS["a missing probe"][0][0], UNUSABLE),
        ((STEP_REWARD, '"reward": jnp.nothing'), UNUSABLE),
        (FAULTS["a dtype"][0][0], ""),
        (FAULTS["a missing leaf"][0][0], ""),
    ],
)
def test_what_cannot_run_is_distinguished_from_what_has_another_form(
    edit: tuple[str, str], failing: str, tmp_path: Path
) -> None:
    [mistake] = refusal(tmp_path, edit).details
    assert mistake["failing"] == failing


def test_a_return_value_that_is_no_pair_is_named(tmp_path: Path) -> None:
    [line] = mistakes(
        tmp_path, ('    return state, observe(state) | {\n        "reward": jnp', '    return {\n        "reward": jnp')
    )
    assert line == "reset raises TypeError: it returned a dict; expected (state, outputs), where outputs is a dict"


def test_a_64_bit_leaf_without_64_bit_types_says_what_to_set(tmp_path: Path) -> None:
    contract = DICE | {"leaves": DICE["leaves"] | {"reward": {"dtype": "float64", "shape": []}}}
    assert mistakes(tmp_path, ("import jax\n", "import jax\n"), contract=contract) == [
        f"{name}: leaf `reward` came as float32[]; the task declares float64[] "
        "(a 64-bit type needs `candidate.x64 = true` in task.toml)"
        for name in ("reset", "step")
    ]


def test_two_candidates_with_files_of_the_same_names_do_not_meet(tmp_path: Path) -> None:
    candidates = []
    for increment in (1, 2):
        place = tmp_path / str(increment)
        place.mkdir()
        (place / "env.py").write_text("from rules import INCREMENT\n")
        (place / "rules.py").write_text(f"INCREMENT = {increment}\n")
        candidates.append(load_module(place / "env.py"))
    assert [candidate.INCREMENT for candidate in candidates] == [1, 2]
