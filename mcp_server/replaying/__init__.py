"""`lockstep replay`: a record listed, walked through, its verdicts reached again, or a fresh server driven by it."""
