"""The words of a measurement: how one level ended for one mutant, and what became of the mutant in all."""

from __future__ import annotations

KILLED, SURVIVED, STILLBORN = "killed", "survived", "stillborn"
TIMEOUT, CRASHED, ERROR, INCONCLUSIVE = "timeout", "crashed", "error", "inconclusive"
DETECTED = frozenset({KILLED, TIMEOUT, CRASHED})
"""What keeps a mutant from ever being verified and is the mutant's own doing: no run of the original ends so."""
PROVED, ARGUED, UNJUDGED = "equivalent", "argued", "unjudged"
BYTECODE, LOWERED, OPTIMISED, COMPILED = "bytecode", "lowered", "optimised", "compiled"
"""The forms in which a mutant may be the same program as the original."""
