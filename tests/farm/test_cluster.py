"""Members on the nodes of a Ray cluster."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from harness.errors import BrokenContract, SetupError
from harness.farm.cluster import Cluster
from harness.farm.crew import Crew, DeadlyPiece, Piece
from harness.farm.engine import Lost, Member, Recipe, Refused
from tests.farm.conftest import add_node

HAND = "tests.farm.hands:Hand"

pytestmark = pytest.mark.slow


def test_members_are_on_all_nodes_each_with_its_own_home(cluster: Cluster, nodes: Any) -> None:
    assert cluster.slots == 6
    members = [cluster.start(Recipe(HAND)) for _ in range(6)]
    assert len({member.node for member in members}) == 3
    assert len({member.facts["home"] for member in members}) == 3
    assert len({member.ask("process") for member in members} | {os.getpid()}) == 7
    for member in members:
        member.close()


def test_what_is_raised_there_is_raised_here_and_death_is_told_apart(cluster: Cluster) -> None:
    member = cluster.start(Recipe(HAND))
    with pytest.raises(BrokenContract, match="another form"):
        member.ask("break_contract")
    assert member.ask("greet", "you") == "hello, you"
    with pytest.raises(Lost):
        member.ask("die")
    with pytest.raises(Lost):
        member.ask("greet", "you")


def test_a_node_that_refuses_gets_nothing_and_the_others_do_it(cluster: Cluster) -> None:
    """The recipe can be made in two of the three homes."""
    homes = sorted({cluster.start(Recipe(HAND)).facts["home"] for _ in range(6)})
    picky = Recipe("tests.farm.hands:NotIn", {"home": homes[0]})
    members = [cluster.start(picky) for _ in range(4)]
    assert {member.facts["home"] for member in members} == set(homes[1:])


def test_where_every_node_refuses_each_is_named_with_its_reason(cluster: Cluster) -> None:
    with pytest.raises(Refused, match=r"(?s)(there is no compiler.*){3}") as caught:
        cluster.start(Recipe("tests.farm.hands:Unwilling"))
    assert "install one" in str(caught.value)
    assert cluster.start(Recipe(HAND)).ask("greet", "you") == "hello, you", "another recipe is not refused"


def test_pieces_are_done_again_elsewhere_where_a_member_dies(cluster: Cluster, tmp_path: Path) -> None:
    found: dict[str, Any] = {}

    def done(piece: Piece, answer: Any) -> list[Piece]:
        found[piece.key] = answer
        return []

    pieces = [Piece(f"piece {n}", "die_once", (str(tmp_path / str(n)),)) for n in range(4)]
    Crew(cluster, Recipe(HAND)).work(pieces, done)
    assert found == {f"piece {n}": "done" for n in range(4)}
    with pytest.raises(DeadlyPiece, match=r"the heavy mutant: \d workers were lost over it"):
        Crew(cluster, Recipe(HAND)).work([Piece("the heavy mutant", "die")], done)


def test_a_node_without_lockstep_is_told_at_once(cluster: Cluster) -> None:
    """What Ray gives in the place of an actor that a node cannot import: each of its methods raises."""
    import ray

    class Temporary:
        def __init__(self, alike: object) -> None:
            pass

        def node(self) -> None:
            raise RuntimeError("the actor with name _Actor failed to import on the worker")

    cluster._actor = ray.remote(num_cpus=1, max_restarts=0)(Temporary)
    with pytest.raises(Refused, match=r"(?s)a node cannot begin: .*failed to import.*same version of Lockstep"):
        cluster.start(Recipe(HAND))


def test_a_node_without_lockstep_is_refused_by_name_and_the_others_do_it(
    cluster: Cluster, nodes: Any, tmp_path: Path
) -> None:
    """Its `harness` is another package, that cannot be imported."""
    (tmp_path / "harness").mkdir()
    (tmp_path / "harness" / "__init__.py").write_text("raise ImportError('this is another harness')\n")
    without = add_node(nodes, env_vars={"PYTHONPATH": str(tmp_path)})
    try:
        members = [cluster.start(Recipe(HAND)) for _ in range(6)]  # so many have room on the other nodes
        assert len({member.node for member in members}) == 3
        [why] = cluster._without_lockstep().values()
        assert "another harness" in why and "no such Lockstep" in why
        for member in members:
            member.close()
    finally:
        nodes.remove_node(without)


def test_who_waits_for_a_free_processor_can_give_up(cluster: Cluster) -> None:
    members = [cluster.start(Recipe(HAND)) for _ in range(6)]
    asked: list[Member] = []

    def holds(member: Member) -> bool:
        asked.append(member)
        return len(asked) < 3

    with pytest.raises(Lost, match="nobody waits for it"):
        cluster.start(Recipe(HAND), holds)
    members[0].close()
    assert cluster.start(Recipe(HAND)).ask("greet", "you") == "hello, you"


def test_an_address_at_which_there_is_no_cluster_is_told() -> None:
    with pytest.raises(SetupError, match="no Ray cluster can be joined"):
        Cluster("127.0.0.1:1")
