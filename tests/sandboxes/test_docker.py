"""What containers add to the common promises: who owns files, what an agent cannot reach, and how everything ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from bench import DAEMON, LIVE, PYTHON, SPAN, WORK, Bench, python, said

from harness.cli import doctor
from harness.verify.request import LevelsRequest
from sandboxes import DockerDriver, Mount, SandboxFailed, SandboxSpec, SandboxUnavailable, SpecRefused, choose
from sandboxes.containers.access import NOBODY_ELSE
from sandboxes.containers.engine import LABEL, Engine, owner_labels

SOURCE = "sandboxes.DockerDriver()"
pytestmark = pytest.mark.docker
as_root = pytest.mark.skipif(os.getuid() != 0, reason="only root works for others")

TRY_TO_REACH = """
import os, _socket, sys
reached = []
for path in sys.argv[1:]:
    try:
        os.listdir(path) if os.path.isdir(path) else open(path, "rb").read(1)
        reached.append(path)
    except OSError:
        pass
for family, address in ((_socket.AF_INET, ("192.0.2.1", 9)), (_socket.AF_INET, ("127.0.0.1", 2375)),
                        (_socket.AF_UNIX, "/var/run/docker.sock"), (_socket.AF_UNIX, "/run/docker.sock"),
                        (_socket.AF_UNIX, "/run/containerd/containerd.sock"),
                        (_socket.AF_UNIX, "/run/lockstep/door/socket")):
    connection = _socket.socket(family, _socket.SOCK_STREAM if family == _socket.AF_INET else _socket.SOCK_SEQPACKET)
    connection.settimeout(2)
    try:
        connection.connect(address)
        reached.append(address)
    except OSError:
        pass
print(reached)
"""
TRY_TO_TRACE = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
reached = ["traced"] if libc.ptrace(0x4206, 1, None, None) == 0 else []
for name in ("mem", "root", "fd", "environ", "cwd"):
    try:
        path = f"/proc/1/{name}"
        __import__("os").listdir(path) if name in ("root", "fd", "cwd") else open(path, "r+b").read(1)
        reached.append(name)
    except OSError:
        pass
print(reached)
"""
CRATE = """
use pyo3::prelude::*;
use numpy::{PyArray1, PyReadonlyArray1};
use rayon::prelude::*;

#[pyfunction]
fn doubled<'py>(py: Python<'py>, values: PyReadonlyArray1<'py, f64>) -> Bound<'py, PyArray1<f64>> {
    let result: Vec<f64> = values.as_slice().unwrap().par_iter().map(|value| value * 2.0).collect();
    PyArray1::from_vec(py, result)
}

#[pymodule]
fn probe(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(doubled, module)?)
}
"""
MANIFEST = """
[package]
name = "probe"
version = "0.1.0"
edition = "2021"
[lib]
crate-type = ["cdylib"]
[dependencies]
numpy = "0.30"
pyo3 = { version = "0.30", features = ["extension-module"] }
rayon = "1"
"""


@pytest.fixture
def driver() -> DockerDriver:
    driver = DockerDriver()
    reason = driver.unavailable()
    if reason is not None:
        pytest.skip(reason)
    return driver


@pytest.fixture
def bench(driver: DockerDriver, tmp_path: Path) -> Iterator[Bench]:
    before = _containers(driver)
    yield Bench(driver, SOURCE, tmp_path)
    assert _containers(driver) <= before, "a container was left behind"


def _containers(driver: DockerDriver) -> set[str]:
    """This process's containers; other tests have theirs at the same time."""
    own = f"{LABEL}.owner={os.getpid()}"
    with driver.engine.client(SPAN) as client:
        listed = client.containers.list(all=True, filters={"label": own}, ignore_removed=True)
        return {str(one.id) for one in listed if one.status != "removing"}


def _attributes(driver: DockerDriver, container: str) -> dict[str, object]:
    with driver.engine.client(SPAN) as client:
        return client.api.inspect_container(container)


