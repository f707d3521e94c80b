"""The contract: what task.toml states, how it is read, and what a task adds to the generic checks."""
