"""A host as any other, in a process of its own, whose verifier is the stand-in of tests/session.

Asked about a candidate whose `whole.txt` says `wait`, it waits for ever, as for a worker that does not answer. If it says
`linger`, two things that it used are busy for ever when let go of, in finalizers, where Python ignores exceptions.
"""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path

from harness.host import server
from harness.session.session import Verifier
from harness.support.progress import Progress
from harness.verdict import Verdict
from harness.verify.request import LevelsRequest
from tests.session.standin import FileComparison


class Lingering:
    """Removes itself for ever, or until an exception, which nobody sees."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def __del__(self) -> None:
        while True:
            self._progress("lingering", 2, 2)
            threading.Event().wait(0.05)


class Patient(FileComparison):
    """The stand-in that can wait."""

    def verify(self, tree: Path, request: LevelsRequest) -> Verdict:
        self.progress("looking", 1, 2)
        whole = tree / "candidate" / "whole.txt"
        word = whole.read_text().strip() if whole.is_file() else ""
        if word == "wait":
            threading.Event().wait()
        if word == "linger":
            for _ in range(2):
                Lingering(self.progress)
        return super().verify(tree, request)


def make(directory: Path, progress: Progress) -> Verifier:
    return Patient(directory, progress)


def main(session: str, home: str, idle_s: str, version: str) -> None:
    server.__version__ = version
    server.AGAIN_S = 1
    host = server.Host(session, Path(home), idle_s=float(idle_s), verifier=make)
    began = host.begin()
    print(json.dumps(began), flush=True)
    if began:
        host.serve()


if __name__ == "__main__":
    main(*sys.argv[1:])
