"""Every bad reference gives a named error that says what happened; nothing hangs, and nothing passes for an answer."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from harness.errors import BadAnswer, Crashed, EnvironmentFailure, Raised, Side, TimedOut
from harness.model import Case
from harness.protocol.channel import Channel
from harness.protocol.environment import Environment
from harness.protocol.link import Pipes
from sandboxes import Sandbox
from tests.protocol.rogue import ROLLOUTS

Open = Callable[..., Environment]
UNDECODABLE = {
    "a leaf of objects",
    "bytes that do not fill the shape",
    "a negative size",
    "an array of two parts",
    "booleans of 7",
    "an unknown extension",
}
IN_CONTENT = ROLLOUTS.keys() - UNDECODABLE
"""Faults that a process survives, because its frames are in order."""
SIX_STEPS = Case(seed=3, actions={"action": np.ones(6, np.int64)})


@pytest.fixture(scope="module")
def versatile(sandbox: Sandbox) -> Iterator[Environment]:
    """One rogue that can do every fault of content."""
    command = [sys.executable, "-I", str(Path(__file__).parent / "rogue.py")]
    environment = Environment(Channel(Pipes(sandbox.spawn(command)), Side.REFERENCE, 20.0))
    yield environment
    environment.close()


def fails(environment: Environment, error: type[EnvironmentFailure], saying: str) -> None:
    with pytest.raises(error) as failed:
        environment.rollout([SIX_STEPS])
    assert saying in str(failed.value) and "rollout" in str(failed.value)


@pytest.mark.parametrize(
    ("adapter", "how"),
    [
        ("ExitsWith3", "ended with exit status 3"),
        ("ExitsWith0", "ended with exit status 0"),
        ("DivesIntoNull", "was ended by SIGSEGV"),
        ("KillsItself", "was ended by SIGKILL"),
        ("LeavesAChild", "ended with exit status 4"),
    ],
)
def test_a_process_that_ends_instead_of_answering_has_crashed(open_walker: Open, adapter: str, how: str) -> None:
    environment = open_walker(f"faulty:{adapter}")
    fails(environment, Crashed, how)
    assert not environment.alive
    with pytest.raises(Crashed, match="the process is gone: the process"):
        environment.rollout([SIX_STEPS])


@pytest.mark.slow
def test_a_process_that_hangs_is_killed_when_its_time_is_up(open_walker: Open) -> None:
    environment = open_walker("faulty:Hangs", timeout=2.0)
    fails(environment, TimedOut, "no answer within 2 s")
    assert not environment.alive
    with pytest.raises(Crashed, match="no answer within 2 s"):
        environment.reset(1)


@pytest.mark.parametrize(
    ("adapter", "message"),
    [
        ("Raises", "RuntimeError: the third step is too much"),
        ("RaisesUnspeakably", "Unspeakable: its message cannot be shown"),
        ("RaisesHalfACharacter", "RuntimeError: half ? a character"),
    ],
)
def test_an_exception_is_reported_and_the_process_goes_on(open_walker: Open, adapter: str, message: str) -> None:
    environment = open_walker(f"faulty:{adapter}")
    fails(environment, Raised, message)
    assert environment.rollout([SIX_STEPS.cut(2)])[0].steps == 2


def test_an_exception_comes_with_its_traceback(open_walker: Open) -> None:
    with pytest.raises(Raised) as failed:
        open_walker("faulty:Raises").rollout([SIX_STEPS])
    assert 'raise RuntimeError("the third step is too much")' in failed.value.next_step


@pytest.mark.parametrize("adapter", ["Prints", "ReadsItsInput", "NotANumber"])
def test_printing_reading_the_input_and_nan_are_harmless(open_walker: Open, adapter: str) -> None:
    assert open_walker(f"faulty:{adapter}").rollout([SIX_STEPS])[0].steps == 6


def test_a_gigabyte_on_standard_error_neither_blocks_nor_fills_memory(open_walker: Open) -> None:
    assert open_walker("faulty:PrintsAGigabyte", timeout=120.0).rollout([SIX_STEPS])[0].steps == 6


@pytest.mark.parametrize(
    ("adapter", "complaint"),
    [
        ("AnswersNone", "answered with a NoneType, not with a dict"),
        ("LosesALeaf", "lacks the leaf state/slope"),
        ("WrongShape", "leaf observation/place has shape [3] in timestep 3, its spec declares [2]"),
        ("WrongDtype", "leaf observation/place has dtype float64 in timestep 3, its spec declares float32"),
        ("Ragged", "leaf observation/place has shape [] in timestep 3"),
        ("ObjectArray", "leaf observation/place has dtype object in timestep 3"),
        ("FloatAsInteger", "leaf state/place has dtype float64 in timestep 3, its spec declares int64"),
        ("IntegerAsBoolean", "leaf terminated has dtype int64 in timestep 3, its spec declares bool"),
        ("HugeInteger", "leaf state/place has a value that int64 cannot hold"),
        ("IntegerThatWouldWrap", "leaf state/steps has a value that int32 cannot hold"),
        ("UndeclaredDraw", "reports the draw 'thunder', which its spec does not declare"),
        ("DrawOfWrongDtype", "leaf draw/start has dtype float32"),
    ],
)
def test_an_answer_that_contradicts_the_spec_is_refused_by_name(
    open_walker: Open, adapter: str, complaint: str
) -> None:
    environment = open_walker(f"faulty:{adapter}")
    fails(environment, BadAnswer, complaint)
    assert environment.alive


@pytest.mark.parametrize(
    ("adapter", "error", "complaint"),
    [
        ("faulty:LeafWithoutDtype", BadAnswer, "leaf reward cannot be read"),
        ("faulty:LeafOfObjects", BadAnswer, "leaf reward cannot be read"),
        ("faulty:NoReward", BadAnswer, "the spec needs leaves observation, action, reward"),
        ("faulty:OldProtocol", BadAnswer, "it speaks protocol 99"),
        ("faulty:FailsToOpen", Raised, "FileNotFoundError: the ROM is not there"),
        ("faulty:NoSuchAdapter", Crashed, "has no attribute 'NoSuchAdapter'"),
    ],
)
def test_an_environment_that_cannot_open_says_why(
    open_walker: Open, adapter: str, error: type[EnvironmentFailure], complaint: str
) -> None:
    with pytest.raises(error) as failed:
        open_walker(adapter)
    assert complaint in str(failed.value)


@pytest.mark.parametrize(
    ("fault", "complaint"),
    [
        ("a timestep too many", "6 timesteps for 4 actions"),
        ("no timestep", "0 timesteps for 4 actions"),
        ("stops without an end", "it stopped after 2 of 4 actions without an end"),
        ("goes on after the end", "it went on after the end of the episode in timestep 2"),
        ("two answers", "does not hold as many"),
        ("a map of answers", "does not hold as many"),
        ("an answer that is a number", "an answer without leaves"),
        ("leaves that are a list", "it answered with list"),
        ("a leaf too many", "it answered with ['observation', 'reward', 'terminated', 'truncated', 'wings']"),
        ("a leaf too few", "it answered with ['observation']"),
        ("another dtype", "leaf observation came as float64 []"),
        ("another shape", "leaf observation came as float32 [2]"),
        ("leaves of different length", "has length"),
        ("a leaf without timesteps", "leaf observation is not a stacked array"),
        ("a leaf that is a list", "leaf observation is not a stacked array"),
        ("a leaf of objects", "dtype '|O' is not allowed"),
        ("bytes that do not fill the shape", "19 bytes do not fill shape [5]"),
        ("a negative size", "an array is [dtype, list of sizes, bytes]"),
        ("an array of two parts", "an array is [dtype, list of sizes, bytes]"),
        ("booleans of 7", "a boolean is a byte of 0 or 1"),
        ("an unknown extension", "unknown extension type 9"),
        ("draws of too many timesteps", "draws for 6 timesteps, leaves for 5"),
        ("draws of an unknown name", "is not a pair of a declared name and a value"),
        ("draws of another dtype", "leaf coin came as int32 []"),
        ("draws of another shape", "leaf coin came as int8 [1]"),
        ("draws that are a number", "its draws are not a list of timesteps"),
        ("draws without values", "is not a pair of a declared name and a value"),
        ("another id", "does not carry this request's id"),
        ("no id", "does not carry this request's id"),
        ("an answer of no kind", "has neither `ok` nor a map `error`"),
        ("an error that is a word", "has neither `ok` nor a map `error`"),
        ("a list", "does not carry this request's id"),
        ("bytes that are no message", "not a MessagePack message"),
        ("a frame of 4 GiB", "it announced a frame of 4294967295 bytes"),
    ],
)
def test_a_server_that_breaks_the_protocol_is_refused(
    open_rogue: Open, versatile: Environment, fault: str, complaint: str
) -> None:
    case = SIX_STEPS.cut(4)
    with pytest.raises(BadAnswer) as refused:
        if fault in IN_CONTENT:
            versatile.rollout([replace(case, seed=list(ROLLOUTS).index(fault))])
        else:
            open_rogue(fault).rollout([case])
    assert complaint in str(refused.value)
    assert fault not in IN_CONTENT or versatile.alive


@pytest.mark.parametrize("fault", ["another id", "bytes that are no message", "a frame of 4 GiB", "booleans of 7"])
def test_after_a_broken_frame_the_process_is_gone(open_rogue: Open, fault: str) -> None:
    environment = open_rogue(fault)
    for error in (BadAnswer, Crashed):
        with pytest.raises(error):
            environment.rollout([SIX_STEPS.cut(4)])
    assert not environment.alive


@pytest.mark.parametrize(
    ("fault", "how"),
    [
        ("half a frame, then the end", "ended with exit status 0"),
        ("half a header, then the end", "ended with exit status 1"),
        ("the end", "ended with exit status 0"),
    ],
)
def test_a_stream_that_ends_within_an_answer_is_a_crash(open_rogue: Open, fault: str, how: str) -> None:
    with pytest.raises(Crashed, match=how):
        open_rogue(fault).rollout([SIX_STEPS.cut(4)])


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["half a frame, then silence", "silence", "text"])
def test_silence_within_an_answer_is_a_time_out(open_rogue: Open, fault: str) -> None:
    # A line of text announces, in its first four bytes, a frame that is longer than itself or that is refused.
    with pytest.raises((TimedOut, BadAnswer)):
        open_rogue(fault, timeout=1.5).rollout([SIX_STEPS.cut(4)])


def test_an_answer_written_before_the_question_is_not_taken_for_one(open_rogue: Open) -> None:
    with pytest.raises(BadAnswer, match="does not carry this request's id"):
        open_rogue("answers before it is asked")


@pytest.mark.parametrize("fault", ["fine", "fine, ended early", "fine, with draws"])
def test_the_same_server_without_a_fault_is_believed(open_rogue: Open, fault: str) -> None:
    (played,) = open_rogue(fault).rollout([SIX_STEPS.cut(4)])
    assert played.timesteps == (3 if "early" in fault else 5)
    assert played.draws is not None and len(played.draws) == played.timesteps


@pytest.mark.parametrize(
    ("fault", "complaint"),
    [
        ("a picture of signed bytes", "its picture is int8 [1, 2, 3]"),
        ("a picture without colours", "its picture is uint8 [2, 3]"),
        ("a picture without pixels", "its picture is uint8 [0, 2, 3]"),
        ("a picture that is too wide", "its picture is uint8 [1, 4097, 3]"),
        ("a picture that is a list", "its picture is no array `frame`"),
        ("no picture", "its picture is no array `frame`"),
    ],
)
def test_what_is_no_picture_is_refused(open_rogue: Open, fault: str, complaint: str) -> None:
    with pytest.raises(BadAnswer) as refused:
        open_rogue(fault).render()
    assert complaint in str(refused.value) and "uint8 [height, width, 3]" in str(refused.value)


def test_a_picture_comes_as_it_was_sent(open_rogue: Open) -> None:
    assert open_rogue("a fine picture").render().tolist() == [[[0, 0, 0], [0, 0, 0]]]
