"""What knows nothing of environments: files that survive a crash, foreign JSON and TOML, the home directory, memory."""
