"""The contract: what task.toml states, how it is read, and what a task adds to the generic checks."""

from harness.task.contract import (
    Task as Task,  # task files that were written before the package `lockstep` find it here
)
