"""What Lockstep can do, once: the words that the command line and the server share.

A tool and a command that do the same are one operation, called with the same words. Where one of the two is missing, the
reason stands here; a test holds this table against both. Commands that other packages add (docs/extending.md) are not in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Operation:
    """One thing that can be done with a session.

    Attributes:
        summary: in a few words; the help of the command and the title of the tool.
        tool, command: what it is called by an agent and by a person; None where that face does not offer it.
        shared: parameters of the tool, with the option or the argument of the command that means the same.
        because: why it is offered to one of the two alone.
    """

    summary: str
    tool: str | None
    command: str | None
    shared: Mapping[str, str] = field(default_factory=dict)
    because: str = ""


_OWN_FILES = "a person works on the workspace's files with their own tools"
_WAITS = "a command of the command line waits until it has ended, and Ctrl-C cancels it"
_SHELL = "a person has a whole shell there, an agent one command at a time"
_PERSON = "this is for a person to decide, not for the agent that is judged"
_PROMPTS = "the server offers its prompts as prompts of the protocol"
_PREPARES = "tasks are made and checked by people, before any session"
_NEW = "`lockstep new NAME --spec RULES.md` begins one on the command line, beside tasks of environments"
_MACHINE = "this is about the machine and its clients, not about a session"

_LOOKS = "an agent gets the same facts as text, from compare_rollouts, session_status and get_job"
_REPORTED = "an agent gets the same figures beside every verdict and in session_status"
_JUDGES_TESTS = "this judges the tests, which belong to the task's author, and not the candidate"
_TRAINS = "an agent's candidate is judged by what level 4 trains, under the task's own settings"

_STARTED = {"task": "task", "workspace": "workspace", "fresh": "fresh", "candidate": "candidate", "sandbox": "sandbox"}
_EXPLAINED = {"session": "session", "event": "event", "index": "index"}

OPERATIONS = (
    Operation("begin a session on a task", "start_session", "start", _STARTED),
    Operation("where a session stands", "session_status", "status", {"session": "session"}),
    Operation(
        "verify a candidate, and commit it if that is progress",
        "run_level_tests",
        "verify",
        {"session": "session_id", "level": "level", "module": "module", "message": "message", "seed": "seed"},
    ),
    Operation(
        "train policies in both backends and compare what they earn",
        "policy_transfer",
        "transfer",
        {"session": "session_id", "message": "message", "seed": "seed"},
    ),
    Operation(
        "play one case on both sides",
        "compare_rollouts",
        "compare",
        {"case": "case_file", "policy": "policy", "steps": "steps", "seed": "seed"},
    ),
    Operation(
        "measure a candidate's speed beside reference and peers",
        "profile_sps",
        "profile",
        {"session": "where", "batch_sizes": "batches", "seconds_per": "seconds_per"},
    ),
    Operation("what a verification found", "explain_divergence", "explain", _EXPLAINED),
    Operation("everything that happened in a session", "history", "history", {"session": "session"}),
    Operation("go through a recorded session again", "replay", "replay", {"session": "record", "event": "which"}),
    Operation("check a record: signatures, chain, ancestry", "audit", "audit", {"session": "record"}),
    Operation("what a session has cost, per commit", "report_usage", "usage"),
    Operation("run a command in the agent's sandbox", "run_command", None, because=_SHELL),
    Operation("a shell in the agent's sandbox", None, "shell", because=_SHELL),
    Operation("ask for a job", "get_job", None, because=_WAITS),
    Operation("cancel a job", "cancel_job", None, because=_WAITS),
    Operation("read a file of the workspace", "read_file", None, because=_OWN_FILES),
    Operation("write a file of the workspace", "write_file", None, because=_OWN_FILES),
    Operation("change a passage of a file of the workspace", "edit_file", None, because=_OWN_FILES),
    Operation("list the files of the workspace", "list_files", None, because=_OWN_FILES),
    Operation("let a session that reached its limits go on", None, "resume", because=_PERSON),
    Operation("bring a changed task into a session; what passed is judged anew", None, "task", because=_PERSON),
    Operation("certify a finished translation, or check a certificate", None, "certify", because=_PERSON),
    Operation("write a session's whole record into one file", None, "bundle", because=_PERSON),
    Operation("the keys that sign records: show or rotate them", None, "key", because=_PERSON),
    Operation("make an installable package of a candidate", None, "export", because=_PERSON),
    Operation(
        "what the tests of each level reach of the reference, and of a crate", None, "coverage", because=_REPORTED
    ),
    Operation("measure how many planted faults the tests find", None, "strength", because=_JUDGES_TESTS),
    Operation("train policies in a candidate or in the reference", None, "train", because=_TRAINS),
    Operation("play an episode on both sides, and film it", None, "rollout", because=_LOOKS),
    Operation("watch a session while it runs", None, "watch", because=_LOOKS),
    Operation("write a session's report, one page that needs no network", None, "report", because=_LOOKS),
    Operation("the same page live, in a browser of this machine", None, "view", because=_LOOKS),
    Operation("make a task from an environment", None, "new", because=_PREPARES),
    Operation("rules in words: statements, scenarios, two readings, rulings", "spec", "spec"),
    Operation("begin a task that has rules in words and no program", "start_specification", None, because=_NEW),
    Operation("build the environment of a task's reference", None, "setup", because=_PREPARES),
    Operation("find out what is wrong with a reference", None, "check-reference", because=_PREPARES),
    Operation("what this machine offers and lacks", None, "doctor", because=_MACHINE),
    Operation("watch a whole session", None, "demo", because=_MACHINE),
    Operation("serve agents", None, "serve", because=_MACHINE),
    Operation("let a coding agent use Lockstep's server", None, "connect", because=_MACHINE),
    Operation("build the image of the sandbox `docker`", None, "images", because=_MACHINE),
    Operation(
        "what to tell an agent for a step of the recipe",
        None,
        "prompt",
        because=_PROMPTS,
    ),
)
TITLES = {operation.tool: operation.summary for operation in OPERATIONS if operation.tool}
