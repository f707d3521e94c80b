"""What `run` gives a command and gives back of it."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest
from bench import PYTHON, ROOMY, WORK, Bench, behaviour, python, said

from sandboxes import SandboxClosed, SpecRefused


@behaviour
def output_and_exit_code_come_back(bench: Bench) -> None:
    with bench.open() as sandbox:
        finished = sandbox.run(["sh", "-c", "echo out; echo err >&2; exit 7"])
    assert (finished.exit_code, finished.stdout, finished.stderr) == (7, b"out\n", b"err\n")
    assert not finished.timed_out
    assert finished.killed_by is None
    assert finished.duration_s > 0


@behaviour
def no_output_is_empty_bytes(bench: Bench) -> None:
    with bench.open() as sandbox:
        finished = sandbox.run(["true"])
    assert (finished.exit_code, finished.stdout, finished.stderr) == (0, b"", b"")
    assert not finished.stdout_truncated
    assert not finished.stderr_truncated


@behaviour
def a_command_that_ends_by_a_signal_has_128_plus_its_number(bench: Bench) -> None:
    with bench.open() as sandbox:
        assert sandbox.run(["sh", "-c", "kill -TERM $$"]).exit_code == 128 + 15
        assert sandbox.run(["sh", "-c", "kill -KILL $$"]).exit_code == 128 + 9


@behaviour
def a_missing_command_is_127_with_a_message(bench: Bench) -> None:
    with bench.open() as sandbox:
        finished = sandbox.run(["no-such-command", "--flag"])
    assert finished.exit_code == 127
    assert b"no-such-command" in finished.stderr


@behaviour
def a_file_that_is_not_executable_is_126_with_a_message(bench: Bench) -> None:
    (bench.work / "plain").write_text("not a program")
    with bench.open() as sandbox:
        finished = sandbox.run(["./plain"])
    assert finished.exit_code == 126
    assert b"plain" in finished.stderr


@behaviour
def a_command_may_have_an_equals_sign_in_its_name(bench: Bench) -> None:
    program = bench.work / "a=b"
    program.write_text("#!/bin/sh\necho ran\n")
    program.chmod(0o755)
    with bench.open() as sandbox:
        assert sandbox.run(["./a=b"]).stdout == b"ran\n"


@behaviour
def arguments_arrive_unchanged(bench: Bench) -> None:
    arguments = ["two words", "", "*", "$HOME", "a\nb", "naïve 🎲", "-n", "--", "'\"\\"]
    with bench.open() as sandbox:
        assert said(python(sandbox, "import sys; print(ascii(sys.argv[1:]))", *arguments)) == ascii(arguments)


@behaviour
def any_bytes_pass_in_and_out(bench: Bench) -> None:
    data = bytes(range(256)) * 16 + "ünïcode".encode()
    with bench.open() as sandbox:
        assert sandbox.run(["cat"], stdin=data).stdout == data


@behaviour
def eight_mebibytes_of_input_do_not_block(bench: Bench) -> None:
    data = os.urandom(1 << 20) * 8
    with bench.open(limits=replace(ROOMY, output_bytes=1 << 24)) as sandbox:
        finished = sandbox.run(["cat"], stdin=data)
    assert finished.stdout == data
    assert not finished.stdout_truncated


@behaviour
def input_that_a_command_does_not_read_does_not_matter(bench: Bench) -> None:
    with bench.open() as sandbox:
        assert sandbox.run(["true"], stdin=b"x" * (4 << 20)).exit_code == 0


@behaviour
def without_input_a_command_reads_the_end(bench: Bench) -> None:
    with bench.open() as sandbox:
        assert sandbox.run(["wc", "-c"]).stdout.strip() == b"0"


@behaviour
def a_gibibyte_of_output_is_drained_and_cut(bench: Bench) -> None:
    with bench.open(limits=replace(ROOMY, output_bytes=1000)) as sandbox:
        finished = sandbox.run(["sh", "-c", "printf begin; head -c 1073741824 /dev/zero"])
    assert finished.exit_code == 0
    assert finished.stdout == b"begin" + bytes(995)
    assert finished.stdout_truncated
    assert not finished.stderr_truncated


@behaviour
def standard_error_is_cut_on_its_own(bench: Bench) -> None:
    with bench.open(limits=replace(ROOMY, output_bytes=10)) as sandbox:
        finished = sandbox.run(["sh", "-c", "printf 0123456789; printf 0123456789x >&2"])
    assert (finished.stdout, finished.stdout_truncated) == (b"0123456789", False)
    assert (finished.stderr, finished.stderr_truncated) == (b"0123456789", True)


@behaviour
def the_environment_of_the_harness_is_not_passed_on(bench: Bench) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SECRET_TOKEN", "hunter2")
        patch.setenv("LD_PRELOAD_PATH", "x")
        with bench.open(environment={"MINE": "1"}) as sandbox:
            lines = sandbox.run(["env"]).stdout.decode().splitlines()
    names = {line.partition("=")[0] for line in lines}
    assert {"PATH", "HOME", "LANG", "MINE"} <= names
    assert names <= {"PATH", "HOME", "LANG", "MINE", "PWD", "TMPDIR", "LOCKSTEP_SANDBOX"}


@behaviour
def variables_of_the_specification_and_of_the_call_arrive(bench: Bench) -> None:
    with bench.open(environment={"ONE": "a b", "TWO": "over"}) as sandbox:
        finished = sandbox.run(["sh", "-c", 'printf "%s|%s" "$ONE" "$TWO"'], environment={"TWO": "ü=\n"})
        again = sandbox.run(["sh", "-c", 'printf "%s" "$TWO"'])
    assert finished.stdout.decode() == "a b|ü=\n"
    assert again.stdout == b"over"


@behaviour
def home_is_a_directory_that_can_be_written(bench: Bench) -> None:
    with bench.open() as sandbox:
        assert sandbox.run(["sh", "-c", 'cd "$HOME" && echo kept > note && cat note']).stdout == b"kept\n"


@behaviour
def commands_start_in_the_workdir(bench: Bench) -> None:
    (bench.work / "below").mkdir()
    with bench.open(workdir=f"{WORK}/below") as sandbox:
        assert sandbox.run(["pwd"]).stdout.decode().strip() == sandbox.inside(f"{WORK}/below")


@behaviour
def only_the_three_standard_descriptors_are_open(bench: Bench) -> None:
    code = "import os; print(sorted(map(int, os.listdir('/proc/self/fd'))))"
    leaked = os.open("/dev/null", os.O_RDONLY)
    os.set_inheritable(leaked, True)
    try:
        with bench.open() as sandbox:
            # The fourth is the listing's own.
            assert said(python(sandbox, code)) == "[0, 1, 2, 3]"
    finally:
        os.close(leaked)


@behaviour
def there_is_no_controlling_terminal(bench: Bench) -> None:
    with bench.open() as sandbox:
        assert sandbox.run(["sh", "-c", ": < /dev/tty"]).exit_code != 0


@behaviour
def signals_have_their_default_actions(bench: Bench) -> None:
    with bench.open() as sandbox:
        text = said(sandbox.run(["sh", "-c", "grep -E '^Sig(Blk|Ign)' /proc/self/status | cut -f 2"]))
    # Signals 32 and 33 belong to the C library, which lets no program change them: they stay as they were inherited.
    reserved = 0b11 << 31
    assert [int(line, 16) & ~reserved for line in text.splitlines()] == [0, 0]


@behaviour
def a_malformed_command_is_refused_before_it_starts(bench: Bench) -> None:
    with bench.open() as sandbox:
        for command in ([], "ls", ["a\0b"]):
            with pytest.raises(SpecRefused, match="command"):
                sandbox.run(command)
        for environment in ({"": "x"}, {"A=B": "x"}, {"A": "x\0y"}):
            with pytest.raises(SpecRefused, match="environment"):
                sandbox.run(["true"], environment=environment)


@behaviour
def closing_twice_is_harmless_and_a_closed_sandbox_says_so(bench: Bench) -> None:
    with bench.open() as sandbox:
        sandbox.close()
        sandbox.close()
        with pytest.raises(SandboxClosed, match="open another"):
            sandbox.run(["true"])
        with pytest.raises(SandboxClosed):
            sandbox.spawn(["true"])
        with pytest.raises(SandboxClosed):
            sandbox.read_file(f"{WORK}/x")


@behaviour
def several_sandboxes_run_at_once(bench: Bench) -> None:
    with bench.open() as first, bench.open() as second:
        one = first.spawn(["cat"])
        two = second.spawn(["cat"])
        one.stdin.write(b"first")
        two.stdin.write(b"second")
        assert one.stdout.read(100) == b"first"
        assert two.stdout.read(100) == b"second"


@behaviour
def a_python_program_runs(bench: Bench) -> None:
    with bench.open() as sandbox:
        assert said(sandbox.run([PYTHON, "-I", "-c", "import json; print(json.dumps([1, 2]))"])) == "[1, 2]"
