"""A reference: the environment of its own that it is installed in, and its workers."""
