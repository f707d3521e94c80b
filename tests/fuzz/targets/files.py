"""Files that a person, an agent or an earlier run wrote: tasks, cases, policies, and what lies in the home directory."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from harness.errors import TaskError
from harness.host import jobs
from harness.model import Case
from harness.record import directory as directories
from harness.support.embedded import find_task
from harness.task.load import load_task
from harness.task.training import PpoConfig
from harness.training.trained import Checkpoint, Progress, Trained
from harness.verify.levels import known, proposed
from mcp_server.tokens import TokenFile
from tests.fuzz.mutate import as_bytes, either, json_text, of_bytes, of_json, of_toml
from tests.fuzz.target import Target, each
from tests.fuzz.targets.levels import WALK, Walked

SHAPES = (
    b"(1152921504606846976,), }",
    b"(0, 1152921504606846976), }",
    b"(1073741824,), }",
    b"(((((((",
    b"(-1,), }",
    b"('a',), }",
)
"""What a header may say of how much follows."""


def task(directory: Path) -> Target:
    """`task.toml`, in a directory with the files that it may name."""
    place = directory / "task"
    shutil.copytree(WALK, place, ignore=shutil.ignore_patterns("__pycache__"))
    seeds = [
        (WALK / "task.toml").read_bytes(),
        *(find_task(name).joinpath("task.toml").read_bytes() for name in ("cartpole", "pong")),
    ]

    def run(data: bytes) -> None:
        (place / "task.toml").write_bytes(data)
        load_task(place)

    return Target("task", seeds, run, of_toml, (TaskError,))


def cases(directory: Path) -> Target:
    """`cases/*.json`, and `proposed/cases/*.json`, of which none that an agent writes may end a verification."""
    walked = Walked(directory)
    place = walked.task.directory
    (place / "proposed" / "properties.py").unlink()
    (place / "proposed" / "cases").mkdir()
    (place / "cases").mkdir(exist_ok=True)
    actions = {"action": np.array([2, 0, 1], np.int32)}
    start = {"state/place": np.array(1.0), "state/steps": np.array(3, np.int32)}
    [driven] = walked.pool.drive("random", [3], 4)
    made = [Case(7, actions), Case(1, actions, start=start), Case(2, driven.case.actions, draws=driven.draws)]
    seeds = [json.dumps(case.to_json()).encode() for case in made]
    seeds.append(
        json.dumps(
            {"probe": "ending", "inputs": {"place": {"dtype": "float64", "shape": [1], "values": [2.0]}}}
        ).encode()
    )

    def run(data: bytes) -> None:
        # A proposed case answers with a result, whatever it holds; a known one is trusted, and a wrong one is named.
        (place / "proposed" / "cases" / "one.json").write_bytes(data)
        with walked.pair(b"") as pair:
            list(proposed.checks(pair, place, _no_judge))
        (place / "cases" / "one.json").write_bytes(data)
        known.load_cases(place)

    return Target("cases", seeds, run, of_json, (TaskError,), walked.close)


def _no_judge(file: Path) -> Any:
    raise AssertionError("no properties are proposed")


def policy(directory: Path) -> Target:
    """Saved policies and checkpoints, `.npz` files that hold arrays and a description."""
    file = directory / "policy.npz"
    learner = {"actor/w": np.ones((3, 2), np.float32), "count": np.array(7, np.int32)}
    identity = {"config": PpoConfig().to_json(), "seeds": [7]}
    trained = Trained(learner, PpoConfig(), 7, 64, (1.5, None), "reference")
    trained.save(file)
    seeds = [file.read_bytes()]
    Checkpoint(file, identity).save(Progress({"w": np.ones((1, 3), np.float32)}, 2, [[None], [1.0]]))
    seeds.append(file.read_bytes())

    def run(data: bytes) -> None:
        file.write_bytes(data)
        each(lambda: Trained.load(file), Checkpoint(file, identity).load)

    return Target("policy", seeds, run, either(of_bytes, of_members))


def of_members(rng: random.Random, data: bytes, donors: Sequence[bytes]) -> bytes:
    """An `.npz` file with another member: changed, of another header, or packed so that little unpacks to much."""
    import io
    import zipfile

    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [(name, archive.read(name)) for name in archive.namelist()]
    except Exception:  # not an archive any more
        return of_bytes(rng, data, donors)
    made = io.BytesIO()
    at = rng.randrange(max(1, len(members)))
    with zipfile.ZipFile(made, "w", rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as archive:
        for number, (name, content) in enumerate(members):
            archive.writestr(name, _of_member(rng, content) if number == at else content)
    return made.getvalue()


def _of_member(rng: random.Random, content: bytes) -> bytes:
    if rng.random() < 0.4:
        shape = rng.choice(SHAPES)
        begin = content.find(b"(", 8)
        return content[:begin] + shape + content[begin + len(shape) :]
    begin = content.find(b"\n") + 1
    if content[begin : begin + 1] == b"{":  # the description: its header states how long it is
        return content[:begin] + of_json(rng, content[begin:], ())[: len(content) - begin].ljust(len(content) - begin)
    return of_bytes(rng, content, ())


def home(directory: Path) -> Target:
    """What lies in the home directory: `session.json`, a job, the tokens of `serve`."""
    session = directory / "sessions" / "walk-1"
    session.mkdir(parents=True)
    job = {
        "id": "walk-1.1", "operation": "verify", "arguments": {}, "client": "", "state": "running",
        "started": "2026-01-02T03:04:05+00:00", "ended": None, "what": "", "done": 0, "total": 1, "host": "",
        "result": None, "error": None,
    }  # fmt: skip
    seeds = [
        json_text(
            {
                "file": "session",
                "content": {"task": "walk", "workspace": "/tmp/x", "created": "2026-01-02T03:04:05+00:00"},
            }
        ),
        json_text({"file": "job", "content": job}),
        json_text({"file": "tokens", "content": {"somebody": "t" * 43}}),
    ]

    def run(data: bytes) -> None:
        try:
            described = json.loads(data)
            which, content = described["file"], as_bytes(described["content"])
        except Exception:  # the wrapping is ours, not a file's
            which, content = "session", data
        if which == "job":
            (session / "jobs").mkdir(exist_ok=True)
            (session / "jobs" / "1.json").write_bytes(content)
            jobs.recent(directories.find(directory, "walk-1"))
            jobs.read("walk-1.1", directory)
        elif which == "tokens":
            file = directory / "tokens.json"
            file.write_bytes(content)
            file.chmod(0o600)
            TokenFile(file)
        else:
            (session / "session.json").write_bytes(content)
            directories.all_sessions(directory)
            directories.find(directory, "walk-1")

    run(seeds[0])
    return Target("home", seeds, run, of_json)
