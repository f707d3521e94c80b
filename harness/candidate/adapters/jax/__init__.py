"""Candidates in JAX behind the protocol."""
