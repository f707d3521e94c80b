"""The wire: the worker on its other side, and the channel, the spec and the environments on ours (docs/protocol.md)."""
