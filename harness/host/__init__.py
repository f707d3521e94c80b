"""The process that works on one session for whoever asks: it holds the lock, the warm verifier and the agent's sandbox.

It is started when it is first needed, outlives the process that started it, and ends when nobody has asked for ten
minutes or when it is asked to. `client` asks it, `jobs` tells what became of the work that it was given, also when
it is gone.
"""
