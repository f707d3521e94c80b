"""A candidate in JAX as its worker serves it: it takes whole cases in columns, too, and answers them so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.candidate.adapters.columns import cases_of, in_columns
from harness.candidate.adapters.jax.candidate import Answer, JaxCandidate


class JaxInColumns(JaxCandidate):
    """What a candidate plays stays a list of episodes below; columns are only how they travel."""

    def spec(self) -> Answer:
        """The contract, in the protocol's form."""
        spec = super().spec()
        return spec | {"capabilities": [*spec["capabilities"], "columns"]}

    # What is asked in columns is answered so.
    def rollout(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, cases: Any, mode: str = "scanned", room: Sequence[int] = (0, 0), columns: bool = False
    ) -> Any:
        """Whole cases, one by one or in columns; see `JaxCandidate.rollout`."""
        if not columns:
            return super().rollout(cases, mode, room)
        return in_columns(super().rollout(cases_of(cases), mode, room))
