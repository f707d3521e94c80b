"""One question at a time over a pipe: sizes, deadlines, interruptions, ends."""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
from collections.abc import Callable

import numpy as np
import pytest

from harness.errors import BadAnswer, Crashed, EnvironmentFailure, Raised, Side, TimedOut
from harness.protocol.channel import Channel
from harness.protocol.environment import Environment
from harness.protocol.link import Pipes
from sandboxes import Sandbox

Serve = Callable[..., Channel]


def test_a_large_request_and_a_large_answer_pass_through_the_pipe(serve: Serve) -> None:
    channel = serve()
    channel.ask("open", options={})
    places = np.arange(400_000) % 9 - 4
    answer = channel.ask("probe", name="move", inputs={"place": places, "action": np.zeros(400_000, np.int64)})
    assert np.array_equal(answer["place"], places - 1)


@pytest.mark.parametrize(
    ("call", "arguments", "complaint"),
    [
        ("fly", {}, "this worker has no call 'fly'"),
        ("__init__", {}, "this worker has no call '__init__'"),
        ("sample", {}, "this worker has no call 'sample'"),
        ("reset", {"seed": -1}, "seed -1 is not a whole number"),
        ("reset", {"seed": 1 << 63}, "is not a whole number from 0 to 2"),
        ("reset", {"seed": 0.5}, "seed 0.5 is not a whole number"),
        (
            "drive",
            {"policy": "clever", "seeds": [1], "horizon": 3},
            "no policy 'clever'; there are random, sticky, outward",
        ),
        ("probe", {"name": "jump", "inputs": {}}, "no probe 'jump'; there are move"),
        ("probe", {"name": "move", "inputs": {"place": np.zeros(1)}}, "probe move has ['place']"),
        ("step", {"action": {"action": np.int64(3)}}, "action is outside its bounds, 0 to 2"),
        ("step", {"action": {"action": np.float64(1)}}, "action has dtype float64"),
        ("step", {"action": {"jump": np.int64(1)}}, "the action has ['jump'], the spec declares ['action']"),
        ("restore", {"state": {"state/place": np.int64(1)}}, "the state has ['state/place']"),
    ],
)
def test_a_wrong_request_is_refused_and_the_process_goes_on(
    opened_walker: Environment, call: str, arguments: dict, complaint: str
) -> None:
    with pytest.raises(BadAnswer) as refused:
        opened_walker.ask(call, **arguments)
    assert complaint in str(refused.value)
    assert opened_walker.ask("reset", seed=1)["leaves"]["reward"].tolist() == [0.0]


def test_nothing_can_be_asked_before_open(serve: Serve) -> None:
    with pytest.raises(BadAnswer, match="`open` comes before every other call"):
        serve().ask("reset", seed=1)


def test_an_unknown_argument_is_the_callers_mistake(serve: Serve) -> None:
    with pytest.raises(Raised, match=r"TypeError: .*colour"):
        serve().ask("open", options={"colour": 1})


@pytest.mark.parametrize("value", [1 << 64, object(), "\ud800", np.array([None])])
def test_a_request_that_cannot_be_sent_says_so_and_the_process_goes_on(
    opened_walker: Environment, value: object
) -> None:
    with pytest.raises(EnvironmentFailure, match="the request cannot be sent"):
        opened_walker.ask("reset", seed=value)
    assert opened_walker.ask("spec")["protocol"] == 2


def test_a_process_that_reads_nothing_is_late(run: Callable[..., Channel]) -> None:
    channel = run("sleep", "60", timeout=1.0)
    with pytest.raises(TimedOut):
        channel.ask("open", options={"padding": bytes(8 << 20)})
    assert not channel.alive


def test_a_command_that_does_not_exist_is_a_crash_with_its_message(run: Callable[..., Channel]) -> None:
    with pytest.raises(Crashed, match="exit status 127"):
        run("no-such-command").ask("open", options={})


