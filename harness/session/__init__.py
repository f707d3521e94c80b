"""A session: one agent, one workspace, one record; the recipe that it follows, what the agent is given, what it spent."""
