"""Says that it cannot restore a state, so that nothing begins in a rare one; and is wrong in rare ones."""

from honest import *  # noqa: F403

import harness.candidate.adapters.jax.candidate as adapter

honest = adapter.JaxCandidate.spec


def spec(self):
    return honest(self) | {"capabilities": ["draws", "force_draws", "vector", "probe"]}


adapter.JaxCandidate.spec = spec