def test_the_container_has_no_right_that_it_does_not_need(bench: Bench, driver: DockerDriver) -> None:
    with driver.open(replace(bench.spec(), purpose="a test of rights")) as sandbox:
        about = _attributes(driver, sandbox.container)
    host, config = about["HostConfig"], about["Config"]
    assert isinstance(host, dict)
    assert isinstance(config, dict)
    assert (host["NetworkMode"], host["ReadonlyRootfs"], host["CapDrop"]) == ("none", True, ["ALL"])
    assert not (host["Privileged"] or host["CapAdd"] or host["Devices"] or host["PidMode"])
    assert "no-new-privileges" in host["SecurityOpt"]
    assert host["Memory"] == host["MemorySwap"] > 0
    assert host["PidsLimit"] > 0
    assert not config["User"].startswith("0")
    assert config["Labels"][f"{LABEL}.purpose"] == "a test of rights"
    assert config["Labels"][f"{LABEL}.owner"] == str(os.getpid())


def test_an_agent_reaches_no_network_key_reference_other_session_or_engine(bench: Bench) -> None:
    home = bench.directory / "home"
    places = [home / "sessions" / "other" / "log", home / "keys" / "signing", bench.work / ".git" / "config"]
    for place in places:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("secret")
    hidden = bench.work / "reference"
    hidden.mkdir()
    (hidden / "answer.py").write_text("42")
    (bench.work / "out").symlink_to(home)
    engine = (
        "/var/run/docker.sock",
        "/run/docker.sock",
        "/var/lib/docker",
        "/run/containerd",
        "/run/lockstep/door/socket",
    )
    wanted = (
        *map(str, places),
        f"{WORK}/reference/answer.py",
        f"{WORK}/.git/config",
        f"{WORK}/out/keys/signing",
        *engine,
    )
    with bench.open(masked=(hidden, bench.work / ".git")) as sandbox:
        assert said(python(sandbox, TRY_TO_REACH, *wanted)) == "[]"
        assert said(sandbox.run(["sh", "-c", "cat /etc/resolv.conf; tail -n +2 /proc/net/route"])) == ""


def test_an_agent_cannot_write_elsewhere_make_devices_or_leave_through_proc(bench: Bench) -> None:
    (bench.work / "way").symlink_to(bench.directory)
    script = """
    for place in / /etc /usr /opt/lockstep /run/lockstep /root /proc/sys/kernel /sys way /proc/1/root /proc/self/root/etc; do
        if echo x > $place/mine 2>/dev/null; then echo "wrote $place"; fi
    done
    mknod disk b 8 0 2>/dev/null && echo "made a disk"
    mknod memory c 1 1 2>/dev/null && echo "made memory"
    echo 1 2>/dev/null > /proc/sysrq-trigger && echo "asked the kernel"
    mount -t tmpfs none /tmp 2>/dev/null && echo mounted
    unshare -Ur true 2>/dev/null && echo "became root"
    chroot / true 2>/dev/null && echo chrooted
    true"""
    with bench.open() as sandbox:
        assert said(sandbox.run(["sh", "-c", script])) == ""
        assert said(python(sandbox, TRY_TO_TRACE)) == "[]"
    assert {path.name for path in bench.directory.iterdir()} == {"work"}


def test_the_first_process_cannot_be_killed_from_inside(bench: Bench) -> None:
    with bench.open() as sandbox:
        assert sandbox.run(["sh", "-c", "kill -9 1; kill -STOP 1; kill -TERM 1"]).exit_code is not None
        assert sandbox.run(["echo", "still here"]).stdout == b"still here\n"


def test_a_command_that_kills_its_supervisor_is_a_failure_and_its_daemon_is_ended(bench: Bench) -> None:
    attack = DAEMON + "\nos.kill(os.getppid(), 9)\nsignal.pause()\n"
    with bench.open() as sandbox, bench.pulse() as pulse:
        beside = sandbox.spawn(["cat"])
        with pytest.raises(SandboxFailed, match="supervisor was lost"):
            python(sandbox, attack, pulse.name, "leave")
        assert pulse.begun()
        assert pulse.stopped()
        # Another command of the same sandbox has a supervisor of its own.
        beside.stdin.write(b"on")
        assert beside.stdout.read(2) == b"on"


def test_the_pid_of_a_worker_is_the_hosts(bench: Bench) -> None:
    with bench.open() as sandbox, bench.pulse() as pulse:
        worker = sandbox.spawn([PYTHON, "-I", "-S", "-c", LIVE, pulse.name])
        assert pulse.begun()
        assert pulse.name.encode() in Path(f"/proc/{worker.pid}/cmdline").read_bytes()
        os.kill(worker.pid, signal.SIGKILL)
        assert worker.wait(SPAN) == 128 + signal.SIGKILL


