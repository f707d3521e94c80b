"""The workflow `create`: from rules in words to a reference that two independent readings of them agree on."""
