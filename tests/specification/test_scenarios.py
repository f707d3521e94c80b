"""Sheets and scenarios: what is refused, which statements nobody covers, and which scenarios contradict one another."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness.errors import TaskError
from harness.model import STATE
from harness.specification.contradictions import Contradiction, contradictions
from harness.specification.place import Specification, find, read
from tests.specification.conftest import changed

MORE = "specification/scenarios/more.toml"


def found(task: Path, text: str) -> list[Contradiction]:
    """The contradictions of the small game with further scenarios."""
    (task / MORE).write_text(text)
    specification = read(find(task))
    sheet, scenarios = specification.demanded()
    return contradictions(scenarios.scenarios, [path for path in sheet.leaves if path.startswith(STATE)])


def scenario(
    name: str, expect: str, start: str = '"state/hold" = 10', tape: str = '[["crane", 6], ["wind", 3]]'
) -> str:
    return (
        f'[[scenario]]\nname = "{name}"\ncites = [11]\nstart = {{ {start} }}\ndraws = [[], {tape}]\nactions = [0]\n'
        f"[[scenario.expect]]\nstep = 1\nleaves = {{ {expect} }}\n"
    )


def test_the_small_game_covers_all_of_its_statements_and_contradicts_nothing(
    harbour: Specification, task: Path
) -> None:
    sheet, scenarios = harbour.demanded()
    assert len(scenarios.scenarios) == 19
    assert scenarios.uncovered([one.number for one in harbour.statements]) == []
    assert found(task, "") == []
    assert sheet.mode == "tape"


def test_a_statement_that_no_scenario_cites_is_listed(task: Path) -> None:
    changed(task / "specification/scenarios/harbour.toml", "cites = [17]", "cites = [16]")
    specification = read(find(task))
    assert specification.demanded()[1].uncovered([one.number for one in specification.statements]) == [17]


def test_a_planted_fault_of_two_scenarios_that_contradict_each_other_is_found(task: Path) -> None:
    [one] = found(task, scenario("another price", '"state/score" = 7, "state/hold" = 12'))
    assert (one.address, one.values, one.steps) == ("state/score", ("6", "7"), (1, 1))
    assert "they cite 2, 9, 11" in str(one)


def test_a_scenario_that_contradicts_itself_is_found(task: Path) -> None:
    text = scenario("both", '"observation[0]" = 12', '"state/hold" = 11') + (
        "[[scenario.expect]]\nstep = 1\nleaves = { observation = [11, 3, 0, 5] }\n"
    )
    [one] = found(task, text)
    assert one.one is one.other
    assert one.address == "observation[0]"


def test_what_follows_from_a_state_on_the_way_is_compared_too(task: Path) -> None:
    """A whole state in the middle of one scenario is where another one begins."""
    whole = (
        '"state/hold" = 7, "state/fuel" = 3, "state/storm" = 0, "state/score" = 10, "state/waits" = 0, "state/turn" = 6'
    )
    long = (
        '[[scenario]]\nname = "two loads"\ncites = [10]\nstart = { "state/hold" = 3 }\n'
        'draws = [[], [["crane", 4], ["wind", 3]], [["crane", 2], ["wind", 3]]]\nactions = [0, 0]\n'
        f"[[scenario.expect]]\nstep = 1\nleaves = {{ {whole} }}\n"
        '[[scenario.expect]]\nstep = 2\nleaves = { "state/hold" = 9 }\n'
    )
    short = scenario(
        "one load", '"state/hold" = 8', '"state/hold" = 7, "state/turn" = 6', '[["crane", 2], ["wind", 3]]'
    )
    [one] = found(task, long + short)
    assert (one.address, one.values, one.steps) == ("state/hold", ("9", "8"), (2, 1))


@pytest.mark.parametrize(
    ("start", "tape"),
    [('"state/hold" = 11', '[["crane", 6], ["wind", 3]]'), ('"state/hold" = 10', '[["crane", 5], ["wind", 3]]')],
    ids=["another start", "another die"],
)
def test_another_situation_is_no_contradiction(task: Path, start: str, tape: str) -> None:
    assert found(task, scenario("another", '"state/score" = 7', start, tape)) == []


def test_every_mistake_of_all_files_is_named(task: Path) -> None:
    directory = task / "specification/scenarios"
    changed(directory / "harbour.toml", "cites = [17]", "cites = [71]")
    text = scenario("a sale in calm weather", '"state/scroe" = 1').replace("actions = [0]", "actions = [4]")
    text += scenario("b", '"observation[4]" = 1', '"state/hold" = 13').replace('["wind", 3]', '["wnid", 3]')
    (directory / "more.toml").write_text(text + '[[without]]\nstatement = 99\nbecause = "no"\n')
    with pytest.raises(TaskError) as caught:
        read(find(task))
    told = "\n".join(caught.value.mistakes)
    for mistake in ("no statement 71", "no statement 99", "beyond the bound `high` of action", "`high` of state/hold"):
        assert mistake in told
    assert "harbour.toml:" in told
    assert "more.toml:6" in told


@pytest.mark.parametrize("where", ["RULES.md", "sheet.toml", "scenarios/more.toml", "readings/second/data.json"])
@pytest.mark.parametrize("kind", ["a link", "neither a file nor a directory"])
def test_what_is_no_file_is_refused_before_it_is_read(task: Path, where: str, kind: str) -> None:
    """The attack: a pipe that nobody writes, at which every command waited for ever."""
    path = task / "specification" / where
    path.unlink(missing_ok=True)
    if kind == "a link":
        path.symlink_to("/etc/hostname")
    else:
        os.mkfifo(path)
    with pytest.raises(TaskError) as caught:
        find(task)
    assert caught.value.mistakes == (f"specification/{where} is {kind}",)


def test_two_scenarios_of_one_name_are_refused(task: Path) -> None:
    (task / MORE).write_text(scenario("a sale in calm weather", '"state/score" = 6'))
    with pytest.raises(TaskError) as caught:
        read(find(task))
    assert "the same name" in caught.value.mistakes[0]


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("cites = [9] }", "cites = [90] }", "no statement 90"),
        ('"crane die" = { says', '"crane dice" = { says', "does not have this word"),
        ('truncated = { says = "the game is cut short", cites = [29] }\n', "", "no entry of `[meaning]`"),
        ('"state/turn" = 5', '"state/trun" = 5', "no such leaf"),
        ('mode = "tape"', 'mode = "none"', "has no draws"),
        (
            "[leaves]\n",
            "[tolerance]\nreward = { scale = 1e-3 }\n\n[leaves]\n",
            "before there is a reference to measure",
        ),
    ],
)
def test_a_wrong_sheet_is_refused(task: Path, before: str, after: str, said: str) -> None:
    changed(task / "specification/sheet.toml", before, after)
    with pytest.raises(TaskError) as caught:
        read(find(task))
    assert said in "\n".join(caught.value.mistakes)


def test_the_order_of_different_draws_and_a_seed_that_decides_nothing_hide_no_contradiction(task: Path) -> None:
    one = scenario("one", '"state/score" = 6')
    assert found(task, one) == []
    assert found(task, scenario("two", '"state/score" = 2', tape='[["wind", 3], ["crane", 6]]'))
    seeded = [
        each.replace('start = { "state/hold" = 10 }', f"seed = {seed}")
        for seed, each in ((1, one), (2, scenario("two", '"state/score" = 2')))
    ]
    assert len(found(task, "".join(seeded))) == 1


@pytest.mark.parametrize("mode", ["law", "shared"])
def test_a_mode_in_which_no_step_is_compared_is_refused(task: Path, mode: str) -> None:
    changed(task / "specification/sheet.toml", 'mode = "tape"', f'mode = "{mode}"')
    with pytest.raises(TaskError, match=f"it is `{mode}`, in which no step of two readings is compared"):
        read(find(task)).demanded()


def test_a_seed_that_no_reading_takes_is_refused(task: Path) -> None:
    text = scenario("one", '"state/score" = 1').replace('start = { "state/hold" = 10 }', f"seed = {2**63}")
    with pytest.raises(TaskError, match="it is too large"):
        found(task, text)