def test_a_container_that_somebody_removes_is_the_sandboxs_failure(bench: Bench, driver: DockerDriver) -> None:
    with driver.open(bench.spec()) as sandbox:
        worker = sandbox.spawn(["cat"])
        driver.engine.remove(sandbox.container)
        with pytest.raises(SandboxFailed, match="ended from outside"):
            worker.wait(SPAN)
        with pytest.raises(SandboxFailed, match="ended from outside"):
            sandbox.run(["true"])


def test_the_container_is_gone_after_its_owner_was_killed(bench: Bench, driver: DockerDriver) -> None:
    harness = f"""
import signal, sys
from pathlib import Path
import sandboxes
from sandboxes import Mount, SandboxSpec
spec = SandboxSpec(mounts=(Mount(Path(sys.argv[1]), {WORK!r}, writable=True),), workdir={WORK!r})
sandbox = {SOURCE}.open(spec)
worker = sandbox.spawn(["python3", "-I", "-S", "-c", sys.argv[2], "pulse"])
print(sandbox.container, flush=True)
signal.pause()
"""
    with bench.pulse() as pulse:
        owner = subprocess.Popen(
            [sys.executable, "-c", harness, str(bench.work), LIVE],
            stdout=subprocess.PIPE,
            env={**os.environ, "TMPDIR": str(bench.directory)},
        )
        assert owner.stdout is not None
        with owner.stdout:
            container = owner.stdout.readline().decode().strip()
        assert pulse.begun()
        owner.kill()
        owner.wait()
        assert pulse.stopped()
    _wait_until_removed(driver, container)


def _wait_until_removed(driver: DockerDriver, container: str) -> None:
    with driver.engine.client(SPAN) as client:
        try:
            client.api.wait(container, condition="removed", timeout=SPAN)
        except Exception as error:
            assert "No such container" in str(error), error  # It was gone before we asked.


def test_the_doctor_removes_the_containers_of_owners_that_are_gone_and_no_others(driver: DockerDriver) -> None:
    with subprocess.Popen(["true"]) as gone:
        gone.wait()
    own = owner_labels("mine")
    orphan = {**own, f"{LABEL}.owner": str(gone.pid), f"{LABEL}.began": "1"}
    with driver.engine.client(SPAN) as client:
        # Created and never started, as one is left whose owner was killed between the two.
        made = [
            str(client.api.create_container(driver.image_name(), ["true"], labels=labels, name=name)["Id"])
            for labels, name in ((own, f"lockstep-{uuid.uuid4().hex}"), (orphan, f"lockstep-{uuid.uuid4().hex}"))
        ]
        try:
            assert made[1] in {one.id for one in driver.engine.orphans()}
            item = next(item for item in doctor.examine() if item.name == "containers")
            assert "removed now" in item.found
            left = {str(one.id) for one in client.containers.list(all=True)}
            assert made[0] in left
            assert made[1] not in left
        finally:
            driver.engine.remove(made[0])


def test_a_gpu_that_is_not_there_is_a_clear_error(driver: DockerDriver, bench: Bench) -> None:
    with driver.engine.client(SPAN) as client:
        if "nvidia" in client.info().get("Runtimes", {}):
            pytest.skip("this engine has GPUs to give")
    with pytest.raises(SandboxUnavailable, match=r"gpus: .*no GPU to give"):
        DockerDriver(image=driver.image_name()).open(replace(bench.spec(), gpus=1))


def test_an_image_that_was_not_built_is_named_with_what_builds_it(bench: Bench) -> None:
    driver = DockerDriver(image="lockstep-sandbox:never-built")
    reason = driver.unavailable()
    assert reason is not None
    assert "lockstep-sandbox:never-built" in reason
    assert "lockstep images build" in reason
    with pytest.raises(SandboxUnavailable, match="lockstep images build"):
        driver.open(bench.spec())


