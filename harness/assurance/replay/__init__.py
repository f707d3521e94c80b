"""Replay: a recorded session listed, walked through, and its verdicts reached again from the record alone."""
