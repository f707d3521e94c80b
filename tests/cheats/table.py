"""Every program in `programs/` with what it must come to. Their docstrings say what they do, docs/cheats.md what stops them.

A cheat is judged at the lowest level that must find it. Programs that have to do with processes, files or pipes are judged
in the sandboxes of every driver; what only computes is the same everywhere and is judged in one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.verdict import Outcome

BUBBLEWRAP, DOCKER, PROCESS = "bubblewrap", "docker", "process"
EVERYWHERE = (BUBBLEWRAP, DOCKER, PROCESS)
MODULE = "moving"
"""The first module of the walk: level 1 for it alone takes a second or two."""
SAME_VALUES = r'"rule": "(value|draws|length)"'
CONTRACT = '"check": "contract"'


@dataclass(frozen=True)
class Cheat:
    """What a program must come to.

    Attributes:
        outcome: of its verdict; PASS where it is honest, once it finds nothing that it could use.
        words: a pattern that the verdict as JSON must hold.
        level: at which it is judged.
        module: to which level 1 is limited.
        drivers: in whose sandboxes.
        unisolated: the pattern where nothing is isolated, if that is another one; the outcome is FAIL then.
        or_error: an ERROR will do as well: what it tries may end it.
        short: it never answers, so it is not waited for long.
        files: what lies beside it in its tree.
    """

    outcome: Outcome
    words: str = ""
    level: int = 1
    module: str | None = MODULE
    drivers: tuple[str, ...] = (BUBBLEWRAP,)
    unisolated: str = ""
    or_error: bool = False
    short: bool = False
    files: Mapping[str, str] = field(default_factory=dict)


def error(words: str, **named: object) -> Cheat:
    return Cheat(Outcome.ERROR, words, drivers=EVERYWHERE, **named)  # type: ignore[arg-type]


def fails(words: str = SAME_VALUES, **named: object) -> Cheat:
    return Cheat(Outcome.FAIL, words, **named)  # type: ignore[arg-type]


def generic(words: str, **named: object) -> Cheat:
    """Found by the checks that come with the last module."""
    return Cheat(Outcome.FAIL, words, module=None, **named)  # type: ignore[arg-type]


def rollout(words: str, outcome: Outcome = Outcome.FAIL, **named: object) -> Cheat:
    return Cheat(outcome, words, level=3, module=None, **named)  # type: ignore[arg-type]


def harmless(**named: object) -> Cheat:
    return Cheat(Outcome.PASS, drivers=EVERYWHERE, **named)  # type: ignore[arg-type]


LOOSE = """import os
os._exit(0)
"""
HOOKED = ("conftest.py", "sitecustomize.py", "candidate/conftest.py", "candidate/sitecustomize.py")
HOOKS = dict.fromkeys((*HOOKED, "candidate/usercustomize.py"), LOOSE) | {
    "candidate/loose.pth": "import os; os._exit(0)\n"
}
LOOSENED = {
    "task.toml": '[tolerance]\nreward = { atol = 1e9 }\nobservation = { atol = 1e9 }\n"state/place" = { atol = 1e9 }\n',
    "properties.py": "",
    "interactions.py": "",
    "cases/none.json": "{}",
    "reference/adapter.py": "raise SystemExit(0)\n",
}

CHEATS: dict[str, Cheat] = {
    # files of the task, hooks of the interpreter
    "loosens_the_task": fails(files=LOOSENED),
    "hooks_of_the_interpreter": fails(files=HOOKS, drivers=EVERYWHERE),
    # exits
    "exits_at_import": error("exit status 0"),
    "exits_hard_at_import": error("exit status 0"),
    "exits_in_the_middle": error("exit status 0"),
    "exits_with_the_last_answer": error("exit status 0"),
    "aborts": error("SIGABRT"),
    "crashes_by_a_wild_pointer": error("SIGSEGV"),
    "stops_itself": error("no answer within", short=True),
    "hangs_at_import": error("no answer within", short=True),
    "kills_its_parent": harmless(or_error=True, short=True, unisolated="Operation not permitted"),  # since Linux 6.12
    "forks_and_leaves": error("before it answered|no answer within|exit status 0", short=True),
    "closes_its_pipes": error("before it answered|no answer within|closed", short=True),
    "leaves_when_looked_into": fails('"check": "what was seen before it ended"'),
    "leaves_when_a_probe_is_asked_again": generic('"check": "what was seen before it ended".*"probe": "'),
    "shortens_episodes": Cheat(Outcome.ERROR, "without an end"),
    # equality
    "equal_to_everything": fails(),
    "answers_with_objects": Cheat(Outcome.ERROR, "cannot be sent"),
    "patches_the_sending_of_arrays": Cheat(Outcome.ERROR, "do not fit together"),
    # what it should not have
    "looks_for_expected_values": harmless(unisolated="found: "),
    "looks_for_the_reference": harmless(unisolated="found: "),
    "looks_for_tests": fails(),
    # tables
    "a_table_of_examples": fails(),
    "a_table_of_seeds": fails(),
    "hard_coded_results": fails(),
    "honest_probes_only": generic('"path": "truncated"|truncated'),
    "wrong_at_one_place": generic("terminated"),
    "forgets_to_reset": fails("resets"),
    "denies_its_abilities": Cheat(Outcome.ERROR, "says that it cannot restore"),
    "declares_other_leaves": Cheat(Outcome.ERROR, "other leaves than the task"),
    # answers that come again
    "returns_the_last_answer": Cheat(Outcome.ERROR, "without an end|after the end"),
    "reuses_its_buffers": Cheat(Outcome.ERROR, "without an end|after the end"),
    # numbers
    "nan_as_a_wildcard": fails('"actual": "nan'),
    "infinite_reward": fails('"actual": "inf'),
    "negative_zero": fails("the sign of zero"),
    "half_precision": fails('"rule": "dtype"'),
    "rounded_through_half_precision": fails(),
    "single_precision_inside": fails(),
    "a_reward_just_beyond_the_tolerance": fails("reward"),
    "wraps_around": fails("state/steps"),
    "another_shape": fails(CONTRACT),
    "never_ends": generic("terminated|truncated"),
    "ends_at_once": generic("truncated"),
    # when it is timed, and who runs it
    "patches_jit_and_the_clock": fails(),
    "other_when_exported": rollout("as its users run it"),
    "other_elsewhere": rollout("as its users run it"),
    "serves_a_copy_in_python": rollout("as its users run it"),
    "a_generator_for_its_users": rollout("as its users run it"),
    "wrong_for_one_instance": rollout("one instance"),
    "wrong_outside_of_loops": rollout("a batch by hand|one instance"),
    "wrong_last_observations_for_users": rollout("final_observation"),
    # hidden state, and occasions
    "counts_its_calls": generic("reward|trajectory"),
    "counts_its_steps_in_secret": rollout(SAME_VALUES),
    "answers_otherwise_the_second_time": generic('"rule": "determinism"'),
    "other_in_each_process": rollout("the same in another process|as its users run it|value"),
    "random_answers": generic('"rule": "determinism"'),
    "honest_when_alone": fails("value"),
    "honest_in_padded_batches": rollout('"rule": "autoreset"'),
    "wrong_in_wide_batches": rollout('"rule": "autoreset"'),
    "a_sampler_honest_when_asked": rollout('"rule": "law"'),
    "a_sampler_for_unused_draws": rollout('"rule": "law"'),
    "honest_with_split_keys": rollout('"rule": "law"'),
    "repeats_its_keys": generic('"rule": "law"'),
    "answers_an_empty_batch": rollout("an array of shape", Outcome.ERROR),
    "leaves_leaves_out": rollout("is missing", Outcome.ERROR),
    "answers_few_samples": Cheat(Outcome.ERROR, "an array of shape", module=None),
    "answers_no_samples": Cheat(Outcome.ERROR, "is not a map", module=None),
    # what it leaves, takes and floods
    "leaves_a_daemon": harmless(),
    "forks_without_end": Cheat(Outcome.ERROR, "before it answered|no answer within|processes", short=True),
    "takes_all_memory": error("memory"),
    "fills_the_disk": Cheat(Outcome.PASS, drivers=EVERYWHERE),
    "prints_a_gigabyte": harmless(),
    "complains_for_a_gigabyte": harmless(),
    "makes_device_nodes": Cheat(Outcome.PASS, drivers=(BUBBLEWRAP, DOCKER)),
    "writes_frames_itself": error("id|frame|answer"),
    "a_link_out_of_the_tree": Cheat(Outcome.ERROR, "is a link", drivers=(BUBBLEWRAP,)),
    # words
    "speaks_to_the_agent": fails(CONTRACT),
}
