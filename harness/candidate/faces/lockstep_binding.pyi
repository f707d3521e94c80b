"""What a candidate in Rust is compiled to (`rust/python`, `rust/binding`); there is one such module in each package."""

from collections.abc import Sequence
from typing import Any, TypeAlias, final

import numpy as np

Array: TypeAlias = np.ndarray[Any, Any]
Draw: TypeAlias = tuple[str, Array]
Timestep: TypeAlias = tuple[list[Array], list[Array], bool, bool, list[Array], list[Draw]]

SPEC: dict[str, Any]
"""`observation`, `action`, `state`, `reward`: lists of `(path, dtype, shape)`; `probes`: two such lists by name."""
environment: Factory

class Panicked(RuntimeError):
    """The environment's own code panicked, at a place that standard error names."""

class Unfit(ValueError):
    """An array has another dtype or shape than its leaf, is not contiguous, or is in use elsewhere; nothing was done."""

@final
class Results:
    """The arrays of a step."""

    def __new__(cls, seen: Sequence[Array], reward: Sequence[Array], endings: Array) -> Results:
        """Arrays that are there already: each step writes into them.

        Args:
            seen: one for each leaf, `[2 * count, ...]`: what is seen now, and behind it what was seen last.
            reward: one for each leaf, `[count]`.
            endings: bool `[2 * count]`: what terminated, and behind it what was truncated.
        """

@final
class Factory:
    """Where instances and sub-environments of an environment come from."""

    def instance(self, options: dict[str, bool | int | float | str | bytes]) -> Instance:
        """One environment that was not yet reset."""

    def vector(
        self, options: dict[str, bool | int | float | str | bytes], num_envs: int, mode: str, threads: int
    ) -> VectorEnv:
        """So many environments, with an auto-reset mode (`next_step`, `same_step` or `disabled`), on so many threads."""

@final
class Instance:
    """One environment. A timestep is what is seen, the rewards, terminated, truncated, the canonical state, and what was
    drawn.
    """

    def reset(self, seed: int, draws: Sequence[Draw] | None = None) -> Timestep:
        """Begin an episode from a seed, or from draws."""

    def step(self, action: Sequence[Array], draws: Sequence[Draw] | None = None) -> Timestep:
        """One step, by chance or from draws; an array `[1, ...]` for each leaf of the action."""

    def restore(self, state: Sequence[Array]) -> Timestep:
        """Go on from a canonical state: an array `[1, ...]` for each of its leaves."""

    def probe(self, name: str, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
        """Ask a probe; answers are written to the arrays `outputs`, one answer for each input."""

    def render(self) -> Array | None:
        """A picture, `[height, width, 3]` of bytes; None where the environment draws none."""

@final
class VectorEnv:
    """Environments that step together. Arrays `seen` have an entry for each sub-environment."""

    def __len__(self) -> int: ...
    @property
    def threads(self) -> int:
        """On how many threads they step."""

    def reset(self, seeds: Sequence[int], seen: Sequence[Array]) -> None:
        """Begin an episode in every sub-environment, each from its seed, and write what is seen."""

    def step(self, actions: list[Array], to: Results) -> None:
        """Step every sub-environment."""

    def reset_env(self, env_index: int, seed: int | None, seen: Sequence[Array]) -> None:
        """Begin an episode in one sub-environment, from a seed or with what is left of its chance."""

    def restore_env(self, env_index: int, state: Sequence[Array], seed: int | None, seen: Sequence[Array]) -> None:
        """Go on in one sub-environment from a canonical state."""

    def state(self, env_index: int) -> list[Array]:
        """The canonical state of a sub-environment."""

    def watch(self, env_index: int, tape: Sequence[Sequence[Draw]]) -> None:
        """Note what a sub-environment does; its draws come from the tape as far as that reaches."""

    def report(self, env_index: int) -> tuple[list[Draw], list[Draw], list[Array] | None]:
        """Draws of a watched sub-environment's last step and reset, and where there were both the state between them."""

    def save(self, env_index: int) -> int:
        """Keep a sub-environment as it is; its number is what `load` and `forget` take."""

    def load(self, env_index: int, saved: int, seen: Sequence[Array]) -> None:
        """Put what was kept into a sub-environment."""

    def forget(self, saved: int) -> None:
        """Give back the memory of what was kept."""
