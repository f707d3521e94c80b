"""The option by which a person vouches for the task of a record, for the commands that run what a record brings."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from harness.policy.trust import Trust

trust_option = click.option(
    "--trust-task",
    "trusted",
    multiple=True,
    metavar="DIGEST",
    help="Run the record's task though this home does not know it: you compared its digest.",
)


def trust_in(trusted: Collection[str]) -> Trust:
    """What this home knows, and these digests."""
    from harness.policy.trust import Trust
    from harness.support.home import lockstep_home

    return Trust(lockstep_home(), frozenset(trusted))
