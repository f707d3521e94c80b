"""One verification: snapshot, seed, judgement, and what is believed, recorded and committed of it.

The order is the point. The tree is fixed before the seed is drawn, the candidate is judged in an export of that tree, and
what passed is committed as that very tree. An attempt without a verdict is settled as interrupted.
"""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from harness.errors import RecordError, SessionError
from harness.policy.budgets import demand_budget, one_at_a_time
from harness.record import ssh
from harness.record.attest import SUMMARY_FILE, Subject, attestations
from harness.record.event import CONDITIONS, SSH_KEY, UNSIGNED, VERDICT_FILE, now, seconds
from harness.record.isolation import isolates
from harness.record.machine import conditions
from harness.record.message import commit_message
from harness.record.objects import Commit, identity
from harness.record.snapshot import Snapshot
from harness.record.task_update import task_in_force
from harness.session import coverage, recipe
from harness.session.recipe import State, Step
from harness.session.recorder import Recorder
from harness.session.request import VerificationRequest
from harness.session.same_tree import decides_seed
from harness.session.spending import client_of
from harness.support.progress import Progress
from harness.task.contract import CASES_DIRECTORY, TRAINING_LEVEL
from harness.verdict import Outcome, Verdict
from harness.verify import pictures
from harness.verify.levels.proposed import begins_in_a_made_up_state
from harness.verify.request import LevelsRequest

MAX_NEW_CASES = 8
"""As many counterexamples of one attempt are kept: they run first from then on, and must stay quick."""


class Verifier(Protocol):
    """What judges trees: `harness.verify.verifier.Verifier`, or a stand-in."""

    def verify(self, tree: Path, request: LevelsRequest) -> Verdict:
        """Verify an exported tree at some levels, lowest first."""
        ...

    def close(self) -> None:
        """End whatever it keeps running."""
        ...


VerifierFactory = Callable[[Path, Progress], Verifier]
"""Makes the verifier of a session from its trusted task directory and a progress callback."""


@dataclass(frozen=True)
class Verification:
    """What one call of `Session.verify` came to.

    Attributes:
        verdict: what the verifier found.
        step: what was asked for.
        seq: the event that holds it.
        commit: the commit that was made, or None.
        cases: files added to `cases/`.
        next: the recipe's next step, None when nothing is left.
    """

    verdict: Verdict
    step: Step
    seq: int
    commit: str | None
    cases: tuple[str, ...]
    next: Step | None

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {
            "step": self.step.to_json(),
            "event": self.seq,
            "commit": self.commit,
            "new_cases": list(self.cases),
            "next": None if self.next is None else self.next.to_json(),
            "verdict": self.verdict.to_json(),
        }


def asked_step(state: State, request: VerificationRequest) -> Step:
    """The step that a level and a module name; without either, the recipe's next one (or its last, when all passed).

    Raises:
        SessionError: the session has no such step.
    """
    plan, level, module = state.plan, request.level, request.module
    if module is not None and module not in plan.modules:
        raise SessionError(f"there is no module {module!r}", expected=f"one of {', '.join(plan.modules)}")
    if level is None:
        return Step(1, module) if module else recipe.next_step(state) or plan.steps[-1]
    if level not in plan.levels:
        raise SessionError(
            f"this session has no level {level}",
            expected=f"one of {', '.join(map(str, plan.levels))}",
            next_step="a session has level 4 if its task.toml said, when it began, how long to train (transfer.steps)"
            if level == TRAINING_LEVEL
            else "",
        )
    if module is not None and level != 1:
        raise SessionError(f"level {level} is about all modules together", expected="level 1 where a module is named")
    return Step(level, module)


def _not_the_same(failed: recipe.Attempt) -> str:
    return (
        f"this very tree failed level {failed.failed_level} with this very seed (event {failed.seq}: {failed.finding}), "
        "and passes now: it does not always do the same. Look for what hangs on time, threads or memory, and change it"
    )


