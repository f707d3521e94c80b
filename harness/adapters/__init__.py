"""Adapters that turn a candidate's functions into what the protocol and its users ask for; the only home of JAX."""
