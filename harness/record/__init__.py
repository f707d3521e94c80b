"""The record of a session: snapshots, commits, attestations and the event log, all in one bare git directory.

Modules: `lock` (one writer), `objects` (git's object formats), `store` (the git directory), `names` (what a file may be
called), `snapshot` and `export` (workspace to tree and back), `keys` and `attest` (signatures), `machine` (where it ran),
`judge` (what decided), `event` and `log` (the chain of events and the refs that follow from it), `verdicts` (those that it
holds), `directory` (where a session lies). Who writes it is `harness.session.recorder`.
"""
