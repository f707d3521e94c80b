"""Making a task from an environment, and checking its reference."""
