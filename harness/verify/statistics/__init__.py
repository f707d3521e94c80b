"""Judging chance: laws, independence, outcomes and equivalence, as pure functions of arrays."""
