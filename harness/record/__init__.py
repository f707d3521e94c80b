"""The record of a session: snapshots, commits, attestations and the event log, all in one bare git directory.

Modules: `files` (durable writes), `lock` (one writer), `objects` (git's object formats), `store` (the git directory),
`names` (what a file may be called), `snapshot` and `export` (workspace to tree and back), `keys` and `attest`
(signatures), `machine` (where it ran), `log` (the chain of events and the refs that follow from it), `story` (what they
tell), `directory` (where a session lies), `begin` (a new one), `keeper` (the one who writes), `view` (whoever only looks).
"""
