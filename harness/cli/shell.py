"""`lockstep shell`: a shell where the agent's commands run."""

from __future__ import annotations

import click

from harness.cli.frame import Output, command


@command("shell", "a shell in the agent's sandbox")
@click.argument("session", required=False)
@click.argument("program", nargs=-1)
@click.option("--sandbox", metavar="DRIVER", help="Default: the session's.")
def shell(output: Output, session: str | None, program: tuple[str, ...], sandbox: str | None) -> int:
    """A shell in the sandbox of a session's agent, or another program there: what an agent's commands see, you see.

    Its /tmp is its own. The session goes on meanwhile: nothing is locked.
    """
    from harness.agent_sandbox import AgentSandbox
    from harness.agent_sandbox.terminal import converse
    from harness.cli.places import session_named
    from harness.record.view import SessionView
    from harness.taskfile import load_task
    from sandboxes import choose

    with SessionView(session_named(session).id) as view:
        driver = choose(sandbox or view.sandbox)
        with AgentSandbox(view, load_task(view.task_directory), driver) as place:
            if driver.warning:
                output.note(driver.warning)
            return converse(place, program or ("/bin/bash", "-i"))
