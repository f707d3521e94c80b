"""Pictures of divergences: both sides drawn by the reference, and never at a verdict's cost."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import sandboxes
from harness.assurance.audit import audit
from harness.model import Array
from harness.record.event import VERDICT_FILE
from harness.record.log import event_file
from harness.session.session import Session, Verifier
from harness.support.progress import Progress
from harness.task.load import load_task
from harness.verdict import Outcome, Verdict
from harness.verify import pictures
from harness.verify.request import LevelsRequest
from harness.verify.verifier import Verifier as LevelsVerifier
from tests.mutants import cartpole, pong
from tests.mutants.plant import Mutant, plant
from tests.paths import ENVIRONMENTS
from tests.session.standin import FileComparison, make_task
from tests.verify.levels.conftest import Walk
from tests.verify.pictures.conftest import ADAPTER, RIGHT, WRONG

RESTORE = '        self._place, self._steps = float(state["state/place"]), int(state["state/steps"])\n'
ONLY_THE_CANDIDATES = "        if self._place == -2.0 and self._steps == 1:\n"
"""Where the faulty candidate is after one step to the left, and the reference never."""
SEED = 20_260


def walker_at(picture: Array) -> int:
    [column] = np.flatnonzero(picture[0, :, 0])
    return int(column)


def place(value: str) -> int:
    """The column in which a picture shows a place; a verdict's actual value says after it how far off it is."""
    return int(np.clip(32 + 4 * float(value.partition(" ")[0]), 0, 63))


def shown(verdict: Verdict) -> tuple[int, dict[str, Array]]:
    """The index of the first divergence that has pictures, and these by side."""
    assert verdict.outcome is Outcome.FAIL and verdict.error == ""
    assert verdict.frames
    index = min(int(name.partition("-")[0]) for name in verdict.frames)
    sides = {name.partition("-")[2]: frame for name, frame in verdict.frames.items() if name.startswith(f"{index}-")}
    return index, sides


@pytest.mark.slow
def test_both_sides_of_a_difference_are_drawn_in_the_timestep_where_it_shows(walk: Walk) -> None:
    verdict = walk.verify((1,), module="moving")
    index, sides = shown(verdict)
    found = verdict.divergences[index]
    assert found.path == "state/place"
    for side, value in (("expected", found.expected), ("actual", found.actual)):
        assert walker_at(sides[side]) == place(value)
    assert "frames" not in json.dumps(verdict.to_json())


@pytest.mark.slow
def test_a_state_that_the_reference_refuses_has_no_picture(walk: Walk) -> None:
    walk.edit(
        ADAPTER, [(RESTORE, RESTORE + ONLY_THE_CANDIDATES + '            raise ValueError("nobody walks there")\n')]
    )
    _, sides = shown(walk.verify((3,)))
    assert list(sides) == ["expected"]


@pytest.mark.slow
def test_a_state_that_ends_the_reference_costs_its_picture_and_no_later_verdict(walk: Walk) -> None:
    walk.edit(ADAPTER, [(RESTORE, RESTORE + ONLY_THE_CANDIDATES + "            __import__('os')._exit(0)\n")])
    _, sides = shown(walk.verify((3,)))
    assert list(sides) == ["expected"]
    walk.edit("candidate/env.py", [(WRONG, RIGHT)])
    assert walk.verify((3,)).outcome is Outcome.PASS


@pytest.mark.slow
def test_without_restore_the_reference_is_drawn_by_playing_and_the_candidate_is_not(walk: Walk) -> None:
    walk.edit("task.toml", [("timeout_s = 30\n", 'timeout_s = 30\noptions = { without = ["restore"] }\n')])
    index, sides = shown(verdict := walk.verify((3,)))
    assert list(sides) == ["expected"]
    assert walker_at(sides["expected"]) == place(verdict.divergences[index].expected)


@pytest.mark.slow
def test_a_difference_in_a_probe_has_no_pictures(walk: Walk) -> None:
    # A probe finds it, for which there is nothing to draw.
    walk.edit("candidate/env.py", [(WRONG, RIGHT), ('inputs["place"]) > 5.0', 'inputs["place"]) > 4.0')])
    verdict = walk.verify((1,), module="ending")
    assert verdict.outcome is Outcome.FAIL and verdict.frames == {}


@pytest.mark.slow
def test_a_reference_that_does_not_draw_gives_no_pictures(tmp_path: Path) -> None:
    walk = Walk(tmp_path / "plain")
    walk.edit("candidate/env.py", [(RIGHT, WRONG)])
    try:
        verdict = walk.verify((1,), module="moving")
    finally:
        walk.close()
    assert verdict.outcome is Outcome.FAIL and verdict.frames == {}


@pytest.mark.slow
def test_a_renderer_that_fails_leaves_the_verdict_as_it_is(walk: Walk) -> None:
    walk.edit(
        ADAPTER, [("        picture = np.zeros((8, 64, 3), np.uint8)\n", '        raise MemoryError("no canvas")\n')]
    )
    verdict = walk.verify((1,), module="moving")
    assert verdict.outcome is Outcome.FAIL and verdict.error == "" and verdict.frames == {}


