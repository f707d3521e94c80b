"""Answers with fewer timesteps than there were steps."""

from honest import *  # noqa: F403

import harness.candidate.adapters.jax.candidate as adapter

honest = adapter.JaxCandidate.rollout


def rollout(self, *given, **named):
    answers = honest(self, *given, **named)
    return [answer | {"leaves": {path: leaf[:1] for path, leaf in answer["leaves"].items()}} for answer in answers]


adapter.JaxCandidate.rollout = rollout
