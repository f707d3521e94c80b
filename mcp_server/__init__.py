"""The MCP face of Lockstep: an agent does the whole recipe through its tools, prompts and resources.

The server is thin. A tool is a few lines over one operation of the harness, what runs long runs in the session's own
host process, and nothing is held in a connection: a session's id is an argument of every call. So a client that leaves,
a server that is killed and two servers at once lose nothing.
"""
