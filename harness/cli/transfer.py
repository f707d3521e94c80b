"""`lockstep transfer`: level 4. Are policies that learned in the one worth the same in the other?"""

from __future__ import annotations

import click

from harness.cli import completion
from harness.cli.frame import Output, command
from harness.cli.verify import (
    candidate_option,
    device_option,
    message_option,
    on_option,
    run,
    sandbox_option,
    seed_option,
    session_option,
)
from harness.session.request import VerificationRequest

LEVEL = 4


@command("transfer", "train policies in both backends and compare what they earn", "lockstep transfer cartpole")
@click.argument("directory", required=False, shell_complete=completion.tasks_and_sessions)
@session_option
@message_option
@seed_option
@candidate_option
@sandbox_option
@device_option
@on_option
def transfer(
    output: Output,
    directory: str | None,
    session_id: str | None,
    message: str,
    seed: int | None,
    candidate: str | None,
    sandbox: str | None,
    on: str | None,
) -> int:
    """Verify a candidate up to level 4: train policies in it and in its reference, and play them in both.

    It is `lockstep verify --level 4`: the levels below are verified along, and in the workspace of a session it is recorded
    and, if it is progress, committed. The task says how long to train, and within which margin mean returns must agree.
    An attempt that was interrupted goes on with the policies that it had trained, as long as the candidate is the same.
    """
    request = VerificationRequest(LEVEL, message=message, seed=seed)
    return run(output, directory, session_id, request, candidate, sandbox, on)
