"""Declares less than the task does, so that less is compared."""

from honest import *  # noqa: F403

import harness.candidate.adapters.jax.candidate as adapter

honest = adapter.JaxCandidate.spec


def spec(self):
    said = honest(self)
    return said | {"leaves": {path: leaf for path, leaf in said["leaves"].items() if path != "state/steps"}}


adapter.JaxCandidate.spec = spec
