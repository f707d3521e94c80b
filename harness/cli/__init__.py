"""The `lockstep` command: what a person, a script, or an agent with a shell does with the harness."""

from harness.cli.main import main

__all__ = ["main"]
