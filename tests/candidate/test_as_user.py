"""The program of a user can be broken off at any moment: a verdict that has failed waits for nothing."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest

import sandboxes
from harness.candidate.as_user import User
from harness.errors import Crashed
from harness.task.load import load_task
from sandboxes import Finished, SandboxError
from sandboxes.local import LocalSandbox
from tests.paths import WALK

ENDLESS = "while True:\n    pass\n"


@pytest.fixture
def user(tmp_path: Path) -> User:
    """Of a candidate that never comes back when it is imported."""
    shutil.copytree(WALK / "candidate", tmp_path / "candidate")
    (tmp_path / "candidate" / "env.py").write_text(ENDLESS)
    return User(load_task(WALK), sandboxes.choose(None), tmp_path)


def play(user: User) -> object:
    return user.play(
        np.zeros((2, 1, 2), np.uint32), {"action": np.zeros((1, 1), np.int64)}, np.array([0]), np.arange(3)
    )


def test_one_that_never_ends_is_stopped(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    running = Event()
    run = LocalSandbox.run

    def noted(sandbox: LocalSandbox, command: Sequence[str], **options: Any) -> Finished:
        running.set()
        return run(sandbox, command, **options)

    monkeypatch.setattr(LocalSandbox, "run", noted)
    with ThreadPoolExecutor(1) as threads:
        playing = threads.submit(play, user)
        running.wait()
        user.stop()
        with pytest.raises((Crashed, SandboxError)):
            playing.result()


def test_one_that_was_stopped_before_does_not_begin(user: User) -> None:
    user.stop()
    with pytest.raises(SandboxError):
        play(user)
