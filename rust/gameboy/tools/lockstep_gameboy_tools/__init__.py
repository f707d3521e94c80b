"""What Lockstep offers for the Game Boy beside the task: its package compiled on first use, and the checks of ROMs.

Lockstep finds the command by an entry point (docs/extending.md) and imports none of this before it is used.
"""
