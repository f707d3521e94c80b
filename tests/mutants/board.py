"""Faults in four in a row that show where random play hardly comes: full boards, last moves, single lines, double wins."""

from __future__ import annotations

from tests.mutants.plant import Mutant

ENDS = '"terminated": won | full, "truncated": jnp.bool(False)'
PAID = "jnp.where(won, jnp.where(mover == 1, 1.0, -1.0), 0.0)"
LINES = "board.reshape(-1)[LINES]"
SHOWN = '"observation": state.board'
OPEN = "state.board[-1] == 0"
DISCS = "jnp.sum(board != 0)"
FULL = ".*"
"""Where a board is full several things change at once, and each of them may be seen first."""


def ends(name: str, wrong: str) -> Mutant:
    """An episode ends otherwise."""
    return Mutant(name, ((ENDS, wrong),), 3, FULL)


def paid(name: str, wrong: str) -> Mutant:
    """The reward is another; `full` says whether the board is, once the disc lies on it."""
    return Mutant(name, ((PAID, wrong),), 3, "reward")


def without(name: str, *cells: tuple[int, int]) -> Mutant:
    """A line of four does not count."""
    line = [row * 7 + column for row, column in cells]
    return Mutant(name, ((LINES, f"board.reshape(-1)[LINES[np.any(LINES != np.array({line}), axis=1)]]"),), 3, FULL)


MUTANTS = (
    ends("a full board is no end", '"terminated": won, "truncated": jnp.bool(False)'),
    ends("a draw is a truncation", '"terminated": won, "truncated": full & ~won'),
    ends("a win on the last move is a truncation too", '"terminated": won | full, "truncated": full & won'),
    ends("a board is full one disc too early", f'"terminated": won | ({DISCS} >= 41), "truncated": jnp.bool(False)'),
    paid("a win on the last move is a draw", f"jnp.where(full, 0.0, {PAID})"),
    paid("a win on the last move pays the other side", f"jnp.where(full, -1.0, 1.0) * {PAID}"),
    paid("a draw pays half a point", f"jnp.where(full & ~won, 0.5, {PAID})"),
    paid("a draw is a loss of whoever moves last", f"jnp.where(full & ~won, jnp.where(mover == 1, -1.0, 1.0), {PAID})"),
    paid("two lines at once pay twice", f"{PAID} * jnp.maximum(1, jnp.sum(jnp.all({LINES} == mover, axis=1)))"),
    paid("a win with one column open pays nothing", f"jnp.where(jnp.sum(board[-1] == 0) == 1, 0.0, {PAID})"),
    paid("a win with more than 36 discs pays nothing", f"jnp.where({DISCS} > 36, 0.0, {PAID})"),
    without("the highest diagonal to the right does not count", (2, 3), (3, 4), (4, 5), (5, 6)),
    without("the highest diagonal to the left does not count", (2, 3), (3, 2), (4, 1), (5, 0)),
    without("four in the middle of the top row do not count", (5, 2), (5, 3), (5, 4), (5, 5)),
    without("the highest four of the last column do not count", (2, 6), (3, 6), (4, 6), (5, 6)),
    Mutant(
        "the first column is illegal where only one is open",
        ((OPEN, f"({OPEN}) & ((jnp.sum({OPEN}) > 1) | (jnp.arange(WIDTH) > 0))"),),
        3,
        "legal_actions",
    ),
    Mutant(
        "a full board is shown empty",
        ((SHOWN, f"{SHOWN} * jnp.any(state.board == 0).astype(jnp.int8)"),),
        3,
        "observation",
    ),
)
