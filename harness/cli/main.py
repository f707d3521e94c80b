"""The entry point: commands, exit codes, and how an error or an interruption ends.

Modules of commands import what is heavy only when they run, so that `lockstep --help` and `lockstep status` answer at once.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence

import click

from harness import __version__
from harness.cli import machine, records, sessions, tasks
from harness.cli.certify import certify
from harness.cli.compare import compare
from harness.cli.connect import connect
from harness.cli.coverage import coverage
from harness.cli.extended import Extended
from harness.cli.frame import EXIT_ERROR, EXIT_INTERRUPTED, EXIT_USAGE, Output, error_text, report_error
from harness.cli.images import images
from harness.cli.keys import key
from harness.cli.profile import profile
from harness.cli.prompt import prompt
from harness.cli.replay import replay
from harness.cli.report import report, view
from harness.cli.rollout import rollout
from harness.cli.shell import shell
from harness.cli.spec import spec
from harness.cli.strength import strength
from harness.cli.task_update import task
from harness.cli.train import train
from harness.cli.transfer import transfer
from harness.cli.usage import usage
from harness.cli.verify import verify
from harness.cli.watch import watch
from harness.errors import LockstepError, NoSuchSession, NoSuchTask
from harness.support.text import guarded

EPILOG = """\b
Exit codes:
    0  verified, or done as asked
    1  FAIL: a difference was found, a check failed, or an audit found something
    2  usage: the command line is wrong, or names a task or a session that is not there
    3  ERROR: infrastructure failed, or the task is wrong; says nothing of the candidate
    4  a person is needed: the session has reached a limit
    5  INCONCLUSIVE: no difference, and too little to show equality; says what would decide
  130  interrupted

Every command takes --json: then standard output is exactly one JSON document, and progress goes to
standard error."""


@click.group(
    cls=Extended, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(__version__, prog_name="lockstep")
def cli() -> None:
    """Prove that a fast translation of an RL environment is its slow reference.

    A first look: `lockstep demo`. On your own environment: `lockstep new`, `lockstep check-reference`, `lockstep start`,
    and then `lockstep verify` in the workspace, again and again.
    """


COMMANDS = (
    tasks.new,
    spec,
    tasks.setup,
    tasks.check_reference,
    sessions.start,
    verify,
    transfer,
    compare,
    rollout,
    profile,
    coverage,
    strength,
    train,
    sessions.status,
    watch,
    sessions.history,
    replay,
    sessions.explain,
    prompt,
    sessions.resume,
    task,
    shell,
    connect,
    usage,
    report,
    view,
    certify,
    records.audit,
    records.bundle,
    key,
    records.export,
    images,
    machine.doctor,
)
for _command in COMMANDS:
    cli.add_command(_command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; `arguments` None takes those of the process."""
    with guarded():
        return _main(list(sys.argv[1:] if arguments is None else arguments))


def _main(given: list[str]) -> int:
    output = Output(json="--json" in given)
    try:
        return int(cli.main(given, prog_name="lockstep", standalone_mode=False, obj=output) or 0)
    except click.UsageError as error:
        if output.json:
            report_error(output, {"error": "UsageError", "what": error.format_message()})
        else:
            error.show()
        return EXIT_USAGE
    except LockstepError as error:
        report_error(output, error.as_json(), error_text(error))
        return EXIT_USAGE if isinstance(error, (NoSuchTask, NoSuchSession)) else EXIT_ERROR
    except (click.Abort, KeyboardInterrupt):
        report_error(
            output, {"error": "Interrupted", "what": f"interrupted; {output.kept}"}, f"interrupted: {output.kept}"
        )
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # Whoever read standard output has left (`lockstep history | head`); nothing is left to say to it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        from sandboxes import SandboxError

        described = {"error": type(error).__name__, "what": str(error)}
        if isinstance(error, SandboxError):
            report_error(output, described, str(error).replace("\n", "\n    "))
            return EXIT_ERROR
        # A bug of Lockstep. It must not end with Python's own exit code, which here means that a candidate failed.
        traceback.print_exc()
        report_error(output, described | {"next": "this is a bug of Lockstep: report it with the traceback"})
        return EXIT_ERROR
