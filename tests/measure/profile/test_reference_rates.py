"""The reference's rate in three ways, and what speed-ups are stated against."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from harness.measure.profile import text
from harness.measure.profile.contenders import ADAPTER, BARE, EPISODES
from harness.measure.profile.reference_rates import BARE_REFERENCE, ReferenceRates, started_bare
from harness.measure.profile.result import Measurement, Skipped, Speed
from harness.reference.install import setup
from harness.reference.start import start_references
from harness.task.load import load_task
from tests.measure.profile.test_document import MEASURED
from tests.verify.levels.conftest import Walk

INIT = "        self._capabilities = [name for name in ALL if name not in without]\n"
LIKE_GYMNASIUM = '''

class Space:
    def seed(self, seed):
        self.rng = np.random.RandomState(seed)

    def sample(self):
        return int(self.rng.randint(0, 2))


class Plain:
    """The walk as its users have it: it counts, for whoever looks at it, how often it was asked."""

    action_space = Space()

    def reset(self, seed=None):
        self.place = 0
        return self.place, {}

    def step(self, action):
        assert abs(self.place) < 5, "an episode that has ended goes on"
        self.place += 2 * action - 1
        return self.place, 0.0, abs(self.place) >= 5, False, {}
'''
OLD = (
    LIKE_GYMNASIUM.replace("seed=None", "")
    .replace("def reset(self, )", "def reset(self)")
    .replace("5, False, {}", "5, {}")
)
BARE_METHOD = "\n    def bare(self):\n        return Plain()\n"


def with_bare(walk: Walk, plain: str, *, method: bool) -> Walk:
    """The walk with an environment in its adapter: as an attribute, or by the method `bare` and without a space."""
    path = walk.directory / "reference" / "adapter.py"
    source = path.read_text()
    if method:
        source, plain = source + BARE_METHOD, plain.replace("    action_space = Space()\n", "")
    else:
        source = source.replace(INIT, INIT + "        self.env = Plain()\n")
    path.write_text(source + plain)
    return walk


def measured(walk: Walk) -> tuple[list[Measurement], list[Skipped]]:
    task, skipped, rng = load_task(walk.directory), [], np.random.default_rng(0)
    installed = setup(task)
    with closing(start_references(task, installed)) as pool, started_bare(task, installed, 3, skipped.append) as bare:
        rates = ReferenceRates(task, pool, bare, 0.02, lambda: int(rng.integers(1 << 62)), skipped.append)
        rates.read()
        rates.read()
        return [*rates.measurements(2)], skipped


@pytest.mark.parametrize(
    ("plain", "method"), [(LIKE_GYMNASIUM, False), (OLD, False), (LIKE_GYMNASIUM, True)],
    ids=["an attribute", "of an old interface", "a method, no space"],
)  # fmt: skip
def test_the_environment_is_measured_without_its_adapter_through_it_and_with_all_workers(
    walk: Walk, plain: str, method: bool
) -> None:
    found, skipped = measured(with_bare(walk, plain, method=method))
    assert skipped == []
    assert [(each.kind, each.speed.readings) for each in found] == [(BARE, 2), (ADAPTER, 2), (EPISODES, 2)]
    assert [each.batch for each in found[:2]] == [1, 1]
    assert all(each.contender == each.role == "reference" and each.speed.low > 0 for each in found)


def test_an_adapter_around_nothing_that_can_be_stepped_alone_is_said_to_be_one(walk: Walk) -> None:
    found, [skipped] = measured(walk)
    assert [each.kind for each in found] == [ADAPTER, EPISODES]
    assert skipped.contender == BARE_REFERENCE and "`bare()`" in skipped.because


def test_a_game_of_several_players_is_not_taken_for_one_that_can_be_stepped_alone(walk: Walk) -> None:
    of_players = LIKE_GYMNASIUM.replace(
        "    action_space = Space()\n", "    def action_space(self, player):\n        return Space()\n"
    )
    _, [skipped] = measured(with_bare(walk, of_players, method=False))
    assert "`bare()`" in skipped.because


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (("self.place += 2", "raise RuntimeError('it wants a licence')  #"), "it wants a licence"),
        (("self.place = 0", "import os; os._exit(7)"), "exit status 7"),
    ],
)
def test_a_bare_environment_that_cannot_be_stepped_costs_only_its_own_figure(
    walk: Walk, edit: tuple[str, str], said: str
) -> None:
    found, [skipped] = measured(with_bare(walk, LIKE_GYMNASIUM.replace(*edit), method=True))
    assert [each.kind for each in found] == [ADAPTER, EPISODES]
    assert skipped.contender == BARE_REFERENCE and said in skipped.because


BARE_SPEED = Measurement("reference", "reference", BARE, 1, Speed.of([250.0], 1))
ADAPTER_SPEED = Measurement("reference", "reference", ADAPTER, 1, Speed.of([200.0], 1))


def test_each_speed_up_is_per_core_against_the_bare_environment() -> None:
    both = replace(MEASURED, measurements=(BARE_SPEED, ADAPTER_SPEED, *MEASURED.measurements))
    document = json.loads(json.dumps(both.to_json()))
    assert document["speed_up_against"] == "bare"
    # The workers make 500 steps a second on each of two cores, the candidate 875,000.
    assert [each["speed_up_per_core"] for each in document["measurements"]] == [1.0, 0.8, 2.0, 3500.0]
    shown = text.summary(both)
    assert "x bare" in shown and "3.5k" in shown
    assert (
        "the reference makes 250 steps/s bare in one process, 200 steps/s through its adapter in one process, "
        "1k steps/s with all 2 workers; speed-ups are per core against it bare"
    ) in shown


def test_without_the_bare_environment_they_are_against_the_adapter_and_that_is_said() -> None:
    document = replace(MEASURED, measurements=(ADAPTER_SPEED, *MEASURED.measurements)).to_json()
    assert document["speed_up_against"] == "adapter"
    assert [each["speed_up_per_core"] for each in document["measurements"]] == [1.0, 2.5, 4380.0]
    assert (
        "speed_up_per_core" not in MEASURED.to_json()["measurements"][0]
        and MEASURED.to_json()["speed_up_against"] is None
    )


def test_training_does_more_than_step_and_has_no_speed_up() -> None:
    training = Measurement("candidate", "candidate", "train", 16, Speed.of([9000.0], 1))
    assert replace(MEASURED, measurements=(BARE_SPEED, training)).speed_up(training) is None
