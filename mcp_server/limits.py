"""The numbers that clients make necessary: how long a call may take, and how much it may answer."""

ANSWER_S = 42.0
"""A call that has not ended by then answers with a job. Clients give up after 60 s, and 45 s is promised."""
WAIT_AT_MOST_S = 40
"""As long `get_job` waits at most in one call."""
PROGRESS_S = 5.0
"""Progress is reported at least this often while a call waits: clients drop calls that are silent for longer than 10 s."""
PROGRESS_CHARACTERS = 200
"""Longer progress texts are cut by clients, so the server cuts them itself, in words."""

POLL_FIRST_S, POLL_AT_MOST_S = 0.02, 0.25
"""How often a job's file is looked at: at once for quick ones, seldom for long ones."""

RESULT_CHARACTERS = 22_000
"""A result, as text and as data each. Tools' output has about 3 characters to a token, and 8,000 tokens are promised."""
FIELD_CHARACTERS = 12_000
"""One field of a result."""
RESOURCE_CHARACTERS = 400_000
"""One resource. Whoever reads one asks for all of it; beyond this it is cut with a word about where the rest is."""

ID_CHARACTERS = 200
PATH_CHARACTERS = 4_096
MESSAGE_CHARACTERS = 4_000
FILE_CHARACTERS = 1_000_000
"""What one call may write; it fits into the limit of an HTTP request."""
REQUEST_BYTES = 4 * 1024 * 1024