class Attempts:
    """The verifications of one open session, one at a time.

    Args:
        recorder: of the session's record.
        factory: makes the verifier when the first attempt needs it; that one serves them all.
    """

    def __init__(self, recorder: Recorder, factory: VerifierFactory) -> None:
        self._recorder = recorder
        self._history = recorder.history
        self._factory = factory
        self._verifier: Verifier | None = None
        self._progress: Progress | None = None
        self._verifying = threading.Lock()

    def verify(self, step: Step, request: VerificationRequest, client: str, progress: Progress | None) -> Verification:
        """Verify the workspace as it is now, from level 1 up to the step's, which is what the request asks for."""
        with self._alone():
            self._progress = progress
            try:
                return self._verify(step, request, {"client": client} if client else {})
            finally:
                self._progress = None

    @contextmanager
    def none_running(self) -> Iterator[None]:
        """Keep verifications out while the context lasts; the next one has a new verifier, which reads the task again.

        Raises:
            SessionError: one is running.
        """
        with self._alone():
            self.close()
            yield

    @contextmanager
    def _alone(self) -> Iterator[None]:
        if not self._verifying.acquire(blocking=False):
            raise SessionError("a verification is running in this session", next_step="wait for it, or interrupt it")
        try:
            yield
        finally:
            self._verifying.release()

    def close(self) -> None:
        """End the verifier; further calls do nothing."""
        verifier, self._verifier = self._verifier, None
        if verifier is not None:
            verifier.close()

    def _verify(self, step: Step, request: VerificationRequest, asked: Mapping[str, str]) -> Verification:
        recorder, given = self._recorder, request.seed
        recorder.settle("the attempt ended without a verdict")
        recorder.demand_events()
        recorder.write_cases()
        home, found = recorder.directory.home, recorder.directory
        client = client_of(found)
        demand_budget(home, client, found.task)
        if reached := recipe.limits_reached(self._history.state):
            raise SessionError(
                f"this session needs a person: {'; '.join(reached)}",
                where=recorder.directory.id,
                next_step="look at what was tried (status), then let it go on (resume) or change the task",
            )
        levels = [level for level in self._history.plan.levels if level <= step.level]
        arguments = {"level": step.level, "levels": levels, "module": step.module, "message": request.message}
        began = time.monotonic()
        taken = recorder.take_snapshot(arguments)
        # Drawn only now: no candidate can have been written for it.
        before = (
            None if given is not None else decides_seed(self._history.events, self._history.state.attempts, taken.tree)
        )
        drawn = secrets.randbits(63) if before is None else before.seed
        seed = drawn if given is None else given
        detail = {**asked, "drawn": given is None}
        with one_at_a_time(home):
            demand_budget(home, client, found.task)
            attempt = recorder.append(
                recipe.ATTEMPT, arguments=arguments, detail=detail, seeds={"run": seed}, workspace=taken
            )
        try:
            with recorder.exported(taken, str(attempt.seq)) as tree:
                verdict = self._judge().verify(tree, LevelsRequest(levels, seed, step.module))
            verdict = self._believe(verdict, levels, seed)
            if verdict.passed and before is not None and before.contradicts(levels, step.module, conditions()):
                verdict = replace(verdict, error=_not_the_same(before.attempt))
            return self._conclude(step, arguments, taken, verdict, given is None, time.monotonic() - began)
        except BaseException as error:
            with suppress(RecordError):  # then the next verification, or the next opening, settles it
                why = f"{type(error).__name__}: {error}"[: recipe.FINDING_AT_MOST]
                # With its time: whoever cancels just before the end has spent it all the same.
                recorder.settle(why, time.monotonic() - began)
            raise

    def _judge(self) -> Verifier:
        if self._verifier is None:
            self._verifier = self._factory(self._recorder.directory.trusted, self._tell)
        return self._verifier

    def _tell(self, what: str, done: int, total: int) -> None:
        if self._progress is not None:
            self._progress(what, done, total)

    def _believe(self, verdict: Verdict, levels: Sequence[int], seed: int) -> Verdict:
        """A verdict that is not about what was asked is an error, whatever it says."""
        missing = set(levels) - {report.level for report in verdict.reports if report.outcome is Outcome.PASS}
        expected = task_in_force(self._history.events)
        if verdict.seed != seed:
            return replace(verdict, error=f"the verifier used the seed {verdict.seed} instead of {seed}")
        if verdict.isolated != (isolated := isolates(self._history.events)):
            wanted = "isolates" if isolated else "does not isolate"
            return replace(verdict, error=f"it was reached in {verdict.sandbox!r}, in a session that {wanted}")
        if verdict.task_digest != expected:
            return replace(verdict, error=f"the verifier read another task ({verdict.task_digest}) than the session's")
        if verdict.outcome is Outcome.PASS and missing:
            return replace(verdict, error=f"level {min(missing)} was asked for and did not pass")
        return verdict

    def _conclude(
        self,
        step: Step,
        arguments: Mapping[str, Any],
        taken: Snapshot,
        verdict: Verdict,
        counts: bool,
        duration_s: float,
    ) -> Verification:
        recorder, head = self._recorder, self._history.head
        moment = now()
        described = verdict.to_json()
        attached = {VERDICT_FILE: json.dumps(described, indent=1, sort_keys=True).encode() + b"\n"}
        cases = self._new_cases(verdict) if verdict.outcome is Outcome.FAIL else {}
        attached |= cases | pictures.attachments(verdict.frames)
        commit, unsigned = None, {}
        if verdict.outcome is Outcome.PASS and counts and self._is_progress(step, arguments, taken):
            commit, unsigned = self._commit(step, str(arguments["message"]), taken, verdict, moment)
            attached |= attestations(
                verdict,
                Subject(commit, taken.tree, taken.digest),
                session=recorder.directory.id,
                task=recorder.directory.task,
                time=moment,
                parent=head.attached[SUMMARY_FILE] if head else None,
                key=recorder.key,
            )
        reached = self._reached(verdict, step.module) if commit else {}
        event = recorder.append(
            recipe.VERDICT,
            time=moment,
            arguments=arguments,
            outcome=str(verdict.outcome),
            detail=recipe.verdict_detail(verdict, counts=counts) | {CONDITIONS: conditions()} | unsigned | reached,
            duration_s=duration_s,
            workspace=taken,
            commit=commit,
            attached=attached,
        )
        recorder.write_cases()
        return Verification(verdict, step, event.seq, commit, tuple(cases), recipe.next_step(self._history.state))

    def _reached(self, verdict: Verdict, module: str | None) -> dict[str, Any]:
        """For the verdict's event: what its levels reached of the reference, as far as this session does not know that yet.

        It is no part of the verdict, which a replay has to repeat to the byte, and nothing in it can change one.
        """
        levels = coverage.due(self._history.events, [report.level for report in verdict.reports], module)
        found = coverage.measured(self._judge(), levels)
        return {coverage.COVERAGE: found} if found else {}

    def _is_progress(self, step: Step, arguments: Mapping[str, Any], taken: Snapshot) -> bool:
        history = self._history
        covered = history.plan.covered(arguments["levels"], step.module)
        before = history.head.workspace if history.head else None
        return recipe.progress_made(
            history.state, covered, same_tree=before is not None and before["gitTree"] == taken.tree
        )

    def _commit(
        self, step: Step, message: str, taken: Snapshot, verdict: Verdict, moment: str
    ) -> tuple[str, dict[str, str]]:
        """The commit of a verified tree, and under `unsigned` why it lacks the SSH signature that it should carry."""
        head, started = self._history.head, self._history.events[0].detail
        who = identity(started["author"], seconds(moment))
        parents = (head.commit,) if head and head.commit else ()
        commit_text = commit_message(message, f"Pass {step}", verdict)
        commit, unsigned = Commit(taken.tree, parents, who, who, commit_text), {}
        if SSH_KEY in started:
            try:
                commit = ssh.signed(commit, self._recorder.directory.ssh_key, started[SSH_KEY])
            except RecordError as error:  # what was verified must not be lost over this
                unsigned = {UNSIGNED: str(error)}
        return self._recorder.store.put_commit(commit), unsigned

    def _new_cases(self, verdict: Verdict) -> dict[str, bytes]:
        # Cases run in the references that judge: of a state that an agent made up, the proposal is all that is kept.
        kept = (each for each in verdict.divergences if not begins_in_a_made_up_state(each))
        files = [divergence.counterexample for divergence in kept]
        fresh = {f"{CASES_DIRECTORY}/{name}": text.encode() for name, text in filter(None, files)}
        return dict([item for item in fresh.items() if item[0] not in self._recorder.trusted][:MAX_NEW_CASES])
