"""What users train on: the very files that an exported package carries, and that the verifier runs."""
