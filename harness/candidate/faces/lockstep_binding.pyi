"""What a candidate in Rust is compiled to (`rust/python`, `rust/binding`); there is one such module in each package."""

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias, final

import numpy as np

Array: TypeAlias = np.ndarray[Any, Any]
Draw: TypeAlias = tuple[str, Array]
Row: TypeAlias = tuple[list[Array], Array, bool, bool, list[Array], list[Draw]]

SPEC: dict[str, Any]
"""`observation`, `action`, `state`: lists of `(path, dtype, shape)`; `reward`: a dtype; `probes`: two such lists by name."""
environment: Factory

class Results(Protocol):
    """The arrays of a step."""

    seen: list[Array]
    last: list[Array]
    reward: Array
    terminated: Array
    truncated: Array

@final
class Factory:
    """Where instances and lanes of an environment come from."""

    def instance(self, options: dict[str, bool | int | float | str | bytes]) -> Instance:
        """One environment that was not yet reset."""

    def lanes(self, options: dict[str, bool | int | float | str | bytes], lanes: int, mode: str, threads: int) -> Lanes:
        """So many environments, with an auto-reset mode (`next_step`, `same_step` or `disabled`), on so many threads."""

@final
class Instance:
    """One environment. A row is what is seen, the reward, terminated, truncated, the canonical state, and what was drawn."""

    def reset(self, seed: int, draws: Sequence[Draw] | None = None) -> Row:
        """Begin an episode from a seed, or from draws."""

    def step(self, action: Sequence[Array], draws: Sequence[Draw] | None = None) -> Row:
        """One step, by chance or from draws; an array `[1, ...]` for each leaf of the action."""

    def restore(self, state: Sequence[Array]) -> Row:
        """Go on from a canonical state: an array `[1, ...]` for each of its leaves."""

    def probe(self, name: str, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
        """Ask a probe; answers are written to the arrays `outputs`, a row for each row of `inputs`."""

    def render(self) -> Array | None:
        """A picture, `[height, width, 3]` of bytes; None where the environment draws none."""

@final
class Lanes:
    """Environments that step together. Arrays `seen` have a row for each lane."""

    def __len__(self) -> int: ...
    def reset(self, seeds: Sequence[int], seen: Sequence[Array]) -> None:
        """Begin an episode in every lane, each from its seed, and write what is seen."""

    def step(self, actions: Sequence[Array], to: Results) -> None:
        """Step every lane."""

    def reset_lane(self, lane: int, seed: int | None, seen: Sequence[Array]) -> None:
        """Begin an episode in one lane, from a seed or with what is left of its chance."""

    def restore_lane(self, lane: int, state: Sequence[Array], seed: int | None, seen: Sequence[Array]) -> None:
        """Go on in one lane from a canonical state."""

    def state(self, lane: int) -> list[Array]:
        """The canonical state of a lane."""

    def watch(self, lane: int, tape: Sequence[Sequence[Draw]]) -> None:
        """Note what a lane does; its draws come from the tape as far as that reaches."""

    def told(self, lane: int) -> tuple[list[Draw], list[Draw], list[Array] | None]:
        """Draws of a watched lane's last step and reset, and where there were both the state between them."""

    def save(self, lane: int) -> int:
        """Keep a lane as it is; its number is what `load` and `forget` take."""

    def load(self, lane: int, saved: int, seen: Sequence[Array]) -> None:
        """Put what was kept into a lane."""

    def forget(self, saved: int) -> None:
        """Give back the memory of what was kept."""
