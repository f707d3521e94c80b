"""Fuzzing of everything that reads bytes which somebody else wrote (docs/fuzzing.md)."""
