"""The recipe: what comes next, folded from events and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from harness.record.event import Event
from harness.session import recipe
from harness.session.recipe import Plan, State, Step, advance, fold, next_step, phase, progress_made
from harness.task.contract import Limits

PLAN = Plan(("start", "moves"), (1, 2, 3), Limits(iterations=3, seconds=100.0, dollars=5.0))
START, MOVES, TWO, THREE = Step(1, "start"), Step(1, "moves"), Step(2), Step(3)
NOTHING = Plan(())


def attempt(seconds: float = 0.0, dollars: float = 0.0, message: str = "") -> Event:
    return Event(0, "t", "attempt", arguments={"message": message}, duration_s=seconds, usage={"dollars": dollars})


def verdict(
    outcome: str,
    levels: Sequence[int] = (1,),
    module: str | None = None,
    *,
    failed: int = 1,
    blamed: Sequence[str] = (),
    counts: bool = True,
) -> Event:
    detail = {"counts": counts, "failed_level": failed, "blamed": list(blamed), "finding": "reward differs"}
    return Event(
        0, "t", "verdict", arguments={"levels": list(levels), "module": module}, outcome=outcome, detail=detail
    )


def after(*events: Event, plan: Plan = PLAN) -> State:
    return fold(plan, events)


ALL_PASSED = (verdict("PASS", (1, 2, 3)),)


def test_steps_are_modules_in_order_then_levels() -> None:
    assert PLAN.steps == (START, MOVES, TWO, THREE)
    assert Plan((), (1, 2, 3, 4)).steps == (Step(1), TWO, THREE, Step(4))


def test_a_plan_survives_as_data() -> None:
    assert Plan.from_json(PLAN.to_json()) == PLAN


def test_passing_leads_from_step_to_step_until_all_is_done() -> None:
    state = after()
    walked = []
    for event in (
        verdict("PASS", (1,), "start"),
        verdict("PASS", (1,), "moves"),
        verdict("PASS", (1, 2)),
        verdict("PASS", (1, 2, 3)),
    ):
        walked.append(next_step(state))
        state = advance(state, event)
    assert walked == [START, MOVES, TWO, THREE]
    assert next_step(state) is None
    assert phase(state) == "done"


def test_a_verification_of_everything_may_pass_all_steps_at_once() -> None:
    assert after(*ALL_PASSED).passed == frozenset(PLAN.steps)
    assert after(verdict("PASS", (1,))).passed == {START, MOVES}


def test_a_later_failure_sends_the_named_module_back_to_level_1() -> None:
    state = after(*ALL_PASSED, verdict("FAIL", (1, 2, 3), failed=3, blamed=["moves"]))
    assert next_step(state) == MOVES
    assert state.passed == {START}


def test_a_later_failure_that_names_nobody_stays_at_its_level() -> None:
    state = after(*ALL_PASSED, verdict("FAIL", (1, 2, 3), failed=3))
    assert next_step(state) == THREE
    assert state.passed == {START, MOVES, TWO}
    assert next_step(after(verdict("FAIL", (1, 2), failed=2, blamed=["nobody"]))) == TWO


def test_what_passed_below_a_failed_level_is_earned() -> None:
    assert after(verdict("FAIL", (1, 2, 3), failed=3)).passed == {START, MOVES, TWO}
    assert after(verdict("FAIL", (1, 2, 3), failed=3, counts=False)).passed == frozenset()


def test_a_module_that_fails_again_is_open_again_with_all_levels_above() -> None:
    assert after(*ALL_PASSED, verdict("FAIL", (1,), "start")).passed == {MOVES}
    assert after(*ALL_PASSED, verdict("FAIL", (1, 2), blamed=["moves"])).passed == {START}


def test_a_task_without_modules_has_one_first_step() -> None:
    assert next_step(after(verdict("PASS", (1,)), plan=NOTHING)) == TWO
    assert next_step(after(verdict("PASS", (1, 2, 3)), verdict("FAIL", (1,)), plan=NOTHING)) == Step(1)


def test_an_error_changes_nothing_but_the_count() -> None:
    state = after(*ALL_PASSED, attempt(), verdict("ERROR", (1, 2, 3)))
    assert state.passed == frozenset(PLAN.steps)
    assert [a.outcome for a in state.attempts] == ["ERROR"]
    assert after(attempt(), verdict("ERROR")).spent[START].iterations == 1


def test_an_undecided_level_earns_what_passed_below_it_and_takes_nothing_away() -> None:
    plan = Plan(("start",), (1, 2, 3, 4))
    undecided = verdict("INCONCLUSIVE", (1, 2, 3, 4), failed=4)
    assert next_step(after(undecided, plan=plan)) == Step(4)
    assert after(verdict("PASS", (1, 2, 3, 4)), undecided, plan=plan).passed == frozenset(plan.steps)
    assert after(verdict("INCONCLUSIVE", (1, 2), failed=2, counts=False)).passed == frozenset()


def test_a_pass_on_a_chosen_seed_shows_nothing() -> None:
    assert after(verdict("PASS", (1, 2, 3), counts=False)).passed == frozenset()


def test_an_attempt_is_pending_until_its_verdict_or_interruption() -> None:
    state = after(attempt(message="try"))
    assert state.pending is not None
    assert advance(state, verdict("FAIL")).pending is None
    interrupted = advance(state, Event(0, "t", "interrupted", detail={"finding": "killed"}))
    assert interrupted.pending is None
    assert interrupted.attempts[0].outcome == "interrupted"
    assert interrupted.attempts[0].finding == "killed"


@pytest.mark.parametrize(
    ("events", "because"),
    [
        ([attempt(), verdict("FAIL")] * 3, "3 iterations on level 1 of start (limit 3)"),
        ([attempt(), verdict("ERROR")] * 3, "3 iterations on level 1 of start (limit 3)"),
        ([attempt(seconds=60.0), verdict("FAIL")] * 2, "120 s on level 1 of start (limit 100 s)"),
        ([attempt(dollars=2.5), verdict("FAIL")] * 2, "$5.00 in this session (limit $5.00)"),
    ],
)
def test_each_limit_asks_for_a_person(events: list[Event], because: str) -> None:
    assert phase(after(*events[:-2])) == "working"
    state = after(*events)
    assert phase(state) == "needs_human"
    needs = recipe.status(state)["needs_human"]
    assert needs["because"] == [because]
    assert [tried["finding"] for tried in needs["tried"]] == ["reward differs"] * (len(events) // 2)


def test_iterations_and_seconds_are_counted_for_each_step_and_money_for_the_session() -> None:
    fails = [attempt(seconds=1.0, dollars=1.0), verdict("FAIL")] * 2
    state = after(*fails, verdict("PASS", (1,), "start"), *fails)
    assert phase(state) == "working"
    assert state.spent[START] == state.spent[MOVES] == recipe.Spent(2, 2.0)
    assert state.dollars == 4.0


def test_work_on_another_step_counts_against_the_step_that_is_next() -> None:
    events = [attempt(), verdict("FAIL", (1,), "moves")] * 3
    assert phase(after(*events)) == "needs_human"


def test_a_person_can_let_it_go_on() -> None:
    events = [attempt(dollars=2.0), verdict("FAIL")] * 3
    state = after(*events, Event(0, "t", "resumed"))
    assert phase(state) == "working"
    assert state.dollars_total == 6.0
    assert phase(fold(PLAN, [*events, Event(0, "t", "resumed"), *events])) == "needs_human"


def test_when_all_is_done_no_limit_asks_for_a_person() -> None:
    assert phase(after(*ALL_PASSED, *([attempt(dollars=9.0)] * 9))) == "done"


def test_progress_is_a_new_step_or_other_code_at_the_highest() -> None:
    everything = frozenset(PLAN.steps)
    assert progress_made(after(), frozenset({START}), same_tree=False)
    assert progress_made(after(*ALL_PASSED), everything, same_tree=False)
    assert not progress_made(after(*ALL_PASSED), everything, same_tree=True)
    assert not progress_made(after(*ALL_PASSED), frozenset({START}), same_tree=False)


def test_status_names_what_passed_and_what_remains() -> None:
    status = recipe.status(after(verdict("PASS", (1,), "start"), attempt(seconds=2.0, dollars=0.5)))
    assert status == {
        "state": "working",
        "next": {"level": 1, "module": "moves"},
        "passed": [{"level": 1, "module": "start"}],
        "remaining": [MOVES.to_json(), TWO.to_json(), THREE.to_json()],
        "attempts": 1,
        "spent_on_next": {"iterations": 1, "seconds": 2.0},
        "dollars": 0.5,
        "dollars_reported": 0.5,
        "limits": {"iterations": 3, "seconds": 100.0, "dollars": 5.0},
        "needs_human": None,
    }
