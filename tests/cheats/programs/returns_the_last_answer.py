"""Returns what it answered the last time."""

from honest import *  # noqa: F403

import harness.candidate.adapters.jax.candidate as adapter

honest = adapter.JaxCandidate.rollout


kept = []


def rollout(self, cases, *rest, **named):
    kept.append(honest(self, cases, *rest, **named))
    last = kept[max(0, len(kept) - 2)]
    return [last[number % len(last)] for number in range(len(cases))]


adapter.JaxCandidate.rollout = rollout
