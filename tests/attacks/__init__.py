"""What an attacker tries who has a workspace, the tools of a server, or a record to send. One file for each family."""
