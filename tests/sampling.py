"""Which cases of a long table CI runs: one of each kind. `make nightly` runs all of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from typing import Any, Protocol, TypeVar

import pytest


class Named(Protocol):
    """What a table holds: planted faults, for the most part."""

    @property
    def name(self) -> str:
        """Under which its test is listed."""
        ...


Case = TypeVar("Case", bound=Named)


def one_of_each(cases: Sequence[Case], kind: Callable[[Case], Hashable]) -> list[Any]:
    """Parameters for pytest: the first case of each kind as it is, the others for the night.

    Args:
        kind: what a case has in common with those that it stands for, as the check that must find a fault.
    """
    first = {kind(case): case for case in reversed(cases)}
    return [
        pytest.param(case, id=case.name, marks=() if case is first[kind(case)] else pytest.mark.nightly)
        for case in cases
    ]


def by_day(cases: Iterable[Any], kept: Collection[Any]) -> list[Any]:
    """Parameters for pytest: the kept cases as they are, the others for the night."""
    return [case if case in kept else pytest.param(case, marks=pytest.mark.nightly) for case in cases]
