"""Answers with three samples of its law, with which no test can find fault."""

from honest import *  # noqa: F403

import harness.candidate.adapters.jax.candidate as adapter

honest = adapter.JaxCandidate.sample


def sample(self, *given, **named):
    return {name: values[:3] for name, values in honest(self, *given, **named).items()}


adapter.JaxCandidate.sample = sample
