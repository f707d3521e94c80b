"""Where an agent's commands run and its files are read and written: the workspace, and nothing of the reference."""

from harness.agent_sandbox.commands import Cancel, CommandResult, run
from harness.agent_sandbox.files import edit_file, list_files, read_file, write_file
from harness.agent_sandbox.sandbox import AgentSandbox
from harness.agent_sandbox.view import WORKSPACE, FileView

__all__ = [
    "WORKSPACE",
    "AgentSandbox",
    "Cancel",
    "CommandResult",
    "FileView",
    "edit_file",
    "list_files",
    "read_file",
    "run",
    "write_file",
]
