"""An agent that has nothing but the tools translates two games of MinAtar, whose tasks are as `lockstep new` made them.

The agent is a script: a first draft of each game, with mistakes that a translator makes, and what it would change where a
message names a leaf. All that it knows of a session comes from calls, and it reads no file but through them.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from mcp.client import Client
from mcp.types import TextResourceContents

from tests.mcp_server.conftest import LOCKSTEP, Place, call, settled

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
ENTRY = "candidate/env.py"


@dataclass(frozen=True)
class Game:
    """What the agent brings along.

    Attributes:
        translation: the game in JAX, in the end.
        rules: files of the reference that it must have read, each with a text that stands there.
        mistakes: by the leaf at which each shows, the right text and what the first draft has in its place.
    """

    translation: str
    rules: Mapping[str, str]
    mistakes: Mapping[str, tuple[str, str]]

    @property
    def draft(self) -> str:
        """The translation with all mistakes."""
        text = self.translation
        for right, wrong in self.mistakes.values():
            assert text.count(right) == 1, right
            text = text.replace(right, wrong)
        return text


def game(name: str, rules: str, mistakes: Mapping[str, tuple[str, str]]) -> Game:
    translation = (Path(__file__).parent / "minatar" / f"{name}.py").read_text()
    wrapper = {"minatar/environment.py": "if self.random.rand() < self.sticky_action_prob:"}
    return Game(translation, {**wrapper, f"minatar/environments/{name}.py": rules}, mistakes)


GAMES = {
    "Breakout": game(
        "breakout",
        "self.ball_dir=[1,0,3,2][self.ball_dir]",
        {
            "state/last_action": ("BUTTONS = jnp.array([0, 1, 3])", "BUTTONS = jnp.array([0, 1, 2])"),
            "state/strike": ("pos, brick, terminal), hit", "pos, hit, terminal), hit"),
        },
    ),
    "Freeway": game(
        "freeway",
        "car[2]=abs(car[3])",
        {
            "state/last_action": ("BUTTONS = jnp.array([0, 2, 4])", "BUTTONS = jnp.array([0, 2, 3])"),
            "state/pos": (
                "jnp.where((column == COLUMN) & (lane == pos), SIZE - 1, pos)\n        moves",
                "pos\n        moves",
            ),
            "terminated": ("state.terminate_timer < 0", "state.terminate_timer <= 0"),
        },
    ),
}


@pytest.fixture
def made(place: Place, request: pytest.FixtureRequest) -> str:
    """The name of a game of which a person has just made a task."""
    name = str(request.param)
    environment = [f"--gymnasium=MinAtar/{name}-v1", "--require=minatar==1.0.15"]
    directory = f"--directory={place.task_root / name.lower()}"
    subprocess.run([*LOCKSTEP, "new", name.lower(), *environment, directory], env=place.environment, check=True)
    return name


@pytest.mark.timeout(1800)
@pytest.mark.nightly
@pytest.mark.parametrize("made", ["Breakout", "Freeway"], indirect=True)
async def test_a_game_is_translated_with_the_tools_alone(place: Place, made: str) -> None:
    game, edits = GAMES[made], []
    async with place.stdio() as client:
        begun = await call(client, "start_session", task=made.lower())
        session = begun["session"]
        await read_everything(client, session, game)
        await call(client, "write_file", session=session, path=ENTRY, text=game.draft)
        while (status := await call(client, "session_status", session=session))["state"] != "done":
            verdict = await settled(client, "run_level_tests", session=session)
            if verdict["outcome"] == "PASS":
                continue
            address = verdict["found"]["address"]
            assert (verdict["outcome"], address in verdict["repair_prompt"]) == ("FAIL", True), verdict
            right, wrong = game.mistakes[address]
            await call(client, "edit_file", session=session, path=ENTRY, old=wrong, new=right)
            edits.append(address)
        assert sorted(edits) == sorted(game.mistakes), "each mistake was named once, by the leaf in which it shows"
        assert (await call(client, "audit", session=session))["ok"]
        assert len(status["passed"]) == 3


async def read_everything(client: Client, session: str, game: Game) -> None:
    """The prompt, the contract, and the files in which the rules are: they are listed, and hold what is translated."""
    prompt = (await client.get_prompt("translate", {"session": session, "module": "everything"})).messages[0].content
    assert prompt.type == "text" and all(path in prompt.text for path in game.rules)
    contract = (await client.read_resource(f"lockstep://sessions/{session}/contract")).contents[0]
    assert isinstance(contract, TextResourceContents) and 'mode = "tape"' in contract.text
    for path, text in game.rules.items():
        assert text in (await call(client, "read_file", session=session, path=f"reference/{path}"))["text"]