@as_root
def test_a_workspace_of_roots_is_shared_with_a_user_that_nobody_is(bench: Bench) -> None:
    (bench.work / "given").write_text("from root\n")
    with bench.open() as sandbox:
        assert said(sandbox.run(["id", "-u"])) == str(NOBODY_ELSE)
        assert sandbox.run(["sh", "-c", "echo more >> given; mkdir d; echo 1 > d/made"]).exit_code == 0
        # What root makes meanwhile, outside or through the sandbox, can be worked on too.
        (bench.work / "d" / "outside").write_text("x")
        sandbox.write_file(f"{WORK}/new/inside", b"x")
        sandbox.write_file("/tmp/note", b"x")
        assert (
            sandbox.run(["sh", "-c", "echo y >> d/outside; echo y >> new/inside; echo y >> /tmp/note"]).exit_code == 0
        )
    assert (bench.work / "given").read_text() == "from root\nmore\n"
    owners = {path.stat().st_uid for path in bench.work.rglob("*")}
    assert owners == {0}


@as_root
def test_a_workspace_of_somebodys_is_worked_on_as_that_person(bench: Bench) -> None:
    os.chown(bench.work, 4321, 4322)
    (bench.work / "of-root").write_text("x")
    with bench.open() as sandbox:
        assert said(sandbox.run(["id", "-u"])) == "4321"
        assert sandbox.run(["sh", "-c", "echo 1 > made; echo y >> of-root"]).exit_code == 0
        sandbox.write_file(f"{WORK}/written", b"x")
    assert {(bench.work / name).stat().st_uid for name in ("made", "written")} == {4321}


@as_root
def test_giving_files_back_follows_no_link_out_of_the_workspace(bench: Bench) -> None:
    outside = bench.directory / "outside"
    outside.mkdir()
    (outside / "file").write_text("x")
    os.chown(outside / "file", NOBODY_ELSE, NOBODY_ELSE)
    with bench.open() as sandbox:
        assert sandbox.run(["ln", "-s", str(outside), "way"]).exit_code == 0
        assert sandbox.run(["ln", "-s", str(outside / "file"), "file"]).exit_code == 0
    assert (outside / "file").stat().st_uid == NOBODY_ELSE


@as_root
def test_a_mount_that_commands_could_not_read_is_refused(bench: Bench) -> None:
    closed = bench.directory / "closed"
    closed.mkdir(mode=0o700)
    with pytest.raises(SpecRefused, match="cannot be read by user"):
        bench.driver.open(bench.spec(mounts=[Mount(closed, "/closed")]))


@pytest.mark.slow
def test_a_crate_is_built_without_a_network(bench: Bench) -> None:
    crate = bench.work / "probe"
    (crate / "src").mkdir(parents=True)
    (crate / "Cargo.toml").write_text(MANIFEST)
    (crate / "src" / "lib.rs").write_text(CRATE)
    build = "cd probe && maturin build -q -i python3 -o /tmp/wheels && cd /tmp && python3 -m zipfile -e wheels/*.whl ."
    use = "cd /tmp && python3 -c 'import numpy, probe; print(probe.doubled(numpy.arange(3.0)).tolist())'"
    with bench.open() as sandbox:
        finished = sandbox.run(["sh", "-ec", f"({build}); {use}"])
    assert finished.stdout.decode().strip() == "[0.0, 2.0, 4.0]", finished


@pytest.mark.slow
def test_a_candidate_is_verified_in_a_container(
    driver: DockerDriver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from harness.support.embedded import embedded_tasks
    from harness.task.load import load_task
    from harness.verdict import Outcome
    from harness.verify.verifier import Verifier

    task = load_task(embedded_tasks()["cartpole"])
    with Verifier(task, choose("docker")) as verifier:
        verdict = verifier.verify(task.directory, LevelsRequest([1], 1))
    assert verdict.outcome is Outcome.PASS, verdict.error
    document = json.loads(json.dumps(verdict.to_json()))
    assert document["sandbox"] == {
        "driver": "docker", "isolated": True, "image": driver.describe()["digest"],
    }  # fmt: skip


def test_a_specification_that_the_engine_cannot_know_is_refused_without_it() -> None:
    with pytest.raises(SpecRefused, match="gpus"):
        DockerDriver(url="unix:///nowhere").open(SandboxSpec(gpus=-1))
    with pytest.raises(SandboxUnavailable, match="no Docker engine answers at unix:///nowhere"):
        DockerDriver(url="unix:///nowhere").open(SandboxSpec())
    assert "start one" in (Engine("unix:///nowhere").unavailable() or "")


def test_a_missing_sdk_is_named_with_what_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "docker", None)
    assert "pip install docker" in (DockerDriver().unavailable() or "")
    with pytest.raises(SandboxUnavailable, match="pip install docker"):
        DockerDriver().open(SandboxSpec())
