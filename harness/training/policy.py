"""Policies: from leaves to features, through a network, to a distribution over actions and a value.

A policy is made from the leaves that an environment declares, so it fits any environment behind the protocol. Everything
works on batches: arrays have any number of leading axes. All numbers are float32 and say so, so that the results
are the same, bit for bit, whether JAX's 64-bit types are on or off.

**Discrete actions** (integer and boolean leaves) are one categorical distribution for each element. Where the environment
tells which actions are legal, the others have no probability. **Continuous actions** are independent normal distributions
around the network's output, in a unit in which the leaf's bounds are -1 and 1, and are *clipped* to the bounds when they
are handed to the environment. Squashing them through a tanh would bound them too. But the correction that it needs makes
densities near the bounds useless in float32, and the bounds, where the best action often lies, would never be reached.

**Several players** sit at seats, and the last leading axis of everything that a policy sees, does or judges goes over them.
One network plays all seats, or each has its own (`PpoConfig.seats`). Who is not to move chooses as well, and what it chose
is neither taken nor learned from.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from harness.candidate.faces.seats import ALIVE, TO_MOVE
from harness.task.training import SEPARATE, PpoConfig
from harness.training.network import Network
from harness.training.seat import Actions, Seat, alike

Array = Any
F32 = jnp.float32
ILLEGAL = -1e9
"""The logit of an action that cannot be chosen: its probability is exactly 0 in float32, and no NaN comes of it."""
CLIP_FEATURES = 10.0


class Observed(NamedTuple):
    """What a network gets to see: numbers `[..., F]`, images `[..., H, W, C]`, and legal actions `[..., D, n]` or None.

    `acts` says of each of several players whether it is to move, bool `[..., players]`; None where one agent plays.
    """

    vector: Array
    images: tuple[Array, ...]
    legal: Array | None
    acts: Array | None = None


class Distribution(NamedTuple):
    """Over actions: logits `[..., D, n]` of which the illegal ones are `ILLEGAL`, mean and log deviation `[..., C]`."""

    logits: Array
    mean: Array
    log_std: Array


class Stats(NamedTuple):
    """Running mean and variance of the features `[F]`, and of how many rows they are."""

    mean: Array
    variance: Array
    count: Array


class Policy:
    """How one kind of network acts in one kind of environment. It holds no weights.

    Args:
        leaves: an environment's leaves by path, each a `harness.model.Leaf` or a mapping with its fields.
        config: says which network, and how large.
        players: their names, where several play.

    Attributes:
        axes: what arrays have after their leading axes: `(players,)` where several play.
        observed_leaves: paths of what `observe` needs.

    Raises:
        ValueError: the environment is not one that can be trained in, or the network does not fit it.
    """

    def __init__(self, leaves: Mapping[str, Any], config: PpoConfig, players: Sequence[str] = ()) -> None:
        described = {path: _described(leaf) for path, leaf in leaves.items()}
        self._identity = f"{config.digest} {described} {list(players)}"
        self.config, self.players = config, tuple(players)
        self.axes = (len(players),) if players else ()
        self.rewards = tuple(f"reward/{player}" for player in players) or ("reward",)
        if config.past and not players:
            raise ValueError("there is nobody whom earlier policies (`past`) could play: one agent plays")
        if config.past and config.num_envs < 2 * len(players):
            raise ValueError(
                f"num_envs is {config.num_envs}, expected {2 * len(players)}: each seat meets earlier policies"
            )
        for path in self.rewards:
            if path not in described:
                raise ValueError(
                    f"there is no leaf {path}: each of several players has its own, and is named (`players`)"
                )
            if described[path]["shape"]:
                raise ValueError(
                    f"{path} has the shape {described[path]['shape']}: the trainer trains one agent at a seat"
                )
        masked = any(path.split("/")[0] == "legal_actions" for path in described)
        if config.hold > 1 and (masked or players):
            raise ValueError("an action cannot be held (`hold`) where it may not be legal any more (`legal_actions`)")
        self.seats = [Seat(described, config, player) for player in players] or [Seat(described, config)]
        alike(self.seats)
        self.elements = max(len(seat.choices) for seat in self.seats)
        self.most_choices = max(seat.possible.shape[-1] for seat in self.seats)
        self.numbers = max(seat.numbers for seat in self.seats)
        # A seat is told which one it is, and whether it is to move: both decide what it is worth.
        self.features = max(seat.features for seat in self.seats) + (len(players) + 1 if players else 0)
        self._turns = TO_MOVE in described
        self._moves = {path: described[path] for path in described if path.split("/")[0] in (TO_MOVE, ALIVE)}
        seen = [path for seat in self.seats for path in (*seat.vectors, *seat.images, *seat.masks.values())]
        self.observed_leaves = tuple(dict.fromkeys((*seen, *(self._moves if players else ()))))
        self._possible = np.stack([_filled(seat.possible, self._discrete) for seat in self.seats])
        # Of numbers that only others have nothing is learned.
        self._own = np.stack([np.arange(self.numbers) < seat.numbers for seat in self.seats]).astype(np.float32)
        if not players:
            self._possible, self._own = self._possible[0], self._own[0]

    def __eq__(self, other: object) -> bool:
        """Whether the same programs compute both: what was compiled for one serves the other."""
        return isinstance(other, Policy) and other._identity == self._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    @property
    def _discrete(self) -> tuple[int, int]:
        return self.elements, self.most_choices

    # --- between leaves and features ----------------------------------------------------------------------------------

    def observe(self, leaves: Mapping[str, Array]) -> Observed:
        """What the network sees of leaves with any leading axes; `observed_leaves` names those that it needs."""
        if not self.players:
            [seat] = self.seats
            return Observed(seat.vector(leaves), seat.pictures(leaves), seat.legal(leaves) if seat.masks else None)
        legal = [seat.legal(leaves) for seat in self.seats]
        acts = jnp.stack([self._acts(leaves, number, each) for number, each in enumerate(legal)], -1)
        whole = jnp.stack([_filled(each, self._discrete, jnp) for each in legal], -3)
        most = self.features - len(self.players) - 1
        vector = jnp.stack([_filled(seat.vector(leaves), (most,), jnp) for seat in self.seats], -2)
        names = jnp.broadcast_to(jnp.eye(len(self.players), dtype=F32), (*acts.shape, len(self.players)))
        images = zip(*[seat.pictures(leaves) for seat in self.seats], strict=True)
        return Observed(
            jnp.concatenate([vector, names, acts[..., None].astype(F32)], -1),
            tuple(jnp.stack(each, -4) for each in images),
            whole,
            acts,
        )

    def _acts(self, leaves: Mapping[str, Array], number: int, legal: Array) -> Array:
        """Whether a player is to move: it is its turn, it is alive, and it has a legal action."""
        acts = jnp.any(legal, (-2, -1)) if legal.shape[-2] else jnp.ones(legal.shape[:-2], bool)
        if self._turns:
            return acts & (jnp.asarray(leaves[TO_MOVE]) == number)
        for tree in (TO_MOVE, ALIVE):
            path = f"{tree}/{self.players[number]}"
            if path in self._moves:
                acts &= jnp.asarray(leaves[path])
        return acts

    def to_leaves(self, actions: Actions, acts: Array | None = None) -> dict[str, Array]:
        """Actions as the environment takes them, by path, inside the bounds of their leaves.

        Args:
            acts: of several players, who is to move (`Observed.acts`).
        """
        if not self.players:
            return self.seats[0].to_leaves(actions)
        taken: dict[str, Array] = {}
        for number, seat in enumerate(self.seats):
            own = Actions(*(array[..., number, :] for array in actions))
            mine = jnp.asarray(True if acts is None else acts[..., number])
            for path, leaf in seat.to_leaves(own).items():
                # A leaf that is of whoever is to move holds that player's choice.
                mine = jnp.reshape(mine, (*mine.shape, *[1] * (leaf.ndim - mine.ndim)))
                taken[path] = jnp.where(mine, leaf, taken[path]) if path in taken else leaf
        return {path: taken[path] for path in sorted(taken)}

    def owner(self, path: str) -> int | None:
        """The seat to which an action leaf belongs; None where it is of whoever is to move, or of the one agent."""
        name = path.split("/")[1:2]
        return self.players.index(name[0]) if name and name[0] in self.players else None

    def earned(self, leaves: Mapping[str, Array], xp: Any = jnp) -> Array:
        """Rewards, float32 `[...]`; `[..., players]` where several play."""
        if not self.players:
            return leaves["reward"].astype(np.float32)
        return xp.stack([leaves[path].astype(np.float32) for path in self.rewards], -1)

    def terminated(self, leaves: Mapping[str, Array], xp: Any = jnp) -> Array:
        """Whether there is nothing more to earn, bool `[...]`, or `[..., players]`: who dropped out earns nothing."""
        if not self.players:
            return leaves["terminated"]
        over = leaves["terminated"]
        alive = [f"{ALIVE}/{player}" for player in self.players]
        return xp.stack([over | ~leaves[path] if path in self._moves else over for path in alive], -1)

    def each(self, array: Array, xp: Any = jnp) -> Array:
        """What is of an environment, `[...]`, for each of its players, `[..., players]`; as it is where one plays."""
        return xp.broadcast_to(array[..., None], (*array.shape, *self.axes)) if self.players else array

    # --- statistics of observations -----------------------------------------------------------------------------------

    def no_stats(self) -> Stats:
        """Statistics of nothing, under which features pass unchanged."""
        return Stats(jnp.zeros(self.features, F32), jnp.ones(self.features, F32), jnp.zeros((), F32))

    def extended(self, stats: Stats, vector: Array) -> Stats:
        """Statistics with the rows `[..., F]` added (Chan's formula for two groups)."""
        if not self.config.normalise_observations:
            return stats
        rows = jnp.reshape(vector, (math.prod(vector.shape[:-1]), self.features))
        count = stats.count + F32(rows.shape[0])
        mean = jnp.mean(rows, 0)
        delta, share = mean - stats.mean, F32(rows.shape[0]) / count
        spread = jnp.mean(jnp.square(rows - mean), 0)
        variance = stats.variance * (1 - share) + spread * share + jnp.square(delta) * share * (1 - share)
        return Stats(stats.mean + delta * share, variance, count)

    def _normal(self, stats: Stats, vector: Array) -> Array:
        if not self.config.normalise_observations:
            return vector
        scaled = (vector - stats.mean) * jax.lax.rsqrt(stats.variance + F32(1e-8))
        return jnp.clip(scaled, F32(-CLIP_FEATURES), F32(CLIP_FEATURES))

    # --- the network --------------------------------------------------------------------------------------------------

    def network(self, rng: np.random.Generator) -> Network:
        """Fresh weights; stacked along axis 0 where each seat has its own."""
        made = [
            Network(
                self.config,
                rng,
                features=self.features,
                images=[leaf["shape"] for leaf in self.seats[0].images.values()],
                outputs=self.elements * self.most_choices + self.numbers,
                deviations=self.numbers,
            )
            for _ in (self.seats if self._separate else self.seats[:1])
        ]
        return jax.tree.map(lambda *parts: np.stack(parts), *made) if self._separate else made[0]

    @property
    def _separate(self) -> bool:
        return bool(self.players) and self.config.seats == SEPARATE

    def _each_seat(self, call: Callable[..., Any], axes: tuple[Any, ...], out: Any) -> Callable[..., Any]:
        """A network's function of (network, ...), for each seat with its own network where they are separate."""
        return jax.vmap(call, in_axes=(0, *axes), out_axes=out) if self._separate else call

    def memory(self, *lead: int) -> Array:
        """What instances remember at the begin of their episodes: `[*lead, H]`, H = 0 without memory; seats before H."""
        return jnp.zeros((*lead, *self.axes, self.config.hidden[-1] if self.config.network == "gru" else 0), F32)

    def act(self, network: Network, stats: Stats, observed: Observed, memory: Array) -> tuple[Distribution, Array]:
        """The distribution of the next action, and what is remembered after it; no value is computed."""
        act = self._each_seat(Network.act, (-2, -4, -2), -2)
        out, memory = act(network, self._normal(stats, observed.vector), observed.images, memory)
        return self._distribution(network, out, observed.legal), memory

    def judge(
        self, network: Network, stats: Stats, observed: Observed, begins: Array, memory: Array
    ) -> tuple[Distribution, Array, Array]:
        """Distributions, values `[...]` and memories of whole sequences; see `Network.judge`."""
        seen = self._normal(stats, observed.vector)
        judge = self._each_seat(Network.judge, (-2, -4, -1, -2), (-2, -1, -2))
        out, values, memories = judge(network, seen, observed.images, begins, memory)
        return self._distribution(network, out, observed.legal), values, memories

    def value(self, network: Network, stats: Stats, observed: Observed, memory: Array) -> Array:
        """Values `[...]` of observations, seen with what is remembered from before them `[..., H]`."""
        judge = self._each_seat(Network.values, (-2, -4, -2), -1)
        return judge(network, self._normal(stats, observed.vector), observed.images, memory)

    def _distribution(self, network: Network, out: Array, legal: Array | None) -> Distribution:
        size = self.elements * self.most_choices
        logits = jnp.reshape(out[..., :size], (*out.shape[:-1], self.elements, self.most_choices))
        if legal is not None:
            logits = jnp.where(legal, logits, F32(ILLEGAL))
        elif not self._possible.all():
            logits = jnp.where(self._possible, logits, F32(ILLEGAL))
        return Distribution(logits, out[..., size:], network.log_std)

    # --- distributions ------------------------------------------------------------------------------------------------

    def noise(self, key: jax.Array, lead: Sequence[int]) -> Actions:
        """The chance of `sample`, for leading axes `lead`: Gumbel `[*lead, D, n]` and normal `[*lead, C]`.

        Where several play the seats come after these axes.
        """
        one, two = jax.random.split(key)
        lead = (*lead, *self.axes)
        discrete = jax.random.gumbel(one, (*lead, self.elements, self.most_choices), F32)
        return Actions(discrete, jax.random.normal(two, (*lead, self.numbers), F32))

    def sample(self, given: Distribution, noise: Actions) -> Actions:
        """Actions drawn with the chance that `noise` made."""
        chosen = jnp.argmax(given.logits + noise.discrete, -1).astype(jnp.int32)
        return Actions(chosen, given.mean + jnp.exp(given.log_std) * noise.continuous)

    def at_random(self, observed: Observed, noise: Actions) -> Actions:
        """Legal actions, each as probable as the others; numbers from anywhere between their bounds."""
        legal = self._possible if observed.legal is None else observed.legal
        chosen = jnp.argmax(jnp.where(legal, noise.discrete, F32(ILLEGAL)), -1).astype(jnp.int32)
        return Actions(chosen, F32(2) * jax.scipy.stats.norm.cdf(noise.continuous) - F32(1))

    def mode(self, given: Distribution) -> Actions:
        """The most probable actions."""
        return Actions(jnp.argmax(given.logits, -1).astype(jnp.int32), given.mean)

    def log_probability(self, given: Distribution, actions: Actions) -> Array:
        """Logarithm of the probability (density) of actions, `[...]`."""
        total = jnp.zeros(actions.discrete.shape[:-1], F32)
        if self.elements:
            logs = jax.nn.log_softmax(given.logits)
            chosen = actions.discrete[..., None] == jnp.arange(self.most_choices, dtype=jnp.int32)
            total += jnp.sum(jnp.where(chosen, logs, F32(0)), (-2, -1))
        if self.numbers:
            away = (actions.continuous - given.mean) * jnp.exp(-given.log_std)
            total -= self._summed(F32(0.5) * jnp.square(away) + given.log_std + F32(0.5 * math.log(2 * math.pi)))
        return total

    def entropy(self, given: Distribution) -> Array:
        """Entropy, `[...]`."""
        total = jnp.zeros(given.logits.shape[:-2], F32)
        if self.elements:
            logs = jax.nn.log_softmax(given.logits)
            total -= jnp.sum(jnp.exp(logs) * logs, (-2, -1))
        if self.numbers:
            total += self._summed(given.log_std + F32(0.5 * math.log(2 * math.pi * math.e)))
        return total

    def _summed(self, numbers: Array) -> Array:
        """The sum over a seat's own continuous elements."""
        return jnp.sum(numbers if self._own.all() else numbers * self._own, -1)


def _described(leaf: Any) -> dict[str, Any]:
    if isinstance(leaf, Mapping):
        return {
            "dtype": leaf["dtype"],
            "shape": tuple(leaf.get("shape", ())),
            **{n: leaf.get(n) for n in ("low", "high")},
        }
    return {"dtype": leaf.dtype, "shape": tuple(leaf.shape), "low": leaf.low, "high": leaf.high}


def _filled(array: Array, shape: tuple[int, ...], xp: Any = np) -> Array:
    """An array whose last axes are filled up to a shape: numbers with 0; discrete elements with one that has one value."""
    lead = array.ndim - len(shape)
    room = [(0, wanted - has) for wanted, has in zip(shape, array.shape[lead:], strict=True)]
    filled = xp.pad(array, [(0, 0)] * lead + room)
    if len(shape) == 2 and room[0][1]:
        first = np.zeros(shape, bool)
        first[array.shape[lead] :, 0] = True
        filled = filled | first
    return filled
