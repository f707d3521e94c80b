"""The second reading of tcg, as an adapter of the environment protocol."""

import copy

import numpy as np
from beginning import begin
from chance import Chance
from legal import legal_actions
from play import act
from sheet import make_spec, read_state, write_state
from state import OVER, State
from view import observe


class Game:
    def __init__(self, **options: object) -> None:
        self.rng = np.random.default_rng(0)
        self.taken: list[tuple[str, np.ndarray]] = []
        self.state = State()

    def spec(self) -> dict:
        return make_spec()

    def reset(self, seed: int, draws: list | None = None) -> dict:
        self.rng = np.random.default_rng(seed)
        self.taken = []
        chance = Chance(self.rng, draws)
        state = begin(chance)
        self.keep(state, chance)
        return self.timestep(False)

    def step(self, action: int, draws: list | None = None) -> dict:
        chance = Chance(self.rng, draws)
        state = copy.deepcopy(self.state)
        state.paid = [0, 0]  # 56
        act(state, int(action), chance)
        self.keep(state, chance)
        return self.timestep(state.phase == OVER)  # 54, 57

    def restore(self, state: dict) -> dict:
        self.taken = []
        self.state = read_state(state)
        return self.timestep(False)  # ? 57: a restored end is not told again

    def take_draws(self) -> list[tuple[str, np.ndarray]]:
        taken, self.taken = self.taken, []
        return taken

    def keep(self, state: State, chance: Chance) -> None:
        """A timestep counts only if all its draws were right."""
        chance.finish()
        self.state = state
        self.taken += chance.taken

    def timestep(self, over: bool) -> dict:
        state = self.state
        leaves: dict = write_state(state)
        leaves["terminated"] = np.bool_(over)
        leaves["truncated"] = np.bool_(False)  # 57: a tie is an end
        for player, name in enumerate(("p1", "p2")):
            leaves["reward/" + name] = np.float32(state.paid[player])  # 56
            leaves["observation/" + name] = np.array(observe(state, player), dtype=np.uint8)  # 96
        leaves["to_move"] = np.int32(state.asked)  # 93
        leaves["legal_actions"] = np.array(legal_actions(state), dtype=bool)  # 92
        return leaves
