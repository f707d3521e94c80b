"""The program that stands between the harness and a command, in a process of its own.

It is started once per command as `python -I -S`, so it imports only what starts in a few milliseconds: no
`signal`, `typing`, `dataclasses` or `json`. Being a separate, single-threaded process, it can do safely what
the harness cannot: fork and set limits in the child, be the "child subreaper" to which every daemon of the
command falls, and wait until the kernel says that no descendant is left. It ends the tree when the harness
closes the control pipe, which the kernel does for a harness that dies.
"""
