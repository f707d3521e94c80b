"""`lockstep shell`: a shell where the agent's commands run."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli import completion
from harness.cli.frame import Output, command


@command(
    "shell", "a shell in the agent's sandbox", "lockstep shell", "lockstep shell SESSION -- python candidate/env.py"
)
@click.argument("arguments", nargs=-1, metavar="[SESSION] [-- PROGRAM ...]", shell_complete=completion.sessions)
@click.option("--sandbox", metavar="DRIVER", help="Default: the session's.")
def shell(output: Output, arguments: tuple[str, ...], sandbox: str | None) -> int:
    """A shell in the sandbox of a session's agent, or another program there: what an agent's commands see, you see.

    Without SESSION it is the one that works here.

    Its /tmp is its own. The session goes on meanwhile: nothing is locked. With --json what is printed there goes to standard
    error, and standard output tells the session, the program and its exit code.
    """
    from harness.agent_sandbox import AgentSandbox
    from harness.agent_sandbox.terminal import converse
    from harness.cli.locate import session_at, session_named
    from harness.errors import NoSuchSession
    from harness.session.view import SessionView
    from harness.task.load import load_task

    # A file here is a program to run; elsewhere a path in a workspace names the session that works there.
    name = arguments[0] if arguments and not Path(arguments[0]).is_file() else None
    try:
        found, program = session_named(name), arguments if name is None else arguments[1:]
    except NoSuchSession:
        here = session_at(Path.cwd())
        if here is None:
            raise
        found, program = here, arguments
    with SessionView(found.id) as view:
        driver = view.driver(sandbox)
        with AgentSandbox(view, load_task(view.task_directory), driver) as location:
            if driver.warning:
                output.note(driver.warning)
            program = program or ("/bin/bash", "-i")
            exit_code = converse(location, program, write_to=2 if output.json else 1)
            if output.json:
                output.emit({"session": found.id, "program": list(program), "exit_code": exit_code})
            return exit_code
