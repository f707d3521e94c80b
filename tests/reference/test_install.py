"""Building a reference's environment: once, detectably whole, with the user's own pip, and with errors that say why."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import textwrap
import zipfile
from pathlib import Path

import numpy as np
import pytest

from harness.errors import SetupError
from harness.model import Case
from harness.reference import building as set_up
from harness.reference import install as building
from harness.reference.install import MARKER, Installed, find_interpreter, installed, reference_command, setup
from harness.reference.start import start_reference
from harness.support.home import lockstep_home
from harness.task.contract import Task
from harness.task.load import load_task
from tests.paths import ROOT

REST = """
[candidate]
kind = "jax"
entry = "candidate/env.py"
[leaves]
observation = { dtype = "float32" }
action = { dtype = "int64", low = 0, high = 1 }
reward = { dtype = "float64" }
terminated = { dtype = "bool" }
truncated = { dtype = "bool" }
[[modules]]
name = "all"
[randomness]
mode = "none"
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    directory = tmp_path / "home"
    monkeypatch.setenv("LOCKSTEP_HOME", str(directory))
    return directory


@pytest.fixture
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of wheels that the user's own pip configuration names, and no index."""
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    for version in ("1.0", "2.0"):
        with zipfile.ZipFile(wheels / f"walk-{version}-py3-none-any.whl", "w") as wheel:
            info = f"walk-{version}.dist-info"
            wheel.writestr("walk.py", f"version = {version!r}\n")
            wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: walk\nVersion: {version}\n")
            wheel.writestr(
                f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
            )
            wheel.writestr(f"{info}/RECORD", "")
    configuration = tmp_path / "pip.conf"
    configuration.write_text(f"[global]\nno-index = true\nfind-links = {wheels}\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(configuration))
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    return wheels


def test_a_setting_that_names_a_device_mounts_nothing(tmp_path: Path) -> None:
    """`PIP_CONFIG_FILE=/dev/null` tells pip to have no configuration; a sandbox makes its own devices."""
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    named = {"PIP_CONFIG_FILE": "/dev/null", "PIP_FIND_LINKS": str(wheels)}
    assert [place for place in set_up._named_by_settings(named, ()) if place.parts[1] == "dev"] == []
    assert wheels in set_up._named_by_settings(named, ())


def task(tmp_path: Path, reference: str, **files: str) -> Task:
    """A task with this `[reference]` table and these files in `reference/`, by name without `.py`."""
    directory = tmp_path / "task"
    (directory / "reference").mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (directory / "reference" / f"{name}.py").write_text(textwrap.dedent(content))
    head = 'name = "walk"\nsummary = "a walk"\nworkflow = "translate"\n'
    (directory / "task.toml").write_text(f"{head}[reference]\n{textwrap.dedent(reference)}\n{REST}")
    return load_task(directory)


def ask(python: Path, code: str) -> str:
    return subprocess.run([str(python), "-c", code], capture_output=True, text=True, check=True).stdout.strip()


# --- building ---------------------------------------------------------------------------------------------------------

PROGRAM = 'command = ["{prefix}/bin/python", "x.py"]\n'


@pytest.mark.slow
def test_an_environment_is_built_once_with_the_pins_that_were_asked_for(tmp_path: Path, offline: Path) -> None:
    walk = task(tmp_path, PROGRAM + 'requirements = ["walk==1.0"]')
    said: list[str] = []
    assert installed(walk) is None
    environment = setup(walk, said.append)
    assert any("walk==1.0" in line for line in said)
    assert ask(environment.python, "import walk, sys; print(walk.version, sys.prefix)") == f"1.0 {environment.prefix}"
    assert "walk==1.0" in json.loads((environment.prefix / MARKER).read_text())["packages"]
    assert installed(walk) == environment

    said.clear()
    assert setup(walk, said.append) == environment
    assert said == []

    other = task(tmp_path, PROGRAM + 'requirements = ["walk==2.0"]')
    assert installed(other) is None


@pytest.mark.slow
def test_a_requirement_that_pip_cannot_find_is_reported_in_pips_own_words(tmp_path: Path, offline: Path) -> None:
    walk = task(tmp_path, PROGRAM + 'requirements = ["walk==3.0"]')
    with pytest.raises(SetupError, match=r"No matching distribution found for walk==3\.0") as refused:
        setup(walk)
    assert "task.toml" in refused.value.next_step
    assert installed(walk) is None


@pytest.mark.slow
def test_settings_for_the_harness_own_python_do_not_reach_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sitecustomize.py").write_text("raise SystemExit('this is not for you')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert setup(task(tmp_path, PROGRAM + 'build = "reference/build.py"', build="")).python.exists()


@pytest.mark.slow
def test_the_build_script_runs_with_the_environments_python_in_the_task_directory(tmp_path: Path) -> None:
    script = """
        import os, sys
        prefix = sys.argv[1]
        assert sys.prefix == prefix and os.getcwd().endswith("task")
        open(os.path.join(prefix, "built"), "w").write("yes")
    """
    walk = task(tmp_path, PROGRAM + 'build = "reference/build.py"', build=script)
    said: list[str] = []
    environment = setup(walk, said.append)
    assert (environment.prefix / "built").read_text() == "yes"
    assert "running reference/build.py" in said


@pytest.mark.slow
def test_a_build_that_fails_shows_its_last_lines_and_leaves_nothing_that_passes_for_an_environment(
    tmp_path: Path,
) -> None:
    lines = PROGRAM + 'build = "reference/build.py"'
    broken = task(tmp_path, lines, build="print('first'); print('no compiler'); raise SystemExit(7)")
    with pytest.raises(SetupError, match="exit status 7") as refused:
        setup(broken)
    assert "no compiler" in str(refused.value)
    assert installed(broken) is None

    mended = task(tmp_path, lines, build="print('fine')")
    assert setup(mended).python.exists()
    assert installed(mended) is not None


def test_a_changed_build_file_makes_a_new_environment_and_a_changed_adapter_does_not(tmp_path: Path) -> None:
    lines = 'adapter = "reference/adapter.py:Walk"\nbuild = "reference/build.py"'
    keys = []
    for adapter, helper in (("1", "1"), ("2", "1"), ("2", "2")):
        walk = task(tmp_path, lines, adapter=adapter, helper=helper, build="")
        keys.append(building._prefix(walk, find_interpreter(None)))
    assert keys[0] == keys[1]
    assert keys[1] != keys[2]


DRIVER = """
import sys
from pathlib import Path
from harness.reference.install import setup
from harness.task.load import load_task
print(setup(load_task(Path(sys.argv[1])), print).prefix)
"""


def start(walk: Task) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", DRIVER, str(walk.directory)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


@pytest.mark.slow
def test_a_set_up_that_was_killed_is_detected_and_done_again(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        script = f"""
            import signal, socket
            try:  # a build has the network: tell the test, then wait to be killed
                told = socket.create_connection(("127.0.0.1", {listening.getsockname()[1]}))
            except ConnectionRefusedError:
                pass
            else:
                signal.pause()
        """
        walk = task(tmp_path, PROGRAM + 'build = "reference/build.py"', build=script)
        process = start(walk)
        told, _ = listening.accept()
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        told.close()
    assert installed(walk) is None

    said: list[str] = []
    environment = setup(walk, said.append)
    assert said[0].startswith("removing an unfinished environment")
    assert installed(walk) == environment


@pytest.mark.slow
def test_two_processes_that_need_the_same_environment_build_it_once(tmp_path: Path) -> None:
    walk = task(tmp_path, PROGRAM + 'build = "reference/build.py"', build="")
    processes = [start(walk), start(walk)]
    answers = [process.communicate()[0].splitlines() for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    assert answers[0][-1] == answers[1][-1]
    assert sum(line == "running reference/build.py" for answer in answers for line in answer) == 1


@pytest.mark.slow
def test_an_environment_whose_interpreter_was_removed_counts_as_none(tmp_path: Path) -> None:
    walk = task(tmp_path, PROGRAM + 'build = "reference/build.py"', build="")
    environment = setup(walk)
    environment.python.unlink()
    environment.python.symlink_to(tmp_path / "gone")
    assert installed(walk) is None


# --- interpreters -----------------------------------------------------------------------------------------------------


def test_the_interpreter_that_runs_the_harness_is_taken_where_it_fits() -> None:
    assert find_interpreter(">=3.11").path == Path(sys.executable)
    assert find_interpreter(None).path == Path(sys.executable)


def test_a_python_that_is_nowhere_is_named_with_what_was_found(tmp_path: Path) -> None:
    walk = task(tmp_path, PROGRAM + 'python = "==3.8.999"\nrequirements = ["walk==1.0"]')
    with pytest.raises(SetupError) as refused:
        setup(walk)
    assert "no Python ==3.8.999 was found" in str(refused.value)
    assert f"found: {sys.version_info.major}.{sys.version_info.minor}" in refused.value.expected
    assert installed(walk) is None


def test_a_python_older_than_the_worker_needs_is_never_taken() -> None:
    with pytest.raises(SetupError, match=r"no Python <3\.8 was found"):
        find_interpreter("<3.8")


def test_the_versions_beside_a_version_managers_shims_are_found(tmp_path: Path) -> None:
    shims, version = tmp_path / "shims", tmp_path / "versions" / "any" / "bin"
    for folder in (shims, version):
        folder.mkdir(parents=True)
    broken = shims / "python3.9"
    broken.write_text("#!/bin/sh\nexit 127\n")
    broken.chmod(0o755)
    (version / "python3").symlink_to(sys.executable)
    (version / "python3-config").write_text("not an interpreter")
    [found] = building._interpreters_on(str(shims))
    assert found.path == version / "python3"
    assert str(found.version) == sys.version.split()[0]


# --- the command ------------------------------------------------------------------------------------------------------

HARNESS = Installed(Path(sys.prefix), Path(sys.executable))

WALK = """
    import importlib.util, os
    import numpy as np

    LEAVES = {"action": {"dtype": "int64", "low": 0, "high": 1}, "observation": {"dtype": "float32"},
              "reward": {"dtype": "float64"}, "terminated": {"dtype": "bool"}, "truncated": {"dtype": "bool"}}

    class Walk:
        def spec(self):
            return {"leaves": LEAVES}

        def reset(self, seed):
            seen = importlib.util.find_spec("taskfile") is None and importlib.util.find_spec("toml_lines") is None
            told = float(os.environ["TOLD"] == os.path.join(os.environ["WHERE"], "told"))
            order = float(list({"a", "b", "c", "d", "e", "f"}).index("a"))
            return {"observation": np.float32(seen + told + order), "reward": 0.0, "terminated": False, "truncated": False}

        def step(self, action):
            return dict(self.reset(0), reward=float(action))
"""


def test_the_worker_serves_the_adapter_and_sees_nothing_of_the_harness(tmp_path: Path) -> None:
    lines = 'adapter = "reference/adapter.py:Walk"\nenvironment = { WHERE = "{task}", TOLD = "{task}/told" }'
    walk = task(tmp_path, lines, adapter=WALK)
    observed = []
    for _ in range(2):
        reference = start_reference(walk, HARNESS)
        try:
            [trajectory] = reference.rollout([Case(0, {"action": np.array([1, 0])})])
        finally:
            reference.close()
        assert trajectory.leaves["reward"].tolist() == [0.0, 1.0, 0.0]
        observed.append(trajectory.leaves["observation"][0])
    # 2 for what it sees, plus the place of a string in a set, which is the same in every process.
    assert observed[0] == observed[1] >= 2


def test_placeholders_are_filled_in_variables_and_in_commands(tmp_path: Path) -> None:
    lines = 'command = ["{prefix}/bin/python", "{task}/serve.py", "{other}"]\nenvironment = { LIB = "{prefix}/lib" }'
    command, variables = reference_command(task(tmp_path, lines), HARNESS)
    assert command == [f"{sys.prefix}/bin/python", f"{tmp_path}/task/serve.py", "{other}"]
    assert variables == {"LIB": f"{sys.prefix}/lib"}


def test_a_task_may_change_a_variable_that_the_harness_sets(tmp_path: Path) -> None:
    lines = 'adapter = "reference/adapter.py:Walk"\nenvironment = { OMP_NUM_THREADS = "4" }'
    _, variables = reference_command(task(tmp_path, lines, adapter=""), HARNESS)
    assert (variables["OMP_NUM_THREADS"], variables["PYTHONHASHSEED"]) == ("4", "0")


def test_a_command_that_needs_nothing_of_python_needs_no_set_up(tmp_path: Path) -> None:
    walk = task(tmp_path, 'command = ["sh", "serve.sh"]')
    environment = installed(walk)
    assert environment is not None
    assert setup(walk) == environment
    command, _ = reference_command(walk, environment)
    assert Path(command[0]).is_absolute()
    assert command[1:] == ["serve.sh"]


def test_a_program_of_the_task_directory_is_found_there(tmp_path: Path) -> None:
    walk = task(tmp_path, 'command = ["./serve"]')
    program = walk.directory / "serve"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert Path(reference_command(walk, HARNESS)[0][0]).samefile(program)


def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="there is no program `no-such-program`"):
        reference_command(task(tmp_path, 'command = ["no-such-program"]'), HARNESS)


# --- home -------------------------------------------------------------------------------------------------------------


def test_home_is_made_for_its_owner_alone(home: Path) -> None:
    assert lockstep_home() == home
    assert stat.S_IMODE(home.stat().st_mode) == 0o700


def test_home_is_in_the_data_directory_unless_it_is_stated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LOCKSTEP_HOME")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert lockstep_home() == tmp_path / "data" / "lockstep"
    monkeypatch.setenv("XDG_DATA_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert lockstep_home() == tmp_path / ".local" / "share" / "lockstep"


def test_a_relative_home_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCKSTEP_HOME", "here")
    with pytest.raises(SetupError, match="relative path 'here'"):
        lockstep_home()


def test_a_home_that_cannot_be_made_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("LOCKSTEP_HOME", str(tmp_path / "file" / "home"))
    with pytest.raises(SetupError, match="LOCKSTEP_HOME"):
        lockstep_home()


# --- the real thing ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_cartpole_is_set_up_from_the_index_and_plays(tmp_path: Path) -> None:
    cartpole = load_task(ROOT / "environments" / "cartpole")
    reference = start_reference(cartpole, setup(cartpole))
    try:
        [episode] = reference.drive("balance", [0], 600)
    finally:
        reference.close()
    assert episode.steps == 500


@pytest.mark.slow
def test_a_reference_can_run_under_another_python(tmp_path: Path) -> None:
    versions = [python.version for python in building._interpreters_on(os.environ["PATH"])]
    others = sorted(v for v in versions if building.OLDEST_PYTHON <= v.release[:2] < sys.version_info[:2])
    if not others:
        pytest.skip("runs a reference under an older Python: put one on PATH, with its venv module")
    lines = (
        f'adapter = "reference/adapter.py:Walk"\npython = "=={others[0]}"\nenvironment = {{ WHERE = "", TOLD = "" }}'
    )
    walk = task(tmp_path, lines, adapter=WALK)
    environment = setup(walk)
    assert ask(environment.python, "import platform; print(platform.python_version())") == str(others[0])
    reference = start_reference(walk, environment)
    try:
        assert reference.reset(0).rows == 1
    finally:
        reference.close()
