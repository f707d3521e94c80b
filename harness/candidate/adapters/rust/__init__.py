"""Candidates in Rust behind the protocol."""
