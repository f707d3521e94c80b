"""The conformance kit behind `lockstep check-reference`: it tells the author of an adapter what is wrong with it.

A verdict is worth what its reference is worth. So before a task is used, its reference is asked here for everything
that the levels rely on: that it says the same twice and after whatever came before, that its state is its whole state, that
its tape holds all chance, that it answers whatever task.toml allows.
What a missing capability costs is listed as SKIPPED, with the consequence.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from harness.authoring.conformance import (
    behaviour,
    calls,
    chance,
    declaration,
    leaks,
    masks,
    pictures,
    players,
    probes,
    state,
    state_bounds,
    vector,
)
from harness.authoring.conformance.kit import Failed, Kit, Passed, Skipped
from harness.errors import LockstepError
from harness.protocol.environment import Environment
from harness.task.contract import Task
from harness.verdict import CheckResult, Outcome

CHECKS: dict[str, Callable[[Kit], Passed]] = {
    "opens": declaration.opens,
    "spec": declaration.agrees_with_its_task,
    "episodes": behaviour.plays_episodes,
    "reset": behaviour.resets_to_a_beginning,
    "bounds": behaviour.keeps_its_bounds,
    "masks": masks.offers_legal_actions,
    "players": players.keeps_its_order,
    "determinism": behaviour.repeats_itself,
    "leaks": leaks.forgets_what_came_before,
    "seeds": behaviour.heeds_its_seed,
    "single steps": behaviour.steps_singly,
    "vector": vector.keeps_sub_envs_apart,
    "restore": state.restores,
    "state bounds": state_bounds.keeps_its_state_bounds,
    "sufficient state": state.suffices,
    "tape": chance.replays_its_tape,
    "wrong tapes": chance.refuses_wrong_tapes,
    "pictures": pictures.draws_pictures,
    "probes": probes.answers_probes,
    "policies": calls.follows_policies,
    "wrong actions": calls.refuses_wrong_actions,
    "close": calls.closes,
}
"""Every check by its name, in the order in which they are done."""


def check_reference(
    environment_factory: Callable[[], Environment],
    task: Task,
    only: Collection[str] = tuple(CHECKS),
    progress: Callable[[str, int, int], None] = lambda what, done, of: None,
) -> list[CheckResult]:
    """Check that a reference keeps the protocol and fits its task.

    Args:
        environment_factory: starts and opens a fresh process of the reference each time that it is called.
        task: the task that the reference belongs to.
        only: the names of the checks to do; all of them by default.
        progress: called before each check with its name, and how many of how many are done.

    Returns:
        One result for each check. A reference that crashes, hangs or raises fails the check during which it does, and
        a new process is started for the next.
    """
    kit = Kit(environment_factory, task)
    try:
        opened = _result("opens", kit)
        if opened.outcome is not Outcome.PASS:
            return [opened] + [
                CheckResult(name, Outcome.SKIPPED, detail="it does not open")
                for name in CHECKS
                if name in only and name != "opens"
            ]
        results, names = [], [name for name in CHECKS if name in only]
        for done, name in enumerate(names):
            progress(f"asking the reference: {name}", done, len(names))
            results.append(opened if name == "opens" else _result(name, kit))
        return results
    finally:
        kit.close()


def _result(name: str, kit: Kit) -> CheckResult:
    try:
        passed = CHECKS[name](kit)
    except Skipped as skipped:
        return CheckResult(name, Outcome.SKIPPED, detail=str(skipped))
    except Failed as failed:
        shown = () if failed.divergence is None else (replace(failed.divergence, check=name),)
        return CheckResult(name, Outcome.FAIL, detail=str(failed), divergences=shown)
    except LockstepError as failure:
        return CheckResult(name, Outcome.FAIL, detail=str(failure))
    return CheckResult(name, Outcome.PASS, examples=passed.examples, detail=passed.detail)
