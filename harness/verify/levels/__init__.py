"""The levels of verification, one file for each, and for each check that levels share."""
