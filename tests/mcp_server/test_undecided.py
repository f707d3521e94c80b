"""A level 4 that could not be decided, as an agent hears of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client

from tests.host.conftest import Hosted, make_session
from tests.mcp_server.conftest import Place, call, text_of
from tests.session.standin import MODULES, UNDECIDED

pytestmark = pytest.mark.anyio


@pytest.fixture
def undecided(place: Place, tmp_path: Path) -> Iterator[Hosted]:
    """A session with level 4, whose host judges with the stand-in of tests/session and cannot decide."""
    made = make_session(tmp_path, place.home, trains=True)
    for name in MODULES:
        made.write(f"{name}.txt", f"{name}\n")
    made.write("whole.txt", "undecided4")
    made.host()
    yield made
    made.close()


@pytest.mark.parametrize(("tool", "given"), [("policy_transfer", {}), ("run_level_tests", {"level": 4})])
async def test_an_undecided_level_says_so_and_what_would_decide_in_data_and_in_text(
    place: Place, undecided: Hosted, tool: str, given: dict[str, Any]
) -> None:
    async with Client(place.inside()) as client:
        result = await client.call_tool(tool, {"session": undecided.id, **given})
        data, text = result.structured_content, text_of(result)
        assert data is not None and not result.is_error
        assert data["outcome"] == "INCONCLUSIVE" and data["summary"].startswith("INCONCLUSIVE: level 4 is not verified")
        assert (data["commit"], data["session_state"], data["next"]) == (None, "working", {"level": 4, "module": None})
        assert data["found"] is None and data["repair_prompt"] == "" and data["new_cases"] == []
        assert [level["outcome"] for level in data["levels"]] == ["PASS", "PASS", "PASS", "INCONCLUSIVE"]
        assert data["levels"][-1]["remarks"] == [f"INCONCLUSIVE whole: {UNDECIDED}"]
        [compared] = data["transfer"]["comparisons"]
        assert (compared["decision"], compared["trainings"], compared["trainings_to_decide"]) == ("undecided", 6, 12)
        assert data["transfer"]["policies"] == 2 and not data["transfer"]["noise_floor"]["decidable"]
        assert "tell a person what would decide" in data["next_call"]
        for fact in ("outcome: INCONCLUSIVE", UNDECIDED, "trainings_to_decide: 12", data["summary"], data["next_call"]):
            assert fact in text

        asked = await call(client, "get_job", job_id=data["job"], wait_s=0)
        assert asked["verification"]["levels"] == data["levels"] and asked["summary"] == data["summary"]
        status = await call(client, "session_status", session=undecided.id)
        assert status["last_attempt"]["outcome"] == "INCONCLUSIVE" and UNDECIDED in status["last_attempt"]["finding"]
        assert [step["level"] for step in status["remaining"]] == [4], "the levels below count as passed"
        explained = await call(client, "explain_divergence", session=undecided.id)
        assert explained["outcome"] == "INCONCLUSIVE" and "there is no divergence" in explained["summary"]
