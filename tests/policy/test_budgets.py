"""The file of budgets: every mistake is named at once, and a table of one's own goes before the general one."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.cli.doctor import Health, examine_budgets
from harness.cli.main import main
from harness.errors import LockstepError, RecordError
from harness.policy.budgets import CLIENT, TASK, all_standing, demand_budget, read_budgets, used_up
from harness.policy.spent import LOCAL, Spent, write_spent

GOOD = """\
[clients]
dollars = 10
attempts = 3

[client.alice]
dollars = 2.5

["tasks"]
seconds = 60
"""


def written(home: Path, text: str) -> Path:
    (home / "budgets.toml").write_text(text)
    return home


def test_without_a_file_nothing_is_limited(tmp_path: Path) -> None:
    assert read_budgets(tmp_path) is None
    assert all_standing(tmp_path) == []
    (tmp_path / "spent").mkdir()
    (tmp_path / "spent" / "damaged.json").write_text("no JSON")  # not even looked at
    assert used_up(tmp_path, LOCAL, "walk") == []


def test_a_table_of_ones_own_goes_before_the_general_one(tmp_path: Path) -> None:
    budgets = read_budgets(written(tmp_path, GOOD))
    assert budgets is not None
    alice = {what: (limit.most, limit.table) for what, limit in budgets.of(CLIENT, "alice").items()}
    assert alice == {"dollars": (2.5, "[client.alice]"), "attempts": (3, "[clients]")}
    assert budgets.of(TASK, "walk")["seconds"].table == "[tasks]"


@pytest.mark.parametrize(
    ("text", "mistakes"),
    [
        ("[client.a]\ndollars = -1\nattempts = 1.5\nseconds = true\n", ["line 2", "line 3", "line 4"]),
        ("[client.a]\ndollars = nan\nseconds = inf\n", ["line 2", "line 3"]),
        ("[cleints]\n[task.b]\nminutes = 3\n", ["line 1: `cleints`", "line 3: `task.b.minutes`"]),
        ("client = 3\n", ["line 1: `client` is not a table"]),
        ("[client]\na = 3\n", ["line 2: `client.a` is not a table"]),
        ("dollars = \n", ["line 1"]),
    ],
)
def test_every_mistake_is_named_at_once(text: str, mistakes: list[str], tmp_path: Path) -> None:
    with pytest.raises(LockstepError) as named:
        read_budgets(written(tmp_path, text))
    for mistake in mistakes:
        assert mistake in named.value.what
    assert named.value.where == str(tmp_path / "budgets.toml")
    with pytest.raises(LockstepError, match="mistake"):
        demand_budget(tmp_path, LOCAL)


def test_what_is_used_is_summed_by_client_and_by_task(tmp_path: Path) -> None:
    written(tmp_path, GOOD)
    write_spent(tmp_path, "one", Spent("alice", "walk", dollars=2.0, reported_dollars=1.0, attempts=2, seconds=50.0))
    write_spent(tmp_path, "two", Spent("bob", "walk", dollars=0.5, attempts=3, seconds=9.5))
    used = {(row["kind"], row["name"], row["what"]): row["used"] for row in all_standing(tmp_path)}
    assert used[CLIENT, "alice", "dollars"] == 2.0
    assert used[TASK, "walk", "seconds"] == 59.5
    assert used_up(tmp_path, "alice", "walk") == []
    assert used_up(tmp_path, "bob") == ["3 attempts of 3 attempts for client bob ([clients] in budgets.toml)"]
    write_spent(tmp_path, "two", Spent("bob", "walk", seconds=10.0))
    assert used_up(tmp_path, "carol", "walk") == ["60 s of 60 s for task walk ([tasks] in budgets.toml)"]


def test_a_damaged_account_is_named_and_stops_what_it_should_limit(tmp_path: Path) -> None:
    written(tmp_path, GOOD)
    write_spent(tmp_path, "one", Spent("alice", "walk"))
    (tmp_path / "spent" / "one.json").write_text("{}")
    with pytest.raises(RecordError, match="cannot be read") as named:
        demand_budget(tmp_path, "alice")
    assert named.value.where.endswith("one.json")


def test_doctor_and_usage_show_the_budgets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LOCKSTEP_HOME", str(tmp_path))
    assert examine_budgets().health is Health.OK
    assert main(["usage", "--budgets"]) == 0
    assert "no budgets are set" in capsys.readouterr().out
    written(tmp_path, "[task.walk]\ndollars = 2\n")
    write_spent(tmp_path, "one", Spent(LOCAL, "walk", dollars=2.0, reported_dollars=1.5))
    assert examine_budgets().health is Health.LIMITED
    assert main(["usage", "--budgets"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "task walk $2.00 $2.00 used up, $1.50 reported by agents" in shown
    written(tmp_path, "[task.walk]\ndolars = 2\n")
    found = examine_budgets()
    assert found.health is Health.MISSING and "line 2: `task.walk.dolars` is unknown" in found.found
    assert main(["usage", "--budgets"]) == 3
