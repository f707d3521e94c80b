"""Wrong candidates of Connect Four that somebody could plausibly write, in JAX and in Rust."""

from __future__ import annotations

from tests.mutants.plant import Mutant

ENDS = r"terminated|truncated|reward/player_[01]|to_move|state/.*"
ALONE = """def _alone(across, columns):
    longer = jnp.append(columns[4:], jnp.uint8(0)) | jnp.append(jnp.zeros(1, jnp.uint8), columns[:3])
    return across & ~longer


"""
JAX = (
    Mutant("a draw is never declared", (("| won | full,", "| won,"),), 1, "terminated"),
    Mutant(
        "a win with the last stone is paid as a draw",
        (("earned = jnp.where(legal, won.astype", "earned = jnp.where(legal, (won & ~full).astype"),),
        1,
        "reward/player_[01]",
    ),
    Mutant(
        "a win with the last stone costs the other nothing",
        (("lost = jnp.where(won, jnp.float32(-1)", "lost = jnp.where(won & ~full, jnp.float32(-1)"),),
        1,
        "reward/player_[01]",
    ),
    Mutant(
        "the board is full one stone early",
        (("full = jnp.all((moved[0] | moved[1]) == FULL)", "full = jnp.sum(jax.lax.population_count(moved)) >= 41"),),
        1,
        "terminated",
    ),
    Mutant(
        "fullness is judged before the move",
        (("(moved[0] | moved[1]) == FULL", "(state.stones[0] | state.stones[1]) == FULL"),),
        1,
        "terminated",
    ),
    Mutant("falling lines do not count", (("(across | rising | falling)", "(across | rising)"),), 1, "probe/four/four"),
    Mutant(
        "lines across do not reach the right edge",
        (("a & b & c & d\n", "(a & b & c & d).at[COLUMNS - 4].set(0)\n"),),
        1,
        "probe/four/four",
    ),
    Mutant(
        "three upwards are enough",
        (("columns & (columns >> 1) & (columns >> 2) & (columns >> 3)", "columns & (columns >> 1) & (columns >> 2)"),),
        1,
        "probe/four/four",
    ),
    Mutant(
        "a line across in the top row does not count",
        (("across = a & b & c & d", "across = a & b & c & d & (TOP - 1)"),),
        1,
        "probe/four/four",
    ),
    Mutant(
        "rising lines begin in the two lowest rows",
        (("(c >> 2) & (d >> 3)\n", "(c >> 2) & (d >> 3) & 3\n"),),
        1,
        "probe/four/four",
    ),
    Mutant(
        "five across are no four",
        (("(across | rising", "(_alone(across, columns) | rising"), ("def own(", ALONE + "def own(")),
        1,
        "probe/four/four",
    ),
    Mutant("a stone stops under another only", (("taken < TOP))", "taken < TOP // 2))"),), 1, "probe/drop/board"),
    Mutant(
        "an illegal move costs nothing", (("jnp.float32), jnp.float32(-1))", "jnp.float32), jnp.float32(0))"),), 2, ENDS
    ),
    Mutant(
        "an illegal move is no truncation", (("| won | full, ~legal\n", "| won | full, legal & ~legal\n"),), 2, ENDS
    ),
    Mutant("after an illegal move the other is named", (("jnp.where(legal, 1 - mover, 0)", "1 - mover"),), 2, ENDS),
    Mutant(
        "an illegal move pays the other",
        (("lost = jnp.where(won, jnp.float32(-1), jnp.float32(0))", "lost = -earned"),),
        1,
        ENDS,
    ),
    Mutant(
        "the winner stays to move",
        (("jnp.where(legal, 1 - mover, 0)", "jnp.where(legal & ~won, 1 - mover, jnp.where(legal, mover, 0))"),),
        1,
        ENDS,
    ),
    Mutant(
        "the second player sees the first's stones first",
        (("cells(planes[:, ::-1])", "cells(planes)"),),
        1,
        "observation/player_1",
    ),
    Mutant(
        "a column counts as full one stone early",
        (
            (
                '"legal_actions": (state.stones[0] | state.stones[1]) < TOP',
                '"legal_actions": (state.stones[0] | state.stones[1]) < TOP // 2',
            ),
        ),
        1,
        "legal_actions",
    ),
    Mutant(
        "rewards change places where the second wins",
        (("jnp.where(first, lost, earned), ~legal", "jnp.where(first, lost, jnp.abs(earned)), ~legal"),),
        2,
        "reward/player_1",
    ),
)
RUST = (
    Mutant(
        "a draw is never declared", (("terminated: won || self.board.is_full()", "terminated: won"),), 1, "terminated"
    ),
    Mutant(
        "a win with the last stone is paid as a draw",
        (("let reward = if won {", "let reward = if won && !self.board.is_full() {"),),
        1,
        "reward/player_[01]",
    ),
    Mutant(
        "after an illegal move the other is named",
        (("            self.mover = 0;\n", "            self.mover = 1 - player;\n"),),
        2,
        ENDS,
    ),
    Mutant(
        "one diagonal is left out",
        (("[1, HEIGHT, HEIGHT - 1, HEIGHT + 1]", "[1, HEIGHT, HEIGHT + 1, HEIGHT + 1]"),),
        1,
        "probe/four/four",
        file="rust/src/board.rs",
    ),
    Mutant(
        "lines go on in the next column",
        (("const HEIGHT: usize = ROWS + 1;", "const HEIGHT: usize = ROWS;"),),
        1,
        "probe/.*",
        file="rust/src/board.rs",
    ),
    Mutant(
        "both see the first player's stones first",
        (
            (
                "[self.at(player, row, column), self.at(1 - player, row, column)]",
                "[self.at(0, row, column), self.at(1, row, column)]",
            ),
        ),
        1,
        "observation/player_1",
        file="rust/src/board.rs",
    ),
)
