"""From documents of the harness to results: what a job came to, in the fields and the words of its tool."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from mcp.server.mcpserver.exceptions import ToolError

from harness.calls import ShellCalls, ToolCalls
from harness.host.jobs import Job
from harness.measure.profile import text
from harness.measure.profile.contenders import CANDIDATE
from harness.measure.profile.result import Measurement, ProfileReport
from harness.occurrences import told
from harness.operations.verification import NEEDS_HUMAN
from harness.verdict import LevelReport, Outcome, Verdict
from harness.verify.explain import first
from mcp_server import specified, texts
from mcp_server.limits import RESULT_CHARACTERS, WAIT_AT_MOST_S
from mcp_server.results import (
    CommandRun,
    Comparison,
    Finding,
    JobStatus,
    LevelLine,
    Profile,
    Replayed,
    Specification,
    StepView,
    TransferView,
    Verification,
)
from mcp_server.services import progress_text

OUTPUT_CHARACTERS = 10_000


def due(session: str, state: str, step: StepView | None) -> str:
    """What the recipe asks for next."""
    if state == "needs_human":
        return f"stop and ask a person: only they let the session go on ({ShellCalls(session).resume()})"
    if state == "done" or step is None:
        return ToolCalls(session).audit()
    what = f"module {step.module}" if step.module else f"level {step.level}"
    verify = ToolCalls(session).verify(step.level, step.module)
    return f"work on {what} in candidate/, then {verify}"


def elapsed(job: Job) -> float:
    """Seconds from a job's beginning to its end, or to now."""
    end = datetime.fromisoformat(job.ended) if job.ended else datetime.now(UTC)
    return round((end - datetime.fromisoformat(job.started)).total_seconds(), 1)


def outcome_of(job: Job) -> dict[str, Any]:
    """The result of a job that is done, or an empty document while it runs.

    Raises:
        ToolError: it failed, was cancelled, or is lost.
    """
    if job.state == "running":
        return {}
    if job.state == "cancelled" and job.result:
        return job.result
    if job.state != "done":
        raise ToolError(f"job {job.id} ({job.operation}): {job.state}\n{error_text(job)}")
    return job.result or {}


def error_text(job: Job) -> str:
    """Why a job has no result, with what to do about it."""
    error = job.error or {}
    lines = [f"{error['where']}: {error.get('what', '')}" if error.get("where") else error.get("what", "")]
    lines += [f"expected: {error['expected']}"] if error.get("expected") else []
    lines += [f"next: {error['next']}"] if error.get("next") else []
    lines += error.get("mistakes", "").splitlines()
    return texts.cut("\n  ".join(line for line in lines if line), RESULT_CHARACTERS)


def running(job: Job, also: list[str]) -> dict[str, Any]:
    """The fields of a result behind which a job stands."""
    shown = progress_text(job) if job.state == "running" else ""
    return {
        "job": job.id,
        "state": job.state,
        "progress": shown,
        "elapsed_s": elapsed(job),
        "also_working": also,
        "session": job.session,
    }


def still_running(job: Job) -> dict[str, Any]:
    """What is said of a job that goes on after its call has been answered."""
    doing = progress_text(job)
    return {
        "summary": f"Still running after {elapsed(job):.0f} s ({doing}). It goes on whether or not you wait.",
        "next_call": ToolCalls(job.session).get_job(job.id, WAIT_AT_MOST_S),
    }


def verification(job: Job, also: list[str]) -> Verification:
    """What `run_level_tests` answers. Raises ToolError as `outcome_of`."""
    document = outcome_of(job)
    common = running(job, also)
    if not document:
        return Verification(**common, **still_running(job))
    if document["outcome"] == NEEDS_HUMAN:
        because = "; ".join(document["needs_human"]["because"])
        return Verification(
            **common,
            summary=f"Nothing was verified: the session has reached a limit ({because}).",
            next_call=due(job.session, "needs_human", None),
            outcome=NEEDS_HUMAN,
            session_state="needs_human",
        )
    step, following = StepView.of(document["step"]), StepView.of(document["next"])
    verdict = Verdict.from_json(document["verdict"])
    return Verification(
        **common,
        summary=_verdict_summary(document, step, following),
        next_call=_after_verdict(job.session, document, following),
        outcome=document["outcome"],
        step=step,
        event=document["event"],
        commit=document["commit"],
        next=following,
        session_state=document["state"],
        levels=[level_line(report) for report in verdict.reports],
        transfer=_transfer(verdict),
        reached=document.get("coverage", {}).get("summary", []),
        error=verdict.reason,
        new_cases=document["new_cases"],
        found=_finding(verdict),
        divergence=document.get("divergence") or "",
        reproduce=document.get("reproduce") or "",
        repair_prompt=document.get("repair_prompt") or "",
    )


