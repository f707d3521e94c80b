"""Answers a question for samples with something else."""

from honest import *  # noqa: F403

import harness.candidate.adapters.jax.candidate as adapter

honest = adapter.JaxCandidate.sample


def sample(self, *given, **named):
    return None


adapter.JaxCandidate.sample = sample
