"""Training as TensorBoard shows it: one run for each seed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from harness.training.trained import Played


class Log:
    """Event files in a directory, `seed-N` for each seed; nothing where there is no directory.

    Args:
        directory: where the files go, or None.
        seeds: of the policies that are trained.
    """

    def __init__(self, directory: Path | None, seeds: Sequence[int]) -> None:
        self._writers: list[Any] = []
        if directory is not None:
            from tensorboardX import SummaryWriter

            self._writers = [SummaryWriter(str(directory / f"seed-{seed}"), write_to_disk=True) for seed in seeds]

    def segment(self, steps: int, played: Played) -> None:
        """Note what was played in a segment that ended after so many environment steps."""
        for index, writer in enumerate(self._writers):
            episodes = float(played.episodes[index])
            writer.add_scalar("episodes/ended", episodes, steps)
            if episodes:
                writer.add_scalar("episodes/return", float(played.returns[index]) / episodes, steps)
                writer.add_scalar("episodes/length", float(played.lengths[index]) / episodes, steps)

    def __enter__(self) -> Log:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for writer in self._writers:
            writer.close()
