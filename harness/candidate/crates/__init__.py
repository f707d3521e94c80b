"""Candidates in Rust: what they are built with, and how they are built in a sandbox."""
