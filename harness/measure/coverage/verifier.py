"""A verifier that tells what its last verification reached."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.measure.coverage.asking import ASKING_SECONDS
from harness.measure.coverage.crate import measure_crate
from harness.measure.coverage.measure import measure
from harness.measure.coverage.result import Coverage
from harness.verify.questions import Questions
from harness.verify.verifier import Verifier


class MeasuringVerifier(Verifier):
    """A `Verifier` whose questions can be asked again, of workers that count. No verdict depends on what they count."""

    def coverage(self, levels: Sequence[int], seconds: float = ASKING_SECONDS) -> Coverage:
        """What these levels of the last verification reached of the reference, measured now in workers of its own.

        Args:
            seconds: for so long at most the questions of one level are asked again.

        Raises:
            SetupError: the environment in which that is measured cannot be built.
        """
        asked: Mapping[int, Questions] = {level: q for level, q in self.questions.items() if level in levels}
        return measure(self.task, asked, self.progress, seconds=seconds)

    def candidate_coverage(self, tree: Path, seconds: float = ASKING_SECONDS) -> Coverage:
        """What the levels of the last verification reached of the crate in its tree; of what was not recorded nothing.

        Args:
            seconds: as `coverage` has it.
        """
        return measure_crate(self.task, self.driver, tree, self.put_to_candidate, self.progress, seconds=seconds)
