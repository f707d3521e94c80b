"""Level 4, transfer: policies learned in one backend must be worth the same in the other.

The levels below play what chance or a script plays; here the trainer looks for whatever pays, also where a candidate is
wrong. One trainer code trains in the candidate (in its sandbox) and in the reference. What decides is computed here, from
episodes that are played here:

- each policy plays the same episodes in both backends, step by step: any difference in them is a divergence, as at level 3;
- the mean returns of each policy in both backends, and of policies trained here and there from the same seeds, must lie
  within the margin (`harness.verify.statistics.equivalence`), at looks that come until the answer is clear or the
  budget is spent.

A difference shown is FAIL. PASS needs equality shown, by policies that have learned something. Everything else is
INCONCLUSIVE, and says what would decide.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from harness.compare import Difference
from harness.model import Trajectory
from harness.task.contract import Mode, Transfer
from harness.training.opponents import Table
from harness.training.trained import Trained
from harness.verdict import CheckResult, Divergence, Outcome
from harness.verify.levels.by_itself import strayed
from harness.verify.levels.rollout import Tally
from harness.verify.levels.transfer_groups import Comparison, Group, described_policies, described_results, distance
from harness.verify.levels.transfer_policies import CANDIDATE, REFERENCE, Trainer
from harness.verify.localise import localise
from harness.verify.pair import Pair
from harness.verify.statistics import equivalence
from harness.verify.statistics.equivalence import Decision, Interval
from harness.verify.statistics.laws import compare_outcomes, verdict

__all__ = ["LEVEL", "Trainer", "checks"]

LEVEL = 4
EPISODES = "episodes under policies trained in the {}"
LAWS = "laws of episodes under policies trained in the {}"
LEARNED = "policies have learned"
COMPARED_PLAYING = "trained in the {}, played in both"
COMPARED_TRAINING = "trained in either, played in the reference"
PLAYED, TRAINED = "played", "trained"
TOGETHER = 8
"""Policies that play at the same time, at most."""
MOST_BYTES = 1 << 30
"""Fewer play where their episodes could be more than this. They are in memory from both backends."""


def checks(pair: Pair, trainer: Trainer, tally: Tally, measured: dict[str, Any]) -> Iterator[CheckResult]:
    """All checks of level 4. `measured` is filled with what was trained, played and compared (`LevelReport.transfer`)."""
    assert pair.task.transfer is not None and pair.task.transfer.steps is not None
    return _Run(pair, trainer, tally, pair.task.transfer, pair.task.transfer.steps).checks(measured)


class _Run:
    """One run of the level: groups of policies that grow with each look."""

    def __init__(self, pair: Pair, trainer: Trainer, tally: Tally, contract: Transfer, steps: int) -> None:
        self.pair = pair
        self.trainer = trainer
        self.tally = tally
        self.contract = contract
        there = Group(REFERENCE, contract.reference_steps or steps)
        here = Group(CANDIDATE, steps)
        # What is trained here and there is compared after equally long trainings.
        as_long = here if there.steps == here.steps else Group(CANDIDATE, there.steps)
        self.groups = list({id(group): group for group in (here, as_long, there)}.values())
        self.here, self.as_long, self.there = here, as_long, there
        self.together = max(1, min(TOGETHER, MOST_BYTES // (contract.episodes * pair.task.episode_bytes)))
        self.played: dict[str, int] = {}
        self.looks: list[dict[str, Any]] = []

    def checks(self, measured: dict[str, Any]) -> Iterator[CheckResult]:
        looks = self.contract.seeds
        decided: dict[str, tuple[Comparison, Interval, Decision]] = {}
        for look, level in zip(looks, equivalence.levels(looks), strict=True):
            for group in self.groups:
                failed = self._extend(group, look)
                if failed is not None:
                    measured.update(self._measured(decided))
                    self.trainer.conclude()
                    yield failed
                    return
            decided = {one.name: self._judged(one, level) for one in self._comparisons()}
            self.looks.append({"trainings": look, "level": level, "decisions": _decisions(decided)})
            if self._settled(decided):
                break
        measured.update(self._measured(decided))
        self.trainer.conclude()
        yield from self._results(decided)

    # --- training and playing -----------------------------------------------------------------------------------------

    def _extend(self, group: Group, look: int) -> CheckResult | None:
        """Train and play until the group has so many policies; a result if a difference was found."""
        count, before = look - len(group.trained), len(group.trained)
        # The same seeds in both backends: what chance alone makes of a training is then on both sides of a pair.
        seeds = self.pair.seeds(f"transfer/train/{group.steps}", self.contract.seeds[-1])[before:look]
        trained = self.trainer.train(group.backend, seeds, group.steps)
        described = f"level 4: playing policies trained in the {group.backend}"
        for start in range(0, count, self.together):
            self.pair.progress(described, start, count)
            failed = self._play(group, trained[start : start + self.together])
            if failed is not None:
                return failed
        return None if self.pair.paired else self._laws(group)

    def _play(self, group: Group, policies: Sequence[Trained]) -> CheckResult | None:
        """Play the policies' episodes in both backends, and compare them where they can be compared."""
        pair, count, play = self.pair, self.contract.episodes, self.trainer.play
        stream = f"transfer/play/{group.steps}"
        numbers = range(len(group.trained), len(group.trained) + len(policies))
        group.trained += policies
        seeds = [pair.seeds(f"{stream}/{number}", count) for number in numbers]
        by_policy = play(policies, pair.reference, seeds)
        if not pair.paired:
            others = [pair.seeds(f"{stream}/{number}/candidate", count) for number in numbers]
            _keep(group, by_policy, play(policies, pair.candidate, others), self.trainer.table, whole=True)
            return None
        draws = [[one.draws for one in each] for each in by_policy] if pair.task.mode is Mode.TAPE else None
        followed = play(policies, pair.candidate, seeds, draws)
        _keep(group, by_policy, followed, self.trainer.table, whole=False)
        expected, actual = ([one for each in side for one in each] for side in (by_policy, followed))
        name = EPISODES.format(group.backend)
        self.played[name] = self.played.get(name, 0) + len(expected)
        alone = pair.differences(expected, actual)
        group.same &= not any(alone)
        divergence = self._divergence(name, expected, actual, alone)
        if divergence is not None:
            return CheckResult(name, Outcome.FAIL, examples=self.played[name], divergences=(divergence,))
        self.tally.add(expected, pair)
        return None

    def _divergence(
        self,
        name: str,
        expected: Sequence[Trajectory],
        actual: Sequence[Trajectory],
        alone: Sequence[Difference | None],
    ) -> Divergence | None:
        """The first difference of episodes that the candidate follows action by action, or plays by itself.

        By itself it may take another action in the end because of an observation that differs within its tolerance: what
        comes after is no difference of the environments. Before that it is.
        """
        # The room is the same each time, so that it is compiled once.
        room = (self.together * self.contract.episodes, self.pair.task.budgets.horizon)
        followed = self.pair.follow(expected, room=room)
        found = self.pair.differences(expected, followed, counted=True)
        failing = [(one.step, number) for number, one in enumerate(found) if one is not None]
        if failing:
            number = min(failing)[1]
            difference = found[number]
            assert difference is not None
            return localise(self.pair, expected[number], difference, level=LEVEL, check=name)
        if self.pair.resynchronised:
            return strayed(self.pair, expected, LEVEL, name)
        for one, other, difference in zip(expected, actual, alone, strict=True):
            if difference is not None and _same_actions(one, other, difference.step):
                return Divergence(
                    one.case, difference.step, difference.path, difference.expected, difference.actual,
                    difference.rule, LEVEL, name, index=difference.index,
                    cause="stepped in a vector environment, the candidate answers otherwise than in whole episodes",
                )  # fmt: skip
        return None

    def _laws(self, group: Group) -> CheckResult | None:
        """Where single episodes cannot be compared: whether episodes under the same policies follow one law."""
        name = LAWS.format(group.backend)
        expected, actual = group.outcomes[REFERENCE], group.outcomes[CANDIDATE]
        passed, worst = verdict(compare_outcomes(expected, actual, self.pair.task.outputs, seed=self.pair.derive(name)))
        self.played[name] = len(expected) + len(actual)
        if passed:
            return None
        divergence = Divergence(
            None, 0, worst.name, worst.expected, worst.observed, "law", LEVEL, name,
            cause=f"{worst.statistic}, p = {worst.p_value:.2g} over {worst.n} episodes",
        )  # fmt: skip
        return CheckResult(name, Outcome.FAIL, examples=self.played[name], divergences=(divergence,))

    # --- comparing ----------------------------------------------------------------------------------------------------

    def _comparisons(self) -> Iterator[Comparison]:
        # Of several players each seat is compared by itself: what one gains the other may lose.
        players = self.pair.task.player_names
        for seat, player in enumerate(players) if players else [(None, "")]:
            yield from self._compared(seat, max(1, len(players)), f", as {player}" if player else "")

    def _compared(self, seat: int | None, seats: int, suffix: str) -> Iterator[Comparison]:
        for group in (self.here, self.there):
            yield Comparison(
                COMPARED_PLAYING.format(group.backend) + suffix,
                PLAYED,
                group.means(CANDIDATE, seat, seats),
                group.means(REFERENCE, seat, seats),
                identical=self.pair.paired and group.same,
                visited=distance(group.visited[CANDIDATE], group.visited[REFERENCE]),
                alike=len(group.trained),
            )
        yield Comparison(
            COMPARED_TRAINING + suffix,
            TRAINED,
            self.as_long.means(REFERENCE, seat, seats),
            self.there.means(REFERENCE, seat, seats),
            identical=False,
            visited=distance(self.as_long.visited[REFERENCE], self.there.visited[REFERENCE]),
            alike=sum(
                one.digest == other.digest for one, other in zip(self.as_long.trained, self.there.trained, strict=True)
            ),
        )

    def _judged(self, one: Comparison, level: float) -> tuple[Comparison, Interval, Decision]:
        margin, seats = self.contract.margin, max(1, len(self.pair.task.player_names))
        interval = one.interval(margin, level)
        decision = equivalence.decide(interval, margin)
        if decision is Decision.DIFFERENT and seats > 1:
            # PASS needs every seat, but one that differs by chance is enough for FAIL: its chance is shared out.
            decision = equivalence.decide(one.interval(margin, level / seats), margin)
        return one, interval, decision

    def _learned(self, group: Group) -> bool:
        return bool(group.means(REFERENCE).mean() >= self.contract.minimum_return)

    def _settled(self, decided: dict[str, tuple[Comparison, Interval, Decision]]) -> bool:
        decisions = {decision for _, _, decision in decided.values()}
        ignorant = not any(self._learned(group) for group in self.groups)
        return Decision.DIFFERENT in decisions or decisions == {Decision.EQUIVALENT} or ignorant

    def _results(self, decided: dict[str, tuple[Comparison, Interval, Decision]]) -> Iterator[CheckResult]:
        for name, examples in self.played.items():
            yield CheckResult(name, Outcome.PASS, examples=examples)
        yield self._check_learned()
        for one, interval, decision in decided.values():
            yield self._check_equivalence(one, interval, decision)

    def _check_learned(self) -> CheckResult:
        least = self.contract.minimum_return
        worst = min(self.groups, key=lambda group: group.means(REFERENCE).mean())
        mean = float(worst.means(REFERENCE).mean())
        detail = (
            f"mean return {mean:.4g} in the reference of those trained in the {worst.backend}, at least {least:.4g}"
        )
        if self._learned(worst):
            return CheckResult(LEARNED, Outcome.PASS, detail=detail)
        return CheckResult(
            LEARNED,
            Outcome.INCONCLUSIVE,
            detail=f"{detail} is asked for: raise transfer.steps (now {self.here.steps:,} here and {self.there.steps:,} in "
            "the reference), or change transfer.ppo",
        )

    def _check_equivalence(self, one: Comparison, interval: Interval, decision: Decision) -> CheckResult:
        margin, count = self.contract.margin, len(one.first)
        if one.identical:
            return CheckResult(one.name, Outcome.PASS, examples=count, detail="every episode is the same in both")
        seen = (
            f"difference {float(interval.difference):+.4g}, interval [{float(interval.low):.4g}, "
            f"{float(interval.high):.4g}], margin {margin:.4g}, {count} trainings"
        )
        if one.by == TRAINED and one.alike:
            seen += f", {one.alike} of them the same bit by bit in both"
        if decision is Decision.EQUIVALENT:
            return CheckResult(one.name, Outcome.PASS, examples=count, detail=seen)
        if decision is Decision.UNDECIDED:
            return CheckResult(
                one.name, Outcome.INCONCLUSIVE, examples=count, detail=f"{seen}: {self._would_decide(interval, count)}"
            )
        actual, expected = (
            f"mean return {side.mean():.6g}, {one.by} in the {backend}"
            for backend, side in ((CANDIDATE, one.first), (REFERENCE, one.second))
        )
        divergence = Divergence(
            None, 0, "return", expected, actual, "equivalence", LEVEL, one.name,
            cause=f"{seen}: the whole interval lies beyond the margin",
        )  # fmt: skip
        return CheckResult(one.name, Outcome.FAIL, examples=count, detail=seen, divergences=(divergence,))

    def _would_decide(self, interval: Interval, count: int) -> str:
        needed = equivalence.seeds_to_decide(interval, count, self.contract.margin)
        power = f"with a chance of {equivalence.POWER:.0%}, if difference and spread stay as they are"
        if needed is None:
            return "the difference lies at the margin, and no number of trainings would decide"
        if needed > self.contract.seeds[-1]:
            return f"{needed} trainings in each backend would decide {power}: raise transfer.seeds"
        return f"{needed} trainings would decide {power}: repeat the run, or raise transfer.seeds"

    # --- telling ------------------------------------------------------------------------------------------------------

    def _measured(self, decided: dict[str, tuple[Comparison, Interval, Decision]]) -> dict[str, Any]:
        contract = self.contract
        config = self.trainer.config
        described: dict[str, Any] = {
            "margin": contract.margin,
            "because": contract.because,
            "minimum_return": contract.minimum_return,
            "looks": self.looks,
            "budget": contract.seeds[-1],
            "episodes": contract.episodes,
            "ppo": config.to_json(),
            "ppo_digest": config.digest,
            "policies": [line for group in self.groups for line in described_policies(group)],
            "comparisons": [
                one.described(interval, decision, contract.margin, self.pair.random("bootstrap"))
                for one, interval, decision in decided.values()
            ],
        }
        if self.trainer.table is not None:
            described["results"] = list(described_results(self.groups, self.trainer.table))
        means = self.there.means(REFERENCE)
        if len(means) >= 2:
            budget = contract.seeds[-1]
            floor = equivalence.noise_floor(means, budget, contract.margin)
            described["noise_floor"] = {
                "spread": float(means.std(ddof=1)),
                "half_width": floor,
                "trainings": budget,
                "decidable": bool(floor < contract.margin),
            }
        return described


def _decisions(decided: dict[str, tuple[Comparison, Interval, Decision]]) -> dict[str, str]:
    return {name: str(decision) for name, (_, _, decision) in decided.items()}


def _keep(
    group: Group,
    expected: Sequence[Sequence[Trajectory]],
    actual: Sequence[Sequence[Trajectory]],
    table: Table | None,
    *,
    whole: bool,
) -> None:
    for backend, by_policy in ((REFERENCE, expected), (CANDIDATE, actual)):
        for played in by_policy:
            group.keep(backend, played, table, whole=whole)


def _same_actions(one: Trajectory, other: Trajectory, steps: int) -> bool:
    """Whether both episodes took the same first `steps` actions."""
    return all(
        np.array_equal(actions[:steps], other.case.actions[path][:steps]) for path, actions in one.case.actions.items()
    )
