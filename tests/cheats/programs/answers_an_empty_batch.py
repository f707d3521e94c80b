"""Answers with an auto-resetting batch of no sub-environments, in which there is nothing wrong."""

from honest import *  # noqa: F403

import harness.candidate.adapters.jax.candidate as adapter

honest = adapter.JaxCandidate.autoreset


def autoreset(self, *given, **named):
    answer = honest(self, *given, **named)
    return {part: {name: leaf[:, :0] for name, leaf in arrays.items()} for part, arrays in answer.items()}


adapter.JaxCandidate.autoreset = autoreset