def _finding(verdict: Verdict) -> Finding | None:
    reported = first(verdict.divergences)
    return None if reported is None else Finding.model_validate(reported.to_json())


def _transfer(verdict: Verdict) -> TransferView | None:
    measured = next((report.transfer for report in verdict.reports if report.transfer is not None), None)
    if measured is None:
        return None
    return TransferView.model_validate({**measured, "policies": len(measured["policies"])})


def comparison(job: Job, also: list[str]) -> Comparison:
    """What `compare_rollouts` answers. Raises ToolError as `outcome_of`."""
    document = outcome_of(job)
    common = running(job, also)
    if not document:
        return Comparison(**common, **still_running(job))
    found = document["difference"]
    said = f"No difference in {document['steps']} steps." if document["steps"] else "No difference."
    if found is not None:
        values = f"expected {found['expected']}, got {found['actual']}"
        said = f"They differ at step {found['step']} in {found['path']}: {values}."
    return Comparison(
        **common,
        summary=said,
        next_call="understand the first row at which the two part, before you change anything" if found else "",
        equal=found is None,
        steps=document["steps"],
        played=document["played"],
        difference=found,
    )


def profile(job: Job, also: list[str]) -> Profile:
    """What `profile_sps` answers. Raises ToolError as `outcome_of`."""
    document = outcome_of(job)
    common = running(job, also)
    if not document:
        return Profile(**common, **still_running(job))
    report = ProfileReport.from_json(document)
    measured = report.profile
    outcome, found = measured.outcome, measured.divergence
    own = (each for each in measured.measurements if each.role == CANDIDATE)
    best = max(own, key=lambda each: each.speed.median, default=None)
    said = f"{outcome}: {measured.error or 'the candidate could not be measured'}"
    following = ToolCalls(job.session).verify()
    if outcome is Outcome.FAIL:
        said = "FAIL: what was timed is not what the reference does, so no figure counts."
    elif best is not None and outcome is Outcome.PASS:
        said = f"The candidate makes up to {text.figure(best.speed.median)} steps/s ({best.kind}, batch {best.batch})."
        if report.verified:
            following = "take the prompt `optimise_jax`, change one thing, verify it, and measure again"
        else:
            said += " This code is not verified as a whole: finish the recipe before you make it faster."
    elif outcome is Outcome.ERROR:
        following = "read `error`: mend what it names if it is yours, else tell a person"
    return Profile(
        **common,
        summary=said,
        next_call=following,
        outcome=outcome,
        event=report.event,
        verified=report.verified,
        measurements=[_measured(each) for each in measured.measurements],
        state_bytes=measured.state_bytes,
        hot=[" ".join(row) for row in text.operations(measured.hot)] if measured.hot is not None else [],
        advice=text.next_step(measured.advice) if measured.advice is not None else "",
        remarks=list(text.behind(measured)),
        error=measured.error,
        divergence="" if found is None else text.divergence(found),
    )


def _measured(each: Measurement) -> dict[str, Any]:
    """One measurement, short: there may be fifty."""
    described = each.to_json()
    rates = described["steps_per_s"]
    shown = {name: described[name] for name in ("contender", "kind", "batch")}
    shown |= {"steps_per_s": rates["median"], "low": rates["low"], "high": rates["high"]}
    if each.role == CANDIDATE:
        shown |= {name: described[name] for name in ("compile_s", "compile_added_mb") if name in described}
        shown |= {"suspicious": True} if each.suspicious else {}
    return shown | ({"environment_share": described["environment_share"]} if each.share is not None else {})


def replayed(job: Job, also: list[str]) -> Replayed:
    """What `replay` answers. Raises ToolError as `outcome_of`."""
    document = outcome_of(job)
    common = running(job, also)
    if not document:
        return Replayed(**common, **still_running(job))
    where = f"event {document['seq']}, {document['outcome']}"
    because = f": {document['because']}" if document["because"] else ""
    named = ("match", "outcome", "outcome_again", "seed", "digest", "digest_again", "differences", "because")
    return Replayed(
        **common,
        summary=f"The verdict of {where}, reached again: {document['match']}{because}.",
        next_call="tell a person: a verdict that is not reached again must not be relied on"
        if document["match"] == "different"
        else "",
        event=document["seq"],
        changed=[f"{name}: {each['then']} -> {each['now']}" for name, each in document["changed"].items()],
        **{name: document[name] for name in named},
    )


def specification(session: str, step: str, done: Job | Mapping[str, Any], also: list[str]) -> Specification:
    """What `spec` answers: of a job, or with the document of what was done at once. Raises ToolError as `outcome_of`."""
    common: dict[str, Any] = {"job": "", "state": "done", "also_working": also, "session": session, "step": step}
    if isinstance(done, Job):
        document, common = outcome_of(done), running(done, also) | {"session": session, "step": step}
        if not document:
            return Specification(**common, **still_running(done))
    else:
        document = done
    outcome, said, then = specified.TOLD[step](document, ToolCalls(session))
    return Specification(**common, outcome=outcome, summary=said, next_call=then, document=dict(document))


