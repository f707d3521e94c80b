"""Connecting agents: a client's own configuration for the server, and what lies in a workspace for an agent to find."""

from harness.connect.change import Change, plan_connection, plan_removal
from harness.connect.clients import CLIENTS, Client
from harness.connect.serve import NAME, Server, http_server, local_server
from harness.connect.settings import as_text
from harness.connect.workspace import workspace_files

__all__ = [
    "CLIENTS",
    "NAME",
    "Change",
    "Client",
    "Server",
    "as_text",
    "http_server",
    "local_server",
    "plan_connection",
    "plan_removal",
    "workspace_files",
]
