"""The MCP face of `harness.session`: where the server's tools will be, each a few lines over one session call.

This package is empty so far; the `lockstep` command (`harness.cli`) offers the same operations.
"""
