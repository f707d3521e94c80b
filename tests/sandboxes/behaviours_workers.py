"""Spawned workers: a conversation over pipes, a tail of complaints, and an end in every case."""

from __future__ import annotations

import threading
from dataclasses import replace

from bench import DAEMON, LIVE, PYTHON, ROOMY, SPAN, Bench, behaviour

from sandboxes import Running

ECHO = """
import os
while data := os.read(0, 65536):
    os.write(1, data.upper())
"""
COMPLAIN = """
import os
for number in range(200_000):
    os.write(2, b"line %d\\n" % number)
os.write(1, b"done")
os.read(0, 1)
"""
GROW = """
import signal
kept = b"x" * (256 << 20)
signal.pause()
"""


def _python(code: str, *arguments: str) -> list[str]:
    return [PYTHON, "-I", "-S", "-c", code, *arguments]


def _read(worker: Running, count: int) -> bytes:
    data = b""
    while len(data) < count and (chunk := worker.stdout.read(count - len(data))):
        data += chunk
    return data


@behaviour
def a_worker_answers_message_by_message(bench: Bench) -> None:
    with bench.open() as sandbox:
        worker = sandbox.spawn(_python(ECHO))
        for message in (b"one", b"two", b"x" * 1000):
            worker.stdin.write(message)
            assert _read(worker, len(message)) == message.upper()
        assert worker.poll() is None
        assert worker.pid > 0
        worker.stdin.close()
        assert worker.wait(SPAN) == 0
        assert (worker.poll(), worker.killed_by) == (0, None)
        assert worker.stdout.read(10) == b""


@behaviour
def a_workers_pipes_have_descriptors(bench: Bench) -> None:
    with bench.open() as sandbox:
        worker = sandbox.spawn(["cat"])
        assert worker.stdin.fileno() != worker.stdout.fileno()


@behaviour
def megabytes_pass_through_a_worker(bench: Bench) -> None:
    data = bytes(range(97, 123)) * 200_000
    with bench.open() as sandbox:
        worker = sandbox.spawn(_python(ECHO))
        writer = threading.Thread(target=worker.stdin.write, args=(data,))
        writer.start()
        assert _read(worker, len(data)) == data.upper()
        writer.join()


@behaviour
def a_worker_that_complains_without_end_is_not_blocked_and_its_tail_is_kept(bench: Bench) -> None:
    with bench.open() as sandbox:
        worker = sandbox.spawn(_python(COMPLAIN))
        assert _read(worker, 4) == b"done"
        worker.stdin.close()
        assert worker.wait(SPAN) == 0
        tail = worker.stderr_tail()
    assert tail.endswith("line 199998\nline 199999\n")
    assert len(tail) == 16 << 10


@behaviour
def a_worker_that_is_missing_ends_with_127_and_says_why(bench: Bench) -> None:
    with bench.open() as sandbox:
        worker = sandbox.spawn(["no-such-worker"])
        assert worker.wait(SPAN) == 127
        assert "no-such-worker" in worker.stderr_tail()


@behaviour
def a_worker_that_crashes_gives_its_signal_and_the_end_of_its_output(bench: Bench) -> None:
    with bench.open() as sandbox:
        worker = sandbox.spawn(["sh", "-c", "printf partial; kill -ABRT $$"])
        assert worker.wait(SPAN) == 128 + 6
        assert _read(worker, 100) == b"partial"


@behaviour
def waiting_for_a_worker_that_goes_on_returns_none(bench: Bench) -> None:
    with bench.open() as sandbox:
        worker = sandbox.spawn(["cat"])
        assert worker.wait(0.01) is None
        assert worker.poll() is None
        assert worker.killed_by is None


@behaviour
def a_killed_worker_takes_its_daemons_along(bench: Bench) -> None:
    with bench.open() as sandbox, bench.pulse() as pulse:
        worker = sandbox.spawn(_python(DAEMON, pulse.name, "stay"))
        assert pulse.begun()
        worker.kill()
        worker.kill()
        assert pulse.stopped()
        assert (worker.poll(), worker.wait(0), worker.killed_by) == (None, None, "caller")


@behaviour
def closing_the_sandbox_ends_its_workers(bench: Bench) -> None:
    with bench.pulse("one") as one, bench.pulse("two") as two:
        with bench.open() as sandbox:
            workers = [sandbox.spawn(_python(LIVE, pulse.name)) for pulse in (one, two)]
            assert one.begun()
            assert two.begun()
        assert one.stopped()
        assert two.stopped()
        assert [worker.killed_by for worker in workers] == ["caller", "caller"]


@behaviour
def a_worker_that_breaks_a_limit_ends_and_the_limit_is_named(bench: Bench) -> None:
    with bench.open(limits=replace(ROOMY, memory_bytes=64 << 20)) as sandbox:
        worker = sandbox.spawn(_python(GROW))
        assert worker.wait(bench.patience) is None
        assert worker.killed_by == "memory_bytes"


@behaviour
def a_worker_outlives_the_thread_that_started_it(bench: Bench) -> None:
    started: list[Running] = []
    with bench.open() as sandbox:
        thread = threading.Thread(target=lambda: started.append(sandbox.spawn(_python(ECHO))))
        thread.start()
        thread.join()
        started[0].stdin.write(b"still here")
        assert _read(started[0], 10) == b"STILL HERE"


@behaviour
def commands_and_workers_share_a_sandbox(bench: Bench) -> None:
    with bench.open() as sandbox:
        worker = sandbox.spawn(_python(ECHO))
        assert sandbox.run(["echo", "beside"]).stdout == b"beside\n"
        worker.stdin.write(b"on")
        assert _read(worker, 2) == b"ON"