# The environments that come with Lockstep


@pytest.fixture(scope="module")
def verifier_of() -> Iterator[Callable[[str], LevelsVerifier]]:
    made: dict[str, LevelsVerifier] = {}

    def verifier(name: str) -> LevelsVerifier:
        if name not in made:
            made[name] = LevelsVerifier(load_task(ENVIRONMENTS / name), sandboxes.choose(None), workers=1)
        return made[name]

    yield verifier
    for each in made.values():
        each.close()


def judged(verifier: LevelsVerifier, name: str, mutant: Mutant, tree: Path) -> Verdict:
    plant(load_task(ENVIRONMENTS / name), mutant, tree)
    return verifier.verify(tree, LevelsRequest((3,), SEED))


def named(mutants: Sequence[Mutant], name: str) -> Mutant:
    [found] = [mutant for mutant in mutants if mutant.name == name]
    return found


@pytest.mark.slow
def test_a_cart_that_is_pushed_the_other_way_is_seen(
    verifier_of: Callable[[str], LevelsVerifier], tmp_path: Path
) -> None:
    much_faster = Mutant(
        "a cart that jumps", (("x + TIME_STEP * x_dot,", "x + 0.5 + TIME_STEP * x_dot,"),), 3, "state/x"
    )
    _, sides = shown(judged(verifier_of("cartpole"), "cartpole", much_faster, tmp_path))
    expected, actual = sides["expected"], sides["actual"]
    assert expected.shape == actual.shape == (400, 600, 3)
    carts = [np.flatnonzero((side[310] == 0).all(axis=1)).mean() for side in (expected, actual)]
    assert carts[1] - carts[0] == pytest.approx(0.5 * 600 / 4.8, abs=2)


@pytest.mark.slow
@pytest.mark.pong
def test_a_paddle_that_goes_the_other_way_is_seen(verifier_of: Callable[[str], LevelsVerifier], tmp_path: Path) -> None:
    exchanged = named(pong.MUTANTS, "up and down exchanged")
    _, sides = shown(judged(verifier_of("pong"), "pong", exchanged, tmp_path))
    differing = np.argwhere((sides["expected"] != sides["actual"]).any(axis=2))
    # The agent's paddle, at the right edge of the field, and nothing else.
    assert len(differing) and differing[:, 1].min() >= 560 and differing[:, 1].max() < 580


@pytest.mark.slow
def test_a_difference_too_small_to_be_seen_is_drawn_all_the_same(
    verifier_of: Callable[[str], LevelsVerifier], tmp_path: Path
) -> None:
    a_billionth = named(cartpole.MUTANTS, "pole mass one part in a billion off")
    _, sides = shown(judged(verifier_of("cartpole"), "cartpole", a_billionth, tmp_path))
    assert np.array_equal(sides["expected"], sides["actual"])


# In a record


def test_pictures_are_png_files_of_limited_size() -> None:
    noise = np.random.default_rng(0).integers(0, 256, (1000, 900, 3), dtype=np.uint8)
    flat = np.full((4, 6, 3), 7, np.uint8)
    files = pictures.attachments({"0-expected": noise, "3-actual": flat})
    assert list(files) == ["frames/0-expected.png", "frames/3-actual.png"]
    assert all(len(content) <= pictures.PNG_BYTES for content in files.values())
    assert np.array_equal(np.asarray(Image.open(io.BytesIO(files["frames/3-actual.png"]))), flat)


class Draws(FileComparison):
    """The stand-in, with two pictures for whatever fails."""

    def verify(self, tree: Path, request: LevelsRequest) -> Verdict:
        verdict = super().verify(tree, request)
        pictures = {f"0-{side}": np.full((4, 6, 3), 7, np.uint8) for side in ("expected", "actual")}
        return replace(verdict, frames=pictures if verdict.outcome is Outcome.FAIL else {})


def drawing(directory: Path, progress: Progress) -> Verifier:
    return Draws(directory, progress)


def test_the_pictures_of_a_failure_lie_in_its_event_and_the_audit_holds(tmp_path: Path) -> None:
    with Session.start(make_task(tmp_path / "task"), tmp_path / "work", tmp_path / "home", verifier=drawing) as session:
        failed = session.verify()
        for name in ("start", "moves"):
            (session.workspace / "candidate" / f"{name}.txt").write_text(f"{name}\n")
        passed = session.verify()
        assert (failed.verdict.outcome, passed.verdict.outcome) == (Outcome.FAIL, Outcome.PASS)
        attached = {event.seq: set(event.attached) for event in session.events}
        assert {"frames/0-expected.png", "frames/0-actual.png", VERDICT_FILE} <= attached[failed.seq]
        assert not any(path.startswith("frames/") for path in attached[passed.seq])
        kept = event_file(session.store, session.events[failed.seq].id, "frames/0-actual.png")
        assert np.asarray(Image.open(io.BytesIO(kept))).tolist() == np.full((4, 6, 3), 7).tolist()
        assert audit(session.directory.repository).ok
