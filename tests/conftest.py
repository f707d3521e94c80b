"""What holds for every test."""

import signal

# A shell that starts the tests in the background has them, and all that they start, ignore Ctrl-C; some tests are about it.
signal.signal(signal.SIGINT, signal.default_int_handler)
