"""The levels of verification and what they share: property, interaction and rollout checks, and tests of chance."""
