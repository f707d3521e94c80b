"""What a host's main thread does for a session with a candidate: verifications, comparisons, profiles, replays."""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from harness import agent_sandbox
from harness.agent_sandbox import AgentSandbox
from harness.errors import SessionError
from harness.host.closing import Closing, shortened
from harness.host.interrupts import Interrupts
from harness.host.jobs import CANCELLED, COMPARE, FAILED, PROFILE, REPLAY, VERIFY, Jobs
from harness.host.turns import Turns
from harness.operations import verification
from harness.operations.next_calls import tool_calls
from harness.policy.trust import Trust
from harness.record.task_update import tasks_of
from harness.session.attempt import asked_step
from harness.session.request import VerificationRequest
from harness.session.session import Session
from harness.support.home import lockstep_home
from harness.support.progress import Progress
from harness.task.load import load_task

if TYPE_CHECKING:
    from harness.model import Case
    from harness.verify.levels.known import ProbeCase
    from harness.verify.side_by_side import Episode

MAX_MESSAGE = 10_000
PROFILE_S, LONGEST_PROFILE_S = 0.5, 3600.0


class MainJobs(Turns):
    """Begins such jobs from any thread, and ends them.

    Args:
        session: what is judged, and `agent_sandbox` its agent's sandbox, where the files of cases lie.
        jobs, closing: where jobs are kept, and how they end.
        interrupts: cut short what the main thread does.
        submit: hands work to the main thread.
    """

    def __init__(
        self,
        session: Session,
        agent_sandbox: AgentSandbox,
        jobs: Jobs,
        closing: Closing,
        interrupts: Interrupts,
        submit: Callable[[Callable[[], None]], None],
    ) -> None:
        super().__init__(jobs, closing, interrupts, submit)
        self._session = session
        self._agent_sandbox = agent_sandbox
        self._beginning = threading.Lock()

    def verify(
        self,
        client: str,
        *,
        request: VerificationRequest,
    ) -> dict[str, Any]:
        """Begin a verification: of the recipe's next step, or up to a level."""
        if len(request.message) > MAX_MESSAGE:
            raise SessionError(f"the message has {len(request.message)} characters", expected=f"at most {MAX_MESSAGE}")
        asked_step(self._session.state, request)  # a step that there is not is a mistake of the call, and no job
        with self._beginning:
            for other in self._jobs.running:
                if other.operation == VERIFY:
                    raise SessionError(
                        f"a verification is running in this session: {other.id}"
                        + (f", which {other.client} asked for" if other.client else ""),
                        where=self._session.id,
                        next_step=f"wait for {other.id}, or cancel it",
                    )
            job = self._jobs.begin(VERIFY, request.to_json(), client)
        next_calls = tool_calls(self._session.id, request.level, request.module, self._session.workspace)

        def work() -> dict[str, Any]:
            verified = verification.verify(
                self._session,
                request,
                next_calls,
                client=client,
                progress=lambda what, done, total: self._jobs.progress(job, what, done, total),
            )
            return verified.document

        self.submit(job, work)
        return {"job": job.to_json()}

    def compare(
        self,
        client: str,
        *,
        case: str | dict | None = None,
        policy: str = "random",
        seed: int | None = None,
        steps: int | None = None,
    ) -> dict[str, Any]:
        """Begin to play one case, or one episode under a policy, on both sides."""
        # With it comes all that judges, which a host that runs commands never needs.
        from harness.operations import comparison
        from harness.verify.side_by_side import Episode

        task = load_task(self._session.task_directory)
        what: Case | ProbeCase | Episode
        if case is not None:
            what = self._case(case)
        else:
            what = Episode(policy, secrets.randbits(31) if seed is None else seed, steps or task.budgets.horizon)
            if what.seed < 0 or what.steps < 1:
                raise SessionError("the episode makes no sense", expected="a seed of 0 or more, and 1 step or more")
        arguments = {"case": case, "policy": policy, "seed": seed, "steps": steps}
        if isinstance(what, Episode):
            arguments["seed"] = what.seed

        def play(progress: Progress) -> tuple[dict[str, Any], str]:
            driver = self._session.driver()
            compared = comparison.compare(task, self._session.workspace, driver, what, progress)
            return compared.document, "no difference" if compared.document["difference"] is None else "difference"

        return self._begin(COMPARE, arguments, client, play)

    def profile(
        self, client: str, *, batch_sizes: list | None = None, seconds_per: float = PROFILE_S, peers: bool = True
    ) -> dict[str, Any]:
        """Begin to measure the candidate's speed beside the reference and, with `peers`, the task's peers."""
        from harness.measure.profile.run import Settings
        from harness.operations import profiling

        batches = None if batch_sizes is None else tuple(dict.fromkeys(batch_sizes))
        whole = all(isinstance(size, int) and not isinstance(size, bool) and size >= 1 for size in batches or ())
        if batches == () or not whole or not 0 < seconds_per <= LONGEST_PROFILE_S:
            raise SessionError(
                "the profile makes no sense",
                expected=f"batch sizes from 1 on, and seconds_per over 0 and at most {LONGEST_PROFILE_S:.0f}",
            )
        arguments = {"batch_sizes": batch_sizes, "seconds_per": seconds_per, "peers": peers}
        job = self._jobs.begin(PROFILE, shortened(arguments), client)
        self._jobs.progress(job, "waiting for its turn", 0, 1)

        def work() -> dict[str, Any]:
            began = time.monotonic()
            try:
                return profiling.profile_session(
                    self._session,
                    Settings(batches, seconds_per=seconds_per, peers=None if peers else ()),
                    client=client,
                    job=job.id,
                    progress=lambda text, done, total: self._jobs.progress(job, text, done, total),
                    interruptible=self._interrupts.allowed(),
                ).to_json()
            except BaseException as error:
                outcome = CANCELLED if isinstance(error, KeyboardInterrupt) else FAILED
                self._closing.record(PROFILE, arguments, outcome, client, began, job=job.id)
                raise

        self.submit(job, work)
        return {"job": job.to_json()}

    def replay(self, client: str, *, event: int | None = None) -> dict[str, Any]:
        """Begin to reach a recorded verdict again, by default the newest."""
        from harness.assurance.replay.rerun import ALL, Rerun, chosen

        events = list(self._session.events)
        verdicts = chosen(events, ALL if event is None else str(event))
        if not verdicts:
            raise SessionError("nothing was verified yet", where=self._session.id, expected="a verdict to repeat")

        def repeat(progress: Progress) -> tuple[dict[str, Any], str]:
            own = Trust(lockstep_home(), tasks_of(events))
            with Rerun(self._session.store, events, own, progress) as rerun:
                [repeated] = rerun.repeat(verdicts[-1:])
            return repeated.to_json(), str(repeated.found.match)

        return self._begin(REPLAY, {"event": verdicts[-1].seq}, client, repeat)

    def _case(self, given: str | dict) -> Case | ProbeCase:
        from harness.verify.side_by_side import parse_case

        if isinstance(given, dict):
            return parse_case(json.dumps(given), "case")
        target = self._agent_sandbox.target(given)
        read = agent_sandbox.read_file(self._agent_sandbox, target, max_lines=1 << 30, max_characters=1 << 30)
        return parse_case(read["text"], read["path"])