def test_what_was_written_to_standard_error_is_reported(run: Callable[..., Channel]) -> None:
    with pytest.raises(Crashed, match="its standard error ends with:\nno licence"):
        run("sh", "-c", "echo no licence >&2; exit 1").ask("open", options={})


@pytest.mark.slow
def test_a_stream_that_is_closed_while_the_process_runs_on_is_a_crash(run: Callable[..., Channel]) -> None:
    channel = run("sh", "-c", "exec >&-; exec sleep 60")
    with pytest.raises(Crashed, match="closed its answer stream and went on running"):
        channel.ask("open", options={})
    assert not channel.alive


def test_close_ends_the_process_and_later_questions_say_that_it_is_gone(serve: Serve) -> None:
    channel = serve()
    channel.ask("open", options={})
    channel.close()
    channel.close()
    assert not channel.alive
    with pytest.raises(Crashed, match="the process is gone: it was closed"):
        channel.ask("spec")


def test_close_does_not_wait_for_an_adapter_that_will_not_close(serve: Serve) -> None:
    channel = serve("faulty:WillNotClose")
    channel.ask("open", options={})
    channel.close()
    assert not channel.alive


def test_killing_from_another_thread_ends_a_question_at_once(serve: Serve) -> None:
    channel = serve("faulty:Hangs", timeout=60.0)
    channel.ask("open", options={})
    timer = threading.Timer(0.3, channel.kill)
    timer.start()
    with pytest.raises(Crashed, match="ended by its owner"):
        channel.ask("drive", policy="random", seeds=[1], horizon=9)
    timer.join()


def test_pipes_stay_open_until_the_thread_that_reads_them_is_back(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look whether there is something and the reading, the numbers of closed pipes may become others'."""
    channel = serve("faulty:Hangs", timeout=60.0)
    channel.ask("open", options={})
    asked, killed = threading.Event(), threading.Event()
    wait = Pipes._wait

    def wait_long(self: Pipes, stream: int, event: int, deadline: float) -> None:
        if event == select.POLLIN:
            asked.set()
        wait(self, stream, event, deadline)
        if event == select.POLLIN:
            killed.wait(1.0)

    def kill() -> None:
        asked.wait()
        channel.kill()
        killed.set()

    monkeypatch.setattr(Pipes, "_wait", wait_long)
    killer = threading.Thread(target=kill)
    killer.start()
    with pytest.raises(Crashed, match="ended by its owner"):
        channel.ask("drive", policy="random", seeds=[1], horizon=9)
    killer.join()


def test_after_an_interrupt_nobody_reads_the_other_half_of_the_answer(serve: Serve) -> None:
    channel = serve("faulty:Hangs", timeout=60.0)
    channel.ask("open", options={})
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        channel.ask("drive", policy="random", seeds=[1], horizon=9)
    timer.join()
    with pytest.raises(Crashed, match="the process is gone: KeyboardInterrupt"):
        channel.ask("spec")


def test_threads_that_share_a_channel_take_turns(serve: Serve) -> None:
    channel = serve()
    channel.ask("open", options={})
    wrong: list[int] = []

    def ask(place: int) -> None:
        for _ in range(50):
            inputs = {"place": np.array([place]), "action": np.array([2])}
            if channel.ask("probe", name="move", inputs=inputs)["place"][0] != place + 1:
                wrong.append(place)

    threads = [threading.Thread(target=ask, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("side", [Side.REFERENCE, Side.CANDIDATE])
def test_an_error_says_as_a_field_which_side_it_is_of(side: Side, sandbox: Sandbox) -> None:
    """A worker may write what it likes: its words are text, and who it is stands in a field."""
    command = [sys.executable, "-c", "raise SystemExit('the reference, call `open`')"]
    channel = Channel(Pipes(sandbox.spawn(command)), side, 20.0)
    with pytest.raises(Crashed) as caught:
        channel.ask("open")
    assert caught.value.side is side
    channel.close()
