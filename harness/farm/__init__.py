"""Where work is spread: over processes of this machine, or over the nodes of a Ray cluster.

A *recipe* says how something is made that does work: the name of a class, plain arguments, and directories. An *engine*
makes *members* from it, each in a process of its own on some node, and a member answers questions one at a time. A *crew* is
several members of one recipe that share out *pieces* of work: independent questions, each with a key.

No answer may depend on where or in which order pieces are done, so what dies is made again and asked again.
"""

VARIABLE = "LOCKSTEP_ON"
"""Names the engine of a process and of what it starts, as `--on` does."""