def command_run(job: Job, also: list[str]) -> CommandRun:
    """What `run_command` answers. Raises ToolError as `outcome_of`."""
    document = outcome_of(job)
    common = running(job, also)
    if not document:
        return CommandRun(**common, **still_running(job))
    code, killed = document.get("exit_code"), document.get("killed_by") or None
    ended = f"killed: {killed}" if killed else f"exit code {code}"
    return CommandRun(
        **common,
        summary=f"{'Cancelled' if job.state == 'cancelled' else 'Ended'}, {ended}.",
        exit_code=code,
        stdout=texts.ends(document.get("stdout", ""), OUTPUT_CHARACTERS),
        stderr=texts.ends(document.get("stderr", ""), OUTPUT_CHARACTERS // 2),
        truncated=bool(document.get("stdout_truncated") or document.get("stderr_truncated")),
        killed_by=killed,
        duration_s=round(float(document.get("duration_s", 0.0)), 3),
    )


def job_status(job: Job) -> JobStatus:
    """What `get_job` and `cancel_job` answer: the job, with the result that its own tool would have given."""
    common: dict[str, Any] = {
        **running(job, []),
        "operation": job.operation,
        "client": job.client,
        "started": job.started,
        "ended": job.ended,
    }
    if job.state == "running":
        return JobStatus(**common, **still_running(job))
    if job.state != "done" and not (job.state == "cancelled" and job.result):
        then = ToolCalls(job.session).status()
        return JobStatus(**common, summary=f"The job is {job.state}.", next_call=then, error=error_text(job))
    made: dict[str, Any] = {}
    if job.operation == "verify":
        made["verification"] = verification(job, [])
    elif job.operation == "compare":
        made["comparison"] = comparison(job, [])
    elif job.operation == "profile":
        made["profile"] = profile(job, [])
    elif job.operation == "replay":
        made["replay"] = replayed(job, [])
    elif job.operation == "spec":
        made["specification"] = specification(job.session, str(job.arguments.get("step")), job, [])
    elif job.operation == "run_command":
        made["command"] = command_run(job, [])
    inner = next(iter(made.values()), None)
    summary, following = (inner.summary, inner.next_call) if inner is not None else (f"The job is {job.state}.", "")
    return JobStatus(**common, summary=summary, next_call=following, **made)


def _verdict_summary(document: Mapping[str, Any], step: StepView | None, following: StepView | None) -> str:
    outcome = document["outcome"]
    if outcome == "PASS":
        kept = (
            f"committed as {document['commit'][:12]}" if document["commit"] else "not committed, as it is no progress"
        )
        then = f"next is {following}" if following else "everything has passed"
        return f"PASS: {step} is verified, {kept}; {then}."
    if outcome == "FAIL":
        return f"FAIL: {step} is not verified; the first difference stands under `divergence`."
    if outcome == "INCONCLUSIVE":
        return f"INCONCLUSIVE: {step} is not verified, but no difference was found; `levels` says what would decide."
    return f"ERROR: nothing could be judged, which says nothing of the candidate: {document['verdict']['error'][:300]}"


def _after_verdict(session: str, document: Mapping[str, Any], following: StepView | None) -> str:
    if document["outcome"] == "FAIL" and document["state"] == "working":
        again = document.get("reproduce")
        return f"follow `repair_prompt`; to see the case again: {again}" if again else "mend what `levels` names"
    if document["outcome"] == "INCONCLUSIVE":
        return (
            "read the remarks in `levels`; budgets and requirements are the task's, so tell a person what would decide"
        )
    if document["outcome"] == "ERROR":
        return "read `error` and `levels`: mend what they name if it is yours, else tell a person"
    return due(session, document["state"], following)


def level_line(report: LevelReport) -> LevelLine:
    """A level's report in one line of numbers, with what is remarkable about it."""
    remarks = [
        f"{check.outcome} {check.name}"
        + (f" ({check.module})" if check.module else "")
        + (f": {check.detail}" if check.detail else "")
        for check in report.checks
        if check.outcome is not Outcome.PASS
    ]
    if report.outcome in (Outcome.PASS, Outcome.INCONCLUSIVE):
        remarks += [f"{name}: {said}" for name, said in told(report.occurred, report.features)]
    remarks += [f"{name}: {said}" for name, said in report.floats_told]
    return LevelLine(
        level=report.level,
        outcome=str(report.outcome),
        examples=report.examples,
        episodes=report.episodes,
        steps=report.steps,
        divergence_bound_95=report.divergence_bound,
        remarks=[*remarks, *report.notes],
    )
