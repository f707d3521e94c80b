"""Counts the features of episodes while others are played."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from harness.model import Trajectory
from harness.verify.suite.client import Shown, Suite, bytes_of

SEND_BYTES = 4 << 20
"""So much waits before features are counted: small episodes would cost a message each."""
SEND_TRAJECTORIES = 256
"""Or so many: each costs some time however short it is, and what is counted at the end, nobody else works beside."""
BEHIND_BYTES = 256 << 20
"""So much may wait to be counted before whoever plays more has to wait too."""


class FeatureCount:
    """Counts features beside its caller's work, a bounded amount behind."""

    def __init__(self, suite: Suite) -> None:
        self._suite = suite
        self._waiting: list[Trajectory] = []
        self._bytes = 0
        self._behind: deque[tuple[int, Future[Shown]]] = deque()
        self._counts = dict.fromkeys(suite.features, 0)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="lockstep-features")

    def look(self, played: Sequence[Trajectory]) -> Future[Shown]:
        """Where features show in these, found beside the caller's work; nothing is counted."""
        return self._thread.submit(self._suite.show, played)

    def add(self, played: Sequence[Trajectory], shown: Future[Shown] | None = None) -> None:
        """Count these too, by what `look` found where it was asked.

        It waits where it is far behind, and raises what counting raised.
        """
        if not self._suite.features:
            return
        size = sum(map(bytes_of, played))
        if shown is not None:
            self._behind.append((size, shown))
        else:
            self._waiting += played
            self._bytes += size
        if self._bytes >= SEND_BYTES or len(self._waiting) >= SEND_TRAJECTORIES:
            self._send()
        while sum(size for size, _ in self._behind) > BEHIND_BYTES:
            self._take()

    def total(self) -> dict[str, int]:
        """In how many timesteps of all that was added each feature shows. Raises what counting raised."""
        if self._waiting:
            self._send()
        while self._behind:
            self._take()
        return dict(self._counts)

    def close(self) -> None:
        """Count no more."""
        self._thread.shutdown(cancel_futures=True)

    def _send(self) -> None:
        self._behind.append((self._bytes, self.look(self._waiting)))
        self._waiting, self._bytes = [], 0

    def _take(self) -> None:
        for name, count in self._behind.popleft()[1].result().counts.items():
            self._counts[name] += count
