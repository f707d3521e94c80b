"""Several players in the trainer: each is paid, judged and taught by itself, whoever the others are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from harness.candidate.faces.jax_env import JaxEnv
from harness.candidate.start import candidate_options
from harness.model import Case, Leaves, Trajectory
from harness.protocol.environment import Environment
from harness.task.load import load_task
from harness.task.training import PpoConfig
from harness.training.evaluate import evaluate
from harness.training.host import train_host
from harness.training.local import train_local
from harness.training.opponents import AtRandom, Checkpoint, Scripted, Table
from harness.training.policy import Policy
from harness.training.ppo import Batch, Ppo, advantage
from harness.training.trained import Trained
from tests.candidate.adapters.contracts import leaf
from tests.paths import NIM, RELAY, STANDING
from tests.training.conftest import opened

pytestmark = pytest.mark.slow
TASKS = {path.name: load_task(path) for path in (NIM, RELAY, STANDING)}
CONFIG = PpoConfig(
    num_envs=8, rollout_steps=8, epochs=2, minibatches=2, learning_rate=3e-3, segment_updates=3, hidden=(16,)
)
KEY_DATA = np.array([0, 5], np.uint32)


def changed(**config: Any) -> PpoConfig:
    return PpoConfig.from_json(CONFIG.to_json() | config)


def contract(name: str) -> dict[str, Any]:
    task = TASKS[name]
    return candidate_options(task, str(task.directory / task.candidate.entry))


def jax_env(name: str) -> JaxEnv:
    return JaxEnv(contract(name)["entry"], contract(name))


def policy_for(name: str, **config: Any) -> Policy:
    return Policy(TASKS[name].leaves, changed(**config), TASKS[name].player_names)


def played(name: str, policy: Policy, learner: Leaves, opponents: Sequence[Any], count: int) -> tuple[Table, Any]:
    environment: Environment = opened(contract(name))
    [episodes] = evaluate(environment, policy, [learner], [range(count)], horizon=40, greedy=False, opponents=opponents)
    return Table(policy, opponents), episodes


@pytest.mark.parametrize(
    ("name", "config"),
    [
        pytest.param("nim", {}, id="turns"),
        pytest.param("relay", {}, id="any"),
        pytest.param("standing", {"past": 2}, id="simultaneous, earlier policies"),
        pytest.param("standing", {"seats": "separate"}, id="a network each", marks=pytest.mark.nightly),
        pytest.param("nim", {"network": "gru", "past": 2, "seats": "separate"}, id="memory", marks=pytest.mark.nightly),
    ],
)
def test_the_same_self_play_fused_and_behind_the_protocol_differs_by_rounding_alone(
    name: str, config: dict[str, Any]
) -> None:
    steps, config_of = 5 * CONFIG.steps_per_update, changed(**config)

    def furthest(one: Trained, other: Trained) -> float:
        return max(np.abs(np.asarray(one.learner[at], "f8") - other.learner[at]).max(initial=0) for at in one.learner)

    vector, players = opened(contract(name)).vector, TASKS[name].player_names
    [fused] = train_local(jax_env(name), config_of, steps, [11])
    host = train_host(vector, TASKS[name].leaves, config_of, steps, 11, players=players)
    assert fused.curve == pytest.approx(host.curve, rel=1e-5) and None not in fused.curve
    assert furthest(fused, host) < 2e-5
    other = train_host(vector, TASKS[name].leaves, config_of, steps, 12, players=players)
    assert furthest(other, host) > 1e-2, "another seed would pass for the same training"


@pytest.mark.parametrize("config", [{}, {"past": 2}], ids=["itself", "earlier policies"])
def test_self_play_learns_to_win_from_every_seat(config: dict[str, Any]) -> None:
    many = changed(num_envs=32, rollout_steps=16, learning_rate=5e-3, hidden=[32], minibatches=4, epochs=4, **config)
    policy = Policy(TASKS["standing"].leaves, many, TASKS["standing"].player_names)
    [trained] = train_local(jax_env("standing"), many, 60_000, [3])
    untrained = Ppo(policy).leaves(Ppo(policy).begin(3))
    table, after = played("standing", policy, trained.learner, [AtRandom(policy)], 120)
    _, before = played("standing", policy, untrained, [AtRandom(policy)], 120)
    gained = table.returns(after) - table.returns(before)
    assert min(gained[seat::3].mean() for seat in range(3)) > 0.15
    met, games = played("standing", policy, trained.learner, [Checkpoint("before", policy, untrained)], 120)
    assert met.returns(games).mean() > -0.1, "who is no better loses two games of three, and earns -0.4"


def observed(policy: Policy, name: str, count: int = 4, **values: Any) -> Any:
    """What is seen of some environments in which all leaves are 0 or true, but for these values."""
    leaves = {path: np.zeros((count, *leaf.shape), leaf.dtype) for path, leaf in TASKS[name].leaves.items()}
    leaves |= {
        path: np.ones_like(array) for path, array in leaves.items() if path.split("/")[0] in ("legal_actions", "alive")
    }
    return policy.observe({path: leaves[path] for path in policy.observed_leaves} | values)


def test_who_is_to_move_acts_and_takes_its_own_choice() -> None:
    policy = policy_for("nim")
    seen = observed(policy, "nim", to_move=np.array([0, 1, 1, 0], np.int32))
    assert np.asarray(seen.acts).tolist() == [[True, False], [False, True], [False, True], [True, False]]
    chosen = policy.sample(policy.act(Ppo(policy).begin(0).network, policy.no_stats(), seen, policy.memory(4))[0],
                           policy.noise(jax.random.key(0), (4,)))._replace(
        discrete=jnp.array([[[0], [1]]] * 4, jnp.int32))  # fmt: skip
    assert np.asarray(policy.to_leaves(chosen, seen.acts)["action"]).tolist() == [1, 2, 2, 1]


def test_who_is_dead_or_has_no_legal_action_does_not_act_and_earns_nothing_more() -> None:
    policy = policy_for("standing")
    dead, none = np.array([False, True, True, True]), np.zeros((4, 3), bool)
    none[[0, 1, 3]] = True
    seen = observed(policy, "standing", **{"alive/green": dead, "legal_actions/blue": none})
    acts = [[True, False, True], [True] * 3, [True, True, False], [True] * 3]
    assert np.asarray(seen.acts).tolist() == acts
    leaves = {"terminated": np.array([False, False, False, True])}
    leaves |= {f"alive/{name}": np.ones(4, bool) for name in ("red", "blue")} | {"alive/green": dead}
    over = [[False, True, False], [False] * 3, [False] * 3, [True] * 3]
    assert policy.terminated(leaves, np).tolist() == over


def batch_of(policy: Policy, ppo: Ppo, seen: Any, **changes: Any) -> Batch:
    rows = jax.tree.map(lambda array: jnp.stack([array] * CONFIG.rollout_steps), seen)
    shape = rows.acts.shape
    actions = jax.tree.map(lambda array: array[0], policy.noise(jax.random.key(1), (1, *shape[:2])))
    chosen = actions._replace(discrete=jnp.argmax(actions.discrete, -1).astype(jnp.int32))
    no = jnp.zeros(shape, bool)
    reward = jnp.linspace(-1, 1, no.size, dtype=jnp.float32).reshape(shape)
    made = Batch(rows, rows, chosen, reward, no, no, no, policy.memory(shape[1]))
    return made._replace(**changes)


def same(one: Any, other: Any) -> bool:
    return all(map(np.array_equal, jax.tree.leaves(jax.device_get(one)), jax.tree.leaves(jax.device_get(other))))


def test_what_a_player_chose_who_was_not_to_move_is_not_learned_from() -> None:
    policy = policy_for("nim", num_envs=4, minibatches=1)
    ppo = Ppo(policy)
    seen = observed(policy, "nim", to_move=np.array([0, 1, 1, 0], np.int32))
    batch = batch_of(policy, ppo, seen)
    update = jax.jit(ppo.update)

    def learned(chosen: Any) -> Any:
        given = batch._replace(actions=batch.actions._replace(discrete=chosen))
        return update(ppo.begin(1), given, np.array([0, 9], np.uint32), jnp.int32(9)).network

    chosen, acts = batch.actions.discrete, batch.observed.acts[..., None]
    idle, moved = jnp.where(acts, chosen, 2 - chosen), jnp.where(acts, 2 - chosen, chosen)
    assert same(learned(chosen), learned(idle))
    assert not same(learned(chosen), learned(moved)), "nothing was learned from any choice"


def test_what_an_earlier_policy_chose_and_earned_is_not_learned_from() -> None:
    policy = policy_for("standing", num_envs=6, minibatches=1, past=1)
    ppo = Ppo(policy)
    assert ppo.played is not None
    assert ppo.played.tolist() == [[1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    batch = batch_of(policy, ppo, observed(policy, "standing", 6))
    theirs = jnp.asarray(ppo.played == 0)

    def learned(rows: Any) -> Any:
        discrete = jnp.where(rows[None, ..., None], 2 - batch.actions.discrete, batch.actions.discrete)
        reward = jnp.where(rows[None], -batch.reward, batch.reward)
        given = batch._replace(actions=batch.actions._replace(discrete=discrete), reward=reward)
        return jax.jit(ppo.update)(ppo.begin(1), given, np.array([0, 9], np.uint32), jnp.int32(9)).network

    assert same(learned(jnp.zeros_like(theirs)), learned(theirs))
    assert not same(learned(jnp.zeros_like(theirs)), learned(~theirs))
    assert ppo.paid(np.array([[1.0, 2.0, 3.0]] * 6)).tolist() == [2, 2, 2, 1, 2, 3]


def test_the_earlier_policies_play_their_seats_and_come_from_all_segments() -> None:
    policy = policy_for("standing", num_envs=8, past=2)
    ppo = Ppo(policy)
    begun = ppo.begin(1)
    biased = jax.tree.map(lambda leaf: leaf, begun.past)
    bias = np.zeros_like(biased[0].action.bias)
    bias[:, 1] = 100.0  # both always strike to the left
    network = biased[0]
    object.__setattr__(network.action, "bias", jnp.asarray(bias))
    seen = observed(policy, "standing", 8)
    noise = policy.noise(jax.random.key(3), (8,))
    actions, _ = ppo.act(begun._replace(past=(network, biased[1])), seen, policy.memory(8), noise)
    own, _ = Ppo(policy_for("standing")).act(begun._replace(past=()), seen, policy.memory(8), noise)
    expected = np.where(ppo.played[..., None] > 0, np.asarray(own.discrete), 1)
    assert np.array_equal(np.asarray(actions.discrete), expected) and (expected != np.asarray(own.discrete)).any()

    def kept(seed: int) -> list[int]:
        learner = begun
        for segment in range(40):
            marked = learner._replace(stats=learner.stats._replace(count=jnp.float32(segment)))
            learner = ppo.remembered(marked, jax.random.fold_in(jax.random.key(seed), segment), jnp.int32(segment))
        return sorted(np.asarray(learner.past[1].count).astype(int).tolist())

    found = [kept(seed) for seed in range(12)]
    assert len({each[0] for each in found}) > 4 and all(0 <= number < 40 for each in found for number in each)
    assert min(map(min, found)) < 20 < max(map(max, found))


def test_each_seat_meets_each_opponent_equally_often_and_only_other_seats_are_theirs() -> None:
    policy = policy_for("standing")
    learner = Ppo(policy).leaves(Ppo(policy).begin(0))
    asked: list[int] = []

    def choose(name: str, leaves: Leaves, seeds: Sequence[int]) -> Leaves:
        asked.extend(seeds)
        assert "state/strength" in leaves
        code = {"rest": 0, "left": 1}[name]
        return {f"action/{player}": np.full(len(seeds), code, np.int32) for player in policy.players}

    table, episodes = played("standing", policy, learner, [Scripted("rest", choose), Scripted("left", choose)], 12)
    assert sorted(table.places() * 2) == sorted(
        (player, opponent) for player in policy.players for opponent in ("rest", "left") for _ in range(2)
    )
    other = 0
    for number, episode in enumerate(episodes):
        player, opponent = table.places()[number % 6]
        for path, taken in episode.case.actions.items():
            if path == f"action/{player}":
                other += int((taken != {"rest": 0, "left": 1}[opponent]).sum())
            else:
                assert (taken == {"rest": 0, "left": 1}[opponent]).all(), (number, path)
    assert other > 12, "the policy's own seat was taken too"
    assert len(set(asked)) == len(asked), "two steps or episodes had one seed"


def test_a_result_is_told_from_the_seat_of_the_policy() -> None:
    policy = policy_for("nim")
    learner = Ppo(policy).leaves(Ppo(policy).begin(0))
    table, episodes = played("nim", policy, learner, [AtRandom(policy)], 20)
    for number, episode in enumerate(episodes):
        own = ("first", "second")[number % 2]
        earned = float(episode.leaves[f"reward/{own}"].sum())
        assert table.returns(episodes)[number] == table.results(episodes)[number] == earned != 0


@pytest.mark.parametrize(
    ("config", "players", "said"),
    [
        ({"past": 2}, (), "nobody whom earlier policies"),
        ({"hold": 2}, ("first", "second"), "cannot be held"),
        ({}, ("first", "third"), "there is no leaf reward/third"),
        ({}, (), "there is no leaf reward"),
    ],
)
def test_what_does_not_fit_several_players_is_refused(config: Any, players: tuple[str, ...], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Policy(TASKS["nim"].leaves, changed(**config), players)


def test_a_config_for_one_player_has_the_digest_that_it_had() -> None:
    assert not {"seats", "past"} & set(PpoConfig().to_json())
    assert PpoConfig.from_json(changed(past=2, seats="separate").to_json()) == changed(past=2, seats="separate")
    assert PpoConfig(past=2).digest != PpoConfig().digest


@pytest.mark.parametrize(("past", "num_envs"), [(3, 8), (-1, 8), (5, 5)])
def test_environments_are_shared_out_among_earlier_policies(past: int, num_envs: int) -> None:
    with pytest.raises(ValueError, match="past"):
        changed(past=past, num_envs=num_envs)


def test_networks_are_separate_where_it_is_asked_for(tmp_path: Path) -> None:
    shared, separate = policy_for("standing"), policy_for("standing", seats="separate")
    names = {policy: Ppo(policy).leaves(Ppo(policy).begin(0)) for policy in (shared, separate)}
    one, three = (names[policy]["network/action/weight"] for policy in (shared, separate))
    assert three.shape == (3, *one.shape) and not np.array_equal(three[0], three[1])
    seen = observed(separate, "standing")
    learner = Ppo(separate).begin(0)
    given, _ = separate.act(learner.network, learner.stats, seen, separate.memory(4))
    seat = jax.tree.map(lambda leaf: leaf[1], learner.network)
    alone, _ = seat.act(seen.vector[..., 1, :], (), jnp.zeros((4, 0), jnp.float32))
    np.testing.assert_allclose(np.asarray(given.logits)[:, 1, 0], np.asarray(alone), rtol=1e-5)


def test_what_comes_after_a_player_s_end_changes_nothing_of_what_it_did() -> None:
    policy = policy_for("standing", num_envs=4)
    batch = batch_of(policy, Ppo(policy), observed(policy, "standing"))
    shape = batch.reward.shape
    dead = np.zeros(shape, bool)
    dead[3:, :, 1] = True
    after = jnp.asarray(dead) & jnp.asarray(np.arange(shape[0])[:, None, None] > 3)
    given = batch._replace(terminated=jnp.asarray(dead))
    values = jnp.linspace(0, 1, dead.size, dtype=jnp.float32).reshape(shape)

    def before(values: Any, reward: Any) -> Any:
        return np.asarray(advantage(policy.config, given._replace(reward=reward), values, values))[:4]

    expected = before(values, batch.reward)
    changed_rows = before(jnp.where(after, 9.0, values), jnp.where(after, 9.0, batch.reward))
    np.testing.assert_array_equal(changed_rows[:, :, 1], expected[:, :, 1])
    assert (before(values + 9, batch.reward)[:, :, 0] != expected[:, :, 0]).any()


MIXED = {
    "observation/a": leaf("float32", 3),
    "observation/b": leaf("int32"),
    "action/a": leaf("float32", 2, low=-1.0, high=1.0),
    "action/b": leaf("int64", low=1, high=4),
    "legal_actions/b": leaf("bool", 4),
    "reward/a": leaf("float32"),
    "reward/b": leaf("float32"),
    "terminated": leaf("bool"),
    "truncated": leaf("bool"),
}


def test_what_one_player_lacks_of_another_s_actions_counts_for_nothing() -> None:
    policy = Policy(MIXED, changed(num_envs=4), ("a", "b"))
    leaves = {"observation/a": np.zeros((4, 3), "f4"), "observation/b": np.ones(4, "i4")}
    seen = policy.observe(leaves | {"legal_actions/b": np.array([[False, True, True, False]] * 4)})
    learner = Ppo(policy).begin(0)
    given, _ = policy.act(learner.network, learner.stats, seen, policy.memory(4))
    actions = policy.sample(given, policy.noise(jax.random.key(0), (4,)))
    taken = policy.to_leaves(actions, seen.acts)
    assert taken["action/a"].shape == (4, 2) and set(np.asarray(taken["action/b"]).tolist()) <= {2, 3}
    moved = actions._replace(continuous=actions.continuous.at[:, 1].add(1.0))
    same_seat, other = (np.asarray(policy.log_probability(given, each)) for each in (actions, moved))
    np.testing.assert_array_equal(same_seat, other)
    own = actions._replace(continuous=actions.continuous.at[:, 0].add(1.0))
    assert (np.asarray(policy.log_probability(given, own))[:, 0] != same_seat[:, 0]).all()
    entropy = np.asarray(policy.entropy(given))
    np.testing.assert_allclose(entropy[:, 1], np.log(2), rtol=1e-3)


@pytest.mark.parametrize(("name", "num_envs", "past"), [("nim", 16, 8), ("standing", 16, 4), ("standing", 8, 2)])
def test_every_seat_meets_earlier_policies(name: str, num_envs: int, past: int) -> None:
    played_by = Ppo(policy_for(name, num_envs=num_envs, past=past)).played
    assert played_by is not None
    each = played_by[num_envs // 2 :].sum(0)
    assert each.min() > 0 and each.max() - each.min() <= 1 and each.sum() == num_envs // 2


def test_a_result_is_no_loss_for_the_last_bits_of_a_reward() -> None:
    policy = policy_for("nim")
    rows = {"reward/first": np.array([0, 0.1, 0.2], "f4"), "reward/second": np.array([0, 0.3, 0], "f4")}
    episode = Trajectory(Case(0, {"action": np.zeros(2, "i4")}), rows)
    assert Table(policy, [AtRandom(policy)]).results([episode]).tolist() == [0.0]
    ahead = Trajectory(episode.case, rows | {"reward/first": np.array([0, 0.1, 0.21], "f4")})
    assert Table(policy, [AtRandom(policy)]).results([ahead]).tolist() == [1.0]
